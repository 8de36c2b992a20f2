"""A factuality model: scorers, the curves that calibrate them, and the policy they hold for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from grounded_rag.answer import Answer
from grounded_rag.errors import ConfigError, InputError, MissingExtraError
from grounded_rag.evaluation.factuality.claims import ClaimInput, claims_of
from grounded_rag.evaluation.factuality.scorers import ClaimScores, Scorers, builtin_scorers, franq
from grounded_rag.protocols import Share
from grounded_rag.statistics import Interval
from grounded_rag.types import Frozen
from grounded_rag.version import __version__


class Curve(Frozen):
    """A rising curve through knots, linear between them and level beyond the last.

    Attributes:
        x: Scores of the knots, rising.
        y: Calibrated shares at the knots, between 0 and 1, never falling.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]

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


def fit_curve(scores: Sequence[float], labels: Sequence[bool]) -> Curve:
    """Fit centred isotonic regression; it needs the extra `calibration` (scikit-learn).

    Each level stretch of the isotonic fit becomes one knot at the mean of its scores (Oron and
    Flournoy, arXiv 1701.05964). Between knots the curve rises, so that claims keep the order that
    their scores gave them; level stretches would make ties of them.

    Args:
        scores: Scores, higher meaning surer.
        labels: Whether each claim is true.

    Raises:
        MissingExtraError: scikit-learn is not installed.
        InputError: There is nothing to fit on.
    """
    if not scores:
        raise InputError(
            "There are no labelled claims to fit a curve on.",
            hint="Label more claims; some must have high and some low faithfulness.",
        )
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError as error:
        raise MissingExtraError(
            "Fitting a calibration needs scikit-learn.",
            hint='Install it: pip install "grounded-rag[calibration]". Using a fitted model '
            "does not need it.",
        ) from error
    fitted = IsotonicRegression(y_min=0.0, y_max=1.0)
    levels = fitted.fit_transform(list(scores), [float(label) for label in labels])
    stretches: dict[float, list[float]] = {}
    for score, level in zip(scores, levels, strict=True):
        stretches.setdefault(min(1.0, max(0.0, float(level))), []).append(score)
    knots = sorted((level, sum(part) / len(part)) for level, part in stretches.items())
    return Curve(x=tuple(score for _, score in knots), y=tuple(level for level, _ in knots))


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
    """One figure on claims that were not fitted on.

    Attributes:
        name: Name of the figure.
        value: The figure, or None where it is undefined.
        interval: Its bootstrap interval, 95 %.
    """

    name: str
    value: float | None
    interval: Interval | None = None


class Factuality(Frozen):
    """How likely one claim is true, and why.

    Attributes:
        p_true: P(true), or None where a score is missing: no figure is better than a made-up one.
        scores: The scores that were combined, calibrated where the model calibrates.
        raw: The scorers' own numbers.
    """

    p_true: Share | None
    scores: ClaimScores
    raw: ClaimScores


class ClaimFactuality(Frozen):
    """One shipped claim of an answer with its probability."""

    claim: str
    factuality: Factuality


class FactualityModel(Frozen):
    """A fitted combination of scores; its JSON is the artefact that `calibrate` writes.

    Attributes:
        kind: Tells this artefact from other JSON.
        schema_version: Version of this format.
        variant: What is calibrated.
        scorers: Names of the three scorers: faithfulness, if faithful, if unfaithful.
        fingerprint: Fingerprint of policy and prompts whose claims it was fitted on.
        if_faithful: Curve of the second scorer, or None.
        if_unfaithful: Curve of the third scorer, or None.
        fitted_on: Number of labelled claims.
        base_rate: Share of them that is true.
        labels_hash: SHA-256 over the labelled claims.
        held_out: Figures on claims not fitted on, by cross-fitting.
        package_version: Version of grounded_rag that fitted it.
    """

    kind: Literal["grounded-rag/factuality-model"] = "grounded-rag/factuality-model"
    schema_version: Literal[1] = 1
    variant: Variant
    scorers: tuple[str, str, str]
    fingerprint: Annotated[str, Field(min_length=1)]
    if_faithful: Curve | None = None
    if_unfaithful: Curve | None = None
    fitted_on: Annotated[int, Field(ge=0)] = 0
    base_rate: Share = 0.0
    labels_hash: str = ""
    held_out: tuple[Measured, ...] = ()
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
        """Return P(true) from raw scores; pure, and needs no scorer."""
        scores = raw.model_copy(
            update={
                "if_faithful": _through(self.if_faithful, raw.if_faithful),
                "if_unfaithful": _through(self.if_unfaithful, raw.if_unfaithful),
            }
        )
        p_true = None
        if (
            scores.faithful is not None
            and scores.if_faithful is not None
            and scores.if_unfaithful is not None
        ):
            p_true = franq(scores.faithful, scores.if_faithful, scores.if_unfaithful)
        return Factuality(p_true=p_true, scores=scores, raw=raw)

    def score(
        self, claims: Sequence[ClaimInput], *, scorers: Scorers | None = None
    ) -> tuple[Factuality, ...]:
        """Return P(true) of each claim, in order.

        Args:
            claims: Claims with their evidence.
            scorers: The scorers that the model was fitted with; None takes the built-in ones.

        Raises:
            ConfigError: These are other scorers than the model was fitted with.
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
        """Refuse a policy other than the one that the model was fitted under.

        Raises:
            ConfigError: The fingerprint is another one.
        """
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
        part = path.with_name(f"{path.name}.part")
        try:
            part.write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")
            part.replace(path)
        except OSError as error:
            raise InputError(
                f"{path} cannot be written: {error.strerror}.", hint="Name another file."
            ) from error
        return path

    @classmethod
    def load(cls, path: Path | str, *, fingerprint: str | None = None) -> Self:
        """Read a model.

        Args:
            path: File that `save` or `grounded-rag calibrate` wrote.
            fingerprint: Fingerprint of the policy in force, such as `Answer.fingerprint`; a model
                fitted under another one is refused. None leaves that to `score_answer`.

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
            first = error.errors()[0]
            raise InputError(
                f"{path} is no factuality model: {first['msg']}.",
                hint="Name a file written by `grounded-rag calibrate`.",
            ) from error
        if fingerprint is not None:
            model.check_fingerprint(fingerprint)
        return model


def _through(curve: Curve | None, score: float | None) -> float | None:
    return curve.at(score) if curve is not None and score is not None else score
