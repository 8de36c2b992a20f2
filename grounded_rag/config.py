"""The rules an application chooses: what passes, what is retried, when to refuse."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.types import Frozen

DEFAULT_MODEL = "claude-sonnet-5-5"
"""Model of the structured generator where none is named."""


class Policy(Frozen):
    """The rules in force for one pipeline.

    Attributes:
        on_failed_claim: `refuse` ships nothing unless all claims pass; `drop` ships the rest.
        support: Tiers that ship: `strict` near-copies and confirmed claims; `balanced` also
            what passes the built-in rule; `spans-only` checks quotes and vetoes nothing else.
        quote_match: `repair` bridges differences of presentation and records them; `exact` never.
        stale: `flag` ships stale evidence with a flag, `exclude` keeps it out of retrieval,
            `refuse` declines when a shipped claim would rest on it.
        injected: `reject` lets text addressed to the assistant support nothing; `quarantine`
            keeps chunks holding such text away from the generator altogether.
        max_age: Evidence older than this is flagged `too_old`; None sets no limit.
        max_attempts: Most generator calls for one question, the first included.
        max_total_tokens: Most tokens for one question, over all attempts.
        max_seconds: Most wall-clock seconds for one question.
        k: Chunks retrieved for one question.
    """

    on_failed_claim: Literal["refuse", "drop"] = "refuse"
    support: Literal["strict", "balanced", "spans-only"] = "strict"
    quote_match: Literal["repair", "exact"] = "repair"
    stale: Literal["flag", "exclude", "refuse"] = "flag"
    injected: Literal["reject", "quarantine"] = "reject"
    max_age: dt.timedelta | None = None
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    max_total_tokens: Annotated[int, Field(ge=1)] = 60_000
    max_seconds: Annotated[float, Field(gt=0)] = 120.0
    k: Annotated[int, Field(ge=1, le=100)] = 8


def fingerprint(policy: Policy, *parts: str) -> str:
    """Return the SHA-256, hexadecimal, of a policy and further texts such as prompts."""
    canonical = json.dumps(policy.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode())
    for part in parts:
        digest.update(b"\x00")
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
