"""Classes of quotes: how a change to a sentence becomes a quote whose label is certain.

The oracle is plain `in` over the unfolded text, so that it shares nothing with a verifier.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from grounded_rag.testing.tamper.cases import Cited, Draw, Draws, Kind, Maker, Pools, Sentence
from grounded_rag.testing.tamper.corpora import window
from grounded_rag.types import Span


class Edit(NamedTuple):
    """A change to one sentence, before it is put back into its passage."""

    source: str  # what stands in the chunk in place of the sentence
    quote: str
    start: int = 0  # the part of `source` that a benign quote stands for
    end: int | None = None  # None for the end of `source`


EditMaker: TypeAlias = Callable[[random.Random, str], Edit | str | None]
"""Changes a sentence: an edit, what the quote says of the unchanged source, or None."""


def tamper(name: str, says: str, edit: EditMaker, *, literal: bool = False) -> Kind:
    """Return a class of meaning-changing edits within a sentence."""
    return tampers(name, says, in_passage(edit), literal=literal)


def benign(name: str, says: str, edit: EditMaker) -> Kind:
    """Return a class of edits within a sentence that change its presentation only."""
    return presents(name, says, in_passage(edit))


def tampers(name: str, says: str, make: Maker, *, literal: bool = False) -> Kind:
    """Return a class of quotes that the cited chunk does not contain.

    `literal` ones do stand in it, as a word that is cut in two does: the oracle must not drop them.
    """
    draws = _from_sentences(make, _is_cut if literal else _is_not_there)
    return Kind(name=name, label="tamper", says=says, make=make, draws=draws)


def presents(name: str, says: str, make: Maker) -> Kind:
    """Return a class of quotes that differ from the cited chunk in presentation only."""

    def located(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
        draw = make(rng, sentence, pools)
        if draw is None:
            return None
        # Where the varied quote happens to be literal, its own place is the expected one.
        (passage, quote), *_ = draw.cited
        start = passage.text.find(quote)
        own = Span(start=start, end=start + len(quote)) if start >= 0 else draw.expected
        return draw._replace(expected=own)

    draws = _from_sentences(located, _is_at_one_place)
    return Kind(name=name, label="benign", says=says, make=make, draws=draws)


def in_passage(edit: EditMaker) -> Maker:
    """Return a maker that puts the edited sentence back into its passage."""

    def make(rng: random.Random, sentence: Sentence, _pools: Pools) -> Draw | None:
        made = edit_of(edit, rng, sentence.text)
        if made is None:
            return None
        end = len(made.source) if made.end is None else made.end
        return Draw(
            (Cited(sentence.replaced(made.source), made.quote),),
            original=made.source,
            expected=Span(start=sentence.start + made.start, end=sentence.start + end),
        )

    return make


def edit_of(edit: EditMaker, rng: random.Random, text: str) -> Edit | None:
    """Return what an edit makes of a text."""
    made = edit(rng, text)
    return Edit(text, made) if isinstance(made, str) else made


_ROUNDS = 40
_WINDOWS = 0.35


def _from_sentences(make: Maker, sound: Callable[[Draw], bool]) -> Draws:
    """Return the different draws of a corpus that are what their label says.

    A third of the quotes is drawn from a run of words of a sentence instead of the whole of it.
    Changes that happen to give a true quote are dropped.
    """

    def draws(rng: random.Random, pools: Pools) -> Iterator[Draw]:
        seen: set[tuple[str, str]] = set()
        for _ in range(_ROUNDS):
            barren = True
            order = list(pools.sentences)
            rng.shuffle(order)
            for sentence in order:
                part = window(rng, sentence) if rng.random() < _WINDOWS else sentence
                draw = make(rng, part, pools)
                if draw is None:
                    continue
                (passage, quote), *_ = draw.cited
                if (quote, passage.text) in seen:
                    continue
                seen.add((quote, passage.text))
                if quote.strip() and sound(draw):
                    barren = False
                    yield draw
            if barren:
                return

    return draws


def _is_not_there(draw: Draw) -> bool:
    """Whether the quote does not stand in the cited chunk, whatever the white space and accents."""
    passage, quote = draw.cited[0]
    if draw.missing:
        return True
    read = _plain(quote).removesuffix(".")
    if quote in passage.text:
        return False
    if not read:
        return True
    rows = [line.replace("|", " ") for line in passage.text.splitlines() if "|" in line]
    return not (
        _stands_in(read, [passage.text]) or _stands_in(_plain(read.replace("|", " ")), rows)
    )


def _stands_in(quote: str, texts: Sequence[str]) -> bool:
    readings = (quote, quote[:1].swapcase() + quote[1:])
    return any(reading in _plain(text) for text in texts for reading in readings)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _is_at_one_place(draw: Draw) -> bool:
    if draw.expected is None:
        return False
    # The same words on other lines would be a second place that is just as right.
    text = draw.cited[0].passage.text
    return _plain(text).casefold().count(_plain(draw.expected.of(text)).casefold()) == 1


def _is_cut(draw: Draw) -> bool:
    """Whether every place where the quote stands cuts a word or a number at one of its ends.

    A final full stop of the quote is left aside, so that places that go on otherwise count too.
    """
    text, quote = draw.cited[0].passage.text, draw.cited[0].quote.removesuffix(".")
    places = []
    place = text.find(quote)
    while place >= 0:
        places.append(place)
        place = text.find(quote, place + 1)
    return bool(places) and all(
        _inside(text, place) or _inside(text, place + len(quote)) for place in places
    )


def _inside(text: str, edge: int) -> bool:
    """Whether `edge` lies between two letters, two digits, or inside a number."""
    if not 0 < edge < len(text):
        return False
    left, right = text[edge - 1], text[edge]
    if left.isalnum() and right.isalnum():
        return True
    after = text[edge + 1] if edge + 1 < len(text) else ""
    before = text[edge - 2] if edge >= 2 else ""
    if left.isdigit() and right in ".," and after.isdigit():
        return True
    if left in ".," and right.isdigit() and before.isdigit():
        return True
    return left in "-\N{MINUS SIGN}" and right.isdigit() and not before.strip()


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

Change: TypeAlias = Callable[[random.Random, re.Match[str]], str]
"""What stands in the place of a match."""

Sides: TypeAlias = Callable[[random.Random, re.Match[str]], str | tuple[str, str] | None]
"""What the quote has in the place of a match; or what the source has there, and then the quote."""


def one_of(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match of a pattern of ours in `text`, or None."""
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def matches_inside(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the matches that touch neither end of the text."""
    return [m for m in pattern.finditer(text) if m.start() > 0 and m.end() < len(text) - 1]


def inner(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match that touches neither end of the text, or None."""
    found = matches_inside(pattern, text)
    return rng.choice(found) if found else None


def long_word(
    rng: random.Random, text: str, *, letters: int, plain: bool = False
) -> re.Match[str] | None:
    """Return a random word of at least so many letters, of ASCII alone where asked, or None."""
    found = [
        m for m in WORD.finditer(text)
        if len(m.group()) >= letters and (m.group().isascii() or not plain)
    ]  # fmt: skip
    return rng.choice(found) if found else None


def put(text: str, found: re.Match[str], other: str) -> str:
    """Return `text` with `other` in the place of a match."""
    return text[: found.start()] + other + text[found.end() :]


def exchanged(text: str, first: re.Match[str], second: re.Match[str]) -> str:
    """Return `text` with two matches in each other's place."""
    return put(put(text, second, first.group()), first, second.group())


def at(pattern: re.Pattern[str], *, inside: bool = False) -> Callable[[Sides], EditMaker]:
    """Return a decorator: the function gives what stands in the place of one random match.

    With `inside`, the match touches neither end of the text.
    """

    def decorate(sides: Sides) -> EditMaker:
        def edit(rng: random.Random, text: str) -> Edit | None:
            found = (inner if inside else one_of)(rng, pattern, text)
            made = None if found is None else sides(rng, found)
            if found is None or made is None:
                return None
            source, quote = (found.group(), made) if isinstance(made, str) else made
            return Edit(put(text, found, source), put(text, found, quote))

        return edit

    return decorate


def first_of(*edits: EditMaker) -> EditMaker:
    """Return the first of several edits that finds something to change."""

    def edit(rng: random.Random, text: str) -> Edit | str | None:
        tried = (each(rng, text) for each in edits)
        return next((made for made in tried if made is not None), None)

    return edit


def swapping(pairs: Sequence[Sequence[str]]) -> EditMaker:
    """Return an edit that puts the counterpart of a listed expression in its place."""

    def edit(rng: random.Random, text: str) -> str | None:
        order = list(pairs)
        rng.shuffle(order)
        for old, new in order:
            found = one_of(rng, _whole(old), text)
            if found is not None:
                return put(text, found, _like(found.group(), new))
        return None

    return edit


def in_series(words: Sequence[str]) -> EditMaker:
    """Return an edit that puts another word of a series in the place of one."""

    def other(rng: random.Random, found: re.Match[str]) -> str:
        others = [word for word in words if word.lower() != found.group().lower()]
        return _like(found.group(), rng.choice(others))

    fold = re.IGNORECASE if words[0].islower() else 0
    return at(re.compile(rf"\b(?:{'|'.join(words)})\b", fold))(other)


def _like(model: str, word: str) -> str:
    """Return `word` with a first capital where `model` has one."""
    return word[0].upper() + word[1:] if model[0].isupper() else word


@cache
def _whole(expression: str) -> re.Pattern[str]:
    left = r"(?<!\w)" if expression[0].isalpha() else ""
    right = r"(?!\w)" if expression[-1].isalpha() else ""
    fold = re.IGNORECASE if expression.islower() else 0
    return re.compile(left + re.escape(expression) + right, fold)
