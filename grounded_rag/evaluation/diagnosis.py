"""Why was this answer wrong? One verdict a record, with its evidence and the fix to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from grounded_rag.evaluation.answer_metrics import OUTDATED, outdated_documents
from grounded_rag.evaluation.facts import Facts
from grounded_rag.evaluation.observed import Judged, is_open, is_rejected
from grounded_rag.evaluation.records import Answerable
from grounded_rag.types import ClaimVerdict, Frozen, Reason


class Area(StrEnum):
    """Where a fix belongs."""

    NOWHERE = "nowhere"
    RETRIEVAL = "retrieval"
    PROMPT = "prompt"
    VERIFICATION = "verification"
    DATA = "data pipeline"
    GOLDEN = "golden set"
    OPERATION = "operation"


class Cause(NamedTuple):
    """What a reason means.

    Attributes:
        area: Where the fix belongs.
        what: What happened, as the end of "its draft was withheld: ".
        fix: What to try.
    """

    area: Area
    what: str
    fix: str


def main_reason(claims: Iterable[ClaimVerdict]) -> Reason | None:
    """Return the commonest reason for which nothing of drafted claims was shown, or None.

    Claims whose statement could have been shown count only where there are no others: the answer
    was refused because of those. Why a statement may not stand in counts before why a claim is not
    supported.

    Args:
        claims: The claims of the last draft that were not shown.
    """
    failed = [claim for claim in claims if not claim.supported]
    lost = [claim for claim in failed if not claim.restatements] or failed
    reasons = [reason for claim in lost if (reason := claim.withheld or claim.reason) is not None]
    return Counter(reasons).most_common(1)[0][0] if reasons else None


def cause_of(reason: Reason) -> Cause:
    """Return what a reason means."""
    return _CAUSES.get(reason, _CITED_BADLY)


_CITED_BADLY = Cause(
    Area.PROMPT,
    "a quote does not stand in the passage that it names",
    "Look at the trace: ask for quotes copied from the passages, or change the model.",
)
_SAYS_ANOTHER = Cause(
    Area.PROMPT,
    "a claim says another value than its source",
    "Look at the trace: ask for the words of the passages, or change the model.",
)

_CAUSES = {
    Reason.UNPROVEN: Cause(
        Area.VERIFICATION,
        "nothing showed a claim in words of its own",
        'Set unproven="restate", or name an entailment model or a judge that can confirm it.',
    ),
    Reason.TOO_LONG: Cause(
        Area.VERIFICATION,
        "the sentences that would stand in for a claim are too long",
        "Raise `longest_restatement`, or name an entailment model or a judge.",
    ),
    Reason.COULD_NOT_CHECK: Cause(
        Area.OPERATION,
        "a check could not be completed",
        "Look at the trace for the check that failed, and ask again.",
    ),
    Reason.BESIDE_QUESTION: Cause(
        Area.RETRIEVAL,
        "what it quotes speaks of another name than the question asks about",
        "Look at what was retrieved: the passage about that name has to come first, under its "
        "headings and title.",
    ),
    Reason.CUT_CONTEXT: Cause(
        Area.RETRIEVAL,
        "a passage begins or ends inside the cited sentence",
        "Cut chunks at the ends of sentences, with table headers and lead-ins.",
    ),
    Reason.NOT_ASSERTED: Cause(
        Area.PROMPT,
        "it quotes what its author does not assert: a question, a heading, struck-out text",
        "Ask for sentences that state the fact; clear withdrawn text out of the documents.",
    ),
    Reason.INJECTED_INSTRUCTION: Cause(
        Area.DATA,
        "it quotes text that is addressed to the assistant",
        "Clear such text out of the documents, or keep it out of retrieval with "
        'injected="quarantine".',
    ),
    Reason.NUMBER_MISMATCH: _SAYS_ANOTHER,
    Reason.UNIT_MISMATCH: _SAYS_ANOTHER,
    Reason.IDENTIFIER_MISMATCH: _SAYS_ANOTHER,
    Reason.WRONG_CELL: Cause(
        Area.PROMPT,
        "a claim reads another cell of its table",
        "Look at the trace: ask for the row's label, the column's name and the cell, or change the "
        "model.",
    ),
    Reason.CONTRADICTED: _SAYS_ANOTHER,
    Reason.NOT_ENTAILED: Cause(
        Area.PROMPT,
        "a decider says that a claim does not follow from its source",
        "Look at the trace: the draft says more than its quotes, or the decider is too strict.",
    ),
    Reason.NOT_A_STATEMENT: Cause(
        Area.PROMPT,
        "the draft asks instead of stating",
        "Ask for statements; a question is no claim.",
    ),
    Reason.BESIDE_REFUSAL: Cause(
        Area.PROMPT,
        "the output refuses and makes claims",
        "Ask the model to do one of the two.",
    ),
}


BURIED_RANK = 5
"""From this rank on, a retrieved fact counts as buried behind others."""


class FailureKind(StrEnum):
    """What went wrong with an answer. Each calls for a different fix."""

    NONE = "none"
    ERROR = "error"
    RETRIEVAL_MISS = "retrieval_miss"
    BURIED = "buried"
    UNFAITHFUL = "unfaithful"
    STALE = "stale"
    CONFLICT = "conflict"
    IRRELEVANT = "irrelevant"
    WRONG_REFUSAL = "wrong_refusal"
    MISSED_REFUSAL = "missed_refusal"
    SOURCE_DISAGREES = "source_disagrees"


class Diagnosis(Frozen):
    """The verdict on one record.

    Attributes:
        kind: What went wrong.
        why: The evidence for it, in one sentence.
        area: Where the fix belongs.
        fix: What to try.
        reason: Where it was refused although claims were drafted: why nothing of them was shown.
    """

    kind: FailureKind
    why: str
    area: Area
    fix: str
    reason: Reason | None = None


class _Fix(NamedTuple):
    area: Area
    text: str


_FIXES = {
    FailureKind.NONE: _Fix(Area.NOWHERE, ""),
    FailureKind.ERROR: _Fix(Area.OPERATION, "Read the error, mend it, and continue the run."),
    FailureKind.RETRIEVAL_MISS: _Fix(
        Area.RETRIEVAL,
        "Raise k, look at how the document was chunked, or add the words that users use.",
    ),
    FailureKind.BURIED: _Fix(
        Area.RETRIEVAL,
        "Rerank, filter by metadata, or remove near-duplicates that crowd the fact out.",
    ),
    FailureKind.UNFAITHFUL: _Fix(
        Area.PROMPT,
        "Ask for whole sentences of the passages, keep the support strict, or change the model.",
    ),
    FailureKind.STALE: _Fix(
        Area.DATA,
        "Record `superseded_by`, `valid_until` or `effective_from` in the manifest, or set the "
        'policy stale="exclude".',
    ),
    FailureKind.CONFLICT: _Fix(
        Area.DATA,
        "Let the owners of the two documents settle it, or mark one as superseded; until then "
        "show both.",
    ),
    FailureKind.IRRELEVANT: _Fix(
        Area.PROMPT,
        "Ask the model to answer the question asked or to decline; check relevance apart from "
        "faithfulness.",
    ),
    FailureKind.WRONG_REFUSAL: _Fix(
        Area.PROMPT,
        "Nothing was drafted: the prompt or the generator is too shy.",
    ),
    FailureKind.MISSED_REFUSAL: _Fix(
        Area.PROMPT,
        "Sharpen when to decline, or raise the threshold of the generator.",
    ),
    FailureKind.SOURCE_DISAGREES: _Fix(
        Area.GOLDEN,
        "Ask who owns the document: either the document or the expected answer is wrong.",
    ),
}


def diagnose(judged: Judged) -> Diagnosis:
    """Return what went wrong with one record, if anything.

    The order of the rules is the order of causes: an answer from a source out of force, or from
    text in which the fact was not, is not the fault of its wording.

    Args:
        judged: The record, judged.
    """
    kind, why = _kind(judged)
    area, fix = _FIXES[kind]
    reason = main_reason(judged.withheld) if kind is FailureKind.WRONG_REFUSAL else None
    if reason is not None:
        area, what, fix = cause_of(reason)
        why = f"{why} Its draft was withheld: {what} ({reason})."
    return Diagnosis(kind=kind, why=why, area=area, fix=fix, reason=reason)


_Verdict = tuple[FailureKind, str]


def _kind(judged: Judged) -> _Verdict:
    if judged.state == "failed":
        return FailureKind.ERROR, judged.failure
    if judged.item.answerable is Answerable.NO:
        return _unanswerable(judged)
    if judged.item.answerable is None:
        return _unlabelled(judged)
    if judged.state == "refused" and judged.record.other is not None and not judged.retrieved:
        return (
            FailureKind.WRONG_REFUSAL,
            "It was refused, and what had been retrieved is not on record.",
        )
    facts = Facts(judged)
    if not facts.known:
        return _without_fact(judged)
    return _refused(facts) if judged.state == "refused" else _answered(judged, facts)


def _unanswerable(judged: Judged) -> _Verdict:
    if judged.state == "refused":
        return FailureKind.NONE, "The documents do not answer it, and it was refused."
    bad, unsure = _rejected(judged), list(filter(is_open, judged.claims))
    how = "every claim only quotes"
    if bad:
        how = f"“{_cut(bad[0].text)}” is rejected by a check as well"
    elif unsure:
        how = f"nothing has shown “{_cut(unsure[0].text)}”"
    return FailureKind.MISSED_REFUSAL, f"The documents do not answer it; {how}."


def _unlabelled(judged: Judged) -> _Verdict:
    bad = _rejected(judged)
    if bad:
        return FailureKind.UNFAITHFUL, _why_rejected(bad[0])
    outdated = _untold_outdated(judged)
    if outdated:
        return FailureKind.STALE, f"It rests on {', '.join(sorted(outdated))}, out of force."
    return FailureKind.NONE, f"Nobody has said what the right answer is.{_left_open(judged)}"


def _without_fact(judged: Judged) -> _Verdict:
    """The question has an answer, and nobody has said which."""
    if judged.state == "refused":
        return (
            FailureKind.WRONG_REFUSAL,
            "The documents answer it, and it was refused; nobody has said what the answer is.",
        )
    return _unlabelled(judged)


def _refused(facts: Facts) -> _Verdict:
    rank = facts.rank
    if rank is None:
        return FailureKind.RETRIEVAL_MISS, facts.why_missing()
    if rank >= BURIED_RANK:
        return FailureKind.BURIED, f"The fact stands at rank {rank}, and it was refused."
    return FailureKind.WRONG_REFUSAL, f"The fact stands at rank {rank}, and it was refused."


def _answered(judged: Judged, facts: Facts) -> _Verdict:
    outdated = _untold_outdated(judged)
    if outdated and not facts.cited_in_force(outdated):
        return (
            FailureKind.STALE,
            f"It rests on {', '.join(sorted(outdated))}, out of force at the time asked for.",
        )
    if facts.rank is None:
        return FailureKind.RETRIEVAL_MISS, facts.why_missing()
    if not judged.claims:
        return FailureKind.UNFAITHFUL, "The answer makes no claim that could be checked."
    if facts.cited:
        return _on_gold(judged, facts)
    return _beside_gold(judged, facts)


def _on_gold(judged: Judged, facts: Facts) -> _Verdict:
    """The claims cite the fact, from documents in force."""
    rival = facts.untold_conflict()
    if rival:
        return FailureKind.CONFLICT, rival
    beside = facts.beside()
    if judged.item.answerable is Answerable.PART and beside and not judged.unanswered:
        return (
            FailureKind.MISSED_REFUSAL,
            f"The documents leave a part open, and “{_cut(beside.text)}” answers it.",
        )
    bad = _rejected(judged)
    if bad:
        return FailureKind.UNFAITHFUL, _why_rejected(bad[0])
    return _short_of_expected(judged, facts)


def _beside_gold(judged: Judged, facts: Facts) -> _Verdict:
    """The claims cite documents in force, and no place of the fact."""
    bad = _rejected(judged)
    if bad:
        return FailureKind.UNFAITHFUL, _why_rejected(bad[0])
    rank = facts.rank
    if rank is not None and rank >= BURIED_RANK:
        return (
            FailureKind.BURIED,
            f"The fact stands at rank {rank}; the answer rests on rank {facts.best_cited_rank}.",
        )
    if facts.complete:
        return FailureKind.NONE, "It gives the expected answer from another place."
    rival = facts.untold_conflict()
    if rival:
        return FailureKind.CONFLICT, rival
    return (
        FailureKind.IRRELEVANT,
        f"The fact stands at rank {rank}, and the claims rest on something else.",
    )


def _short_of_expected(judged: Judged, facts: Facts) -> _Verdict:
    """The claims are on the fact and nothing rejects them; what they say may still differ."""
    if facts.complete is not False:
        return FailureKind.NONE, f"It cites the fact.{_left_open(judged)}"
    piece = facts.uncited_piece()
    if piece is not None:
        return _uncited_piece(facts, piece)
    if facts.contradicts_source():
        return (
            FailureKind.SOURCE_DISAGREES,
            f"The cited source does not say what is expected: “{_cut(facts.item.expected)}”.",
        )
    values = facts.values_missing()
    unsure = facts.unconfirmed()
    if values and unsure is not None:
        return (
            FailureKind.UNFAITHFUL,
            f"The source says {', '.join(values)}, and “{_cut(unsure.text)}” does not.",
        )
    if values:
        return (
            FailureKind.IRRELEVANT,
            f"The source says {', '.join(values)}, and the answer does not.",
        )
    return FailureKind.NONE, f"It cites the fact.{_left_open(judged)}"


def _uncited_piece(facts: Facts, piece: int) -> _Verdict:
    rank = facts.piece_rank(piece)
    which = f"Piece {piece + 1} of the needed evidence"
    if rank is None:
        return FailureKind.RETRIEVAL_MISS, f"{which} was not retrieved."
    if rank >= BURIED_RANK:
        return FailureKind.BURIED, f"{which} stands at rank {rank} and is not cited."
    return FailureKind.IRRELEVANT, f"{which} stands at rank {rank} and is not cited."


def _untold_outdated(judged: Judged) -> frozenset[str]:
    told = {flag.doc_id for flag in judged.flags if flag.kind in OUTDATED}
    return outdated_documents(judged) - told


def _rejected(judged: Judged) -> list[ClaimVerdict]:
    return [claim for claim in judged.claims if is_rejected(claim)]


def _left_open(judged: Judged) -> str:
    """Say what nothing has shown, as a sentence to follow another; "" where all is shown."""
    unsure = next(filter(is_open, judged.claims), None)
    return "" if unsure is None else f" Nothing has shown “{_cut(unsure.text)}”."


def _why_rejected(verdict: ClaimVerdict) -> str:
    return f"“{_cut(verdict.text)}”: {verdict.why} ({verdict.reason or verdict.status})"


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else f"{plain[:119]}…"
