"""A receipt: all that anyone needs to check an answer again, offline and later."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import (
    AwareDatetime,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from grounded_rag.types._base import Frozen
from grounded_rag.types.answers import AnswerStatus, Refusal
from grounded_rag.types.documents import Instant, PageSpan, Span, Validity
from grounded_rag.types.verdicts import Flag, Fold, Tier


class ReceiptSource(Frozen):
    """A chunk that the answer cites, as it was when the answer was given."""

    chunk_id: str = Field(description="Id of the chunk.")
    doc_id: str = Field(description="Id of its document.")
    span: Span = Field(description="Code points of the document version that the chunk covers.")
    text: str | None = Field(
        default=None,
        description="The chunk's text, or None where the receipt was made without texts.",
    )
    content_hash: str = Field(description="SHA-256 of the chunk's text in UTF-8, hexadecimal.")
    document_hash: str | None = Field(
        default=None, description="`content_hash` of the document version, where known."
    )
    headings: tuple[str, ...] = Field(default=(), description="Heading path above the chunk.")
    heading_spans: tuple[Span, ...] = Field(
        default=(), description="Parts of the chunk's text that are headings."
    )
    page: int | None = Field(default=None, description="1-based page on which the chunk starts.")
    page_spans: tuple[PageSpan, ...] = Field(
        default=(), description="Pages that the chunk touches, in code points of the document."
    )
    title: str = Field(default="", description="Title of the document.")
    source: str = Field(default="", description="Where the document came from, for people.")
    trust: str = Field(default="official", description='"official", "internal" or "untrusted".')
    validity: Validity = Field(
        default=Validity(), description="Validity of the document as it was seen."
    )


class ReceiptCitation(Frozen):
    """One quote of one claim, with its place."""

    chunk_id: str = Field(description="The chunk, one of the receipt's sources.")
    doc_id: str = Field(description="Its document.")
    quote: str = Field(description="The source's own characters.")
    chunk_span: Span = Field(description="Code points of the chunk's text.")
    document_span: Span = Field(description="Code points of the document version's text.")
    page: int | None = Field(
        default=None, description="1-based page on which the quote starts, where known."
    )
    folds: tuple[Fold, ...] = Field(
        default=(),
        description="Folds that bridged a difference between the drafted quote and the source.",
    )
    sentence: str = Field(
        description="The statement(s) that the quote stands in, whole, as a reader gets them."
    )


class OldTier(StrEnum):
    """Tiers of the receipts that version 0.1 wrote; kept as written, so that their hash holds.

    `high` and `lexical` rest on rules that nobody applies any more; `checked` on a model, a judge
    or a check of one's own, which was not named.
    """

    HIGH = "high"
    CHECKED = "checked"
    LEXICAL = "lexical"


class ReceiptClaim(Frozen):
    """One claim of the answer.

    What most claims lack is left out of the JSON: `arithmetic`, `restated` and `decided_by`.
    """

    text: str = Field(description="The statement.")
    citations: tuple[ReceiptCitation, ...] = Field(
        min_length=1, description="Its quotes; at least one."
    )
    arithmetic: str | None = Field(
        default=None, description="How a number of it follows from quoted numbers, or None."
    )
    tier: Tier | OldTier = Field(
        description=(
            "On what its support rested, in the words of the version that wrote the receipt."
        )
    )
    restated: bool = Field(
        default=False,
        description="Whether the words are the source's, in the place of a claim of the generator.",
    )
    decided_by: str = Field(default="", description='Name of the decider that confirmed it, or "".')
    checks: tuple[str, ...] = Field(
        default=(), description="Names of the support checks that spoke about it."
    )

    @property
    def is_old(self) -> bool:
        """Whether its tier is one of version 0.1."""
        return isinstance(self.tier, OldTier)

    @property
    def rests_on(self) -> Tier:
        """On what its support rested, as far as an old tier says so: `none` for rules of then."""
        if isinstance(self.tier, Tier):
            return self.tier
        return Tier.CONFIRMED if self.tier is OldTier.CHECKED else Tier.NONE

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialise: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what most claims lack: receipts written without it keep their hash."""
        fields: dict[str, Any] = serialise(self)
        for name, default in (("arithmetic", None), ("restated", False), ("decided_by", "")):
            if fields.get(name, default) == default:
                fields.pop(name, None)
        return fields


class Signature(Frozen):
    """An Ed25519 signature of a receipt's `content_hash`."""

    algorithm: Literal["Ed25519"] = Field(default="Ed25519", description='Always "Ed25519".')
    public_key: str = Field(
        pattern=r"^[0-9a-f]{64}$",
        description="Raw public key, hexadecimal. It says who signed only if you know the key.",
    )
    value: str = Field(pattern=r"^[0-9a-f]{128}$", description="The signature, hexadecimal.")


class Receipt(Frozen):
    """What was answered, on what evidence, under which rules. Never holds rejected text.

    The hash tells accidents and careless edits. Whoever edits on purpose can compute it again;
    against that, the verifier checks the quotes on the carried text, and a signature can be added.
    """

    schema_version: Literal[1] = Field(default=1, description="Version of this format.")
    id: str = Field(default="", description="First 32 hexadecimal digits of `content_hash`.")
    created_at: AwareDatetime = Field(description="When the receipt was made.")
    question: str = Field(description="The question as it was asked.")
    status: AnswerStatus = Field(description="Answered, partial or refused.")
    text: str = Field(description="Text of the answer, with its [1] marks, or the refusal string.")
    refusal: Refusal | None = Field(default=None, description="Why it was refused, or None.")
    claims: tuple[ReceiptClaim, ...] = Field(
        default=(), description="The claims; none for a refusal."
    )
    unanswered: tuple[str, ...] = Field(
        default=(), description="Parts of the question that stayed open."
    )
    sources: tuple[ReceiptSource, ...] = Field(default=(), description="The cited chunks.")
    flags: tuple[Flag, ...] = Field(
        default=(),
        description="Remarks on the claims as they were then: staleness, conflict, ambiguity.",
    )
    generator: str = Field(default="", description="Name of the model that wrote the draft.")
    policy: dict[str, JsonValue] = Field(
        default_factory=dict, description="The whole policy in force; empty where it is not known."
    )
    fingerprint: str = Field(default="", description="SHA-256 over policy and prompts.")
    as_of: Instant | None = Field(
        default=None, description="The moment for which the answer was to hold."
    )
    package_version: str = Field(description="Version of grounded_rag that gave the answer.")
    content_hash: str = Field(
        default="",
        description=(
            "SHA-256, hexadecimal, of the canonical JSON (RFC 8785) of everything but `id`, "
            "`content_hash` and `signature`."
        ),
    )
    signature: Signature | None = Field(
        default=None, description="Signature of `content_hash`, or None."
    )

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the receipt as JSON; whitespace is no part of what is hashed."""
        return self.model_dump_json(indent=indent)
