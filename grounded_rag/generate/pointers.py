"""From a provider's own citations to claims: pointers become quotes, sentences become claims.

The model writes text in pieces, some with pointers into the documents that were sent. A piece
need not be a sentence, so the pieces are joined, cut into sentences, and each sentence takes the
pointers that touch it. What a sentence does not cite it does not inherit from its neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grounded_rag.generate.passages import sendable
from grounded_rag.generate.readable import readable
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Citation, Claim, Draft, Frozen, Span

_UNANSWERED = re.compile(r"(?m)^[ \t]*UNANSWERED:(.*)$")


class SentDocument(Frozen):
    """A chunk as it was sent: its sentences, each a citable block.

    Attributes:
        chunk_id: The chunk.
        text: Its text.
        blocks: Citable sentences, in code points of `text`, in order.
    """

    chunk_id: str
    text: str
    blocks: tuple[Span, ...]


class _Piece(Frozen):
    """A stretch of the written text and what it cites."""

    span: Span
    citations: tuple[Citation, ...]


def draft_of(content: Sequence[Any], documents: Sequence[SentDocument]) -> Draft:
    """Return the draft that a response's text blocks amount to. Pure.

    Args:
        content: Blocks of the response, as objects or mappings; others than text are left out.
        documents: What was sent, in the order of its indexes.

    Returns:
        One claim a sentence; a sentence without a pointer is an uncited claim, which verification
        rejects. Text without any pointer at all is `prose`: the refusal, or no answer. Lines
        `UNANSWERED: …` name open parts of the question. A pointer to nothing that was sent keeps
        the provider's words and an unknown chunk id, for verification to reject.
    """
    text = ""
    pieces: list[_Piece] = []
    for block in content:
        if _get(block, "type") != "text":
            continue
        written = sendable(str(_get(block, "text") or ""))
        citations = tuple(
            citation
            for pointer in _get(block, "citations") or ()
            for citation in _resolve(pointer, documents)
        )
        if citations:
            span = Span(start=len(text), end=len(text) + len(written))
            pieces.append(_Piece(span=span, citations=citations))
        text += written
    unanswered = tuple(part.strip(" \t") for part in _UNANSWERED.findall(text) if part.strip(" \t"))
    # Blanked, not cut: the places of the pieces stay.
    text = _UNANSWERED.sub(lambda match: " " * len(match[0]), text)
    if not pieces:
        return Draft(prose=text.strip(), unanswered=unanswered)
    claims = (_claim(text, sentence, pieces) for sentence in split_sentences(text))
    return Draft(claims=tuple(claims), unanswered=unanswered)


def _claim(text: str, sentence: Span, pieces: Sequence[_Piece]) -> Claim:
    citations = (
        citation
        for piece in pieces
        if piece.span.overlaps(sentence) and _shares_text(text, piece.span, sentence)
        for citation in piece.citations
    )
    return Claim(text=sentence.of(text), citations=tuple(dict.fromkeys(citations)))


def _shares_text(text: str, piece: Span, sentence: Span) -> bool:
    """Whether a piece covers a letter or digit of a sentence, not its final stop alone."""
    shared = text[max(piece.start, sentence.start) : min(piece.end, sentence.end)]
    return any(character.isalnum() for character in shared)


def _resolve(pointer: Any, documents: Sequence[SentDocument]) -> Iterator[Citation]:
    kind = str(_get(pointer, "type") or "")
    cited = sendable(str(_get(pointer, "cited_text") or ""))
    field = "search_result_index" if kind == "search_result_location" else "document_index"
    index = _get(pointer, field)
    if not isinstance(index, int) or not 0 <= index < len(documents):
        yield Citation(chunk_id=f"document {index}", quote=cited)
        return
    document = documents[index]
    spans = _spans(kind, pointer, document)
    if spans and any(_same(found, cited) for found in _readings(spans, document.text)):
        for span in spans:
            yield Citation(chunk_id=document.chunk_id, quote=span.of(document.text))
        return
    # The pointer and its words disagree: the words are judged, by the same verifier as any quote.
    yield Citation(chunk_id=document.chunk_id, quote=cited)


def _spans(kind: str, pointer: Any, document: SentDocument) -> tuple[Span, ...]:
    if kind == "char_location":
        start, end = _get(pointer, "start_char_index"), _get(pointer, "end_char_index")
        if _in_order(start, end, len(document.text)):
            return (_trimmed(document.text, start, end),)
        return ()
    if kind in ("content_block_location", "search_result_location"):
        start, end = _get(pointer, "start_block_index"), _get(pointer, "end_block_index")
        if _in_order(start, end, len(document.blocks)):
            return document.blocks[start:end]
    return ()


def _in_order(start: Any, end: Any, limit: int) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= limit


def _trimmed(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return Span(start=start, end=start + len(inner.strip()))


def _readings(spans: Sequence[Span], text: str) -> Iterator[str]:
    """Yield the words of some sentences as they are stored, and as they were shown."""
    yield "".join(span.of(text) for span in spans)
    yield "".join(readable(span.of(text), within=text) for span in spans)


def _same(found: str, cited: str) -> bool:
    """Whether the words at a pointer are those that the provider shows for it."""
    return not cited or "".join(sendable(found).split()) == "".join(cited.split())


def _get(holder: Any, field: str) -> Any:
    return holder.get(field) if isinstance(holder, Mapping) else getattr(holder, field, None)
