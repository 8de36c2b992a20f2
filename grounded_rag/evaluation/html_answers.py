"""One answer of the HTML report: claims, quotes highlighted in their sources, what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grounded_rag.evaluation.judging import Basis, Judged, basis
from grounded_rag.evaluation.report import ItemRow, Standing
from grounded_rag.highlight import segments
from grounded_rag.types import ClaimVerdict, Located, RetrievedChunk

TONES = {
    Standing.RIGHT: "good",
    Standing.RIGHT_REFUSAL: "good",
    Standing.WRONG: "bad",
    Standing.MISSED_REFUSAL: "bad",
    Standing.FALSE_REFUSAL: "warn",
    Standing.UNLABELLED: "muted",
    Standing.ERROR: "bad",
}
BASES = {
    Basis.VERBATIM: "good",
    Basis.CONFIRMED: "good",
    Basis.RESTATED: "good",
    Basis.OPEN: "muted",
    Basis.UNCHECKED: "muted",
    Basis.REJECTED: "bad",
    Basis.REFUSED: "warn",
}
_DRAFTS = 6
_GOLD = 4


def answer_section(judged: Judged, row: ItemRow, likely: Sequence[float | None] = ()) -> str:
    """Return one answer as a folded section; every text of a document or model is escaped.

    Args:
        judged: The record, judged.
        row: Its row in the report.
        likely: P(true) of its claims in order, where a model gives it; None is unknown.
    """
    return "\n".join(_parts(judged, row, likely))


def tag(standing: Standing) -> str:
    """Return what became of a question as a coloured label."""
    return f'<span class="tag {TONES[standing]}">{escape(standing)}</span>'


def _parts(judged: Judged, row: ItemRow, likely: Sequence[float | None]) -> Iterator[str]:
    item = judged.item
    name = escape(row.id, quote=True)
    yield f'<details class="answer" data-row="{name}" id="a-{name}">'
    yield f"<summary>{tag(row.standing)} <b>{escape(row.id)}</b> {escape(item.question)}</summary>"
    yield '<div class="body">'
    moment = f" As of {escape(str(item.as_of))}." if item.as_of else ""
    if item.expected:
        yield f'<p class="small muted">Expected: {escape(item.expected)}.{moment}</p>'
    elif moment:
        yield f'<p class="small muted">{moment}</p>'
    if row.diagnosis.kind != "none":
        yield (
            f'<p class="why"><b>{escape(row.diagnosis.kind.replace("_", " "))}</b>: '
            f"{escape(row.diagnosis.why)}</p>"
        )
        if row.diagnosis.fix:
            yield (
                f'<p class="small muted">Try ({escape(row.diagnosis.area)}): '
                f"{escape(row.diagnosis.fix)}</p>"
            )
    yield from _shown(judged, likely)
    yield from _gold(judged)
    yield "</div></details>"


def _shown(judged: Judged, likely: Sequence[float | None]) -> Iterator[str]:
    chunks = {chunk.chunk.id: chunk for chunk in judged.retrieved}
    for place, claim in enumerate(judged.claims):
        yield from _claim(
            claim, chunks, likely[place : place + 1], judged.support[place : place + 1]
        )
    for flag in dict.fromkeys((flag.kind, flag.detail) for flag in judged.flags):
        yield f'<p class="small warn">{escape(flag[0])}: {escape(flag[1])}</p>'
    for part in judged.unanswered:
        yield f'<p class="small warn">Said to be open: {escape(part)}</p>'
    if judged.state == "refused":
        refusal = judged.record.answer.refusal if judged.record.answer else None
        detail = f" {escape(refusal.detail)}" if refusal else ""
        yield f'<p class="claim">Refused.{detail}</p>'
    if judged.withheld:
        yield '<p class="small muted">Drafted, and never shown:</p>'
    for claim in judged.withheld[:_DRAFTS]:
        yield from _claim(claim, chunks)
    if judged.apart:
        yield f'<p class="small muted">Parts that state nothing: {judged.apart}</p>'


def _claim(
    claim: ClaimVerdict,
    chunks: dict[str, RetrievedChunk],
    likely: Sequence[float | None] = (),
    support: Sequence[float | None] = (),
) -> Iterator[str]:
    rests = basis(claim)
    reason = f" · {escape(claim.reason)}" if claim.reason else ""
    figures = "".join(map(_likely, likely)) if likely else "".join(map(_support, support))
    yield (
        f'<p class="claim">{escape(claim.text)} '
        f'<span class="tag {BASES[rests]}">{escape(rests)}{reason}</span>{figures}</p>'
    )
    if not claim.supported and claim.why:
        yield f'<p class="small muted">{escape(claim.why)}</p>'
    for check in claim.citations:
        chunk = chunks.get(check.located.chunk_id) if check.located else None
        if check.located is not None and chunk is not None:
            yield _quote(check.located, chunk)
        else:
            yield (
                f"<blockquote>{escape(check.citation.quote)}\n"
                f'<span class="small bad">{escape(check.detail)}</span></blockquote>'
            )


def _likely(share: float | None) -> str:
    return f' <span class="tag">P(true) {"unknown" if share is None else f"{share:.2f}"}</span>'


def _support(score: float | None) -> str:
    return "" if score is None else f' <span class="tag">support score {score:.2f}</span>'


def _quote(located: Located, chunk: RetrievedChunk) -> str:
    page = f", page {located.page}" if located.page is not None else ""
    repaired = f", repaired: {', '.join(located.folds)}" if located.folds else ""
    where = f"rank {chunk.rank} · {chunk.title or chunk.chunk.doc_id}{page}{repaired}"
    text = "".join(
        f"<mark>{escape(piece.text)}</mark>" if piece.quoted else escape(piece.text)
        for piece in segments(chunk.chunk.text, located.chunk_span)
    )
    return f'<blockquote>{text}\n<span class="small muted">{escape(where)}</span></blockquote>'


def _gold(judged: Judged) -> Iterator[str]:
    if not judged.item.gold:
        return
    yield '<details><summary class="small muted">Gold places</summary>'
    for piece in judged.item.gold:
        for option in piece.any_of[:_GOLD]:
            yield (
                f"<blockquote>{escape(option.quote)}\n"
                f'<span class="small muted">{escape(option.file)}</span></blockquote>'
            )
    yield "</details>"
