"""From places, statements and signals to the verdict on one claim."""

from __future__ import annotations

from grounded_rag.types import (
    CitationCheck,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Reason,
    Signal,
    Statement,
    Tier,
)
from grounded_rag.verification.cleaning import is_question, spoofs
from grounded_rag.verification.verbatim import Verbatim

_CONFIRMING = frozenset({"entailment", "judge"})
# Words that stand apart, as the reader of a trace is shown them.
_SHOWN = 6


def judge_claim(
    claim: Claim,
    citations: tuple[CitationCheck, ...],
    signals: tuple[Signal, ...],
    *,
    statements: tuple[Statement, ...] = (),
    verbatim: Verbatim | None = None,
    apart: tuple[str, ...] = (),
    spans_only: bool = False,
    repaired: bool,
) -> ClaimVerdict:
    """Return the verdict on one claim.

    Every citation must have a usable place. A failed veto or decider rejects; a claim that is
    verbatim, or that a decider confirmed, is supported; what could not be checked is unchecked;
    everything else is open. The order is that: no decider overrules a veto, and a doubt about a
    verbatim claim goes to the deciders.

    Args:
        claim: The claim.
        citations: What became of its citations.
        signals: What the support checks found; they run only when every citation has its place.
        statements: The statements that the quotes stand in.
        verbatim: How the claim compares with them; None where it has no place.
        apart: Words in which it differs from the nearest of them.
        spans_only: Whether the existence of the quotes is all that it needs.
        repaired: Whether the shape of the output was repaired.
    """
    found = ClaimVerdict.trusted(
        claim=claim,
        citations=citations,
        statements=statements,
        signals=signals,
        status=ClaimStatus.UNSUPPORTED,
        repaired=repaired or any(map(_is_repaired, citations)),
    )
    if not any(map(str.isalnum, claim.text)):
        why = "The claim has no words; say what the quote shows."
        return _settled(found, ClaimStatus.UNSUPPORTED, Reason.EMPTY_CLAIM, why)
    if is_question(claim.text):
        why = "The claim is a question, which states nothing; say what the quote shows."
        return _settled(found, ClaimStatus.UNSUPPORTED, Reason.NOT_A_STATEMENT, why)
    if spoofs(claim.text):
        why = "The claim holds characters that turn round or hide what it says; write plain text."
        return _settled(found, ClaimStatus.UNSUPPORTED, Reason.SPOOFED_TEXT, why)
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
    blocked = next((s for s in signals if s.role == "veto" and s.passed is None), None)
    if blocked is not None:
        return _unchecked(found, blocked)
    doubt = doubted(signals)
    if verbatim is not None and verbatim.same and doubt is None:
        return _supported(found, Tier.VERBATIM, _same_words(verbatim))
    confirmed = next((signal for signal in signals if confirms(signal)), None)
    if confirmed is not None:
        return _supported(found, Tier.CONFIRMED, confirmed.detail)
    if spans_only:
        why = "The quote stands in the source; whether it says what the claim says was not checked."
        return _supported(found, Tier.NONE, why)
    unsure = next((s for s in signals if s.role == "decider" and s.passed is None), None)
    if unsure is not None:
        return _unchecked(found, unsure)
    why = f"Nothing configured settled a doubt: {doubt.detail or doubt.check}" if doubt else (
        _unproven(apart)
    )  # fmt: skip
    opened = _settled(found, ClaimStatus.OPEN, Reason.UNPROVEN, why)
    return opened.trusted_copy(apart=apart)


def _supported(found: ClaimVerdict, tier: Tier, why: str) -> ClaimVerdict:
    return found.trusted_copy(status=ClaimStatus.SUPPORTED, tier=tier, why=why)


def _settled(found: ClaimVerdict, status: ClaimStatus, reason: Reason, why: str) -> ClaimVerdict:
    return found.trusted_copy(status=status, reason=reason, why=why)


def _unchecked(found: ClaimVerdict, signal: Signal) -> ClaimVerdict:
    detail = signal.detail or f"The check {signal.check!r} could not say."
    return _settled(found, ClaimStatus.UNCHECKED, Reason.COULD_NOT_CHECK, detail)


def _is_repaired(citation: CitationCheck) -> bool:
    located = citation.located
    return citation.id_repaired or (located is not None and not located.exact)


def confirms(signal: Signal) -> bool:
    """Whether a signal is a model's, a judge's or one's own check's word that a claim holds."""
    return (
        signal.role == "decider"
        and signal.passed is True
        and (bool(signal.decided_by) or signal.check in _CONFIRMING)
    )


def confirmed_by(verdict: ClaimVerdict) -> str:
    """Return the name of the decider that confirmed a claim, or "" where none did."""
    if verdict.tier is not Tier.CONFIRMED:
        return ""
    names = (signal.decided_by or signal.check for signal in verdict.signals if confirms(signal))
    return next(names, "")


def doubted(signals: tuple[Signal, ...]) -> Signal | None:
    """Return the filter that sends a claim on to the deciders, verbatim ones too, if any."""
    return next((s for s in signals if s.role == "filter" and s.passed is False), None)


def is_open(verdict: ClaimVerdict) -> bool:
    """Whether a decider may still say something that counts about a claim.

    Verbatim claims that nothing doubts, claims that a decider confirmed and claims that a check
    rejected, or could not clear, are settled.
    """
    if verdict.status is ClaimStatus.OPEN:
        return True
    return verdict.status is ClaimStatus.UNCHECKED and not any(
        signal.role == "veto" and signal.passed is None for signal in verdict.signals
    )


def _same_words(verbatim: Verbatim) -> str:
    edits = f", but for {', '.join(verbatim.licences)}" if verbatim.licences else ""
    return f"The claim is a statement of its source, word for word{edits}."


def _unproven(apart: tuple[str, ...]) -> str:
    shown = ", ".join(f"“{word}”" for word in apart[:_SHOWN])
    stands = f" ({shown} {'stand' if len(apart) > 1 else 'stands'} apart)" if shown else ""
    return f"The claim is not a whole statement of its source{stands}, and nothing confirmed it."
