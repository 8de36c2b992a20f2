"""Which of several places that read the same is meant: the one whose surroundings carry the claim.

Each place is judged by its own territory: from the end of the sentence of the place before it to
the end of its own sentence. So a heading or a name further up counts for what stands below it.
"""

from __future__ import annotations

from typing import NamedTuple

from grounded_rag.text.sentences import enclosing_bounds
from grounded_rag.text.words import tokenize
from grounded_rag.verification.folding import Place
from grounded_rag.verification.passages import Passage

_REACH = 600
_COMPARED = 40


class Choice(NamedTuple):
    """The place that is meant, and whether that stayed uncertain."""

    place: Place
    ambiguous: bool


def choose_place(passage: Passage, places: tuple[Place, ...], claim: str) -> Choice:
    """Choose among places of a quote.

    Args:
        passage: The cited chunk.
        places: Where the quote stands, in order; never empty.
        claim: Text of the claim.
    """
    if len(places) == 1:
        return Choice(places[0], ambiguous=False)
    body = tuple(place for place in places if not passage.in_heading(place)) or places
    if len(body) == 1:
        return Choice(body[0], ambiguous=False)
    wanted = [word.text for word in tokenize(claim)]
    scores: list[tuple[int, int]] = []
    done = 0
    for place in body[:_COMPARED]:
        start, end = enclosing_bounds(passage.sentences, *place)
        around = passage.text[max(done, start - _REACH) : place.start]
        around += " " + passage.text[place.end : end]
        scores.append(_score(around, wanted))
        done = end
    best = max(scores)
    winner = body[scores.index(best)]
    return Choice(winner, ambiguous=scores.count(best) > 1 or best == (0, 0))


def _score(around: str, wanted: list[str]) -> tuple[int, int]:
    """Count the claim's words around a place: as written, then in any case."""
    words = {word.text for word in tokenize(around)}
    lower = {word.lower() for word in words}
    exact = sum(word in words for word in set(wanted))
    return exact, sum(word.lower() in lower for word in set(wanted))
