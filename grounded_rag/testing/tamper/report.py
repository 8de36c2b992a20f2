"""What a fuzz run found: what became of each case, counts by class, and whether it failed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

from pydantic import Field, computed_field

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
    """What became of one case."""

    kind: str = Field(description="Its class.")
    label: Label = Field(description="What the verifier had to do.")
    found: Found = Field(description="What it did.")
    quote: str = Field(description="The quote, or the quotes of a claim as one text.")
    claim: str = Field(default="", description='The claim; "" for one in the words of the quote.')
    chunk: str = Field(default="", description="Text of the cited chunk.")
    original: str = Field(default="", description="What the document really says.")
    language: str = Field(default="en", description="Language of the source.")
    expected: Span | None = Field(default=None, description="Span that a benign quote should have.")
    located: Span | None = Field(default=None, description="Span that it was given.")
    detail: str = Field(default="", description="The verifier's reason, or its error.")
    shown: bool | None = Field(
        default=None,
        description="Whether the claim of a quote ships in its own words; None where not asked.",
    )

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


class KindResult(Frozen):
    """Counts of one class."""

    kind: str = Field(description="Its name.")
    label: Label = Field(description="What the verifier had to do.")
    says: str = Field(description="What the class does.")
    made: int = Field(description="Cases that were checked.")
    accepted: int = Field(
        default=0, description="Located quotes; of benign ones, those with exactly the right span."
    )
    mended: int = Field(
        default=0,
        description="Tampered quotes given the right label; neither accepted nor refused.",
    )
    refused: int = Field(default=0, description="Quotes not located, and claims that do not ship.")
    wrong_span: int = Field(default=0, description="Benign quotes located at another span.")
    crashed: int = Field(default=0, description="Cases at which the verifier raised.")
    verbatim: int = Field(default=0, description="Claims that ship: the source says the same.")
    confirmed: int = Field(default=0, description="Claims that ship: a decider said yes.")
    restated: int = Field(default=0, description="Claims replaced by the source's own words.")
    shown: int | None = Field(
        default=None,
        description="Quotes whose claim ships in its own words as well; None where not asked.",
    )
    findings: tuple[Finding, ...] = Field(
        default=(), description="The first cases that were judged wrongly."
    )

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
    """Counts of a whole run."""

    corpus: str = Field(description="What the cases were drawn from.")
    seed: int = Field(description="Seed of the randomness.")
    passages: int = Field(description="Number of passages of the corpus.")
    sentences: int = Field(description="Number of sentences that cases were drawn from.")
    results: tuple[KindResult, ...] = Field(description="One entry per class.")
    seconds: float = Field(default=0.0, description="Seconds spent in the verifier.")

    def total(self, label: Label) -> KindResult:
        """Return the sum over the classes of one label."""
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
