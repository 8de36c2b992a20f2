"""Tuning: the built-in generator's refusal threshold, chosen on a golden set with exact bounds.

This is Learn then Test (Angelopoulos et al., 2021) with fixed-sequence testing. The thresholds of a
fixed grid are tested from strict to lax, each by an exact binomial test, until the first one whose
error rates may be too high. Whatever passed before holds with the wanted confidence, however many
thresholds were tested; the laxest of them answers most.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread
from pydantic import Field, ValidationError, computed_field

from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation.certificate import items_missing, percent
from grounded_rag.evaluation.datasets import (
    Answerable,
    GoldenItem,
    first_problem,
    golden_hash,
    load_golden,
    select,
)
from grounded_rag.evaluation.gold import Evidence, gold_places, on_gold
from grounded_rag.evaluation.records import EvalRecord
from grounded_rag.evaluation.runner import Progress, ProgressHook
from grounded_rag.evaluation.runs import text_reader
from grounded_rag.generate.extractive import Assessment, ExtractiveGenerator
from grounded_rag.index.records import TunedThreshold
from grounded_rag.index.store import Index
from grounded_rag.pipeline import retrieve
from grounded_rag.protocols import GenerationRequest
from grounded_rag.rag import GroundedRAG
from grounded_rag.statistics import Interval, at_most, clopper_pearson
from grounded_rag.types import Frozen, RetrievedChunk, Span
from grounded_rag.validity import today_utc
from grounded_rag.version import __version__

GRID = tuple(step / 50 for step in range(300, -301, -1))
"""Thresholds that are tested, from strict to lax: log-odds, chosen before any data were seen."""

_FIRST = 4
"""The first test for right answers has so many times what would do if none were wrong, or a share
of one in so many of the questions, where these are fewer."""


class Assessed(NamedTuple):
    """The best that can be said to a part of a question."""

    confidence: float
    right: bool | None  # Whether it stands on a gold place; None where none is known


class Outcome(NamedTuple):
    """What the generator would say to one question, for any threshold."""

    answerable: bool
    parts: tuple[Assessed, ...]
    whole: Assessed  # What is said where no part is answered

    def said(self, threshold: float) -> tuple[Assessed, ...]:
        """Return what is said under a threshold; nothing is a refusal."""
        parts = tuple(part for part in self.parts if part.confidence >= threshold)
        if parts or self.whole.confidence < threshold:
            return parts
        return (self.whole,)


def outcome_of(
    generator: ExtractiveGenerator,
    request: GenerationRequest,
    *,
    answerable: bool,
    is_right: Callable[[Assessment], bool | None],
) -> Outcome:
    """Ask the generator once for all that it can say, whatever the threshold."""

    def assess(threshold: float) -> tuple[Assessed, ...]:
        found = generator.assess(request, threshold=threshold)
        return tuple(Assessed(one.confidence, is_right(one)) for one in found)

    parts = assess(float("-inf"))
    # Only a question of several parts is also read as a whole.
    (whole,) = parts if len(parts) == 1 else assess(float("inf"))
    return Outcome(answerable, parts, whole)


class Share(Frozen):
    """How many of how many, with the exact 95 % interval."""

    hits: int
    trials: int

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def interval(self) -> Interval:
        """Exact interval (Clopper–Pearson)."""
        return clopper_pearson(self.hits, self.trials)


class Performance(Frozen):
    """What a threshold does on the golden set; drafts are counted, before they are verified."""

    threshold: float
    answered: Share = Field(description="Of the answerable questions.")
    right: Share = Field(description="Of the answerable questions with gold: on a gold place.")
    wrong: Share = Field(description="Of those with gold that are answered: on no gold place.")
    refused: Share = Field(description="Of the unanswerable questions.")


def performance(outcomes: Iterable[Outcome], threshold: float) -> Performance:
    """Return what a threshold does."""
    answerable = answered = gold = right = wrong = unanswerable = refused = 0
    for outcome in outcomes:
        said = outcome.said(threshold)
        if not outcome.answerable:
            unanswerable += 1
            refused += not said
            continue
        answerable += 1
        answered += bool(said)
        if outcome.whole.right is not None:
            gold += 1
            on_place = any(one.right for one in said)
            right += on_place
            wrong += bool(said) and not on_place
    return Performance(
        threshold=threshold,
        answered=Share(hits=answered, trials=answerable),
        right=Share(hits=right, trials=gold),
        wrong=Share(hits=wrong, trials=right + wrong),
        refused=Share(hits=refused, trials=unanswerable),
    )


class Bounds(Frozen):
    """What is asked of a threshold: error rates to stay under, and how surely."""

    alpha: float = Field(default=0.2, gt=0, lt=1, description="Unanswerable ones answered.")
    beta: float | None = Field(default=None, gt=0, lt=1, description="Wrong among the answers.")
    delta: float = Field(default=0.1, gt=0, lt=0.5, description="Chance of having been misled.")

    def least(self, wanted: float) -> int:
        """Return with how many questions, none of them an error, a bound can be certified."""
        return items_missing(0, 0, wanted=wanted, confidence=1 - self.delta)

    def refuses(self, at: Performance) -> bool:
        """Whether so few unanswerable questions are answered."""
        return self._holds(at.refused.trials - at.refused.hits, at.refused.trials, self.alpha)

    def is_right(self, at: Performance) -> bool:
        """Whether so few answers are wrong, if that is asked for."""
        return self.beta is None or self._holds(at.wrong.hits, at.wrong.trials, self.beta)

    def _holds(self, errors: int, trials: int, wanted: float) -> bool:
        return at_most(errors, trials, wanted) <= self.delta


def sequence(grid: Sequence[Performance], bounds: Bounds) -> Sequence[Performance]:
    """Return the thresholds to test, in their order; `grid` goes from strict to lax.

    Few answers prove nothing about their being right, and the first failure ends the test. So with
    `beta` it starts at the laxest threshold that still gives few enough, which looks at how many
    answers there are, and not at which are right.
    """
    if bounds.beta is None:
        return grid
    least = bounds.least(bounds.beta)
    few = max(least, min(_FIRST * least, grid[0].right.trials // _FIRST))
    return grid[max(sum(at.wrong.trials <= few for at in grid) - 1, 0) :]


def choose(grid: Sequence[Performance], bounds: Bounds) -> Performance | None:
    """Return the laxest threshold that passes with all before it, or None."""
    chosen: Performance | None = None
    for at in sequence(grid, bounds):
        if not (bounds.refuses(at) and bounds.is_right(at)):
            break
        chosen = at
    return chosen


class Tuning(Frozen):
    """What came of tuning: the chosen threshold beside the one in force, or why there is none."""

    bounds: Bounds
    chosen: Performance | None
    current: Performance = Field(description="Of the threshold in force so far.")
    reason: str = Field(default="", description="Why no threshold could be certified.")
    unlabelled: int = Field(default=0, description="Items that do not say if they are answerable.")
    misplaced: int = Field(default=0, description="Items with gold that stands in no document.")
    tuned: TunedThreshold | None = Field(default=None, description="What is stored in the index.")
    stored: bool = False


def tune(
    rag: GroundedRAG,
    golden: Path | str | Sequence[GoldenItem],
    *,
    alpha: float = 0.2,
    beta: float | None = None,
    delta: float = 0.1,
    split: str | None = None,
    store: bool = True,
    progress: ProgressHook | None = None,
) -> Tuning:
    """Choose the refusal threshold of the built-in generator for an index, and store it there.

    The questions must be like those of users: the bounds hold for questions of the same kind, over
    the same documents. `rag` itself keeps its threshold; the next one that is opened has the new.

    Args:
        rag: The index, opened with the built-in generator.
        golden: A golden set with answerable and unanswerable questions, or the path of one.
        alpha: Most unanswerable questions that may be answered, as a share.
        beta: Most answers that may be on no gold place, as a share; needs gold quotes.
        delta: Most probability that the golden set misleads: 0.1 is 90 % confidence.
        split: Only items of this split.
        store: Whether to store the threshold where one can be certified.
        progress: Called after each question.

    Raises:
        ConfigError: `rag` has no index, or another generator.
        InputError: The golden set is broken, or too small to certify anything.
        IndexLockedError: Another process is writing to the index.
    """
    try:
        bounds = Bounds(alpha=alpha, beta=beta, delta=delta)
    except ValidationError as error:
        raise InputError(
            f"These bounds cannot be asked for: {first_problem(error)}.",
            hint="Give shares, such as alpha=0.2 and delta=0.1.",
        ) from error
    index = rag._need_index("tune")
    generator = rag.generator
    if not isinstance(generator, ExtractiveGenerator):
        raise ConfigError(
            "Only the built-in extractive generator has a threshold to tune.",
            hint="Open the index without `generator`.",
        )
    named = isinstance(golden, (str, Path))
    items = load_golden(golden) if isinstance(golden, (str, Path)) else tuple(golden)
    items = select(items, split=split)
    labelled = [item for item in items if item.answerable is not None]
    check_size(labelled, bounds)
    if store:
        # Before anything is asked: an index that cannot be written must not cost the questions.
        Index.open(index.path, write=True).close()
    outcomes = rag.loop.run(partial(_ask_all, rag, generator, labelled, progress))
    grid = [performance(outcomes, threshold) for threshold in GRID]
    chosen, reason = choose(grid, bounds), ""
    if chosen is None or not chosen.answered.hits:
        chosen, reason = None, why_none(grid, bounds)
    current = performance(outcomes, generator.threshold)
    tuned = None
    if chosen is not None:
        tuned = TunedThreshold(
            threshold=chosen.threshold,
            made_at=dt.datetime.now(dt.UTC),
            package_version=__version__,
            weights=generator.weights,
            golden=Path(str(golden)).name if named else "items",
            golden_hash=golden_hash(items),
            **bounds.model_dump(),
            answered=chosen.answered.hits,
            answerable=chosen.answered.trials,
            refused=chosen.refused.hits,
            unanswerable=chosen.refused.trials,
        )
        if store:
            _put(index.path, tuned)
    return Tuning(
        bounds=bounds,
        chosen=chosen,
        current=current,
        reason=reason,
        unlabelled=len(items) - len(labelled),
        misplaced=sum(map(_has_gold, labelled)) - current.right.trials,
        tuned=tuned,
        stored=store and tuned is not None,
    )


def reset_threshold(index: Path | str) -> None:
    """Take the stored threshold away from an index: the built-in one is used again.

    Raises:
        IndexNotFoundError: There is no index.
        IndexLockedError: Another process is writing to it.
    """
    _put(Path(index), None)


def _put(path: Path, tuned: TunedThreshold | None) -> None:
    with Index.open(path, write=True) as index:
        index.put_threshold(tuned)


def check_size(items: Sequence[GoldenItem], bounds: Bounds) -> None:
    """Refuse a golden set on which no threshold could be certified, whatever came out.

    Raises:
        InputError: It has too few questions of a kind.
    """
    unanswerable = sum(item.answerable is Answerable.NO for item in items)
    gold = sum(map(_has_gold, items))
    if unanswerable == len(items):
        raise InputError(
            "The golden set has no answerable questions: a threshold that refuses everything "
            "would do.",
            hint='Label some with "answerable": "yes", best with their gold quotes.',
        )
    for count, kind, name, wanted in (
        (unanswerable, "unanswerable questions", "alpha", bounds.alpha),
        (gold, "answerable questions with gold quotes", "beta", bounds.beta),
    ):
        if wanted is not None and count < (least := bounds.least(wanted)):
            raise InputError(
                f"No threshold can be certified with {count or 'no'} {kind}; at least {least} are "
                f"needed for {name} = {percent(wanted)} at {percent(1 - bounds.delta)} confidence.",
                hint=f"Add {least - count} or more, or allow a higher {name}.",
            )


def _has_gold(item: GoldenItem) -> bool:
    return item.answerable is not Answerable.NO and bool(item.gold)


def why_none(grid: Sequence[Performance], bounds: Bounds) -> str:
    """Return why no threshold that answers anything is certified."""
    first = sequence(grid, bounds)[0]
    kept = f"a threshold that keeps to alpha = {percent(bounds.alpha)} answers"
    if bounds.beta is None:
        return f"{kept} nothing"
    if first.wrong.trials < bounds.least(bounds.beta):
        return "too few answers have a gold place to compare with"
    if not bounds.is_right(first):
        return (
            f"of the {first.wrong.trials} surest answers {first.wrong.hits} are wrong, too many "
            f"for beta = {percent(bounds.beta)}"
        )
    return f"{kept} too little to tell how much of it is right"


async def _ask_all(
    rag: GroundedRAG,
    generator: ExtractiveGenerator,
    items: Sequence[GoldenItem],
    progress: ProgressHook | None,
) -> list[Outcome]:
    text_of = text_reader(rag)
    outcomes: list[Outcome] = []
    for item in items:
        as_of = item.as_of or today_utc()
        chunks = await retrieve(item.question, parts=rag._parts, as_of=as_of)
        request = GenerationRequest(
            question=item.question, chunks=chunks, refusal=rag._parts.refusal, as_of=as_of
        )
        places = () if text_of is None else gold_places(item, text_of)
        is_right = partial(_is_right, record=EvalRecord(item=item, places=places), chunks=chunks)
        answerable = item.answerable is not Answerable.NO
        ask = partial(outcome_of, generator, request, answerable=answerable, is_right=is_right)
        # Scoring is work for the processor: the event loop stays free.
        outcomes.append(await to_thread.run_sync(ask))
        if progress is not None:
            progress(Progress(done=len(outcomes), total=len(items), item=item.id))
    return outcomes


def _is_right(
    assessment: Assessment, *, record: EvalRecord, chunks: Sequence[RetrievedChunk]
) -> bool | None:
    """Whether a claim stands on a gold place, or None where there is none in the documents."""
    if not any(record.places):
        return None
    by_id = {retrieved.chunk.id: retrieved.chunk for retrieved in chunks}
    for citation in (citation for claim in assessment.claims for citation in claim.citations):
        chunk = by_id[citation.chunk_id]
        # A quote of the generator is a slice of its chunk.
        start = chunk.span.start + chunk.text.index(citation.quote)
        span = Span(start=start, end=start + len(citation.quote))
        if on_gold(Evidence(chunk.doc_id, span, citation.quote), record):
            return True
    return False
