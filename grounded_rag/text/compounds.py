"""Words written apart that belong together, and the other way round.

It serves finding and ranking only; a quote is never accepted because its parts agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from grounded_rag.text.words import STOPWORDS, Word

_LEAST_PART = 2
_LEAST_JOINED = 5
_LEAST_SPLIT = 7
_LEAST_PIECE = 3
_LEAST_LINKED = 4
_LONGEST = 40
_HYPHENS = ("-", "‐", "‑")
# What German puts between two words, and what ends a part that stands alone in another form.
_LINKS = ("s", "n", "es", "en")
_ENDINGS = ("e", "n", "en", "er", "s")


def joined(text: str, words: Sequence[Word], holds: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the known words that neighbours of a text make when written as one.

    "over draft" and "over-draft" give "overdraft". Both must carry content.

    Args:
        text: The text.
        words: Its words in order, hyphenated ones whole or taken apart.
        holds: Whether a word in lower case is known.
    """
    parts = [part for word in words for part in _hyphened(word)]
    found: dict[str, None] = {}
    for (left, _, end), (right, start, _) in pairwise(parts):
        between = text[end:start].strip()
        # Letters stand alone in "e-mail"; "for me" is no "forme".
        least = 1 if between else _LEAST_PART
        if (between and between not in _HYPHENS) or not STOPWORDS.isdisjoint((left, right)):
            continue
        whole = left + right
        if min(len(left), len(right)) >= least and len(whole) >= _LEAST_JOINED and holds(whole):
            found[whole] = None
    return tuple(found)


def split(word: str, holds: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the known words that a compound is made of; none where there are none.

    "cashmachine" gives "cash" and "machine", "Girokontogebühr" gives "girokonto" and "gebühren":
    the fewer and the more alike in length, the better. Between longer parts a linking s, n, es
    or en may stand, and the last part may be known in an inflected form.

    Args:
        word: A word in lower case, itself unknown.
        holds: Whether a word in lower case is known.
    """
    if not (word.isalpha() and _LEAST_SPLIT <= len(word) <= _LONGEST):
        return ()
    return _in_two(word, holds) or _in_three(word, holds)


def _in_two(word: str, holds: Callable[[str], bool]) -> tuple[str, ...]:
    for cut in _cuts(word, least=_LEAST_PIECE):
        if holds(word[:cut]) and holds(word[cut:]):
            return (word[:cut], word[cut:])
    for cut in _cuts(word, least=_LEAST_LINKED):
        head = _head(word[:cut], holds)
        last = _inflected(word[cut:], holds) if head else None
        if head and last:
            return (head, last)
    return ()


def _in_three(word: str, holds: Callable[[str], bool]) -> tuple[str, ...]:
    for cut in _cuts(word, least=_LEAST_LINKED):
        head = _head(word[:cut], holds)
        rest = _in_two(word[cut:], holds) if head and len(word) - cut >= _LEAST_SPLIT else ()
        if head and rest:
            return (head, *rest)
    return ()


def _cuts(word: str, *, least: int) -> list[int]:
    """Return where a word may be cut, nearest to its middle first."""
    return sorted(range(least, len(word) - least + 1), key=lambda cut: abs(2 * cut - len(word)))


def _head(part: str, holds: Callable[[str], bool]) -> str | None:
    if holds(part):
        return part
    for link in _LINKS:
        bare = part.removesuffix(link)
        if bare != part and len(bare) >= _LEAST_LINKED and holds(bare):
            return bare
    return None


def _inflected(part: str, holds: Callable[[str], bool]) -> str | None:
    longer = (part + ending for ending in ("", *_ENDINGS))
    shorter = (part.removesuffix(ending) for ending in _ENDINGS if part.endswith(ending))
    forms = (form for form in (*longer, *shorter) if len(form) >= _LEAST_LINKED)
    return next((form for form in forms if holds(form)), None)


def _hyphened(word: Word) -> list[tuple[str, int, int]]:
    """Return the parts of a word with their places, those made of letters alone."""
    if word.kind != "word":
        return []
    if word.lower.isalpha():
        return [(word.lower, word.start, word.end)]
    if len(word.lower) != len(word.text):
        return []
    parts: list[tuple[str, int, int]] = []
    start = word.start
    for piece in word.lower.split("-"):
        if piece.isalpha():
            parts.append((piece, start, start + len(piece)))
        start += len(piece) + 1
    return parts
