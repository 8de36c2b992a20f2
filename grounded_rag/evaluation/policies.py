"""Under which policy something was made: fingerprints of answers, receipts, runs and defaults."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Unpack

from grounded_rag.assembly import make_parts
from grounded_rag.errors import InputError
from grounded_rag.evaluation.runs import META, Run
from grounded_rag.options import Options
from grounded_rag.protocols import Query
from grounded_rag.types import RetrievedChunk


class _Nothing:
    """A retriever for parts that are never asked."""

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:  # noqa: ARG002
        return ()


def policy_fingerprint(**options: Unpack[Options]) -> str:
    """Return the fingerprint that answers made with these options carry.

    Args:
        options: See `Options`; none stands for the defaults.

    Raises:
        ConfigError: Options do not fit together.
    """
    return make_parts(_Nothing(), options).fingerprint


def fingerprint_of(path: Path | str) -> str:
    """Return the fingerprint of the policy under which something was made.

    Args:
        path: Folder of a run, or a JSON file with an answer or a receipt.

    Raises:
        InputError: It cannot be read, or says nothing about its policy.
    """
    path = Path(path)
    if path.is_dir() and (path / META).exists():
        found: Any = Run.open(path).meta.fingerprint
    else:
        found = _field(path)
    if not isinstance(found, str) or not found:
        raise InputError(
            f"{path} does not say under which policy it was made.",
            hint="Give a run folder, an answer from `ask --json`, or a receipt.",
        )
    return found


def _field(path: Path) -> Any:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read: {error}.",
            hint="Give a run folder, an answer from `ask --json`, or a receipt.",
        ) from error
    return body.get("fingerprint") if isinstance(body, dict) else None
