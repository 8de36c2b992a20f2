"""A receipt: all that anyone needs to check an answer again, offline and later."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

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
    """A chunk that the answer cites, as it was when the answer was given.

    Attributes:
        chunk_id: Id of the chunk.
        doc_id: Id of its document.
        span: Code points of the document version that the chunk covers.
        text: The chunk's text, or None where the receipt was made without texts.
        content_hash: SHA-256 of the chunk's text in UTF-8, hexadecimal.
        document_hash: `content_hash` of the document version, where known.
        headings: Heading path above the chunk.
        heading_spans: Parts of the chunk's text that are headings.
        page: 1-based page on which the chunk starts.
        page_spans: Pages that the chunk touches, in code points of the document.
        title: Title of the document.
        source: Where the document came from, for people.
        trust: "official", "internal" or "untrusted".
        validity: Validity of the document as it was seen.
    """

    chunk_id: str
    doc_id: str
    span: Span
    text: str | None = None
    content_hash: str
    document_hash: str | None = None
    headings: tuple[str, ...] = ()
    heading_spans: tuple[Span, ...] = ()
    page: int | None = None
    page_spans: tuple[PageSpan, ...] = ()
    title: str = ""
    source: str = ""
    trust: str = "official"
    validity: Validity = Validity()


class ReceiptCitation(Frozen):
    """One quote of one claim, with its place.

    Attributes:
        chunk_id: The chunk, one of the receipt's sources.
        doc_id: Its document.
        quote: The source's own characters.
        chunk_span: Code points of the chunk's text.
        document_span: Code points of the document version's text.
        page: 1-based page on which the quote starts, where known.
        folds: Folds that bridged a difference between the drafted quote and the source.
        sentence: The statement(s) that the quote stands in, whole, as a reader gets them.
    """

    chunk_id: str
    doc_id: str
    quote: str
    chunk_span: Span
    document_span: Span
    page: int | None = None
    folds: tuple[Fold, ...] = ()
    sentence: str


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

    Attributes:
        text: The statement.
        citations: Its quotes; at least one.
        arithmetic: How a number of it follows from quoted numbers, or None.
        tier: On what its support rested, in the words of the version that wrote the receipt.
        restated: Whether the words are the source's, in the place of a claim of the generator.
        decided_by: Name of the decider that confirmed it, or "".
        checks: Names of the support checks that spoke about it.
    """

    text: str
    citations: Annotated[tuple[ReceiptCitation, ...], Field(min_length=1)]
    arithmetic: str | None = None
    tier: Tier | OldTier
    restated: bool = False
    decided_by: str = ""
    checks: tuple[str, ...] = ()

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
    """An Ed25519 signature of a receipt's `content_hash`.

    Attributes:
        algorithm: Always "Ed25519".
        public_key: Raw public key, hexadecimal. It says who signed only if you know the key.
        value: The signature, hexadecimal.
    """

    algorithm: Literal["Ed25519"] = "Ed25519"
    public_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    value: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


class Receipt(Frozen):
    """What was answered, on what evidence, under which rules. Never holds rejected text.

    The hash tells accidents and careless edits. Whoever edits on purpose can compute it again;
    against that, the verifier checks the quotes on the carried text, and a signature can be added.

    Attributes:
        schema_version: Version of this format.
        id: First 32 hexadecimal digits of `content_hash`.
        created_at: When the receipt was made.
        question: The question as it was asked.
        status: Answered, partial or refused.
        text: Text of the answer, with its [1] marks, or the refusal string.
        refusal: Why it was refused, or None.
        claims: The claims; none for a refusal.
        unanswered: Parts of the question that stayed open.
        sources: The cited chunks.
        flags: Remarks on the claims as they were then: staleness, conflict, ambiguity.
        generator: Name of the model that wrote the draft.
        policy: The whole policy in force; empty where it is not known.
        fingerprint: SHA-256 over policy and prompts.
        as_of: The moment for which the answer was to hold.
        package_version: Version of grounded_rag that gave the answer.
        content_hash: SHA-256, hexadecimal, of the canonical JSON (RFC 8785) of everything but
            `id`, `content_hash` and `signature`.
        signature: Signature of `content_hash`, or None.
    """

    schema_version: Literal[1] = 1
    id: str = ""
    created_at: AwareDatetime
    question: str
    status: AnswerStatus
    text: str
    refusal: Refusal | None = None
    claims: tuple[ReceiptClaim, ...] = ()
    unanswered: tuple[str, ...] = ()
    sources: tuple[ReceiptSource, ...] = ()
    flags: tuple[Flag, ...] = ()
    generator: str = ""
    policy: dict[str, JsonValue] = Field(default_factory=dict)
    fingerprint: str = ""
    as_of: Instant | None = None
    package_version: str
    content_hash: str = ""
    signature: Signature | None = None

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return the receipt as JSON; whitespace is no part of what is hashed."""
        return self.model_dump_json(indent=indent)
