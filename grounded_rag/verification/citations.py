"""From one citation to its place, or to the typed reason why it has none that can be used."""

from __future__ import annotations

from collections.abc import Collection

from grounded_rag.text.sentences import enclosing_bounds
from grounded_rag.text.words import content_words, tokenize
from grounded_rag.types import Citation, CitationCheck, Located, Reason, Span
from grounded_rag.types.documents import utf8_span, utf16_span
from grounded_rag.verification.folding import FoldedText, Place
from grounded_rag.verification.layout import Sentence
from grounded_rag.verification.locate import Cut, Match, Quote, locate
from grounded_rag.verification.mismatch import diagnose
from grounded_rag.verification.passages import Passage, Passages
from grounded_rag.verification.presentation import is_invisible
from grounded_rag.verification.wording import without_number

_WRAPPING = " \t\r\n[](){}<>【】〔〕［］（）「」『』〈〉《》«»“”„‘’\"'`*"
# What a re-ask is told of the known ids, and of the one that was written.
_IDS_SHOWN = 12
_ID_SHOWN = 60
# Characters before a place, and places, that are looked at to choose among equals.
_REACH = 600
_COMPARED = 40
# A longer quote is never too short; a shorter one must have more than two words that say something,
# or half of what the claim says.
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

    The text of the claim decides between places that read the same. The question, folded, only
    explains a refusal. With `repair`, differences of presentation are bridged, brackets and
    quotation marks around an id come off, and a wrong label of a literal quote is mended.
    """
    if not _shows(citation.quote):
        return _failed(citation, Reason.EMPTY_QUOTE, "The quote is empty; copy the evidence.")
    chunk_id = _known_id(citation.chunk_id, passages.ids, repair=repair)
    if chunk_id is None:
        return _no_such_id(citation, passages.ids)
    id_repaired = chunk_id != citation.chunk_id
    candidates = passages.get(chunk_id)
    if len(candidates) > 1:
        return _failed(
            citation,
            Reason.AMBIGUOUS_CHUNK,
            f"{len(candidates)} retrieved chunks with different text carry the id {chunk_id}.",
        )
    passage = candidates[0]
    if not passage.text.strip():
        return _failed(citation, Reason.EMPTY_CHUNK, f"The chunk {chunk_id} has no text.")
    quote = Quote(citation.quote)
    found = locate(passage.source, quote, repair=repair)
    if isinstance(found, Match):
        return _located(citation, claim, passage, found, id_repaired=id_repaired)
    if not repair and isinstance(bridged := locate(passage.source, quote), Match):
        place = bridged.places[0]
        return CitationCheck(
            citation=citation,
            problem=Reason.QUOTE_NOT_FOUND,
            detail="The quote differs from the source in presentation; copy it exactly.",
            nearest=passage.text[place.start : place.end],
        )
    moved = _only_other(citation.quote, passage, passages) if repair else None
    if moved is not None:
        return _located(citation, claim, moved[0], moved[1], id_repaired=True)
    cut = found if isinstance(found, Cut) else None
    mismatch = diagnose(quote, passage, passages, question=question, cut=cut)
    return CitationCheck(
        citation=citation,
        problem=mismatch.reason,
        detail=mismatch.detail,
        nearest=mismatch.nearest,
        found_in=mismatch.found_in,
        id_repaired=id_repaired,
    )


def _shows(quote: str) -> bool:
    """Whether anything of a quote can be seen."""
    return quote[:1].isalnum() or any(not (mark.isspace() or is_invisible(mark)) for mark in quote)


def _failed(citation: Citation, reason: Reason, detail: str) -> CitationCheck:
    return CitationCheck(citation=citation, problem=reason, detail=detail)


def _known_id(cited: str, ids: Collection[str], *, repair: bool) -> str | None:
    """Return the retrieved id that `cited` is: never clamped, guessed or mapped by position.

    An id that itself ends in a bracket survives: only what surrounds a known id is taken off.
    """
    candidates = (cited, cited.strip(), cited.strip(_WRAPPING)) if repair else (cited,)
    return next((candidate for candidate in candidates if candidate in ids), None)


def _no_such_id(citation: Citation, ids: Collection[str]) -> CitationCheck:
    cited = citation.chunk_id
    known = ", ".join(sorted(ids)[:_IDS_SHOWN]) or "none"
    shown = cited[:_ID_SHOWN]
    if _may_mean_several(cited.strip(_WRAPPING), ids):
        return _failed(
            citation,
            Reason.AMBIGUOUS_CHUNK,
            f'"{shown}" may mean several of the retrieved chunks ({known}); '
            "use one id exactly as it was given.",
        )
    return _failed(
        citation,
        Reason.UNKNOWN_CHUNK,
        f'"{shown}" is no id of a retrieved chunk; the ids are {known}.',
    )


def _may_mean_several(bare: str, ids: Collection[str]) -> bool:
    """Whether `bare` could be a position, counted from 0 or 1, or a part of several ids."""
    if not bare:
        return False
    if bare.isascii() and bare.isdigit() and len(bare) < 6:
        return int(bare) <= len(ids)
    return sum(known.startswith((f"{bare}:", f"{bare}#", f"{bare}/")) for known in ids) > 1


def _only_other(quote: str, cited: Passage, passages: Passages) -> tuple[Passage, Match] | None:
    """Return the one other passage in which the quote stands literally, where there is one.

    The label was wrong then, and the quote says beyond doubt which one was meant; a few common
    words do not.
    """
    if len(content_words(quote)) <= _FEW_WORDS:
        return None
    found: list[tuple[Passage, Match]] = []
    for passage in passages:
        if passage is cited or quote not in passage.text:
            continue
        match = locate(passage.source, Quote(quote), repair=False)
        if isinstance(match, Match) and not passage.in_heading(match.places[0]):
            found.append((passage, match))
    if len(found) != 1 or len(passages.get(found[0][0].id)) != 1:
        return None
    return found[0]


def _located(
    citation: Citation, claim: str, passage: Passage, match: Match, *, id_repaired: bool
) -> CitationCheck:
    place, ambiguous = _choose_place(passage, match.places, claim)
    located = place_in(passage, *place, match=match, ambiguous=ambiguous)
    problem, detail, nearest = _usable(passage, place, located.quote, claim)
    return CitationCheck.trusted(
        citation=citation,
        located=located,
        problem=problem,
        detail=detail,
        nearest=nearest,
        id_repaired=id_repaired,
    )


def _choose_place(passage: Passage, places: tuple[Place, ...], claim: str) -> tuple[Place, bool]:
    """Return the place whose surroundings carry the claim, and whether that stayed uncertain.

    Each place is judged by its own territory: from the end of the sentence of the place before it
    to the end of its own sentence. So a heading or a name further up counts for what stands below.
    """
    if len(places) == 1:
        return places[0], False
    body = tuple(place for place in places if not passage.in_heading(place)) or places
    if len(body) == 1:
        return body[0], False
    wanted = [word.text for word in tokenize(claim)]
    scores: list[tuple[int, int]] = []
    done = 0
    for place in body[:_COMPARED]:
        start, end = enclosing_bounds(passage.sentences, *place)
        around = passage.text[max(done, start - _REACH) : place.start]
        around += " " + passage.text[place.end : end]
        scores.append(_score(around, wanted))
        done = end
    best = max(scores)
    return body[scores.index(best)], scores.count(best) > 1 or best == (0, 0)


def _score(around: str, wanted: list[str]) -> tuple[int, int]:
    """Count the claim's words around a place: as written, then in any case."""
    words = {word.text for word in tokenize(around)}
    lower = {word.lower() for word in words}
    exact = sum(word in words for word in set(wanted))
    return exact, sum(word.lower() in lower for word in set(wanted))


def place_in(
    passage: Passage,
    start: int,
    end: int,
    *,
    match: Match | None = None,
    ambiguous: bool = False,
) -> Located:
    """Return a range of a passage as a place in its chunk and its document.

    Without a `match`, the place is the range itself; with one, all its places and folds are told.
    """
    chunk = passage.chunk
    begin = chunk.span.start + start
    span = Span.trusted(start=start, end=end)
    text = passage.text
    # In ASCII every way of counting is the same.
    plain = text.isascii()
    places = match.places if match is not None else ()
    return Located.trusted(
        chunk_id=chunk.id,
        doc_id=chunk.doc_id,
        chunk_span=span,
        document_span=Span.trusted(start=begin, end=chunk.span.start + end),
        utf16_span=span if plain else utf16_span(text, span),
        utf8_span=span if plain else utf8_span(text, span),
        quote=text[start:end],
        page=passage.retrieved.page_of(begin),
        folds=match.folds if match is not None else (),
        occurrences=tuple(Span.trusted(start=a, end=b) for a, b in places) or (span,),
        ambiguous=ambiguous,
    )


def _usable(
    passage: Passage, place: Place, quote: str, claim: str
) -> tuple[Reason | None, str, str | None]:
    """Say whether a located quote can be evidence at all."""
    if passage.in_heading(place):
        return Reason.HEADING_ONLY, "A heading is no evidence; quote the text below it.", None
    if len(quote) > _SHORT or not _says_too_little(quote, claim):
        return None, "", None
    around = [passage.layout.at(at) for at in passage.layout.touched(place.start, place.end)]
    if any(_is_all_of(passage.text, sentence, place) for sentence in around):
        return None, "", None
    nearest = passage.text[around[0].start : around[0].end] if around else None
    return (
        Reason.QUOTE_TOO_SHORT,
        "The quote carries too little of the claim; quote the words that state it.",
        nearest,
    )


def _is_all_of(text: str, sentence: Sentence, place: Place) -> bool:
    """Whether a quote is a whole sentence or list item, however short that is."""
    begin = without_number(
        text, sentence.start, sentence.end, at_line=sentence.start == sentence.unit
    )
    return place.start <= begin and not text[place.end : sentence.end].strip(" .!?…。！？")


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
