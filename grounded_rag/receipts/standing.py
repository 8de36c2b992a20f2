"""Where a quote of a receipt stands in the documents as they are now."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from grounded_rag.receipts.findings import CitationStanding, TextStatus
from grounded_rag.receipts.integrity import sha256
from grounded_rag.receipts.library import Held, Library, Unreadable
from grounded_rag.types import Chunk, ReceiptCitation, ReceiptSource, RetrievedChunk, Span
from grounded_rag.verification.evidence import stated_at
from grounded_rag.verification.locate import Match, Quote, Source, locate
from grounded_rag.verification.passages import Passage

_TARGET = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]*\))*\)")
_WORD = re.compile(r"\w+")


class WithoutTargets(NamedTuple):
    """A text whose link targets are empty, and the way back.

    Attributes:
        text: The text, with `()` for each target.
        starts: Where stretches that were copied or emptied begin in it, in order.
        offsets: Where the same stretches begin in the original text.
    """

    text: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]

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


_BEFORE = 4000
_AFTER = 1500
_ALSO = 5
_TELLING_WORDS = 4


class Around(NamedTuple):
    """What stands around a quote, as its source writes it.

    Attributes:
        stated: The statements that it stands in, as a reader gets them.
        sentence: Their own sentences.
        reach: From the first to the last of all text that the statements are made of.
        span: Where `reach` stands in the text that was looked at.
    """

    stated: str
    sentence: str
    reach: str
    span: Span

    def same_as(self, other: Around) -> bool:
        """Whether the words are the same, as a reader gets them or as they are written."""
        ours = {tuple(text.split()) for text in (self.stated, self.sentence)}
        return any(tuple(text.split()) in ours for text in (other.stated, other.sentence))


def around(passage: Passage, span: Span) -> Around:
    """Return what stands around a range of a passage.

    Args:
        passage: The passage.
        span: Code points of its text.
    """
    found = stated_at(passage, span)
    return Around(
        found.text, found.span.of(passage.text), found.reach.of(passage.text), found.reach
    )


class Placed(NamedTuple):
    """One quote with what is known about its place today.

    Attributes:
        standing: What became of it.
        before: What stood around it then.
        held: The document in which it stands, or None.
        passage: The part of today's text that the verifier is to judge, or None where the words
            are gone or the whole chunk stands as it was.
        now: What stands around it in that part.
    """

    standing: CitationStanding
    before: Around
    held: Held | None = None
    passage: Passage | None = None
    now: Around | None = None


def place(
    citation: ReceiptCitation, source: ReceiptSource, passage: Passage | None, library: Library
) -> Placed:
    """Find a quote in the documents as they are now.

    Args:
        citation: The quote.
        source: Its chunk.
        passage: The chunk with its text, where that is known.
        library: Today's documents.
    """
    known = CitationStanding(
        quote=citation.quote,
        doc_id=citation.doc_id,
        title=source.title,
        status=TextStatus.NOT_COMPARED,
    )
    shown = citation.sentence
    before = Around(shown, shown, shown, citation.chunk_span)
    if passage is not None:
        before = around(passage, citation.chunk_span)
    if library.kind == "nothing":
        return Placed(known, before)
    held = library.get(citation.doc_id)
    if held is None and source.document_hash is not None:
        renamed = library.with_hash(source.document_hash)
        held = None if renamed is None else library.get(renamed)
    if held is None:
        return Placed(_gone(known, before, library), before)
    if isinstance(held, Unreadable):
        unread = known.model_copy(update={"status": TextStatus.COULD_NOT_CHECK})
        return Placed(unread, before)
    return _Search(citation, source, before, held, known).placed(passage)


def _gone(known: CitationStanding, before: Around, library: Library) -> CitationStanding:
    holders = [held.document.id for held in library.all() if before.sentence.strip() in held.text]
    return known.model_copy(
        update={"status": TextStatus.DOCUMENT_GONE, "also_in": tuple(holders[:_ALSO])}
    )


class _Search(NamedTuple):
    """The search of one quote in one document of today."""

    citation: ReceiptCitation
    source: ReceiptSource
    before: Around
    held: Held
    known: CitationStanding

    def placed(self, passage: Passage | None) -> Placed:
        """Return the place of the quote, looked for from the strictest way to the mildest.

        Args:
            passage: The chunk as it was, where its text is known.
        """
        quote, held = self.citation.quote, self.held
        if passage is not None:
            start = _nearest_to(held.text, passage.text, self.source.span.start)
            if start is not None:
                standing = self._standing(self.citation.chunk_span.shift(start))
                return Placed(standing, self.before, held)
        literal = locate(held.source, Quote(quote), repair=False)
        if isinstance(literal, Match):
            return self._stands(
                self._choose([Span(start=p.start, end=p.end) for p in literal.places])
            )
        links = self._links_apart()
        if links is not None:
            return self._stands(links, TextStatus.LINK_CHANGED)
        folded = locate(held.source, Quote(quote))
        if isinstance(folded, Match):
            span = self._choose([Span(start=p.start, end=p.end) for p in folded.places])
            same_links = link_count(quote) == link_count(span.of(held.text))
            if same_links or word_count(quote) >= _TELLING_WORDS:
                status = TextStatus.REFORMATTED if same_links else TextStatus.LINK_CHANGED
                return self._stands(span, status)
        nearest = held.nearest(quote, self.before.sentence)
        status = TextStatus.REMOVED if nearest is None else TextStatus.TEXT_CHANGED
        found_in = None if nearest is None else held.document.id
        changed = {"status": status, "nearest": nearest, "found_in": found_in}
        return Placed(self.known.model_copy(update=changed), self.before, held)

    def _standing(self, span: Span, status: TextStatus | None = None) -> CitationStanding:
        if status is None:
            same = self.held.document.id == self.citation.doc_id
            same = same and span == self.citation.document_span
            status = TextStatus.STILL_TRUE if same else TextStatus.TEXT_MOVED
        differs = status in (TextStatus.LINK_CHANGED, TextStatus.REFORMATTED)
        return self.known.model_copy(
            update={
                "status": status,
                "nearest": self.held.compared(self.citation.quote, span) if differs else None,
                "found_in": self.held.document.id,
                "span": span,
            }
        )

    def _stands(self, span: Span, status: TextStatus | None = None) -> Placed:
        passage = Passage(_passage(self.citation, self.source, self.held, span))
        now = around(passage, span.shift(-passage.chunk.span.start))
        standing = self._standing(span, status).model_copy(
            update={"sentence_changed": not now.same_as(self.before)}
        )
        return Placed(standing, self.before, self.held, passage, now)

    def _choose(self, spans: Iterable[Span]) -> Span:
        """Choose among places of a quote: the old one, then the same sentence, then the nearest."""
        old, sentence = self.citation.document_span, self.before.sentence.split()

        def rank(span: Span) -> tuple[bool, bool, int]:
            same_sentence = self.held.passages.around(span).split() == sentence
            return span != old, not same_sentence, abs(span.start - old.start)

        return min(spans, key=rank)

    def _links_apart(self) -> Span | None:
        """Return where a quote stands when the targets of links are left out of both texts.

        Of a few words ("[here](…)") that would find any; there the whole sentence has to stand.
        """
        quote = self.citation.quote
        if not link_count(quote):
            return None
        bare = without_targets(self.held.text)
        sentence = without_targets(self.before.sentence).text
        if word_count(quote) < _TELLING_WORDS and sentence not in bare.text:
            return None
        found = locate(Source(bare.text), Quote(without_targets(quote).text), repair=False)
        if not isinstance(found, Match):
            return None
        return self._choose([bare.span(p.start, p.end) for p in found.places])


def changed_around(placed: Placed) -> CitationStanding:
    """Return a quote that stands, as changed: the statement around it carries it no more."""
    held, passage, now = placed.held, placed.passage, placed.now
    if held is None or passage is None or now is None:
        return placed.standing
    span = now.span.shift(passage.chunk.span.start)
    return placed.standing.model_copy(
        update={
            "status": TextStatus.TEXT_CHANGED,
            "nearest": held.compared(placed.before.reach, span),
        }
    )


def _nearest_to(text: str, part: str, wanted: int) -> int | None:
    """Return where `part` stands in `text`, nearest to where it stood before."""
    if not part:
        return None
    if text.startswith(part, wanted):
        return wanted
    after, before = text.find(part, wanted), text.rfind(part, 0, wanted + len(part))
    found = [position for position in (after, before) if position >= 0]
    return min(found, key=lambda position: abs(position - wanted)) if found else None


def _passage(
    citation: ReceiptCitation, source: ReceiptSource, held: Held, span: Span
) -> RetrievedChunk:
    """Return the part of today's text around a quote as a chunk that the verifier can judge.

    It goes back to the last heading and beyond the chunk's own size, so that the header of a table
    and the line that leads into a list are in it.
    """
    text = held.text
    start, end = max(0, span.start - _BEFORE), min(len(text), span.end + _AFTER)
    for heading in held.document.headings:
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
        for h in held.document.headings
        if h.end > start and h.start < whole.end
    )
    return RetrievedChunk(
        chunk=Chunk(
            id=f"{citation.chunk_id}@{span.start}",
            doc_id=held.document.id,
            span=whole,
            text=part,
            content_hash=sha256(part),
            headings=source.headings,
            heading_spans=headings,
            page=held.document.page_of(start),
        ),
        title=held.document.title,
        source=held.document.source,
        trust=source.trust,
        validity=held.validity,
    )
