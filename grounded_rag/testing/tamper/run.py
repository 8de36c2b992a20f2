"""Running labelled quotes through a verifier."""

from __future__ import annotations

import hashlib
import random
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from grounded_rag.testing.tamper import characters, places, words
from grounded_rag.testing.tamper.corpora import Corpus, pools_of, shuffled, window
from grounded_rag.testing.tamper.report import Finding, FuzzReport, KindResult
from grounded_rag.testing.tamper.values import Draw, FuzzCase, FuzzChunk, Kind, Label, Pools
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

TAMPERS: tuple[Kind, ...] = (
    words.NUMBER_KINDS + words.WORD_KINDS + characters.CHARACTER_KINDS + places.PLACE_KINDS
)
"""Classes whose quotes say something that the cited chunk does not say at one place."""

BENIGN: tuple[Kind, ...] = places.FRAMING_KINDS + characters.PRESENTATION_KINDS
"""Classes whose quotes differ from the cited chunk in presentation only."""

KINDS: tuple[Kind, ...] = TAMPERS + BENIGN


def is_literal(case: FuzzCase) -> bool:
    """Whether the quote stands in the cited chunk, character by character."""
    return bool(case.quote) and case.quote in case.cited_text


def reads_the_same(case: FuzzCase) -> bool:
    """Whether the quote stands in the cited chunk up to what the module's text names."""
    quote = _plain(case.quote).removesuffix(".")
    if not quote:
        return False
    rows = [line.replace("|", " ") for line in case.cited_text.splitlines() if "|" in line]
    return _stands_in(quote, [case.cited_text]) or _stands_in(_plain(quote.replace("|", " ")), rows)


def _stands_in(quote: str, texts: Sequence[str]) -> bool:
    readings = (quote, quote[:1].swapcase() + quote[1:])
    return any(reading in _plain(text) for text in texts for reading in readings)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def is_cut(case: FuzzCase) -> bool:
    """Whether every place where the quote stands cuts a word or a number at one of its ends.

    A final full stop of the quote is left aside, so that places that go on otherwise count too.
    """
    text, quote = case.cited_text, case.quote.removesuffix(".")
    places = []
    place = text.find(quote)
    while place >= 0:
        places.append(place)
        place = text.find(quote, place + 1)
    return bool(places) and all(
        _inside(text, place) or _inside(text, place + len(quote)) for place in places
    )


def _inside(text: str, edge: int) -> bool:
    """Whether `edge` lies between two letters, two digits, or inside a number."""
    if not 0 < edge < len(text):
        return False
    left, right = text[edge - 1], text[edge]
    if left.isalnum() and right.isalnum():
        return True
    after = text[edge + 1] if edge + 1 < len(text) else ""
    before = text[edge - 2] if edge >= 2 else ""
    if left.isdigit() and right in ".," and after.isdigit():
        return True
    if left in ".," and right.isdigit() and before.isdigit():
        return True
    return left in "-\N{MINUS SIGN}" and right.isdigit() and not before.strip()


def is_sound(case: FuzzCase, *, literal: bool) -> bool:
    """Whether the case is what its label says.

    Args:
        case: The case.
        literal: Whether its class makes quotes that are literally in the chunk.
    """
    if not case.quote.strip():
        return False
    if case.label == "benign":
        place = case.expected
        if place is None:
            return False
        # The same words on other lines would be a second place that is just as right.
        text = _plain(case.cited_text).casefold()
        return text.count(_plain(place.of(case.cited_text)).casefold()) == 1
    if literal:
        return is_cut(case)
    return not is_literal(case) and not reads_the_same(case)


_ROUNDS = 40
_WINDOWS = 0.35


def draw_cases(kind: Kind, pools: Pools, *, count: int, seed: int) -> tuple[FuzzCase, ...]:
    """Return up to `count` different cases of one class.

    What a class makes depends on its name and the seed only, not on the other classes. A third of
    the quotes is drawn from a run of words of a sentence instead of the whole of it. Changes that
    happen to give a true quote are dropped, as `oracle` says.

    Args:
        kind: The class.
        pools: Material of the corpus.
        count: How many; fewer are returned where the corpus has too little material.
        seed: Seed of the randomness.
    """
    rng = random.Random(f"{seed}:{kind.name}")  # noqa: S311 - no secret depends on it
    cases: list[FuzzCase] = []
    seen: set[tuple[str, str]] = set()
    for _ in range(_ROUNDS):
        before = len(cases)
        for sentence in shuffled(rng, pools.sentences):
            if len(cases) == count:
                return tuple(cases)
            part = window(rng, sentence) if rng.random() < _WINDOWS else sentence
            draw = kind.make(rng, part, pools)
            if draw is None or (draw.quote, draw.chunks[0]) in seen:
                continue
            seen.add((draw.quote, draw.chunks[0]))
            case = _case(kind, draw, number=len(cases))
            if is_sound(case, literal=kind.literal):
                cases.append(case)
        if len(cases) == before:
            break
    return tuple(cases)


def _expected(draw: Draw) -> Span | None:
    """Return the expected span: where the varied quote happens to be literal, its own place."""
    literal = draw.chunks[0].find(draw.quote)
    if literal < 0:
        return draw.expected
    return Span(start=literal, end=literal + len(draw.quote))


def _case(kind: Kind, draw: Draw, *, number: int) -> FuzzCase:
    name = f"{kind.name}-{number}"
    chunks = tuple(
        FuzzChunk(id=f"{name}.{place}", text=text) for place, text in enumerate(draw.chunks)
    )
    return FuzzCase(
        id=name,
        kind=kind.name,
        label=kind.label,
        chunks=chunks,
        cited=f"{name}.missing" if draw.cited is None else chunks[draw.cited].id,
        quote=draw.quote,
        original=draw.original,
        expected=_expected(draw) if kind.label == "benign" else None,
    )


PER_CLASS = 50
_BATCH = 8
_EXAMPLES = 5


class Verifier(Protocol):
    """What `grounded_rag.verify` looks like from here."""

    def __call__(
        self, draft: Draft, chunks: Sequence[RetrievedChunk], /, *, checks: tuple[()] | None = None
    ) -> Verification:
        """Verify a draft; `checks=()` leaves the support of claims out."""
        ...


class Verdict(NamedTuple):
    """What became of one case.

    Attributes:
        found: "accepted", "mended", "refused", "wrong span" or "crashed".
        located: Where the quote was located.
        detail: Reason or error.
        shown: Whether the claim ships in its own words by default; None where not asked.
    """

    found: str
    located: Span | None = None
    detail: str = ""
    shown: bool | None = None


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
    """Draw labelled quotes from a corpus and count what the verifier makes of them.

    Args:
        corpus: Where the quotes are drawn from.
        per_class: Quotes a class, as far as the corpus has the material.
        seed: Seed of the randomness.
        verify: The verifier; by default `grounded_rag.verify`.
        kinds: The classes.
        support: Whether to count also the claims that ship in their own words, which takes a
            second and slower run. Acceptance itself is about locating the quote alone.
        progress: Called after each class.
    """
    check = verify if verify is not None else default_verifier()
    pools = pools_of(corpus)
    results: list[KindResult] = []
    seconds = 0.0
    for kind in kinds:
        cases = draw_cases(kind, pools, count=per_class, seed=seed)
        started = time.perf_counter()
        verdicts = [v for batch in _batches(cases) for v in judge(batch, check, support=support)]
        seconds += time.perf_counter() - started
        group = Class(kind.name, kind.label, kind.says)
        results.append(_result(group, cases, verdicts, support=support))
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
    """Count what the verifier makes of given labelled quotes, by class.

    Args:
        cases: The quotes.
        name: What they are called in the report.
        verify: The verifier; by default `grounded_rag.verify`.
        support: Whether to count also the claims that ship in their own words.
    """
    check = verify if verify is not None else default_verifier()
    groups: dict[tuple[str, Label], list[FuzzCase]] = {}
    for case in cases:
        groups.setdefault((case.kind, case.label), []).append(case)
    results = []
    started = time.perf_counter()
    for (kind, label), group in groups.items():
        # One at a time: chunk ids of given cases may repeat from case to case.
        verdicts = [v for case in group for v in judge([case], check, support=support)]
        results.append(_result(Class(kind, label, ""), group, verdicts, support=support))
    return FuzzReport(
        corpus=name,
        seed=0,
        passages=len({chunk.text for case in cases for chunk in case.chunks}),
        sentences=len(cases),
        results=tuple(results),
        seconds=time.perf_counter() - started,
    )


class Class(NamedTuple):
    """Name, label and description of a class."""

    name: str
    label: Label
    says: str


def default_verifier() -> Verifier:
    """Return the public `verify`."""
    # Only the public function is used, and only here: nothing else of the verifier is known.
    from grounded_rag import verify

    return verify


def judge(cases: Sequence[FuzzCase], verify: Verifier, *, support: bool) -> list[Verdict]:
    """Return what a verifier makes of some cases that are checked as one draft.

    A case counts as accepted when its one citation was located without a problem; a benign one
    only when the span is the expected one and the returned quote is what the chunk reads there.
    A tampered one is mended when it was given the label of another shown chunk, and stands there
    letter by letter: what a reader is led to is where the words are.
    """
    try:
        located = verify(_draft(cases), _chunks(cases), checks=())
        shown = verify(_draft(cases), _chunks(cases)) if support else None
    except Exception as error:  # noqa: BLE001 - a verifier that raises is a finding
        if len(cases) > 1:
            return [verdict for case in cases for verdict in judge([case], verify, support=support)]
        return [Verdict("crashed", detail=f"{type(error).__name__}: {error}")]
    if len(located.claims) != len(cases):
        return [Verdict("crashed", detail="not one verdict a claim") for _ in cases]
    flags = [v.supported for v in shown.claims] if shown is not None else [None] * len(cases)
    texts = {each.chunk.id: each.chunk.text for each in _chunks(cases)}
    return [
        _verdict(case, verdict, texts, shown=flag)
        for case, verdict, flag in zip(cases, located.claims, flags, strict=True)
    ]


def _verdict(
    case: FuzzCase, verdict: ClaimVerdict, texts: Mapping[str, str], *, shown: bool | None
) -> Verdict:
    check = verdict.citations[0]
    place = check.located
    detail = f"{check.problem or ''} {check.detail}".strip()
    if place is None or check.problem is not None:
        return Verdict("refused", place.chunk_span if place else None, detail, shown)
    if case.label == "benign":
        right = place.chunk_id == case.cited and place.chunk_span == case.expected
        if not right or place.chunk_span.of(case.cited_text) != place.quote:
            return Verdict("wrong span", place.chunk_span, detail, shown)
    elif place.chunk_id != case.cited and case.cited in texts:
        elsewhere = texts.get(place.chunk_id, "")
        if place.chunk_span.of(elsewhere) == case.quote:
            return Verdict("mended", place.chunk_span, detail, shown)
    folds = ", ".join(place.folds)
    return Verdict("accepted", place.chunk_span, f"folds: {folds}" if folds else "", shown)


def _result(
    kind: Class, cases: Sequence[FuzzCase], verdicts: Sequence[Verdict], *, support: bool
) -> KindResult:
    found = [verdict.found for verdict in verdicts]
    wrong = {"accepted", "crashed"} if kind.label == "tamper" else set(found) - {"accepted"}
    findings = [
        Finding(
            kind=kind.name,
            found=verdict.found,
            chunk=case.cited_text,
            quote=case.quote,
            original=case.original,
            expected=case.expected,
            located=verdict.located,
            detail=verdict.detail,
        )
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict.found in wrong
    ]
    return KindResult(
        kind=kind.name,
        label=kind.label,
        says=kind.says,
        made=len(cases),
        accepted=found.count("accepted"),
        mended=found.count("mended"),
        refused=found.count("refused"),
        wrong_span=found.count("wrong span"),
        crashed=found.count("crashed"),
        shown=sum(bool(verdict.shown) for verdict in verdicts) if support else None,
        findings=tuple(findings[:_EXAMPLES]),
    )


def _batches(cases: Sequence[FuzzCase]) -> Iterator[Sequence[FuzzCase]]:
    for start in range(0, len(cases), _BATCH):
        yield cases[start : start + _BATCH]


def _draft(cases: Sequence[FuzzCase]) -> Draft:
    return Draft(
        claims=tuple(
            Claim(
                text=case.claim or case.quote,
                citations=(Citation(chunk_id=case.cited, quote=case.quote),),
            )
            for case in cases
        )
    )


def _chunks(cases: Sequence[FuzzCase]) -> list[RetrievedChunk]:
    chunks = [chunk for case in cases for chunk in case.chunks]
    return [
        RetrievedChunk(
            chunk=Chunk(
                id=chunk.id,
                doc_id=chunk.id,
                span=Span(start=0, end=len(chunk.text)),
                text=chunk.text,
                content_hash=hashlib.sha256(chunk.text.encode("utf-8")).hexdigest(),
            ),
            rank=rank,
        )
        for rank, chunk in enumerate(chunks, start=1)
    ]
