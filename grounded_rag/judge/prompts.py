"""The judge's prompt, loaded from a folder and checked before use."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Literal

from grounded_rag.errors import PromptError
from grounded_rag.resources import prompts_dir
from grounded_rag.types import Frozen

Mode = Literal["per_claim", "holistic"]
"""One verdict a claim, or one cheap question about the answer as a whole."""

Task = Literal["per_claim", "holistic", "relevance"]

_FILES: dict[Task, str] = {
    "per_claim": "judge.md",
    "holistic": "judge_holistic.md",
    "relevance": "relevance.md",
}
_VERSION = re.compile(r"<!--.{0,120}\bversion\s+\S{1,20}\s*-->", re.IGNORECASE)
_GRADES = ("rests_on", "SUPPORTED", "CONTRADICTED", "NOT_MENTIONED")
_WORDS: dict[Task, tuple[str, ...]] = {
    "per_claim": _GRADES,
    "holistic": _GRADES,
    "relevance": ("RELEVANT", "BESIDE_THE_QUESTION"),
}


class JudgePrompt(Frozen):
    """The system prompt of a judge. It is sent as it is: nothing is ever filled into it.

    Attributes:
        text: The prompt without its version line.
        digest: First digits of the SHA-256 of the whole file, for names and fingerprints.
    """

    text: str
    digest: str

    @classmethod
    def load(cls, task: Task, folder: Path | None = None) -> JudgePrompt:
        """Read `judge.md`, `judge_holistic.md` or `relevance.md`.

        Args:
            task: What the judge is asked.
            folder: Folder of one's own prompts; None, or a folder without that file, takes the
                built-in one.

        Raises:
            PromptError: The file cannot be read, or lacks its version line or the grades.
        """
        name = _FILES[task]
        path = prompts_dir() / name
        if folder is not None and (folder / name).exists():
            path = folder / name
        try:
            whole = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise PromptError(
                f"{path} cannot be read: {error}.", hint="Save it as plain text in UTF-8."
            ) from None
        first, _, body = whole.partition("\n")
        if not _VERSION.fullmatch(first.strip()):
            raise PromptError(
                f"{path} does not start with a version comment.",
                hint="Make its first line, for example, <!-- my judge, version 1 -->",
            )
        if missing := [word for word in _WORDS[task] if word not in body]:
            raise PromptError(
                f"{path} does not mention {', '.join(missing)}.",
                hint="The judge answers with these words; say what each of them means.",
            )
        digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:8]
        return cls(text=body.strip(), digest=digest)
