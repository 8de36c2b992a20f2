"""What to do with a verified draft: ship it, ask again with precise reasons, or refuse.

Pure functions; `pipeline` calls them between its calls of the generator.
"""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.config import Policy
from grounded_rag.protocols import FailedClaim, Reask
from grounded_rag.text.sentences import question_parts
from grounded_rag.text.words import content_words
from grounded_rag.types import (
    STALENESS_KINDS,
    ClaimStatus,
    ClaimVerdict,
    Flag,
    FlagKind,
    Frozen,
    Outcome,
    Reason,
    Refusal,
    RefusalReason,
    StopReason,
    Verification,
    number_references,
)
from grounded_rag.verification.restating import shipped_as
from grounded_rag.verification.subject import Absent


def compose(claims: Sequence[ClaimVerdict]) -> str:
    """Return the text of supported claims, each followed by the marks of its citations.

    Args:
        claims: Claims in reading order.

    Raises:
        ValueError: A claim is not supported or has no located citation; nothing unverified may
            be composed, whoever calls.
    """
    for verdict in claims:
        if not verdict.supported or not verdict.located:
            raise ValueError("only supported claims with a located citation can be composed")
    marks: list[list[str]] = [[] for _ in claims]
    for reference in number_references(claims):
        for index in reference.claims:
            marks[index].append(f"[{reference.number}]")
    composed = ""
    above_is_block = False
    for verdict, numbers in zip(claims, marks, strict=True):
        text = verdict.text.rstrip().lstrip("\r\n")
        # Code keeps its lines, and no mark stands in one of them.
        is_block = "\n" in text or text[:1].isspace()
        gap = "\n\n" if is_block or above_is_block else " "
        composed += f"{gap if composed else ''}{text}"
        composed += f"{gap if is_block else ' '}{''.join(numbers)}"
        above_is_block = is_block
    return composed


class Held(Frozen):
    """A claim that may be shipped, with the flags that belong to it."""

    verdict: ClaimVerdict
    flags: tuple[Flag, ...] = ()


class Progress(Frozen):
    """Where a question stands after some attempts.

    Attributes:
        held: Claims that passed so far, in reading order.
        gap: Index in `held` at which claims of a re-ask belong.
        failed: Claims of the latest attempt that did not pass.
        unanswered: Parts of the question that the drafts leave open.
        reasons: Why claims failed so far, over all attempts, each reason once.
    """

    held: tuple[Held, ...] = ()
    gap: int = 0
    failed: tuple[ClaimVerdict, ...] = ()
    unanswered: tuple[str, ...] = ()
    reasons: tuple[Reason, ...] = ()


class Accept(Frozen):
    """Ship the claims held so far.

    Attributes:
        held: The claims, in reading order; never empty.
        unanswered: Parts of the question that stay open; the answer is partial where there are any.
        dropped: How many claims of the last draft are left out, since they failed.
        cut: Whether the draft ended before it was whole: then something must stay open.
    """

    held: tuple[Held, ...]
    unanswered: tuple[str, ...] = ()
    dropped: int = 0
    cut: bool = False


class AskAgain(Frozen):
    """Call the generator once more."""

    reask: Reask


class Decline(Frozen):
    """Refuse the question."""

    refusal: Refusal


Decision = Accept | AskAgain | Decline


def shipping(verdict: ClaimVerdict, policy: Policy) -> tuple[ClaimVerdict, ...]:
    """Return what ships of a verdict under a policy: itself, the source's words, or nothing.

    A claim that is true and about something else than the question does not ship.

    Args:
        verdict: The verdict on a claim of the generator.
        policy: Rules in force; `unproven` says whether the source's words may stand in.
    """
    if policy.unproven == "restate" and verdict.restatements:
        return shipped_as(verdict)
    beside = verdict.withheld is Reason.BESIDE_QUESTION
    return (verdict,) if verdict.supported and not beside else ()


def said(verdict: ClaimVerdict) -> str:
    """Return what makes two shipped claims the same: their words, whatever they cite."""
    return " ".join(verdict.text.split())


def advance(progress: Progress, verification: Verification, policy: Policy) -> Progress:
    """Merge a verified draft into what is held: good claims stay, the others are to be mended.

    Args:
        progress: State before this attempt.
        verification: Verification of this attempt's draft.
        policy: Rules in force.
    """
    fresh: list[Held] = []
    failed: list[ClaimVerdict] = []
    first_gap: int | None = None
    known = {said(held.verdict) for held in progress.held}
    for index, verdict in enumerate(verification.claims):
        ships = shipping(verdict, policy)
        if not ships:
            failed.append(verdict)
            first_gap = len(fresh) if first_gap is None else first_gap
        for each in ships:
            if said(each) not in known:
                known.add(said(each))
                flags = tuple(flag for flag in verification.flags if flag.claim == index)
                fresh.append(Held(verdict=each, flags=flags))
    gap = progress.gap
    return Progress(
        held=(*progress.held[:gap], *fresh, *progress.held[gap:]),
        gap=gap + (len(fresh) if first_gap is None else first_gap),
        failed=tuple(failed),
        # What an earlier attempt left open, a later one may have answered.
        unanswered=verification.unanswered if verification.claims else progress.unanswered,
        reasons=tuple(
            dict.fromkeys((*progress.reasons, *(r for v in failed if (r := _cause(v)) is not None)))
        ),
    )


def _cause(verdict: ClaimVerdict) -> Reason | None:
    """Return why nothing ships of a claim: why its statement may not, or why it may not itself."""
    return verdict.withheld or verdict.reason


def decide(
    progress: Progress,
    verification: Verification | None,
    *,
    stop: StopReason,
    policy: Policy,
    may_ask_again: bool,
    asked: Sequence[Reask] = (),
) -> Decision:
    """Decide after one attempt.

    Args:
        progress: State that already includes this attempt.
        verification: Verification of this attempt's draft, or None without one.
        stop: How the generation ended; looked at before anything else.
        policy: Rules in force.
        may_ask_again: Whether attempts, tokens and seconds are left.
        asked: The re-asks made so far. None of them is made again, and only one of them is about
            the output as a whole: a model that ignored it once will ignore it twice.
    """

    def again(reask: Reask) -> AskAgain | None:
        return AskAgain(reask=reask) if may_ask_again and reask not in asked else None

    asked_for_claims = any(reask.note for reask in asked)
    if stop is StopReason.REFUSED:
        return _settle(progress, policy, RefusalReason.MODEL_REFUSED)
    if stop is StopReason.TRUNCATED:
        return _settle(progress, policy, RefusalReason.OUTPUT_TRUNCATED)
    if verification is None or verification.outcome is Outcome.INVALID_OUTPUT:
        reask = _reask(progress, note="The last output could not be read.")
        return again(reask) or _settle(progress, policy, RefusalReason.INVALID_OUTPUT)
    if not verification.claims:
        if verification.outcome is Outcome.REJECTED and not asked_for_claims:
            reask = _reask(progress, note="The last output had text but no claims.")
            if decision := again(reask):
                return decision
        if progress.held and verification.outcome is not Outcome.REJECTED:
            # A re-ask may withdraw the claims that failed; all that is left has passed.
            return _accept(progress, policy, withdrawn=bool(progress.reasons))
        declined = RefusalReason.CLAIMS_FAILED if asked else RefusalReason.GENERATOR_DECLINED
        return _settle(progress, policy, declined)
    if any(verdict.reason is Reason.BESIDE_REFUSAL for verdict in verification.claims):
        if not asked_for_claims:
            note = "The last output both refused and made claims; do one of the two."
            reask = _reask(progress.model_copy(update={"failed": ()}), note=note)
            if decision := again(reask):
                return decision
        return _settle(progress, policy, RefusalReason.GENERATOR_DECLINED)
    if not progress.failed:
        # What is said to be open in words of its own is open, wherever it belongs.
        return _accept(progress, policy, cut=bool(verification.problems))
    unproven = all(verdict.status is ClaimStatus.OPEN for verdict in progress.failed)
    if not (unproven and policy.unproven == "refuse") and (
        decision := again(_reask(progress, note=""))
    ):
        return decision
    unchecked = any(verdict.status is ClaimStatus.UNCHECKED for verdict in progress.failed)
    return _settle(
        progress,
        policy,
        RefusalReason.COULD_NOT_CHECK if unchecked else RefusalReason.CLAIMS_FAILED,
    )


def out_of_time(progress: Progress, policy: Policy) -> Accept | Decline:
    """Decide when the seconds of the policy ran out in the middle of an attempt."""
    return _settle(progress, policy, RefusalReason.BUDGET_EXHAUSTED)


def _accept(
    progress: Progress, policy: Policy, *, cut: bool = False, withdrawn: bool = False
) -> Accept | Decline:
    if policy.stale == "refuse" and any(_outdated(held.flags) for held in progress.held):
        return Decline(refusal=refuse(RefusalReason.STALE_EVIDENCE))
    return Accept(
        held=progress.held,
        unanswered=progress.unanswered,
        dropped=len(progress.failed) or int(withdrawn),
        cut=cut,
    )


_OF_CLAIMS = frozenset({RefusalReason.CLAIMS_FAILED, RefusalReason.COULD_NOT_CHECK})
"""Reasons that leave a draft whole, and single claims of it out."""


def _settle(progress: Progress, policy: Policy, reason: RefusalReason) -> Accept | Decline:
    if policy.on_failed_claim == "drop" and progress.held:
        return _accept(progress, policy, cut=reason not in _OF_CLAIMS)
    return Decline(refusal=refuse(reason, failures=progress.reasons))


def _outdated(flags: Sequence[Flag]) -> bool:
    return any(f.kind in STALENESS_KINDS and f.kind is not FlagKind.UNDATED for f in flags)


def _reask(progress: Progress, *, note: str) -> Reask:
    return Reask(
        failed=tuple(_failed_claim(verdict) for verdict in progress.failed),
        kept=tuple(held.verdict.claim for held in progress.held),
        note=note,
    )


def _failed_claim(verdict: ClaimVerdict) -> FailedClaim:
    bad = next((c for c in verdict.citations if c.problem is not None), None)
    first = bad or (verdict.citations[0] if verdict.citations else None)
    nearest = first.nearest if first else None
    if nearest is None and first is not None and first.located is not None:
        stated = " ".join(each.text for each in verdict.statements if each.asserted)
        nearest = stated or first.located.quote
    detail = verdict.why
    if verdict.withheld is not None and verdict.withheld is not verdict.reason:
        detail = f"{detail} {_WITHHELD.get(verdict.withheld, '')}".rstrip()
    return FailedClaim(
        claim=verdict.claim,
        reason=_cause(verdict) or Reason.COULD_NOT_CHECK,
        detail=detail,
        nearest=nearest,
        chunk_id=first.citation.chunk_id if first else None,
        apart=verdict.apart,
    )


_WITHHELD = {
    Reason.CUT_CONTEXT: "The passage begins or ends inside the cited sentence.",
    Reason.NOT_ASSERTED: "The source does not assert what is quoted.",
    Reason.TOO_LONG: "The cited sentences are too long to be an answer; quote a shorter one.",
    Reason.BESIDE_QUESTION: "The cited sentence speaks of something else than the question asks.",
}
"""Why the source's own words cannot stand in for a claim, as the generator is told."""


_DETAILS = {
    RefusalReason.NOTHING_RETRIEVED: (
        "No passage in the index matches the question.",
        "Ask with other words, or ingest a document that covers it.",
    ),
    RefusalReason.GENERATOR_DECLINED: (
        "None of the retrieved passages answers the question.",
        "Ask with other words, or ingest a document that covers it.",
    ),
    RefusalReason.CLAIMS_FAILED: (
        "An answer was drafted, and its citations did not carry it.",
        "Look at the trace for the reasons, or hand the question to a person.",
    ),
    RefusalReason.INVALID_OUTPUT: (
        "The generator's output could not be read.",
        "Try again, or look at the trace.",
    ),
    RefusalReason.MODEL_REFUSED: (
        "The model's provider declined to answer.",
        "Rephrase the question, or hand it to a person.",
    ),
    RefusalReason.OUTPUT_TRUNCATED: (
        "The generator's output was cut off before it was complete.",
        "Raise the generator's `max_output_tokens`, or ask a narrower question.",
    ),
    RefusalReason.BUDGET_EXHAUSTED: (
        "The budget in attempts, tokens or seconds ended before a draft could be verified.",
        "Raise `max_seconds` or `max_total_tokens` of the policy.",
    ),
    RefusalReason.STALE_EVIDENCE: (
        "The only evidence is superseded, expired or not yet in force.",
        "Ask with an `as_of` date, or ingest the current document.",
    ),
    RefusalReason.COULD_NOT_CHECK: (
        "A check of the drafted claims could not be completed.",
        "Look at the trace for the check that failed, and try again.",
    ),
}


def refuse(reason: RefusalReason, *, failures: Sequence[Reason] = ()) -> Refusal:
    """Return the refusal for a reason; failed claims are told by their reasons, never quoted."""
    detail, next_step = _DETAILS[reason]
    if failures:
        detail = f"{detail.removesuffix('.')} ({', '.join(failures)})."
    return Refusal(reason=reason, detail=detail, next_step=next_step)


def left_open(question: str, accepted: Accept) -> tuple[str, ...]:
    """Return the parts of the question that stay open: those named, or that no claim is left for.

    Where claims failed or the draft was cut, a part that shares no word with what ships is open. Of
    a cut draft nobody knows what it lacks: its last part is open if no other one is.
    """
    if accepted.unanswered or not (accepted.dropped or accepted.cut):
        return accepted.unanswered
    parts = [span.of(question) for span in question_parts(question)]
    said = {
        word.stem
        for held in accepted.held
        for text in (held.verdict.text, *(place.quote for place in held.verdict.located))
        for word in content_words(text)
    }
    found = [part for part in parts if said.isdisjoint(word.stem for word in content_words(part))]
    return tuple(found or (parts[-1:] if accepted.cut else ()))


def naming(refusal: Refusal, absent: Absent | None) -> Refusal:
    """Return a refusal that names what the question asks about and no passage holds."""
    if absent is None:
        return refusal
    there_is = f" There is {', '.join(absent.others)}." if absent.others else ""
    detail = f"{refusal.detail} Nothing retrieved is about “{absent.name}”.{there_is}"
    return refusal.model_copy(update={"detail": detail})
