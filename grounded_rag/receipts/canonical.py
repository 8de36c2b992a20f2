"""The one canonical form of a receipt (RFC 8785) and its hash."""

from __future__ import annotations

import hashlib

import rfc8785

from grounded_rag.errors import ReceiptError
from grounded_rag.types import Receipt

_OUTSIDE = {"id", "content_hash", "signature"}
ID_DIGITS = 32


def canonical_json(receipt: Receipt) -> bytes:
    """Return the bytes that are hashed: everything but `id`, `content_hash` and `signature`.

    Raises:
        ReceiptError: It holds what JSON cannot carry, such as a lone surrogate.
    """
    try:
        return rfc8785.dumps(receipt.model_dump(mode="json", exclude=_OUTSIDE))
    except (rfc8785.CanonicalizationError, ValueError) as error:
        raise ReceiptError(
            f"The receipt cannot be written as canonical JSON: {type(error).__name__}.",
            hint="A text holds a broken character, or a number is outside the range of JSON.",
        ) from error


def content_hash(receipt: Receipt) -> str:
    """Return the SHA-256, hexadecimal, of the canonical form.

    Raises:
        ReceiptError: See `canonical_json`.
    """
    return hashlib.sha256(canonical_json(receipt)).hexdigest()


def seal(receipt: Receipt) -> Receipt:
    """Return the receipt with its hash and its id.

    Raises:
        ReceiptError: See `canonical_json`.
    """
    digest = content_hash(receipt)
    return receipt.model_copy(update={"content_hash": digest, "id": digest[:ID_DIGITS]})
