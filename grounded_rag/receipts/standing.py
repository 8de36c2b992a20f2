"""Where a quote of a receipt stands in the documents as they are now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from grounded_rag.receipts.findings import CitationStanding, TextStatus
from grounded_rag.receipts.integrity import sha256
from grounded_rag.receipts.library import Held, Library, Unreadable
from grounded_rag.receipts.links import link_count, without_targets, word_count
from grounded_rag.types import Chunk, ReceiptCitation, ReceiptSource, RetrievedChunk, Span
from grounded_rag.verification.locate import Match, Quote, Source, locate

_BEFORE = 4000
_AFTER = 1500
_ALSO = 5
_TELLING_WORDS = 4


class Placed(NamedTuple):
    """One quote with what is known about its place today.

    Attributes:
        standing: What became of it.
        held: The document in which it stands, or None.
        passage: The part of today's text that the verifier is to judge, or None where the words
            are gone or the whole chunk stands as it was.
    """

    standing: CitationStanding
    held: Held | None = None
    passage: RetrievedChunk | None = None


def place(
    citation: ReceiptCitation, source: ReceiptSource, text: str | None, library: Library
) -> Placed:
    """Find a quote in the documents as they are now.

    Args:
        citation: The quote.
        source: Its chunk.
        text: The chunk's text, where it is known.
        library: Today's documents.
    """
    known = CitationStanding(
        quote=citation.quote,
        doc_id=citation.doc_id,
        title=source.title,
        status=TextStatus.NOT_COMPARED,
    )
    if library.kind == "nothing":
        return Placed(known)
    held = library.get(citation.doc_id)
    if held is None and source.document_hash is not None:
        renamed = library.with_hash(source.document_hash)
        held = None if renamed is None else library.get(renamed)
    if held is None:
        return Placed(_gone(known, citation, library))
    if isinstance(held, Unreadable):
        return Placed(known.model_copy(update={"status": TextStatus.COULD_NOT_CHECK}))
    return _in_document(known, citation, source, text, held)


def _gone(known: CitationStanding, citation: ReceiptCitation, library: Library) -> CitationStanding:
    holders = [held.document.id for held in library.all() if citation.sentence.strip() in held.text]
    return known.model_copy(
        update={"status": TextStatus.DOCUMENT_GONE, "also_in": tuple(holders[:_ALSO])}
    )


def _in_document(
    known: CitationStanding,
    citation: ReceiptCitation,
    source: ReceiptSource,
    text: str | None,
    held: Held,
) -> Placed:
    if text is not None and (start := _nearest_to(held.text, text, source.span.start)) is not None:
        return Placed(_stands(known, citation, citation.chunk_span.shift(start), held), held)
    literal = locate(held.source, Quote(citation.quote), repair=False)
    if isinstance(literal, Match):
        span = _choose([Span(start=p.start, end=p.end) for p in literal.places], citation, held)
        standing = _stands(known, citation, span, held)
        return Placed(standing, held, _passage(citation, source, held, span))
    links = _links_apart(citation, held)
    if links is not None:
        standing = _stands(known, citation, links, held, TextStatus.LINK_CHANGED)
        return Placed(standing, held, _passage(citation, source, held, links))
    folded = locate(held.source, Quote(citation.quote))
    if isinstance(folded, Match):
        span = _choose([Span(start=p.start, end=p.end) for p in folded.places], citation, held)
        same_links = link_count(citation.quote) == link_count(span.of(held.text))
        if same_links or word_count(citation.quote) >= _TELLING_WORDS:
            status = TextStatus.REFORMATTED if same_links else TextStatus.LINK_CHANGED
            standing = _stands(known, citation, span, held, status)
            return Placed(standing, held, _passage(citation, source, held, span))
    nearest = held.nearest(citation.quote, citation.sentence)
    status = TextStatus.REMOVED if nearest is None else TextStatus.TEXT_CHANGED
    found_in = None if nearest is None else held.document.id
    return Placed(
        known.model_copy(update={"status": status, "nearest": nearest, "found_in": found_in}), held
    )


def _stands(
    known: CitationStanding,
    citation: ReceiptCitation,
    span: Span,
    held: Held,
    status: TextStatus | None = None,
) -> CitationStanding:
    if status is None:
        same = held.document.id == citation.doc_id and span == citation.document_span
        status = TextStatus.STILL_TRUE if same else TextStatus.TEXT_MOVED
    sentence = held.passages.around(span)
    differs = status in (TextStatus.LINK_CHANGED, TextStatus.REFORMATTED)
    return known.model_copy(
        update={
            "status": status,
            "nearest": held.compared(citation.quote, span) if differs else None,
            "found_in": held.document.id,
            "span": span,
            "sentence_changed": sentence.split() != citation.sentence.split(),
        }
    )


def changed_around(placed: Placed, citation: ReceiptCitation) -> CitationStanding:
    """Return a quote that stands, as changed: the sentence around it does not carry it any more."""
    span, held = placed.standing.span, placed.held
    if span is None or held is None:
        return placed.standing
    around = held.passages.around_span(span)
    return placed.standing.model_copy(
        update={
            "status": TextStatus.TEXT_CHANGED,
            "nearest": held.compared(citation.sentence, around),
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


def _choose(spans: Iterable[Span], citation: ReceiptCitation, held: Held) -> Span:
    """Choose among places of a quote: the old one, then the same sentence, then the nearest."""
    old = citation.document_span

    def rank(span: Span) -> tuple[bool, bool, int]:
        same_sentence = held.passages.around(span).split() == citation.sentence.split()
        return span != old, not same_sentence, abs(span.start - old.start)

    return min(spans, key=rank)


def _links_apart(citation: ReceiptCitation, held: Held) -> Span | None:
    """Return where a quote stands when the targets of links are left out of both texts.

    Of a few words ("[here](…)") that would find any; there the whole sentence has to stand.
    """
    quote = citation.quote
    if not link_count(quote):
        return None
    bare = without_targets(held.text)
    sentence = without_targets(citation.sentence).text
    if word_count(quote) < _TELLING_WORDS and sentence not in bare.text:
        return None
    found = locate(Source(bare.text), Quote(without_targets(quote).text), repair=False)
    if not isinstance(found, Match):
        return None
    return _choose([bare.span(p.start, p.end) for p in found.places], citation, held)


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
