"""Receipts as files: written whole or not at all, read as hostile data."""

from __future__ import annotations

import datetime as dt
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from grounded_rag.errors import ReceiptError
from grounded_rag.types import Receipt

MAX_BYTES = 16_000_000
"""Largest file that is read as a receipt."""


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
    # Hidden while it is written: `receipt_files` does not list it.
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
