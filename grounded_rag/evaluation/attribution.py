"""Looks up where the statements of an answer could come from, for systems that cite nothing.

Each statement of the prose becomes a claim. The sentences of the contexts that share most of its
words, weighted by how rare they are there, are tried as its quote. The places are ours and no fault
of the system: a claim is rejected only where a hard check rejects it at every place that was tried.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from grounded_rag.evaluation.prose_parts import Statement, prose_parts
from grounded_rag.text.sentences import LineKind, group_units, split_unit
from grounded_rag.text.words import content_words
from grounded_rag.types import (
    Citation,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Draft,
    RetrievedChunk,
    Span,
)
from grounded_rag.verification import verify
from grounded_rag.verification.checks import stages
from grounded_rag.verification.rules import Rules

_TRIED = 6
_JOINED = 3
_REACH = 3


class Attributed(NamedTuple):
    """An answer in prose as claims.

    Attributes:
        draft: Its statements, each with the places that carry it best, or with none.
        apart: Its parts that state nothing.
    """

    draft: Draft
    apart: tuple[str, ...]


class _Place(NamedTuple):
    chunk: RetrievedChunk
    span: Span
    stems: frozenset[str]


class _Found(NamedTuple):
    """A claim with the places found for it, and how good they are: less is better."""

    text: str
    places: tuple[_Place, ...]
    grade: int

    @property
    def claim(self) -> Claim:
        """The claim; places that follow each other make one quote."""
        return _claim(self.text, self.places)


def attribute(
    text: str,
    contexts: Sequence[RetrievedChunk],
    *,
    question: str | None = None,
    rules: Rules | None = None,
) -> Attributed:
    """Return an answer as claims with the places that carry them best.

    Args:
        text: The answer, as prose.
        contexts: What it was written from.
        question: The question, which is never evidence.
        rules: The rules in force; what they name as deciders is not asked here.
    """
    parts = prose_parts(text, [context.chunk.text for context in contexts])
    lookup = _Lookup(contexts, question, rules or Rules())
    found = lookup.alone(parts.statements)
    found = lookup.joined(parts.statements, found)
    return Attributed(Draft(claims=tuple(each.claim for each in found)), parts.apart)


class _Lookup:
    """Looks up places in the contexts of one answer."""

    def __init__(
        self, contexts: Sequence[RetrievedChunk], question: str | None, rules: Rules
    ) -> None:
        self._contexts = contexts
        self._question = question
        # Deciders cost something: they are asked once, about the places that are chosen here.
        first, _ = stages(() if rules.spans_only else rules.checks)
        self._rules = replace(rules, checks=first, entailment=None, judge=None, spans_only=False)
        self._places = [place for context in contexts for place in _places(context)]
        self._rarity = _rarity(self._places)

    def alone(self, statements: Sequence[Statement]) -> list[_Found]:
        """Return each statement as a claim, with its best place or, where it is open, places."""
        ranked = [self._ranked(each.text) for each in statements]
        found = self._best(
            [
                (each.text, [(place,) for place in places])
                for each, places in zip(statements, ranked, strict=True)
            ]
        )
        # What stays open shows all the places that it may rest on: a decider needs them.
        wider = self._best(
            [
                (one.text, [_covering(one.text, places)] if one.grade == _OPEN else [])
                for one, places in zip(found, ranked, strict=True)
            ]
        )
        return [
            new if new.grade <= old.grade else old for old, new in zip(found, wider, strict=True)
        ]

    def joined(self, statements: Sequence[Statement], found: Sequence[_Found]) -> list[_Found]:
        """Return the claims with neighbours joined where only together they are a statement.

        "It rises in May." is said by a source with the sentence before it, and a sentence that is
        taken back by the next one only with that.
        """
        windows = list(_windows(statements, found))
        tried = self._best([_together(found[first:last]) for first, last in windows])
        held = {
            window: each
            for window, each in zip(windows, tried, strict=True)
            if each.grade == _SUPPORTED
        }
        result: list[_Found] = []
        position = 0
        while position < len(found):
            last = max((end for start, end in held if start == position), default=position + 1)
            result.append(held.get((position, last)) or found[position])
            position = last
        return result

    def _best(self, tried: Sequence[tuple[str, Sequence[tuple[_Place, ...]]]]) -> list[_Found]:
        """Return each text with the best places tried for it, by one verification of all."""
        claims = tuple(_claim(text, places) for text, group in tried for places in group)
        verdicts = iter(
            verify(
                Draft(claims=claims), self._contexts, question=self._question, rules=self._rules
            ).claims
        )
        result: list[_Found] = []
        for text, group in tried:
            graded = [_Found(text, places, _grade(next(verdicts))) for places in group]
            placed = [each for each in graded if each.grade < _NO_PLACE]
            nowhere = _Found(text, (), _NO_PLACE)
            result.append(min(placed, key=lambda each: each.grade, default=nowhere))
        return result

    def _ranked(self, sentence: str) -> tuple[_Place, ...]:
        stems = {word.stem for word in content_words(sentence)}
        shared = [place for place in self._places if stems & place.stems]
        shared.sort(key=lambda place: -sum(self._rarity[stem] for stem in stems & place.stems))
        return tuple(shared[:_TRIED])


_SUPPORTED, _OPEN, _NO_PLACE = 0, 1, 4
_GRADES = {
    ClaimStatus.SUPPORTED: _SUPPORTED,
    ClaimStatus.OPEN: _OPEN,
    ClaimStatus.UNCHECKED: 2,
    ClaimStatus.CONTRADICTED: 3,
    ClaimStatus.UNSUPPORTED: 3,
}


def _grade(verdict: ClaimVerdict) -> int:
    """Return how good the places of a claim are; a quote of ours that cannot be used is none."""
    if any(check.problem is not None for check in verdict.citations):
        return _NO_PLACE
    return _GRADES.get(verdict.status, _NO_PLACE)


def _windows(statements: Sequence[Statement], found: Sequence[_Found]) -> Iterator[tuple[int, int]]:
    """Yield runs of neighbours in one block with an unsupported one among them."""
    for first in range(len(found)):
        for last in range(first + 2, min(len(found), first + _REACH) + 1):
            if statements[first].block != statements[last - 1].block:
                break
            if any(each.grade != _SUPPORTED for each in found[first:last]):
                yield first, last


def _covering(sentence: str, places: Sequence[_Place]) -> tuple[_Place, ...]:
    """Return the nearest place, and those behind it that hold words which it lacks."""
    left = {word.stem for word in content_words(sentence)}
    chosen: list[_Place] = []
    for place in places:
        if len(chosen) < _JOINED and (not chosen or left & place.stems):
            chosen.append(place)
            left -= place.stems
    return tuple(chosen)


def _together(found: Sequence[_Found]) -> tuple[str, list[tuple[_Place, ...]]]:
    """Return claims as one, with all of their places."""
    places = {
        (place.chunk.chunk.id, place.span.start): place for each in found for place in each.places
    }
    return " ".join(each.text for each in found), [tuple(places.values())]


def _claim(text: str, places: Sequence[_Place]) -> Claim:
    citations: list[Citation] = []
    last: tuple[RetrievedChunk, Span] | None = None
    for place in sorted(places, key=lambda each: (each.chunk.rank, each.span.start)):
        chunk = place.chunk.chunk
        span = place.span
        if last is not None and last[0] is place.chunk:
            between = chunk.text[last[1].end : span.start]
            if not between.strip():
                span = Span(start=last[1].start, end=span.end)
                citations.pop()
        citations.append(Citation(chunk_id=chunk.id, quote=span.of(chunk.text)))
        last = (place.chunk, span)
    return Claim(text=text, citations=tuple(citations))


def _places(context: RetrievedChunk) -> list[_Place]:
    """Return the sentences and rows of a context; headings and header rows are no evidence."""
    text = context.chunk.text
    units = group_units(text)
    bounds: list[tuple[int, int]] = []
    for at, unit in enumerate(units):
        heads = at + 1 < len(units) and units[at + 1].kind is LineKind.DELIMITER
        if unit.kind is LineKind.ROW and not heads:
            bounds.append((unit.start, unit.end))
        elif unit.kind in (LineKind.TEXT, LineKind.ITEM, LineKind.LABEL):
            split_unit(text, unit.start, unit.end, bounds)
    return [
        _Place(
            context,
            Span(start=start, end=end),
            frozenset(word.stem for word in content_words(text[start:end])),
        )
        for start, end in bounds
    ]


def _rarity(places: Sequence[_Place]) -> dict[str, float]:
    """Return the inverse document frequency of each stem over the sentences."""
    counts = Counter(stem for place in places for stem in place.stems)
    return {stem: math.log(1 + len(places) / count) for stem, count in counts.items()}
