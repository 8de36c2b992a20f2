"""Choosing the statement that answers one part of a question, or none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from grounded_rag.generate.candidates import Candidate
from grounded_rag.generate.late_interaction import Likeness
from grounded_rag.generate.overlap import Overlap
from grounded_rag.generate.question import Question
from grounded_rag.generate.ranking import Features, Ranker
from grounded_rag.text.words import content_words
from grounded_rag.verification.support.conflict import disagree

_SHORTLIST = 20  # Candidates that are compared by an embedding
_RANK_PENALTY = 0.02
# Distance in units of `choice`: a current statement this near takes an outdated one's place, or is
# said beside the best where that lacks a name of the question, or says otherwise.
_AS_GOOD = 0.4
# Share of words from which two statements are about the same, whatever their figures.
_ALIKE = 0.6


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its scores."""

    index: int  # Position in the list of candidates
    choice: float  # Higher is better, among the candidates of one question
    features: Features
    missing: frozenset[str]  # Stems of the question's names and numbers that it does not carry


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen candidates of one part of a question, the best first, and how sure that is.

    There is one, unless the question names two things, or another document says otherwise.
    """

    # Positions in the list of candidates; empty where there is none at all.
    indices: tuple[int, ...]
    confidence: float  # Log-odds that the first one answers


def select(
    question: Question,
    candidates: Sequence[Candidate],
    *,
    compare: Callable[[Sequence[int]], Sequence[Likeness]],
    ranker: Ranker,
    is_beside: Callable[[int], bool] = lambda _: False,
    excluded: frozenset[int] = frozenset(),
    outdated: frozenset[int] = frozenset(),
    successors: Mapping[int, frozenset[int]] = MappingProxyType({}),
) -> Selection:
    """Choose what answers one part of a question.

    `is_beside` says of a candidate that it is about something else than the question, and
    `excluded` are positions of candidates. `outdated` are numbers of chunks whose documents do not
    hold: a statement of one is chosen only if no current one says as much. `successors` has, for
    each, the chunks of what replaced its document.
    """
    overlap = Overlap(question, candidates)
    recalls = {
        index: overlap.recall(index) - _RANK_PENALTY * candidate.chunk
        for index, candidate in enumerate(candidates)
        if index not in excluded
    }
    # Half of the places go to the best-ranked chunks: what answers may share no word with the
    # question, and the retriever's order knows that.
    by_overlap = sorted(recalls, key=lambda index: (-recalls[index], index))
    by_rank = sorted(recalls)
    shortlist = sorted({*by_overlap[: _SHORTLIST // 2], *by_rank[: _SHORTLIST // 2]})
    for index in by_overlap[_SHORTLIST // 2 :]:
        if len(shortlist) >= _SHORTLIST:
            break
        if index not in shortlist:
            shortlist.append(index)
    scored: list[Scored] = []
    for index, likeness in zip(shortlist, compare(shortlist), strict=True):
        features = overlap.features(index, likeness)
        choice = ranker.choice(features)
        scored.append(Scored(index, choice, features, overlap.missing(index)))
    scored.sort(key=lambda one: (-one.choice, one.index))
    while scored and is_beside(scored[0].index):
        del scored[0]
    if not scored:
        return Selection(indices=(), confidence=float("-inf"))
    replaced = _successor(scored, candidates, successors)
    best = replaced or _current(scored, candidates, outdated)
    features = best.features
    other = _complement(best, scored, candidates, outdated)
    if other is not None:
        features = dataclasses.replace(features, name_missing=0.0, number_missing=0.0)
    elif replaced is None:
        other = _disagreeing(question, best, scored, candidates, outdated)
    confidence = ranker.confidence(features)
    if replaced is not None:
        # The older version answers, and this is what its successor says in that place.
        confidence = max(confidence, ranker.confidence(scored[0].features))
    chosen = (best,) if other is None or is_beside(other.index) else (best, other)
    return Selection(indices=tuple(one.index for one in chosen), confidence=confidence)


def _current(
    scored: Sequence[Scored], candidates: Sequence[Candidate], outdated: frozenset[int]
) -> Scored:
    """Return the best candidate, or a current one that says as much as an outdated best."""
    best = scored[0]
    if candidates[best.index].chunk not in outdated:
        return best
    for one in scored[1:]:
        if one.choice < best.choice - _AS_GOOD:
            break
        if candidates[one.index].chunk not in outdated and one.missing <= best.missing:
            return one
    return best


def _successor(
    scored: Sequence[Scored],
    candidates: Sequence[Candidate],
    successors: Mapping[int, frozenset[int]],
) -> Scored | None:
    """Return what the successor of the best candidate's document says in its place, if anything.

    The successor may use other words than the question, which older versions happen to share:
    its statements are compared with theirs as well.
    """
    best = scored[0]
    newer = successors.get(candidates[best.index].chunk, frozenset())
    elders = [
        candidates[one.index].text
        for one in scored
        if candidates[one.index].chunk in successors and one.choice >= best.choice - _AS_GOOD
    ]
    parallels = [
        (max(_likeness(candidates[one.index].text, elder) for elder in elders), one)
        for one in scored[1:]
        if candidates[one.index].chunk in newer and one.missing <= best.missing
    ]
    if not parallels:
        return None
    likeness, one = max(parallels, key=lambda pair: (pair[0], pair[1].choice))
    return one if likeness >= _ALIKE else None


def _disagreeing(
    question: Question,
    best: Scored,
    scored: Sequence[Scored],
    candidates: Sequence[Candidate],
    outdated: frozenset[int],
) -> Scored | None:
    """Return a statement of another document that says otherwise, if there is one.

    Which of the two holds is open, so that both are said.
    """
    here = candidates[best.index]
    for one in scored:
        if one.choice < best.choice - _AS_GOOD:
            return None
        there = candidates[one.index]
        # A version of the same document says otherwise as a matter of course.
        other_document = (
            here.doc_id not in (there.doc_id, there.superseded_by)
            and there.doc_id != here.superseded_by
            and there.chunk not in outdated
        )
        if other_document and disagree(here.statement, there.statement, question=question.text):
            return one
    return None


def _likeness(left: str, right: str) -> float:
    """Return the share of words that two texts have in common."""
    here, there = _words(left), _words(right)
    return 2 * len(here & there) / (len(here) + len(there)) if here and there else 0.0


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text, figures left out: they are what a new version changes."""
    return frozenset(word.stem for word in content_words(text) if word.kind != "number")


def _complement(
    best: Scored,
    scored: Sequence[Scored],
    candidates: Sequence[Candidate],
    outdated: frozenset[int],
) -> Scored | None:
    """Return the candidate about the other one of two things that a question names, if any."""
    if not best.missing:
        return None
    for one in scored:
        if one.choice < best.choice - _AS_GOOD:
            return None
        if candidates[one.index].chunk in outdated:
            continue
        if one.missing and one.missing.isdisjoint(best.missing):
            return one
    return None
