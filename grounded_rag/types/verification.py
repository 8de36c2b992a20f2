"""What verification finds out about a draft."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.types._base import Frozen
from grounded_rag.types.claims import Citation, Claim
from grounded_rag.types.documents import Span
from grounded_rag.types.flags import Flag


class Fold(StrEnum):
    """A difference of presentation that may be bridged between a quote and its source."""

    WHITESPACE = "whitespace"
    HYPHEN = "line_end_hyphen"
    INVISIBLE = "invisible"
    LIGATURE = "ligature"
    TYPOGRAPHY = "typography"
    MARKDOWN = "markdown"
    HTML = "html_entity"
    UNICODE = "unicode_form"
    WIDTH = "width"
    TABLE = "table_markup"
    FIRST_CASE = "first_letter_case"
    WRAPPING = "wrapping_quotes"
    FULL_STOP = "final_full_stop"


class Reason(StrEnum):
    """Why a claim cannot be shown. The first group is about citations, the second about support."""

    EMPTY_CLAIM = "empty_claim"
    UNCITED = "uncited"
    UNKNOWN_CHUNK = "unknown_chunk"
    AMBIGUOUS_CHUNK = "ambiguous_chunk"
    EMPTY_QUOTE = "empty_quote"
    EMPTY_CHUNK = "empty_chunk"
    QUOTE_NOT_FOUND = "quote_not_found"
    NEAR_MISS = "near_miss"
    STITCHED = "stitched"
    ELLIPSIS_JOIN = "ellipsis_join"
    WRONG_CHUNK = "wrong_chunk"
    BEYOND_CHUNK = "beyond_chunk"
    CUT_WORD = "cut_word"
    QUOTE_TOO_SHORT = "quote_too_short"
    HEADING_ONLY = "heading_only"
    FROM_METADATA = "from_metadata"
    FROM_QUESTION = "from_question"
    UNREADABLE_SOURCE = "unreadable_source"
    AMBIGUOUS_LOCATION = "ambiguous_location"
    BESIDE_REFUSAL = "beside_refusal"

    FAR_FROM_QUOTE = "far_from_quote"
    LOW_OVERLAP = "low_overlap"
    NUMBER_MISMATCH = "number_mismatch"
    UNIT_MISMATCH = "unit_mismatch"
    WRONG_ENTITY = "wrong_entity"
    CONTRADICTED = "contradicted"
    CUT_CONTEXT = "cut_context"
    STRONGER_THAN_QUOTE = "stronger_than_quote"
    ADDED_CONTENT = "added_content"
    INJECTED_INSTRUCTION = "injected_instruction"
    NOT_ENTAILED = "not_entailed"
    COULD_NOT_CHECK = "could_not_check"


class Located(Frozen):
    """The place of a quote in the cited chunk and in its document.

    Attributes:
        chunk_id: The chunk.
        doc_id: Its document.
        chunk_span: Code points of the chunk's text.
        document_span: Code points of the document's canonical text.
        utf16_span: `chunk_span` in UTF-16 code units, as browsers count.
        utf8_span: `chunk_span` in bytes of UTF-8.
        quote: The source's own characters, `document.text[document_span]`.
        page: 1-based page on which the quote starts, where known.
        folds: Folds that bridged a difference inside the match; empty for a literal quote.
        occurrences: Every place in the chunk where the quote reads the same, in order.
        ambiguous: Whether the surroundings did not tell which occurrence is meant.
    """

    chunk_id: str
    doc_id: str
    chunk_span: Span
    document_span: Span
    utf16_span: Span | None = None
    utf8_span: Span | None = None
    quote: str
    page: int | None = None
    folds: tuple[Fold, ...] = ()
    occurrences: tuple[Span, ...] = ()
    ambiguous: bool = False

    @property
    def exact(self) -> bool:
        """Whether the quote was found literally, without any fold."""
        return not self.folds


class CitationCheck(Frozen):
    """What became of one citation: a place, or a typed problem.

    Attributes:
        citation: The citation as the generator gave it.
        located: Where the quote stands, or None.
        problem: Why it has no place, or why the place cannot be used; None when it is fine.
        detail: One sentence for a person and for the re-ask.
        nearest: Nearest real characters of the cited chunk, to be copied in a re-ask.
        found_in: Other retrieved chunks that hold the quote.
        id_repaired: Whether the chunk id was losslessly cleaned of brackets or quotes.
    """

    citation: Citation
    located: Located | None = None
    problem: Reason | None = None
    detail: str = ""
    nearest: str | None = None
    found_in: tuple[str, ...] = ()
    id_repaired: bool = False


class Signal(Frozen):
    """The finding of one support check about one claim.

    Attributes:
        check: Name of the check.
        passed: True or False; None means it could not check, which is never support.
        score: Number between 0 and 1 where the check has one.
        reason: Typed reason when it did not pass.
        detail: One sentence for a person.
        role: What the verdict makes of it: a `veto` can only reject, a `decider` can also
            accept, a `filter` only sends the claim on, `info` is shown and decides nothing.
        decided_by: Name of the model, judge or check of one's own that a decider rests on. A
            decider that passed with such a name confirms the claim; "" stands for a rule.
    """

    check: str
    passed: bool | None
    score: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    reason: Reason | None = None
    detail: str = ""
    role: Literal["veto", "decider", "filter", "info"] = "veto"
    decided_by: str = ""


class ClaimStatus(StrEnum):
    """Verdict on one claim. Only `supported` may ever be shown."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNCITED = "uncited"
    UNCHECKED = "unchecked"


class Tier(StrEnum):
    """How strong the support of a claim is."""

    HIGH = "high"
    CHECKED = "checked"
    LEXICAL = "lexical"
    UNSUPPORTED = "unsupported"


class ClaimVerdict(Frozen):
    """The verdict on one claim, with everything that led to it.

    Attributes:
        claim: The claim as the generator gave it.
        citations: What became of each citation, in order.
        signals: What each support check found.
        status: The verdict.
        tier: Strength of support.
        repaired: Whether a quote, a chunk id or the output's shape was repaired on the way.
        reason: Typed reason when the status is not `supported`.
        why: One sentence that says what decided.
    """

    claim: Claim
    citations: tuple[CitationCheck, ...] = ()
    signals: tuple[Signal, ...] = ()
    status: ClaimStatus
    tier: Tier = Tier.UNSUPPORTED
    repaired: bool = False
    reason: Reason | None = None
    why: str = ""

    @property
    def text(self) -> str:
        """Text of the claim."""
        return self.claim.text

    @property
    def located(self) -> tuple[Located, ...]:
        """Places of the quotes that were found, in the order of the citations."""
        return tuple(check.located for check in self.citations if check.located is not None)

    @property
    def supported(self) -> bool:
        """Whether the claim may be shown."""
        return self.status is ClaimStatus.SUPPORTED


class Outcome(StrEnum):
    """What a whole draft amounts to."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    REJECTED = "rejected"
    REFUSED = "refused"
    INVALID_OUTPUT = "invalid_output"


class Problem(Frozen):
    """Something wrong with the draft as a whole, rendered `reason @ path`.

    Attributes:
        reason: Short machine-readable name, such as "uncited_prose".
        path: Where in the draft.
        detail: One sentence for a person.
    """

    reason: str
    path: str = ""
    detail: str = ""


class Verification(Frozen):
    """The result of verifying one draft.

    Attributes:
        claims: One verdict a claim, in the draft's order.
        outcome: `accepted` when every claim is supported; `partial` when some are, or when parts
            of the question or of the prose are left out; `rejected` when none is; `refused` when
            the draft declines; `invalid_output` when it could not be read.
        flags: Remarks on supported claims: staleness, conflict, ambiguity.
        problems: What is wrong with the draft as a whole.
        unanswered: Parts of the question that the draft leaves open, verified to be in it.
    """

    claims: tuple[ClaimVerdict, ...] = ()
    outcome: Outcome
    flags: tuple[Flag, ...] = ()
    problems: tuple[Problem, ...] = ()
    unanswered: tuple[str, ...] = ()

    @property
    def supported(self) -> tuple[ClaimVerdict, ...]:
        """The claims that may be shown."""
        return tuple(verdict for verdict in self.claims if verdict.supported)

    @property
    def failed(self) -> tuple[ClaimVerdict, ...]:
        """The claims that may not be shown."""
        return tuple(verdict for verdict in self.claims if not verdict.supported)
