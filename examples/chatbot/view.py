"""An answer as the page shows it. Only verified text is in it; the trace is a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from chatbot.layout import claim_blocks, parts, source_lists
from chatbot.markup import plain
from chatbot.notes import STATES, dates_of, notes_of, undated_of
from chatbot.page_types import AnswerView, Badge, ClaimView, RefusalView, SourceView, ToldClaim
from chatbot.passages import MARKDOWN, blocks
from grounded_rag import Answer, ClaimVerdict, FlagKind
from grounded_rag.render.cards import governing, support_of_all
from grounded_rag.types import Instant, Reference, RetrievedChunk
from grounded_rag.validity import staleness

if TYPE_CHECKING:
    from chatbot.corpora import Corpus

_NEAREST = 3


def answer_view(answer: Answer, corpus: Corpus, *, answer_id: str) -> AnswerView:
    """Return an answer as the page shows it."""
    references = answer.references
    numbers: list[list[int]] = [[] for _ in answer.claims]
    for reference in references:
        for claim in reference.claims:
            numbers[claim].append(reference.number)
    lists = source_lists(
        [(chunk, corpus.media_type_of(chunk.chunk.doc_id)) for chunk in answer.evidence]
    )
    claims = tuple(
        ClaimView(
            text=verdict.text,
            blocks=claim_blocks(
                verdict.text, media_type=_media_type_of(verdict, corpus), lists=lists
            ),
            numbers=tuple(marks),
            tier=verdict.tier.value,
            restated=verdict.restated,
        )
        for verdict, marks in zip(answer.claims, numbers, strict=True)
    )
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    read = answer.evidence if answer.answered else answer.trace.retrieved
    return AnswerView(
        id=answer_id,
        question=answer.question,
        status=_status(answer),
        claims=claims,
        parts=parts([claim.blocks for claim in claims], lists),
        support=support_of_all(answer.claims),
        sources=tuple(
            source_view(
                chunks[ref.located.chunk_id],
                corpus,
                answer.as_of,
                reference=ref,
                claims=tuple(answer.claims[index] for index in ref.claims),
            )
            for ref in references
        ),
        unanswered=answer.unanswered,
        notes=tuple(notes_of(answer, corpus)),
        undated=undated_of(answer),
        refusal=_refusal(answer, corpus),
        corpus=corpus.title,
        as_of=str(answer.as_of or ""),
        passages=len(read),
        documents=len({chunk.chunk.doc_id for chunk in read}),
    )


def told_claim(verdict: ClaimVerdict, corpus: Corpus) -> ToldClaim:
    """Return a claim as it is shown before the answer is whole."""
    media_type = _media_type_of(verdict, corpus)
    return ToldClaim(
        text=verdict.text,
        blocks=claim_blocks(verdict.text, media_type=media_type),
        restated=verdict.restated,
    )


def _media_type_of(verdict: ClaimVerdict, corpus: Corpus) -> str:
    """Return whose marks a claim may hold: those of the documents that it quotes."""
    types = {corpus.media_type_of(located.doc_id) for located in verdict.located}
    return MARKDOWN if MARKDOWN in types else next(iter(types), "text/plain")


def _status(answer: Answer) -> Literal["answered", "partial", "refused"]:
    """Return the status for a reader: an answer is partial where a part of the question is open.

    A sentence of the draft that did not pass is none; the drawer tells of it.
    """
    if answer.answered:
        return "partial" if answer.unanswered else "answered"
    return "refused"


def source_view(
    chunk: RetrievedChunk,
    corpus: Corpus,
    as_of: Instant | None,
    *,
    reference: Reference | None = None,
    claims: tuple[ClaimVerdict, ...] = (),
) -> SourceView:
    """Return a source card, with the quote of a reference marked.

    Args:
        chunk: The passage.
        corpus: The corpus that it is from.
        as_of: Date for which the answer holds.
        reference: The reference; None for a passage that is no part of the answer.
        claims: The claims that carry it.
    """
    located = reference.located if reference is not None else None
    title = corpus.title_of(chunk.chunk.doc_id)
    media_type = corpus.media_type_of(chunk.chunk.doc_id)
    above = chunk.chunk.headings if located is None else governing(located, claims, chunk)
    return SourceView(
        number=reference.number if reference is not None else None,
        title=title,
        place=tuple(
            plain(name, markdown=media_type == MARKDOWN) for name in above if name != title
        ),
        file=corpus.file_name_of(chunk.chunk.doc_id),
        page=located.page if located is not None else chunk.chunk.page,
        badges=_badges(chunk, as_of),
        dates=dates_of(chunk.validity),
        blocks=blocks(
            chunk, located.chunk_span if located is not None else None, media_type=media_type
        ),
        quote=located.quote if located is not None else "",
        exact=located.exact if located is not None else True,
        picture=(
            located is not None
            and located.page is not None
            and chunk.chunk.doc_id.lower().endswith(".pdf")
        ),
    )


def _badges(chunk: RetrievedChunk, as_of: Instant | None) -> tuple[Badge, ...]:
    found = [] if as_of is None else list(staleness(chunk.validity, as_of=as_of))
    # A missing date is said once for the whole answer.
    badges = [
        Badge(kind=str(finding.kind), label=STATES[finding.kind])
        for finding in found
        if finding.kind is not FlagKind.UNDATED
    ]
    if not found:
        badges.append(Badge(kind="current", label="In force"))
    if chunk.trust != "official":
        badges.append(Badge(kind="untrusted_source", label=f"{chunk.trust.capitalize()} source"))
    return tuple(badges)


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
