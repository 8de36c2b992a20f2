"""The built-in metrics: each takes one judged record and says hits and trials.

`docs/metrics.md` defines every one in words, under its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from grounded_rag.evaluation.datasets import Answerable
from grounded_rag.evaluation.gold import (
    answer_completeness,
    first_rank,
    of_chunk,
    of_citation,
    on_gold,
    pieces_covered,
)
from grounded_rag.evaluation.metrics import (
    NOT_APPLICABLE,
    MetricSpec,
    Observation,
    could_not_score,
    yes_or_no,
)
from grounded_rag.evaluation.records import Basis, JudgedRecord, basis, is_open, is_rejected
from grounded_rag.types import (
    CitationCheck,
    ClaimStatus,
    ClaimVerdict,
    FlagKind,
    Located,
    RetrievedChunk,
)
from grounded_rag.validity import staleness

OUTDATED = frozenset({FlagKind.SUPERSEDED, FlagKind.EXPIRED, FlagKind.NOT_YET_EFFECTIVE})
"""What "outdated" means: out of force at the moment asked for. Old or undated is not outdated."""

PAIRED = ("faithful_answers", "correct_answers", "false_refusals", "right_refusals")
"""The headline: built-in metrics with one yes or no for each question.

Two runs can be compared by them, item by item.
"""

_RESTS_ON = {
    Basis.VERBATIM: "Verbatim: statements of the source",
    Basis.CONFIRMED: "Confirmed by a decider",
    Basis.RESTATED: "Restated in the source's words",
    Basis.OPEN: "Open: neither shown nor rejected",
    Basis.REJECTED: "Shown although a check rejects it",
    Basis.REFUSED: "Refused: not shown",
}
"""Titles of the shares by what a claim, or the weakest claim of an answer, rests on."""


def catalogue(*, relevance_threshold: float | None = None) -> tuple[MetricSpec, ...]:
    """Return all built-in metrics, the headline first.

    `relevance_threshold` is the least first-pass score of an answer to the point; None where no
    first pass was run.
    """
    answerable = partial(MetricSpec, group="answerable questions")
    unanswerable = partial(MetricSpec, group="unanswerable questions")
    shown = partial(MetricSpec, group="all answers")
    answers = partial(MetricSpec, group="what answers rest on", unit="questions", better="neither")
    claims = partial(MetricSpec, group="what claims rest on", better="neither")
    retrieval = partial(MetricSpec, group="retrieval", better="higher")
    return (
        answerable(
            name="faithful_answers", title="Answers fully supported",
            unit="answers", better="higher",
            observe=_given(_all_supported, when=_not_unanswerable),
        ),
        answerable(
            name="faithful_claims", title="Claims supported",
            unit="claims", better="higher",
            observe=_given(
                lambda one: _settled(one.claims, supported=True), when=_not_unanswerable
            ),
        ),
        answerable(
            name="correct_answers", title="Answered with a gold citation",
            unit="questions", better="higher",
            observe=_asked(lambda one: yes_or_no(cites_gold(one)), when=_has_gold),
        ),
        answerable(
            name="wrong_answers", title="Answered without a gold citation",
            unit="questions", better="lower",
            observe=_asked(
                lambda one: yes_or_no(one.answered and not cites_gold(one)), when=_has_gold
            ),
        ),
        answerable(
            name="false_refusals", title="Refused although answerable",
            unit="questions", better="lower", observe=_asked(_refused, when=_answerable),
        ),
        answerable(
            name="complete_answers", title="Answers complete by value",
            unit="answers", better="higher", observe=_given(_complete, when=_has_expected),
        ),
        answerable(
            name="open_parts_named", title="Open part of the question named",
            unit="answers", better="higher",
            observe=_given(
                _open_part_named, when=lambda one: one.item.answerable is Answerable.PART
            ),
        ),
        answerable(
            name="citation_precision", title="Citations on a gold place",
            unit="citations", better="higher", observe=_given(_citations_on_gold, when=_has_gold),
        ),
        answerable(
            name="citation_recall", title="Needed evidence cited",
            unit="pieces", better="higher", observe=_given(_gold_cited, when=_has_gold),
        ),
        unanswerable(
            name="right_refusals", title="Refused, as it should be",
            unit="questions", better="higher", observe=_asked(_refused, when=_unanswerable),
        ),
        unanswerable(
            name="quoted_misses", title="Missed refusals that only quote",
            unit="answers", better="neither", observe=_given(_all_supported, when=_unanswerable),
        ),
        shown(
            name="hallucinated_claims", title="Claims shown that a check rejects",
            unit="claims", better="lower",
            observe=_given(lambda one: _settled(one.claims, supported=False)),
        ),
        shown(
            name="drafted_hallucinations", title="Drafted claims that a check rejects",
            unit="claims", better="neither", observe=_drafted_rejected,
        ),
        shown(
            name="quote_exactness", title="Quotes literal as given",
            unit="quotes", better="higher", observe=_given(_exact_quotes),
        ),
        shown(
            name="relevant_answers", title="Answers to the point", unit="answers", better="higher",
            observe=_given(partial(_relevant, threshold=relevance_threshold)),
        ),
        shown(
            name="outdated_answers", title="Answers on outdated evidence",
            unit="answers", better="neither", observe=_given(_outdated),
        ),
        shown(
            name="unflagged_outdated_answers", title="Outdated evidence not flagged",
            unit="answers", better="lower", observe=_given(_unflagged_outdated),
        ),
        *(
            answers(
                name=f"{on}_answers", title=title, observe=_asked(partial(_answer_rests, on=on))
            )
            for on, title in _RESTS_ON.items()
        ),
        *(
            claims(
                name=f"{on}_claims", title=title, unit="claims",
                observe=_asked(partial(_claims_rest, on=on)),
            )
            for on, title in _RESTS_ON.items()
        ),
        claims(
            name="open_support", title="Support score of open claims",
            unit="claims", kind="mean", observe=_asked(_open_support),
        ),
        claims(
            name="parts_apart", title="Parts of prose that state nothing",
            unit="parts", observe=_given(_parts_apart),
        ),
        *(
            retrieval(
                name=f"hit_at_{k or 'k'}",
                title=f"Gold among the first {k}" if k else "Gold among all retrieved",
                unit="questions", observe=_retrieved(partial(_hit, k=k)),
            )
            for k in (1, 3, 5, None)
        ),
        retrieval(
            name="mrr", title="Mean reciprocal rank of gold",
            unit="questions", kind="mean", observe=_retrieved(_reciprocal_rank),
        ),
        retrieval(
            name="evidence_recall", title="Needed evidence retrieved",
            unit="pieces", observe=_retrieved(_gold_retrieved),
        ),
    )  # fmt: skip


_Condition = Callable[[JudgedRecord], bool]
_Count = Callable[[JudgedRecord], Observation]


def _answerable(judged: JudgedRecord) -> bool:
    return judged.answerable is True


def _unanswerable(judged: JudgedRecord) -> bool:
    return judged.answerable is False


def _not_unanswerable(judged: JudgedRecord) -> bool:
    return judged.answerable is not False


def _has_gold(judged: JudgedRecord) -> bool:
    return _answerable(judged) and bool(judged.item.gold)


def _has_expected(judged: JudgedRecord) -> bool:
    return _answerable(judged) and bool(judged.item.expected.strip())


def _asked(count: _Count, *, when: _Condition | None = None) -> _Count:
    """Return a metric over questions, refused ones included, where a condition holds."""

    def observe(judged: JudgedRecord) -> Observation:
        if when is not None and not when(judged):
            return NOT_APPLICABLE
        return could_not_score(judged.failure) if judged.state == "failed" else count(judged)

    return observe


def _given(count: _Count, *, when: _Condition | None = None) -> _Count:
    """Return a metric over given answers: a refusal says nothing about them."""

    def given(judged: JudgedRecord) -> bool:
        return judged.state != "refused" and (when is None or when(judged))

    return _asked(count, when=given)


def _retrieved(count: _Count) -> _Count:
    """Return a metric of retrieval, which counts where a check broke down as well."""

    def observe(judged: JudgedRecord) -> Observation:
        if not _has_gold(judged):
            return NOT_APPLICABLE
        if judged.record.answer is None and judged.state == "failed":
            return could_not_score(judged.failure)
        if judged.record.other is not None and not judged.retrieved:
            # A refusal that was recorded without its contexts: nobody says what was retrieved.
            return NOT_APPLICABLE
        return count(judged)

    return observe


def _all_supported(judged: JudgedRecord) -> Observation:
    if any(map(is_rejected, judged.claims)) or not judged.claims:
        return yes_or_no(False)
    unchecked = _unchecked(judged.claims)
    if unchecked:
        return could_not_score(unchecked[0].why)
    # Nothing has shown an open claim and nothing speaks against it: neither yes nor no.
    return NOT_APPLICABLE if any(map(is_open, judged.claims)) else yes_or_no(True)


def _drafted_rejected(judged: JudgedRecord) -> Observation:
    # A draft that a check broke down on is counted all the same, claim by claim.
    return NOT_APPLICABLE if judged.drafted is None else _settled(judged.drafted, supported=False)


def _settled(claims: Sequence[ClaimVerdict], *, supported: bool) -> Observation:
    """Count claims that are supported or rejected; open ones are neither."""
    found = [basis(claim) for claim in claims]
    rejected = found.count(Basis.REJECTED)
    settled = len(found) - found.count(Basis.UNCHECKED) - found.count(Basis.OPEN)
    hits = settled - rejected if supported else rejected
    return _with_unchecked(hits, settled, claims)


def _with_unchecked(hits: int, trials: int, claims: Sequence[ClaimVerdict]) -> Observation:
    unchecked = _unchecked(claims)
    why = unchecked[0].why if unchecked else ""
    return Observation(hits=hits, trials=trials, failed=len(unchecked), why=why)


def _unchecked(claims: Sequence[ClaimVerdict]) -> list[ClaimVerdict]:
    return [claim for claim in claims if claim.status is ClaimStatus.UNCHECKED]


def _claims_rest(judged: JudgedRecord, *, on: Basis) -> Observation:
    found = [basis(claim) for claim in judged.claims] + [Basis.REFUSED] * len(judged.withheld)
    return _with_unchecked(
        found.count(on), len(found) - found.count(Basis.UNCHECKED), judged.claims
    )


def _answer_rests(judged: JudgedRecord, *, on: Basis) -> Observation:
    """Count an answer under what its weakest claim rests on."""
    if judged.state == "refused":
        return yes_or_no(on is Basis.REFUSED)
    if not judged.claims:
        return NOT_APPLICABLE
    weakest = max((basis(claim) for claim in judged.claims), key=list(Basis).index)
    if weakest is Basis.UNCHECKED:
        return could_not_score(_unchecked(judged.claims)[0].why)
    return yes_or_no(weakest is on)


def _open_support(judged: JudgedRecord) -> Observation:
    scores = [score for score in judged.support if score is not None]
    return Observation(hits=sum(scores), trials=len(scores))


def _parts_apart(judged: JudgedRecord) -> Observation:
    if judged.own_citations:
        return NOT_APPLICABLE
    return Observation(hits=judged.apart, trials=judged.apart + len(judged.claims))


def _refused(judged: JudgedRecord) -> Observation:
    return yes_or_no(judged.state == "refused")


def cites_gold(judged: JudgedRecord) -> bool:
    """Whether an answer was given and cites a gold place; rejected claims cite nothing."""
    return judged.answered and any(
        on_gold(of_citation(place), judged.record) for place in _usable_places(judged)
    )


def _usable_places(judged: JudgedRecord) -> list[Located]:
    return [
        check.located
        for claim in judged.claims
        if not is_rejected(claim)
        for check in claim.citations
        if check.located is not None and check.problem is None
    ]


def _citations(judged: JudgedRecord) -> list[CitationCheck]:
    return [check for claim in judged.claims for check in claim.citations]


def _citations_on_gold(judged: JudgedRecord) -> Observation:
    if not judged.own_citations:
        return NOT_APPLICABLE
    citations = _citations(judged)
    hits = sum(
        check.located is not None and on_gold(of_citation(check.located), judged.record)
        for check in citations
    )
    return Observation(hits=hits, trials=len(citations))


def _gold_cited(judged: JudgedRecord) -> Observation:
    if not judged.own_citations:
        return NOT_APPLICABLE
    covered = pieces_covered(map(of_citation, _usable_places(judged)), judged.record)
    return Observation(hits=sum(covered), trials=len(covered))


def _exact_quotes(judged: JudgedRecord) -> Observation:
    if not judged.own_citations:
        return NOT_APPLICABLE
    citations = _citations(judged)
    exact = sum(
        check.located is not None and check.problem is None and check.located.exact
        for check in citations
    )
    return Observation(hits=exact, trials=len(citations))


def _complete(judged: JudgedRecord) -> Observation:
    found = answer_completeness(judged)
    return yes_or_no(not found.missing) if found.wanted else NOT_APPLICABLE


def _open_part_named(judged: JudgedRecord) -> Observation:
    wanted = judged.item.unanswered
    return yes_or_no(any(part in wanted or wanted in part for part in judged.unanswered if part))


def _relevant(judged: JudgedRecord, *, threshold: float | None) -> Observation:
    if not judged.text.strip():
        return yes_or_no(False)
    if "relevance" in judged.record.judged:
        finding = judged.record.judged["relevance"]
        if finding is None:
            return could_not_score("The judge could not say.")
        return yes_or_no(finding)
    score = judged.record.scores.get("relevance")
    if score is None or threshold is None:
        return NOT_APPLICABLE
    return yes_or_no(score >= threshold)


def _outdated(judged: JudgedRecord) -> Observation:
    return yes_or_no(bool(outdated_documents(judged))) if judged.claims else NOT_APPLICABLE


def _unflagged_outdated(judged: JudgedRecord) -> Observation:
    if not outdated_documents(judged):
        return NOT_APPLICABLE
    return yes_or_no(bool(unflagged_outdated(judged)))


def unflagged_outdated(judged: JudgedRecord) -> frozenset[str]:
    """Return the outdated documents that an answer cites without saying so."""
    flagged = {flag.doc_id for flag in judged.flags if flag.kind in OUTDATED}
    return outdated_documents(judged) - flagged


def outdated_documents(judged: JudgedRecord) -> frozenset[str]:
    """Return the cited documents that do not hold at the moment asked for, by their metadata."""
    answer = judged.record.answer
    as_of = answer.as_of if answer is not None else judged.item.as_of
    if as_of is None:
        return frozenset()
    cited = {check.located.doc_id for check in _citations(judged) if check.located is not None}
    return frozenset(
        chunk.chunk.doc_id
        for chunk in judged.retrieved
        if chunk.chunk.doc_id in cited
        and any(f.kind in OUTDATED for f in staleness(chunk.validity, as_of=as_of))
    )


def _hit(judged: JudgedRecord, *, k: int | None) -> Observation:
    rank = _gold_rank(judged)
    return yes_or_no(rank is not None and (k is None or rank <= k))


def _reciprocal_rank(judged: JudgedRecord) -> Observation:
    rank = _gold_rank(judged)
    return Observation(hits=0 if rank is None else 1 / rank, trials=1)


def _gold_rank(judged: JudgedRecord) -> int | None:
    def holds(chunk: RetrievedChunk) -> bool:
        return on_gold(of_chunk(chunk), judged.record)

    return first_rank(judged.retrieved, holds)


def _gold_retrieved(judged: JudgedRecord) -> Observation:
    covered = pieces_covered(map(of_chunk, judged.retrieved), judged.record)
    return Observation(hits=sum(covered), trials=len(covered))
