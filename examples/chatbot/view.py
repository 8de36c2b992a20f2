"""An answer as the page shows it. Only verified text is in it; the trace is a page of its own."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Literal

from chatbot.passages import Block, blocks
from grounded_rag import Answer, Flag, FlagKind
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import (
    STALENESS_KINDS,
    Frozen,
    Instant,
    Reference,
    RetrievedChunk,
    Span,
    Validity,
)
from grounded_rag.validity import staleness

if TYPE_CHECKING:
    from chatbot.corpora import Corpus

_NEAREST = 3
_STATES = {
    FlagKind.SUPERSEDED: "Superseded",
    FlagKind.EXPIRED: "Expired",
    FlagKind.NOT_YET_EFFECTIVE: "Not yet in force",
    FlagKind.TOO_OLD: "Not reviewed for long",
    FlagKind.UNDATED: "Undated",
}


class DateLine(Frozen):
    """A date of a document, told in words."""

    label: str
    date: str


class Badge(Frozen):
    """Something to know about a source at once.

    Attributes:
        kind: "current", or the kind of the flag.
        label: One or two words.
    """

    kind: str
    label: str


class SourceView(Frozen):
    """A source card.

    Attributes:
        number: Its mark in the answer; None for a passage that is no part of it.
        title: Title of the document.
        place: Headings above the passage.
        file: Id of the document.
        page: Page on which the quote starts, where known.
        badges: What to know at once.
        dates: When it holds.
        blocks: The passage, with the quote marked.
        quote: The quote: the source's own characters.
        exact: Whether the draft's quote was literal, or differed in presentation only.
        picture: Whether the page can be shown as a picture.
    """

    number: int | None = None
    title: str
    place: tuple[str, ...] = ()
    file: str
    page: int | None = None
    badges: tuple[Badge, ...] = ()
    dates: tuple[DateLine, ...] = ()
    blocks: tuple[Block, ...] = ()
    quote: str = ""
    exact: bool = True
    picture: bool = False


class ClaimView(Frozen):
    """A verified claim and the numbers of the sources that carry it."""

    text: str
    numbers: tuple[int, ...]


class Side(Frozen):
    """One side of a conflict.

    Attributes:
        number: Its mark, for the side that the answer cites.
        title: Title of the document.
        text: What it says, in its own words.
        dates: When it holds.
    """

    number: int | None
    title: str
    text: str
    dates: tuple[DateLine, ...] = ()


class Note(Frozen):
    """A remark on the answer.

    Attributes:
        kind: Kind of the flag.
        label: A few words.
        detail: One sentence.
        since: When the state began, where known.
        numbers: Marks that it is about.
        current: Title of the document in force, for an outdated source.
        sides: Both sides of a conflict.
    """

    kind: str
    label: str
    detail: str
    since: str | None = None
    numbers: tuple[int, ...] = ()
    current: str | None = None
    sides: tuple[Side, ...] = ()


class RefusalView(Frozen):
    """Why there is no answer, and what was found instead.

    Attributes:
        text: The one refusal sentence.
        detail: Why.
        next_step: What to do.
        nearest: Passages to read oneself. They are no answer.
    """

    text: str
    detail: str
    next_step: str
    nearest: tuple[SourceView, ...] = ()


class AnswerView(Frozen):
    """All that the page shows of an answer.

    Attributes:
        id: Name of the answer in later requests.
        question: The question.
        status: Answered, partial or refused.
        claims: The verified claims.
        sources: The cards, by number.
        unanswered: Parts of the question that stay open.
        notes: Remarks: outdated, conflicting, and others.
        refusal: Set instead of claims.
        corpus: Title of the corpus.
        as_of: Date for which the answer holds.
        generator: Who wrote the draft.
        seconds: Wall-clock seconds.
        attempts: Drafts that were needed.
        tokens: Tokens used.
    """

    id: str
    question: str
    status: Literal["answered", "partial", "refused"]
    claims: tuple[ClaimView, ...] = ()
    sources: tuple[SourceView, ...] = ()
    unanswered: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    refusal: RefusalView | None = None
    corpus: str
    as_of: str
    generator: str
    seconds: float
    attempts: int
    tokens: int


def answer_view(answer: Answer, corpus: Corpus, *, answer_id: str) -> AnswerView:
    """Return an answer as the page shows it."""
    references = answer.references
    numbers: list[list[int]] = [[] for _ in answer.claims]
    for reference in references:
        for claim in reference.claims:
            numbers[claim].append(reference.number)
    claims = tuple(
        ClaimView(text=verdict.text, numbers=tuple(marks))
        for verdict, marks in zip(answer.claims, numbers, strict=True)
    )
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    return AnswerView(
        id=answer_id,
        question=answer.question,
        status=answer.status.value,
        claims=claims,
        sources=tuple(
            source_view(chunks[ref.located.chunk_id], corpus, answer.as_of, reference=ref)
            for ref in references
        ),
        unanswered=answer.unanswered,
        notes=tuple(_notes(answer, corpus)),
        refusal=_refusal(answer, corpus),
        corpus=corpus.title,
        as_of=str(answer.as_of or ""),
        generator=answer.generator,
        seconds=answer.timings.total,
        attempts=answer.attempts,
        tokens=answer.usage.total_tokens,
    )


def source_view(
    chunk: RetrievedChunk,
    corpus: Corpus,
    as_of: Instant | None,
    *,
    reference: Reference | None = None,
) -> SourceView:
    """Return a source card, with the quote of a reference marked."""
    located = reference.located if reference is not None else None
    title = corpus.title_of(chunk.chunk.doc_id)
    return SourceView(
        number=reference.number if reference is not None else None,
        title=title,
        place=tuple(name for name in chunk.chunk.headings if name != title),
        file=corpus.names.get(chunk.chunk.doc_id, chunk.chunk.doc_id),
        page=located.page if located is not None else chunk.chunk.page,
        badges=_badges(chunk, as_of),
        dates=dates_of(chunk.validity),
        blocks=blocks(chunk, located.chunk_span if located is not None else None),
        quote=located.quote if located is not None else "",
        exact=located.exact if located is not None else True,
        picture=(
            located is not None
            and located.page is not None
            and chunk.chunk.doc_id.lower().endswith(".pdf")
        ),
    )


def dates_of(validity: Validity) -> tuple[DateLine, ...]:
    """Return the dates of a document in words, those that decide first."""
    known = (
        ("Superseded on", validity.superseded_on),
        ("In force from", validity.effective_from),
        ("Valid until", validity.valid_until),
        ("Last reviewed", validity.reviewed_on),
        ("Last changed", validity.updated_at),
    )
    return tuple(DateLine(label=label, date=str(date)) for label, date in known if date is not None)


def _badges(chunk: RetrievedChunk, as_of: Instant | None) -> tuple[Badge, ...]:
    found = [] if as_of is None else list(staleness(chunk.validity, as_of=as_of))
    badges = [Badge(kind=str(finding.kind), label=_STATES[finding.kind]) for finding in found]
    if not badges:
        badges.append(Badge(kind="current", label="In force"))
    if chunk.trust != "official":
        badges.append(Badge(kind="untrusted_source", label=f"{chunk.trust.capitalize()} source"))
    return tuple(badges)


def _notes(answer: Answer, corpus: Corpus) -> list[Note]:
    """Return one note a kind and document, so that nobody reads the same thing once a claim."""
    grouped: dict[tuple[FlagKind, str, tuple[str, ...]], list[Flag]] = {}
    for flag in answer.flags:
        grouped.setdefault((flag.kind, flag.doc_id, flag.related), []).append(flag)
    replaced = {flag.doc_id for flag in answer.flags if flag.kind is FlagKind.SUPERSEDED}
    return [
        _note(answer, corpus, flags)
        for (kind, doc_id, _), flags in grouped.items()
        # What was replaced has also run out: one note says it. A missing date is said by the badge.
        if not (kind is FlagKind.EXPIRED and doc_id in replaced) and kind is not FlagKind.UNDATED
    ]


def _note(answer: Answer, corpus: Corpus, flags: list[Flag]) -> Note:
    flag = flags[0]
    cited = {one.chunk_id for one in flags}
    numbers = tuple(ref.number for ref in answer.references if ref.located.chunk_id in cited)
    if flag.kind is FlagKind.CONFLICT:
        return Note(
            kind="conflict",
            label="Sources disagree",
            detail=flag.detail,
            numbers=numbers,
            sides=_sides(answer, corpus, flag),
        )
    if flag.kind in STALENESS_KINDS:
        return _stale(answer, corpus, flag, numbers)
    label = flag.kind.replace("_", " ").capitalize()
    return Note(kind=str(flag.kind), label=label, detail=flag.detail, numbers=numbers)


def _stale(answer: Answer, corpus: Corpus, flag: Flag, numbers: tuple[int, ...]) -> Note:
    title = corpus.title_of(flag.doc_id)
    detail = {
        FlagKind.SUPERSEDED: f"“{title}” has been replaced.",
        FlagKind.EXPIRED: f"“{title}” is out of date.",
        FlagKind.NOT_YET_EFFECTIVE: f"“{title}” is not in force yet.",
    }.get(flag.kind, flag.detail)
    successor = corpus.successor(flag.doc_id, as_of=answer.as_of) if answer.as_of else None
    return Note(
        kind=str(flag.kind),
        label="Outdated source" if flag.kind is FlagKind.SUPERSEDED else _STATES[flag.kind],
        detail=detail,
        since=str(flag.since) if flag.since is not None else None,
        numbers=numbers,
        current=corpus.title_of(successor.doc_id) if successor is not None else None,
    )


def _sides(answer: Answer, corpus: Corpus, flag: Flag) -> tuple[Side, ...]:
    chunks = {chunk.chunk.id: chunk for chunk in (*answer.evidence, *answer.trace.retrieved)}
    mine = next(ref for ref in answer.references if ref.located.chunk_id == flag.chunk_id)
    sides = [_side(chunks[flag.chunk_id], corpus, mine.located.quote, mine.number)]
    for chunk_id in flag.related:
        if chunk_id in chunks:
            rival = chunks[chunk_id]
            sides.append(_side(rival, corpus, _nearest(rival, mine.located.quote), None))
    return tuple(sides)


def _side(chunk: RetrievedChunk, corpus: Corpus, text: str, number: int | None) -> Side:
    return Side(
        number=number,
        title=corpus.title_of(chunk.chunk.doc_id),
        text=text,
        dates=dates_of(chunk.validity)[:2],
    )


def _nearest(chunk: RetrievedChunk, quote: str) -> str:
    """Return the sentence of a chunk that is most like the quote."""
    words = quote.split()
    spans = split_sentences(chunk.chunk.text) or (Span(start=0, end=len(chunk.chunk.text)),)
    sentences = [span.of(chunk.chunk.text).strip() for span in spans]
    return max(
        sentences,
        key=lambda sentence: difflib.SequenceMatcher(None, words, sentence.split()).ratio(),
    )


def _refusal(answer: Answer, corpus: Corpus) -> RefusalView | None:
    if answer.refusal is None:
        return None
    return RefusalView(
        text=answer.text,
        detail=answer.refusal.detail,
        next_step=answer.refusal.next_step,
        nearest=tuple(
            source_view(chunk, corpus, answer.as_of) for chunk in answer.trace.retrieved[:_NEAREST]
        ),
    )
