"""How a passage is shown to a model: a line that opens it, its text, a line that closes it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from grounded_rag.generate.labels import labelled_passage
from grounded_rag.generate.readable import readable
from grounded_rag.types import Citation, RetrievedChunk

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MAX_CHARACTERS = 700
_IN_FORCE = ("effective_from", "valid_until", "superseded_on")
_LAST_SEEN = ("reviewed_on", "updated_at")


class ShownPassage(NamedTuple):
    """The blocks of one passage, and what the labels of its sentences stand for."""

    blocks: tuple[str, str, str]
    quotes: dict[str, Citation]


def show_passage(label: str, retrieved: RetrievedChunk, *, labelled: bool) -> ShownPassage:
    """Return a passage as a model sees it.

    Args:
        label: Its label, which occurs in no text of the request.
        retrieved: The passage.
        labelled: Whether each sentence is shown under a label.
    """
    about = json.dumps(passage_metadata(retrieved), ensure_ascii=False)
    quotes: dict[str, Citation] = {}
    if labelled:
        text, quotes = labelled_passage(label, retrieved)
    else:
        text = readable(retrieved.chunk.text)
    # A passage of soft hyphens alone would be a blank block, which providers refuse.
    shown = text if text.strip() else retrieved.chunk.text
    return ShownPassage(
        (f"PASSAGE {label} {sendable(about)}", sendable(shown), f"END OF {label}"), quotes
    )


def passage_metadata(retrieved: RetrievedChunk) -> dict[str, Any]:
    """Return title, section and dates: what tells passages apart, as JSON, never as text.

    When a passage was looked at or changed last says little about what holds; it is told only
    where nothing says more.
    """
    validity = retrieved.validity
    about: dict[str, Any] = {"title": clip(retrieved.title or retrieved.source)}
    if retrieved.chunk.headings:
        about["section"] = [clip(heading) for heading in retrieved.chunk.headings]
    dated = any(getattr(validity, name) is not None for name in (*_IN_FORCE, "superseded_by"))
    for name in _IN_FORCE if dated else _LAST_SEEN:
        value = getattr(validity, name)
        if value is not None:
            about[name] = value.isoformat()
    if validity.superseded_by is not None:
        about["superseded"] = True
    return about


def clip(text: str) -> str:
    """Return `text`, cut to a length that no document or draft can move."""
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + " […]"


def sendable(text: str) -> str:
    """Return `text` with lone surrogates, which cannot be sent, as U+FFFD: as long as before."""
    return _SURROGATE.sub("\ufffd", text)
