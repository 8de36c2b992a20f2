"""A stretch of source text as a reader gets it: presentation folded, markers and marks left out."""

from __future__ import annotations

import re

from grounded_rag.text.units import lookup
from grounded_rag.verification.folding import fold
from grounded_rag.verification.neighbours import boxes

_BULLET = re.compile(r"(?:[-*+•‣◦▪●○·–]|>)[ \t]+")
_ITEM = re.compile(r"\(?(?:[0-9]{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)][ \t]+|[0-9]{1,3}、|[①-⑳][ \t]*")
_ANSWER = re.compile(r"(?:A|Answer|Antwort|Réponse|Respuesta|Risposta|Resposta|Antwoord):[ \t]+")
_LETTERED = re.compile(r"^[ \t]*\(?(?:[A-Za-z]|[ivxIVX]{1,5})[.)][ \t]", re.MULTILINE)
_PARAGRAPH = re.compile(r"(?:§+[ \t]*)?\d{1,3}(?:\.\d{1,3})*[.)]?(?:\([a-z0-9]{1,3}\))?[ \t\n]+")
_AT_LINES = re.compile(
    r"^[ \t#*_]*(?:§+[ \t]*)?\d{1,3}\.(?:\d{1,3}\.?)*(?:\([a-z0-9]{1,3}\))?[ \t]",
    re.MULTILINE,
)
_DETERMINERS = frozenset(
    "The A An This These Those You We They If In On At For From To With When Where No Not All Any "
    "Each Every Der Die Das Ein Eine Sie Wir Wenn Le La Les Un Une Vous Nous Si El Los Las Il Lo "
    "Gli O Os As Um Uma De Het Een".split()
)
_AUTHORS = re.compile(
    r"\((?:(?:cf\.|see|e\.g\.,?)[ \t])?[A-ZÀ-Ý][\w'’-]+(?:(?:,|[ \t](?:and|&|und|y|et))?[ \t]"
    r"[A-ZÀ-Ý][\w'’-]+){0,3}(?:[ \t]et al\.?)?,?[ \t](?:19|20)\d\d[a-z]?"
    r"(?:;[ \t][^()\n]{3,80})?\)"
)
_RAISED = re.compile(r"(?<=[^\W\d_]{3})[¹²³⁴-⁹]+|(?<=[.,;:!?])[¹²³⁴-⁹]+")


def clean_wording(text: str) -> str:
    """Return a text on one line, presentation folded away.

    Args:
        text: A slice of a source: a sentence, an item or a heading.
    """
    if text.isascii() and not _FOLDABLE.search(text):
        return text.strip()
    plain = fold(text).text.strip()
    for mark in ("**", "__"):
        # Emphasis of more than this sentence leaves one of its two marks.
        if mark in plain and plain.count(mark) % 2:
            plain = plain.removeprefix(mark).removesuffix(mark).strip()
    return plain


_FOLDABLE = re.compile(r"[\t-\r&*_`|\[\]]|--|  |~~")


def without_number(text: str, start: int, end: int, *, at_line: bool) -> int:
    """Return where the wording of a sentence begins, behind its bullet, number and ticked box.

    A number is taken off only where it surely numbers: a bullet or item mark of a list, or the
    number of a paragraph among numbered paragraphs or before a word that begins a sentence.

    Args:
        text: The whole passage.
        start: Where the sentence begins.
        end: One past its last character.
        at_line: Whether it begins its line, item or paragraph.
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
    if following is not None and following[0] in _DETERMINERS:
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
    return lookup(word[0]) is not None or word[0].lower() in _SCALES


_SCALES = frozenset(
    "million millions billion thousand hundred dozen percent per times mal stars star million "
    "millionen milliarden tausend prozent mille millions pour por mil por millones milhões".split()
)


def without_marks(text: str) -> str:
    """Return a text without citation marks: bracketed numbers, raised numbers, author and year.

    Args:
        text: A text with presentation folded away.
    """
    if "[" in text or "【" in text:
        text = _MARKS_ONLY.sub("", text)
    if "(" in text:
        text = _AUTHORS_SPACED.sub("", text)
    if not text.isascii():
        text = _RAISED.sub("", text)
    return text


_MARKS_ONLY = re.compile(
    r"[ \t]*(?:\[\^?\d{1,3}(?:[ \t]*[,;-][ \t]*\^?\d{1,3})*\]|【[^】\n]{1,40}】"
    r"|\[(?:source|src|ref|doc|document|passage|quelle|fuente|fonte|bron|källa|zdroj|źródło)\.?"
    r" ?\d{1,3}\])",
    re.IGNORECASE,
)
_AUTHORS_SPACED = re.compile(r"[ \t]*" + _AUTHORS.pattern)
