"""Readers: one a format, each turning bytes into canonical text with places."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from grounded_rag.errors import ConfigError, GroundedRAGError, ReadError, UnsupportedFormatError
from grounded_rag.ingest.decoding import MAX_BYTES
from grounded_rag.ingest.metadata import read_metadata
from grounded_rag.ingest.readers.docx import DocxReader
from grounded_rag.ingest.readers.email import EmailReader
from grounded_rag.ingest.readers.html import HtmlReader
from grounded_rag.ingest.readers.pdf import PdfReader
from grounded_rag.ingest.readers.text import MarkdownReader, TextReader
from grounded_rag.plugins import check_part
from grounded_rag.protocols import ParsedDocument, Reader

_READERS: dict[str, Callable[..., Reader]] = {
    ".docx": DocxReader,
    ".eml": EmailReader,
    ".htm": HtmlReader,
    ".html": HtmlReader,
    ".markdown": MarkdownReader,
    ".md": MarkdownReader,
    ".pdf": PdfReader,
    ".text": TextReader,
    ".txt": TextReader,
    ".xhtml": HtmlReader,
}

_SUFFIX = re.compile(r"\.[^./\\\s]+")
_LONGEST_ERROR = 300

SUPPORTED_SUFFIXES = tuple(sorted(_READERS))
"""Suffixes of the files that the built-in readers read, in lower case."""


def check_readers(readers: Mapping[str, Reader] | None) -> dict[str, Reader]:
    """Return a user's own readers by suffix in lower case.

    Raises:
        ConfigError: A suffix is no ".suffix" or is there twice, or an object is no `Reader`.
    """
    checked: dict[str, Reader] = {}
    if readers is not None and not isinstance(readers, Mapping):
        raise ConfigError(
            "`readers` must name a suffix for each reader.", hint='Write readers={".rst": reader}.'
        )
    for suffix, reader in (readers or {}).items():
        if not isinstance(suffix, str) or not _SUFFIX.fullmatch(suffix):
            raise ConfigError(
                f"{suffix!r} is no suffix of a file.", hint='Write it with its dot, as in ".rst".'
            )
        if suffix.lower() in checked:
            raise ConfigError(
                f"There are two readers for {suffix.lower()}.", hint="Give one for each suffix."
            )
        check_part(reader, "readers")
        checked[suffix.lower()] = reader
    return checked


def readable(suffix: str, readers: Mapping[str, Reader]) -> bool:
    """Whether there is a built-in reader for a suffix, or one among the user's own."""
    return suffix.lower() in _READERS or suffix.lower() in readers


def reader_for(
    suffix: str, *, max_bytes: int = MAX_BYTES, readers: Mapping[str, Reader] | None = None
) -> Reader:
    """Return the reader for files with a suffix; the user's own come before the built-in ones.

    `max_bytes` limits the built-in ones; `readers` are as `check_readers` returns them.

    Raises:
        UnsupportedFormatError: There is no reader for it.
    """
    own = (readers or {}).get(suffix.lower())
    if own is not None:
        return GuardedReader(own)
    reader = _READERS.get(suffix.lower())
    if reader is None:
        raise UnsupportedFormatError(
            f"There is no reader for {suffix or 'files without a suffix'}.",
            hint=f"Convert it to one of {' '.join(SUPPORTED_SUFFIXES)}.",
        )
    return reader(max_bytes=max_bytes)


class GuardedReader:
    """A user's own reader, of which everything that it does wrong is a `ReadError` of the file."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._name = type(reader).__name__

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`, and make sure that what comes back can be cut, stored and cited.

        Raises:
            ReadError: The reader raised an error, or returned something else than a sound
                `ParsedDocument`; the message names the reader.
        """
        try:
            parsed = self._reader.read(data, source=source)
            fault = _fault_of(parsed)
            # A date that can be read in two ways must not stop the files after this one.
            if (
                not fault
                and read_metadata(parsed.metadata, where="metadata").validity.superseded_by
                == source
            ):
                fault = "the document itself as its successor"
        except GroundedRAGError as error:
            raise ReadError(
                f"{source}: the reader {self._name} refused it: {error.message}", hint=error.hint
            ) from error
        except Exception as error:
            what = " ".join(str(error).split())[:_LONGEST_ERROR]
            raise ReadError(
                f"{source}: the reader {self._name} failed: {type(error).__name__}: {what}",
                hint="Mend the reader, or let it raise a ReadError that says what is wrong.",
            ) from error
        if fault:
            raise ReadError(
                f"{source}: the reader {self._name} returned {fault}.",
                hint="Return a ParsedDocument whose spans are places in its text, in order.",
            )
        return parsed


def _fault_of(parsed: object) -> str:
    """Return what is wrong with what a reader returned, or ""."""
    if not isinstance(parsed, ParsedDocument):
        kind = f"the class {parsed.__name__}" if isinstance(parsed, type) else type(parsed).__name__
        return f"{kind} and no ParsedDocument"
    if not parsed.text.strip():
        return "no text"
    try:
        parsed.text.encode()
    except UnicodeEncodeError as error:
        return f"a lone surrogate at code point {error.start}"
    for what, spans in (
        ("sections", [section.span for section in parsed.sections]),
        ("headings", parsed.headings),
        ("pages", parsed.pages),
    ):
        ends = [0, *(span.end for span in spans)]
        in_order = all(span.start >= end for span, end in zip(spans, ends, strict=False))
        if not in_order or ends[-1] > len(parsed.text):
            return f"{what} that overlap, are out of order or end behind the text"
    return ""


__all__ = [
    "SUPPORTED_SUFFIXES",
    "DocxReader",
    "EmailReader",
    "HtmlReader",
    "MarkdownReader",
    "PdfReader",
    "TextReader",
    "check_readers",
    "readable",
    "reader_for",
]
