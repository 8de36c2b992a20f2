"""What a fuzz run found: what became of each case, counts by class, and whether it failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from pydantic import computed_field

from grounded_rag.statistics import Interval, clopper_pearson
from grounded_rag.testing.tamper.cases import QUOTE_LABELS, TRUE_LABELS, Label
from grounded_rag.types import Frozen, Span

MIN_BENIGN = 0.995
"""Smallest share of benign quotes that must be accepted, each with its literal span."""

MIN_HONEST = 0.97
"""Smallest share of honest claims that must ship in their own words."""

Found: TypeAlias = Literal[
    "accepted", "mended", "refused", "wrong span", "crashed", "verbatim", "confirmed", "restated"
]
"""What a verifier makes of a case.

A quote is accepted, refused, located at another span than a benign quote should be, or mended: its
wrong label became that of the other shown chunk in which it stands letter by letter. A claim ships
in its own words by one of two tiers, verbatim or confirmed, as its source's words in its place
(restated), or not at all (refused). At any of them the verifier may have crashed.
"""

_EXAMPLES = 5


class Finding(Frozen):
    """What became of one case.

    Attributes:
        kind: Its class.
        label: What the verifier had to do.
        found: What it did.
        quote: The quote, or the quotes of a claim as one text.
        claim: The claim; "" for one in the words of the quote.
        chunk: Text of the cited chunk.
        original: What the document really says.
        language: Language of the source.
        expected: The span that a benign quote should have been given.
        located: The span that it was given.
        detail: The verifier's reason, or its error.
        shown: Whether the claim of a quote ships in its own words by default; None where that was
            not asked.
    """

    kind: str
    label: Label
    found: Found
    quote: str
    claim: str = ""
    chunk: str = ""
    original: str = ""
    language: str = "en"
    expected: Span | None = None
    located: Span | None = None
    detail: str = ""
    shown: bool | None = None

    @property
    def true(self) -> bool:
        """Whether the verifier should let the case through."""
        return self.label in TRUE_LABELS

    @property
    def passed(self) -> bool:
        """Whether it did: accepted a quote, or shipped a claim in its own words."""
        return self.found in ("accepted", "verbatim", "confirmed")

    @property
    def wrong(self) -> bool:
        """Whether that was wrong."""
        return self.passed is not self.true or self.found == "crashed"

    # The names under which the command line shows what became of a claim.

    @property
    def fate(self) -> Found:
        """What the verifier did."""
        return self.found

    @property
    def why(self) -> str:
        """The verifier's reason, or its error."""
        return self.detail


class KindResult(Frozen):
    """Counts of one class.

    Attributes:
        kind: Its name.
        label: What the verifier had to do.
        says: What the class does.
        made: Cases that were checked.
        accepted: Quotes that were located; of benign ones, those with exactly the right span.
        mended: Tampered quotes that were given the right label; neither accepted nor refused.
        refused: Quotes that were not located, and claims that do not ship.
        wrong_span: Benign quotes that were located at another span.
        crashed: Cases at which the verifier raised.
        verbatim: Claims that ship as they are, because the source says the same.
        confirmed: Claims that ship as they are, because a decider said yes.
        restated: Claims in whose place the source's own words ship.
        shown: Quotes whose claim, in the words of the quote, ships in its own words by default as
            well; None where that was not asked.
        findings: The first cases that were judged wrongly.
    """

    kind: str
    label: Label
    says: str
    made: int
    accepted: int = 0
    mended: int = 0
    refused: int = 0
    wrong_span: int = 0
    crashed: int = 0
    verbatim: int = 0
    confirmed: int = 0
    restated: int = 0
    shown: int | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> int:
        """Quotes that were accepted, or claims that ship in their own words."""
        return self.accepted + self.verbatim + self.confirmed

    @property
    def true(self) -> bool:
        """Whether the verifier should let the cases through."""
        return self.label in TRUE_LABELS

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def interval(self) -> Interval:
        """Exact 95 % interval of the share that passes."""
        return clopper_pearson(self.passed, self.made)

    # The names under which the command line shows claims.

    @property
    def near(self) -> bool:
        """Whether the claims keep to the words of their sources, if they are true."""
        return self.label != "reworded"

    @property
    def own_words(self) -> int:
        """Claims that ship in their own words."""
        return self.passed

    @property
    def wrong(self) -> tuple[Finding, ...]:
        """The first cases that were judged wrongly."""
        return self.findings


_COUNTS = tuple(name.replace(" ", "_") for name in get_args(Found))


def result_of(kind: str, label: Label, judged: Sequence[Finding], *, says: str = "") -> KindResult:
    """Return the counts of one class, with its first wrong findings."""
    found = [item.found.replace(" ", "_") for item in judged]
    shown = [item.shown for item in judged if item.shown is not None]
    counts = {name: found.count(name) for name in _COUNTS}
    return KindResult(
        kind=kind,
        label=label,
        says=says,
        made=len(judged),
        shown=sum(shown) if shown else None,
        findings=tuple(item for item in judged if item.wrong)[:_EXAMPLES],
        **counts,
    )


class FuzzReport(Frozen):
    """Counts of a whole run.

    Attributes:
        corpus: What the cases were drawn from.
        seed: Seed of the randomness.
        passages: Number of passages of the corpus.
        sentences: Number of sentences that cases were drawn from.
        results: One entry per class.
        seconds: Seconds spent in the verifier.
    """

    corpus: str
    seed: int
    passages: int
    sentences: int
    results: tuple[KindResult, ...]
    seconds: float = 0.0

    def total(self, label: Label | None = None, *, true: bool = False) -> KindResult:
        """Return the sum over the classes of one label; without one, of false or honest claims."""
        label = label or ("honest" if true else "false")
        rows = [row for row in self.results if row.label == label]
        shown = [row.shown for row in rows if row.shown is not None]
        sums = {name: sum(getattr(row, name) for row in rows) for name in ("made", *_COUNTS)}
        return KindResult(
            kind=f"all {label}",
            label=label,
            says="",
            shown=sum(shown) if shown else None,
            findings=tuple(item for row in rows for item in row.findings),
            **sums,
        )

    @property
    def quotes(self) -> int:
        """Number of cases that were checked."""
        return sum(row.made for row in self.results)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The first wrongly judged cases of every class."""
        return tuple(finding for row in self.results for finding in row.findings)

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def failed(self) -> bool:
        """Whether what is false passed, the verifier raised, or too much of what is true did not.

        A run without cases has shown nothing and fails too, and so does one of quotes that lacks
        one of the two labels. Reworded claims are counted, but need not pass.
        """
        made = {row.label for row in self.results if row.made}
        if not made or (made & QUOTE_LABELS and not made >= QUOTE_LABELS):
            return True
        wrong = self.total("tamper").passed + self.total("false").passed
        crashed = sum(row.crashed for row in self.results)
        benign, honest = self.total("benign"), self.total("honest")
        return (
            bool(wrong or crashed)
            or benign.passed < MIN_BENIGN * benign.made
            or honest.passed < MIN_HONEST * honest.made
        )
