"""An answer in prose taken apart: what states something, and what only presents it.

Citation marks, headings, rules, header rows, lists of sources, greetings, introductions and
questions are no claims: whoever counts them as such calls every well-presented answer false.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from grounded_rag.resources import data_file
from grounded_rag.text.sentences import LineKind, Unit, group_units, split_unit
from grounded_rag.verification.cleaning import is_question, without_marks, without_unseen
from grounded_rag.verification.wording import Row, clean_wording, without_number

_CLOSING = re.compile(r"[\])】］）〕}>\ue201]|[¹²³⁴-⁹]+")
_CARETS = re.compile(r"\[\^(\w{1,30})\^\]")
_FOLLOW = tuple("])】］）〕}")
_WINDOW = 320
_ENDS = ".!?…。！？｡．؟۔।॥"
_GOES_ON = f"{_ENDS},;:，；：、(&"
_BEGINS = re.compile(r"[ \t]+[^\W_a-zß-öø-ÿ]")
_EMPHASIZED = re.compile(r"(\*\*|__|\*|_)(?P<inside>[^*_\n]+)\1:?")
_UNDERLINE = re.compile(r"=+|-{2,}")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^\n]*")
_NOTE = re.compile(r"[ \t>*-]*(?:\[\^?\w{1,30}\]|【[^】\n]{1,80}】|[¹²³⁴-⁹]+):?[ \t]*")
_ITEM = re.compile(
    r"(?:[-*+•‣◦▪●○·–]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)])[ \t]+|\d{1,3}、|[①-⑳][ \t]*"
)
_PIPE = re.compile(r"(?<!\\)\|")
_TITLE_WORDS = 6


class Statement(NamedTuple):
    """A part of an answer that states something.

    Attributes:
        text: Its words, presentation taken off.
        block: Number of the paragraph or item that it stands in.
    """

    text: str
    block: int


class ProseParts(NamedTuple):
    """The parts of an answer in prose, in order.

    Attributes:
        statements: What may be true or false.
        apart: What states nothing.
    """

    statements: tuple[Statement, ...]
    apart: tuple[str, ...]


def prose_parts(text: str, contexts: Sequence[str] = ()) -> ProseParts:
    """Take an answer in prose apart.

    Args:
        text: The answer as it was shown.
        contexts: What it was written from. A sentence that stands there is a statement, whatever
            it looks like, and a bracket that stands there is no citation mark.
    """
    reader = _Reader(contexts)
    reader.read(_without_marks(without_unseen(text), contexts, reader.apart))
    return ProseParts(tuple(reader.statements), tuple(reader.apart))


def _without_marks(text: str, contexts: Sequence[str], apart: list[str]) -> str:
    """Return a text without the citation marks in its lines; notes at its end go apart."""
    quotes = [f"{context.rstrip()}." for context in contexts]
    lines: list[str] = []
    for line in text.splitlines():
        note = _NOTE.match(line)
        if _FENCE.fullmatch(line):
            continue
        if note is not None and _is_note(line[note.end() :]):
            apart.append(line.strip())
            lines.append("")
            continue
        lines.append(_line_without_marks(line if note is None else line[note.end() :], quotes))
    return "\n".join(lines)


def _is_note(rest: str) -> bool:
    """Whether what stands behind a mark at the head of a line only names a source."""
    return not rest.rstrip(" *_").endswith(tuple(_ENDS)) or rest.count(" ") < 3


def _line_without_marks(line: str, quotes: Sequence[str]) -> str:
    line = _CARETS.sub(r"[^\1]", line)
    done = ""
    position = 0
    for closing in _CLOSING.finditer(line):
        done += line[position : closing.end()]
        position = closing.end()
        if line[position : position + 1] in _FOLLOW or line.startswith("](", position - 1):
            # Of brackets in brackets, and of a link, the whole is looked at first.
            continue
        head, tail = done[:-_WINDOW], done[-_WINDOW:]
        cut = without_marks(tail)
        if cut == tail and closing[0] in ")）" and _at_end(line, position):
            cut = without_marks(tail, quotes=quotes)
        if cut == tail and tail[-2:-1] in _FOLLOW:
            inside = without_marks(tail[:-1])
            cut = tail if inside == tail[:-1] else inside + tail[-1]
        if cut != tail and _BEGINS.match(line, position) and cut.rstrip()[-1:] not in _GOES_ON:
            # "80 EUR [1] Double room: …": without a stop, the mark ends what it marks.
            cut = f"{cut.rstrip()}\n\n"
        done = head + cut
    return done + line[position:]


def _at_end(line: str, position: int) -> bool:
    """Whether a sentence ends at a place of a line."""
    rest = line[position:].lstrip(" *_")
    return not rest or rest[0] in _ENDS


class _Reader:
    """Reads the blocks of an answer one after the other.

    Attributes:
        statements: The statements found so far.
        apart: What states nothing, so far.
    """

    def __init__(self, contexts: Sequence[str]) -> None:
        self.statements: list[Statement] = []
        self.apart: list[str] = []
        self._contexts = [_plain(context) for context in contexts]
        self._lead = ""
        self._led = False
        self._sources = False
        self._block = 0

    def read(self, text: str) -> None:
        """Read an answer without citation marks."""
        units = group_units(text)
        table: list[Unit] = []
        for at, unit in enumerate(units):
            if unit.kind in (LineKind.ROW, LineKind.DELIMITER):
                table.append(unit)
                continue
            self._table(text, table)
            table = []
            self._block = at
            after = units[at + 1] if at + 1 < len(units) else None
            self._unit(text, unit, after)
        self._table(text, table)
        self._drop_lead()

    def _unit(self, text: str, unit: Unit, after: Unit | None) -> None:
        body = text[unit.start : unit.end]
        titled = unit.kind is LineKind.HEADING or _is_title(text, unit, after)
        if titled or unit.kind is LineKind.RULE:
            self._drop_lead()
            self.apart.append(body)
            self._sources = titled and _names_sources(body)
        elif self._sources:
            self.apart.append(body)
        elif unit.kind is not LineKind.ITEM and _names_sources(body):
            self._drop_lead()
            self.apart.append(body)
            self._sources = True
        elif _lists_sources(body):
            self.apart.append(body)
        else:
            self._prose(text, unit)

    def _prose(self, text: str, unit: Unit) -> None:
        if unit.kind is not LineKind.ITEM:
            self._drop_lead()
        item = _ITEM.match(text, unit.start, unit.end) if unit.kind is LineKind.ITEM else None
        start = item.end() if item is not None and item.end() < unit.end else unit.start
        start = without_number(text, start, unit.end, at_line=True)
        bounds: list[tuple[int, int]] = []
        split_unit(text, start, unit.end, bounds)
        for begin, end in bounds:
            sentence = clean_wording(text[begin:end])
            if not any(map(str.isalnum, sentence)):
                continue
            said = sentence if self._stands(sentence) else self._said(sentence)
            if not said:
                self.apart.append(sentence)
            elif said.endswith((":", "：")):
                self._drop_lead()
                self._lead = said
            else:
                self._state(said, item=unit.kind is LineKind.ITEM)

    def _state(self, said: str, *, item: bool) -> None:
        if item and self._lead and not said.endswith(tuple(_ENDS)):
            # A fragment is only said by the line that leads into it.
            said = f"{self._lead} {said}"
            self._led = True
        self.statements.append(Statement(said, self._block))

    def _drop_lead(self) -> None:
        """Put a line that leads into others apart: alone it states nothing."""
        if self._lead and not self._led:
            self.apart.append(self._lead)
        self._lead, self._led = "", False

    def _stands(self, sentence: str) -> bool:
        plain = _plain(sentence)
        return not is_question(sentence) and any(plain in context for context in self._contexts)

    def _said(self, sentence: str) -> str:
        """Return what a sentence states, courtesy and introductions taken off; "" for nothing."""
        words = _words()
        rest = sentence
        for _ in range(4):
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
        return "" if courteous and not any(map(str.isdigit, rest)) else rest

    def _table(self, text: str, table: Sequence[Unit]) -> None:
        if not table:
            return
        if self._sources:
            self.apart += [text[unit.start : unit.end] for unit in table]
            return
        self._drop_lead()
        for row in _rows(text, table, self.apart):
            self._block += 1
            if said := row.reading():
                self.statements.append(Statement(said, self._block))


def _rows(text: str, table: Sequence[Unit], apart: list[str]) -> Iterator[Row]:
    """Yield the rows of a table under its header, which states nothing itself."""
    lines = [text[unit.start : unit.end] for unit in table]
    rules = [at for at, unit in enumerate(table) if unit.kind is LineKind.DELIMITER]
    first = rules[0] + 1 if rules else 0
    if not rules and len(lines) > 1 and not any(map(str.isdigit, lines[0])):
        first = 1 if any(map(str.isdigit, "".join(lines[1:]))) else 0
    apart += lines[:first]
    header = _cells(lines[max(0, rules[0] - 1) if rules else 0]) if first else ()
    for at in range(first, len(lines)):
        if table[at].kind is LineKind.DELIMITER:
            apart.append(lines[at])
            continue
        cells = _cells(lines[at])
        yield Row(header if len(header) == len(cells) > 1 else (), cells)


def _cells(line: str) -> tuple[str, ...]:
    body = line.strip()
    if "|" not in body:
        return tuple(clean_wording(cell) for cell in body.split("\t"))
    return tuple(
        clean_wording(cell) for cell in _PIPE.split(body.removeprefix("|").removesuffix("|"))
    )


def _is_title(text: str, unit: Unit, after: Unit | None) -> bool:
    """Whether a line of its own is a heading by emphasis, or by the line drawn under it."""
    body = text[unit.start : unit.end]
    if unit.kind not in (LineKind.TEXT, LineKind.LABEL) or "\n" in body:
        return False
    emphasized = _EMPHASIZED.fullmatch(body)
    if emphasized is not None:
        return not emphasized["inside"].rstrip().endswith(tuple(_ENDS))
    return (
        after is not None
        and after.kind is LineKind.RULE
        and _UNDERLINE.fullmatch(text[after.start : after.end]) is not None
        and text[unit.end : after.start].count("\n") == 1
    )


def _names_sources(body: str) -> bool:
    """Whether a line is the title of a list of sources."""
    bare = re.sub(r"[#*_:：\s]+", " ", body).strip().casefold()
    return len(bare.split()) <= _TITLE_WORDS and bare in _words().sources


def _lists_sources(body: str) -> bool:
    """Whether a line tells sources behind a word for them: "Sources: prices.md, hours.md"."""
    label, colon, rest = re.sub(r"[*_]+", "", body).replace("：", ":").partition(":")
    if not colon or label.strip(" -•").casefold() not in _words().sources:
        return False
    return not (rest.rstrip().endswith(tuple(_ENDS)) and len(rest.split()) > _TITLE_WORDS)


def _plain(text: str) -> str:
    """Return the words of a text on one line, for looking it up."""
    return " ".join(text.split()).strip(f" {_ENDS}").casefold()


class _Words(NamedTuple):
    """The lists of `prose.toml` as they are used."""

    reference: re.Pattern[str]
    reports: re.Pattern[str]
    behind: re.Pattern[str]
    openers: re.Pattern[str]
    announcements: re.Pattern[str]
    closings: tuple[str, ...]
    sources: frozenset[str]


@lru_cache(maxsize=1)
def _words() -> _Words:
    lists = tomllib.loads(data_file("prose.toml").read_text(encoding="utf-8"))
    marks = tomllib.loads(data_file("drafts.toml").read_text(encoding="utf-8"))["marks"]
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
