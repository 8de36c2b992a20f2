"""How likely open claims are: nothing has shown them, and nothing speaks against them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from grounded_rag.deciders import Share
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.evaluation.judging import is_open
from grounded_rag.types import ClaimVerdict, Frozen
from grounded_rag.verification.support import support_score


class OpenClaims(Frozen):
    """The open claims of a run.

    Attributes:
        claims: How many there are.
        mean: Mean of their figures; None without any.
        calibrated: Whether the figures are P(true) by a calibrated model. Otherwise they are raw
            support scores, which order claims and are no probabilities.
        by_item: The figures by item, in the order of its open claims; None is unknown.
    """

    claims: int
    mean: Share | None = None
    calibrated: bool = False
    by_item: dict[str, tuple[Share | None, ...]] = Field(default_factory=dict)


def support_of(claims: Sequence[ClaimVerdict]) -> tuple[float | None, ...]:
    """Return the support score of each open claim, and None for every other claim.

    A claim without any place in what was retrieved shares no word with it: its score is 0.

    Args:
        claims: Verdicts on the claims of an answer.
    """
    return tuple(_support(claim) if is_open(claim) else None for claim in claims)


def _support(claim: ClaimVerdict) -> float:
    evidence = [each.text for each in claim.statements] or [each.quote for each in claim.located]
    if not evidence or not claim.text:
        return 0.0
    given = ClaimInput(claim=claim.text, evidence=tuple(dict.fromkeys(evidence)))
    return support_score(case_of(given))


def open_claims(
    support: dict[str, tuple[float | None, ...]],
    likely: dict[str, tuple[float | None, ...]] | None = None,
) -> OpenClaims:
    """Return the open claims of a run with their figures.

    Args:
        support: Support scores of its claims by item; None for a claim that is not open.
        likely: P(true) of its claims by item, where a calibrated model gives it.
    """
    found: dict[str, tuple[float | None, ...]] = {}
    for item, scores in support.items():
        places = [place for place, score in enumerate(scores) if score is not None]
        if not places:
            continue
        figures = scores if likely is None else likely.get(item, ())
        found[item] = tuple(figures[at] if at < len(figures) else None for at in places)
    known = [figure for figures in found.values() for figure in figures if figure is not None]
    return OpenClaims(
        claims=sum(map(len, found.values())),
        mean=sum(known) / len(known) if known else None,
        calibrated=likely is not None,
        by_item=found,
    )
