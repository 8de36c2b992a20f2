"""Ed25519 signatures of receipts. Needs the extra `signing`."""

from __future__ import annotations

from types import ModuleType

from grounded_rag.errors import MissingExtraError, ReceiptError
from grounded_rag.receipts.findings import IntegrityProblem, SignatureState
from grounded_rag.receipts.make import content_hash
from grounded_rag.types import Receipt, Signature

_PURPOSE = b"grounded_rag receipt 1\n"
_KEY_BYTES = 32


def sign(receipt: Receipt, key: bytes) -> Receipt:
    """Return the receipt with a signature over its hash.

    Args:
        receipt: A receipt as it was made.
        key: Raw Ed25519 private key, 32 bytes.

    Raises:
        ReceiptError: The receipt was altered, or the key is no key.
        MissingExtraError: `cryptography` is not installed.
    """
    ed25519 = _library()
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
        value=private.sign(_PURPOSE + digest.encode()).hex(),
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
    ed25519 = _library()
    from cryptography.exceptions import InvalidSignature

    if len(public_key) != _KEY_BYTES:
        raise ReceiptError(
            f"A public key has {_KEY_BYTES} bytes, not {len(public_key)}.",
            hint="Give its 64 hexadecimal digits, or the raw bytes.",
        )
    if receipt.signature is None or receipt.signature.public_key != public_key.hex():
        return False
    message = _PURPOSE + content_hash(receipt).encode()
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(
            bytes.fromhex(receipt.signature.value), message
        )
    except (InvalidSignature, ValueError):
        return False
    return True


def signature_state(receipt: Receipt, public_key: bytes | None) -> SignatureState:
    """Return what can be said of a receipt's signature.

    Args:
        receipt: The receipt.
        public_key: Key that must have signed it, or None where that is not asked.

    Raises:
        ReceiptError: The key is no key.
        MissingExtraError: A key is given and `cryptography` is not installed.
    """
    if public_key is None:
        return "none" if receipt.signature is None else "not_checked"
    if receipt.signature is None:
        return "missing"
    return "valid" if verify_signature(receipt, public_key) else "invalid"


def signature_problems(state: SignatureState) -> tuple[IntegrityProblem, ...]:
    """Return what speaks against a receipt for the sake of its signature."""
    if state not in ("invalid", "missing"):
        return ()
    told = "is missing" if state == "missing" else "is not by the given key, or the content changed"
    return (IntegrityProblem(kind="signature", path="signature", detail=f"The signature {told}."),)


def _library() -> ModuleType:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingExtraError(
            "Signatures need the package cryptography.",
            hint='Install it: pip install "grounded-rag[signing]".',
        ) from error
    return ed25519
