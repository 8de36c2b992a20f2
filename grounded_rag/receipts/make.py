"""Receipts are made of answers, sealed with a hash, signed, saved and loaded."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import rfc8785
from pydantic import ValidationError

from grounded_rag.errors import MissingExtraError, ReceiptError
from grounded_rag.types import (
    AnswerData,
    ClaimVerdict,
    Located,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Signature,
)
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.verdict import confirmed_by
from grounded_rag.version import __version__

ID_DIGITS = 32
MAX_BYTES = 16_000_000
"""Largest file that is read as a receipt."""
_NOT_HASHED = {"id", "content_hash", "signature"}
_KEY_BYTES = 32
_SIGNED_PURPOSE = b"grounded_rag receipt 1\n"
"""Stands before the signed hash, so that a signature of anything else is none of a receipt."""


def make_receipt(answer: AnswerData, *, include_text: bool = True) -> Receipt:
    """Return the receipt of an answer.

    Args:
        answer: The answer.
        include_text: Whether the texts of the cited chunks travel with it. Without them the
            verifier needs an index or folder that still has the document version.

    Raises:
        ReceiptError: The answer holds text that JSON cannot carry.
    """
    passages = {retrieved.chunk.id: Passage(retrieved) for retrieved in answer.evidence}
    return seal(
        Receipt(
            created_at=dt.datetime.now(dt.UTC),
            question=answer.question,
            status=answer.status,
            text=answer.text,
            refusal=answer.refusal,
            claims=tuple(_claim(verdict, passages) for verdict in answer.claims),
            unanswered=answer.unanswered,
            sources=tuple(_source(item, include_text=include_text) for item in answer.evidence),
            flags=answer.flags,
            generator=answer.generator,
            policy=answer.policy,
            fingerprint=answer.fingerprint,
            as_of=answer.as_of,
            package_version=__version__,
        )
    )


def _claim(verdict: ClaimVerdict, passages: dict[str, Passage]) -> ReceiptClaim:
    return ReceiptClaim(
        text=verdict.text,
        citations=tuple(_citation(place, passages[place.chunk_id]) for place in verdict.located),
        arithmetic=verdict.claim.arithmetic,
        tier=verdict.tier,
        restated=verdict.restated,
        decided_by=confirmed_by(verdict),
        checks=tuple(dict.fromkeys(signal.check for signal in verdict.signals)),
    )


def _citation(place: Located, passage: Passage) -> ReceiptCitation:
    return ReceiptCitation(
        chunk_id=place.chunk_id,
        doc_id=place.doc_id,
        quote=place.quote,
        chunk_span=place.chunk_span,
        document_span=place.document_span,
        page=place.page,
        folds=place.folds,
        sentence=stated_at(passage, place.chunk_span).text,
    )


def _source(retrieved: RetrievedChunk, *, include_text: bool) -> ReceiptSource:
    chunk = retrieved.chunk
    return ReceiptSource(
        chunk_id=chunk.id,
        doc_id=chunk.doc_id,
        span=chunk.span,
        text=chunk.text if include_text else None,
        # Worked out again: another stack may fill the field with something of its own.
        content_hash=text_hash(chunk.text),
        document_hash=retrieved.document_hash,
        headings=chunk.headings,
        heading_spans=chunk.heading_spans,
        page=chunk.page,
        page_spans=retrieved.page_spans,
        title=retrieved.title,
        source=retrieved.source,
        trust=retrieved.trust,
        validity=retrieved.validity,
    )


def canonical_json(receipt: Receipt) -> bytes:
    """Return the bytes that are hashed: everything but `id`, `content_hash` and `signature`.

    Raises:
        ReceiptError: It holds what JSON cannot carry, such as a lone surrogate.
    """
    try:
        return rfc8785.dumps(receipt.model_dump(mode="json", exclude=_NOT_HASHED))
    except (rfc8785.CanonicalizationError, ValueError) as error:
        raise ReceiptError(
            f"The receipt cannot be written as canonical JSON: {type(error).__name__}.",
            hint="A text holds a broken character, or a number is outside the range of JSON.",
        ) from error


def content_hash(receipt: Receipt) -> str:
    """Return the SHA-256, hexadecimal, of the canonical form."""
    return hashlib.sha256(canonical_json(receipt)).hexdigest()


def seal(receipt: Receipt) -> Receipt:
    """Return the receipt with its hash and its id."""
    digest = content_hash(receipt)
    return receipt.model_copy(update={"content_hash": digest, "id": digest[:ID_DIGITS]})


def text_hash(text: str) -> str:
    """Return the SHA-256, hexadecimal, of a text in UTF-8."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def sign(receipt: Receipt, key: bytes) -> Receipt:
    """Return the receipt with a signature over its hash.

    Args:
        receipt: A receipt as it was made.
        key: Raw Ed25519 private key, 32 bytes.

    Raises:
        ReceiptError: The receipt was altered, or the key is no key.
        MissingExtraError: `cryptography` is not installed.
    """
    ed25519 = _ed25519()
    digest = content_hash(receipt)
    if receipt.content_hash != digest:
        raise ReceiptError(
            "The receipt does not give its own hash and is not signed.",
            hint="Sign what `answer.receipt()` returns, unchanged.",
        )
    if len(key) != _KEY_BYTES:
        raise ReceiptError(
            f"A private key has {_KEY_BYTES} bytes, not {len(key)}.",
            hint="Use Ed25519PrivateKey.generate().private_bytes_raw().",
        )
    private = ed25519.Ed25519PrivateKey.from_private_bytes(key)
    signature = Signature(
        public_key=private.public_key().public_bytes_raw().hex(),
        value=private.sign(_SIGNED_PURPOSE + digest.encode()).hex(),
    )
    return receipt.model_copy(update={"signature": signature})


def verify_signature(receipt: Receipt, public_key: bytes) -> bool:
    """Whether the receipt, as it is now, was signed with the private key of `public_key`.

    Args:
        receipt: The receipt.
        public_key: Raw Ed25519 public key, 32 bytes, known from elsewhere: the one that the
            receipt names proves nothing.

    Raises:
        ReceiptError: The key is no key, or the receipt cannot be hashed.
        MissingExtraError: `cryptography` is not installed.
    """
    ed25519 = _ed25519()
    from cryptography.exceptions import InvalidSignature

    if len(public_key) != _KEY_BYTES:
        raise ReceiptError(
            f"A public key has {_KEY_BYTES} bytes, not {len(public_key)}.",
            hint="Give its 64 hexadecimal digits, or the raw bytes.",
        )
    if receipt.signature is None or receipt.signature.public_key != public_key.hex():
        return False
    message = _SIGNED_PURPOSE + content_hash(receipt).encode()
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(
            bytes.fromhex(receipt.signature.value), message
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def _ed25519() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError(
            "Signatures need the package cryptography.",
            hint='Install it: pip install "grounded-rag[signing]".',
        ) from error
    return ed25519


def file_name(receipt: Receipt) -> str:
    """Return the name of a receipt's file: its moment and its hash, nothing that was asked."""
    moment = receipt.created_at.astimezone(dt.UTC).strftime("%Y%m%dT%H%M%S.%fZ")
    return f"{moment}-{receipt.content_hash[:16]}.json"


def save_receipt(receipt: Receipt, folder: Path | str) -> Path:
    """Write a receipt into a folder, which is made where it is missing.

    A reader sees the whole file or none, also when the process is killed.

    Returns:
        The file.

    Raises:
        ReceiptError: It cannot be written.
    """
    place = Path(folder)
    target = place / file_name(receipt)
    # Hidden while it is written, so that `receipt_files` does not list it.
    partial = place / f".{target.name}.{secrets.token_hex(4)}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        try:
            with partial.open("x", encoding="utf-8", newline="\n") as file:
                file.write(receipt.to_json() + "\n")
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ReceiptError(
            f"The receipt cannot be written to {place}: {error.strerror or error}.",
            hint="Name a folder that can be written to.",
        ) from error
    return target


def load_receipt(path: Path | str) -> Receipt:
    """Read a receipt. Whether it was altered is for `verify_receipt` to say.

    Raises:
        ReceiptError: It cannot be read, or is no receipt of a known version.
    """
    file = Path(path)
    try:
        size = file.stat().st_size
        if size > MAX_BYTES:
            raise ReceiptError(
                f"{file.name} has {size:,} bytes: too many for a receipt.",
                hint="Check that it is a receipt.",
            )
        data = file.read_bytes()
    except OSError as error:
        raise ReceiptError(
            f"{file} cannot be read: {error.strerror or error}.", hint="Check the path."
        ) from error
    try:
        return Receipt.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ReceiptError(
            f"{file.name} is no receipt: {where}: {first['msg']}.",
            hint="A receipt is the JSON that `answer.receipt()` makes.",
        ) from error


def receipt_files(folder: Path | str) -> Iterator[Path]:
    """Return the receipt files of a folder, by name: `*.json`, hidden ones left out.

    Raises:
        ReceiptError: There is no such folder.
    """
    place = Path(folder)
    try:
        files = sorted(place.iterdir())
    except OSError as error:
        raise ReceiptError(
            f"{place} cannot be listed: {error.strerror or error}.",
            hint="Name the folder that receipts were saved to.",
        ) from error
    return (file for file in files if file.suffix == ".json" and not file.name.startswith("."))
