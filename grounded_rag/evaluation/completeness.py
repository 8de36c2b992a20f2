"""Whether an answer holds what the expected answer says: by value, never by likeness of strings.

Numbers, dates and times of the expected answer are compared by value and unit; names by their
words; where it has neither, most of its content words must be there. Words that the question
already says need not be repeated.
"""

from __future__ import annotations

from functools import lru_cache

from grounded_rag.text.language import comparable
from grounded_rag.text.numbers import Agreement, Quantity, compare, find_quantities
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words, tokenize
from grounded_rag.types import Frozen

_MOST = 0.6
_BARE = frozenset({"yes", "no", "none", "nothing"})
_SAME = frozenset({Agreement.SAME, Agreement.WEAKER, Agreement.UNIT_ADDED})


class Completeness(Frozen):
    """What of the expected answer is in the answer.

    Attributes:
        wanted: Facts looked for, as text; empty where nothing can be compared by value.
        missing: Those that were not found.
    """

    wanted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def completeness(expected: str, answer: str, *, question: str = "") -> Completeness:
    """Compare an answer with the expected one.

    Args:
        expected: The right answer, in plain words.
        answer: All that the reader was shown, remarks included.
        question: The question; its words need not be repeated.
    """
    quantities = [q for q in find_quantities(expected) if not q.soft and q.kind != "label"]
    have = find_quantities(answer)
    wanted = [quantity.text for quantity in quantities]
    missing = [q.text for q in quantities if not any(_agrees(q, other) for other in have)]
    if not comparable(expected, answer):
        return Completeness(wanted=tuple(wanted), missing=tuple(missing))
    said = {word.stem for word in content_words(f"{answer} {question}")}
    names = _names(expected)
    wanted += names
    missing += [name for name in names if not _stems(name) <= said]
    if not wanted:
        words = {
            word.stem: word.text
            for word in content_words(expected)
            if word.stem not in _stems(question) and word.lower not in _BARE
        }
        found = sum(stem in said for stem in words)
        if not words:
            return Completeness()
        wanted = [" ".join(words.values())]
        missing = [] if found >= _MOST * len(words) else wanted
    return Completeness(wanted=tuple(wanted), missing=tuple(missing))


def _agrees(wanted: Quantity, other: Quantity) -> bool:
    return compare(wanted, other) in _SAME


def _stems(text: str) -> set[str]:
    return {word.stem for word in content_words(text)}


def _names(text: str) -> list[str]:
    """Return words written like names: capitals inside a sentence, and codes."""
    starts = {span.start for span in split_sentences(text)}
    return [
        word.text
        for word in tokenize(text)
        if word.kind == "code" or (word.text[:1].isupper() and word.start not in starts)
        if _stems(word.text)
    ]
