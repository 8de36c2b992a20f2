"""The seams of what decides about claims: entailment models and judges.

`grounded_rag.protocols` names them beside the other seams; import them from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Protocol, runtime_checkable

from pydantic import Field

from grounded_rag.types import Frozen, Usage

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
