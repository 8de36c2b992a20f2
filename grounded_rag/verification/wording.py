"""A stretch of source text as a reader gets it: presentation folded, markers and marks left out.

A table row is read under the names of its columns; a claim may say it in two forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from grounded_rag.text.literals import raised
from grounded_rag.text.quantities import lookup
from grounded_rag.text.sentences import told_row
from grounded_rag.text.words import content_words
from grounded_rag.verification.folding import fold
from grounded_rag.verification.neighbours import boxes, listed_words
from grounded_rag.verification.passages import Passage

_BULLET = re.compile(r"(?:[-*+•‣◦▪●○·–]|>)[ \t]+")
_ITEM = re.compile(r"\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)][ \t]+|[0-9]{1,3}、|[①-⑳][ \t]*")
_ANSWER = re.compile(r"(?:A|Answer|Antwort|Réponse|Respuesta|Risposta|Resposta|Antwoord):[ \t]+")
_LETTERED = re.compile(r"^[ \t]*\(?(?:[A-Za-z]|[ivxIVX]{1,5})[.)][ \t]", re.MULTILINE)
_PARAGRAPH = re.compile(r"(?:§+[ \t]*)?\d{1,3}(?:\.\d{1,3})*[.)]?(?:\([a-z0-9]{1,3}\))?[ \t\n]+")
_AT_LINES = re.compile(
    r"^[ \t#*_]*(?:§+[ \t]*)?\d{1,3}\.(?:\d{1,3}\.?)*(?:\([a-z0-9]{1,3}\))?[ \t]",
    re.MULTILINE,
)
_AUTHORS = re.compile(
    r"[ \t]*\((?:(?:cf\.|see|e\.g\.,?)[ \t])?[A-ZÀ-Ý][\w'’-]+(?:(?:,|[ \t](?:and|&|und|y|et))?[ \t]"
    r"[A-ZÀ-Ý][\w'’-]+){0,3}(?:[ \t]et al\.?)?,?[ \t](?:19|20)\d\d[a-z]?"
    r"(?:;[ \t][^()\n]{3,80})?\)"
)
_RAISED = re.compile(r"(?<=[^\W\d_]{3})[¹²³⁴-⁹]+|(?<=[.,;:!?])[¹²³⁴-⁹]+")
_FOLDABLE = re.compile(r"[\t-\r&*_`|\[\]]|--|  |~~")
_MARKS = re.compile(
    r"[ \t]*(?:\[\^?\d{1,3}(?:[ \t]*[,;-][ \t]*\^?\d{1,3})*\]|【[^】\n]{1,40}】"
    r"|\[(?:source|src|ref|doc|document|passage|quelle|fuente|fonte|bron|källa|zdroj|źródło)\.?"
    r" ?\d{1,3}\])",
    re.IGNORECASE,
)

WordsOf = Callable[[str], Sequence[str]]
"""Makes words of a text, as those of a claim were made."""

# Signs that a text may hold markup, for speed.
_MARKUP = re.compile(r"<[A-Za-z/]|\]\(|\{:")
# Names of tags that only present; a word in angle brackets of another kind is a placeholder.
_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|center|cite|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|ins"
    r"|kbd|li|mark|ol|p|q|samp|section|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr"
    r"|tt|u|ul|var)(?:[ \t\n][^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_RAISING = re.compile(r"<sup>([0-9+−=()n-]{1,12})</sup>", re.IGNORECASE)
_LINK = re.compile(r"!?\[(\[[^\[\]]{1,200}\]|[^\[\]]{1,200})\]\([^()\s]{1,500}\)")
_ATTRIBUTES = re.compile(r"\{:[^{}\n]{0,120}\}")
_PIPE = re.compile(r"(?<!\\)\|")
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_BETWEEN = frozenset(":,;-–—|=·.")
# Up to so many letters a word may be a unit, whose case counts.
_SYMBOL = 2


def clean_wording(text: str) -> str:
    """Return a sentence, item or heading on one line, presentation and markup folded away."""
    if _MARKUP.search(text):
        text = _without_markup(text)
    if text.isascii() and not _FOLDABLE.search(text):
        return text.strip()
    plain = fold(text).text.strip()
    for mark in ("**", "__"):
        # Emphasis of more than this sentence leaves one of its two marks.
        if mark in plain and plain.count(mark) % 2:
            plain = plain.removeprefix(mark).removesuffix(mark).strip()
    return plain


def _without_markup(text: str) -> str:
    """Return a text without tags, targets of links and attributes; what is raised stays so."""
    text = _RAISING.sub(lambda found: raised(found[1]), text)
    text = _TAG.sub("", _BREAK.sub(" ", text))
    return _ATTRIBUTES.sub("", _LINK.sub(r"\1", text)).strip()


def without_number(text: str, start: int, end: int, *, at_line: bool) -> int:
    """Return where the wording of a sentence begins, behind its bullet, number and ticked box.

    A number is taken off only where it surely numbers: a bullet or item mark of a list, or the
    number of a paragraph among numbered paragraphs or before a word that begins a sentence.
    `at_line` says that the sentence begins its line, item or paragraph.
    """
    begin = start
    first = text[start]
    if at_line and not first.isalpha():
        bullet = _BULLET.match(text, begin, end)
        if bullet is not None and bullet.end() < end:
            begin = bullet.end()
        box = next((box for box in boxes() if text.startswith(box, begin)), None)
        if box is not None:
            begin += len(box)
            while begin < end and text[begin] in " \t":
                begin += 1
    if at_line and (label := _ANSWER.match(text, begin, end)) is not None and label.end() < end:
        begin = label.end()
    item = _ITEM.match(text, begin, end) if at_line else None
    if item is not None and item[0][0].isalpha() and len(_LETTERED.findall(text)) < 2:
        # "M. Dupont" is nobody's first item.
        item = None
    if item is not None and item.end() < end and not _counts(text, item.end(), end):
        return item.end()
    if not (text[begin].isdigit() or text[begin] == "§"):
        return begin
    number = _PARAGRAPH.match(text, begin, end)
    if number is None or number.end() >= end or not _numbers(text, number, end):
        return begin
    return number.end()


def _numbers(text: str, number: re.Match[str], end: int) -> bool:
    """Whether a number in front of a sentence numbers its paragraph."""
    written = number[0].strip()
    if not any(mark in written for mark in ".§()"):
        return False
    first = text[number.end()]
    if _counts(text, number.end(), end) or not (first.isupper() or first > "\u2e80"):
        return False
    following = re.match(r"[^\W\d_]+", text[number.end() : end])
    if following is not None and following[0] in listed_words("numbering", "determiners"):
        return True
    if written.startswith("§") or first > "\u2e80" or text[number.end() + 1] in "'’":
        return True
    # Two of them in one passage number its paragraphs.
    return sum(1 for _, _ in zip(_AT_LINES.finditer(text), range(2), strict=False)) == 2


def _counts(text: str, at: int, end: int) -> bool:
    """Whether the word at a place is a unit or a scale that a number counts."""
    word = re.match(r"[^\W\d_]+", text[at:end])
    if word is None or (len(word[0]) == 1 and text[at + 1 : at + 2] in (" ", "'", "’")):
        # "5) A fee is due", "5) L'eau": a letter alone before a word is an article.
        return False
    return lookup(word[0]) is not None or word[0].lower() in listed_words("numbering", "counted")


def without_marks(text: str) -> str:
    """Return a folded text without its citation marks: numbers in brackets, authors with years."""
    if "[" in text or "【" in text:
        text = _MARKS.sub("", text)
    if "(" in text:
        text = _AUTHORS.sub("", text)
    if not text.isascii():
        text = _RAISED.sub("", text)
    return text


class Row(NamedTuple):
    """The cells of one row with the names of their columns.

    Attributes:
        header: Name of each column; empty where the table's header is not known.
        cells: The row's cells, as many.
    """

    header: tuple[str, ...]
    cells: tuple[str, ...]

    @property
    def label(self) -> str:
        """What the row is about: its first cell."""
        return self.cells[0] if self.cells else ""

    def columns(self) -> tuple[int, ...]:
        """Return the columns behind the first that have a name and a cell."""
        return tuple(at for at in range(1, len(self.header)) if self.header[at] and self.cells[at])

    def reading(self, columns: Sequence[int] | None = None) -> str:
        """Return the row, or some columns of it, in words: "Room: Single; Weekday: 80 EUR"."""
        if not self.header:
            return ", ".join(cell for cell in self.cells if cell)
        told = self.columns() if columns is None else tuple(columns)
        pairs = [(self.header[at], self.cells[at]) for at in told]
        return told_row(self.label, pairs, name=self.header[0])


def row_at(passage: Passage, start: int, end: int) -> Row:
    """Return the row at a place of a passage; its header is empty where it is not known."""
    cells = _cells(passage.text[start:end])
    header = _header(passage, start, end)
    return Row(header if len(header) == len(cells) > 1 else (), cells)


def _header(passage: Passage, start: int, end: int) -> tuple[str, ...]:
    """Return the names above the table's rule; without a rule, a first row without figures.

    A chunk that begins inside a table carries the header's cells as its last heading.
    """
    text = passage.text
    table = passage.layout.table_at(start)
    if table is None:
        return ()
    if table.rule is not None:
        if table.names is None or start <= table.rule.start:
            return ()
        return _cells(text[table.names.start : table.names.end])
    first = table.first
    outer = passage.chunk.headings[-1:]
    if outer and "|" in outer[0] and not text[: first.start].strip():
        return _cells(outer[0])
    if start == first.start:
        return ()
    top = text[first.start : first.end]
    if any(map(str.isdigit, text[start:end])) and not any(map(str.isdigit, top)):
        return _cells(top)
    return ()


def _cells(row: str) -> tuple[str, ...]:
    """Return the cells of a row, set apart by pipes or tabs."""
    body = row.strip()
    if "|" not in body:
        return tuple(map(_wording, body.split("\t")))
    # One pipe a side: an empty cell at the edge still is a cell.
    inner = body.removeprefix("|").removesuffix("|")
    return tuple(_wording(cell.replace("\\|", "¦")) for cell in _PIPE.split(inner))


def _wording(cell: str) -> str:
    return clean_wording(_BREAK.sub(" ", cell))


def reads_cells(claim: Sequence[str], row: Row, words: WordsOf) -> bool:
    """Whether a claim is a row's label and names of columns with their own cells, in order."""
    bare = _plain(claim)
    label = _plain(words(row.label))
    starts = [0]
    if row.header and (first := _plain(words(row.header[0]))) and bare[: len(first)] == first:
        starts.append(len(first))
    for start in starts:
        if label and bare[start : start + len(label)] == label:
            rest = bare[start + len(label) :]
            if rest and _pairs(rest, row, row.columns(), words):
                return True
    return False


def _pairs(rest: list[str], row: Row, columns: Sequence[int], words: WordsOf) -> bool:
    if not rest:
        return True
    for position, at in enumerate(columns):
        pair = _plain([*words(row.header[at]), *words(row.cells[at])])
        if pair == rest[: len(pair)] and _pairs(
            rest[len(pair) :], row, columns[position + 1 :], words
        ):
            return True
    return False


def names_cell(claim: Sequence[str], row: Row, context: frozenset[str], words: WordsOf) -> bool:
    """Whether a sentence names the row, one column and its cell, and nothing else.

    Articles, forms of "be" and "have" and a few prepositions that say no direction are free, and so
    are words of the title and headings (`context`, in small letters) that no other column has.
    """
    free = listed_words("cells", "free")
    said = [word.lower() for word in _plain(claim)]
    label = [word.lower() for word in _plain(words(row.label))]
    if not label or not _contains(said, label):
        return False
    for at in row.columns():
        name = [word.lower() for word in _plain(words(row.header[at]))]
        cell = [word.lower() for word in _plain(words(row.cells[at]))]
        if not (_contains(said, name) and _contains(said, cell)):
            continue
        others = {
            word.lower()
            for other in row.columns()
            if other != at
            for word in (*words(row.header[other]), *words(row.cells[other]))
        }
        own = {*label, *name, *cell}
        if all(w in own or w in free or (w in context and w not in others) for w in said):
            return True
    return False


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return bool(size) and any(
        list(words[at : at + size]) == list(part) for at in range(len(words) - size + 1)
    )


def _plain(words: Sequence[str]) -> list[str]:
    """Return words without what only sets them apart; a name of a column may begin small."""
    return [
        word.lower() if len(word) > _SYMBOL and word.istitle() else word
        for word in words
        if word not in _BETWEEN
    ]


def claim_cells(claim: str, row: Row) -> Iterator[int]:
    """Yield the columns that a claim speaks of: it holds their cell, and a word of their name.

    A cell alone is not enough: "0.30 for children" may hold the cell of the adults.
    """
    said = {word.stem for word in content_words(claim)}
    for at in row.columns():
        cell = row.cells[at]
        named = not said.isdisjoint(word.stem for word in content_words(row.header[at]))
        if named and holds_cell(claim, cell):
            yield at


def holds_cell(claim: str, cell: str) -> bool:
    """Whether a claim holds a cell that says more than a word such as "no"."""
    if not any(map(str.isdigit, cell)):
        return False
    return re.search(rf"(?<![\w.,]){re.escape(cell)}(?!\w|[.,]\d)", claim) is not None
