"""What a fuzz run found."""

from __future__ import annotations

from pydantic import computed_field

from grounded_rag.statistics import Interval, clopper_pearson
from grounded_rag.testing.tamper.values import Label
from grounded_rag.types import Frozen, Span

MIN_BENIGN = 0.995
"""Smallest share of benign quotes that must be accepted, each with its literal span."""


class Finding(Frozen):
    """One quote that was judged wrongly.

    Attributes:
        kind: Its class.
        found: What the verifier made of it: "accepted", "mended", "refused", "wrong span" or
            "crashed".
        chunk: Text of the cited chunk.
        quote: The quote.
        original: What the document really says.
        expected: The span that a benign quote should have been given.
        located: The span that it was given.
        detail: The verifier's reason, or its error.
    """

    kind: str
    found: str
    chunk: str
    quote: str
    original: str
    expected: Span | None = None
    located: Span | None = None
    detail: str = ""


class KindResult(Frozen):
    """Counts of one class.

    Attributes:
        kind: Its name.
        label: "tamper" or "benign".
        says: What the class does.
        made: Quotes that were checked.
        accepted: Quotes that were located; of benign ones, those with exactly the right span.
        mended: Tampered quotes that were given the label of the one other shown chunk in which they
            stand letter by letter; they count as neither accepted nor refused.
        refused: Quotes that were not located.
        wrong_span: Benign quotes that were located at another span.
        crashed: Quotes at which the verifier raised.
        shown: Quotes whose claim, in the words of the quote, ships in its own words by default as
            well; None where that was not asked.
        findings: The first quotes that were judged wrongly.
    """

    kind: str
    label: Label
    says: str
    made: int
    accepted: int
    refused: int
    mended: int = 0
    wrong_span: int = 0
    crashed: int = 0
    shown: int | None = None
    findings: tuple[Finding, ...] = ()

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def interval(self) -> Interval:
        """Exact 95 % interval of the share that is accepted."""
        return clopper_pearson(self.accepted, self.made)

    @property
    def wrong(self) -> int:
        """Quotes that were judged wrongly."""
        return self.accepted + self.crashed if self.label == "tamper" else self.made - self.accepted


class FuzzReport(Frozen):
    """Counts of a whole run.

    Attributes:
        corpus: What the quotes were drawn from.
        seed: Seed of the randomness.
        passages: Number of passages of the corpus.
        sentences: Number of sentences that quotes were drawn from.
        results: One entry a class.
        seconds: Seconds spent in the verifier.
    """

    corpus: str
    seed: int
    passages: int
    sentences: int
    results: tuple[KindResult, ...]
    seconds: float = 0.0

    def total(self, label: Label) -> KindResult:
        """Return the sum over the classes of one label."""
        rows = [row for row in self.results if row.label == label]
        shown = [row.shown for row in rows if row.shown is not None]
        return KindResult(
            kind=f"all {label}",
            label=label,
            says="",
            made=sum(row.made for row in rows),
            accepted=sum(row.accepted for row in rows),
            refused=sum(row.refused for row in rows),
            mended=sum(row.mended for row in rows),
            wrong_span=sum(row.wrong_span for row in rows),
            crashed=sum(row.crashed for row in rows),
            shown=sum(shown) if shown else None,
        )

    @property
    def quotes(self) -> int:
        """Number of quotes that were checked."""
        return sum(row.made for row in self.results)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The first wrongly judged quotes of every class."""
        return tuple(finding for row in self.results for finding in row.findings)

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def failed(self) -> bool:
        """Whether a tamper was accepted, the verifier raised, or too many benign were refused.

        A run without quotes of both labels has shown nothing, and fails too.
        """
        tampers, benign = self.total("tamper"), self.total("benign")
        if not tampers.made or not benign.made:
            return True
        crashed = tampers.crashed + benign.crashed
        return bool(tampers.accepted or crashed) or benign.accepted < MIN_BENIGN * benign.made
