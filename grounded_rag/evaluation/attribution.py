"""Looks up where the sentences of an answer could come from, for systems that cite nothing.

Each sentence becomes a claim. The sentences of the contexts that share most of its words, weighted
by how rare they are there, are tried as its quote; the first with which the verifier supports it
is taken, else the nearest. A claim over several sentences of one context is tried as such.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from grounded_rag.protocols import SupportCheck
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, Claim, Draft, RetrievedChunk, Span
from grounded_rag.verification import verify

_TRIED = 4


class _Place(NamedTuple):
    chunk: RetrievedChunk
    span: Span
    stems: frozenset[str]


def attribute(
    text: str,
    contexts: Sequence[RetrievedChunk],
    *,
    question: str | None = None,
    checks: Sequence[SupportCheck] | None = None,
) -> Draft:
    """Return an answer as claims with the places that carry them best.

    Args:
        text: The answer, as prose.
        contexts: What it was written from.
        question: The question, which is never evidence.
        checks: Support checks; None means the built-in ones.
    """
    places = [place for context in contexts for place in _places(context)]
    rarity = _rarity(places)
    claims: list[Claim] = []
    for span in split_sentences(text):
        sentence = span.of(text).strip()
        if any(character.isalnum() for character in sentence):
            claims.append(_attributed(sentence, places, rarity, contexts, question, checks))
    return Draft(claims=tuple(claims))


def _attributed(
    sentence: str,
    places: Sequence[_Place],
    rarity: dict[str, float],
    contexts: Sequence[RetrievedChunk],
    question: str | None,
    checks: Sequence[SupportCheck] | None,
) -> Claim:
    stems = {word.stem for word in content_words(sentence)}
    ranked = sorted(places, key=lambda place: -sum(rarity[stem] for stem in stems & place.stems))[
        :_TRIED
    ]
    ranked = [place for place in ranked if stems & place.stems]
    tried: list[tuple[_Place, ...]] = [(place,) for place in ranked]
    # A sentence that joins two facts needs both quotes.
    tried += [(ranked[0], other) for other in ranked[1:]]
    best: Claim | None = None
    for group in tried:
        claim = Claim(text=sentence, citations=tuple(_citation(place) for place in group))
        best = best or claim
        verdict = verify(Draft(claims=(claim,)), contexts, question=question, checks=checks).claims[
            0
        ]
        if verdict.supported:
            return claim
    return best or Claim(text=sentence)


def _citation(place: _Place) -> Citation:
    chunk = place.chunk.chunk
    return Citation(chunk_id=chunk.id, quote=place.span.of(chunk.text))


def _places(context: RetrievedChunk) -> list[_Place]:
    text = context.chunk.text
    return [
        _Place(context, span, frozenset(word.stem for word in content_words(span.of(text))))
        for span in split_sentences(text)
    ]


def _rarity(places: Sequence[_Place]) -> dict[str, float]:
    """Return the inverse document frequency of each stem over the sentences."""
    counts = Counter(stem for place in places for stem in place.stems)
    return {stem: math.log(1 + len(places) / count) for stem, count in counts.items()}
