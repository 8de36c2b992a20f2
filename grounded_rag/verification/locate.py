"""Where a quote stands in a text: literally first, then in one folded view.

A quote is data: it is compared, never compiled. Equality is exact on the folded views; there is
no distance, ratio or case folding. A match must begin and end where `cuts_token` lets a text be
cut: a number keeps its sign, decimals, grouping, exponent, per cent and attached currency, a word
its hyphenated and apostrophised parts ("can" is not all of "can't"). Scripts written without
spaces have no such boundaries, but their numbers do. The rule, where in doubt, is not to cut. Time
is linear in the lengths of text and quote.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from grounded_rag.types import Fold
from grounded_rag.verification.folding import FoldedText, Place, fold
from grounded_rag.verification.neighbours import listed_words
from grounded_rag.verification.presentation import (
    JOINERS,
    SIGNS,
    UNSPACED,
    is_invisible,
    is_numeral,
    is_unspaced,
)

_ENTITY_END = re.compile(r"&[#A-Za-z0-9]{2,32};\Z")
_ENTITY = re.compile(r"&[#A-Za-z0-9]{2,32};")
_WORD_END = re.compile(r"[^\W\d_]{1,12}\Z")
_WORD = re.compile(r"[^\W_]{1,12}")
_LINE_END_HYPHEN = re.compile(r"([^\W\d_])[-‐‑][ \t]*\r?\n[ \t]*\Z")
# A cut looks no further than this for the word or entity around it, so that it costs the same in
# any text.
_LOOK = 40
_APOSTROPHES = frozenset("'’ʼ＇")
_DIGIT_JOINTS = frozenset(".,:/'’^–−٫٬")
_LETTER_JOINTS = frozenset("-‐‑_+*")
_JOINTS = _APOSTROPHES | _DIGIT_JOINTS | _LETTER_JOINTS
_SUFFIXES = frozenset("%‰‱°′″％℃℉+")
_SMALL_KANA = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々")
_SPACE_BY_UNSPACED = re.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
_STOPS = ".。．。।۔"
_WRAPPERS = {'"': '"', "'": "'", "「": "」", "『": "』", "《": "》"}
_MARKUP = frozenset("|*_`[]")
# Candidates that cut a token; a text such as "aaaa" would have one a character.
_CUTS_ALLOWED = 64
# The next word behind a full stop that the quote has and the source has not.
_WORD_AHEAD = 24
# A chunk may repeat one word without end; nobody needs all of its places.
_PLACES_KEPT = 1000


class Match(NamedTuple):
    """Places in a text that read as a quote does.

    Attributes:
        places: Every one, in order, without overlap; never empty.
        folds: What had to be folded at the first one; empty for a literal match.
    """

    places: tuple[Place, ...]
    folds: tuple[Fold, ...] = ()


class Cut(NamedTuple):
    """The quote's characters are there, but only inside longer words or numbers."""

    place: Place


class Source:
    """A text with its folded view, made when it is first needed."""

    __slots__ = ("_folded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: FoldedText | None = None

    @property
    def folded(self) -> FoldedText:
        """The folded view of the text."""
        if self._folded is None:
            self._folded = fold(self.text)
        return self._folded


class Quote:
    """A quote with its folded readings, made when they are first needed."""

    __slots__ = ("_folded", "_readings", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: FoldedText | None = None
        self._readings: _Readings | None = None

    @property
    def folded(self) -> FoldedText:
        """The folded view of the quote."""
        if self._folded is None:
            self._folded = fold(self.text)
        return self._folded

    @property
    def readings(self) -> _Readings:
        """The folded quote, then without what its edges may carry more than the source."""
        if self._readings is None:
            self._readings = tuple(edge_readings(self.folded.text.strip()))
        return self._readings


class EdgeReading(NamedTuple):
    """A folded quote, and what was folded at its edges."""

    text: str
    folds: tuple[Fold, ...] = ()


_Readings = tuple[EdgeReading, ...]


def locate(source: Source, quote: Quote, *, repair: bool = True) -> Match | Cut | None:
    """Find `quote` in `source`.

    Args:
        source: The text that is cited.
        quote: The characters that should stand there.
        repair: Whether differences of presentation may be bridged.

    Returns:
        Its places; a `Cut` where it would cut a word or number everywhere; None where it does
        not stand.
    """
    if not quote.text or not source.text:
        return None
    literal = _literal(source.text, quote.text)
    if isinstance(literal, Match) or not repair:
        return literal
    return _folded(source, quote) or literal


def _literal(text: str, quote: str) -> Match | Cut | None:
    first = text.find(quote)
    if first < 0:
        return None
    width = len(quote)
    candidates = (Place(at, at + width) for at in _finds(text, quote, first))
    places = _clean(text, candidates, width)
    return Match(places) if places else Cut(Place(first, first + len(quote)))


def _finds(text: str, quote: str, position: int) -> Iterator[int]:
    """Yield where `quote` begins, one place after another."""
    while position >= 0:
        yield position
        position = text.find(quote, position + 1)


def _clean(text: str, candidates: Iterator[Place | None], width: int) -> tuple[Place, ...]:
    """Return the candidates that cut no token, without overlaps, at most a thousand.

    Looking is given up after a number of unusable candidates, so that a text made of one
    repeated character costs no more than any other; what is not found is refused. A candidate
    that cannot be mapped back is None; `width` characters are compared for each.
    """
    places: list[Place] = []
    done = unusable = 0
    for place in candidates:
        if place is not None and place.start >= done and not _cuts(text, place):
            places.append(place)
            done = place.end
            if len(places) == _PLACES_KEPT:
                break
            continue
        unusable += 1
        if unusable > _CUTS_ALLOWED and unusable * width > len(text):
            break
    return tuple(places)


def _cuts(text: str, place: Place) -> bool:
    return cuts_token(text, place.start) or cuts_token(text, place.end)


def _folded(source: Source, quote: Quote) -> Match | Cut | None:
    cut: Cut | None = None
    for view, folded_quote, readings in _views(source, quote):
        for reading in readings:
            found = _search(view, folded_quote, reading)
            if isinstance(found, Match):
                return found
            cut = cut or found
    return cut


def _views(source: Source, quote: Quote) -> Iterator[tuple[FoldedText, FoldedText, _Readings]]:
    """Yield the folded view with the readings of the quote, then where the quote must decide.

    It decides whether a line-end hyphen is kept, whether markup was copied as it is, and whether
    spaces beside characters of a script without spaces stand for line ends.
    """
    yield source.folded, quote.folded, quote.readings
    if source.folded.line_end_hyphens:
        words = frozenset(quote.folded.text.split())
        yield fold(source.text, keep=words), quote.folded, quote.readings
    if not _MARKUP.isdisjoint(quote.text):
        raw = fold(quote.text, raw=True)
        yield fold(source.text, raw=True), raw, tuple(edge_readings(raw.text.strip()))
    unwrapped = _SPACE_BY_UNSPACED.sub("", quote.folded.text)
    if unwrapped != quote.folded.text:
        yield source.folded, quote.folded, tuple(edge_readings(unwrapped.strip()))


def _search(view: FoldedText, quote: FoldedText, reading: EdgeReading) -> Match | Cut | None:
    if not reading.text:
        return None
    first = view.text.find(reading.text)
    if first < 0:
        return None
    width = len(reading.text)
    mapped = (_place(view, at, at + width) for at in _finds(view.text, reading.text, first))
    places = _clean(view.source, mapped, width)
    if Fold.FULL_STOP in reading.folds:
        # "The phone is." is no quote of "The phone is not ...": a stop may not hide a denial.
        places = tuple(place for place in places if not _denied_after(view.source, place.end))
        if not places:
            return None
    if not places:
        whole = _place(view, first, first + width)
        return Cut(whole) if whole else None
    folds = _folds_between(view, places[0], quote)
    if folds is None:
        return None
    return Match(places, tuple(dict.fromkeys((*folds, *reading.folds))) or (Fold.WHITESPACE,))


def _denied_after(text: str, position: int) -> bool:
    """Whether the next word of the text turns what stands before it into its opposite."""
    following = text[position : position + _WORD_AHEAD].split(maxsplit=1)
    if not following:
        return False
    return following[0].strip("*_.,;:!?").lower() in listed_words("cuts", "denials")


def _place(view: FoldedText, start: int, end: int) -> Place | None:
    """Return the source's place of folded characters, without white space at its edges."""
    place = view.to_source(start, end)
    if place is None:
        return None
    text = view.source[place.start : place.end]
    if not (text[-1:].isspace() or text[:1].isspace()):
        return place
    first = place.start + len(text) - len(text.lstrip())
    return Place(first, max(first, place.start + len(text.rstrip())))


def _folds_between(view: FoldedText, place: Place, quote: FoldedText) -> list[Fold] | None:
    """Return the folds that bridge a difference; None where the quote adds cells."""
    ours: dict[Fold, list[str]] = {}
    theirs: dict[Fold, list[str]] = {}
    cells = quoted_cells = 0
    for change in view.changes(place):
        ours.setdefault(change.fold, []).append(change.before)
        cells += change.fold is Fold.TABLE and change.after == " "
    for change in quote.changes(Place(0, len(quote.source))):
        theirs.setdefault(change.fold, []).append(change.before)
        quoted_cells += change.fold is Fold.TABLE and change.after == " "
    # A quote may drop all the pipes of a row, not some: cells of its own would be new cells.
    if quoted_cells not in (0, cells):
        return None
    return [kind for kind in Fold if ours.get(kind) != theirs.get(kind)]


def edge_readings(text: str) -> Iterator[EdgeReading]:
    """Yield a folded quote as it is, then with one kind of edge after another taken off."""
    cores = [EdgeReading(text)]
    wrapped = _unwrap(text)
    if wrapped is not None:
        cores.append(EdgeReading(wrapped, (Fold.WRAPPING,)))
        if (inner := _unstop(wrapped)) is not None:
            cores.append(EdgeReading(inner, (Fold.WRAPPING, Fold.FULL_STOP)))
    if (shorter := _unstop(text)) is not None:
        cores.append(EdgeReading(shorter, (Fold.FULL_STOP,)))
        if (inner := _unwrap(shorter)) is not None:
            cores.append(EdgeReading(inner, (Fold.WRAPPING, Fold.FULL_STOP)))
    yield from cores
    for core in cores:
        other = _other_case(core.text)
        if other is not None:
            yield EdgeReading(other, (*core.folds, Fold.FIRST_CASE))


def _unwrap(text: str) -> str | None:
    if len(text) > 2 and _WRAPPERS.get(text[0]) == text[-1]:
        return text[1:-1].strip()
    return None


def _unstop(text: str) -> str | None:
    if len(text) > 1 and text[-1] in _STOPS and text[-2] not in _STOPS:
        return text[:-1]
    return None


def _other_case(text: str) -> str | None:
    """Return `text` with its first letter in the other case, where that may be folded."""
    if text.count(" ") < 2 or not text[1].islower():
        return None
    first = text[0]
    other = first.lower() if first.isupper() else first.upper()
    if other == first or len(other) != 1:
        return None
    return other + text[1:]


def cuts_token(text: str, position: int) -> bool:
    """Whether cutting `text` at `position` would break a word, number or visible character."""
    if position <= 0 or position >= len(text):
        return False
    after = text[position]
    before = text[position - 1]
    if before == " " or (after == " " and before not in JOINERS):
        return False
    left, right = position - 1, position
    if before > "\x7f" or after > "\x7f":
        while left >= 0 and is_invisible(text[left]):
            left -= 1
        while right < len(text) and is_invisible(text[right]):
            right += 1
        if left < 0 or right == len(text):
            return False
        before, after = text[left], text[right]
        if _is_one_glyph(before, after):
            return True
        # A mark belongs to the letter that carries it.
        while left > 0 and before > "\x7f" and unicodedata.category(before)[0] == "M":
            left -= 1
            before = text[left]
    if after == "\n" or before == "\n" or before == "\r":
        return _cuts_wrapped_word(text, left, right)
    if before == ";" or after == "&":
        before, after = _decoded(text, left, right, before, after)
    if before.isspace() or after.isspace():
        return False
    return _joined(text, left, right, before, after)


def _is_one_glyph(before: str, after: str) -> bool:
    """Whether the second character only modifies the first one."""
    if before in JOINERS or after in JOINERS:
        return True
    return (
        unicodedata.category(after)[0] == "M"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or after in _SMALL_KANA
        or ("\u1160" <= after <= "\u11ff")
    )


def _joined(text: str, left: int, right: int, before: str, after: str) -> bool:
    beyond = text[right + 1 : right + 2]
    further = text[left - 1 : left] if left else ""
    if before.isalnum():
        if after.isalnum():
            return _cuts_word(text, right, before, after)
        if after in _JOINTS and beyond.isalnum() and _is_joint(after, before, beyond, text, left):
            return True
        if after in _SUFFIXES or unicodedata.category(after) == "Sc":
            return before.isdigit() or after == "+"
        # "A-" and "C#" are other things than "A" and "C"
        return (
            before.isupper() and after in "-−#" and not beyond.isalnum() and not further.isalnum()
        )
    if after.isalnum():
        if before in _JOINTS:
            if further.isalnum():
                return _is_joint(before, further, after, text, left - 1)
            if before in ".," and after.isdigit() and (not further or further.isspace()):
                return before == "."
        if after.isdigit():
            return _is_sign(before, further) or unicodedata.category(before) == "Sc"
        return before == "°" and after in "CF"
    return False


def _cuts_word(text: str, right: int, before: str, after: str) -> bool:
    """Whether two neighbouring letters or digits belong to one word or number."""
    if before < "\u0e00" and after < "\u0e00":
        # "fee¹" carries a footnote mark; "m²" and "10⁵" carry an exponent.
        if after in "¹²³⁴⁵⁶⁷⁸⁹" and before.isalpha():
            word = _WORD_END.search(text[max(0, right - _LOOK) : right])
            return word is None or len(word[0]) < 3
        return True
    if is_numeral(before) and is_numeral(after):
        return True
    if is_unspaced(before) or is_unspaced(after):
        return False
    if "\uac00" <= after <= "\ud7a3" and "\uac00" <= before <= "\ud7a3":
        rest = _WORD.match(text, right)
        return rest is None or rest[0] not in listed_words("cuts", "particles")
    return True


def _is_joint(joint: str, before: str, after: str, text: str, left: int) -> bool:
    """Whether `joint` holds the characters around it together; `left` is where `before` is."""
    if joint in _LETTER_JOINTS:
        return True
    digits = before.isdigit() and after.isdigit()
    if joint in _APOSTROPHES:
        if digits:
            return True
        if not (before.isalpha() and after.isalpha()):
            return False
        word = _WORD_END.search(text[max(0, left + 1 - _LOOK) : left + 1])
        return word is None or word[0].lower() not in listed_words("cuts", "elided")
    return digits


def _is_sign(before: str, further: str) -> bool:
    """Whether `before` is a sign or comparator of the number behind it, not an arrow or a tag."""
    return before in SIGNS and (not further or further.isspace() or further in "([{|\"'“‘„*_")


def _cuts_wrapped_word(text: str, left: int, right: int) -> bool:
    """Whether a cut at a line end falls into a word that a hyphen carries over it."""
    start = right
    while start < len(text) and text[start] in " \t\r\n" and start - right < _LOOK:
        start += 1
    tail = text[max(0, start - _LOOK) : start]
    if not _LINE_END_HYPHEN.search(tail):
        return False
    following = _WORD.match(text, start)
    if following is None or not (following[0][0].islower() or following[0][0].isdigit()):
        return False
    return following[0] not in listed_words("cuts", "suspended") or left < 0


def _decoded(text: str, left: int, right: int, before: str, after: str) -> tuple[str, str]:
    """Return the neighbours of a cut with HTML entities read as their characters."""
    if before == ";":
        entity = _ENTITY_END.search(text[max(0, left + 1 - _LOOK) : left + 1])
        if entity:
            before = html.unescape(entity[0])[-1]
    if after == "&":
        entity = _ENTITY.match(text, right)
        if entity:
            after = html.unescape(entity[0])[0]
    return before, after
