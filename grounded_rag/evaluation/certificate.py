"""A certificate: what a run proves about wrong answers let through and right ones refused."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import AwareDatetime, Field

from grounded_rag.answer import Answer
from grounded_rag.errors import InputError
from grounded_rag.evaluation.metrics import MetricResult
from grounded_rag.evaluation.records import (
    CheckIdentity,
    EvalRecord,
    IndexIdentity,
    RunMeta,
)
from grounded_rag.evaluation.report import EvalReport, report_of
from grounded_rag.evaluation.runs import Run
from grounded_rag.statistics import clopper_pearson
from grounded_rag.testing.tamper import FuzzReport
from grounded_rag.types import Frozen


class Subject(Frozen):
    """The system and data that a certificate holds for; it says nothing about any other."""

    fingerprint: str = Field(description='SHA-256 over policy and prompts; "" for another system.')
    generator: str
    verifier: str = Field(default="", description="SHA-256 over the code of the verifier.")
    checks: tuple[CheckIdentity, ...] = ()
    index: IndexIdentity = IndexIdentity()
    golden: str = ""
    golden_hash: str = Field(default="", description="SHA-256 over the items of the golden set.")
    package_version: str = ""

    @property
    def id(self) -> str:
        """First 32 hexadecimal digits of the SHA-256 over all of it."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:32]


class ErrorBound(Frozen):
    """One error rate: counted errors, and the rate that can be ruled out.

    What could not be scored counts as an error. `missing` is the number of further items without
    any error that would reach `wanted`: 0 where it is reached, None where no bound was asked for.
    """

    name: str = Field(description='Such as "false_pass".')
    says: str = Field(description="What counts as an error, in words.")
    errors: Annotated[int, Field(ge=0)]
    unscored: int = Field(default=0, ge=0, description="Counted as errors.")
    trials: int = Field(ge=0, description="Items looked at.")
    upper: float = Field(ge=0, le=1, description="Exact one-sided upper bound (Clopper–Pearson).")
    wanted: Annotated[float, Field(gt=0, lt=1)] | None = None
    missing: Annotated[int, Field(ge=0)] | None = None

    @property
    def reached(self) -> bool:
        """Whether the wanted bound is reached; without one there is nothing to reach."""
        return self.wanted is None or self.upper <= self.wanted


class Fuzzed(Frozen):
    """What tampering with real quotes found, with one-sided upper bounds."""

    corpus: str
    seed: int
    accepted: ErrorBound = Field(description="Tampered quotes that were accepted.")
    refused: ErrorBound = Field(description="Benign quotes refused or located at a wrong place.")
    passed: bool = Field(description="Whether the fuzzer's own demands are met.")


class Certificate(Frozen):
    """What can be said about a system's errors, for exactly one subject."""

    kind: Literal["grounded-rag/certificate"] = "grounded-rag/certificate"
    schema_version: Literal[1] = 1
    id: str = Field(description="The subject's id.")
    created_at: AwareDatetime
    confidence: float = Field(gt=0.5, lt=1, description="One-sided, of every bound.")
    subject: Subject
    bounds: tuple[ErrorBound, ...]
    fuzz: Fuzzed | None = Field(default=None, description="None where the fuzzer was not run.")
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

    @property
    def all_bounds(self) -> tuple[ErrorBound, ...]:
        """The error rates, and those of the fuzzer where it ran."""
        fuzzed = () if self.fuzz is None else (self.fuzz.accepted, self.fuzz.refused)
        return (*self.bounds, *fuzzed)

    def bound(self, name: str) -> ErrorBound:
        """Return one bound by its name; without it, raise `KeyError`."""
        return {each.name: each for each in self.bounds}[name]


def certify_run(
    run: Run,
    *,
    confidence: float = 0.95,
    wanted: float | None = None,
    fuzz: FuzzReport | None = None,
    now: dt.datetime | None = None,
) -> Certificate:
    """Return the certificate that a complete run supports.

    Args:
        run: The run.
        confidence: One-sided confidence of every bound.
        wanted: Bound that false passes and false refusals should stay under, or None.
        fuzz: What the fuzzer found on the same corpus, or None.
        now: Time of making; by default, now.

    Raises:
        InputError: The run is incomplete, or has no labelled question.
    """
    records = complete_records(run)
    foreign = not run.meta.fingerprint or any(record.other is not None for record in records)
    subject = _subject(run.meta, foreign=foreign)
    return Certificate(
        id=subject.id,
        created_at=now or dt.datetime.now(dt.UTC),
        confidence=confidence,
        subject=subject,
        bounds=tuple(_bounds(report_of(run), confidence=confidence, wanted=wanted)),
        fuzz=None if fuzz is None else _fuzzed(fuzz, confidence=confidence),
        run=run.meta.id,
        notes=tuple(_notes(run.meta, foreign=foreign)),
    )


def complete_records(run: Run) -> tuple[EvalRecord, ...]:
    """Return the records of a run that has one for each of its items.

    Raises:
        InputError: Some are missing.
    """
    records = tuple(run.records())
    if not run.meta.items:
        # What reads recorded answers of another system knows their number at the end.
        raise InputError(
            f"The run holds {len(records)} questions and was never finished.",
            hint="Measure the recorded answers again, in a new folder.",
        )
    if len(records) < run.meta.items:
        raise InputError(
            f"The run holds {len(records)} of {run.meta.items} questions.",
            hint="Finish it first: run the same `eval` command again, or record an answer to "
            "every question.",
        )
    return records


def _subject(meta: RunMeta, *, foreign: bool) -> Subject:
    return Subject(
        # The run's own fingerprint tells how another system's answers were judged, not made.
        fingerprint="" if foreign else meta.fingerprint,
        generator=meta.generator,
        verifier=meta.verifier,
        checks=meta.checks,
        # A machine's folders are no part of what is certified, and nobody else's business.
        index=meta.index.model_copy(update={"name": Path(meta.index.name).name}),
        golden=Path(meta.golden).name,
        golden_hash=meta.golden_hash,
        package_version=meta.package_version,
    )


class _Errors(NamedTuple):
    """Errors of one kind, what could not be scored, and all items that it applies to."""

    errors: int
    unscored: int
    trials: int


def _errors(metric: MetricResult, *, are_hits: bool) -> _Errors:
    hits = round(metric.hits)
    errors = hits if are_hits else metric.trials - hits
    return _Errors(errors, metric.failed, metric.trials + metric.failed)


def _bounds(report: EvalReport, *, confidence: float, wanted: float | None) -> Iterator[ErrorBound]:
    answered = _errors(report.metric("right_refusals"), are_hits=False)
    wrong = _errors(report.metric("wrong_answers"), are_hits=True)
    refused = _errors(report.metric("false_refusals"), are_hits=True)
    if not answered.trials and not refused.trials:
        raise InputError(
            "No question of the run says whether it can be answered.",
            hint="Label the golden set: `answerable`, and `gold` where it is.",
        )
    passed = _Errors(*map(sum, zip(answered, wrong, strict=True)))
    for name, says, counted, wish in (
        ("false_pass", "labelled questions that got a wrong answer", passed, wanted),
        ("answered_unanswerable", "unanswerable questions that were answered", answered, None),
        (
            "wrong_citation",
            "answerable questions answered without citing a gold place",
            wrong,
            None,
        ),
        ("false_refuse", "answerable questions that were refused", refused, wanted),
    ):
        yield make_bound(name, says, confidence=confidence, wanted=wish, **counted._asdict())


def _fuzzed(report: FuzzReport, *, confidence: float) -> Fuzzed:
    tampers, benign = report.total("tamper"), report.total("benign")
    return Fuzzed(
        corpus=report.corpus,
        seed=report.seed,
        accepted=make_bound(
            "tampered_accepted",
            "tampered quotes that were accepted",
            errors=tampers.accepted,
            unscored=tampers.crashed,
            trials=tampers.made,
            confidence=confidence,
        ),
        refused=make_bound(
            "benign_refused",
            "benign quotes that were refused or misplaced",
            errors=benign.made - benign.accepted - benign.crashed,
            unscored=benign.crashed,
            trials=benign.made,
            confidence=confidence,
        ),
        passed=not report.failed,
    )


def _notes(meta: RunMeta, *, foreign: bool) -> Iterator[str]:
    if foreign:
        yield "The answers are another system's: its policy is unknown and not certified."
    if meta.replay_of:
        yield f"The answers were generated for the run {meta.replay_of} and judged again."


_MOST_ITEMS = 10_000_000


def upper_bound(errors: int, trials: int, *, confidence: float) -> float:
    """Return the exact one-sided upper bound of an error rate; without trials it is 1."""
    # The upper end of a two-sided interval with twice the tail.
    return clopper_pearson(errors, trials, confidence=2 * confidence - 1).high


def items_missing(errors: int, trials: int, *, wanted: float, confidence: float) -> int:
    """Return how many further items, all without error, would reach a wanted bound."""

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
) -> ErrorBound:
    """Return a bound from counts; what could not be scored counts as an error.

    `errors` are those without, `trials` the items with what could not be scored.
    """
    counted = errors + unscored
    return ErrorBound(
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


def load_certificate(path: Path | str) -> Certificate:
    """Read a certificate.

    Raises:
        InputError: The file is none.
    """
    try:
        return Certificate.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path} is no certificate: {str(error).splitlines()[0]}.",
            hint="Name a file written by `grounded-rag certify --out`.",
        ) from error


def certificate_markdown(certificate: Certificate) -> str:
    """Return a certificate as GitHub-flavoured Markdown."""
    subject = certificate.subject
    confidence = percent(certificate.confidence)
    lines = [
        f"# Certificate {certificate.id}",
        "",
        f"Made {certificate.created_at:%Y-%m-%d} from the run {_cell(certificate.run)}.",
        f"Every bound is one-sided and exact (Clopper–Pearson) at {confidence}.",
        "",
        "| rate | errors | of | upper bound | wanted | items missing |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {bound.says}{_unscored(bound)} | {bound.errors} | {bound.trials} | {bound.upper:.2%} | "
        f"{'–' if bound.wanted is None else f'{bound.wanted:.2%}'} | "
        f"{'–' if bound.missing is None else bound.missing} |"
        for bound in certificate.all_bounds
    ]
    if certificate.fuzz is None:
        lines += ["", "The tamper fuzzer was not run."]
    lines += ["", *(f"> {_cell(note)}" for note in certificate.notes), "", "It holds for:", ""]
    about = {
        "policy and prompts": subject.fingerprint or "unknown",
        "generator": subject.generator,
        "verifier": subject.verifier,
        "checks": ", ".join(check.name for check in subject.checks) or "built in",
        "index": f"{subject.index.name or 'unknown'} ({subject.index.documents} documents, "
        f"{subject.index.content_hash[:16]})",
        "golden set": f"{subject.golden} ({subject.golden_hash[:16]})",
        "package": subject.package_version,
    }
    lines += [f"- {name}: {_cell(value)}" for name, value in about.items()]
    return "\n".join(lines) + "\n"


def percent(share: float) -> str:
    """Return a confidence as a percentage, with all digits that it was given: never 100%."""
    return f"{100 * share:.12g}%"


def _unscored(bound: ErrorBound) -> str:
    return f" ({bound.unscored} could not be scored and count)" if bound.unscored else ""


def _cell(text: str) -> str:
    """Return text that cannot leave its place in a Markdown table or list."""
    flat = " ".join(text.split())
    return "".join(f"\\{mark}" if mark in "\\|`*_[]<>#" else mark for mark in flat)
