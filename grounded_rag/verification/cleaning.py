"""What a model writes around its statements: marks of citation, characters nobody sees.

What a reader gets is the cleaned text, and the cleaned text is what is verified. Cleaning only
takes away; nothing that one of the claim's own quotes holds is taken for a mark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import NamedTuple

from grounded_rag.resources import read_table

_STOPS = ".!?…。！？｡．؟۔।॥։።"
_QUESTIONS = "?？؟⁇⁈⁉‽﹖︖\u037e፧⸮"
_EMPHASIS = "*_"
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_OPENERS = {"]": "[", ")": "(", "}": "{", "】": "【", "］": "［", "）": "（", "〕": "〔"}
_QUOTES_CLOSING = "\"'”’“‘»«›‹」』）)]】"
_QUOTES_OPENING = "\"'“‘„‚»«›‹「『（([【"
_CLOSERS = frozenset({*_OPENERS, *_SUPERSCRIPTS, "\ue201", ">"})
# No mark is longer: a title and an address.
_LONGEST = 300
# Nobody cites so often; what does is no sentence with marks, and each is looked for in the quotes.
_MOST = 100

_FINAL = frozenset(_STOPS)
_BEHIND_STOPS = " \n\t\"'”’»*_"
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+(?:&|and|und|et|y)\s+")
_NUMBER = r"\^?[\d⁰¹²³⁴-⁹]{1,3}(?:\s?[-–—:]\s?\d{1,3})?"
# At most six letters and a number: the labels of passages, such as "K2" or "XQ7P-3.1".
_LABEL = r"[A-Z][A-Z0-9]{0,5}-?\d{1,3}(?:\.\d{1,3})?"
_ADDRESS = r"(?:https?://|www\.)[^\s<>]+"
# OpenAI's 4:0†source, and a site with its address.
_NESTED = re.compile(
    rf"\d{{1,3}}(?::\d{{1,3}})?†[^\n]{{0,80}}|\[[^\[\]\n]{{1,120}}\]\({_ADDRESS}\)"
)
_TAGGED = re.compile(
    r"(?:\ue200[^\ue200\ue201]{1,120}\ue201|<(sup|cite|ref|source|citation)\b[^<>]{0,120}>"
    r"[^<>]{0,120}</\1>|<(?:ref|cite|source|citation)\b[^<>]{0,120}/>)\Z",
    re.IGNORECASE,
)

_LETTERS_THAT_JOIN = (
    "\u0600-\u08ff\u0900-\u109f\u1700-\u18af\u1900-\u1cff\ua800-\uaaff\uabc0-\uabff\ufb50-\ufdff"
    "\ufe70-\ufefc\U00010a00-\U00011fff\U0001e800-\U0001e95f"
)
"""Scripts in which a (non-)joiner picks the shape of the letter in front of it."""

_EMOJI = "\xa9\xae\u203c\u2049\u2100-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
"""Characters that may be shown as an emoji; so may digits, as key caps."""

_IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"

_UNSEEN = re.compile(
    # Control characters that are no white space.
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
    # Format characters; not those with a glyph, such as the Arabic number sign.
    "\xad\u061c\u200b\u200e\u200f\u202a-\u202c\u2060-\u206f\ufeff\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e001f\U000e0080-\U000e00ff"
    "\U000e01f0-\U000e0fff"
    # Letters and marks without a glyph.
    "\u034f\u17b4\u17b5\u3164\uffa0]+"
)

_SPOOFING = re.compile(
    "[\u202d\u202e]|(?:\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f)|[\U000e0020-\U000e007f]"
)
"""Overrides of direction, which turn round what a reader sees, and tags, which hide text; between
them the tags of a flag, which are neither."""

_SHAPING = re.compile("[\u115f\u1160\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
"""Unseen characters that change the shape of a neighbour, if it is one of theirs."""

_NEEDED = re.compile(
    # A joiner shapes the letter in front of it, at the end of a word too; between emoji it makes
    # one of them.
    f"(?:(?<=[{_LETTERS_THAT_JOIN}])[\u200c\u200d]"
    f"|(?<=[{_EMOJI}])\u200d(?=[{_EMOJI}])"
    # As an emoji or as text.
    f"|(?<=[{_EMOJI}])[\ufe0e\ufe0f](?:\u200d(?=[{_EMOJI}]))?"
    "|(?<=[0-9#*])\ufe0f(?=\u20e3)"
    # A variant of an ideograph, a Mongolian letter, an old Korean syllable.
    f"|(?<=[{_IDEOGRAPHS}])[\ufe00-\ufe02\U000e0100-\U000e01ef]"
    "|(?<=[\u1820-\u18aa])[\u180b-\u180f]"
    "|(?<=[\u1100-\u115e])\u1160|\u115f(?=[\u1161-\u11a7]))"
)


class _Kind(Enum):
    """What a bracket at the end of a claim is."""

    MARK = "mark"
    # A mark only where the quotes show that the source has no such bracket.
    PERHAPS = "perhaps"
    CONTENT = "content"


def is_clean(text: str) -> bool:
    """Whether a glance shows that `clean_text` would change nothing, as for most claims."""
    return text.isascii() and text.isprintable() and text[-2:-1].isalnum() and text[-1] in ".!?"


def clean_text(text: str, *, quotes: Sequence[str] = (), chunk_ids: Sequence[str] = ()) -> str:
    """Return a claim's text without trailing citation marks and without unseen characters.

    What one of its `quotes` holds is content, whatever it looks like; the ids that it cites are
    marks where they stand in brackets.
    """
    return without_marks(without_unseen(text), quotes=quotes, chunk_ids=chunk_ids)


def without_unseen(text: str) -> str:
    """Return `text` without characters that show nothing.

    Those that a script needs for the shape of its letters stay where they shape one, and so do
    those that `spoofs` tells.
    """
    text = _UNSEEN.sub("", text)
    while _SHAPING.search(text) is not None:
        shaped = _SHAPING.sub(_only_needed, text)
        if shaped == text:
            break
        # What was needed for a neighbour that is gone is needed no more.
        text = shaped
    return text


def spoofs(text: str) -> bool:
    """Whether a text holds characters that show a reader something else than they say.

    Nobody writes them by accident, so they are not taken away: the claim is rejected.
    """
    return not text.isascii() and any(len(found[0]) == 1 for found in _SPOOFING.finditer(text))


def _only_needed(run: re.Match[str]) -> str:
    needed = _NEEDED.match(run.string, run.start())
    return needed.group() if needed else ""


def is_question(text: str) -> bool:
    """Whether a text asks instead of stating: it ends in a question mark, closers apart.

    A question that only a part of the sentence quotes, as in `The form asks "Do you smoke?"`, is
    no question of the text's own.
    """
    end = len(text)
    while end and not text[end - 1].isalnum():
        end -= 1
    behind = text[end:]
    mark = max(map(behind.rfind, _QUESTIONS))
    # An Armenian question carries its mark on the word that asks.
    if mark < 0 and "\u055e" in text[:end].rpartition("\u0589")[2]:
        return True
    if mark < 0 and ";" in behind and end and _is_greek(text[end - 1]):
        mark = behind.rindex(";")
    if mark < 0:
        return False
    if not any(character in _QUOTES_CLOSING for character in behind[mark:]):
        return True
    first = next((i for i, c in enumerate(text) if c.isalnum()), end)
    return any(character in _QUOTES_OPENING for character in text[:first])


def _is_greek(letter: str) -> bool:
    return "\u0370" <= letter <= "\u03ff" or "\u1f00" <= letter <= "\u1fff"


def names_nothing(part: str) -> bool:
    """Whether a part said to be open only says that none is."""
    bare = part.strip(" \t\n\r.。…!\"'“”‘’()[]{}<>*_`-–—/").casefold()
    return bool(part.strip()) and (not bare or bare in _words().nothing)


def without_marks(text: str, *, quotes: Sequence[str] = (), chunk_ids: Sequence[str] = ()) -> str:
    """Return `text` without the citation marks at its end; its final stop stays.

    A mark that stands in one of the quotes is the source's, and stays.
    """
    start = _edge(text, len(text))
    if not start or text[start - 1] not in _CLOSERS:
        return text
    cited = _Cited(
        quotes=tuple("".join(quote.split()) for quote in quotes),
        whole=all(quote.rstrip(_BEHIND_STOPS)[-1:] in _FINAL for quote in quotes),
        chunk_ids=chunk_ids,
    )
    start = len(text)
    tails: list[str] = []
    while (edge := _edge(text, start)) and (found := _mark_start(text, edge, cited)) >= 0:
        tails.append(text[edge:start])
        start = found
        if len(tails) > _MOST:
            return text
    if not tails:
        return text
    body = text[:start].rstrip()
    # What stood between and behind the marks: one stop, unless there is one in front of them.
    stopped = body.rstrip(_BEHIND_STOPS)[-1:] in _FINAL
    for tail in reversed(tails):
        stop = "".join(c for c in tail if c in _STOPS)
        body += "".join(c for c in tail if c in _EMPHASIS or (c in stop and not stopped))
        stopped = stopped or bool(stop)
    return body


class _Cited(NamedTuple):
    """What a claim cites.

    Attributes:
        quotes: The quotes without white space.
        whole: Whether none of them breaks off before its sentence ends.
        chunk_ids: The ids.
    """

    quotes: tuple[str, ...]
    whole: bool
    chunk_ids: Sequence[str]


def _edge(text: str, end: int) -> int:
    """Return `end` moved in front of stops, emphasis and white space."""
    while end and (
        text[end - 1] in _STOPS or text[end - 1] in _EMPHASIS or text[end - 1].isspace()
    ):
        end -= 1
    return end


def _mark_start(text: str, end: int, cited: _Cited) -> int:
    """Return where the mark that ends at `end` starts, or -1."""
    closer = text[end - 1]
    inner = ""
    if closer in _OPENERS:
        start, inner = _bracket(text, end)
        if start < 0:
            return -1
        kind = _kind(inner, cited.chunk_ids, is_round=text[start] in "(（")
    elif closer in "\ue201>":
        tagged = _TAGGED.search(text, max(0, end - _LONGEST), end)
        start, kind = (tagged.start(), _Kind.MARK) if tagged else (-1, _Kind.CONTENT)
    elif closer in _SUPERSCRIPTS:
        floor = max(0, end - _LONGEST)
        start = floor + len(text[floor:end].rstrip(_SUPERSCRIPTS))
        # 10⁵ and m² are values; behind the final stop nothing is raised to a power.
        glued = start > 0 and text[start - 1] in _STOPS
        kind = _Kind.MARK if glued else _Kind.CONTENT
    else:
        return -1
    if start < 0 or kind is _Kind.CONTENT:
        return -1
    # A name may stand in the source without the brackets; a bare number is no name.
    named = inner if any(character.isalpha() for character in inner) else text[start:end]
    for mark in (text[start:end], named):
        if any("".join(mark.split()) in quote for quote in cited.quotes):
            return -1
    if kind is _Kind.PERHAPS and not _may_be_cut(text, start, cited):
        return -1
    return start


def _may_be_cut(text: str, start: int, cited: _Cited) -> bool:
    """Whether a bracket that could be an aside is behind the final stop, or surely not quoted.

    Quotes of whole sentences would show it if the source had it.
    """
    before = text[start - 1 : start]
    if before in _FINAL:
        return True
    # Glued to a word it belongs to it, as in 4(2) and f(1).
    glued = before.isalnum() and text[start] in "(（"
    return bool(cited.quotes) and cited.whole and not glued


def _bracket(text: str, end: int) -> tuple[int, str]:
    """Return where a bracket or a Markdown link starts (-1 for neither), and its words."""
    start = _opening(text, end)
    if start > 0 and text[end - 1] == ")" and text[start - 1] == "]":
        end = start
        start = _opening(text, end)
    return start, text[start + 1 : end - 1].strip() if start >= 0 else ""


def _opening(text: str, end: int) -> int:
    closer = text[end - 1]
    opener = _OPENERS[closer]
    depth = 0
    for index in range(end - 1, max(-1, end - 1 - _LONGEST), -1):
        character = text[index]
        if character == closer:
            depth += 1
        elif character == opener:
            depth -= 1
            if not depth:
                return index
    return -1


def _kind(inner: str, chunk_ids: Sequence[str], *, is_round: bool) -> _Kind:
    """Return what the words in a bracket are, by the shape of all their parts."""
    if _NESTED.fullmatch(inner):
        return _Kind.MARK
    if inner.endswith("]") and _opening(inner, len(inner)) == 0:
        inner, is_round = inner[1:-1].strip(), False
    words = _words()
    if words.titled.fullmatch(inner):
        return _Kind.MARK
    named = False
    cited = False
    for part in _BETWEEN.split(inner):
        cites = words.cites.fullmatch(part.strip())
        named = named or (cites is not None and bool(cites["source"] or cites["marks"]))
        if cites is not None or part.strip() in chunk_ids:
            cited = True
        elif words.place.fullmatch(part.strip()) is None:
            return _Kind.PERHAPS if inner.casefold() in words.sources else _Kind.CONTENT
    # Round brackets hold all sorts of asides; only a named source makes them surely a mark.
    return _Kind.MARK if named or (cited and not is_round) else _Kind.PERHAPS


class _Words(NamedTuple):
    """The lists of `drafts.toml` as they are used.

    Attributes:
        titled: A word for source, a colon, and whatever it is called.
        cites: One source: a number, a label, a footnote, a file or an address.
        place: A part of a source.
        sources: Words for source.
        nothing: What stands for no open part.
    """

    titled: re.Pattern[str]
    cites: re.Pattern[str]
    place: re.Pattern[str]
    sources: frozenset[str]
    nothing: frozenset[str]


@cache
def _words() -> _Words:
    lists = read_table("drafts")
    marks = lists["marks"]
    sources, pieces, places, leads, files = (
        "|".join(sorted(map(re.escape, marks[name]), key=len, reverse=True))
        for name in ("sources", "pieces", "places", "leads", "files")
    )
    lead = rf"(?:(?:{leads})\.?:?\s+)?"
    # A word ends where letters end: "ref" is not the beginning of "referee.md".
    source = rf"(?:{sources})(?![^\W\d_])\.?"
    piece = rf"(?:{pieces})(?![^\W\d_])\.?"
    number = r"\s?(?:(?:no|nr)\.?\s|[:#№_-])?\s?"
    name = rf"[\w()+%~./\\-]+(?: [\w()+%~./\\-]+){{0,5}}\.(?:{files})(?:[#:][\w:.-]{{1,40}})?"
    return _Words(
        titled=re.compile(rf"{lead}{source}\s?[:：=]\s?[^\n]{{1,250}}", re.IGNORECASE),
        cites=re.compile(
            rf"{lead}(?:(?P<source>{source}{number})|{piece}{number})?"
            rf"(?:{_NUMBER}|(?P<marks>(?:\[{_NUMBER}\]\s?)+)|(?-i:{_LABEL})|\^[\w.-]{{1,30}}"
            rf"|{name}|{_ADDRESS})",
            re.IGNORECASE,
        ),
        place=re.compile(rf"(?:{places})\.?\s?[:#]?\s?\d[\d–—-]{{0,12}}", re.IGNORECASE),
        sources=frozenset(word.casefold() for word in marks["sources"]),
        nothing=frozenset(word.casefold() for word in lists["unanswered"]["nothing"]),
    )
