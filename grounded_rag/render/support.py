"""On what each sentence of an answer rests, in plain words for a reader."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.types import ClaimVerdict, Reason, Tier, number_references

IN_SOURCE_WORDS = "in the source’s words"
"""What a restated claim is marked with, on every surface."""

_WITHHELD = {
    Reason.CUT_CONTEXT: "the passage begins or ends inside the statement",
    Reason.NOT_ASSERTED: "the source does not assert it",
    Reason.TOO_LONG: "its statement is too long to be an answer",
    Reason.BESIDE_QUESTION: "its statement is about something else than the question",
    Reason.INJECTED_INSTRUCTION: "its source speaks to the assistant",
    Reason.NOT_A_STATEMENT: "it states nothing",
    Reason.EMPTY_CLAIM: "it has no words",
    Reason.BESIDE_REFUSAL: "the output refuses",
}
_DECIDERS = {"entailment": "the entailment model", "judge": "the judge"}


def support_in_words(verdict: ClaimVerdict) -> str:
    """Return on what a shipped claim rests.

    Args:
        verdict: The verdict on a claim that is supported.
    """
    if verdict.restated:
        return IN_SOURCE_WORDS
    if verdict.tier is Tier.VERBATIM:
        return "word for word from the source"
    if verdict.tier is Tier.CONFIRMED:
        return f"confirmed by {_decider(verdict)}"
    return "quoted from a real place, not checked further"


def withheld_in_words(verdict: ClaimVerdict) -> str:
    """Return why the source's own words may not ship in the place of a claim; "" where they may.

    Args:
        verdict: The verdict on a claim that is not supported.
    """
    if verdict.restatements:
        return ""
    reason = verdict.withheld or verdict.reason
    return _WITHHELD.get(reason, "it quotes no statement of the source") if reason else ""


def support_of_all(claims: Sequence[ClaimVerdict]) -> str:
    """Return on what all claims of an answer rest, as one line; "" without any.

    Claims are named by their marks, which a reader sees: a claim may be several sentences.

    Args:
        claims: The shipped claims, in reading order.
    """
    marks: dict[str, list[str]] = {support_in_words(verdict): [] for verdict in claims}
    for reference in number_references(claims):
        for words in dict.fromkeys(support_in_words(claims[index]) for index in reference.claims):
            marks[words].append(f"[{reference.number}]")
    if len(marks) == 1:
        return next(iter(marks))
    return "; ".join(f"{''.join(numbers)} {words}" for words, numbers in marks.items())


def _decider(verdict: ClaimVerdict) -> str:
    for signal in verdict.signals:
        if signal.role != "decider" or signal.passed is not True:
            continue
        # A rule of the built-in checks has no name there: it never confirms a claim.
        if signal.decided_by or signal.check in _DECIDERS:
            if signal.check in _DECIDERS:
                return f"{_DECIDERS[signal.check]} {signal.decided_by}".rstrip()
            return f"the check {signal.decided_by}"
    return "a check"
