"""Where a text that changed stands now: the line or sentence of a document that resembles it most.

Resemblance is a finder for people, never evidence: nothing here makes a claim true.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from grounded_rag.receipts.differences import kept_share, similarity
from grounded_rag.text.sentences import enclosing_bounds, sentence_bounds
from grounded_rag.text.words import content_words
from grounded_rag.types import Document, Span

ALIKE = 0.58
"""Least similarity of a quote to a line or sentence that is taken for its new wording."""

SENTENCE_ALIKE = 0.75
"""Least similarity of the sentence around a quote, where the quote is only a part of it."""

QUOTE_KEPT = 0.4
"""Least share of the quote that such a sentence must have kept."""

_COMPARED = 6
_NEIGHBOURS = 0.03
_SHORT = 40
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
        short = partial and len(quote) < _SHORT
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
