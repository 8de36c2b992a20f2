"""The seams of the framework: one method each, so that a user's own part is one class.

Fakes for tests of one's own are in `grounded_rag.testing`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from enum import StrEnum
from typing import Annotated, Protocol, TypeVar, runtime_checkable

from pydantic import Field, JsonValue

from grounded_rag.types import (
    Citation,
    Claim,
    Draft,
    Frozen,
    Instant,
    Located,
    Reason,
    RetrievedChunk,
    Section,
    Signal,
    Span,
    Statement,
    StopReason,
    Usage,
)

Share = Annotated[float, Field(ge=0.0, le=1.0)]
"""A probability or another score between 0 and 1."""


class TextPair(Frozen):
    """Two texts that a model compares.

    Attributes:
        premise: What is taken as given: cited text.
        hypothesis: What may follow from it: a claim.
    """

    premise: str
    hypothesis: str


class EntailmentScores(Frozen):
    """What an entailment model makes of one pair.

    Attributes:
        entailment: How surely the premise says the hypothesis.
        neutral: How surely it says neither that nor the opposite.
        contradiction: How surely it says the opposite; 0 from models that know no such label.
    """

    entailment: Share
    neutral: Share
    contradiction: Share


def max_nli(scores: Sequence[EntailmentScores]) -> EntailmentScores:
    """Return the largest entailment, the largest contradiction and the least neutral score.

    The maximum over evidence, and over windows of one text, follows SummaC (Laban et al., 2022).

    Args:
        scores: Scores of one claim with each of its premises, at least one.
    """
    return EntailmentScores(
        entailment=max(score.entailment for score in scores),
        neutral=min(score.neutral for score in scores),
        contradiction=max(score.contradiction for score in scores),
    )


@runtime_checkable
class EntailmentModel(Protocol):
    """Says whether one text follows from another. It runs in a worker thread."""

    @property
    def name(self) -> str:
        """What decided, for verdicts and fingerprints: model and version."""
        ...

    def score(self, pairs: Sequence[TextPair]) -> Sequence[EntailmentScores]:
        """Return the scores of each pair, in order.

        A premise longer than the model reads is the model's own affair: it compares window by
        window and returns the largest entailment and the largest contradiction.
        """
        ...


class Grade(StrEnum):
    """What a judge says about one claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_MENTIONED = "not_mentioned"


class JudgeItem(Frozen):
    """One claim for a judge.

    Attributes:
        claim: The claim's text.
        evidence: The statements that its quotes stand in, table rows with the names of their
            columns: the only thing that the grade may rest on.
    """

    claim: str
    evidence: tuple[str, ...]


class JudgeRequest(Frozen):
    """Everything that a judge is shown for one draft.

    Attributes:
        items: The claims, in the draft's order; never empty.
        context: Texts of the chunks that the claims cite, each under its title and headings:
            background, never evidence.
        question: The question, or None where unknown: background too.
    """

    items: tuple[JudgeItem, ...]
    context: tuple[str, ...] = ()
    question: str | None = None


class Opinion(Frozen):
    """A judge's grade of one claim.

    Attributes:
        grade: The grade; None means that the judge could not say.
        rests_on: Words of the evidence that the grade rests on. Supported and contradicted are
            void unless each of them stands in the claim's own evidence.
        detail: One sentence for a person.
    """

    grade: Grade | None
    rests_on: tuple[str, ...] = ()
    detail: str = ""


class Judgement(Frozen):
    """What a judge returns.

    Attributes:
        opinions: One opinion an item, in order.
        usage: Tokens of all its calls.
    """

    opinions: tuple[Opinion, ...]
    usage: Usage = Usage()


@runtime_checkable
class Judge(Protocol):
    """Grades whether claims are supported by their evidence, and nothing else."""

    @property
    def name(self) -> str:
        """What decided, for verdicts and fingerprints: provider, model and prompt."""
        ...

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade all claims of a draft.

        Whatever it raises becomes "could not check" for all of them.
        """
        ...


__all__ = [
    "ClaimCase",
    "EntailmentModel",
    "EntailmentScores",
    "EvidencePiece",
    "FailedClaim",
    "Generation",
    "GenerationRequest",
    "Generator",
    "Grade",
    "Judge",
    "JudgeItem",
    "JudgeRequest",
    "Judgement",
    "Metric",
    "Opinion",
    "ParsedDocument",
    "Query",
    "Reader",
    "Reask",
    "Retriever",
    "SupportCheck",
    "TextPair",
    "TokenLogprob",
]


class ParsedDocument(Frozen):
    """What a reader makes of bytes.

    Attributes:
        text: Canonical text: every later offset refers to it.
        title: Title found in the document, or "".
        media_type: Media type that was read.
        sections: Headings in reading order.
        pages: Span of each page, in order; together they cover the text.
        headings: Spans of heading lines.
        metadata: Front matter or document properties, as found.
        warnings: Things a person should look at: revisions, damaged glyphs, columns.
    """

    text: str
    title: str = ""
    media_type: str = "text/plain"
    sections: tuple[Section, ...] = ()
    pages: tuple[Span, ...] = ()
    headings: tuple[Span, ...] = ()
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@runtime_checkable
class Reader(Protocol):
    """Turns the bytes of one file into canonical text."""

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`.

        Args:
            data: Bytes of the file.
            source: Its name, for messages.

        Raises:
            ReadError: The bytes cannot be read faithfully.
        """
        ...


class Query(Frozen):
    """One request to a retriever.

    Attributes:
        text: The question.
        k: Number of chunks wanted.
        as_of: Moment for which currency counts, or None for no preference.
        filters: Metadata that a document must carry, by key; a list means any of its values.
    """

    text: str
    k: Annotated[int, Field(ge=1)] = 8
    as_of: Instant | None = None
    filters: dict[str, JsonValue] = Field(default_factory=dict)


@runtime_checkable
class Retriever(Protocol):
    """Finds chunks for a question."""

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        """Return at most `query.k` chunks, best first, ranks from 1."""
        ...


class FailedClaim(Frozen):
    """A claim that did not pass, as the re-ask presents it.

    Attributes:
        claim: The claim as drafted.
        reason: Typed reason.
        detail: One precise sentence.
        nearest: Nearest real characters of the cited chunk, to copy from.
        chunk_id: The chunk that `nearest` stands in.
        apart: Words of the claim that the nearest statement lacks, then words of that statement
            that the claim leaves out.
    """

    claim: Claim
    reason: Reason
    detail: str
    nearest: str | None = None
    chunk_id: str | None = None
    apart: tuple[str, ...] = ()


class Reask(Frozen):
    """What a second attempt is told. Its size does not grow with the number of attempts.

    Attributes:
        failed: Claims to mend or to leave out.
        kept: Claims that passed and stay; they need not be repeated.
        note: What was wrong with the output as a whole, or "".
    """

    failed: tuple[FailedClaim, ...] = ()
    kept: tuple[Claim, ...] = ()
    note: str = ""


class GenerationRequest(Frozen):
    """One request to a generator.

    Attributes:
        question: The question.
        chunks: What may be cited, best first.
        refusal: The refusal string in force.
        as_of: Moment for which the answer should hold; None leaves currency out of account.
        reask: What to mend, for a second attempt.
        max_output_tokens: Limit of the answer, or None for the generator's own.
        own_words: Whether something is configured that can confirm claims in the model's own
            words: an entailment model, a judge, or a decider of one's own.
    """

    question: str
    chunks: tuple[RetrievedChunk, ...]
    refusal: str
    as_of: Instant | None = None
    reask: Reask | None = None
    max_output_tokens: int | None = None
    own_words: bool = False


class TokenLogprob(Frozen):
    """One token of an output, where a provider tells how sure it was.

    Attributes:
        text: The token's characters; those of all tokens joined are the output.
        logprob: Natural logarithm of its probability, at most 0.
    """

    text: str
    logprob: float


class Generation(Frozen):
    """What a generator returns.

    Attributes:
        draft: The draft with real chunk ids, or None where none could be read.
        stop: How the generation ended; it is looked at before the draft.
        usage: Tokens of this call, retries for schema errors included.
        model: Name of what wrote it.
        detail: What went wrong, or "".
        tokens: The output's tokens where the provider gives their probabilities; a name or
            number among them that the model was unsure of sends its claim to the deciders.
    """

    draft: Draft | None
    stop: StopReason = StopReason.COMPLETE
    usage: Usage = Usage()
    model: str = ""
    detail: str = ""
    tokens: tuple[TokenLogprob, ...] = ()


@runtime_checkable
class Generator(Protocol):
    """Writes a draft of claims from a question and chunks."""

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return a draft.

        Raises:
            ProviderError: The provider could not be used.
        """
        ...


class StartedOver(Frozen):
    """A streaming generator begins again: its claims so far are no part of the draft."""


@runtime_checkable
class StreamingGenerator(Generator, Protocol):
    """A generator that hands over each claim as soon as it is complete."""

    def stream(
        self, request: GenerationRequest
    ) -> AsyncGenerator[Claim | StartedOver | Generation]:
        """Yield complete claims in order and, last, the generation that holds them all.

        A claim is yielded only when all of it has arrived. However the output ends, the last item
        is a `Generation` whose `stop` says so, or an error is raised: an output that broke off
        never ends as complete. The draft has no prose.

        Raises:
            ProviderError: The provider could not be used, or the stream broke off.
        """
        ...


class EvidencePiece(Frozen):
    """One located quote with the text around it, as the support checks see it.

    Attributes:
        citation: The citation.
        located: Its place.
        sentence: What the source states where the quote stands: its statements as one text.
        sentence_span: Place of these sentences in the chunk's text, without what they carry along.
        statements: The statements themselves, in reading order; those that nobody asserts included.
        chunk: The whole retrieved chunk: title and headings are context, never evidence.
    """

    citation: Citation
    located: Located
    sentence: str
    sentence_span: Span
    statements: tuple[Statement, ...] = ()
    chunk: RetrievedChunk


class ClaimCase(Frozen):
    """One claim with its evidence: the input of a support check.

    Attributes:
        claim: The claim.
        evidence: Its located quotes, in the order of the citations; never empty.
        question: The question, or None where unknown: context, never evidence.
        verbatim: Whether the claim is a statement of its source, word for word but for licensed
            edits: then nothing in its wording is left to check.
    """

    claim: Claim
    evidence: tuple[EvidencePiece, ...]
    question: str | None = None
    verbatim: bool = False


SupportCheck = Callable[[ClaimCase], Signal | None]
"""A support check is one function; None means it has nothing to say about this claim."""


JudgedRecordT = TypeVar("JudgedRecordT", contravariant=True)


@runtime_checkable
class Metric(Protocol[JudgedRecordT]):
    """Counts something on one judged record of an evaluation; a plain function will do.

    The record is a `grounded_rag.evaluation.JudgedRecord`. The metric's name is its attribute
    `name`, or the function's own; `docs/metrics.md` lists what else it may say of itself.
    """

    def __call__(self, judged: JudgedRecordT, /) -> tuple[float, int] | None:
        """Return hits and trials, or None where the metric does not apply.

        Whatever it raises becomes "could not be scored", for this record alone.
        """
        ...
