"""From a chosen candidate to a claim: a whole statement in its own words, its quotes literal."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grounded_rag.generate.candidates import Candidate, CandidateKind
from grounded_rag.generate.question import Question
from grounded_rag.generate.tables import row_claim, row_reading
from grounded_rag.text.listing import listed
from grounded_rag.types import Citation, Claim, RetrievedChunk, Span

_ANAPHOR = re.compile(
    r"(?:It|This|These|Those|That|They|He|She|Its|Their|His|Her|Such|Both|Otherwise|However"
    r"|In (?:that|this|such|these|those) cases?|Then|After that|If (?:it|so|not|they)"
    r"|Dies\w*|Sie|Er|Es|Dann|Danach)\b"
)
_BULLET = re.compile(r"(?:[-*+•‣◦▪●○·]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s+")
_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})+\.?[ \t]+(?=[^\W\d_])")
_LINK = re.compile(r"\[([^\]\[]{1,200})\]\([^()\s]{1,500}\)")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`)(\S(?:[^*_`\n]{0,300}\S)?)\1(?!\w)")
_MOST_ITEMS = 12
_MOST_CHARACTERS = 1_200


def claim_of(
    index: int,
    candidates: Sequence[Candidate],
    chunks: Sequence[RetrievedChunk],
    question: Question,
) -> Claim:
    """Return the claim for a candidate, with the text around it that it needs to be understood.

    A sentence that points back ("It …", "In that case …") takes the one before it along; one
    that opens a list takes its items; an item takes the sentence that opens its list.

    Args:
        index: Position of the candidate.
        candidates: All candidates, in the order of their text.
        chunks: The chunks of the request.
        question: The question, which decides on the columns of a table.
    """
    candidate = candidates[index]
    chunk = chunks[candidate.chunk].chunk
    if candidate.kind is CandidateKind.ROW:
        row = row_claim(candidate.text, candidate.context, question)
        return _claim(chunk.id, chunk.text, candidate.span, row)
    span = _without_number(chunk.text, candidate.span)
    opener = candidate.context_span
    if candidate.kind is CandidateKind.ITEM and opener is not None:
        whole = Span(start=opener.start, end=span.end)
        if len(whole) <= _MOST_CHARACTERS:
            text = listed([opener.of(chunk.text), span.of(chunk.text)])
            return _claim(chunk.id, chunk.text, whole, text)
    if candidate.text.endswith((":", "：")):
        items = _items_below(index, candidates)
        if items:
            whole = Span(start=span.start, end=candidates[items[-1]].span.end)
            return _claim(chunk.id, chunk.text, whole, _listing(candidate, items, candidates))
    if candidate.previous is not None and _ANAPHOR.match(span.of(chunk.text)):
        before = _without_number(chunk.text, candidates[candidate.previous].span)
        gap = chunk.text[before.end : span.start]
        if not gap.strip() and gap.count("\n") < 2:
            span = Span(start=before.start, end=span.end)
    return _claim(chunk.id, chunk.text, span, span.of(chunk.text))


def compared(candidate: Candidate, question: Question) -> str:
    """Return the text of a candidate as its meaning is compared with a question.

    A row or an item says little without what stands above it, a sentence mostly speaks for itself.
    """
    if candidate.kind is CandidateKind.ROW:
        row = row_reading(candidate.text, candidate.context, question)
        return f"{candidate.heading}: {row}" if candidate.heading else row
    if candidate.kind is CandidateKind.ITEM:
        return " ".join(part for part in (candidate.context, candidate.text) if part)
    return candidate.text


def headed(candidate: Candidate, question: Question) -> str:
    """Return the same with all headings above it: they say what a sentence is about."""
    text = compared(candidate, question)
    above = candidate.headings
    return f"{above}: {text}" if above and not text.startswith(above) else text


def _claim(chunk_id: str, text: str, span: Span, wording: str) -> Claim:
    citation = Citation(chunk_id=chunk_id, quote=span.of(text))
    return Claim(text=plain(wording), citations=(citation,))


def plain(text: str) -> str:
    """Return `text` in one line, without Markdown emphasis and link targets."""
    flat = " ".join(_LINK.sub(r"\1", text).split())
    for _ in range(2):
        flat = _EMPHASIS.sub(r"\2", flat)
    return flat


def _items_below(index: int, candidates: Sequence[Candidate]) -> list[int]:
    """Return the items of the list that the candidate opens, as far as the limits allow."""
    opener = candidates[index]
    items: list[int] = []
    for number in range(index + 1, min(index + 1 + _MOST_ITEMS, len(candidates))):
        item = candidates[number]
        belongs = item.chunk == opener.chunk and item.context_span == opener.span
        if not belongs or item.span.end - opener.span.start > _MOST_CHARACTERS:
            break
        items.append(number)
    return items


def _listing(opener: Candidate, items: Sequence[int], candidates: Sequence[Candidate]) -> str:
    texts = [_BULLET.sub("", candidates[number].text, count=1).strip() for number in items]
    return listed([opener.text, *texts])


def _without_number(text: str, span: Span) -> Span:
    match = _BULLET.match(text, span.start, span.end) or _NUMBER.match(text, span.start, span.end)
    return Span(start=match.end(), end=span.end) if match and match.end() < span.end else span
