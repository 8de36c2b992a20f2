"""What a question asks for: its terms, each with its weight."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from grounded_rag.resources import data_file, read_table
from grounded_rag.text.words import Word, content_words, guess_language, tokenize


class _Words(NamedTuple):
    asking: frozenset[str]
    degrees: frozenset[str]
    days_and_months: frozenset[str]
    opinion: re.Pattern[str]


@cache
def _words() -> _Words:
    lists = read_table("questions")
    return _Words(
        asking=frozenset(lists["asking"]),
        degrees=frozenset(lists["degrees"]),
        days_and_months=frozenset(lists["days_and_months"]),
        opinion=_any_of(lists["opinion"]),
    )


def _any_of(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Term:
    """One content word of a question."""

    word: Word
    weight: float  # 0 to 1: rare words and names count more
    name: bool = False  # Capitalised inside the sentence, or a code
    number: bool = False  # A number, a day of the week or a month
    # It only names the class of the answer ("which *country*"): an answer seldom repeats it.
    head: bool = False
    # A superlative or ordinal ("first"), or what is counted ("how many *keys*"): it must hold.
    degree: bool = False
    borrowed: bool = False  # From another part of the same question


@dataclass(frozen=True, slots=True)
class Question:
    """A question, taken apart."""

    text: str
    terms: tuple[Term, ...]  # Content words, question words left out
    stems: frozenset[str]  # Of all its words
    negated: bool  # It asks for what is not the case

    @property
    def total(self) -> float:
        """Sum of the weights of the terms."""
        return sum(term.weight for term in self.terms)


# Patterns are kept from hostile lengths.
_LONGEST = 2_000
# Where fewer words than this begin small, capitals mean nothing: "What Is The Fee".
_SMALL_SHARE = 0.3
# An answer seldom repeats the word that only names its class.
_HEAD_WEIGHT = 0.35
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|cannot|neither|nor|without|nicht|kein\w*|ne|pas|nunca)\b|n['’]t\b",
    re.IGNORECASE,
)

_COUNTED = re.compile(
    r"\bhow many (?:more |other |of (?:the |my |your )?(?:[0-9,.]{1,9} )?)?"
    r"(?!days?\b|weeks?\b|months?\b|years?\b|hours?\b|minutes?\b|percent\b|times\b)",
    re.IGNORECASE,
)
_HEAD = re.compile(r"\b(?:what|which|welche[rsnm]?|quel(?:le)?s?)\s+", re.IGNORECASE)


def analyse(question: str) -> Question:
    """Take a question apart."""
    tokens = tokenize(question)
    first = tokens[0].start if tokens else -1
    lists = _words()
    heads = _heads(question, tokens)
    counted = _counted(question, tokens)
    words = [word for word in content_words(question) if word.lower not in lists.asking]
    # In "WHAT IS THE FEE" or "What Is The Fee" capitals mean nothing.
    inside = [word for word in tokens[1:] if word.text[:1].isalpha()]
    small = sum(1 for word in inside if word.text[:1].islower())
    # German writes every noun with one.
    cased = small >= _SMALL_SHARE * len(inside) and guess_language(question) != "de"
    terms = tuple(
        Term(
            word=word,
            weight=word_weight(word.lower) * (_HEAD_WEIGHT if word.start in heads else 1.0),
            name=word.kind == "code" or (cased and word.text[:1].isupper() and word.start != first),
            number=word.kind == "number" or word.lower in lists.days_and_months,
            head=word.start in heads,
            degree=word.lower in lists.degrees or word.start in counted,
        )
        for word in words
    )
    return Question(
        text=question,
        terms=terms,
        stems=frozenset(word.stem for word in tokens),
        negated=bool(_NEGATION.search(question)),
    )


def asks_opinion(question: str) -> bool:
    """Whether a question asks for advice or an opinion ("should I …", "which is better for me")."""
    return _words().opinion.search(question[:_LONGEST]) is not None


def is_negated(text: str) -> bool:
    """Whether `text` holds a negation."""
    return bool(_NEGATION.search(text))


def word_weight(lower: str) -> float:
    """Return the weight of a word, 0.15 to 1, by its place in a frequency-ordered vocabulary."""
    rank = _vocabulary().get(lower)
    if rank is None:
        return 1.0
    return max(0.15, min(1.0, math.log(max(rank, 1000) / 1000) / math.log(30)))


def is_common(lower: str) -> bool:
    """Whether a word stands in the vocabulary of common words."""
    return lower in _vocabulary()


@cache
def _vocabulary() -> Mapping[str, int]:
    """The word pieces of the built-in embedding's tokenizer: common words come first."""
    table = json.loads(data_file("minilm-tokenizer.json").read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = table["model"]["vocab"]
    return vocabulary


def _counted(question: str, tokens: tuple[Word, ...]) -> frozenset[int]:
    """Return the starts of the words for what is counted: "how many *keys*"."""
    found: set[int] = set()
    for match in _COUNTED.finditer(question[:_LONGEST]):
        found.update(token.start for token in tokens if token.start == match.end())
    return frozenset(found)


def _heads(question: str, tokens: tuple[Word, ...]) -> frozenset[int]:
    """Return the starts of the words that name the answer's class: "which *country*"."""
    asking = _words().asking
    found: set[int] = set()
    for match in _HEAD.finditer(question):
        following = next((token for token in tokens if token.start >= match.end()), None)
        if following is not None and following.content and following.lower not in asking:
            found.add(following.start)
    return frozenset(found)
