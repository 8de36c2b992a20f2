"""Mistyped words: what they were likely meant to be, among words that are there.

It serves finding and ranking only; a quote is never accepted by likeness of letters.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from grounded_rag.text.words import Word

MIN_LENGTH = 4
"""Shorter words are left alone: too many others are one letter away."""

_LONG = 8
_ENDINGS = (
    "ation",
    "ment",
    "able",
    "ible",
    "ally",
    "ing",
    "ion",
    "al",
    "ed",
    "er",
    "es",
    "ly",
    "s",
    "e",
)


def suspects(words: Sequence[Word], *, known: Collection[str]) -> list[Word]:
    """Return the words of a question that may be mistyped.

    Names are left alone: an unknown name is no misspelling.

    Args:
        words: Words of the question, in order.
        known: Common words, in lower case.
    """
    found: list[Word] = []
    for position, word in enumerate(words):
        name = position > 0 and word.text[:1].isupper()
        plain = word.lower.isascii() and word.lower.isalpha()
        if not name and plain and len(word.lower) >= MIN_LENGTH and word.lower not in known:
            found.append(word)
    return found


def nearest_term(word: Word, terms: Mapping[str, int]) -> str | None:
    """Return the term that a word was likely meant to be, or None.

    One letter may differ, in longer words two, a swap of neighbours counting once. Terms may be
    stems: the word without its ending is compared too.

    Args:
        word: The word.
        terms: Terms with its first letter, each with how often it stands there; of equally near
            ones the most frequent wins.
    """
    allowed = 2 if len(word.lower) >= _LONG else 1
    best: tuple[int, int, str] | None = None
    for term, count in terms.items():
        if not MIN_LENGTH <= len(term) <= len(word.lower) + allowed:
            continue
        distance = min(
            edit_distance(head, term, limit=allowed)
            for head in (word.lower, *_without_ending(word.lower))
        )
        if distance <= allowed and (best is None or (distance, -count) < best[:2]):
            best = (distance, -count, term)
    return best[2] if best else None


def replaced(text: str, words: Sequence[Word], changes: Mapping[str, str]) -> str:
    """Return a text with words replaced.

    Args:
        text: The text.
        words: Its words, in order.
        changes: For words in lower case, what to put in their place.
    """
    pieces: list[str] = []
    end = 0
    for word in words:
        if word.lower in changes:
            pieces += (text[end : word.start], changes[word.lower])
            end = word.end
    return "".join((*pieces, text[end:]))


def _without_ending(word: str) -> list[str]:
    """Return what may be the stem of a word: the word without each ending that it has."""
    return [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]


def edit_distance(first: str, second: str, *, limit: int) -> int:
    """Return how many letters differ, a swap of neighbours counting once.

    This is the optimal string alignment distance. It finds what to search for; a quote is never
    accepted by it.

    Args:
        first: A word.
        second: Another one.
        limit: Distances above it are all returned as `limit + 1`.
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, start=1):
        before, previous, row = row, before, [i]
        for j, other in enumerate(second, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
