"""Plain text: the canonical text is the decoded file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from grounded_rag.ingest.decoding import decode
from grounded_rag.ingest.limits import MAX_BYTES, check_size, require_text
from grounded_rag.ingest.structure import Heading, build_sections, heading_spans
from grounded_rag.protocols import ParsedDocument

_UNDERLINED = re.compile(
    r"^(?=\S)([^\r\n]{1,120})(?:\r\n|\n|\r)(={3,}|-{3,})[ \t]*(?=[\r\n]|\Z)", re.MULTILINE
)
_TITLE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads plain text, unchanged but for its byte order mark; underlined lines are headings.

    Attributes:
        max_bytes: Largest accepted file.
    """

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        decoded = decode(data, source=source)
        require_text(decoded.text, source=source)
        headings = _headings(decoded.text)
        return ParsedDocument(
            text=decoded.text,
            title=_title(decoded.text),
            media_type="text/plain",
            sections=build_sections(len(decoded.text), headings),
            headings=heading_spans(headings),
            warnings=decoded.warnings,
        )


def _headings(text: str) -> list[Heading]:
    return [
        Heading(
            start=found.start(),
            end=found.end(),
            level=1 if found[2][0] == "=" else 2,
            title=found[1].strip(),
        )
        for found in _UNDERLINED.finditer(text)
        if _alone(text, found)
    ]


def _alone(text: str, found: re.Match[str]) -> bool:
    """Whether a blank line, or nothing, stands before the heading: no row of a table does."""
    before = text[max(0, found.start() - 200) : found.start()]
    lines = before.splitlines()
    return not lines or not lines[-1].strip()


def _title(text: str) -> str:
    """Return the first line if it stands alone and is no sentence."""
    lines = text.lstrip()[:1000].splitlines()[:2]
    first = lines[0].strip()
    if len(first) > _TITLE_LENGTH or first.endswith((".", "!", ":", ";", ",")):
        return ""
    alone = len(lines) == 1 or not lines[1].strip() or not lines[1].strip("=- \t")
    return first if alone else ""
