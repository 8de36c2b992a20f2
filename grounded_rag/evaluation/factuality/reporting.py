"""P(true) of every claim of a run, for a report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grounded_rag.evaluation.factuality.claims import cited_claim
from grounded_rag.evaluation.factuality.model import (
    ClaimFactuality,
    Factuality,
    FactualityModel,
)
from grounded_rag.evaluation.factuality.scorers import ClaimScores, Scorers
from grounded_rag.evaluation.records import EvalRecord
from grounded_rag.evaluation.runs import Run
from grounded_rag.protocols import Share
from grounded_rag.types import Frozen


class ScoredItem(Frozen):
    """One answered question of a run with the probabilities of its claims.

    Attributes:
        item: Id of the golden item.
        question: The question.
        claims: The shipped claims, in order.
        lowest: Lowest P(true) of them; None where one could not be scored.
    """

    item: str
    question: str
    claims: tuple[ClaimFactuality, ...]
    lowest: Share | None


class RunFactuality(Frozen):
    """P(true) of the claims of a run, and what the figures rest on.

    Attributes:
        model: The model, with its figures on claims that it was not fitted on.
        items: The answered questions.
    """

    model: FactualityModel
    items: tuple[ScoredItem, ...]

    def by_item(self) -> dict[str, tuple[float | None, ...]]:
        """Return P(true) of the claims in order, by the id of the golden item."""
        return {
            item.item: tuple(claim.factuality.p_true for claim in item.claims)
            for item in self.items
        }


def factuality_of(
    run: Run,
    model: FactualityModel,
    *,
    scorers: Scorers | None = None,
    progress: Callable[[int], object] | None = None,
) -> RunFactuality:
    """Return P(true) of the claims of a run with the model that gives it; see `score_run`.

    Args:
        run: The run.
        model: A model fitted under the run's policy.
        scorers: The scorers that it was fitted with; None takes the built-in ones.
        progress: Told after each record how many are done.

    Raises:
        ConfigError: The run was made under another policy, or the scorers differ.
    """
    return RunFactuality(
        model=model, items=score_run(run, model, scorers=scorers, progress=progress)
    )


def score_run(
    run: Run,
    model: FactualityModel,
    *,
    scorers: Scorers | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[ScoredItem, ...]:
    """Return the answered questions of a run, the least probable first.

    Args:
        run: The run; refusals and errors are left out.
        model: A model fitted under the run's policy.
        scorers: The scorers that it was fitted with; None takes the built-in ones.
        progress: Told after each record how many are done.

    Raises:
        ConfigError: The run was made under another policy, or the scorers differ.
    """
    model.check_fingerprint(run.meta.fingerprint)
    items: list[ScoredItem] = []
    for done, record in enumerate(run.records(), start=1):
        claims = _scored(record, model, scorers)
        if claims:
            items.append(
                ScoredItem(
                    item=record.item.id,
                    question=record.item.question,
                    claims=claims,
                    lowest=_lowest(claims),
                )
            )
        if progress is not None:
            progress(done)
    return tuple(sorted(items, key=lambda item: -1.0 if item.lowest is None else item.lowest))


def _scored(
    record: EvalRecord, model: FactualityModel, scorers: Scorers | None
) -> tuple[ClaimFactuality, ...]:
    if record.answer is not None:
        return model.score_answer(record.answer, scorers=scorers) if record.answer.claims else ()
    other = record.other
    if other is None or other.refused or other.verification is None:
        return ()
    chunks = {context.chunk.id: context for context in other.contexts}
    verdicts = other.verification.claims
    given = [cited_claim(verdict, chunks, record.item.question) for verdict in verdicts]
    found = iter(model.score([each for each in given if each is not None], scorers=scorers))
    return tuple(
        ClaimFactuality(claim=verdict.text, factuality=_UNKNOWN if each is None else next(found))
        for verdict, each in zip(verdicts, given, strict=True)
    )


_NO_SCORES = ClaimScores(faithful=None, if_faithful=None, if_unfaithful=None)
_UNKNOWN = Factuality(p_true=None, scores=_NO_SCORES, raw=_NO_SCORES)
"""Of a claim that shares no word with what was retrieved, nothing can be said."""


def _lowest(claims: Sequence[ClaimFactuality]) -> float | None:
    known = [claim.factuality.p_true for claim in claims]
    return None if None in known else min(value for value in known if value is not None)
