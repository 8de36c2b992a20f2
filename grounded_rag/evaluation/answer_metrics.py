"""Metrics of answers: each takes one judged record and says hits and trials.

Every function is defined in words in `docs/metrics.md`, under its name.
"""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.evaluation.gold import completeness, of_citation, on_gold, pieces_covered
from grounded_rag.evaluation.observed import (
    NOT_APPLICABLE,
    Basis,
    Judged,
    Observation,
    basis,
    failed,
    is_open,
    is_rejected,
    share,
    yes_or_no,
)
from grounded_rag.evaluation.records import Answerable
from grounded_rag.types import ClaimStatus, ClaimVerdict, FlagKind, Located
from grounded_rag.validity import staleness

OUTDATED = frozenset({FlagKind.SUPERSEDED, FlagKind.EXPIRED, FlagKind.NOT_YET_EFFECTIVE})
"""What "outdated" means: out of force at the moment asked for. Old or undated is not outdated."""


def faithful_answers(judged: Judged) -> Observation:
    """Whether all claims of a given answer are supported; an answer without claims is not.

    An answer with an open claim, and none that is rejected, is neither faithful nor unfaithful.
    """
    if judged.answerable is False or judged.state == "refused":
        return NOT_APPLICABLE
    return _all_supported(judged)


def faithful_claims(judged: Judged) -> Observation:
    """Claims of given answers that are supported, of those that are supported or rejected."""
    if judged.answerable is False or judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return _claims(judged.claims, supported=True)


def hallucinated_claims(judged: Judged) -> Observation:
    """Claims of given answers, to any question, that a hard check rejects; never open ones."""
    if judged.state == "refused":
        return NOT_APPLICABLE
    if judged.state == "failed":
        return failed(judged.failure)
    return _claims(judged.claims, supported=False)


def drafted_hallucinations(judged: Judged) -> Observation:
    """Claims of first drafts that a hard check rejects: what a reader would have been told."""
    if judged.drafted is None:
        return NOT_APPLICABLE
    return _claims(judged.drafted, supported=False)


def claims_resting_on(judged: Judged, *, on: Basis) -> Observation:
    """Claims, shown or withheld, that rest on one thing: the shares of all add up to one.

    Args:
        judged: The record.
        on: On what they rest; `refused` stands for those of which nothing was shown.
    """
    if judged.state == "failed":
        return failed(judged.failure)
    found = [basis(claim) for claim in judged.claims] + [Basis.REFUSED] * len(judged.withheld)
    unchecked = _unchecked(judged.claims)
    return Observation(
        hits=found.count(on),
        trials=len(found) - len(unchecked),
        failed=len(unchecked),
        why=unchecked[0].why if unchecked else "",
    )


def answers_resting_on(judged: Judged, *, on: Basis) -> Observation:
    """Questions whose answer rests on one thing: that of its weakest claim.

    Args:
        judged: The record.
        on: On what it rests; `refused` stands for a refusal.
    """
    if judged.state == "failed":
        return failed(judged.failure)
    if judged.state == "refused":
        return yes_or_no(on is Basis.REFUSED)
    if not judged.claims:
        return NOT_APPLICABLE
    order = list(Basis)
    weakest = max((basis(claim) for claim in judged.claims), key=order.index)
    if weakest is Basis.UNCHECKED:
        return failed(_unchecked(judged.claims)[0].why)
    return yes_or_no(weakest is on)


def open_support(judged: Judged) -> Observation:
    """How well the words of open claims stand in what was retrieved: an order, no probability."""
    if judged.state == "failed":
        return failed(judged.failure)
    scores = [score for score in judged.support if score is not None]
    return Observation(hits=sum(scores), trials=len(scores))


def parts_apart(judged: Judged) -> Observation:
    """Parts of another system's prose that state nothing, among all of its parts."""
    if judged.state == "failed":
        return failed(judged.failure)
    if judged.state == "refused" or judged.own_citations:
        return NOT_APPLICABLE
    return share(judged.apart, judged.apart + len(judged.claims))


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
    if any(map(is_rejected, judged.claims)) or not judged.claims:
        return yes_or_no(False)
    unchecked = _unchecked(judged.claims)
    if unchecked:
        return failed(unchecked[0].why)
    return NOT_APPLICABLE if any(map(is_open, judged.claims)) else yes_or_no(True)


def _cites_gold(judged: Judged) -> bool:
    return any(on_gold(of_citation(place), judged.record) for place in _places(judged))


def _places(judged: Judged) -> list[Located]:
    return [
        check.located
        for claim in judged.claims
        if not is_rejected(claim)
        for check in claim.citations
        if check.located is not None and check.problem is None
    ]


def _unchecked(claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    return [claim for claim in claims if claim.status is ClaimStatus.UNCHECKED]


def _claims(claims: Sequence[ClaimVerdict], *, supported: bool) -> Observation:
    """Count claims that are supported or rejected; open ones are neither."""
    found = [basis(claim) for claim in claims]
    unchecked = _unchecked(claims)
    rejected = found.count(Basis.REJECTED)
    settled = len(claims) - len(unchecked) - found.count(Basis.OPEN)
    return Observation(
        hits=settled - rejected if supported else rejected,
        trials=settled,
        failed=len(unchecked),
        why=unchecked[0].why if unchecked else "",
    )
