"""Bytes to text without guessing in silence: BOM, then strict UTF-8, then one named fallback.

Nothing is dropped or replaced. What cannot be decoded is an error that names the byte.
"""

from __future__ import annotations

import codecs
import re

from grounded_rag.errors import NoTextError, ReadError, UndecodableError
from grounded_rag.types import Frozen

MAX_BYTES = 50_000_000
"""Largest file that is read, in bytes."""


FALLBACK = "windows-1252"
"""Encoding that bytes are read in which are no UTF-8, where they look like Western text."""

# The longer mark first: UTF-32's little-endian mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Labels by which files name their encoding, as the WHATWG standard reads them; codecs such as
# "hex" or "unicode_escape" are no encodings and must not be reachable from a document.
_LABELS = {
    **dict.fromkeys(("utf-8", "utf8", "unicode-1-1-utf-8"), "utf-8"),
    **dict.fromkeys(
        ("us-ascii", "ascii", "iso-8859-1", "iso8859-1", "latin1", "latin-1", "cp1252", FALLBACK),
        FALLBACK,
    ),
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in range(2, 17) if part not in (11, 12)},
    **{f"windows-{page}": f"cp{page}" for page in (1250, 1251, 1253, 1254, 1255, 1256, 1257, 1258)},
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), "gb18030"),
    **dict.fromkeys(("utf-16", "utf-16le"), "utf-16-le"),
    **{name: name for name in ("koi8-r", "koi8-u", "euc-jp", "iso-2022-jp", "euc-kr", "big5")},
    "utf-16be": "utf-16-be",
    "macintosh": "mac-roman",
}  # fmt: skip
_UTF8_RUN = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH_LETTERS = re.compile(rb"[\xc0-\xff]{4}")
_CONTROLS = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_ODD = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010fffd]")
_MOST_CONTROLS = 0.01
"""Share of control characters above which bytes are no text."""


class DecodedText(Frozen):
    """Text of a file, the encoding it was read in, and what a person should look at."""

    text: str
    encoding: str
    warnings: tuple[str, ...] = ()


def decode(data: bytes, *, source: str, declared: str | None = None) -> DecodedText:
    """Decode a text file, all but its byte order mark: line ends and white space stay.

    `declared` is what the file or its envelope names as its encoding; an unknown name is ignored.

    Raises:
        UndecodableError: The bytes are no text; the message names the offset and the byte.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _checked(_strict(data, encoding, source, skip=len(mark)), encoding, source)
    named = _LABELS.get((declared or "").strip().lower())
    if named is not None and named not in ("utf-8", FALLBACK):
        return _checked(_strict(data, named, source), named, source)
    zero = data.find(b"\x00")
    if zero >= 0:
        raise UndecodableError(
            f"{source}: byte 0x00 at offset {zero}: this is no text, or UTF-16 without its mark.",
            hint="Save it as UTF-8, or leave it out.",
        )
    try:
        return _checked(data.decode("utf-8"), "utf-8", source)
    except UnicodeDecodeError as error:
        return _fallback(data, error.start, source, declared=named == FALLBACK)


def check_size(size: int, *, source: str, max_bytes: int) -> None:
    """Refuse a file that is too large."""
    if size > max_bytes:
        raise ReadError(
            f"{source}: {size:,} bytes are more than the limit of {max_bytes:,}.",
            hint="Split the file, or raise max_bytes.",
        )


def require_text(text: str, *, source: str) -> None:
    """Refuse a document in which there is nothing to quote."""
    if not text or text.isspace():
        raise NoTextError(f"{source}: there is no text in it.", hint="Leave the file out.")


def odd_characters(text: str, where: str) -> tuple[str, ...]:
    """Return a warning about `where` if its text holds replacement or private-use characters."""
    found = _ODD.findall(text)
    if not found:
        return ()
    warning = (
        f"{where}: {len(found)} of {len(text)} characters are damaged (U+FFFD or private use); "
        "quotes across them cannot be checked."
    )
    return (warning,)


def _strict(data: bytes, encoding: str, source: str, *, skip: int = 0) -> str:
    try:
        return data[skip:].decode(encoding)
    except UnicodeDecodeError as error:
        raise UndecodableError(
            f"{source}: byte 0x{data[skip + error.start]:02x} at offset {skip + error.start} "
            f"is no {encoding}.",
            hint="Save the file as UTF-8.",
        ) from error


def _fallback(data: bytes, first: int, source: str, *, declared: bool) -> DecodedText:
    """Read bytes that are no UTF-8 as Windows-1252, if that is what they look like."""
    where = f"{source}: byte 0x{data[first]:02x} at offset {first}"
    if not declared:
        if _UTF8_RUN.search(data):
            raise UndecodableError(
                f"{where} is damaged UTF-8: the file is UTF-8 elsewhere.",
                hint="Mend that character, or save the file again as UTF-8.",
            )
        if _HIGH_LETTERS.search(data):
            raise UndecodableError(
                f"{where} is no UTF-8, and the text does not look Western.",
                hint="Save the file as UTF-8.",
            )
    decoded = _checked(_strict(data, "cp1252", source), FALLBACK, source)
    if declared:
        return decoded
    warning = f"{where} is no UTF-8; read as {FALLBACK}. Look at its accents and signs."
    return decoded.model_copy(update={"warnings": (warning, *decoded.warnings)})


def _checked(text: str, encoding: str, source: str) -> DecodedText:
    zero = text.find("\x00")
    if zero >= 0:
        raise UndecodableError(
            f"{source}: U+0000 at character {zero}: this is no text.", hint="Leave the file out."
        )
    controls = _CONTROLS.findall(text)
    if len(controls) > _MOST_CONTROLS * len(text):
        at = text.index(controls[0])
        raise UndecodableError(
            f"{source}: control character 0x{ord(controls[0]):02x} at character {at} and "
            f"{len(controls) - 1} more: this is no text.",
            hint="Leave the file out, or convert it to text.",
        )
    warnings = odd_characters(text, source)
    if controls:
        warnings += (f"{source}: {len(controls)} control characters; they are kept.",)
    return DecodedText(text=text, encoding=encoding, warnings=warnings)
