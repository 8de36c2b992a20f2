"""What verification finds out about a draft."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from grounded_rag.types._base import Frozen
from grounded_rag.types.display import one_line
from grounded_rag.types.documents import Instant, Span


class Citation(Frozen):
    """A pointer from a claim to its evidence."""

    chunk_id: str = Field(description="Id of the cited chunk, exactly as it was retrieved.")
    quote: str = Field(description="Characters copied from that chunk.")


class Claim(Frozen):
    """One statement of the answer and the citations that are meant to carry it."""

    text: str = Field(description="The statement.")
    citations: tuple[Citation, ...] = Field(
        default=(),
        description="Its evidence; none means `uncited`. A shipped claim has at least one.",
    )
    arithmetic: str | None = Field(
        default=None,
        description=(
            'How a number that no source states follows from quoted numbers, such as "(1,496.5 - '
            '1,202.9) / 1,202.9"; it is worked out again. None for most claims.'
        ),
    )

    @property
    def chunk_id(self) -> str | None:
        """Chunk id of the first citation, or None."""
        return self.citations[0].chunk_id if self.citations else None

    @property
    def quote(self) -> str | None:
        """Quote of the first citation, or None."""
        return self.citations[0].quote if self.citations else None


class Draft(Frozen):
    """The unverified output of a generator."""

    claims: tuple[Claim, ...] = Field(
        default=(), description='Claims in reading order; none means "cannot answer".'
    )
    unanswered: tuple[str, ...] = Field(
        default=(), description="Parts of the question left open, as literal spans of the question."
    )
    prose: str = Field(
        default="",
        description=(
            "Free text beside the claims, where a foreign stack produced some; it is never shown."
        ),
    )
    repaired: bool = Field(
        default=False,
        description=(
            "Whether the shape of the output was losslessly repaired (claims sent as a string)."
        ),
    )


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
    """A remark on a supported claim."""

    kind: FlagKind = Field(description="What it is about.")
    claim: int = Field(description="0-based index of the claim.")
    chunk_id: str = Field(description="The chunk concerned.")
    doc_id: str = Field(description="Its document.")
    detail: str = Field(default="", description="One sentence for a person.")
    related: tuple[str, ...] = Field(
        default=(), description="Ids of what it points to: the successor, the conflicting chunks."
    )
    since: Instant | None = Field(default=None, description="When the state began, where known.")


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

    NOT_A_STATEMENT = "not_a_statement"
    SPOOFED_TEXT = "spoofed_text"
    NOT_ASSERTED = "not_asserted"
    UNPROVEN = "unproven"
    NUMBER_MISMATCH = "number_mismatch"
    UNIT_MISMATCH = "unit_mismatch"
    IDENTIFIER_MISMATCH = "identifier_mismatch"
    WRONG_CELL = "wrong_cell"
    CONTRADICTED = "contradicted"
    CUT_CONTEXT = "cut_context"
    INJECTED_INSTRUCTION = "injected_instruction"
    NOT_ENTAILED = "not_entailed"
    COULD_NOT_CHECK = "could_not_check"
    TOO_LONG = "too_long"
    BESIDE_QUESTION = "beside_question"


class Located(Frozen):
    """The place of a quote in the cited chunk and in its document."""

    chunk_id: str = Field(description="The chunk.")
    doc_id: str = Field(description="Its document.")
    chunk_span: Span = Field(description="Code points of the chunk's text.")
    document_span: Span = Field(description="Code points of the document's canonical text.")
    utf16_span: Span | None = Field(
        default=None, description="`chunk_span` in UTF-16 code units, as browsers count."
    )
    utf8_span: Span | None = Field(default=None, description="`chunk_span` in bytes of UTF-8.")
    quote: str = Field(description="The source's own characters, `document.text[document_span]`.")
    page: int | None = Field(
        default=None, description="1-based page on which the quote starts, where known."
    )
    folds: tuple[Fold, ...] = Field(
        default=(),
        description="Folds that bridged a difference inside the match; empty for a literal quote.",
    )
    occurrences: tuple[Span, ...] = Field(
        default=(), description="Every place in the chunk where the quote reads the same, in order."
    )
    ambiguous: bool = Field(
        default=False,
        description="Whether the surroundings did not tell which occurrence is meant.",
    )

    @property
    def exact(self) -> bool:
        """Whether the quote was found literally, without any fold."""
        return not self.folds


class CitationCheck(Frozen):
    """What became of one citation: a place, or a typed problem."""

    citation: Citation = Field(description="The citation as the generator gave it.")
    located: Located | None = Field(default=None, description="Where the quote stands, or None.")
    problem: Reason | None = Field(
        default=None,
        description="Why it has no place, or why the place cannot be used; None when it is fine.",
    )
    detail: str = Field(default="", description="One sentence for a person and for the re-ask.")
    nearest: str | None = Field(
        default=None,
        description="Nearest real characters of the cited chunk, to be copied in a re-ask.",
    )
    found_in: tuple[str, ...] = Field(
        default=(), description="Other retrieved chunks that hold the quote."
    )
    id_repaired: bool = Field(
        default=False,
        description=(
            "Whether the chunk id was losslessly cleaned of brackets or quotes, or is that of the "
            "one shown passage in which the literal quote stands."
        ),
    )


class Signal(Frozen):
    """The finding of one support check about one claim."""

    check: str = Field(description="Name of the check.")
    passed: bool | None = Field(
        description="True or False; None means it could not check, which is never support."
    )
    score: Annotated[float, Field(ge=0.0, le=1.0)] | None = Field(
        default=None, description="Number between 0 and 1 where the check has one."
    )
    reason: Reason | None = Field(default=None, description="Typed reason when it did not pass.")
    detail: str = Field(default="", description="One sentence for a person.")
    role: Literal["veto", "decider", "filter", "info"] = Field(
        default="veto",
        description=(
            "What the verdict makes of it: a `veto` can only reject, a `decider` can also accept, "
            "a `filter` only sends the claim on, `info` is shown and decides nothing."
        ),
    )
    decided_by: str = Field(
        default="",
        description=(
            "Name of the model, judge or check of one's own that a decider rests on. A decider "
            'that passed with such a name confirms the claim; "" stands for a rule.'
        ),
    )


class ClaimStatus(StrEnum):
    """Verdict on one claim. Only `supported` may ever be shown in the claim's own words.

    `open` is neither yes nor no: the quote stands in the source, and nothing has shown that it says
    what the claim says. `contradicted` and `unsupported` say what is wrong, `unchecked` that a
    check could not work, `uncited` that there is nothing to check.
    """

    SUPPORTED = "supported"
    OPEN = "open"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNCITED = "uncited"
    UNCHECKED = "unchecked"


class Tier(StrEnum):
    """On what the support of a claim rests.

    `verbatim`: the claim is one whole statement of its source, word for word but for licensed
    edits. `confirmed`: a decider (an entailment model, a judge, declared arithmetic that was worked
    out again, or a check of one's own) said yes. `none`: nothing has shown it.
    """

    VERBATIM = "verbatim"
    CONFIRMED = "confirmed"
    NONE = "none"


class Statement(Frozen):
    """What a source states where a quote stands, whatever part of it the quote picks out.

    A whole sentence, a list item with the line that leads into it, a table row under its header,
    or an answer with its question; with the sentence before it where it cannot be read alone, and
    with the one behind it where that takes something back.
    """

    text: str = Field(description="The statement in the source's own words, as a reader gets it.")
    chunk_id: str = Field(description="The chunk that it stands in.")
    span: Span = Field(
        description="The sentence, item or row itself, in code points of the chunk's text."
    )
    quotes: tuple[Span, ...] = Field(
        description=(
            "All of the chunk's text that `text` is made of, in reading order, `span` included."
        )
    )
    headings: tuple[str, ...] = Field(
        default=(),
        description="Titles of the sections it stands in, outermost first; shown with it.",
    )
    whole: bool = Field(
        default=True,
        description="Whether all of it is there. False where the passage begins or ends inside it.",
    )
    asserted: bool = Field(
        default=True,
        description=(
            "Whether its author asserts it. A question, a heading, struck-out or commented-out "
            "text and an unticked box assert nothing."
        ),
    )
    cells: tuple[tuple[str, str], ...] = Field(
        default=(),
        description="Of a table row, the name of each column with the row's cell; empty otherwise.",
    )


class Restatement(Frozen):
    """A statement of the source that may stand in for a claim that is not proven."""

    text: str = Field(description="The statement, in the source's own words.")
    statement: Statement = Field(
        description="The statement itself, with the headings that it stands under."
    )
    citations: tuple[CitationCheck, ...] = Field(description="Where these words stand.")


class ClaimVerdict(Frozen):
    """The verdict on one claim, with everything that led to it."""

    claim: Claim = Field(
        description=(
            "The claim: as the generator gave it, or, where `restated`, what the source says."
        )
    )
    citations: tuple[CitationCheck, ...] = Field(
        default=(), description="What became of each citation, in order."
    )
    statements: tuple[Statement, ...] = Field(
        default=(), description="The statements that its quotes stand in."
    )
    signals: tuple[Signal, ...] = Field(default=(), description="What each support check found.")
    status: ClaimStatus = Field(description="The verdict.")
    tier: Tier = Field(default=Tier.NONE, description="On what its support rests.")
    restated: bool = Field(
        default=False,
        description=(
            "Whether the words are the source's, put in the place of a claim of the generator."
        ),
    )
    repaired: bool = Field(
        default=False,
        description="Whether a quote, a chunk id or the output's shape was repaired on the way.",
    )
    reason: Reason | None = Field(
        default=None, description="Typed reason when the status is not `supported`."
    )
    why: str = Field(default="", description="One sentence that says what decided.")
    apart: tuple[str, ...] = Field(
        default=(),
        description=(
            "Words of the claim that the nearest statement lacks, then words of that statement "
            "that the claim lacks, for a claim that is open."
        ),
    )
    restatements: tuple[Restatement, ...] = Field(
        default=(),
        description=(
            "What may ship in the place of a claim that is not supported; empty where nothing may."
        ),
    )
    withheld: Reason | None = Field(
        default=None,
        description=(
            "Why nothing may ship in its place, or, of a supported claim, that it is about "
            "something else than the question and does not ship; None where something may."
        ),
    )

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
        """Whether the claim may be shown in its own words."""
        return self.status is ClaimStatus.SUPPORTED

    @property
    def restatement(self) -> str | None:
        """What may ship in the place of the claim, as one text; None where nothing may."""
        return " ".join(each.text for each in self.restatements) or None


class Outcome(StrEnum):
    """What a whole draft amounts to."""

    ACCEPTED = "accepted"
    PARTIAL = "partial"
    REJECTED = "rejected"
    REFUSED = "refused"
    INVALID_OUTPUT = "invalid_output"


class Problem(Frozen):
    """Something wrong with the draft as a whole, rendered `reason @ path`."""

    reason: str = Field(description='Short machine-readable name, such as "uncited_prose".')
    path: str = Field(default="", description="Where in the draft.")
    detail: str = Field(default="", description="One sentence for a person.")


class Verification(Frozen):
    """The result of verifying one draft."""

    claims: tuple[ClaimVerdict, ...] = Field(
        default=(), description="One verdict a claim, in the draft's order."
    )
    outcome: Outcome = Field(
        description=(
            "`accepted` when every claim is supported; `partial` when some are, or when parts of "
            "the question or of the prose are left out; `rejected` when none is; `refused` when "
            "the draft declines; `invalid_output` when it could not be read. An open claim is not "
            "supported."
        )
    )
    flags: tuple[Flag, ...] = Field(
        default=(),
        description=(
            "Remarks on supported claims, and on those whose statement may ship in their place: "
            "staleness, conflict, ambiguity."
        ),
    )
    problems: tuple[Problem, ...] = Field(
        default=(), description="What is wrong with the draft as a whole."
    )
    unanswered: tuple[str, ...] = Field(
        default=(),
        description="Parts of the question that the draft leaves open, verified to be in it.",
    )

    @property
    def supported(self) -> tuple[ClaimVerdict, ...]:
        """The claims that may be shown in their own words."""
        return tuple(verdict for verdict in self.claims if verdict.supported)

    @property
    def failed(self) -> tuple[ClaimVerdict, ...]:
        """The claims that may not be shown in their own words."""
        return tuple(verdict for verdict in self.claims if not verdict.supported)

    def __str__(self) -> str:
        return "\n".join(_lines(self))


_MARKS = {ClaimStatus.SUPPORTED: "✓", ClaimStatus.OPEN: "?"}


def _lines(verification: Verification) -> Iterator[str]:
    """Yield a verification as lines of plain text; what a draft or a source says steers nothing."""
    claims = verification.claims
    yield f"{verification.outcome}: {len(verification.supported)} of {len(claims)} claims supported"
    for verdict in claims:
        yield f"{_MARKS.get(verdict.status, '✗')} {one_line(verdict.text)}"
        status = [verdict.status, verdict.tier] if verdict.supported else [verdict.status]
        reason = f" ({verdict.reason})" if verdict.reason else ""
        yield f"    {', '.join(status)}{reason}: {one_line(verdict.why)}"
        for located in verdict.located:
            yield f"    “{one_line(located.quote)}” ({one_line(located.doc_id)})"
        if not verdict.supported and verdict.restatement is not None:
            yield f"    may ship instead: {one_line(verdict.restatement)}"
    for flag in verification.flags:
        yield f"! {flag.kind.replace('_', ' ')}: {one_line(flag.detail)}"
    for problem in verification.problems:
        yield one_line(f"{problem.reason} @ {problem.path}: {problem.detail}")
    for part in verification.unanswered:
        yield f"not answered: {one_line(part)}"
