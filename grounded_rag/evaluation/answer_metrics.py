"""Metrics of answers: each takes one judged record and says hits and trials.

Every function is defined in words in `docs/metrics.md`, under its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.evaluation.completeness import completeness
from grounded_rag.evaluation.gold import of_citation, on_gold, pieces_covered
from grounded_rag.evaluation.judging import Judged
from grounded_rag.evaluation.observations import (
    NOT_APPLICABLE,
    Observation,
    failed,
    share,
    yes_or_no,
)
from grounded_rag.evaluation.records import Answerable
from grounded_rag.types import ClaimStatus, ClaimVerdict, FlagKind, Located
from grounded_rag.validity import staleness

OUTDATED = frozenset({FlagKind.SUPERSEDED, FlagKind.EXPIRED, FlagKind.NOT_YET_EFFECTIVE})
"""What "outdated" means: out of force at the moment asked for. Old or undated is not outdated."""


def faithful_answers(judged: Judged) -> Observation:
    """Whether all claims of a given answer are supported; an answer without claims is not."""
    if judged.answerable is False or judged.state == "refused":
        return NOT_APPLICABLE
    return _all_supported(judged)


def faithful_claims(judged: Judged) -> Observation:
    """Claims of given answers that are supported."""
    if judged.answerable is False or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return _claims(judged.claims, supported=True)


def hallucinated_claims(judged: Judged) -> Observation:
    """Claims of given answers, to any question, that no retrieved text carries."""
    if judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return _claims(judged.claims, supported=False)


def drafted_hallucinations(judged: Judged) -> Observation:
    """Claims of first drafts that did not pass: what would have been shown without the check."""
    if judged.drafted is None:
        return NOT_APPLICABLE
    return _claims(judged.drafted, supported=False)


def correct_answers(judged: Judged) -> Observation:
    """Answerable questions answered with a citation on a gold place; a refusal is a miss."""
    if not judged.answerable or not judged.item.gold:
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return yes_or_no(judged.answered and _cites_gold(judged))


def wrong_answers(judged: Judged) -> Observation:
    """Answerable questions answered without any citation on a gold place."""
    if not judged.answerable or not judged.item.gold:
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return yes_or_no(judged.answered and not _cites_gold(judged))


def citation_precision(judged: Judged) -> Observation:
    """Citations of given answers that lie on a gold place."""
    if not judged.answerable or not judged.item.gold or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    if not judged.own_citations:
        return NOT_APPLICABLE
    citations = [check for claim in judged.claims for check in claim.citations]
    hits = sum(
        check.located is not None and on_gold(of_citation(check.located), judged.record)
        for check in citations
    )
    return share(hits, len(citations))


def citation_recall(judged: Judged) -> Observation:
    """Needed pieces of evidence that given answers cite."""
    if not judged.answerable or not judged.item.gold or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    if not judged.own_citations:
        return NOT_APPLICABLE
    covered = pieces_covered([of_citation(place) for place in _places(judged)], judged.record)
    return share(sum(covered), len(covered))


def quote_exactness(judged: Judged) -> Observation:
    """Quotes of given answers, as the system gave them, that stand in their source literally."""
    if judged.state == "refused" or not judged.own_citations:
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    citations = [check for claim in judged.claims for check in claim.citations]
    exact = sum(
        check.located is not None and check.problem is None and check.located.exact
        for check in citations
    )
    return share(exact, len(citations))


def complete_answers(judged: Judged) -> Observation:
    """Given answers that hold every value and name of the expected answer."""
    if not judged.answerable or not judged.item.expected.strip() or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    # A conflict is told beside the text: what the other source says is shown as well.
    told = " ".join(flag.detail for flag in judged.flags if flag.kind is FlagKind.CONFLICT)
    found = completeness(
        judged.item.expected, f"{judged.text} {told}", question=judged.item.question
    )
    return yes_or_no(not found.missing) if found.wanted else NOT_APPLICABLE


def false_refusals(judged: Judged) -> Observation:
    """Answerable questions that were refused."""
    if not judged.answerable:
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return yes_or_no(judged.state == "refused")


def open_parts_named(judged: Judged) -> Observation:
    """Given answers to half-answerable questions that name the part left open."""
    if judged.item.answerable is not Answerable.PART or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    wanted = judged.item.unanswered
    return yes_or_no(any(part in wanted or wanted in part for part in judged.unanswered if part))


def right_refusals(judged: Judged) -> Observation:
    """Unanswerable questions that were refused."""
    if judged.answerable is not False:
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return yes_or_no(judged.state == "refused")


def quoted_misses(judged: Judged) -> Observation:
    """Missed refusals whose claims are all supported: beside the question, and not invented."""
    if judged.answerable is not False or judged.state == "refused":
        return NOT_APPLICABLE
    return _all_supported(judged)


def outdated_answers(judged: Judged) -> Observation:
    """Given answers that rest on evidence out of force at the moment asked for."""
    if judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    if not judged.claims:
        return NOT_APPLICABLE
    return yes_or_no(bool(outdated_documents(judged)))


def unflagged_outdated_answers(judged: Judged) -> Observation:
    """Answers resting on outdated evidence that do not say so for every such document."""
    if judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    outdated = outdated_documents(judged)
    if not outdated:
        return NOT_APPLICABLE
    flagged = {flag.doc_id for flag in judged.flags if flag.kind in OUTDATED}
    return yes_or_no(bool(outdated - flagged))


def outdated_documents(judged: Judged) -> frozenset[str]:
    """Return the cited documents that do not hold at the moment asked for, by their metadata."""
    answer = judged.record.answer
    as_of = answer.as_of if answer is not None else judged.item.as_of
    if as_of is None:
        return frozenset()
    cited = {
        check.located.doc_id
        for claim in judged.claims
        for check in claim.citations
        if check.located is not None
    }
    return frozenset(
        chunk.chunk.doc_id
        for chunk in judged.retrieved
        if chunk.chunk.doc_id in cited
        and any(f.kind in OUTDATED for f in staleness(chunk.validity, as_of=as_of))
    )


def relevant_answers(judged: Judged, *, threshold: float | None) -> Observation:
    """Given answers to the point of the question, faithful or not.

    Args:
        judged: The record.
        threshold: Least score of the first pass; None where none was run.
    """
    if judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    if not judged.text.strip():
        return yes_or_no(False)
    if "relevance" in judged.record.judged:
        finding = judged.record.judged["relevance"]
        return failed("The judge could not say.") if finding is None else yes_or_no(finding)
    score = judged.record.scores.get("relevance")
    if score is None or threshold is None:
        return NOT_APPLICABLE
    return yes_or_no(score >= threshold)


def _all_supported(judged: Judged) -> Observation:
    if judged.state == "failed":
        return failed(judged.failure)
    if any(_rejected(claim) for claim in judged.claims) or not judged.claims:
        return yes_or_no(False)
    unchecked = _unchecked(judged.claims)
    return failed(unchecked[0].why) if unchecked else yes_or_no(True)


def _cites_gold(judged: Judged) -> bool:
    return any(on_gold(of_citation(place), judged.record) for place in _places(judged))


def _places(judged: Judged) -> list[Located]:
    return [
        check.located
        for claim in judged.claims
        if not _rejected(claim)
        for check in claim.citations
        if check.located is not None and check.problem is None
    ]


def _rejected(claim: ClaimVerdict) -> bool:
    return not claim.supported and claim.status is not ClaimStatus.UNCHECKED


def _unchecked(claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    return [claim for claim in claims if claim.status is ClaimStatus.UNCHECKED]


def _claims(claims: Sequence[ClaimVerdict], *, supported: bool) -> Observation:
    unchecked = _unchecked(claims)
    hits = sum(c.supported if supported else _rejected(c) for c in claims)
    return Observation(
        hits=hits,
        trials=len(claims) - len(unchecked),
        failed=len(unchecked),
        why=unchecked[0].why if unchecked else "",
    )
