"""The checks of what a claim quotes: what was never asserted, orders, wrong cells, identifiers.

A quote that stands in text addressed to the assistant, or that nobody asserts, supports nothing. A
claim may not give a cell under the name of another column. Identifiers are compared as strings:
each version, section, code or address of the claim stands in its passage.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import NamedTuple

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import read_table
from grounded_rag.text.identifiers import Identifier, find_identifiers
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Reason, Signal, Span
from grounded_rag.verification.wording import holds_cell

_STATEMENT_SHOWN = 80
# A shorter order brings the next sentence along: that is what it orders.
_BARE_ORDER = 9
_OPENS_BLOCK = re.compile(r"[<\[#|]|:$")
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_UNSEEN_IN_ORDERS = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_IDENTIFIERS_SHOWN = 3
_UNSEEN_IN_IDENTIFIERS = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_WORD = re.compile(r"[A-Za-z]{3}")
_GROUPS = re.compile(r"(?<=\d)[\s().\-‐‑–/]{1,3}(?=\d)")


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
    if not patterns.hint.search(text if text.isascii() else _UNSEEN_IN_ORDERS.sub("", text)):
        return ()
    sentences = split_sentences(text)
    found: list[Span] = []
    reach = 0
    for position, span in enumerate(sentences):
        sentence = _UNSEEN_IN_ORDERS.sub("", span.of(text))
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
    if len(sentence.split()) < _BARE_ORDER and position + 1 < len(sentences):
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


class _Patterns(NamedTuple):
    """The patterns of `injections.toml`, where each is explained."""

    strong: re.Pattern[str]
    weak: tuple[re.Pattern[str], ...]
    further: re.Pattern[str]
    hint: re.Pattern[str]
    humans: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    listed = read_table("injections")

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


def asserted(case: ClaimCase) -> Signal | None:
    """Reject a claim that rests on nothing but what its source does not assert.

    A question, struck-out or commented-out text and an unticked box state nothing.
    """
    statements = [statement for piece in case.evidence for statement in piece.statements]
    if not statements or any(statement.asserted for statement in statements):
        return None
    shown = statements[0].text[:_STATEMENT_SHOWN]
    return veto(
        "asserted",
        Reason.NOT_ASSERTED,
        f"The source does not assert “{shown}”: it is a question, struck out, hidden or not "
        "ticked. Quote a sentence that states it.",
    )


def of_wording(
    check: Callable[[ClaimCase], Signal | None],
) -> Callable[[ClaimCase], Signal | None]:
    """Return a check that has nothing to say about a verbatim claim: it is the source's."""

    @wraps(check)
    def asked(case: ClaimCase) -> Signal | None:
        return None if case.verbatim else check(case)

    return asked


@of_wording
def table_cells(case: ClaimCase) -> Signal | None:
    """Reject a claim that names a column of the quoted row and gives another column's cell.

    "988 complaints were decided for the customer" from a row that has 988 under "Received" and 602
    under "Decided for the customer".
    """
    for piece in case.evidence:
        for statement in piece.statements:
            wrong = _wrong_cell(case.claim.text, statement.cells[1:])
            if wrong is not None:
                name, given, right = wrong
                return veto(
                    "table_cells",
                    Reason.WRONG_CELL,
                    f"The claim gives “{given}” for “{name}”; the row gives “{right}” there.",
                )
    return None


def _wrong_cell(claim: str, cells: Sequence[tuple[str, str]]) -> tuple[str, str, str] | None:
    """Return a column that a claim names, the cell that it gives there, and the right one."""
    given = [(name, cell) for name, cell in cells if holds_cell(claim, cell)]
    if not given:
        return None
    words = {word.stem for word in content_words(claim)}
    named = [
        (name, cell)
        for name, cell in cells
        if (parts := {word.stem for word in content_words(name)}) and parts <= words
    ]
    cells_given = {cell for _, cell in given}
    if any(cell in cells_given for _, cell in named):
        return None
    return (named[0][0], given[0][1], named[0][1]) if named else None


@of_wording
def identifiers(case: ClaimCase) -> Signal | None:
    """Say whether the claim names something by an identifier that its passage does not hold.

    The passage counts with its title and headings. None where the claim holds no identifier.
    """
    stated = find_identifiers(_without_unseen(case.claim.text))
    if not stated:
        return None
    texts = dict.fromkeys(
        text
        for piece in case.evidence
        for text in (piece.chunk.chunk.text, piece.chunk.title, *piece.chunk.chunk.headings)
        if text
    )
    passage = _without_unseen("\n".join(texts))
    given = _identifiers_of(passage)
    for one in stated:
        if not _stands(one, passage, given):
            return veto("identifiers", Reason.IDENTIFIER_MISMATCH, _explain(one, given))
    return fine("identifiers", "Every identifier of the claim stands in its passage.")


def _without_unseen(text: str) -> str:
    return _UNSEEN_IN_IDENTIFIERS.sub("", html.unescape(text) if "&" in text else text)


@lru_cache(maxsize=256)
def _identifiers_of(passage: str) -> tuple[Identifier, ...]:
    return find_identifiers(passage)


def _stands(one: Identifier, passage: str, given: Sequence[Identifier]) -> bool:
    if any(one.key == other.key for other in given) or _stands_literally(one.text, one, passage):
        return True
    if one.kind == "number":
        digits = re.escape(re.sub(r"\D", "", one.key))
        return re.search(rf"(?<!\d){digits}(?!\d)", _GROUPS.sub("", passage)) is not None
    if one.kind == "code" and _WORD.search(one.text):
        # "Covid-19" for "COVID-19" is a doubt, and no contradiction.
        return any(one.key.casefold() == other.key.casefold() for other in given)
    if one.key.isdecimal():
        return _counted(one, passage, given)
    return False


def _stands_literally(written: str, one: Identifier, passage: str) -> bool:
    """Whether the very characters stand in the passage, as no part of something longer."""
    behind = r"(?![\w/@-]|[.?#&=]\w)" if one.kind == "address" else r"(?!\w|[.,]\d)"
    before = r"(?<![\w@+-])(?<![\w@+-]\.)" if "@" in written else r"(?<!\w)(?<!\d[.,])"
    return re.search(before + re.escape(written) + behind, passage) is not None


def _counted(one: Identifier, passage: str, given: Sequence[Identifier]) -> bool:
    """Whether a plain number stands there otherwise: "IV. Appeals", "the Second World War"."""
    number = int(one.key)
    if number < 40 and _stands_literally(_roman(number), one, passage):
        return True
    # Number words of a language that nobody reads here.
    if number < 100 and not any(other.kind == "name" for other in given):
        return True
    return any(number in other.values for other in find_quantities(passage))


def _roman(number: int) -> str:
    figures = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
    written = ""
    for value, letters in figures:
        written += letters * (number // value)
        number %= value
    return written


def _explain(one: Identifier, given: Sequence[Identifier]) -> str:
    alike = [other for other in given if other.kind == one.kind]
    ranked = sorted(alike, key=lambda other: -_shared(one.text, other.text))
    shown = ", ".join(
        f"“{text}”" for text in [*dict.fromkeys(o.text for o in ranked)][:_IDENTIFIERS_SHOWN]
    )
    return f"The claim says “{one.text}”; its passage gives {shown or 'no such name'}."


def _shared(left: str, right: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    pairs = zip(left.casefold(), right.casefold(), strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def veto(check: str, reason: Reason, detail: str) -> Signal:
    """A finding that rejects the claim."""
    return Signal(check=check, passed=False, reason=reason, detail=detail)


def fine(check: str, detail: str) -> Signal:
    """A veto check that found nothing wrong."""
    return Signal(check=check, passed=True, detail=detail)
