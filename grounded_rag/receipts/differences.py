"""How two texts differ, word by word and number by number, and where a document says it now."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from typing import Literal, NamedTuple

from grounded_rag.receipts.findings import DiffPart, NearestPassage, NumberChange
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity
from grounded_rag.text.sentences import enclosing_bounds, sentence_bounds
from grounded_rag.text.words import content_words
from grounded_rag.types import Document, Span, Validity
from grounded_rag.verification.locate import Source

Items = Sequence[Hashable]

_DIFFLIB_AT_MOST = 10_000
"""Product of two lengths up to which difflib aligns them.

It finds whole runs, which read best. On repeated words its time is cubic: 50 seconds for twice
2,000, and a document may be made so on purpose. Its shortcut for long sequences (`autojunk`) finds
nothing there at all.
"""
_PIECE = 4096
"""Items of a longer sequence that are aligned at once: a table row of as many bits a step."""


class Block(NamedTuple):
    """A run of `size` items that both sequences have: where it begins in each."""

    left: int
    right: int
    size: int


class Step(NamedTuple):
    """A part of the way from one sequence to the other: the same items, or others."""

    kind: Literal["same", "other"]
    left: slice
    right: slice


def common_blocks(left: Items, right: Items) -> list[Block]:
    """Return runs of items that stand in both sequences in the same order, without overlap.

    The work grows with the length, whatever the sequences hold: beyond their common beginning and
    end, long ones are cut into as many pieces each, and aligned piece by piece.
    """
    if len(left) * len(right) <= _DIFFLIB_AT_MOST:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return [Block(a, b, size) for a, b, size in matcher.get_matching_blocks() if size]
    shorter = min(len(left), len(right))
    head = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    rest = range(shorter - head)
    tail = next((at for at in rest if left[-1 - at] != right[-1 - at]), len(rest))
    inner_left, inner_right = len(left) - head - tail, len(right) - head - tail
    pieces = -(-max(inner_left, inner_right) // _PIECE)
    found = [Block(0, 0, head)]
    for piece in range(pieces):
        found += longest_common_subsequence(
            left,
            right,
            range(head + inner_left * piece // pieces, head + inner_left * (piece + 1) // pieces),
            range(head + inner_right * piece // pieces, head + inner_right * (piece + 1) // pieces),
        )
    found.append(Block(len(left) - tail, len(right) - tail, tail))
    return _merged(found)


def longest_common_subsequence(
    left: Items, right: Items, within: range, within_right: range
) -> list[Block]:
    """Return the longest common subsequence of two ranges, item by item.

    A row of the table of lengths is one number: a bit is off where one item more of the left side
    makes the subsequence longer (Crochemore et al. 2001, as Hyyrö 2004 puts it).
    """
    where: dict[Hashable, int] = {}
    for bit, at in enumerate(within):
        where[left[at]] = where.get(left[at], 0) | 1 << bit
    mask = (1 << len(within)) - 1
    row = mask
    rows: list[int] = []
    for at in within_right:
        both = row & where.get(right[at], 0)
        row = ((row + both) | (row - both)) & mask
        rows.append(row)
    found: list[Block] = []
    column, line = len(within), len(within_right)
    while line and column:
        bit = 1 << (column - 1)
        if rows[line - 1] & bit:
            column -= 1
            continue
        line -= 1
        if not line or rows[line - 1] & bit:
            column -= 1
            found.append(Block(within.start + column, within_right.start + line, 1))
    return found[::-1]


def _merged(blocks: Sequence[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if not block.size:
            continue
        last = merged[-1] if merged else None
        if last and block[:2] == (last.left + last.size, last.right + last.size):
            merged[-1] = last._replace(size=last.size + block.size)
        else:
            merged.append(block)
    return merged


def steps(left: Items, right: Items) -> Iterator[Step]:
    """Yield what leads from one sequence to the other, in order; together it covers both."""
    at_left = at_right = 0
    for block in (*common_blocks(left, right), Block(len(left), len(right), 0)):
        if at_left < block.left or at_right < block.right:
            yield Step("other", slice(at_left, block.left), slice(at_right, block.right))
        at_left, at_right = block.left + block.size, block.right + block.size
        if block.size:
            yield Step("same", slice(block.left, at_left), slice(block.right, at_right))


_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|.", re.DOTALL
)
"""A number, a single CJK character, a word, white space or a mark."""
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_BY_CHARACTER_AT_MOST = 600


def similarity(old: str, new: str) -> float:
    """Return the share of characters that two texts have in common in order, 0 to 1.

    Long texts are compared by words: that takes a fraction of the time and differs little.
    """
    total = len(old) + len(new)
    if not total:
        return 1.0
    if total <= _BY_CHARACTER_AT_MOST:
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    blocks = common_blocks(left, right)
    kept = sum(len(t) for block in blocks for t in left[block.left : block.left + block.size])
    return 2 * kept / total


def kept_share(part: str, old: str, new: str) -> float:
    """Return the share of `part`, a slice of `old`, that stands where `new` aligns with `old`."""
    start = old.find(part)
    if start < 0 or not part:
        return 0.0
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    offsets = [0]
    for token in left:
        offsets.append(offsets[-1] + len(token))
    kept = 0
    for block in common_blocks(left, right):
        first, last = offsets[block.left], offsets[block.left + block.size]
        kept += max(0, min(last, start + len(part)) - max(first, start))
    return kept / len(part)


def word_diff(old: str, new: str) -> tuple[DiffPart, ...]:
    """Return what leads from `old` to `new`, in whole words; white space alone is no difference."""
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    parts: list[DiffPart] = []
    for step in steps(_with_plain_spaces(left), _with_plain_spaces(right)):
        old_part, new_part = "".join(left[step.left]), "".join(right[step.right])
        if step.kind == "same":
            parts.append(DiffPart.trusted(kind="same", text=new_part))
            continue
        if old_part:
            parts.append(DiffPart.trusted(kind="removed", text=old_part))
        if new_part:
            parts.append(DiffPart.trusted(kind="added", text=new_part))
    return tuple(parts)


def _with_plain_spaces(tokens: Sequence[str]) -> list[str]:
    return [" " if token.isspace() else token for token in tokens]


def number_changes(old: str, new: str) -> tuple[NumberChange, ...]:
    """Return every number, date and time by whose value or unit two texts differ, in order.

    "two weeks" and "2 weeks" are the same. Digits that count nothing, as in an address or a name,
    are compared as they are written.
    """
    left, right = _numbers(old), _numbers(new)
    changes: list[NumberChange] = []
    for step in steps([number.value for number in left], [number.value for number in right]):
        if step.kind == "same":
            continue
        before = [number.text for number in left[step.left]]
        after = [number.text for number in right[step.right]]
        changes += [NumberChange(old=o, new=n) for o, n in zip_longest(before, after)]
    return tuple(changes)


class _Number(NamedTuple):
    """A number of a text: where and how it is written, and what it says."""

    start: int
    text: str
    value: Hashable


def _numbers(text: str) -> list[_Number]:
    found: list[_Number] = []
    covered = bytearray(len(text))
    for quantity in find_quantities(text):
        # "one", "a" and "second" often count nothing.
        if quantity.soft and not any(character.isdigit() for character in quantity.text):
            continue
        covered[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
        found.append(_Number(quantity.start, quantity.text, _value(quantity)))
    found.extend(
        _Number(match.start(), match[0], ("digits", match[0]))
        for match in _DIGITS.finditer(text)
        if not covered[match.start()]
    )
    return sorted(found, key=lambda number: number.start)


def _value(quantity: Quantity) -> Hashable:
    if quantity.kind == "date":
        return ("date", frozenset(quantity.dates))
    if quantity.kind == "time":
        return ("time", frozenset(quantity.times))
    if quantity.kind == "label":
        return ("digits", quantity.text.strip().rstrip("."))
    amount = (frozenset(quantity.values), quantity.unit, quantity.per, quantity.bound)
    return (quantity.kind == "ordinal", *amount)


_ALIKE = 0.58
"""Least similarity of a quote to a line or sentence that is taken for its new wording."""
_SENTENCE_ALIKE = 0.75
"""Least similarity of the sentence around a quote, where the quote is only a part of it."""
_QUOTE_KEPT = 0.4
"""Least share of the quote that such a sentence must have kept."""
_SHORT_QUOTE = 40
"""Characters below which part of a sentence is looked for by its sentence alone: it resembles
too much."""
_COMPARED = 6
"""Passages with most trigrams in common that are compared character by character."""
_NEAR_TIE = 0.03
"""Similarities this close count as the same: the sentences around decide."""
_SHARED_WORDS = 3
"""Least content words of a claim in a sentence of another document that speaks of the same."""


class _PassageIndex(NamedTuple):
    """Lines and sentences of a document, headings left out, with the trigrams of each."""

    spans: list[tuple[int, int]]
    trigrams: list[frozenset[str]]
    holders: dict[str, list[int]]


class _Alike(NamedTuple):
    """A passage, and its similarity to what is looked for."""

    span: Span
    alike: float


class CurrentDocument:
    """A document of today, with what is worked out about it only once.

    Of its validity the moment is known at which a successor took over.
    """

    def __init__(self, document: Document, validity: Validity) -> None:
        self.document = document
        self.validity = validity
        self.source = Source(document.text)
        self._found: dict[tuple[str, str], NearestPassage | None] = {}

    @property
    def text(self) -> str:
        """Canonical text of the document."""
        return self.document.text

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        return sentence_bounds(self.text)

    @cached_property
    def _index(self) -> _PassageIndex:
        headings = {(span.start, span.end) for span in self.document.headings}
        spans = sorted({*_lines(self.text), *self._bounds} - headings)
        trigrams = [_trigrams(self.text[start:end]) for start, end in spans]
        holders: dict[str, list[int]] = defaultdict(list)
        for index, grams in enumerate(trigrams):
            for gram in grams:
                holders[gram].append(index)
        return _PassageIndex(spans, trigrams, holders)

    def around(self, span: Span) -> str:
        """Return the sentence(s) that enclose a span."""
        start, end = enclosing_bounds(self._bounds, span.start, span.end)
        return self.text[min(start, span.start) : max(end, span.end)]

    def nearest(self, quote: str, sentence: str) -> NearestPassage | None:
        """Return the new wording of a quote that is gone, or None where nothing is like it.

        `sentence` is what enclosed the quote.
        """
        key = (quote, sentence)
        if key not in self._found:
            self._found[key] = self._find(quote.strip(), sentence.strip())
        return self._found[key]

    def counterpart(self, claim: str, quote: str, sentence: str) -> NearestPassage | None:
        """Return what this document says in place of a quote of another document, or None."""
        return self.nearest(quote, sentence) or self.nearest_by_words(claim, quote)

    def nearest_by_words(self, claim: str, quote: str) -> NearestPassage | None:
        """Return the sentence that has most content words of a claim, where it has enough.

        It finds what another document says about the same things in its own words. How it differs
        is said against the quote.
        """
        wanted = _stems(claim)
        scored = [
            (len(wanted & _stems(self.text[start:end])), -start, Span(start=start, end=end))
            for start, end in self._bounds
        ]
        shared, _, span = max(scored, default=(0, 0, None), key=lambda item: item[:2])
        if span is None or shared < _SHARED_WORDS or 2 * shared < len(wanted):
            return None
        return self.compared(quote, span)

    def compared(self, old: str, span: Span, alike: float | None = None) -> NearestPassage:
        """Return a passage with how it differs from an old text."""
        new = span.of(self.text)
        return NearestPassage(
            doc_id=self.document.id,
            span=span,
            text=self.around(span),
            similarity=similarity(old, new) if alike is None else alike,
            diff=word_diff(old, new),
            numbers=number_changes(old, new),
        )

    def _find(self, quote: str, sentence: str) -> NearestPassage | None:
        partial = len(sentence) > len(quote) and quote in sentence
        short = partial and len(quote) < _SHORT_QUOTE
        if not short and (best := self._most_alike(quote, sentence)) and best.alike >= _ALIKE:
            return self.compared(quote, best.span, best.alike)
        if not partial:
            return None
        best = self._most_alike(sentence, sentence)
        if best is None or best.alike < (_ALIKE if short else _SENTENCE_ALIKE):
            return None
        if not short and kept_share(quote, sentence, best.span.of(self.text)) < _QUOTE_KEPT:
            return None
        return self.compared(sentence, best.span, best.alike)

    def _most_alike(self, target: str, sentence: str) -> _Alike | None:
        spans, trigrams, holders = self._index
        wanted = _trigrams(target)
        shared: Counter[int] = Counter()
        for gram in wanted:
            shared.update(holders.get(gram, ()))
        ranked = sorted(shared, key=lambda i: (-shared[i] / (len(wanted) + len(trigrams[i])), i))
        found = [
            _Alike(Span(start=start, end=end), similarity(target, self.text[start:end]))
            for start, end in (spans[index] for index in ranked[:_COMPARED])
        ]
        best = max((each.alike for each in found), default=0.0)
        # Lines that read nearly alike are distinguished by the sentence that they stand in.
        return max(
            (each for each in found if each.alike >= best - _NEAR_TIE),
            key=lambda each: each.alike + _NEAR_TIE * similarity(sentence, self.around(each.span)),
            default=None,
        )


def _stems(text: str) -> frozenset[str]:
    """Return the content words of a text; its figures are what may have changed."""
    words = content_words(text)
    return frozenset(word.stem for word in words if not any(c.isdigit() for c in word.text))


def _trigrams(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2)))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    offset = 0
    for line in text.splitlines(keepends=True):
        content = line.strip()
        if content:
            start = offset + line.index(content[0])
            yield start, start + len(content)
        offset += len(line)
