"""A document that a person brings along: bounded, checked, and stored under a name of ours."""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from chatbot.corpora import open_documents
from chatbot.limits import TooManyError
from grounded_rag import GroundedRAGError
from grounded_rag.errors import InputError
from grounded_rag.ingest.update import IngestReport, update_index
from grounded_rag.types import Frozen

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from chatbot.sessions import Session
    from chatbot.settings import Settings

_STARTS = {".pdf": b"%PDF-", ".docx": b"PK\x03\x04"}
_TEXT = (".md", ".txt", ".html", ".htm", ".eml")
ACCEPTED = (*_STARTS, *_TEXT)
"""Suffixes of documents that may be uploaded."""
_LONGEST_NAME = 100
_HEAD = 1024


class UploadView(Frozen):
    """An uploaded document as the page shows it."""

    name: str
    passages: int
    warnings: tuple[str, ...] = ()


def shown_name(name: str) -> str:
    """Return a file name for people: one line, no path, nothing that reorders or hides text."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    plain = "".join(c for c in last if unicodedata.category(c)[0] != "C")
    plain = " ".join(plain.split())
    return plain if len(plain) <= _LONGEST_NAME else plain[: _LONGEST_NAME - 1] + "…"


def check_kind(name: str, head: bytes) -> str:
    """Return the suffix to store a document under.

    Args:
        name: The name it was given.
        head: Its first bytes.

    Raises:
        InputError: Its kind is not accepted, or its bytes are of another kind.
    """
    suffix = next((known for known in ACCEPTED if name.lower().endswith(known)), None)
    if suffix is None:
        raise InputError(
            "This kind of file cannot be read.", hint=f"Accepted are {', '.join(ACCEPTED)}."
        )
    wanted = _STARTS.get(suffix)
    if wanted is not None and wanted not in head[:_HEAD]:
        raise InputError(
            f"The file is named {suffix} and is of another kind.", hint="Save it again."
        )
    if wanted is None and b"\x00" in head and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError("The file is no text.", hint="Save it as UTF-8 text.")
    return suffix


async def accept(
    session: Session,
    settings: Settings,
    embedding: BaseEmbedding | None,
    *,
    name: str,
    data: bytes,
) -> UploadView:
    """Store a document among those of a session and bring its index up to date.

    Args:
        session: The session.
        settings: Bounds in force.
        embedding: Embedding of the index.
        name: Name that the person's file has; it is shown, and names nothing on disk.
        data: Its bytes.

    Raises:
        InputError: Its kind is not accepted, or there are too many documents.
        ReadError: It cannot be read.
    """
    async with session.busy:
        if len(session.uploads) >= settings.most_uploads:
            raise InputError(
                f"There are {settings.most_uploads} documents already.",
                hint="Remove them to add others.",
            )
        suffix = check_kind(name, data[:_HEAD])
        folder = session.folder / "documents"
        path = folder / f"{secrets.token_hex(8)}{suffix}"
        await to_thread.run_sync(_write, path, data)
        try:
            report = await to_thread.run_sync(lambda: _update(session, settings, embedding, path))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        _adopt(session, path.name, shown_name(name))
        return _view(report, path.name, shown_name(name))


async def remove_all(session: Session) -> None:
    """Delete the documents of a session with their index.

    Raises:
        TooManyError: A question of it is being answered from them.
    """
    async with session.busy:
        if session.asking:
            raise TooManyError("Your question is still being answered.", retry_after=2)
        # Nothing else of the session runs meanwhile: it would wait for this very loop.
        session.forget_uploads()


async def read_body(body: AsyncIterator[bytes], most: int) -> bytes:
    """Return the bytes of a body, which are counted as they come.

    Raises:
        InputError: There are none, or more than `most`.
    """
    parts = bytearray()
    async for part in body:
        parts += part
        if len(parts) > most:
            raise InputError(
                f"The file is larger than {most / 1_000_000:.0f} MB.", hint="Split the file."
            )
    if not parts:
        raise InputError("The file is empty.", hint="Choose another file.")
    return bytes(parts)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)


def _update(
    session: Session, settings: Settings, embedding: BaseEmbedding | None, path: Path
) -> IngestReport:
    index = session.folder / "index"
    if session.own is None:
        session.own, report = open_documents(
            path.parent,
            index=index,
            embedding=embedding,
            policy=settings.policy,
            names=session.uploads,
        )
    else:
        report = update_index([path.parent], index=index, embedding=embedding)
    for failed in report.failed:
        if failed.path.endswith(path.name):
            raise _failure(failed.message, failed.hint, path.name)
    return report


def _failure(message: str, hint: str, stored: str) -> GroundedRAGError:
    return InputError(message.replace(f"{stored}: ", "").replace(stored, "It"), hint=hint)


def _adopt(session: Session, doc_id: str, name: str) -> None:
    taken = set(session.uploads.values())
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name} ({number})", number + 1
    session.uploads[doc_id] = unique


def _view(report: IngestReport, doc_id: str, name: str) -> UploadView:
    warnings = tuple(
        warning.message.replace(doc_id, name)
        for warning in report.warnings
        if warning.path.endswith(doc_id)
    )
    return UploadView(name=name, passages=report.chunks, warnings=warnings)
