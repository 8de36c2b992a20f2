"""A certificate: what a run proves about wrong answers let through and right ones refused."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from grounded_rag.evaluation.records import CheckIdentity, IndexIdentity
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Answer, Frozen

_MOST_ITEMS = 10_000_000


class Subject(Frozen):
    """What a certificate speaks about; under anything else it says nothing.

    Attributes:
        fingerprint: SHA-256 over policy and prompts; "" for another system, whose are unknown.
        generator: Name of the generator, or of another system.
        verifier: SHA-256 over the code of the verifier.
        checks: The support checks that ran.
        index: What was searched.
        golden: Name of the golden set.
        golden_hash: SHA-256 over its items.
        package_version: Version of grounded_rag.
    """

    fingerprint: str
    generator: str
    verifier: str = ""
    checks: tuple[CheckIdentity, ...] = ()
    index: IndexIdentity = IndexIdentity()
    golden: str = ""
    golden_hash: str = ""
    package_version: str = ""

    @property
    def id(self) -> str:
        """First 32 hexadecimal digits of the SHA-256 over all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]


class Bound(Frozen):
    """One error rate: counted errors, and the rate that can be ruled out.

    Attributes:
        name: Such as "false_pass".
        says: What counts as an error, in words.
        errors: Counted errors; items that could not be scored are among them.
        unscored: Items that could not be scored.
        trials: Items looked at.
        upper: Exact one-sided upper bound (Clopper–Pearson): a true rate above it would have
            shown more errors than these with at least the confidence.
        wanted: The bound that was asked for, or None.
        missing: Further items without any error that would reach it; 0 where it is reached,
            None where none was asked for.
    """

    name: str
    says: str
    errors: Annotated[int, Field(ge=0)]
    unscored: Annotated[int, Field(ge=0)] = 0
    trials: Annotated[int, Field(ge=0)]
    upper: Annotated[float, Field(ge=0, le=1)]
    wanted: Annotated[float, Field(gt=0, lt=1)] | None = None
    missing: Annotated[int, Field(ge=0)] | None = None

    @property
    def reached(self) -> bool:
        """Whether the wanted bound is reached; without one there is nothing to reach."""
        return self.wanted is None or self.upper <= self.wanted


class Fuzzed(Frozen):
    """What tampering with real quotes found, with one-sided upper bounds.

    Attributes:
        corpus: What the quotes were drawn from.
        seed: Seed of the draw.
        accepted: Tampered quotes that were accepted.
        refused: Benign quotes that were refused or located at a wrong place.
        passed: Whether the fuzzer's own demands are met.
    """

    corpus: str
    seed: int
    accepted: Bound
    refused: Bound
    passed: bool


class Certificate(Frozen):
    """What can be said about a system's errors, for exactly one subject.

    Attributes:
        kind: Tells this file from other JSON.
        schema_version: Version of this format.
        id: The subject's id.
        created_at: When it was made.
        confidence: One-sided confidence of every bound.
        subject: What it speaks about.
        bounds: The error rates.
        fuzz: The fuzzer's result, or None where it was not run.
        run: Name of the run.
        notes: What a reader should know.
    """

    kind: Literal["grounded-rag/certificate"] = "grounded-rag/certificate"
    schema_version: Literal[1] = 1
    id: str
    created_at: AwareDatetime
    confidence: Annotated[float, Field(gt=0.5, lt=1)]
    subject: Subject
    bounds: tuple[Bound, ...]
    fuzz: Fuzzed | None = None
    run: str = ""
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether every wanted bound is reached and the fuzzer, where it ran, is content."""
        return all(bound.reached for bound in self.bounds) and (
            self.fuzz is None or self.fuzz.passed
        )

    def covers(self, answer: Answer) -> bool:
        """Whether an answer was given under the certified policy and prompts.

        Never where these are unknown, as those of another system are.
        """
        return bool(answer.fingerprint) and answer.fingerprint == self.subject.fingerprint

    def bound(self, name: str) -> Bound:
        """Return one bound by its name.

        Raises:
            KeyError: There is none of that name.
        """
        for each in self.bounds:
            if each.name == name:
                return each
        raise KeyError(name)


def upper_bound(errors: int, trials: int, *, confidence: float) -> float:
    """Return the exact one-sided upper bound of an error rate.

    Args:
        errors: Counted errors.
        trials: Items looked at; with 0 nothing is known and the bound is 1.
        confidence: One-sided, above 0.5 and below 1.
    """
    # The upper end of a two-sided interval with twice the tail.
    return clopper_pearson(errors, trials, confidence=2 * confidence - 1).high


def items_missing(errors: int, trials: int, *, wanted: float, confidence: float) -> int:
    """Return how many further items, all without error, would reach a wanted bound.

    Args:
        errors: Errors counted so far.
        trials: Items looked at so far.
        wanted: The bound, above 0 and below 1.
        confidence: One-sided confidence.
    """

    def reached(more: int) -> bool:
        return upper_bound(errors, trials + more, confidence=confidence) <= wanted

    if reached(0):
        return 0
    high = 1
    while not reached(high) and high < _MOST_ITEMS:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def make_bound(
    name: str,
    says: str,
    *,
    errors: int,
    trials: int,
    confidence: float,
    unscored: int = 0,
    wanted: float | None = None,
) -> Bound:
    """Return a bound from counts; what could not be scored counts as an error.

    Args:
        name: Name of the rate.
        says: What counts as an error.
        errors: Counted errors, without those that could not be scored.
        trials: Items looked at, with them.
        confidence: One-sided confidence.
        unscored: Items that could not be scored.
        wanted: The bound asked for.
    """
    counted = errors + unscored
    return Bound(
        name=name,
        says=says,
        errors=counted,
        unscored=unscored,
        trials=trials,
        upper=upper_bound(counted, trials, confidence=confidence),
        wanted=wanted,
        missing=None
        if wanted is None
        else items_missing(counted, trials, wanted=wanted, confidence=confidence),
    )
