"""Running labelled quotes and claims through a verifier.

Quotes are asked whether they were located, several of them in one draft and without checks of
support. Claims are asked how they ship at the verifier's defaults, one draft per claim.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from grounded_rag.testing.tamper.cases import (
    QUOTE_LABELS,
    Cited,
    Draw,
    FuzzCase,
    Kind,
    Label,
    Passage,
    Pools,
)
from grounded_rag.testing.tamper.characters import CHARACTER_KINDS, PRESENTATION_KINDS
from grounded_rag.testing.tamper.corpora import Corpus, pools_of
from grounded_rag.testing.tamper.corpus_claims import FALSE_CORPUS, HONEST_CORPUS
from grounded_rag.testing.tamper.false_claims import FALSE_MADE
from grounded_rag.testing.tamper.honest_claims import HONEST_MADE
from grounded_rag.testing.tamper.places import FRAMING_KINDS, PLACE_KINDS
from grounded_rag.testing.tamper.report import Finding, Found, FuzzReport, KindResult, result_of
from grounded_rag.testing.tamper.words import NUMBER_KINDS, WORD_KINDS
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    RetrievedChunk,
    Span,
    Verification,
)

TAMPERS: tuple[Kind, ...] = NUMBER_KINDS + WORD_KINDS + CHARACTER_KINDS + PLACE_KINDS
"""Classes whose quotes say something that the cited chunk does not say at one place."""

BENIGN: tuple[Kind, ...] = FRAMING_KINDS + PRESENTATION_KINDS
"""Classes whose quotes differ from the cited chunk in presentation only."""

KINDS: tuple[Kind, ...] = TAMPERS + BENIGN
"""All classes of quotes, in the order of the report."""

FALSE_CLAIMS: tuple[Kind, ...] = FALSE_CORPUS + FALSE_MADE
"""Classes whose claims their sources do not assert."""

TRUE_CLAIMS: tuple[Kind, ...] = HONEST_CORPUS + HONEST_MADE
"""Classes whose claims say what their sources say."""

CLAIM_KINDS: tuple[Kind, ...] = FALSE_CLAIMS + TRUE_CLAIMS
"""All classes of claims, in the order of the report."""

PER_CLASS = 50
_BATCH = 8


class Verifier(Protocol):
    """What `grounded_rag.verify` looks like from here."""

    def __call__(
        self, draft: Draft, chunks: Sequence[RetrievedChunk], /, *, checks: tuple[()] | None = None
    ) -> Verification:
        """Verify a draft; `checks=()` leaves the support of claims out."""
        ...


def run_fuzz(
    corpus: Corpus,
    *,
    per_class: int = PER_CLASS,
    seed: int = 0,
    verify: Verifier | None = None,
    kinds: Iterable[Kind] = KINDS,
    support: bool = False,
    progress: Callable[[KindResult], None] | None = None,
) -> FuzzReport:
    """Draw labelled cases from a corpus and count what the verifier makes of them.

    Args:
        corpus: Where the cases are drawn from; many classes of claims have material of their own.
        per_class: Cases per class, as far as there is material.
        seed: Seed of the randomness.
        verify: The verifier; by default `grounded_rag.verify`.
        kinds: The classes: `KINDS`, `CLAIM_KINDS`, or some of them.
        support: Whether to count also the claims of quotes that ship in their own words, which
            takes a second and slower run. Acceptance itself is about locating the quote alone.
        progress: Called after each class.
    """
    check = verify if verify is not None else default_verifier()
    pools = pools_of(corpus)
    results: list[KindResult] = []
    seconds = 0.0
    for kind in kinds:
        cases = draw_cases(kind, pools, count=per_class, seed=seed)
        started = time.perf_counter()
        judged = [item for part in _batches(cases) for item in judge(part, check, support=support)]
        seconds += time.perf_counter() - started
        results.append(result_of(kind.name, kind.label, judged, says=kind.says))
        if progress is not None:
            progress(results[-1])
    return FuzzReport(
        corpus=corpus.name,
        seed=seed,
        passages=len(corpus.passages),
        sentences=len(pools.sentences),
        results=tuple(results),
        seconds=seconds,
    )


def run_cases(
    cases: Sequence[FuzzCase],
    *,
    name: str = "cases",
    verify: Verifier | None = None,
    support: bool = False,
) -> FuzzReport:
    """Count what the verifier makes of given labelled cases, by class.

    The other arguments are those of `run_fuzz`.
    """
    check = verify if verify is not None else default_verifier()
    groups: dict[tuple[str, Label], list[FuzzCase]] = {}
    for case in cases:
        groups.setdefault((case.kind, case.label), []).append(case)
    started = time.perf_counter()
    # One at a time: chunk ids of given cases may repeat from case to case.
    results = tuple(
        result_of(kind, label, [judge([case], check, support=support)[0] for case in group])
        for (kind, label), group in groups.items()
    )
    return FuzzReport(
        corpus=name,
        seed=0,
        passages=len({chunk.text for case in cases for chunk in case.chunks}),
        sentences=len(cases),
        results=results,
        seconds=time.perf_counter() - started,
    )


def default_verifier() -> Verifier:
    """Return the public `verify`."""
    # Only the public function is used, and only here: nothing else of the verifier is known.
    from grounded_rag import verify

    return verify


def draw_cases(kind: Kind, pools: Pools, *, count: int, seed: int) -> tuple[FuzzCase, ...]:
    """Return up to `count` different cases of one class; the same seed gives the same cases.

    What a class makes depends on its name and the seed only, not on the other classes. Where there
    is too little material, fewer are returned.
    """
    # Classes of quotes and of claims share some names, and must not share their randomness.
    name = kind.name if kind.label in QUOTE_LABELS else f"claim:{kind.name}"
    rng = random.Random(f"{seed}:{name}")  # noqa: S311 - no secret depends on it
    found: dict[tuple[str, tuple[Cited, ...]], Draw] = {}
    for draw in kind.draws(rng, pools):
        if len(found) == count:
            break
        found.setdefault((draw.claim, draw.cited), draw)
    return tuple(_case(kind, draw, number) for number, draw in enumerate(found.values()))


def _case(kind: Kind, draw: Draw, number: int) -> FuzzCase:
    name = f"{kind.name}-{number}"
    if kind.label in QUOTE_LABELS:
        # Several quotes go into one draft, so that their chunks have names of their own.
        texts = [draw.cited[0].passage.text, *(passage.text for passage in draw.beside)]
        chunks = tuple(Passage(id=f"{name}.{place}", text=text) for place, text in enumerate(texts))
        citations = [(f"{name}.missing" if draw.missing else chunks[0].id, draw.cited[0].quote)]
    else:
        chunks = tuple({passage.id: passage for passage, _quote in draw.cited}.values())
        citations = [(passage.id, quote) for passage, quote in draw.cited]
    (cited, quote), *further = citations
    return FuzzCase(
        id=name,
        kind=kind.name,
        label=kind.label,
        chunks=chunks,
        cited=cited,
        quote=quote,
        original=draw.original,
        expected=draw.expected if kind.label == "benign" else None,
        claim=draw.claim,
        further=tuple(Citation(chunk_id=chunk_id, quote=quote) for chunk_id, quote in further),
        language=draw.language,
        poison=draw.poison,
    )


def _batches(cases: Sequence[FuzzCase]) -> Iterator[Sequence[FuzzCase]]:
    """Yield the cases that are checked as one draft: claims alone, quotes by several."""
    size = _BATCH if cases and cases[0].label in QUOTE_LABELS else 1
    for start in range(0, len(cases), size):
        yield cases[start : start + size]


def judge(
    cases: Sequence[FuzzCase],
    verify: Verifier,
    *,
    support: bool = False,
    known: Mapping[str, RetrievedChunk] | None = None,
) -> list[Finding]:
    """Return what a verifier makes of some cases that are checked as one draft.

    A quote counts as accepted when it was located without a problem; a benign one only when the
    span is the expected one and the returned quote is what the chunk reads there. A tampered one
    is mended when it was given the label of another shown chunk, and stands there letter by letter:
    what a reader is led to is where the words are.

    `cases` is one claim, or quotes whose chunks have different ids. The chunks of `known` stand for
    the passages of their ids with all that is known about them.
    """
    quotes = cases[0].label in QUOTE_LABELS
    draft = Draft(
        claims=tuple(Claim(text=c.claim or c.quote, citations=c.citations) for c in cases)
    )
    passages = [chunk for case in cases for chunk in case.chunks]
    chunks = [
        (known or {}).get(passage.id) or _retrieved(passage, rank)
        for rank, passage in enumerate(passages, start=1)
    ]
    try:
        verdicts = (verify(draft, chunks, checks=()) if quotes else verify(draft, chunks)).claims
        shown = verify(draft, chunks).claims if quotes and support else None
    except Exception as error:  # noqa: BLE001 - a verifier that raises is a finding
        if len(cases) > 1:
            return [item for case in cases for item in judge([case], verify, support=support)]
        return [_finding(cases[0], "crashed", detail=f"{type(error).__name__}: {error}")]
    if not quotes:
        return [_shipped(cases[0], verdicts[0] if verdicts else None)]
    if len(verdicts) != len(cases):
        return [_finding(case, "crashed", detail="not one verdict per claim") for case in cases]
    texts = {passage.id: passage.text for passage in passages}
    findings = [
        _located(case, verdict, texts) for case, verdict in zip(cases, verdicts, strict=True)
    ]
    if shown is None:
        return findings
    return [
        finding.model_copy(update={"shown": verdict.supported})
        for finding, verdict in zip(findings, shown, strict=True)
    ]


def _retrieved(passage: Passage, rank: int) -> RetrievedChunk:
    """Return a passage as a chunk that was found, with its title and headings."""
    return RetrievedChunk(
        chunk=Chunk(
            id=passage.id,
            doc_id=passage.source or passage.id,
            span=Span(start=0, end=len(passage.text)),
            text=passage.text,
            content_hash=hashlib.sha256(passage.text.encode("utf-8")).hexdigest(),
            headings=passage.headings,
        ),
        title=passage.title,
        rank=rank,
    )


def _finding(
    case: FuzzCase, found: Found, *, located: Span | None = None, detail: str = ""
) -> Finding:
    return Finding(
        kind=case.kind,
        label=case.label,
        found=found,
        quote=" […] ".join(citation.quote for citation in case.citations),
        claim=case.claim,
        chunk=case.cited_text,
        original=case.original,
        language=case.language,
        expected=case.expected,
        located=located,
        detail=detail,
    )


def _located(case: FuzzCase, verdict: ClaimVerdict, texts: Mapping[str, str]) -> Finding:
    check = verdict.citations[0]
    place = check.located
    detail = f"{check.problem or ''} {check.detail}".strip()
    if place is None or check.problem is not None:
        span = place.chunk_span if place is not None else None
        return _finding(case, "refused", located=span, detail=detail)
    if case.label == "benign":
        right = place.chunk_id == case.cited and place.chunk_span == case.expected
        if not right or place.chunk_span.of(case.cited_text) != place.quote:
            return _finding(case, "wrong span", located=place.chunk_span, detail=detail)
    elif place.chunk_id != case.cited and case.cited in texts:
        elsewhere = texts.get(place.chunk_id, "")
        if place.chunk_span.of(elsewhere) == case.quote:
            return _finding(case, "mended", located=place.chunk_span, detail=detail)
    folds = f"folds: {', '.join(place.folds)}" if place.folds else ""
    return _finding(case, "accepted", located=place.chunk_span, detail=folds)


def _shipped(case: FuzzCase, verdict: ClaimVerdict | None) -> Finding:
    if verdict is None:
        return _finding(case, "refused")
    detail = f"{verdict.reason or ''} {verdict.why}".strip()
    return _finding(case, fate_of(verdict, poison=case.poison), detail=detail)


def fate_of(verdict: ClaimVerdict, *, poison: str = "") -> Found:
    """Return how a claim ships: verbatim, confirmed, restated or refused.

    A text that was cleaned of characters that must not ship (`poison`) counts as refused.
    """
    clean = bool(poison) and not set(poison) & set(verdict.text)
    if verdict.restated:
        return "restated"
    if verdict.supported and not clean:
        return "verbatim" if verdict.tier == "verbatim" else "confirmed"
    return "restated" if verdict.restatement is not None else "refused"
