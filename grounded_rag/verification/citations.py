"""From one citation to its place, or to the typed reason why it has none that can be used."""

from __future__ import annotations

from grounded_rag.text.offsets import utf8_span, utf16_span
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, CitationCheck, Located, Reason, Span
from grounded_rag.verification.characters import is_invisible
from grounded_rag.verification.chunk_ids import resolve_id
from grounded_rag.verification.diagnosis import diagnose
from grounded_rag.verification.folding import FoldedText, Place
from grounded_rag.verification.locate import Cut, Match, Quote, locate
from grounded_rag.verification.occurrences import choose_place
from grounded_rag.verification.passages import Passage, Passages

_SHORT = 48
_FEW_WORDS = 2
_CARRIED = 0.5


def check_citation(
    citation: Citation,
    claim: str,
    passages: Passages,
    *,
    question: FoldedText | None = None,
    repair: bool = True,
) -> CitationCheck:
    """Find the place of one citation.

    Args:
        citation: Chunk id and quote, as the generator gave them.
        claim: Text of the claim, which decides between places that read the same.
        passages: The retrieved chunks.
        question: The question, folded; only to explain a refusal.
        repair: Whether differences of presentation may be bridged.
    """
    if not any(not (mark.isspace() or is_invisible(mark)) for mark in citation.quote):
        return _failed(citation, Reason.EMPTY_QUOTE, "The quote is empty; copy the evidence.")
    resolved = resolve_id(citation.chunk_id, passages.ids, repair=repair)
    if resolved.id is None:
        reason = resolved.problem or Reason.UNKNOWN_CHUNK
        return _failed(citation, reason, resolved.detail)
    candidates = passages.get(resolved.id)
    if len(candidates) > 1:
        return _failed(
            citation,
            Reason.AMBIGUOUS_CHUNK,
            f"{len(candidates)} retrieved chunks with different text carry the id {resolved.id}.",
        )
    passage = candidates[0]
    if not passage.text.strip():
        return _failed(citation, Reason.EMPTY_CHUNK, f"The chunk {resolved.id} has no text.")
    quote = Quote(citation.quote)
    found = locate(passage.source, quote, repair=repair)
    if isinstance(found, Match):
        return _located(citation, claim, passage, found, repaired_id=resolved.repaired)
    if not repair and isinstance(bridged := locate(passage.source, quote), Match):
        place = bridged.places[0]
        return CitationCheck(
            citation=citation,
            problem=Reason.QUOTE_NOT_FOUND,
            detail="The quote differs from the source in presentation; copy it exactly.",
            nearest=passage.text[place.start : place.end],
        )
    cut = found if isinstance(found, Cut) else None
    diagnosis = diagnose(quote, passage, passages, question=question, cut=cut)
    return CitationCheck(
        citation=citation,
        problem=diagnosis.reason,
        detail=diagnosis.detail,
        nearest=diagnosis.nearest,
        found_in=diagnosis.found_in,
        id_repaired=resolved.repaired,
    )


def _failed(citation: Citation, reason: Reason, detail: str) -> CitationCheck:
    return CitationCheck(citation=citation, problem=reason, detail=detail)


def _located(
    citation: Citation, claim: str, passage: Passage, match: Match, *, repaired_id: bool
) -> CitationCheck:
    choice = choose_place(passage, match.places, claim)
    start, end = choice.place
    chunk = passage.chunk
    begin = chunk.span.start + start
    located = Located(
        chunk_id=chunk.id,
        doc_id=chunk.doc_id,
        chunk_span=Span(start=start, end=end),
        document_span=Span(start=begin, end=chunk.span.start + end),
        utf16_span=utf16_span(passage.text, Span(start=start, end=end)),
        utf8_span=utf8_span(passage.text, Span(start=start, end=end)),
        quote=passage.text[start:end],
        page=passage.retrieved.page_of(begin),
        folds=match.folds,
        occurrences=tuple(Span(start=place.start, end=place.end) for place in match.places),
        ambiguous=choice.ambiguous,
    )
    problem, detail, nearest = _usable(passage, choice.place, located.quote, claim)
    return CitationCheck(
        citation=citation,
        located=located,
        problem=problem,
        detail=detail,
        nearest=nearest,
        id_repaired=repaired_id,
    )


def _usable(
    passage: Passage, place: Place, quote: str, claim: str
) -> tuple[Reason | None, str, str | None]:
    """Say whether a located quote can be evidence at all."""
    if passage.in_heading(place):
        return Reason.HEADING_ONLY, "A heading is no evidence; quote the text below it.", None
    if len(quote) > _SHORT or not _says_too_little(quote, claim):
        return None, "", None
    nearest = next((passage.text[s:e] for s, e in passage.sentences if s <= place.start < e), None)
    return (
        Reason.QUOTE_TOO_SHORT,
        "The quote carries too little of the claim; quote the words that state it.",
        nearest,
    )


def _says_too_little(quote: str, claim: str) -> bool:
    """Whether a short quote holds neither several words nor half of what the claim says."""
    words = content_words(quote)
    few = 1 if any(word.kind == "cjk" for word in words) else _FEW_WORDS
    if len(words) > few:
        return False
    if not words:
        return True
    wanted = {word.stem for word in content_words(claim)}
    carried = wanted.intersection(word.stem for word in words)
    return len(carried) < _CARRIED * len(wanted) or not carried
