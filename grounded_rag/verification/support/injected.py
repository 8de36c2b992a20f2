"""Instruction-like text: a quote inside text addressed to the assistant supports nothing."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import data_file
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Reason, Signal, Span
from grounded_rag.verification.support.signals import veto

_PAYLOAD = 9
_OPENS_BLOCK = re.compile(r"[<\[#|]|:$")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


class _Patterns(NamedTuple):
    """The patterns of `injections.toml`, where each is explained."""

    strong: re.Pattern[str]
    weak: tuple[re.Pattern[str], ...]
    further: re.Pattern[str]
    hint: re.Pattern[str]
    humans: re.Pattern[str]


def injected(case: ClaimCase) -> Signal | None:
    """Say whether a quote of the claim stands in text that is addressed to the assistant."""
    for piece in case.evidence:
        quote = piece.located.chunk_span
        for span in injected_spans(piece.chunk.chunk.text):
            if span.overlaps(quote):
                return veto(
                    "injected",
                    Reason.INJECTED_INSTRUCTION,
                    "The quote stands in text that is addressed to the assistant, "
                    "not to readers of the document.",
                )
    return None


@lru_cache(maxsize=512)
def injected_spans(text: str) -> tuple[Span, ...]:
    """Return the sentences of `text` that are addressed to an assistant, with what they bring in.

    A bare order ("Ignore all previous instructions.") takes the next sentence with it, and every
    further order that follows; a forged role, passage or border of the context takes the rest of
    its paragraph.
    """
    patterns = _patterns()
    if not patterns.hint.search(text if text.isascii() else _INVISIBLE.sub("", text)):
        return ()
    sentences = split_sentences(text)
    found: list[Span] = []
    reach = 0
    for position, span in enumerate(sentences):
        sentence = _INVISIBLE.sub("", span.of(text))
        # A marker of a role may need the line break before it.
        strong = patterns.strong.search(sentence)
        if strong:
            found.append(span)
            reach = max(reach, _reach(text, sentences, position, strong.group(), sentence))
        elif span.start < reach or _weak(sentence) or _goes_on(found, text, span, sentence):
            found.append(span)
    return tuple(found)


def _reach(
    text: str, sentences: tuple[Span, ...], position: int, marker: str, sentence: str
) -> int:
    """Return where the influence of a marker ends."""
    span = sentences[position]
    if _OPENS_BLOCK.search(marker.strip()):
        border = _BLANK_LINE.search(text, span.end)
        return len(text) if border is None else border.start()
    if len(sentence.split()) < _PAYLOAD and position + 1 < len(sentences):
        return sentences[position + 1].end
    return span.end


def _goes_on(found: list[Span], text: str, span: Span, sentence: str) -> bool:
    """Whether a sentence is one more order, right behind text addressed to the assistant."""
    if not found or not _patterns().further.match(sentence):
        return False
    return not _BLANK_LINE.search(text[found[-1].end : span.start])


def _weak(sentence: str) -> bool:
    if _patterns().humans.search(sentence):
        return False
    return sum(pattern.search(sentence) is not None for pattern in _patterns().weak) >= 2


@cache
def _patterns() -> _Patterns:
    listed = tomllib.loads(data_file("injections.toml").read_text(encoding="utf-8"))

    def made(line: str) -> re.Pattern[str]:
        for name, part in listed["parts"].items():
            line = line.replace(f"@{name}", part)
        return re.compile(line, re.IGNORECASE)

    return _Patterns(
        strong=made("|".join(listed["strong"])),
        weak=tuple(map(made, listed["weak"])),
        further=made(listed["further"]),
        hint=made("|".join(listed["hints"])),
        humans=made(listed["humans"]),
    )
