"""Labelled quotes from a file, one JSON object a line: the fuzzer's own cases, or hand-made ones.

A hand-made record has `chunks` ({"id", "text"}), `model_output.claims` ({"chunk_id", "quote"}) and
`expected.claims` ({"verdict", "literal", "start", "end"}). Of those, the claims that are about the
place of a quote become cases: one that is verified, repaired or flagged at a span is benign, one
that is rejected although or because the chunk does not hold its quote is a tamper. Claims whose
literal quote is rejected for another reason are left out: that is a matter of support.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grounded_rag.errors import InputError
from grounded_rag.testing.tamper.values import FuzzCase, FuzzChunk
from grounded_rag.types import Span

_BENIGN = frozenset({"verified", "repaired", "flagged"})


def read_cases(path: Path) -> tuple[FuzzCase, ...]:
    """Return the labelled quotes of a file.

    Raises:
        InputError: The file cannot be read, or a line of it is no case.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error
    cases: list[FuzzCase] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            cases.extend(_hand_made(record) if "model_output" in record else [FuzzCase(**record)])
        except (ValueError, TypeError, KeyError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{path}, line {number}, is no case: {reason}.",
                hint="Give the JSON of FuzzCase, or chunks, model_output and expected.",
            ) from error
    return tuple(cases)


def _hand_made(record: dict[str, Any]) -> Iterator[FuzzCase]:
    output = record["model_output"]
    claims = output.get("claims") if isinstance(output, dict) else None
    if not isinstance(claims, list):
        return
    chunks = tuple(FuzzChunk(id=c["id"], text=c["text"]) for c in record["chunks"])
    known = {chunk.id for chunk in chunks}
    for number, (claim, expected) in enumerate(
        zip(claims, record["expected"]["claims"], strict=False)
    ):
        cited = claim["chunk_id"]
        located = expected["verdict"] in _BENIGN and "start" in expected and cited in known
        if not located and not _misplaced(expected):
            continue
        yield FuzzCase(
            id=f"{record['id']}-{number}",
            kind=record["kind"],
            label="benign" if located else "tamper",
            chunks=chunks,
            cited=cited,
            quote=claim["quote"],
            original=expected.get("exact_quote", claim["quote"]),
            expected=Span(start=expected["start"], end=expected["end"]) if located else None,
            claim=claim["text"],
        )


def _misplaced(expected: dict[str, Any]) -> bool:
    return expected["verdict"] == "rejected" and expected.get("literal") is False
