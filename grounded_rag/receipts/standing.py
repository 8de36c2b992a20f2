"""Where a quote of a receipt stands in the documents as they are now."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from grounded_rag.receipts.differences import CurrentDocument
from grounded_rag.receipts.findings import CitationStanding, TextStatus
from grounded_rag.receipts.library import Library
from grounded_rag.receipts.make import text_hash
from grounded_rag.types import Chunk, ReceiptCitation, ReceiptSource, RetrievedChunk, Span
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.locate import Match, Quote, Source, locate
from grounded_rag.verification.passages import Passage

_BEFORE = 4000
_AFTER = 1500
"""Characters around a quote that the verifier sees of today's text, up to a heading."""
_HOLDERS_NAMED = 5
_TELLING_WORDS = 4
"""Words from which a quote is found without its links; "[here](…)" alone would stand anywhere."""


class Around(NamedTuple):
    """What stands around a quote, as its source writes it."""

    stated: str  # the statements that it stands in, as a reader gets them
    sentence: str  # their own sentences
    reach: str  # from the first to the last of all text that the statements are made of
    span: Span  # where `reach` stands in the text that was looked at

    @classmethod
    def of(cls, passage: Passage, span: Span) -> Around:
        """Return what stands around a range of a passage's text."""
        found = stated_at(passage, span)
        text = passage.text
        return cls(found.text, found.span.of(text), found.reach.of(text), found.reach)

    def same_words(self, other: Around) -> bool:
        """Whether the words are the same, as a reader gets them or as they are written."""
        ours = {tuple(text.split()) for text in (self.stated, self.sentence)}
        return any(tuple(text.split()) in ours for text in (other.stated, other.sentence))


class Placed(NamedTuple):
    """One quote with what is known about its place today.

    `passage` is the part of today's text that the verifier is to judge, or None where the words are
    gone or the whole chunk stands as it was; `before` and `now` are what stood around the quote
    then, and what stands around it in that part.
    """

    standing: CitationStanding
    before: Around
    document: CurrentDocument | None = None
    passage: Passage | None = None
    now: Around | None = None

    def as_changed(self) -> CitationStanding:
        """Return a quote that stands as changed: the statement around it carries it no more."""
        if self.document is None or self.passage is None or self.now is None:
            return self.standing
        span = self.now.span.shift(self.passage.chunk.span.start)
        nearest = self.document.compared(self.before.reach, span)
        return self.standing.model_copy(
            update={"status": TextStatus.TEXT_CHANGED, "nearest": nearest}
        )


def place(
    citation: ReceiptCitation, source: ReceiptSource, passage: Passage | None, library: Library
) -> Placed:
    """Find a quote in the documents as they are now; `passage` is its chunk, if known."""
    shown = citation.sentence
    before = Around(shown, shown, shown, citation.chunk_span)
    if passage is not None:
        before = Around.of(passage, citation.chunk_span)
    known = CitationStanding(
        quote=citation.quote,
        doc_id=citation.doc_id,
        title=source.title,
        status=TextStatus.NOT_COMPARED,
    )
    if library.kind == "nothing":
        return Placed(known, before)
    document = library.get(citation.doc_id)
    if document is None and citation.doc_id in library.ids():
        unread = known.model_copy(update={"status": TextStatus.COULD_NOT_CHECK})
        return Placed(unread, before)
    if document is None and source.document_hash is not None:
        document = library.with_hash(source.document_hash)
    if document is None:
        sentence = before.sentence.strip()
        holders = [each.document.id for each in library.all() if sentence in each.text]
        gone = {"status": TextStatus.DOCUMENT_GONE, "also_in": tuple(holders[:_HOLDERS_NAMED])}
        return Placed(known.model_copy(update=gone), before)
    return _QuoteSearch(citation, source, before, document, known).placed(passage)


class _QuoteSearch(NamedTuple):
    """The search of one quote in one document of today."""

    citation: ReceiptCitation
    source: ReceiptSource
    before: Around
    document: CurrentDocument
    known: CitationStanding

    def placed(self, passage: Passage | None) -> Placed:
        """Return the place of the quote, looked for from the strictest way to the mildest."""
        quote, document = self.citation.quote, self.document
        if passage is not None:
            start = _nearest_to(document.text, passage.text, self.source.span.start)
            if start is not None:
                standing = self._standing(self.citation.chunk_span.shift(start))
                return Placed(standing, self.before, document)
        literal = locate(document.source, Quote(quote), repair=False)
        if isinstance(literal, Match):
            return self._stands(
                self._choose(Span(start=p.start, end=p.end) for p in literal.places)
            )
        links = self._without_links()
        if links is not None:
            return self._stands(links, TextStatus.LINK_CHANGED)
        folded = locate(document.source, Quote(quote))
        if isinstance(folded, Match):
            span = self._choose(_spans(folded))
            same_links = link_count(quote) == link_count(span.of(document.text))
            if same_links or word_count(quote) >= _TELLING_WORDS:
                status = TextStatus.REFORMATTED if same_links else TextStatus.LINK_CHANGED
                return self._stands(span, status)
        nearest = document.nearest(quote, self.before.sentence)
        changed: dict[str, object] = {"status": TextStatus.REMOVED}
        if nearest is not None:
            changed = {
                "status": TextStatus.TEXT_CHANGED,
                "nearest": nearest,
                "found_in": document.document.id,
            }
        return Placed(self.known.model_copy(update=changed), self.before, document)

    def _standing(self, span: Span, status: TextStatus | None = None) -> CitationStanding:
        doc_id = self.document.document.id
        if status is None:
            was = (self.citation.doc_id, self.citation.document_span)
            status = TextStatus.STILL_TRUE if (doc_id, span) == was else TextStatus.TEXT_MOVED
        differs = status in (TextStatus.LINK_CHANGED, TextStatus.REFORMATTED)
        nearest = self.document.compared(self.citation.quote, span) if differs else None
        found = {"status": status, "nearest": nearest, "found_in": doc_id, "span": span}
        return self.known.model_copy(update=found)

    def _stands(self, span: Span, status: TextStatus | None = None) -> Placed:
        passage = Passage(_passage(self.citation, self.source, self.document, span))
        now = Around.of(passage, span.shift(-passage.chunk.span.start))
        standing = self._standing(span, status).model_copy(
            update={"sentence_changed": not now.same_words(self.before)}
        )
        return Placed(standing, self.before, self.document, passage, now)

    def _choose(self, spans: Iterable[Span]) -> Span:
        """Choose among places of a quote: the old one, then the same sentence, then the nearest."""
        old, sentence = self.citation.document_span, self.before.sentence.split()

        def rank(span: Span) -> tuple[bool, bool, int]:
            same_sentence = self.document.around(span).split() == sentence
            return span != old, not same_sentence, abs(span.start - old.start)

        return min(spans, key=rank)

    def _without_links(self) -> Span | None:
        """Return where a quote stands when the targets of links are left out of both texts.

        Of a few words ("[here](…)") that would find any; there the whole sentence has to stand.
        """
        quote = self.citation.quote
        if not link_count(quote):
            return None
        bare = without_targets(self.document.text)
        sentence = without_targets(self.before.sentence).text
        if word_count(quote) < _TELLING_WORDS and sentence not in bare.text:
            return None
        found = locate(Source(bare.text), Quote(without_targets(quote).text), repair=False)
        if not isinstance(found, Match):
            return None
        return self._choose(bare.span(p.start, p.end) for p in found.places)


def _spans(match: Match) -> list[Span]:
    return [Span(start=place.start, end=place.end) for place in match.places]


def _nearest_to(text: str, part: str, wanted: int) -> int | None:
    """Return where `part` stands in `text`, nearest to where it stood before."""
    if not part:
        return None
    if text.startswith(part, wanted):
        return wanted
    after, before = text.find(part, wanted), text.rfind(part, 0, wanted + len(part))
    found = [position for position in (after, before) if position >= 0]
    return min(found, key=lambda position: abs(position - wanted), default=None)


def _passage(
    citation: ReceiptCitation, source: ReceiptSource, document: CurrentDocument, span: Span
) -> RetrievedChunk:
    """Return the part of today's text around a quote as a chunk that the verifier can judge.

    It goes back to the last heading and beyond the chunk's own size, so that the header of a table
    and the line that leads into a list are in it.
    """
    text, today = document.text, document.document
    start, end = max(0, span.start - _BEFORE), min(len(text), span.end + _AFTER)
    for heading in today.headings:
        if start < heading.start <= span.start:
            start = heading.start
        if span.end <= heading.start < end:
            end = heading.start
    start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    end = len(text) if line_end < 0 else line_end
    whole = Span(start=start, end=max(end, span.end))
    part = whole.of(text)
    headings = tuple(
        Span(start=max(h.start, start), end=min(h.end, whole.end)).shift(-start)
        for h in today.headings
        if h.end > start and h.start < whole.end
    )
    return RetrievedChunk(
        chunk=Chunk(
            id=f"{citation.chunk_id}@{span.start}",
            doc_id=today.id,
            span=whole,
            text=part,
            content_hash=text_hash(part),
            headings=source.headings,
            heading_spans=headings,
            page=today.page_of(start),
        ),
        title=today.title,
        source=today.source,
        trust=source.trust,
        validity=document.validity,
    )


_TARGET = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]*\))*\)")
_WORD = re.compile(r"\w+")


class WithoutTargets(NamedTuple):
    """A text whose link targets are empty, and the way back."""

    text: str  # with `()` for each target
    starts: tuple[int, ...]  # where stretches that were copied or emptied begin in it, in order
    offsets: tuple[int, ...]  # where the same stretches begin in the original text

    def span(self, start: int, end: int) -> Span:
        """Return the place in the original text of a place in this one."""
        return Span(start=self._back(start), end=self._back(end - 1) + 1)

    def _back(self, position: int) -> int:
        at = bisect_right(self.starts, position) - 1
        return self.offsets[at] + position - self.starts[at]


def without_targets(text: str) -> WithoutTargets:
    """Return `text` with the targets of its Markdown links left out."""
    pieces: list[str] = []
    starts, offsets = [0], [0]
    length = done = 0
    for match in _TARGET.finditer(text):
        kept = text[done : match.start()] + "("
        pieces += [kept, ")"]
        length += len(kept)
        # The closing bracket is where the text goes on.
        starts.append(length)
        offsets.append(match.end() - 1)
        length += 1
        done = match.end()
    pieces.append(text[done:])
    return WithoutTargets("".join(pieces), tuple(starts), tuple(offsets))


def link_count(text: str) -> int:
    """Return the number of Markdown links, also of one whose text begins before `text`."""
    return len(_TARGET.findall(text))


def word_count(text: str) -> int:
    """Return the number of words that are not part of a link's target."""
    return len(_WORD.findall(without_targets(text).text))
