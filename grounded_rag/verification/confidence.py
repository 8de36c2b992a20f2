"""Token confidence: a name or number that the model itself was unsure of goes to the deciders."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from grounded_rag.protocols import TokenLogprob
from grounded_rag.types import Signal
from grounded_rag.verification.examination import Examination
from grounded_rag.verification.flags import CONFIDENCE_CHECK

UNSURE = 0.5
"""Probability below which a token counts as unsure: another one was then as likely."""

_WORD = re.compile(r"[^\W_]+(?:[.,:'’\-][^\W_]+)*")


class Unsure(NamedTuple):
    """The least sure name or number of a claim."""

    word: str
    probability: float


def confidence_signals(
    examination: Examination, tokens: Sequence[TokenLogprob], *, threshold: float = UNSURE
) -> dict[int, tuple[Signal, ...]]:
    """Return a filter's signal for each claim that can be found among the tokens.

    The tokens are those of the whole output, in order, as the provider returned them.
    """
    if not tokens:
        return {}
    output = _Output(tokens)
    added: dict[int, tuple[Signal, ...]] = {}
    for index, (verdict, case) in enumerate(
        zip(examination.verification.claims, examination.cases, strict=True)
    ):
        if case is None:
            continue
        least = output.least_sure(verdict.text)
        if least is not None:
            added[index] = (_signal(least, threshold),)
    return added


def _signal(least: Unsure, threshold: float) -> Signal:
    unsure = least.probability < threshold
    word = f"“{least.word}” ({least.probability:.0%})"
    return Signal(
        check=CONFIDENCE_CHECK,
        passed=not unsure,
        score=least.probability,
        detail=f"The model was unsure of {word}."
        if unsure
        else f"The model was sure of its names and numbers; least of {word}.",
        role="filter",
    )


class _Output:
    """The output's text, with the probability of every character's token."""

    def __init__(self, tokens: Sequence[TokenLogprob]) -> None:
        self._text = "".join(token.text for token in tokens)
        self._probabilities: list[float] = []
        for token in tokens:
            # NaN is no probability: such a token counts as one that nobody was sure of.
            sure = math.exp(min(token.logprob, 0.0)) if token.logprob == token.logprob else 0.0
            self._probabilities += [sure] * len(token.text)

    def least_sure(self, claim: str) -> Unsure | None:
        """Return the least sure name or number of a claim; None where it cannot be found.

        A copied sentence stands there as claim and as quote: wherever the model doubted, it counts.
        """
        found = [
            Unsure(word[0], min(self._probabilities[start + word.start() : start + word.end()]))
            for start, written in self._places(claim)
            for word in _WORD.finditer(written)
            if _tells(word[0], first=word.start() == 0)
        ]
        return min(found, key=lambda each: each.probability, default=None)

    def _places(self, claim: str) -> Iterator[tuple[int, str]]:
        """Yield where a claim stands; in a tool call it is JSON, escaped one way or the other."""
        for written in dict.fromkeys(
            (claim, json.dumps(claim, ensure_ascii=False)[1:-1], json.dumps(claim)[1:-1])
        ):
            start = self._text.find(written) if written else -1
            while start >= 0:
                yield start, written
                start = self._text.find(written, start + len(written))


def _tells(word: str, *, first: bool) -> bool:
    """Whether a word is a number or a name; the first word's capital tells nothing."""
    return any(character.isdigit() for character in word) or (word[0].isupper() and not first)
