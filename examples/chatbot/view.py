"""An answer as the page shows it. Only verified text is in it; the trace is a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatbot.notes import STATES, dates_of, notes_of
from chatbot.page_types import AnswerView, Badge, ClaimView, RefusalView, SourceView
from chatbot.passages import blocks
from grounded_rag import Answer, ClaimVerdict
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
    claims = tuple(
        ClaimView(
            text=verdict.text,
            numbers=tuple(marks),
            tier=verdict.tier.value,
            restated=verdict.restated,
        )
        for verdict, marks in zip(answer.claims, numbers, strict=True)
    )
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    return AnswerView(
        id=answer_id,
        question=answer.question,
        status=answer.status.value,
        claims=claims,
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
    above = chunk.chunk.headings if located is None else governing(located, claims, chunk)
    return SourceView(
        number=reference.number if reference is not None else None,
        title=title,
        place=tuple(name for name in above if name != title),
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


def _badges(chunk: RetrievedChunk, as_of: Instant | None) -> tuple[Badge, ...]:
    found = [] if as_of is None else list(staleness(chunk.validity, as_of=as_of))
    badges = [Badge(kind=str(finding.kind), label=STATES[finding.kind]) for finding in found]
    if not badges:
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
