"""Sentences of free prose that stand beside claims without being one of them."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Problem

_CARRIED = 0.6
_SHOWN = 120


def uncited_sentences(prose: str, claims: Sequence[str]) -> tuple[Problem, ...]:
    """Return a problem for each sentence of `prose` that no claim says.

    Args:
        prose: Free text beside the claims.
        claims: Texts of the claims.
    """
    said = [{word.stem for word in content_words(claim)} for claim in claims]
    whole = [" ".join(claim.split()) for claim in claims]
    problems: list[Problem] = []
    for span in split_sentences(prose):
        sentence = span.of(prose)
        words = {word.stem for word in content_words(sentence)}
        plain = " ".join(sentence.split())
        if not words or any(plain in claim or claim in plain for claim in whole if claim):
            continue
        if all(len(words & claim) < _CARRIED * len(words) for claim in said):
            problems.append(
                Problem(
                    reason="uncited_prose",
                    path="answer",
                    detail=f'No claim carries "{plain[:_SHOWN]}"; it is left out.',
                )
            )
    return tuple(problems)
