"""How two texts differ: word by word, and number by number by value."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple

from grounded_rag.receipts.findings import DiffPart, NumberChange
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity
from grounded_rag.text.sentences import enclosing_bounds, sentence_bounds
from grounded_rag.text.words import content_words
from grounded_rag.types import Document, Span

_SHORT = 10_000
_PIECE = 512
_ROUNDS = 8

Items = Sequence[Hashable]


class Block(NamedTuple):
    """A run of items that both sequences have.

    Attributes:
        left: Where it begins in the first.
        right: Where it begins in the second.
        size: Its number of items.
    """

    left: int
    right: int
    size: int


class Step(NamedTuple):
    """A part of the way from one sequence to the other: the same items, or others."""

    kind: Literal["same", "other"]
    left: slice
    right: slice


class _Stretch(NamedTuple):
    """Ranges of both sequences that are still to be compared."""

    left: int
    left_end: int
    right: int
    right_end: int
    round: int


def common_blocks(left: Items, right: Items) -> list[Block]:
    """Return runs of items that stand in both sequences in the same order, without overlap.

    Args:
        left: The first sequence.
        right: The second.
    """
    if len(left) * len(right) <= _SHORT:
        matcher = SequenceMatcher(None, left, right, autojunk=False)
        return [Block(a, b, size) for a, b, size in matcher.get_matching_blocks() if size]
    waiting = [_Stretch(0, len(left), 0, len(right), 0)]
    found: list[Block] = []
    while waiting:
        inner, ends = _without_ends(left, right, waiting.pop())
        found += ends
        ours, theirs = inner.left_end - inner.left, inner.right_end - inner.right
        if not ours or not theirs:
            continue
        if max(ours, theirs) <= _PIECE:
            found += _subsequence(left, right, inner)
        else:
            waiting += _cut(left, right, inner)
    return _merged(sorted(found))


def steps(left: Items, right: Items) -> Iterator[Step]:
    """Yield what leads from one sequence to the other, in order; together it covers both.

    Args:
        left: The first sequence.
        right: The second.
    """
    at_left = at_right = 0
    for block in (*common_blocks(left, right), Block(len(left), len(right), 0)):
        if at_left < block.left or at_right < block.right:
            yield Step("other", slice(at_left, block.left), slice(at_right, block.right))
        at_left, at_right = block.left + block.size, block.right + block.size
        if block.size:
            yield Step("same", slice(block.left, at_left), slice(block.right, at_right))


def _subsequence(left: Items, right: Items, stretch: _Stretch) -> Iterator[Block]:
    """Yield the longest common subsequence of a stretch, item by item and from behind.

    A row of the table of lengths is one number: a bit is off where one item more of the left side
    makes the subsequence longer (Crochemore et al. 2001, as Hyyrö 2004 puts it).
    """
    start, end, other, other_end, _ = stretch
    where: dict[Hashable, int] = {}
    for bit, item in enumerate(left[start:end]):
        where[item] = where.get(item, 0) | 1 << bit
    mask = (1 << (end - start)) - 1
    row = mask
    rows: list[int] = []
    for item in right[other:other_end]:
        both = row & where.get(item, 0)
        row = ((row + both) | (row - both)) & mask
        rows.append(row)
    column, at = end - start, other_end - other
    while at and column:
        bit = 1 << (column - 1)
        if rows[at - 1] & bit:
            column -= 1
            continue
        at -= 1
        if not at or rows[at - 1] & bit:
            column -= 1
            yield Block(start + column, other + at, 1)


def _without_ends(left: Items, right: Items, stretch: _Stretch) -> tuple[_Stretch, list[Block]]:
    """Return a stretch without what both sides begin and end with, and that."""
    start, end, other, other_end, turn = stretch
    while start < end and other < other_end and left[start] == right[other]:
        start, other = start + 1, other + 1
    while end > start and other_end > other and left[end - 1] == right[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    ends = [
        Block(stretch.left, stretch.right, start - stretch.left),
        Block(end, other_end, stretch.left_end - end),
    ]
    inner = _Stretch(start, end, other, other_end, turn)
    return inner, [block for block in ends if block.size]


def _cut(left: Items, right: Items, stretch: _Stretch) -> list[_Stretch]:
    """Return the stretches between items that stand once on both sides; else pieces of a size."""
    start, end, other, other_end, turn = stretch
    anchors = _anchors(left, right, stretch) if turn < _ROUNDS else []
    if not anchors:
        return _pieces(stretch)
    found: list[_Stretch] = []
    for at_left, at_right in [*anchors, (end, other_end)]:
        # An anchor is found again as the beginning of what follows it.
        found.append(_Stretch(start, at_left, other, at_right, turn + 1))
        start, other = at_left, at_right
    found[-1] = found[-1]._replace(left_end=end, right_end=other_end)
    return [each for each in found if each.left < each.left_end and each.right < each.right_end]


def _anchors(left: Items, right: Items, stretch: _Stretch) -> list[tuple[int, int]]:
    """Return items that stand once on both sides, as many as keep their order."""
    ours = _once(left, stretch.left, stretch.left_end)
    theirs = _once(right, stretch.right, stretch.right_end)
    pairs = [(at, theirs[item]) for item, at in ours.items() if item in theirs]
    return _rising(pairs)


def _once(items: Items, start: int, end: int) -> dict[Hashable, int]:
    counts = Counter(items[start:end])
    return {items[at]: at for at in range(start, end) if counts[items[at]] == 1}


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest run of pairs, sorted by their first, whose second rises too."""
    lasts: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, second) in enumerate(pairs):
        at = bisect_left(lasts, second)
        before.append(ends[at - 1] if at else -1)
        lasts[at : at + 1] = [second]
        ends[at : at + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _pieces(stretch: _Stretch) -> list[_Stretch]:
    ours, theirs = stretch.left_end - stretch.left, stretch.right_end - stretch.right
    count = -(-max(ours, theirs) // _PIECE)
    cuts = [
        (stretch.left + ours * number // count, stretch.right + theirs * number // count)
        for number in range(count + 1)
    ]
    return [
        _Stretch(a, b, c, d, stretch.round) for (a, c), (b, d) in pairwise(cuts) if a < b and c < d
    ]


def _merged(blocks: list[Block]) -> list[Block]:
    merged: list[Block] = []
    for block in blocks:
        if merged:
            last = merged[-1]
            if last.left + last.size == block.left and last.right + last.size == block.right:
                merged[-1] = last._replace(size=last.size + block.size)
                continue
        merged.append(block)
    return merged


_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|.", re.DOTALL
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_BY_CHARACTER = 600


def tokens(text: str) -> list[str]:
    """Return words, numbers, single CJK characters, white space and marks; joined, the text."""
    return _TOKEN.findall(text)


def similarity(old: str, new: str) -> float:
    """Return the share of characters that two texts have in common in order, 0 to 1.

    Long texts are compared by words: that takes a fraction of the time and differs little.
    """
    total = len(old) + len(new)
    if not total:
        return 1.0
    if total <= _BY_CHARACTER:
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    left, right = tokens(old), tokens(new)
    blocks = common_blocks(left, right)
    kept = sum(len(t) for block in blocks for t in left[block.left : block.left + block.size])
    return 2 * kept / total


def kept_share(part: str, old: str, new: str) -> float:
    """Return the share of `part`, a slice of `old`, that stands where `new` aligns with `old`."""
    start = old.find(part)
    if start < 0 or not part:
        return 0.0
    left, right = tokens(old), tokens(new)
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
    left, right = tokens(old), tokens(new)
    parts: list[DiffPart] = []
    for step in steps(_plain(left), _plain(right)):
        old_part, new_part = "".join(left[step.left]), "".join(right[step.right])
        if step.kind == "same":
            parts.append(DiffPart.model_construct(kind="same", text=new_part))
            continue
        if old_part:
            parts.append(DiffPart.model_construct(kind="removed", text=old_part))
        if new_part:
            parts.append(DiffPart.model_construct(kind="added", text=new_part))
    return tuple(parts)


def _plain(parts: Sequence[str]) -> list[str]:
    return [" " if part.isspace() else part for part in parts]


class _Number(NamedTuple):
    """A number of a text: how it is written, and what it says."""

    text: str
    key: Hashable


def number_changes(old: str, new: str) -> tuple[NumberChange, ...]:
    """Return every number, date and time by whose value or unit two texts differ, in order.

    "two weeks" and "2 weeks" are the same. Digits that count nothing, as in an address or a name,
    are compared as they are written.
    """
    left, right = _numbers(old), _numbers(new)
    changes: list[NumberChange] = []
    for step in steps([number.key for number in left], [number.key for number in right]):
        if step.kind == "same":
            continue
        before: list[str | None] = [number.text for number in left[step.left]]
        after: list[str | None] = [number.text for number in right[step.right]]
        width = max(len(before), len(after))
        before += [None] * (width - len(before))
        after += [None] * (width - len(after))
        changes += [NumberChange(old=o, new=n) for o, n in zip(before, after, strict=True)]
    return tuple(changes)


def _numbers(text: str) -> list[_Number]:
    found: list[tuple[int, _Number]] = []
    covered = bytearray(len(text))
    for quantity in find_quantities(text):
        if quantity.soft and not any(character.isdigit() for character in quantity.text):
            continue
        covered[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
        found.append((quantity.start, _Number(quantity.text, _key(quantity))))
    found.extend(
        (match.start(), _Number(match[0], ("digits", match[0])))
        for match in _DIGITS.finditer(text)
        if not covered[match.start()]
    )
    return [number for _, number in sorted(found, key=lambda item: item[0])]


def _key(quantity: Quantity) -> Hashable:
    if quantity.kind == "date":
        return ("date", frozenset(quantity.dates))
    if quantity.kind == "time":
        return ("time", frozenset(quantity.times))
    if quantity.kind == "label":
        return ("digits", quantity.text.strip().rstrip("."))
    return (quantity.kind == "ordinal", frozenset(quantity.values), quantity.unit, quantity.per,
            quantity.bound)  # fmt: skip


ALIKE = 0.58
"""Least similarity of a quote to a line or sentence that is taken for its new wording."""

SENTENCE_ALIKE = 0.75
"""Least similarity of the sentence around a quote, where the quote is only a part of it."""

QUOTE_KEPT = 0.4
"""Least share of the quote that such a sentence must have kept."""

_COMPARED = 6
_NEIGHBOURS = 0.03
_ALIGNMENT_SHORT = 40
_SHARED_WORDS = 3


class Aligned(NamedTuple):
    """A passage of the new text.

    Attributes:
        span: What was compared, in code points of the document.
        old: The old text that it was compared with: the quote, or the sentence around it.
        similarity: Share of characters in common, 0 to 1.
    """

    span: Span
    old: str
    similarity: float


class DocumentPassages:
    """The lines and sentences of one document, for finding the nearest to a text."""

    __slots__ = ("_bounds", "_document", "_grams", "_holders", "_spans", "text")

    def __init__(self, document: Document) -> None:
        self.text = document.text
        self._document = document
        self._bounds = sentence_bounds(document.text)
        self._spans: list[tuple[int, int]] = []
        self._grams: list[frozenset[str]] = []
        self._holders: dict[str, list[int]] = defaultdict(list)

    def _prepare(self) -> None:
        """Index the passages by their trigrams, when the first one is looked for."""
        headings = {(span.start, span.end) for span in self._document.headings}
        self._spans = sorted({*_lines(self.text), *self._bounds} - headings)
        self._grams = [_grams(self.text[start:end]) for start, end in self._spans]
        for index, grams in enumerate(self._grams):
            for gram in grams:
                self._holders[gram].append(index)

    def around(self, span: Span) -> str:
        """Return the sentence(s) that enclose a span."""
        return self.around_span(span).of(self.text)

    def around_span(self, span: Span) -> Span:
        """Return the place of the sentence(s) that enclose a span."""
        start, end = enclosing_bounds(self._bounds, span.start, span.end)
        return Span(start=min(start, span.start), end=max(end, span.end))

    def find(self, quote: str, sentence: str) -> Aligned | None:
        """Return the new wording of a quote, or None where nothing resembles it enough.

        Args:
            quote: The quote, which does not stand in the document.
            sentence: The sentence(s) that enclosed it.
        """
        if not self._spans:
            self._prepare()
        quote, sentence = quote.strip(), sentence.strip()
        partial = len(sentence) > len(quote) and quote in sentence
        short = partial and len(quote) < _ALIGNMENT_SHORT
        best = None if short else self._nearest(quote, sentence)
        if best is not None and best.similarity >= ALIKE:
            return best
        if not partial:
            return None
        whole = self._nearest(sentence, sentence)
        if whole is None or whole.similarity < (ALIKE if short else SENTENCE_ALIKE):
            return None
        kept = kept_share(quote, sentence, whole.span.of(self.text))
        return whole if short or kept >= QUOTE_KEPT else None

    def find_by_words(self, claim: str, quote: str) -> Aligned | None:
        """Return the sentence that has most content words of a claim, where it has enough.

        It finds what another document says about the same things in its own words.

        Args:
            claim: The claim.
            quote: The old text, which is compared with the sentence.
        """
        wanted = _stems(claim)
        scored = [
            (len(wanted & _stems(self.text[start:end])), -start, Span(start=start, end=end))
            for start, end in self._bounds
        ]
        shared, _, span = max(scored, default=(0, 0, None), key=lambda item: item[:2])
        if span is None or shared < _SHARED_WORDS or 2 * shared < len(wanted):
            return None
        return Aligned(span, quote, similarity(quote, span.of(self.text)))

    def _nearest(self, target: str, sentence: str) -> Aligned | None:
        grams = _grams(target)
        shared: Counter[int] = Counter()
        for gram in grams:
            shared.update(self._holders.get(gram, ()))
        ranked = sorted(shared, key=lambda i: (-shared[i] / (len(grams) + len(self._grams[i])), i))[
            :_COMPARED
        ]
        scored = [(similarity(target, self._of(index)), index) for index in ranked]
        if not scored:
            return None
        best = max(score for score, _ in scored)
        near = [(score, index) for score, index in scored if score >= best - _NEIGHBOURS]
        # Lines that read nearly alike are told apart by the sentence that they stand in.
        score, index = max(near, key=lambda item: item[0] + self._context(item[1], sentence))
        start, end = self._spans[index]
        return Aligned(Span(start=start, end=end), target, score)

    def _context(self, index: int, sentence: str) -> float:
        start, end = enclosing_bounds(self._bounds, *self._spans[index])
        return _NEIGHBOURS * similarity(sentence, self.text[start:end])

    def _of(self, index: int) -> str:
        start, end = self._spans[index]
        return self.text[start:end]


def _stems(text: str) -> frozenset[str]:
    """Return the content words of a text; its figures are what may have changed."""
    words = content_words(text)
    return frozenset(word.stem for word in words if not any(c.isdigit() for c in word.text))


def _grams(text: str) -> frozenset[str]:
    return frozenset(text[i : i + 3] for i in range(max(1, len(text) - 2)))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    offset = 0
    for line in text.splitlines(keepends=True):
        content = line.strip()
        if content:
            start = offset + line.index(content[0])
            yield start, start + len(content)
        offset += len(line)
