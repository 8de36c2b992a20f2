"""Other ways of writing a word: mistyped, abbreviated, or joined with its neighbour.

All of it serves finding and ranking only; a quote is never accepted by likeness of letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grounded_rag.text.words import STOPWORDS, Word

_MIN_LENGTH = 4
"""Shorter words are left alone: too many others are one letter away."""
_TWO_EDITS = 8
"""Letters from which a word may have two wrong ones."""
_ENDINGS = tuple("ation ment able ible ally ing ion al ed er es ly s e".split())

LONGEST_FORM = 10
"""Most words of a long form."""

_MOST_TEXT = 20_000
_MOST_FOUND = 50
_BEFORE = 160
_QUOTES = "\"'“”‘’*_"
_BRACKETS = re.compile(r"\(([^()]{2,120})\)")
_PART = re.compile(r"[^\W_]+")
_SHORT = re.compile(r"[^\W_](?:[^\W_]|[&.\-/]){0,8}[^\W_.]\.?")
_ENDS = re.compile(r"[.;:!?,()\[\]|\"“”]\s|\n\s*\n")

_LEAST_PART = 2
_LEAST_JOINED = 5
_LEAST_SPLIT = 7
_LEAST_PIECE = 3
_LEAST_LINKED = 4
_LONGEST = 40
_HYPHENS = ("-", "‐", "‑")
# What German puts between two words, and what ends a part that stands alone in another form.
_LINKS = ("s", "n", "es", "en")
_INFLECTIONS = ("e", "n", "en", "er", "s")


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """Two names of one thing, both in lower case."""

    short: str  # letters and digits only
    long: str  # one space between the words


def suspects(words: Sequence[Word], *, known: Collection[str]) -> list[Word]:
    """Return the words of a question that may be mistyped.

    Names are left alone: an unknown name is no misspelling. `known` holds common words in lower
    case.
    """
    found: list[Word] = []
    for position, word in enumerate(words):
        name = position > 0 and word.text[:1].isupper()
        plain = word.lower.isascii() and word.lower.isalpha()
        if not name and plain and len(word.lower) >= _MIN_LENGTH and word.lower not in known:
            found.append(word)
    return found


def nearest_term(word: Word, terms: Mapping[str, int]) -> str | None:
    """Return the term that a word was likely meant to be, or None.

    One letter may differ, in longer words two, a swap of neighbours counting once. Terms may be
    stems: the word without its ending is compared too. `terms` are those with its first letter,
    each with how often it stands in the texts; of equally near ones the most frequent wins.
    """
    allowed = 2 if len(word.lower) >= _TWO_EDITS else 1
    endings = (ending for ending in _ENDINGS if word.lower.endswith(ending))
    forms = [word.lower, *map(word.lower.removesuffix, endings)]
    best: tuple[int, int, str] | None = None
    for term, count in terms.items():
        if not _MIN_LENGTH <= len(term) <= len(word.lower) + allowed:
            continue
        distance = min(edit_distance(form, term, limit=allowed) for form in forms)
        if distance <= allowed and (best is None or (distance, -count) < best[:2]):
            best = (distance, -count, term)
    return best[2] if best else None


def replaced(text: str, words: Sequence[Word], changes: Mapping[str, str]) -> str:
    """Return a text with some of its words replaced; `changes` names them in lower case."""
    pieces: list[str] = []
    end = 0
    for word in words:
        if word.lower in changes:
            pieces += (text[end : word.start], changes[word.lower])
            end = word.end
    return "".join((*pieces, text[end:]))


def edit_distance(first: str, second: str, *, limit: int) -> int:
    """Return how many letters differ, a swap of neighbours counting once.

    This is the optimal string alignment distance; above the limit it is always `limit + 1`.
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


def abbreviations(text: str) -> tuple[Abbreviation, ...]:
    """Return the abbreviations that a text, or the beginning of a long one, defines in brackets."""
    found: dict[Abbreviation, None] = {}
    text = text[:_MOST_TEXT]
    for match in _BRACKETS.finditer(text):
        inner = match.group(1)
        before = text[max(0, match.start() - _BEFORE) : match.start()].rstrip().rstrip(_QUOTES)
        one = _defined(inner.strip(f" {_QUOTES}"), _ENDS.split(before)[-1])
        if one is not None:
            found[one] = None
            if len(found) == _MOST_FOUND:
                break
    return tuple(found)


def short_form(text: str) -> str | None:
    """Return an abbreviation in lower case, its letters and digits; None where it is none.

    It has 2 to 10 characters, among them two capitals; a plural "s" is left out.
    """
    if not _SHORT.fullmatch(text) or sum(letter.isupper() for letter in text) < 2:
        return None
    bare = text[:-1] if text.endswith("s") and text[-2].isupper() else text
    return "".join(_PART.findall(bare)).lower()


def both_names(text: str, defined: Sequence[Abbreviation]) -> str:
    """Return a text with the other name of each defined thing put behind it."""
    if not defined:
        return text
    words = f" {' '.join(_words(text))} "
    added: list[str] = []
    for one in defined:
        short, long = f" {one.short} " in words, f" {one.long} " in words
        if short != long:
            added.append(one.long if short else one.short)
    return "\n".join((text, *added))


def initials(words: Sequence[str]) -> str:
    """Return the initials of the words that carry content, for words in lower case."""
    return "".join(word[0] for word in words if word not in STOPWORDS)


def joined(text: str, words: Sequence[Word], holds: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the known words that neighbours of a text make when written as one.

    "over draft" and "over-draft" give "overdraft". Both must carry content. `words` are those of
    the text, hyphenated ones whole or taken apart; `holds` says whether a word is known.
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
    or en may stand, and the last part may be known in an inflected form. `word` and what `holds` is
    asked for are in lower case.
    """
    if not (word.isalpha() and _LEAST_SPLIT <= len(word) <= _LONGEST):
        return ()
    return _in_two(word, holds) or _in_three(word, holds)


def _defined(inner: str, before: str) -> Abbreviation | None:
    short = short_form(inner)
    if short is not None:
        words = _words(before)[-2 * LONGEST_FORM :]
        # From the shortest long form on: "the Fixed Rate Bond (FRB)" is not about "the".
        for start in range(len(words) - 1, max(-1, len(words) - LONGEST_FORM - 1), -1):
            if _stands_for(short, words[start:]):
                return Abbreviation(short, " ".join(words[start:]))
        return None
    last = before.split()[-1:]
    short = short_form(last[0].strip(_QUOTES)) if last else None
    words = _words(re.split(r"[,;:]", inner, maxsplit=1)[0])
    if short is None or len(words) > LONGEST_FORM or not _stands_for(short, words):
        return None
    return Abbreviation(short, " ".join(words))


def _words(text: str) -> list[str]:
    return [part.lower() for part in _PART.findall(text)]


def _stands_for(short: str, words: Sequence[str]) -> bool:
    """Whether the letters begin the words in order; function words may do without a letter."""
    if len(words) < 2 or words[0] in STOPWORDS or words[-1] in STOPWORDS:
        return False
    open_letters = {0}
    for word in words:
        following = {at + 1 for at in open_letters if at < len(short) and word[0] == short[at]}
        if word in STOPWORDS:
            following |= open_letters
        open_letters = following
    return len(short) in open_letters


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
    longer = (part + ending for ending in ("", *_INFLECTIONS))
    shorter = (part.removesuffix(ending) for ending in _INFLECTIONS if part.endswith(ending))
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
