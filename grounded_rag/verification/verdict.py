"""From places and signals to the verdict on one claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from grounded_rag.protocols import ClaimCase, SupportCheck
from grounded_rag.types import (
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Reason,
    Signal,
    Tier,
)

_CONFIRMING = frozenset({"entailment", "judge"})
_NEAR = frozenset({"nearness"})


def run_checks(case: ClaimCase, checks: Sequence[SupportCheck]) -> tuple[Signal, ...]:
    """Run every check; one that fails to work gives "could not check", never support."""
    signals = (_run(check, case) for check in checks)
    return tuple(signal for signal in signals if signal is not None)


def _run(check: SupportCheck, case: ClaimCase) -> Signal | None:
    name = getattr(check, "__name__", type(check).__name__)
    try:
        signal = check(case)
    except Exception as error:  # noqa: BLE001 - a check is foreign code: whatever it raises
        return _could_not(name, f"The check failed: {type(error).__name__}.", _role(check))
    if signal is None:
        return None
    if not isinstance(signal, Signal):
        return _could_not(name, "The check returned no signal.", _role(check))
    if signal.score is not None and not math.isfinite(signal.score):
        detail = "The check returned a score that is no number."
        return _could_not(signal.check, detail, _role(check))
    return signal


def _could_not(name: str, detail: str, role: Literal["veto", "decider", "info"]) -> Signal:
    reason = Reason.COULD_NOT_CHECK
    return Signal(check=name, passed=None, reason=reason, detail=detail, role=role)


def _role(check: SupportCheck) -> Literal["veto", "decider", "info"]:
    """A decider that failed may be made up for by another; whatever else failed, by nothing.

    What decides nothing when it works decides nothing when it fails.
    """
    named = getattr(check, "role", None)
    if named == "decider":
        return "decider"
    return "info" if named == "info" else "veto"


def judge_claim(
    claim: Claim,
    citations: tuple[CitationCheck, ...],
    signals: tuple[Signal, ...],
    *,
    repaired: bool,
) -> ClaimVerdict:
    """Return the verdict on one claim.

    Every citation must have a usable place. Then a failed veto or decider rejects; what could not
    be checked is unchecked; the rest is supported, and the tier says how strongly.

    Args:
        claim: The claim.
        citations: What became of its citations.
        signals: What the support checks found; they run only when every citation has its place.
        repaired: Whether the shape of the output was repaired.
    """
    found = ClaimVerdict(
        claim=claim,
        citations=citations,
        signals=signals,
        status=ClaimStatus.UNSUPPORTED,
        repaired=repaired or any(_is_repaired(citation) for citation in citations),
    )
    if not any(character.isalnum() for character in claim.text):
        why = "The claim has no words; say what the quote shows."
        return _settled(found, ClaimStatus.UNSUPPORTED, Reason.EMPTY_CLAIM, why)
    if not citations:
        return _settled(
            found, ClaimStatus.UNCITED, Reason.UNCITED, "The claim cites nothing; quote its source."
        )
    for citation in citations:
        if citation.problem is not None:
            return _settled(found, ClaimStatus.UNSUPPORTED, citation.problem, citation.detail)
    for signal in signals:
        if signal.passed is False and signal.role in ("veto", "decider"):
            reason = signal.reason or Reason.NOT_ENTAILED
            contradicted = reason is Reason.CONTRADICTED
            status = ClaimStatus.CONTRADICTED if contradicted else ClaimStatus.UNSUPPORTED
            return _settled(found, status, reason, signal.detail)
    unsure = _unchecked(signals)
    if unsure is not None:
        detail = unsure.detail or f"The check {unsure.check!r} could not say."
        return _settled(found, ClaimStatus.UNCHECKED, Reason.COULD_NOT_CHECK, detail)
    return found.model_copy(
        update={
            "status": ClaimStatus.SUPPORTED,
            "tier": _tier(signals),
            "why": _why(signals),
        }
    )


def _settled(found: ClaimVerdict, status: ClaimStatus, reason: Reason, why: str) -> ClaimVerdict:
    return found.model_copy(update={"status": status, "reason": reason, "why": why})


def _is_repaired(citation: CitationCheck) -> bool:
    located = citation.located
    return citation.id_repaired or (located is not None and not located.exact)


def _unchecked(signals: tuple[Signal, ...]) -> Signal | None:
    """Return the signal that leaves the claim unchecked, if any.

    A veto that could not run cannot have cleared the claim. A decider that could not is made up
    for by one that passed. Where nothing at all could be said, nothing was checked.
    """
    deciding = [signal for signal in signals if signal.role != "info"]
    for signal in deciding:
        if signal.role == "veto" and signal.passed is None:
            return signal
    if any(signal.passed for signal in deciding if signal.role == "decider"):
        return None
    for signal in deciding:
        if signal.role == "decider" and signal.passed is None:
            return signal
    if deciding and all(signal.passed is None for signal in deciding):
        return deciding[0]
    return None


def _tier(signals: tuple[Signal, ...]) -> Tier:
    passed = [signal for signal in signals if signal.role == "decider" and signal.passed is True]
    confirmed = any(confirms(signal) for signal in passed)
    if any(signal.check in _NEAR for signal in passed) and doubted(signals) is None:
        return Tier.HIGH
    return Tier.CHECKED if confirmed else Tier.LEXICAL


def confirms(signal: Signal) -> bool:
    """Whether a signal is a model's, a judge's or one's own check's word that a claim holds."""
    return (
        signal.role == "decider"
        and signal.passed is True
        and (bool(signal.decided_by) or signal.check in _CONFIRMING)
    )


def doubted(signals: tuple[Signal, ...]) -> Signal | None:
    """Return the filter that sends a claim on to the deciders, near-copies too, if any."""
    return next((s for s in signals if s.role == "filter" and s.passed is False), None)


def is_open(verdict: ClaimVerdict) -> bool:
    """Whether a decider may still say something that counts about a claim.

    Near-copies that nothing doubts, claims that a decider confirmed and claims that a veto
    rejected, or could not clear, are settled.
    """
    if verdict.status is ClaimStatus.SUPPORTED:
        return verdict.tier is Tier.LEXICAL
    return verdict.status is ClaimStatus.UNCHECKED and not any(
        signal.role == "veto" and signal.passed is None for signal in verdict.signals
    )


def _why(signals: tuple[Signal, ...]) -> str:
    passed = [signal for signal in signals if signal.role == "decider" and signal.passed is True]
    doubt = doubted(signals)
    confirmed = next((signal for signal in signals if confirms(signal)), None)
    if doubt is not None and confirmed is None:
        return f"Nothing configured settled a doubt: {doubt.detail or doubt.check}"
    if doubt is None and passed:
        return passed[0].detail
    if confirmed is not None:
        return confirmed.detail
    checks = ", ".join(signal.check for signal in signals if signal.passed is True)
    if not checks:
        return "The quote stands in the source; its support was not checked."
    return f"Nothing speaks against it ({checks}); its meaning was not confirmed."
