"""Statements of the retrieved chunks, as candidates for an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from grounded_rag.generate.question import Question
from grounded_rag.text.sentences import LineKind
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, Claim, RetrievedChunk, Statement
from grounded_rag.verification.layout import Sentence
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import Found, all_statements
from grounded_rag.verification.wording import Row, clean_wording

_TITLE_WORD = 4
_NUMBERING = "0123456789.()[] \t-*•"
_FEW_WORDS = 6
_CURT = 2
_TITLE_WORDS = 8
_ENDS = tuple(".!:。！：…)”\"'’»")
_INSIDE = ".,;:!-–—"
_FIGURE = re.compile(r"\d")
_MOST_CHARACTERS = 1_200
"""Characters of a statement that can be an answer."""


class CandidateKind(Enum):
    """What a candidate is; rows and items are read together with what stands above them."""

    SENTENCE = "sentence"
    ITEM = "item"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One statement of a chunk."""

    chunk: int  # Position of its chunk in the request, from 0
    doc_id: str
    superseded_by: str | None  # The document that replaces its own, if one does
    found: Found
    text: str  # Its own sentence, item, row or code; of a list, the line that leads into it
    kind: CandidateKind
    context: str  # What it is read with: the line above a list, a table's header, a question
    headings: str  # Title and all headings above it: navigation, never evidence
    heading: str  # The nearest of them, or ""
    previous: int | None  # The candidate before it under the same heading of its chunk

    @property
    def statement(self) -> Statement:
        """What can be said."""
        return self.found.statement


def find_candidates(passages: Sequence[Passage]) -> list[Candidate]:
    """Return the candidates of all passages, in the order of the passages and of their text.

    A candidate is a statement that may ship as it is: its author asserts it, and all of it is
    there. Page furniture, entries of a table of contents, remarks in brackets and pieces without a
    content word are left out.
    """
    titles = frozenset(_bare(title) for passage in passages for title in _titles(passage.retrieved))
    found: list[Candidate] = []
    for number, passage in enumerate(passages):
        above: tuple[str, ...] | None = None
        for each in all_statements(passage):
            headings = each.statement.headings
            previous = len(found) - 1 if headings == above else None
            own = _own_sentence(each, passage)
            candidate = _candidate(number, each, passage, own, previous)
            if _is_sayable(candidate, passage.text[own.start : own.end], titles):
                above = headings
                found.append(candidate)
    return found


def _own_sentence(found: Found, passage: Passage) -> Sentence:
    """Return the sentence that a statement begins with; of a list, the line that leads into it."""
    layout, start = passage.layout, found.statement.span.start
    return layout.at(layout.touched(start, start + 1)[0])


def _candidate(
    number: int, found: Found, passage: Passage, sentence: Sentence, previous: int | None
) -> Candidate:
    statement = found.statement
    if found.row is not None:
        text, kind = statement.span.of(passage.text), CandidateKind.ROW
        context = " | ".join(found.row.header)
    else:
        kind = CandidateKind.ITEM if sentence.kind is LineKind.ITEM else CandidateKind.SENTENCE
        leads = sentence.end < statement.span.end and not found.code
        text = (
            clean_wording(passage.text[statement.span.start : sentence.end])
            if leads
            else found.core
        )
        context = statement.text.removesuffix(found.core).strip()
    headings = statement.headings
    return Candidate(
        chunk=number,
        doc_id=passage.chunk.doc_id,
        superseded_by=passage.retrieved.validity.superseded_by,
        found=found,
        text=text,
        kind=kind,
        context=context,
        headings=" · ".join(headings),
        heading=headings[-1] if headings else "",
        previous=previous,
    )


def _is_sayable(candidate: Candidate, written: str, titles: frozenset[str]) -> bool:
    statement, text = candidate.statement, candidate.text
    if not (statement.asserted and statement.whole) or len(statement.text) > _MOST_CHARACTERS:
        return False
    if candidate.found.code:
        return True
    words = content_words(text)
    if not words or _bare(text) in titles or (text[0], text[-1]) in (("(", ")"), ("[", "]")):
        return False
    if candidate.kind is CandidateKind.SENTENCE and not candidate.context:
        # "Yes." says nothing without its question.
        return len(text.split()) > _CURT and not _is_furniture(written, len(words))
    return (
        candidate.kind is not CandidateKind.ITEM or bool(candidate.context) or not _is_title(text)
    )


def _titles(retrieved: RetrievedChunk) -> tuple[str, ...]:
    chunk = retrieved.chunk
    inside = (span.of(chunk.text) for span in chunk.heading_spans)
    return (retrieved.title, *chunk.headings, *inside)


def _bare(text: str) -> str:
    """Return the words of a line without the numbers and marks around them."""
    return " ".join(text.strip(f"{_NUMBERING}#=_:").lower().split())


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


def claim_of(
    index: int,
    candidates: Sequence[Candidate],
    passages: Sequence[Passage],
    question: Question,
    *,
    outdated: frozenset[int] = frozenset(),
) -> Claim:
    """Return the claim for a candidate: its statement, quoted whole.

    Of a table row those columns are told that the question asks about. Where other documents that
    hold state the same in the same words, as two revisions do, it cites them too.
    """
    candidate = candidates[index]
    found = candidate.found
    text = found.statement.text
    if found.row is not None and found.alone:
        text = found.row.reading(_asked(found.row, question))
    same = {candidate.doc_id: candidate}
    for other in candidates:
        if other.statement.text == found.statement.text and other.chunk not in outdated:
            same.setdefault(other.doc_id, other)
    return Claim(
        text=text,
        citations=tuple(
            Citation(chunk_id=each.statement.chunk_id, quote=span.of(passages[each.chunk].text))
            for each in same.values()
            for span in each.statement.quotes
        ),
    )


def compared(candidate: Candidate, question: Question) -> str:
    """Return the text of a candidate as its meaning is compared with a question.

    A row or an item says little without what stands above it, a sentence mostly speaks for itself.
    """
    row = candidate.found.row
    if row is not None:
        told = row.reading(_asked(row, question))
        return f"{candidate.heading}: {told}" if candidate.heading else told
    if candidate.kind is CandidateKind.ITEM or candidate.found.statement.text != candidate.text:
        return " ".join(part for part in (candidate.context, candidate.text) if part)
    return candidate.text


def headed(candidate: Candidate, question: Question) -> str:
    """Return the same with all headings above it: they say what a sentence is about."""
    text = compared(candidate, question)
    above = candidate.headings
    return f"{above}: {text}" if above and not text.startswith(above) else text


def _asked(row: Row, question: Question) -> Sequence[int]:
    """Return the columns whose names agree best with the question, or all but the first."""
    wanted = {term.word.stem: term.weight for term in question.terms}
    fits: dict[int, float] = {}
    for at in row.columns():
        stems = {word.stem for word in content_words(row.header[at])}
        shared = sum(weight for stem, weight in wanted.items() if stem in stems)
        if shared:
            # Of "Quill Account" and "Quill Plus Account" the question means the one it spells out.
            fits[at] = shared - _SPARE * len(stems - question.stems)
    best = max(fits.values(), default=0.0)
    asked = [at for at, fit in fits.items() if fit >= best - _TIE] if best > 0 else []
    return asked or row.columns()


_SPARE = 0.1
_TIE = 0.01
