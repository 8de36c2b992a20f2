"""E-mail (.eml): a short block of headers, then the plain text, or the HTML where there is none."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.policy import EmailPolicy
from email.utils import parsedate_to_datetime
from typing import Any, cast

from pydantic import JsonValue

from grounded_rag.errors import ReadError
from grounded_rag.ingest.decoding import MAX_BYTES, check_size, decode, odd_characters, require_text
from grounded_rag.ingest.readers.html import html_text
from grounded_rag.ingest.structure import Heading, build_sections, heading_spans
from grounded_rag.protocols import ParsedDocument

_HEADERS = ("Subject", "From", "To", "Date")
_LONGEST_HEADER = 500
_LONGEST_RAW_HEADER = 2000
_MOST_PARTS = 1000


class _ShortHeaders(EmailPolicy):
    """The default policy on the beginning of each header: its parser takes quadratic time."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        return super().header_fetch_parse(name, value[:_LONGEST_RAW_HEADER])


_POLICY = _ShortHeaders()


@dataclass(frozen=True, slots=True)
class EmailReader:
    """Reads one e-mail message; attachments are named in a warning and not read.

    The day it was sent becomes `updated_at`, unless the manifest knows better.
    """

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        parser = BytesParser(_class=EmailMessage, policy=_POLICY)
        message = cast("EmailMessage", parser.parsebytes(data))
        if next(itertools.islice(message.walk(), _MOST_PARTS, None), None) is not None:
            raise ReadError(
                f"{source}: the message has more than {_MOST_PARTS} parts.",
                hint="Leave the file out.",
            )
        headers = [(name, value) for name in _HEADERS if (value := _header(message, name))]
        if not headers:
            raise ReadError(f"{source}: this is no e-mail message.", hint="Leave the file out.")
        subject = _header(message, "Subject")
        block = "\n".join(f"{name}: {value}" for name, value in headers) + "\n\n"
        body = _read_body(message, source)
        require_text(body.text, source=source)
        text = block + body.text
        headings = [
            Heading(span.start + len(block), span.end + len(block), 2, section.title)
            for span, section in zip(body.headings, body.sections, strict=True)
        ]
        if subject:
            headings.insert(0, Heading(0, block.index("\n"), 1, subject))
        return ParsedDocument(
            text=text,
            title=subject,
            media_type="message/rfc822",
            sections=build_sections(len(text), headings),
            headings=heading_spans(headings),
            metadata=_metadata(message),
            warnings=(
                *body.warnings,
                *_attachment_warning(message, source),
                *odd_characters(block, f"{source}, headers"),
            ),
        )


def _header(message: Message, name: str) -> str:
    """Return a header on one line; what cannot be decoded shows as U+FFFD."""
    try:
        value = str(message.get(name, ""))
    except (ValueError, TypeError, LookupError, AttributeError):
        # The parser of the standard library stumbles over some malformed headers.
        return ""
    clean = value.encode("utf-8", "replace").decode("utf-8").replace("\x00", "\ufffd")
    return " ".join(clean.split())[:_LONGEST_HEADER]


def _read_body(message: EmailMessage, source: str) -> ParsedDocument:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ParsedDocument(text="")
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    decoded = decode(raw, source=source, declared=part.get_content_charset())
    if part.get_content_type() == "text/html":
        return html_text(decoded.text, source=source).model_copy(
            update={"warnings": decoded.warnings}
        )
    return ParsedDocument(text=decoded.text, warnings=decoded.warnings)


def _attachment_warning(message: EmailMessage, source: str) -> Iterator[str]:
    names = [part.get_filename() or part.get_content_type() for part in message.iter_attachments()]
    if names:
        listed = ", ".join(" ".join(name.split())[:80] for name in names[:5])
        yield f"{source}: {len(names)} attachments were not read: {listed}."


def _metadata(message: Message) -> dict[str, JsonValue]:
    metadata: dict[str, JsonValue] = {}
    try:
        sent = parsedate_to_datetime(_header(message, "Date"))
    except (ValueError, TypeError, IndexError, OverflowError):
        sent = None
    if sent is not None:
        # "-0000" means UTC of an unknown zone.
        aware = sent if sent.tzinfo else sent.replace(tzinfo=dt.UTC)
        metadata["updated_at"] = aware.isoformat()
    if sender := _header(message, "From"):
        metadata["from"] = sender
    return metadata
