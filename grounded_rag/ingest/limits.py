"""Bounds that keep a hostile file from eating the machine."""

from __future__ import annotations

from grounded_rag.errors import NoTextError, ReadError

MAX_BYTES = 50_000_000
"""Largest file that is read, in bytes."""


def check_size(size: int, *, source: str, max_bytes: int) -> None:
    """Refuse a file that is too large.

    Args:
        size: Its size in bytes.
        source: Its name, for the message.
        max_bytes: Largest accepted size in bytes.

    Raises:
        ReadError: It is larger.
    """
    if size > max_bytes:
        raise ReadError(
            f"{source}: {size:,} bytes are more than the limit of {max_bytes:,}.",
            hint="Split the file, or raise max_bytes.",
        )


def require_text(text: str, *, source: str) -> None:
    """Refuse a document in which there is nothing to quote.

    Raises:
        NoTextError: `text` is empty or white space.
    """
    if not text or text.isspace():
        raise NoTextError(f"{source}: there is no text in it.", hint="Leave the file out.")
