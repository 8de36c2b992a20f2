"""Readers: one a format, each turning bytes into canonical text with places."""

from __future__ import annotations

from collections.abc import Callable

from grounded_rag.errors import UnsupportedFormatError
from grounded_rag.ingest.decoding import MAX_BYTES
from grounded_rag.ingest.readers.docx import DocxReader
from grounded_rag.ingest.readers.email import EmailReader
from grounded_rag.ingest.readers.html import HtmlReader
from grounded_rag.ingest.readers.pdf import PdfReader
from grounded_rag.ingest.readers.text import MarkdownReader, TextReader
from grounded_rag.protocols import Reader

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

SUPPORTED_SUFFIXES = tuple(sorted(_READERS))
"""Suffixes of the files that can be read, with their dot, in lower case."""


def reader_for(suffix: str, *, max_bytes: int = MAX_BYTES) -> Reader:
    """Return the reader for files with a suffix.

    Args:
        suffix: Suffix with its dot, in any case, such as `.md`.
        max_bytes: Largest file that the reader accepts, in bytes.

    Raises:
        UnsupportedFormatError: There is no reader for it.
    """
    reader = _READERS.get(suffix.lower())
    if reader is None:
        raise UnsupportedFormatError(
            f"There is no reader for {suffix or 'files without a suffix'}.",
            hint=f"Convert it to one of {' '.join(SUPPORTED_SUFFIXES)}.",
        )
    return reader(max_bytes=max_bytes)


__all__ = [
    "SUPPORTED_SUFFIXES",
    "DocxReader",
    "EmailReader",
    "HtmlReader",
    "MarkdownReader",
    "PdfReader",
    "TextReader",
    "reader_for",
]
