"""Choosing the sentences that answer one part of a question, or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from grounded_rag.generate.candidates import Candidate, CandidateKind
from grounded_rag.generate.late_interaction import Likeness
from grounded_rag.generate.overlap import Overlap
from grounded_rag.generate.question import Question, is_specific
from grounded_rag.generate.ranking import Features, Ranker
from grounded_rag.text.words import content_words

_SHORTLIST = 20  # Candidates that are compared by an embedding
_MOST = 3  # Rival sentences that are said together
_RANK_PENALTY = 0.02
# Distances in units of `choice`: a current sentence this near takes an outdated one's place, and
# one with the missing names is said with the best.
_AS_GOOD = 0.2
_ALSO_NEEDED = 0.25
_CLEARLY = 0.3
# Share of words from which a successor's sentence counts as the one in the same place.
_ALIKE = 0.6
_TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its scores."""

    index: int  # Position in the list of candidates
    choice: float  # Higher is better, among the candidates of one question
    features: Features
    missing: frozenset[str]  # Stems of the question's names and numbers that it does not carry


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen candidates of one part of a question, the best first, and how sure that is."""

    # Positions in the list of candidates; empty where there is none at all.
    indices: tuple[int, ...]
    confidence: float  # Log-odds that the first one answers


def select(
    question: Question,
    candidates: Sequence[Candidate],
    *,
    compare: Callable[[Sequence[int]], Sequence[Likeness]],
    ranker: Ranker,
    excluded: frozenset[int] = frozenset(),
    outdated: frozenset[int] = frozenset(),
    successors: Mapping[int, frozenset[int]] = MappingProxyType({}),
) -> Selection:
    """Choose what answers one part of a question.

    `excluded` are positions of candidates. `outdated` are numbers of chunks whose documents do not
    hold: a sentence of one is chosen only if no current sentence says as much. `successors` has,
    for each, the chunks of what replaced its document.
    """
    overlap = Overlap(question, candidates, outdated=outdated)
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
    if not shortlist:
        return Selection(indices=(), confidence=float("-inf"))
    scored: list[Scored] = []
    for index, likeness in zip(shortlist, compare(shortlist), strict=True):
        features = overlap.features(index, likeness)
        choice = ranker.choice(features)
        scored.append(Scored(index, choice, features, overlap.missing(index)))
    scored.sort(key=lambda one: (-one.choice, one.index))
    replaced = _successor(scored, candidates, successors)
    best = replaced or _current(scored, candidates, outdated)
    other = _complement(best, scored, candidates, outdated)
    features = best.features
    if other is not None:
        features = replace(features, name_missing=0.0, number_missing=0.0)
    chosen: tuple[Scored, ...] = (best,) if other is None else (best, other)
    if ranker.several is not None and replaced is None:
        chosen = _with_rivals(chosen, scored, candidates, outdated, ranker.several)
    indices = [one.index for one in chosen]
    if ranker.several is not None and len(indices) == 1:
        indices += _continuation(best.index, candidates, excluded)
    confidence = ranker.confidence(features)
    if replaced is not None:
        # The older version answers, and this is what its successor says in that place.
        confidence = max(confidence, ranker.confidence(scored[0].features))
    shows_kind = is_specific(question.wanted) and features.kind_missing < _CLEARLY
    if overlap.lacks_own_words(best.index) and not shows_kind:
        # "… and who set it?" is not answered by the sentence about what "it" is.
        confidence = float("-inf")
    return Selection(indices=tuple(indices), confidence=confidence)


def _with_rivals(
    chosen: tuple[Scored, ...],
    scored: Sequence[Scored],
    candidates: Sequence[Candidate],
    outdated: frozenset[int],
    margin: float,
) -> tuple[Scored, ...]:
    """Add the candidates that the best one hardly beats: which of them answers is open."""
    found = list(chosen)
    said = {_plain(candidates[one.index].text) for one in chosen}
    for one in scored:
        if len(found) >= _MOST or one.choice <= scored[0].choice - margin:
            break
        text = _plain(candidates[one.index].text)
        if text not in said and candidates[one.index].chunk not in outdated:
            found.append(one)
            said.add(text)
    return tuple(found)


def _continuation(
    index: int, candidates: Sequence[Candidate], excluded: frozenset[int]
) -> list[int]:
    """Return the sentence after a chosen one under the same heading: limits often stand there."""
    after = index + 1
    if after >= len(candidates) or after in excluded:
        return []
    here, following = candidates[index], candidates[after]
    prose = here.kind is following.kind is CandidateKind.SENTENCE
    return [after] if prose and following.previous == index else []


def _plain(text: str) -> str:
    return " ".join(text.split())


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
    its sentences are compared with theirs as well.
    """
    best = scored[0]
    newer = successors.get(candidates[best.index].chunk, frozenset())
    elders = [
        candidates[one.index].text
        for one in scored
        if candidates[one.index].chunk in successors and one.choice >= best.choice - _AS_GOOD
    ]
    parallels = [
        (_likeness(candidates[one.index].text, elders), one)
        for one in scored[1:]
        if candidates[one.index].chunk in newer
        and one.missing <= best.missing
        and one.features.kind_missing <= best.features.kind_missing + _TOLERANCE
    ]
    if not parallels:
        return None
    likeness, one = max(parallels, key=lambda pair: (pair[0], pair[1].choice))
    return one if likeness >= _ALIKE else None


def _likeness(text: str, others: Sequence[str]) -> float:
    """Return the largest share of words that `text` has in common with one of `others`."""
    here = _words(text)
    shares = [2 * len(here & there) / (len(here) + len(there)) for there in map(_words, others)]
    return max(shares, default=0.0) if here else 0.0


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text, figures left out: they are what a new version changes."""
    return frozenset(word.stem for word in content_words(text) if word.kind != "number")


def _complement(
    best: Scored,
    scored: Sequence[Scored],
    candidates: Sequence[Candidate],
    outdated: frozenset[int],
) -> Scored | None:
    """Return the candidate that carries the names which the best one lacks, if there is one."""
    if not best.missing:
        return None
    for one in scored:
        if one.choice < best.choice - _ALSO_NEEDED:
            return None
        if one.index == best.index or candidates[one.index].chunk in outdated:
            continue
        if one.missing.isdisjoint(best.missing):
            return one
    return None
