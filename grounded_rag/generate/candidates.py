"""Sentences, list items and table rows of the retrieved chunks, as candidates for an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from grounded_rag.generate.question import Question
from grounded_rag.text.sentences import (
    LineKind,
    Unit,
    group_units,
    listed,
    split_sentences,
    told_row,
)
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, Claim, RetrievedChunk, Span

_TITLE_WORD = 4
_NUMBERING = "0123456789.()[] \t-*•"
_FEW_WORDS = 6
_TITLE_WORDS = 8
_ENDS = tuple(".!:。！：…)”\"'’»")
_INSIDE = ".,;:!-–—"
_TITLE_LENGTH = 60
_FIGURE = re.compile(r"\d")


class CandidateKind(Enum):
    """What a candidate is; rows and items are read together with what stands above them."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One citable piece of a chunk."""

    chunk: int  # Position of its chunk in the request, from 0
    span: Span  # Its place in the chunk's text
    text: str
    kind: CandidateKind
    context: str  # Table header or list introduction: read with it, and part of the chunk's text
    context_span: Span | None
    headings: str  # Title and all headings above it: navigation, never evidence
    heading: str  # The nearest of them, or ""
    previous: int | None  # The candidate before it under the same heading of its chunk


def find_candidates(chunks: Sequence[RetrievedChunk]) -> list[Candidate]:
    """Return the candidates of all chunks, in the order of the chunks and of their text.

    Headings, questions, rules, table headers, page furniture and pieces without a content word
    are left out; headings and questions are kept as context of what follows them.
    """
    found: list[Candidate] = []
    for number, retrieved in enumerate(chunks):
        _Walk(number, retrieved, found).run()
    return found


class _Walk:
    """One pass over the units of a chunk, with what stands above the current one."""

    def __init__(self, number: int, retrieved: RetrievedChunk, found: list[Candidate]) -> None:
        self._number = number
        self._retrieved = retrieved
        self._text = retrieved.chunk.text
        self._found = found
        self._above = tuple(
            dict.fromkeys(part for part in (retrieved.title, *retrieved.chunk.headings) if part)
        )
        self._heading = ""
        self._intro: Span | None = None
        self._header: Span | None = None
        self._previous: int | None = None

    def run(self) -> None:
        units = group_units(self._text)
        for index, unit in enumerate(units):
            if unit.kind is LineKind.ROW:
                self._row(units, index)
                continue
            if unit.kind in (LineKind.RULE, LineKind.DELIMITER):
                continue
            self._header = None
            if _is_heading(unit, self._retrieved):
                self._open(Span(start=unit.start, end=unit.end))
            else:
                self._prose(unit)

    def _open(self, heading: Span) -> None:
        self._heading = heading.of(self._text).strip("# \t\r\n=*_")
        self._intro = self._previous = None

    def _row(self, units: Sequence[Unit], index: int) -> None:
        span = Span(start=units[index].start, end=units[index].end)
        if self._header is None and _is_header(self._text, units, index):
            self._header = span
            return
        self._add(span, CandidateKind.ROW, self._header)

    def _prose(self, unit: Unit) -> None:
        item = unit.kind is LineKind.ITEM
        kind = CandidateKind.ITEM if item else CandidateKind.SENTENCE
        pieces = _sentences(self._text, _below_title(self._text, unit, self._open))
        for piece in pieces:
            if piece.of(self._text).endswith(("?", "？", "؟")):
                self._open(piece)
            else:
                self._add(piece, kind, self._intro if item else None)
        if not item:
            opens = bool(pieces) and pieces[-1].of(self._text).endswith((":", "："))
            self._intro = pieces[-1] if opens else None

    def _add(self, span: Span, kind: CandidateKind, context_span: Span | None) -> None:
        text = span.of(self._text)
        words = content_words(text)
        if not words or (kind is CandidateKind.SENTENCE and _is_furniture(text, len(words))):
            return
        if kind is CandidateKind.ITEM and context_span is None and _is_title(text):
            return
        context = context_span.of(self._text) if context_span is not None else ""
        heading = self._heading or (self._above[-1] if self._above else "")
        above = [*self._above, self._heading]
        self._found.append(
            Candidate(
                chunk=self._number,
                span=span,
                text=text,
                kind=kind,
                context=context,
                context_span=context_span,
                headings=" · ".join(dict.fromkeys(part for part in above if part)),
                heading=heading,
                previous=self._previous,
            )
        )
        self._previous = len(self._found) - 1


def _is_furniture(text: str, words: int) -> bool:
    """Whether a piece of prose is a title, a signature or a page head rather than a sentence."""
    if text.endswith(_ENDS):
        return False
    if _FIGURE.search(text):
        return text.isupper() and words <= _TITLE_WORDS
    return words < _FEW_WORDS or text.isupper() or "\n" in text


def _is_title(text: str) -> bool:
    """Whether a list item is a line of a table of contents: a title in capitals, no statement."""
    bare = text.lstrip(_NUMBERING)
    if text.endswith(_ENDS) or _FIGURE.search(bare):
        return False
    bare_words = (word.strip(_INSIDE) for word in bare.split())
    words = [word for word in bare_words if len(word) >= _TITLE_WORD and word.isalpha()]
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _sentences(text: str, span: Span) -> tuple[Span, ...]:
    return tuple(piece.shift(span.start) for piece in split_sentences(span.of(text)))


def _below_title(text: str, unit: Unit, open_heading: Callable[[Span], None]) -> Span:
    """Return the unit without a title line that plain text puts right above a paragraph.

    Hard-wrapped lines fill their width: a short first line before a capital letter, without
    punctuation at its end, is a title.
    """
    span = Span(start=unit.start, end=unit.end)
    first, newline, rest = span.of(text).partition("\n")
    line = first.strip()
    following = rest.lstrip()
    if (
        not newline
        or not line
        or unit.kind is not LineKind.TEXT
        or line[-1] in _INSIDE
        or len(line) > _TITLE_LENGTH
        or len(line) * 5 > max(map(len, rest.splitlines())) * 4
        or not following[:1].isupper()
        or line[0].islower()
    ):
        return span
    open_heading(Span(start=span.start, end=span.start + len(first)))
    return Span(start=span.end - len(following), end=span.end)


def _is_heading(unit: Unit, retrieved: RetrievedChunk) -> bool:
    if unit.kind is LineKind.HEADING:
        return True
    return any(
        heading.start <= unit.start and unit.end <= heading.end + 1
        for heading in retrieved.chunk.heading_spans
    )


def _is_header(text: str, units: Sequence[Unit], index: int) -> bool:
    """Whether the first row of a table names its columns.

    A rule below it says so. Without one, a row without figures above one with figures does; a
    chunk that begins inside a table has no header.
    """
    following = units[index + 1 : index + 2]
    if not following:
        return False
    if following[0].kind is LineKind.DELIMITER:
        return True
    if following[0].kind is not LineKind.ROW:
        return False
    here = text[units[index].start : units[index].end]
    below = text[following[0].start : following[0].end]
    return not _FIGURE.search(here) and _FIGURE.search(below) is not None


def row_claim(row: str, header: str, question: Question) -> str:
    """Return a row in words: its first cell and the columns that the question asks about.

    Where the question names no column, all of them; where the header does not fit, the cells.
    """
    cells, names = _cells(row), _cells(header)
    if not names or len(names) != len(cells):
        return ", ".join(filter(None, cells))
    chosen = _asked(names, question)
    return told_row(cells[0], [(names[at], cells[at]) for at in chosen if names[at] and cells[at]])


def row_reading(row: str, header: str, question: Question) -> str:
    """Return the same as it is compared: "column: cell" pairs, the first column among them."""
    cells, names = _cells(row), _cells(header)
    if not names or len(names) != len(cells):
        return ", ".join(filter(None, cells))
    chosen = (0, *_asked(names, question))
    return "; ".join(
        f"{names[at]}: {cells[at]}" if names[at] else cells[at] for at in chosen if cells[at]
    )


def _asked(names: Sequence[str], question: Question) -> Sequence[int]:
    """Return the columns whose names agree best with the question, or all but the first."""
    wanted = {term.word.stem: term.weight for term in question.terms}
    fits: dict[int, float] = {}
    for at, name in enumerate(names[1:], start=1):
        stems = {word.stem for word in content_words(name)}
        shared = sum(weight for stem, weight in wanted.items() if stem in stems)
        if shared:
            # Of "Quill Account" and "Quill Plus Account" the question means the one it spells out.
            fits[at] = shared - _SPARE * len(stems - question.stems)
    best = max(fits.values(), default=0.0)
    asked = [at for at, fit in fits.items() if fit >= best - _TIE] if best > 0 else []
    return asked or range(1, len(names))


def _cells(row: str) -> list[str]:
    line = row.strip()
    if not line:
        return []
    if "|" in line:
        # One pipe a side: an empty cell at the edge still is a cell.
        inner = line.removeprefix("|").removesuffix("|")
        return [cell.strip() for cell in inner.split("|")]
    return [cell.strip() for cell in line.split("\t")]


_SPARE = 0.1
_TIE = 0.01


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
