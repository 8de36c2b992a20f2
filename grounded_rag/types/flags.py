"""Remarks on claims that are nevertheless supported."""

from __future__ import annotations

from enum import StrEnum

from grounded_rag.types._base import Frozen
from grounded_rag.types.documents import Instant


class FlagKind(StrEnum):
    """Something a reader should know about a claim that is nevertheless supported."""

    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NOT_YET_EFFECTIVE = "not_yet_effective"
    TOO_OLD = "too_old"
    UNDATED = "undated"
    CONFLICT = "conflict"
    AMBIGUOUS_LOCATION = "ambiguous_location"
    OVERSIZED_QUOTE = "oversized_quote"
    DAMAGED_TEXT = "damaged_text"
    UNTRUSTED_SOURCE = "untrusted_source"
    UNCONFIRMED = "unconfirmed"
    HEDGED = "hedged"
    UNSURE_TOKENS = "unsure_tokens"
    BESIDE_QUESTION = "beside_question"


class Flag(Frozen):
    """A remark on a supported claim.

    Attributes:
        kind: What it is about.
        claim: 0-based index of the claim.
        chunk_id: The chunk concerned.
        doc_id: Its document.
        detail: One sentence for a person.
        related: Ids of what it points to: the successor, the conflicting chunks.
        since: When the state began, where known.
    """

    kind: FlagKind
    claim: int
    chunk_id: str
    doc_id: str
    detail: str = ""
    related: tuple[str, ...] = ()
    since: Instant | None = None
