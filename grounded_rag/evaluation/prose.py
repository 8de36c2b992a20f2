"""Answers in prose as claims, for systems that cite nothing.

An answer is first taken apart into what states something and what only presents it: citation
marks, headings, rules, header rows, lists of sources, greetings, introductions and questions are
no claims: counted as such, they would make every well-presented answer false.

Then places are looked up: the sentences of the contexts that share most of a statement's words,
weighted by how rare they are there, are tried as its quote. The system did not choose these places,
so a claim is rejected only where a hard check rejects it at every place that was tried.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.sentences import LineKind, Unit, ends_with_stop, group_units, split_unit
from grounded_rag.text.words import content_words
from grounded_rag.types import (
    Citation,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Draft,
    RetrievedChunk,
    Span,
)
from grounded_rag.verification import verify
from grounded_rag.verification.checks import stages
from grounded_rag.verification.cleaning import is_question, without_marks, without_unseen
from grounded_rag.verification.passages import Passage, read_chunks
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.wording import clean_wording, row_at, without_number

_ENDS = ".!?…。！？｡．؟۔।॥"


class Attributed(NamedTuple):
    """An answer in prose as claims."""

    draft: Draft  # statements with the places that carry them best
    apart: tuple[str, ...]  # parts that state nothing


def attribute(
    text: str,
    contexts: Sequence[RetrievedChunk],
    *,
    question: str | None = None,
    rules: Rules | None = None,
) -> Attributed:
    """Return an answer as claims with the places in `contexts` that carry them best.

    The question is never evidence. What the rules name as deciders is not asked here.
    """
    parts = prose_parts(text, [context.chunk.text for context in contexts])
    lookup = _Lookup(contexts, question, rules or Rules())
    found = lookup.joined(parts.statements, lookup.alone(parts.statements))
    claims = tuple(_claim(each.text, each.places) for each in found)
    return Attributed(Draft(claims=claims), parts.apart)


class ProseStatement(NamedTuple):
    """A part of an answer that states something."""

    text: str  # presentation taken off
    block: int  # number of its paragraph, item or row


class ProseParts(NamedTuple):
    """The parts of an answer in order: what may be true or false, and what states nothing."""

    statements: tuple[ProseStatement, ...]
    apart: tuple[str, ...]


def prose_parts(text: str, contexts: Sequence[str] = ()) -> ProseParts:
    """Take an answer in prose apart.

    A sentence that stands in `contexts` is a statement, whatever it looks like, and a bracket that
    stands there is no citation mark.
    """
    reader = _Reader(contexts)
    reader.read(_without_citations(without_unseen(text), contexts, reader.apart))
    return ProseParts(tuple(reader.statements), tuple(reader.apart))


_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\n]*")
_NOTE = re.compile(r"[ \t>*-]*(?:\[\^?\w{1,30}\]|【[^】\n]{1,80}】|[¹²³⁴-⁹]+):?[ \t]*")
_CLOSING = re.compile(r"[\])】］）〕}>\ue201]|[¹²³⁴-⁹]+")
_CARETS = re.compile(r"\[\^(\w{1,30})\^\]")
_CLOSERS = tuple("])】］）〕}")
# Longer than any mark that `without_marks` knows.
_WINDOW = 320
_GOES_ON = f"{_ENDS},;:，；：、(&"
_NEXT_BEGINS = re.compile(r"[ \t]+[^\W_a-zß-öø-ÿ]")


def _without_citations(text: str, contexts: Sequence[str], apart: list[str]) -> str:
    """Return a text without the citation marks in its lines; notes that name sources go apart."""
    quotes = [f"{context.rstrip()}." for context in contexts]
    lines: list[str] = []
    for line in text.splitlines():
        if _FENCE.fullmatch(line):
            continue
        note = _NOTE.match(line)
        rest = line if note is None else line[note.end() :]
        if note is not None and not (rest.rstrip(" *_")[-1:] in _ENDS and rest.count(" ") >= 3):
            # Behind its mark it is no sentence: it names a source.
            apart.append(line.strip())
            rest = ""
        lines.append(_line_without_marks(rest, quotes))
    return "\n".join(lines)


def _line_without_marks(line: str, quotes: Sequence[str]) -> str:
    """Return a line without its marks: each closing bracket may end one."""
    line = _CARETS.sub(r"[^\1]", line)
    done = ""
    position = 0
    for closing in _CLOSING.finditer(line):
        done += line[position : closing.end()]
        position = closing.end()
        if line[position : position + 1] in _CLOSERS or line.startswith("](", position - 1):
            # Of brackets in brackets, and of a link, the whole is looked at first.
            continue
        head, tail = done[:-_WINDOW], done[-_WINDOW:]
        cut = without_marks(tail)
        if cut == tail and closing[0] in ")）" and _ends_at(line, position):
            cut = without_marks(tail, quotes=quotes)
        if cut == tail and tail[-2:-1] in _CLOSERS:
            inside = without_marks(tail[:-1])
            cut = tail if inside == tail[:-1] else inside + tail[-1]
        if cut != tail and _NEXT_BEGINS.match(line, position) and cut.rstrip()[-1:] not in _GOES_ON:
            # "80 EUR [1] Double room: …": without a stop, the mark ends what it marks.
            cut = f"{cut.rstrip()}\n\n"
        done = head + cut
    return done + line[position:]


def _ends_at(line: str, position: int) -> bool:
    rest = line[position:].lstrip(" *_")
    return not rest or rest[0] in _ENDS


_EMPHASIZED = re.compile(r"(\*\*|__|\*|_)(?P<inside>[^*_\n]+)\1:?")
_UNDERLINE = re.compile(r"=+|-{2,}")
_TITLE_WORDS = 6
_PEELED = 4


class _Reader:
    def __init__(self, contexts: Sequence[str]) -> None:
        self.statements: list[ProseStatement] = []
        self.apart: list[str] = []
        self._contexts = [_plain(context) for context in contexts]
        self._lead = ""
        self._led = False
        self._in_sources = False
        self._block = 0

    def read(self, text: str) -> None:
        units = group_units(text)
        table: list[Unit] = []
        for at, unit in enumerate(units):
            if unit.kind in (LineKind.ROW, LineKind.DELIMITER):
                table.append(unit)
                continue
            self._table(text, table)
            table = []
            self._block = at
            self._unit(text, unit, units[at + 1] if at + 1 < len(units) else None)
        self._table(text, table)
        self._drop_lead()

    def _unit(self, text: str, unit: Unit, after: Unit | None) -> None:
        body = text[unit.start : unit.end]
        titled = unit.kind is LineKind.HEADING or _is_title(text, unit, after)
        if titled or unit.kind is LineKind.RULE:
            self._drop_lead()
            self.apart.append(body)
            self._in_sources = titled and _names_sources(body)
        elif self._in_sources:
            self.apart.append(body)
        elif unit.kind is not LineKind.ITEM and _names_sources(body):
            self._drop_lead()
            self.apart.append(body)
            self._in_sources = True
        elif _lists_sources(body):
            self.apart.append(body)
        else:
            self._prose(text, unit)

    def _prose(self, text: str, unit: Unit) -> None:
        item = unit.kind is LineKind.ITEM
        if not item:
            self._drop_lead()
        bounds: list[tuple[int, int]] = []
        start = without_number(text, unit.start, unit.end, at_line=True)
        split_unit(text, start, unit.end, bounds)
        for begin, end in bounds:
            sentence = clean_wording(text[begin:end])
            if not any(map(str.isalnum, sentence)):
                continue
            said = sentence if self._stands_in_contexts(sentence) else self._said(sentence)
            if not said:
                self.apart.append(sentence)
            elif said.endswith((":", "：")):
                self._drop_lead()
                self._lead = said
            else:
                if item and self._lead and not ends_with_stop(said):
                    # A fragment is only said by the line that leads into it.
                    said = f"{self._lead} {said}"
                    self._led = True
                self.statements.append(ProseStatement(said, self._block))

    def _drop_lead(self) -> None:
        """Put a line that leads into others apart: alone it states nothing."""
        if self._lead and not self._led:
            self.apart.append(self._lead)
        self._lead, self._led = "", False

    def _stands_in_contexts(self, sentence: str) -> bool:
        plain = _plain(sentence)
        return not is_question(sentence) and any(plain in context for context in self._contexts)

    def _said(self, sentence: str) -> str:
        """Return what a sentence states, courtesy and introductions taken off; "" for nothing."""
        words = _words()
        rest = sentence
        for _ in range(_PEELED):
            before = rest
            for pattern in (words.openers, words.reference, words.reports, words.announcements):
                taken = pattern.match(rest)
                if taken is not None:
                    if taken.end() < len(rest):
                        self.apart.append(taken[0].strip())
                    rest = rest[taken.end() :].lstrip()
            if rest == before:
                break
        behind = words.behind.search(rest)
        if behind is not None:
            self.apart.append(behind["said"])
            rest = rest[: behind.start()] + rest[behind.end() :]
        if is_question(rest) or not any(map(str.isalnum, rest)) or _lists_sources(rest):
            return ""
        plain = rest.replace("’", "'").lower()
        courteous = any(phrase in plain for phrase in words.closings)
        # "If you have questions, call 555-0100" says a number, whatever else it says.
        return "" if courteous and not any(map(str.isdigit, rest)) else rest

    def _table(self, text: str, table: Sequence[Unit]) -> None:
        """Read the rows of a table under its header, which states nothing itself."""
        if not table:
            return
        self._drop_lead()
        passage = Passage(read_chunks([{"id": "answer", "text": text}])[0])
        rows = [row_at(passage, unit.start, unit.end) for unit in table]
        headers = {row.header for row in rows if row.header}
        for unit, row in zip(table, rows, strict=True):
            heads = not row.header and row.cells in headers
            if self._in_sources or heads or unit.kind is LineKind.DELIMITER:
                self.apart.append(text[unit.start : unit.end])
            elif said := row.reading():
                self._block += 1
                self.statements.append(ProseStatement(said, self._block))


def _is_title(text: str, unit: Unit, after: Unit | None) -> bool:
    """Whether a line of its own is a heading by emphasis, or by the line drawn under it."""
    body = text[unit.start : unit.end]
    if unit.kind not in (LineKind.TEXT, LineKind.LABEL) or "\n" in body:
        return False
    emphasized = _EMPHASIZED.fullmatch(body)
    if emphasized is not None:
        return not ends_with_stop(emphasized["inside"].rstrip())
    return (
        after is not None
        and after.kind is LineKind.RULE
        and _UNDERLINE.fullmatch(text[after.start : after.end]) is not None
        and text[unit.end : after.start].count("\n") == 1
    )


def _names_sources(body: str) -> bool:
    bare = re.sub(r"[#*_:：\s]+", " ", body).strip().casefold()
    return bare in _words().sources


def _lists_sources(body: str) -> bool:
    """Whether a line names sources behind a word for them: "Sources: prices.md, hours.md"."""
    label, colon, rest = re.sub(r"[*_]+", "", body).replace("：", ":").partition(":")
    if not colon or label.strip(" -•").casefold() not in _words().sources:
        return False
    return not (rest.rstrip()[-1:] in _ENDS and len(rest.split()) > _TITLE_WORDS)


def _plain(text: str) -> str:
    """Return the words of a text on one line, for looking it up."""
    return " ".join(text.split()).strip(f" {_ENDS}").casefold()


class _Words(NamedTuple):
    reference: re.Pattern[str]
    reports: re.Pattern[str]
    behind: re.Pattern[str]
    openers: re.Pattern[str]
    announcements: re.Pattern[str]
    closings: tuple[str, ...]
    sources: frozenset[str]


@cache
def _words() -> _Words:
    lists = read_table("prose")
    marks = read_table("drafts")["marks"]
    reference = lists["reference"]
    lead, determiner, qualifier, thing, link, tail, verb = (
        _any_of(reference[name])
        for name in ("leads", "determiners", "qualifiers", "things", "links", "tails", "verbs")
    )
    noun = rf"(?:{determiner}\s*(?<=['’\s])){{0,2}}(?:{qualifier}(?:,|\s+and)?\s+){{0,3}}{thing}"
    nouns = rf"{noun}(?:\s+{link}\s+{noun}){{0,2}}(?:\s+{tail})?"
    behind = r"\s*[,:，、：]\s*"
    return _Words(
        reference=re.compile(
            rf"(?:{lead}\s+{nouns}|{_any_of(reference['prefixes'])}){behind}", re.IGNORECASE
        ),
        reports=re.compile(rf"{nouns}\s+{verb}\s+", re.IGNORECASE),
        behind=re.compile(rf",\s+(?P<said>{lead}\s+{nouns})(?=[.!]?\Z)", re.IGNORECASE),
        openers=re.compile(
            rf"¡?{_any_of(lists['openers']['words'])}(?:\s*[,:!.，！。、—–]+\s*|\s+-\s+|\s*\Z)",
            re.IGNORECASE,
        ),
        announcements=re.compile(
            rf"(?:{_any_of(lists['announcements']['begins'])}(?!\w)[^:：.!?]{{0,120}}[:：]\s*"
            rf"|{_any_of(lists['announcements']['labels'])}\s*[:：]\s*"
            rf"|{_any_of(lists['announcements']['short'])}{behind})",
            re.IGNORECASE,
        ),
        closings=tuple(phrase.lower() for phrase in lists["closings"]["phrases"]),
        sources=frozenset(
            word.casefold() for word in (*marks["sources"], *lists["source_lists"]["titles"])
        ),
    )


def _any_of(phrases: Sequence[str]) -> str:
    """Return a pattern of one of several phrases, the longest first."""
    ordered = sorted(dict.fromkeys(phrases), key=len, reverse=True)
    escaped = (re.escape(each).replace("'", "['’]").replace(r"\ ", r"\s+") for each in ordered)
    return f"(?:{'|'.join(escaped)})"


# Each place that is tried is one more claim to verify.
_TRIED = 6
# Places shown together for an open claim, and neighbours joined to one claim.
_JOINED = 3


class _Place(NamedTuple):
    chunk: RetrievedChunk
    span: Span
    stems: frozenset[str]


class _Placed(NamedTuple):
    """A claim with the places found for it, and how good they are: less is better."""

    text: str
    places: tuple[_Place, ...]
    grade: int


_SUPPORTED, _OPEN, _NO_PLACE = 0, 1, 4
_GRADES = {
    ClaimStatus.SUPPORTED: _SUPPORTED,
    ClaimStatus.OPEN: _OPEN,
    ClaimStatus.UNCHECKED: 2,
    ClaimStatus.CONTRADICTED: 3,
    ClaimStatus.UNSUPPORTED: 3,
}


class _Lookup:
    def __init__(
        self, contexts: Sequence[RetrievedChunk], question: str | None, rules: Rules
    ) -> None:
        self._contexts = contexts
        self._question = question
        # Deciders cost something: they are asked once, about the places that are chosen here.
        first, _ = stages(() if rules.spans_only else rules.checks)
        self._rules = replace(rules, checks=first, entailment=None, judge=None, spans_only=False)
        self._places = [place for context in contexts for place in _places(context)]
        counts = Counter(stem for place in self._places for stem in place.stems)
        self._rarity = {
            stem: math.log(1 + len(self._places) / count) for stem, count in counts.items()
        }

    def alone(self, statements: Sequence[ProseStatement]) -> list[_Placed]:
        """Return each statement as a claim, with its best place or, where it is open, places."""
        texts = [statement.text for statement in statements]
        ranked = [self._ranked(text) for text in texts]
        found = self._best(
            (text, [(place,) for place in places])
            for text, places in zip(texts, ranked, strict=True)
        )
        # What stays open shows all the places that it may rest on: a decider needs them.
        wider = self._best(
            (one.text, [_covering(one.text, places)] if one.grade == _OPEN else [])
            for one, places in zip(found, ranked, strict=True)
        )
        return [
            new if new.grade <= old.grade else old for old, new in zip(found, wider, strict=True)
        ]

    def joined(
        self, statements: Sequence[ProseStatement], found: Sequence[_Placed]
    ) -> list[_Placed]:
        """Return the claims with neighbours joined where only together they are a statement.

        "It rises in May." is said by a source with the sentence before it, and a sentence that is
        taken back by the next one only with that.
        """
        windows = list(_windows(statements, found))
        tried = self._best(_together(found[first:last]) for first, last in windows)
        held = {
            window: each
            for window, each in zip(windows, tried, strict=True)
            if each.grade == _SUPPORTED
        }
        result: list[_Placed] = []
        position = 0
        while position < len(found):
            last = max((end for start, end in held if start == position), default=position + 1)
            result.append(held.get((position, last)) or found[position])
            position = last
        return result

    def _best(self, tried: Iterator[tuple[str, Sequence[tuple[_Place, ...]]]]) -> list[_Placed]:
        """Return each text with the best places tried for it, by one verification of all."""
        groups = list(tried)
        claims = tuple(_claim(text, places) for text, group in groups for places in group)
        verdicts = iter(
            verify(
                Draft(claims=claims), self._contexts, question=self._question, rules=self._rules
            ).claims
        )
        result: list[_Placed] = []
        for text, group in groups:
            graded = [_Placed(text, places, _grade(next(verdicts))) for places in group]
            placed = [each for each in graded if each.grade < _NO_PLACE]
            nowhere = _Placed(text, (), _NO_PLACE)
            result.append(min(placed, key=lambda each: each.grade, default=nowhere))
        return result

    def _ranked(self, sentence: str) -> tuple[_Place, ...]:
        stems = {word.stem for word in content_words(sentence)}
        shared = [place for place in self._places if stems & place.stems]
        shared.sort(key=lambda place: -sum(self._rarity[stem] for stem in stems & place.stems))
        return tuple(shared[:_TRIED])


def _grade(verdict: ClaimVerdict) -> int:
    """Return how good the places of a claim are; a quote of ours that cannot be used is none."""
    if any(check.problem is not None for check in verdict.citations):
        return _NO_PLACE
    return _GRADES.get(verdict.status, _NO_PLACE)


def _windows(
    statements: Sequence[ProseStatement], found: Sequence[_Placed]
) -> Iterator[tuple[int, int]]:
    """Yield runs of neighbours in one block with an unsupported one among them."""
    for first in range(len(found)):
        for last in range(first + 2, min(len(found), first + _JOINED) + 1):
            if statements[first].block != statements[last - 1].block:
                break
            if any(each.grade != _SUPPORTED for each in found[first:last]):
                yield first, last


def _covering(sentence: str, places: Sequence[_Place]) -> tuple[_Place, ...]:
    """Return the nearest place, and those behind it that hold words which it lacks."""
    left = {word.stem for word in content_words(sentence)}
    chosen: list[_Place] = []
    for place in places:
        if len(chosen) < _JOINED and (not chosen or left & place.stems):
            chosen.append(place)
            left -= place.stems
    return tuple(chosen)


def _together(found: Sequence[_Placed]) -> tuple[str, list[tuple[_Place, ...]]]:
    places = {
        (place.chunk.chunk.id, place.span.start): place for each in found for place in each.places
    }
    return " ".join(each.text for each in found), [tuple(places.values())]


def _claim(text: str, places: Sequence[_Place]) -> Claim:
    """Return a text as a claim that cites places; those that follow each other make one quote."""
    citations: list[Citation] = []
    last: tuple[RetrievedChunk, Span] | None = None
    for place in sorted(places, key=lambda each: (each.chunk.rank, each.span.start)):
        chunk = place.chunk.chunk
        span = place.span
        if last is not None and last[0] is place.chunk:
            between = chunk.text[last[1].end : span.start]
            if not between.strip():
                span = Span(start=last[1].start, end=span.end)
                citations.pop()
        citations.append(Citation(chunk_id=chunk.id, quote=span.of(chunk.text)))
        last = (place.chunk, span)
    return Claim(text=text, citations=tuple(citations))


def _places(context: RetrievedChunk) -> Iterator[_Place]:
    """Yield the sentences and rows of a context; headings and header rows are no evidence."""
    text = context.chunk.text
    units = group_units(text)
    bounds: list[tuple[int, int]] = []
    for at, unit in enumerate(units):
        heads = at + 1 < len(units) and units[at + 1].kind is LineKind.DELIMITER
        if unit.kind is LineKind.ROW and not heads:
            bounds.append((unit.start, unit.end))
        elif unit.kind in (LineKind.TEXT, LineKind.ITEM, LineKind.LABEL):
            split_unit(text, unit.start, unit.end, bounds)
    for start, end in bounds:
        stems = frozenset(word.stem for word in content_words(text[start:end]))
        yield _Place(context, Span(start=start, end=end), stems)
