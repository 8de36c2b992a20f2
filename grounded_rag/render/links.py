"""Links to sources: web addresses and relative paths, and nothing that a browser would run."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from grounded_rag.receipts.fragments import is_web, text_fragment_link

_SPACE_OR_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_PAGED = (".pdf",)


def source_link(source: str, *, page: int | None = None, quoted: str = "") -> str | None:
    """Return an address that opens a source, or None where none is safe.

    A source is data: it may be named `javascript:…` or `//elsewhere`. Only `http` and `https`
    addresses and paths relative to the page are linked; anything else is shown as text.

    Args:
        source: Where the document came from: an address, or a path relative to the corpus.
        page: 1-based page, which a PDF is opened at.
        quoted: The quote, which a web page is opened at (a text fragment).
    """
    if is_web(source):
        return _web(source, page=page, quoted=quoted)
    if _SCHEME.match(source) or source.startswith(("/", "#", "?")) or source != source.strip():
        return None
    if not source or "\\" in source or _SPACE_OR_CONTROL.search(source.replace(" ", "")):
        return None
    path = quote(source, safe="/")
    return f"{path}#page={page}" if page is not None and _is_paged(source) else path


def _web(source: str, *, page: int | None, quoted: str) -> str | None:
    if _SPACE_OR_CONTROL.search(source) or any(c in source for c in "\"'<>\\`"):
        return None
    if page is not None and _is_paged(urlsplit(source).path):
        return source if "#" in source else f"{source}#page={page}"
    return text_fragment_link(source, quoted) or source


def _is_paged(path: str) -> bool:
    return path.lower().endswith(_PAGED)
