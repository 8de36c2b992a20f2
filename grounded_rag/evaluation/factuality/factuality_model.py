"""A factuality model gives P(true) of claims, of an answer's claims and of a run's claims.

It names three scorers, holds the curves that calibrate them, and is bound to the policy under
which its labelled claims were made. `fit` makes one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from grounded_rag.answer import Answer
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation.datasets import first_problem
from grounded_rag.evaluation.factuality.claims import ClaimInput, cited_claim, claims_of
from grounded_rag.evaluation.factuality.scorers import ClaimScores, Scorers, builtin_scorers, franq
from grounded_rag.evaluation.records import EvalRecord
from grounded_rag.evaluation.runs import Run, write_whole
from grounded_rag.protocols import Share
from grounded_rag.statistics import Interval
from grounded_rag.types import Frozen
from grounded_rag.version import __version__


class Curve(Frozen):
    """A rising curve through knots, linear between them and level beyond the last."""

    x: tuple[float, ...] = Field(description="Scores of the knots, rising.")
    y: tuple[float, ...] = Field(description="Shares between 0 and 1, never falling.")

    @model_validator(mode="after")
    def _rising(self) -> Self:
        if not self.x or len(self.x) != len(self.y):
            raise ValueError("a curve needs as many values as scores, and at least one")
        if any(not a < b for a, b in zip(self.x, self.x[1:], strict=False)):
            raise ValueError("the scores of a curve must rise")
        if any(not a <= b for a, b in zip(self.y, self.y[1:], strict=False)):
            raise ValueError("a calibration curve must not fall")
        if any(not 0 <= value <= 1 for value in self.y):
            raise ValueError("the values of a calibration curve lie between 0 and 1")
        return self

    def at(self, score: float) -> float:
        """Return the calibrated share at a score."""
        right = bisect_left(self.x, score)
        if right == 0:
            return self.y[0]
        if right == len(self.x):
            return self.y[-1]
        left = right - 1
        part = (score - self.x[left]) / (self.x[right] - self.x[left])
        return self.y[left] + part * (self.y[right] - self.y[left])


class Variant(StrEnum):
    """What is calibrated. Faithfulness itself stays raw in all of them.

    `none` combines raw scores. `calibrated` fits both conditional scores on all claims.
    `condition-calibrated` fits each on the claims of its own regime: faithful above one half, or
    not.
    """

    NONE = "none"
    CALIBRATED = "calibrated"
    CONDITION_CALIBRATED = "condition-calibrated"


class Measured(Frozen):
    """One figure on claims that were not fitted on, with its 95 % bootstrap interval.

    A value of None means that the figure is undefined, such as a ROC-AUC of one class alone.
    """

    name: str
    value: float | None
    interval: Interval | None = None


class Factuality(Frozen):
    """How likely one claim is true, and why."""

    p_true: Share | None = Field(description="None if a score is missing.")
    scores: ClaimScores = Field(description="What was combined: calibrated, or raw.")
    raw: ClaimScores = Field(description="The scorers' own numbers.")


class ClaimFactuality(Frozen):
    """One claim of an answer with its probability."""

    claim: str
    factuality: Factuality


class FactualityModel(Frozen):
    """A fitted combination of scores; its JSON is the artefact that `calibrate` writes."""

    kind: Literal["grounded-rag/factuality-model"] = "grounded-rag/factuality-model"
    schema_version: Literal[1] = 1
    variant: Variant
    scorers: tuple[str, str, str] = Field(description="Faithfulness, if faithful, if unfaithful.")
    fingerprint: Annotated[str, Field(min_length=1)]
    if_faithful: Curve | None = Field(default=None, description="Curve of the second scorer.")
    if_unfaithful: Curve | None = Field(default=None, description="Curve of the third scorer.")
    fitted_on: int = Field(default=0, ge=0, description="Labelled claims.")
    base_rate: Share = Field(default=0.0, description="Share of true claims.")
    labels_hash: str = Field(default="", description="SHA-256 over the labelled claims.")
    held_out: tuple[Measured, ...] = Field(default=(), description="On claims not fitted on.")
    package_version: str = __version__

    @model_validator(mode="after")
    def _has_its_curves(self) -> Self:
        curves = (self.if_faithful, self.if_unfaithful)
        if (self.variant is Variant.NONE) != (curves == (None, None)) or (
            self.variant is not Variant.NONE and None in curves
        ):
            raise ValueError(f"the variant {self.variant} does not go with these curves")
        return self

    def combine(self, raw: ClaimScores) -> Factuality:
        """Return P(true) from raw scores; no scorer is needed for that."""
        faithful = raw.faithful
        if_faithful = _calibrated(self.if_faithful, raw.if_faithful)
        if_unfaithful = _calibrated(self.if_unfaithful, raw.if_unfaithful)
        p_true = None
        if faithful is not None and if_faithful is not None and if_unfaithful is not None:
            p_true = franq(faithful, if_faithful, if_unfaithful)
        scores = ClaimScores(
            faithful=faithful, if_faithful=if_faithful, if_unfaithful=if_unfaithful
        )
        return Factuality(p_true=p_true, scores=scores, raw=raw)

    def score(
        self, claims: Sequence[ClaimInput], *, scorers: Scorers | None = None
    ) -> tuple[Factuality, ...]:
        """Return P(true) of each claim, in order.

        Raises:
            ConfigError: The model was fitted with other scorers; None stands for the built-in ones.
        """
        used = scorers or builtin_scorers()
        if used.names != self.scorers:
            raise ConfigError(
                f"The model was fitted with the scorers {', '.join(self.scorers)}, and these are "
                f"{', '.join(used.names)}.",
                hint="Hand over the same scorers, or fit again with these.",
            )
        return tuple(self.combine(raw) for raw in used.score(claims))

    def score_answer(
        self, answer: Answer, *, scorers: Scorers | None = None
    ) -> tuple[ClaimFactuality, ...]:
        """Return P(true) of each shipped claim of an answer; none for a refusal.

        Raises:
            ConfigError: The answer was given under another policy, or the scorers differ.
        """
        self.check_fingerprint(answer.fingerprint)
        claims = claims_of(answer)
        return tuple(
            ClaimFactuality(claim=claim.claim, factuality=found)
            for claim, found in zip(claims, self.score(claims, scorers=scorers), strict=True)
        )

    def check_fingerprint(self, fingerprint: str) -> None:
        """Raise `ConfigError` if the model was fitted under another policy."""
        if fingerprint != self.fingerprint:
            raise ConfigError(
                f"The factuality model was fitted under the policy {self.fingerprint[:12]}…, and "
                f"this is {fingerprint[:12] or 'unknown'}….",
                hint="Label claims made under this policy and run `grounded-rag calibrate` again.",
            )

    def save(self, path: Path | str) -> Path:
        """Write the model as JSON and return its path.

        Raises:
            InputError: The file cannot be written.
        """
        path = Path(path)
        try:
            write_whole(path, [self.model_dump_json(indent=2).encode() + b"\n"])
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}.", hint="Name another file."
            ) from error
        return path

    @classmethod
    def load(cls, path: Path | str, *, fingerprint: str | None = None) -> Self:
        """Read a model that `save` or `grounded-rag calibrate` wrote.

        `fingerprint` is that of the policy in force, such as `Answer.fingerprint`; None leaves the
        comparison to `score_answer`.

        Raises:
            InputError: The file is no factuality model.
            ConfigError: It was fitted under another policy.
        """
        path = Path(path)
        try:
            model = cls.model_validate_json(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"{path} cannot be read: {error}.", hint="Name a file written by `calibrate`."
            ) from error
        except ValidationError as error:
            raise InputError(
                f"{path} is no factuality model: {first_problem(error)}.",
                hint="Name a file written by `grounded-rag calibrate`.",
            ) from error
        if fingerprint is not None:
            model.check_fingerprint(fingerprint)
        return model


def _calibrated(curve: Curve | None, score: float | None) -> float | None:
    return curve.at(score) if curve is not None and score is not None else score


class ScoredItem(Frozen):
    """One answered question of a run with the probabilities of its claims."""

    item: str
    question: str
    claims: tuple[ClaimFactuality, ...]
    lowest: Share | None


class RunFactuality(Frozen):
    """The answered questions of a run, scored, and the model that scored them."""

    model: FactualityModel
    items: tuple[ScoredItem, ...]

    def by_item(self) -> dict[str, tuple[float | None, ...]]:
        """Return P(true) of the claims in order, by the id of the golden item."""
        return {
            item.item: tuple(claim.factuality.p_true for claim in item.claims)
            for item in self.items
        }


def score_run(
    run: Run,
    model: FactualityModel,
    *,
    scorers: Scorers | None = None,
    progress: Callable[[int], object] | None = None,
) -> tuple[ScoredItem, ...]:
    """Return the answered questions of a run, the least probable first.

    `progress` is called after each record with the number of records done.

    Raises:
        ConfigError: The run was made under another policy, or the scorers differ.
    """
    model.check_fingerprint(run.meta.fingerprint)
    items: list[ScoredItem] = []
    for done, record in enumerate(run.records(), start=1):
        claims = _score_record(record, model, scorers)
        if claims:
            item = record.item
            items.append(
                ScoredItem(
                    item=item.id,
                    question=item.question,
                    claims=claims,
                    lowest=lowest_probability(claims),
                )
            )
        if progress is not None:
            progress(done)
    # A claim that could not be scored is looked at first: nothing is known about it.
    return tuple(sorted(items, key=lambda item: -1.0 if item.lowest is None else item.lowest))


def _score_record(
    record: EvalRecord, model: FactualityModel, scorers: Scorers | None
) -> tuple[ClaimFactuality, ...]:
    if record.answer is not None:
        # Without claims no scorer is loaded.
        return model.score_answer(record.answer, scorers=scorers) if record.answer.claims else ()
    other = record.other
    if other is None or other.refused or other.verification is None:
        return ()
    chunks = {context.chunk.id: context for context in other.contexts}
    verdicts = other.verification.claims
    cited = [cited_claim(verdict, chunks, record.item.question) for verdict in verdicts]
    found = iter(model.score([claim for claim in cited if claim is not None], scorers=scorers))
    return tuple(
        ClaimFactuality(claim=verdict.text, factuality=_UNKNOWN if claim is None else next(found))
        for verdict, claim in zip(verdicts, cited, strict=True)
    )


_NO_SCORES = ClaimScores(faithful=None, if_faithful=None, if_unfaithful=None)
_UNKNOWN = Factuality(p_true=None, scores=_NO_SCORES, raw=_NO_SCORES)
"""For a claim that shares no word with what was retrieved: there is no evidence to score it by."""


def lowest_probability(claims: Sequence[ClaimFactuality]) -> float | None:
    """Return the lowest P(true); None without claims, or if one of them could not be scored."""
    given = [claim.factuality.p_true for claim in claims]
    known = [probability for probability in given if probability is not None]
    return min(known) if known and len(known) == len(given) else None
