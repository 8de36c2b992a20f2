"""Thumbs with a reason, one JSON object a line, in a file of one's own."""

from __future__ import annotations

import datetime as dt
import json
import threading
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from grounded_rag import Answer

_MOST_BYTES = 50_000_000


class Feedback(BaseModel):
    """What a person thinks of an answer.

    Attributes:
        verdict: Thumb up or down.
        reason: Why, in their words.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    verdict: Literal["up", "down"]
    reason: Annotated[str, Field(max_length=2_000)] = ""


class FeedbackFile:
    """Appends feedback to a file, up to a size that cannot fill the disk."""

    def __init__(self, path: Path, *, most_bytes: int = _MOST_BYTES) -> None:
        self._path = path
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def append(self, feedback: Feedback, answer: Answer, *, answer_id: str) -> None:
        """Write one line.

        Raises:
            OSError: The file cannot be written, or is full.
        """
        line = json.dumps(
            {
                "at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
                "answer": answer_id,
                "verdict": feedback.verdict,
                "reason": feedback.reason,
                "question": answer.question,
                "status": str(answer.status),
                "text": answer.text,
                "cited": [reference.located.doc_id for reference in answer.references],
                "generator": answer.generator,
                "fingerprint": answer.fingerprint,
            }
        )
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > self._most_bytes:
                raise OSError(f"The feedback file is full: {self._path}")
            with self._path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(line + "\n")
