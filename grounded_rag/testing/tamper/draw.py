"""Drawing labelled quotes from a corpus: the same seed gives the same quotes."""

from __future__ import annotations

import random

from grounded_rag.testing.tamper.material import shuffled, window
from grounded_rag.testing.tamper.oracle import is_sound
from grounded_rag.testing.tamper.values import Draw, FuzzCase, FuzzChunk, Kind, Pools
from grounded_rag.types import Span

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
