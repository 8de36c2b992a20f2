"""Lines, sentences and the parts of a question, in any script that marks ends by punctuation.

A sentence never crosses a blank line, a heading, a list item or a table row; the end of a
hard-wrapped line does not end it. Where the end is uncertain, sentences stay joined: too much
context is safer for a support check than a sentence cut before its "not".
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from grounded_rag.resources import read_table
from grounded_rag.text.code import code_blocks
from grounded_rag.text.quantities import lookup
from grounded_rag.text.words import content_words
from grounded_rag.types import Span

_SPACED = ".!?…‼⁇⁈⁉\u037e؟۔।॥։።፧፨။។៕"
_UNSPACED = "。！？｡．"
_TERMINATORS = re.compile(f"[{re.escape(_SPACED + _UNSPACED)}]+")
_CLOSERS = frozenset(")]}»”’\"'」』）】》〉〕］｝›*_`~")
_LATIN_CLOSERS = _CLOSERS | frozenset("“‘«‹")
_OPENERS = frozenset("([{«»“”„‘’‚\"'「『（【《〈*_`~¿¡‹›-–—•")
_MARK = re.compile(
    r"(?:\[(?:\^|[A-Za-z]{2,12}\.? ?)?\d{1,3}(?:,[ \t]?\d{1,3})*\])+|[¹²³⁴-⁹]+(?=\s|\Z)"
)
_LOOK_BACK = 24
_TOKEN = re.compile(r"[^\s()\[\]{}\"'“”„«»‚‘’*_,;:/]+\Z")
_LETTER_CHAIN = re.compile(r"(?:\b[^\W\d_]\.[ \u00a0\u202f]?)+[^\W\d_]\Z")
_ROMAN = re.compile(r"[IVXLCDM]+\b")

_ABBREVIATIONS = read_table("sentences")
_NEVER_LAST = frozenset(_ABBREVIATIONS["never_last"].split())
_BEFORE_NUMBER = frozenset(_ABBREVIATIONS["before_number"].split())
_UNLESS_NEW_SENTENCE = frozenset(_ABBREVIATIONS["unless_new_sentence"].split())
_STARTERS = frozenset(_ABBREVIATIONS["starters"].split())
_MONTHS = frozenset(_ABBREVIATIONS["months"].split())
_SHORT = 4
_VOWELS = frozenset("aeiouyäöüáéíóúàèìòùâêîôûåæøœãõıěůœаеёиоуыэюяіїєαεηιουωάέήίόύώ")


def split_sentences(text: str) -> tuple[Span, ...]:
    """Split `text` into sentences, in time linear in its length.

    The spans are trimmed, disjoint and in order, in code points of `text`; together they cover
    every character that is not white space. A list item, heading or table row is a span of its own
    unless it holds several sentences.
    """
    return tuple(Span(start=start, end=end) for start, end in sentence_bounds(text))


def enclosing_sentences(text: str, span: Span) -> Span:
    """Return the span from the first to the last sentence that `span` touches.

    Where it touches none (only white space), that is `span` itself.
    """
    start, end = enclosing_bounds(sentence_bounds(text), span.start, span.end)
    return Span(start=start, end=end)


def enclosing_bounds(bounds: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """Do what `enclosing_sentences` does, given the bounds of all sentences."""
    first = bisect_right(bounds, start, key=lambda bound: bound[1])
    last = bisect_left(bounds, max(end, start + 1), key=lambda bound: bound[0]) - 1
    if first > last:
        return start, end
    return bounds[first][0], bounds[last][1]


def sentence_bounds(text: str) -> list[tuple[int, int]]:
    """Return start and end of each sentence; `split_sentences` without the types."""
    bounds: list[tuple[int, int]] = []
    for unit in group_units(text):
        if unit.kind in (LineKind.ROW, LineKind.DELIMITER, LineKind.RULE, LineKind.CODE):
            bounds.append((unit.start, unit.end))
        else:
            split_unit(text, unit.start, unit.end, bounds)
    return bounds


def split_unit(text: str, start: int, end: int, bounds: list[tuple[int, int]]) -> None:
    """Add the bounds of the sentences of one unit of lines to `bounds`."""
    begin = start
    for match in _TERMINATORS.finditer(text, start, end):
        if match.start() < begin:
            continue
        stop = _sentence_end(text, match.start(), match.end(), begin, end)
        if stop is None or stop >= end:
            continue
        bounds.append((begin, stop))
        begin = _skip_space(text, stop, end)
    if begin < end:
        bounds.append((begin, end))


def _sentence_end(text: str, mark: int, after: int, begin: int, end: int) -> int | None:
    """Return where the sentence ends whose terminators are `text[mark:after]`, or None."""
    unspaced = text[after - 1] in _UNSPACED
    closers = _CLOSERS if unspaced else _LATIN_CLOSERS
    stop = after
    while stop < end and text[stop] in closers:
        stop += 1
    quoted = stop > after
    if stop < end and (cited := _MARK.match(text, stop, end)) is not None:
        # A citation mark behind the stop belongs to the sentence.
        stop = cited.end()
    if stop >= end:
        return end
    if unspaced:
        if text[after - 1] == "．" and text[after].isdigit():
            return None
        # 「…。」と言った: the sentence goes on after the quotation
        return None if quoted and text[stop] in "とっ、，,」" else stop
    if not text[stop].isspace():
        return None
    following = _skip_openers(text, stop, end)
    if following >= end:
        return stop
    goes_on = text[following].islower()
    if text[after - 1] == "…" or text[mark:after].startswith(".."):
        return None if goes_on else stop
    if text[mark:after] != ".":
        return None if goes_on and quoted else stop
    if goes_on or _is_abbreviation(text, mark, following, begin, end):
        return None
    return stop


def ends_with_stop(text: str) -> bool:
    """Whether a text ends as a sentence does: in a stop, whatever closes behind it."""
    body = text.rstrip().rstrip("".join(_CLOSERS))
    return body[-1:] in _SPACED + _UNSPACED and bool(body)


def ends_unsurely(text: str, start: int, end: int) -> bool:
    """Whether the sentence `text[start:end]` may go on: it ends in what may be an abbreviation."""
    stop = end
    while stop > start and text[stop - 1] in _LATIN_CLOSERS:
        stop -= 1
    if stop - 1 <= start or text[stop - 1] != "." or stop < end:
        return False
    found = _TOKEN.search(text[max(start, stop - 1 - _LOOK_BACK) : stop - 1])
    if found is None:
        return False
    token = found[0].lower()
    before = text[start : stop - 1 - len(token)].rstrip()
    if any(map(str.isdigit, token)) or (before[-1:].isdigit() and lookup(found[0]) is not None):
        return False
    return (
        "." in token
        or token in _NEVER_LAST
        or token in _UNLESS_NEW_SENTENCE
        or (len(token) == 1 and token.isalpha())
        or (1 < len(token) <= _SHORT and token.isalpha() and _VOWELS.isdisjoint(token))
    )


def _is_abbreviation(text: str, mark: int, following: int, begin: int, end: int) -> bool:
    """Whether the full stop at `mark` belongs to the token before it, not to the sentence."""
    before = text[max(begin, mark - _LOOK_BACK) : mark]
    found = _TOKEN.search(before)
    if found is None:
        return False
    token = found[0]
    head = text[following : min(end, following + _LOOK_BACK)]
    word = head.split(maxsplit=1)[0].rstrip(".,;:!?)")
    if token.isdigit():
        at_start = mark - len(token) == begin
        ordinal = len(token) <= 2 and word.lower() in _MONTHS
        return ordinal or (at_start and len(token) <= 3)
    lowered = token.lower()
    if lowered in _NEVER_LAST:
        return True
    if lowered in _BEFORE_NUMBER and (head[0].isdigit() or _ROMAN.match(head)):
        return True
    if lowered in ("a.m", "p.m"):
        return False
    if lowered in _UNLESS_NEW_SENTENCE:
        return word not in _STARTERS
    chain = _LETTER_CHAIN.search(before)
    if chain is not None:
        letters = "".join(chain[0].split()).lower()
        return letters in _NEVER_LAST or word not in _STARTERS
    if len(token) == 1 and token.isalpha() and _is_cased(token):
        at_start = mark - 1 == begin
        chained = head[1:2] == "."
        return at_start or chained or (token.isupper() and word not in _STARTERS)
    return False


def _is_cased(letter: str) -> bool:
    return letter.isupper() or letter.islower()


def _skip_space(text: str, position: int, end: int) -> int:
    while position < end and text[position].isspace():
        position += 1
    return position


def _skip_openers(text: str, position: int, end: int) -> int:
    """Return where the next word begins, behind white space and opening punctuation."""
    position = _skip_space(text, position, end)
    while position < end and text[position] in _OPENERS:
        position += 1
    return _skip_space(text, position, end)


_HEADING = re.compile(r"#{1,6}(?=\s|$)")
_RULE = re.compile(r"(?:=[ \t=]*|-[ \t-]*|\*[ \t*]*|_[ \t_]*)$")
_BULLETS = frozenset("-–*+•‣◦▪●○·☐□☑✓✔✅✗✘✖❌⊠")
_NUMBERED = re.compile(r"\(?([0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)](?=\s)")
_FULL_ITEM = re.compile(
    r"[0-9]{1,3}、|[一二三四五六七八九十]{1,3}、|[①-⑳]|（[0-9一二三四五六七八九十]{1,3}）"
)
_DELIMITER_ROW = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$")
_LABEL = re.compile(r"(\S(?:[^:\n]{0,40}\S)?):[ \t]+\S")
_LABEL_WORDS = 5


class LineKind(Enum):
    """What a line is, as far as it decides where a unit begins and ends."""

    BLANK = "blank"
    TEXT = "text"
    HEADING = "heading"
    RULE = "rule"
    ITEM = "item"
    ROW = "row"
    DELIMITER = "delimiter"
    LABEL = "label"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Line:
    """One line without the white space around it: code points of the text, and its kind."""

    start: int
    end: int
    kind: LineKind


@dataclass(frozen=True, slots=True)
class Unit:
    """Lines that belong together, in code points of the text; `kind` is that of the first."""

    start: int
    end: int
    kind: LineKind


_OPEN_KINDS = frozenset({LineKind.TEXT, LineKind.ITEM, LineKind.LABEL})


def classify_lines(text: str) -> list[Line]:
    """Return every line of `text` with its kind, in order. Linear in the length of the text."""
    lines: list[Line] = []
    contents: list[str] = []
    offset = 0
    blocks = iter(code_blocks(text))
    block = next(blocks, None)
    for raw in text.splitlines(keepends=True):
        content = raw.strip()
        start = offset + len(raw) - len(raw.lstrip()) if content else offset
        while block is not None and block.outer.end <= offset:
            block = next(blocks, None)
        # A blank line inside of code is a line of it.
        is_code = block is not None and block.outer.start < offset + len(raw)
        kind = LineKind.CODE if is_code else _kind(content)
        lines.append(Line(start, start + len(content), kind))
        contents.append("" if is_code else content)
        offset += len(raw)
    _mark_neighbours(lines, contents)
    return lines


def group_units(text: str) -> list[Unit]:
    """Return the units of `text`, in order; only white space lies between them."""
    units: list[Unit] = []
    opened = False
    number: str | None = None
    blocks = iter(code_blocks(text))
    for line in classify_lines(text):
        if line.kind is LineKind.CODE:
            if not units or units[-1].end <= line.start:
                units.append(Unit(line.start, next(blocks).outer.end, LineKind.CODE))
                opened = False
            continue
        if line.kind is LineKind.BLANK:
            opened = False
            continue
        kind = line.kind
        if kind is LineKind.ITEM:
            label = _item_number(text[line.start : line.start + 8])
            if opened and label is not None and not _continues_list(units[-1], number, label):
                kind = LineKind.TEXT
            else:
                number = label
        if opened and kind is LineKind.TEXT:
            units[-1] = Unit(units[-1].start, line.end, units[-1].kind)
            continue
        units.append(Unit(line.start, line.end, kind))
        opened = kind in _OPEN_KINDS
    return units


def _kind(content: str) -> LineKind:
    if not content:
        return LineKind.BLANK
    first = content[0]
    if first == "#" and _HEADING.match(content):
        return LineKind.HEADING
    if "|" in content:
        if "-" in content and _DELIMITER_ROW.match(content):
            return LineKind.DELIMITER
        if (first == "|" and content.count("|") > 1) or content.count(" | ") > 1:
            return LineKind.ROW
    if first in "=-*_" and _RULE.match(content):
        return LineKind.RULE
    if _is_item(content, first):
        return LineKind.ITEM
    if ":" in content[:44]:
        label = _LABEL.match(content)
        if label and not first.islower() and len(label[1].split()) <= _LABEL_WORDS:
            return LineKind.LABEL
    return LineKind.TEXT


def _is_item(content: str, first: str) -> bool:
    if first in _BULLETS:
        return content[1:2].isspace()
    if first > "\x7f":
        return bool(_FULL_ITEM.match(content) or _NUMBERED.match(content))
    head = content[:7]
    return (")" in head or "." in head) and bool(_NUMBERED.match(content))


def _mark_neighbours(lines: list[Line], contents: list[str]) -> None:
    """Settle what only the neighbouring line tells: rows without a leading pipe, labels."""
    rows: set[int] = set()
    labels: set[int] = set()
    for below in range(1, len(lines)):
        above = below - 1
        if ("|" in contents[above] or "\t" in contents[above]) and _form_table(
            contents[above], contents[below]
        ):
            rows.update((above, below))
        if lines[above].kind is lines[below].kind is LineKind.LABEL:
            labels.update((above, below))
    for index, line in enumerate(lines):
        if index in rows and line.kind in (LineKind.TEXT, LineKind.LABEL):
            lines[index] = Line(line.start, line.end, LineKind.ROW)
        elif line.kind is LineKind.LABEL and index not in labels:
            lines[index] = Line(line.start, line.end, LineKind.TEXT)


def _form_table(above: str, below: str) -> bool:
    if _DELIMITER_ROW.match(below) or _DELIMITER_ROW.match(above):
        return True
    return 0 < _cell_separators(above) == _cell_separators(below)


def _cell_separators(line: str) -> int:
    return line.count("\t") or line.count(" | ")


def _item_number(head: str) -> str | None:
    match = _NUMBERED.match(head)
    return match[1] if match else None


def _continues_list(previous: Unit, number: str | None, label: str) -> bool:
    """Whether a numbered line can start an item although no blank line stands before it.

    A wrapped sentence may put "40." at the start of a line; a list starts with 1 or goes on.
    """
    if previous.kind is LineKind.ITEM:
        if number is None or not (number.isdigit() and label.isdigit()):
            return True
        return int(label) in (int(number), int(number) + 1, 1)
    return label in ("1", "a", "A", "i", "I")


_OPENER = (
    r"(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|do|does|did|can|could|will"
    r"|would|should|has|have|may|must"
    r"|was|wer|wen|wann|wo|warum|wie|welche[rsnm]?|kann|darf|muss|gibt|ist|sind)\b"
)
# A run of signs or blanks is tried from its beginning alone: else each of its characters is one.
_JOINT = re.compile(
    r"(?P<end>(?<![?？;.!])[?？;.!]+\s+|,\s*|(?<!\s)\s+)(?:(?:and|und|or|et|y)\s+(?:also\s+|auch\s+)?)(?="
    + _OPENER
    + ")"
    r"|(?P<stop>[?？]+)\s*(?=\S)",
    re.IGNORECASE,
)
_MOST = 4


def question_parts(question: str) -> tuple[Span, ...]:
    """Return the parts of a question, each a literal span of it, in order.

    "What does it cost, and when is it paid?" gives two parts, the joining word left out. A
    question that asks one thing is one part.
    """
    bounds: list[tuple[int, int]] = []
    start = 0
    for match in _JOINT.finditer(question):
        end = match.end("stop") if match["stop"] else match.start() + _kept(match["end"])
        bounds.append((start, end))
        start = match.end()
    bounds.append((start, len(question)))
    spans = [_trimmed(question, *bound) for bound in bounds]
    asking = [span for span in spans if content_words(span.of(question))]
    if not 1 < len(asking) <= _MOST or len(asking) != len(spans):
        return (_trimmed(question, 0, len(question)),)
    return tuple(asking)


def _kept(joint: str) -> int:
    """Return how much of the joint still belongs to the part before it: a question mark does."""
    return len(joint) - len(joint.lstrip("?？!."))


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    return Span(
        start=start + len(piece) - len(piece.lstrip()),
        end=max(start + len(piece.rstrip()), start + len(piece) - len(piece.lstrip())),
    )


_LEAVES_OFF = ";,"
# An item may bring the word that joins it to the next one: "ten days; or".
_JOINED = re.compile(r";\s\w{1,4}$")
_ENDS = (".", "!", "?", ":", ";", "…", "。", "！", "？", "：", "؟", "।")


def listed(parts: Sequence[str]) -> str:
    """Return a line and the items that it leads into as one line, the items set apart by "; ".

    The items come without their bullets and numbers.
    """
    line = parts[0]
    for item in parts[1:]:
        goes_on = line.endswith(_ENDS) or _JOINED.search(line) is not None
        line = line if goes_on else f"{line.rstrip(_LEAVES_OFF)};"
        line = f"{line} {item}"
    return line.rstrip(_LEAVES_OFF)


def told_row(label: str, pairs: Sequence[tuple[str, str]], *, name: str = "") -> str:
    """Return a table row in words: "Room: Single; Weekday: 80 EUR; Sunday: 95 EUR".

    The label is its first cell, whose column may have a `name`; the pairs are names of the other
    columns, each with its cell. Without a name it is "Single, Weekday: 80 EUR; Sunday: 95 EUR".
    """
    told = "; ".join(f"{column}: {cell}" for column, cell in pairs)
    label = label.rstrip(".")
    if name and label:
        return "; ".join(part for part in (f"{name}: {label}", told) if part)
    return ", ".join(part for part in (label, told) if part)
