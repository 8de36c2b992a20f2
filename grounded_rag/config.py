"""The rules an application chooses: what passes, what is retried, when to refuse."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from typing import Literal

from pydantic import Field, field_validator

from grounded_rag.errors import ConfigError
from grounded_rag.types import Frozen

DEFAULT_MODEL = "claude-sonnet-5-5"
"""Model of the structured generator where none is named."""

MODEL_TIMEOUT = 90.0
"""Most seconds for one call of a model, where nothing else is said."""


class Policy(Frozen):
    """The rules in force for one pipeline."""

    unproven: Literal["restate", "reask", "refuse"] = Field(
        default="restate",
        description=(
            "What becomes of a claim that nothing has shown although its quote stands in the "
            "source: `restate` ships the source's own statement in its place, marked; `reask` "
            "asks the generator again, and refuses in the end; `refuse` refuses at once."
        ),
    )
    on_failed_claim: Literal["refuse", "drop"] = Field(
        default="refuse",
        description=(
            "What becomes of a claim that cannot be mended or restated, such as one whose quote "
            "does not exist: `refuse` ships nothing unless all claims pass; `drop` ships the "
            "rest."
        ),
    )
    support: Literal["strict", "spans-only"] = Field(
        default="strict",
        description=(
            "`strict` ships in the generator's own words what is verbatim or confirmed; `spans-"
            "only` is existence only: it ships whatever quotes something that exists, with a "
            "flag, and checks nothing else."
        ),
    )
    longest_restatement: int = Field(
        default=600,
        ge=1,
        description="Most characters of the source that may stand in for one claim.",
    )
    quote_match: Literal["repair", "exact"] = Field(
        default="repair",
        description="`repair` bridges differences of presentation and records them; `exact` never.",
    )
    stale: Literal["flag", "exclude", "refuse"] = Field(
        default="flag",
        description=(
            "`flag` ships stale evidence with a flag, `exclude` keeps it out of retrieval, "
            "`refuse` declines when a shipped claim would rest on it."
        ),
    )
    injected: Literal["reject", "quarantine"] = Field(
        default="reject",
        description=(
            "`reject` lets text addressed to the assistant support nothing; `quarantine` keeps "
            "chunks holding such text away from the generator altogether."
        ),
    )
    max_age: dt.timedelta | None = Field(
        default=None,
        description="Evidence older than this is flagged `too_old`; None sets no limit.",
    )
    max_attempts: int = Field(
        default=3,
        ge=1,
        le=10,
        description="Most generator calls for one question, the first included.",
    )
    max_total_tokens: int = Field(
        default=60_000, ge=1, description="Most tokens for one question, over all attempts."
    )
    max_seconds: float = Field(
        default=120.0, gt=0, description="Most wall-clock seconds for one question."
    )
    k: int = Field(default=8, ge=1, le=100, description="Chunks retrieved for one question.")

    @field_validator("support", mode="before")
    @classmethod
    def _no_balanced(cls, value: object) -> object:
        if value == "balanced":
            raise ConfigError(
                'support="balanced" is gone: it shipped claims that nothing had proven.',
                hint='Leave it out: the default, unproven="restate", answers as often, in the '
                "source's own words where nothing proves the generator's. Give entailment= or "
                'judge= for more answers in other words; support="spans-only" checks only that '
                "quotes exist.",
            )
        return value


def fingerprint(policy: Policy, *parts: str) -> str:
    """Return the SHA-256, hexadecimal, of a policy and further texts such as prompts."""
    canonical = json.dumps(policy.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode())
    for part in parts:
        digest.update(b"\x00")
        digest.update(part.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
