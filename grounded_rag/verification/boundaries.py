"""Whether a text may be cut at a place without changing the word or number beside it.

A number keeps its sign, decimals, grouping, exponent, per cent and attached currency; a word its
hyphenated and apostrophised parts ("can" is not all of "can't"). Scripts written without spaces
have no such boundaries, but their numbers do. The rule, where in doubt, is not to cut.
"""

from __future__ import annotations

import html
import re
import unicodedata

from grounded_rag.verification import characters as chars

_ENTITY_END = re.compile(r"&[#A-Za-z0-9]{2,32};\Z")
_ENTITY = re.compile(r"&[#A-Za-z0-9]{2,32};")
_WORD_END = re.compile(r"[^\W\d_]{1,12}\Z")
_WORD = re.compile(r"[^\W_]{1,12}")
_LINE_END_HYPHEN = re.compile(r"([^\W\d_])[-‐‑][ \t]*\r?\n[ \t]*\Z")
_LOOK = 40

_APOSTROPHES = frozenset("'’ʼ＇")
_DIGIT_JOINTS = frozenset(".,:/'’^–−٫٬")
_LETTER_JOINTS = frozenset("-‐‑_+*")
_JOINTS = _APOSTROPHES | _DIGIT_JOINTS | _LETTER_JOINTS
_SUFFIXES = frozenset("%‰‱°′″％℃℉+")
_SMALL_KANA = frozenset("ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶーゝゞヽヾ々")
_ELIDED = frozenset(
    """
    l d j s c m t qu un dell all nell sull dall quell jusqu lorsqu puisqu quoiqu aujourd sant
    dev
    """.split()
)
_PARTICLES = frozenset(
    """
    은 는 이 가 을 를 의 에 도 와 과 로 으로 만 에서 에게 부터 까지 이나 나 이다 입니다 입니까
    이고 이며 처럼 보다
    """.split()
)
_SUSPENDED = frozenset("and or und oder bzw et ou y o e bis to nor".split())


def cuts_token(text: str, position: int) -> bool:
    """Whether cutting `text` at `position` would break a word, number or visible character.

    Args:
        text: Source text.
        position: Code points before the cut, from 0 to `len(text)`.
    """
    if position <= 0 or position >= len(text):
        return False
    after = text[position]
    before = text[position - 1]
    if before == " " or (after == " " and before not in chars.JOINERS):
        return False
    left, right = position - 1, position
    if before > "\x7f" or after > "\x7f":
        while left >= 0 and chars.is_invisible(text[left]):
            left -= 1
        while right < len(text) and chars.is_invisible(text[right]):
            right += 1
        if left < 0 or right == len(text):
            return False
        before, after = text[left], text[right]
        if _is_one_glyph(before, after):
            return True
        # A mark belongs to the letter that carries it.
        while left > 0 and before > "\x7f" and unicodedata.category(before)[0] == "M":
            left -= 1
            before = text[left]
    if after == "\n" or before == "\n" or before == "\r":
        return _cuts_wrapped_word(text, left, right)
    if before == ";" or after == "&":
        before, after = _decoded(text, left, right, before, after)
    if before.isspace() or after.isspace():
        return False
    return _joined(text, left, right, before, after)


def _is_one_glyph(before: str, after: str) -> bool:
    """Whether the second character only modifies the first one."""
    if before in chars.JOINERS or after in chars.JOINERS:
        return True
    return (
        unicodedata.category(after)[0] == "M"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or after in _SMALL_KANA
        or ("\u1160" <= after <= "\u11ff")
    )


def _joined(text: str, left: int, right: int, before: str, after: str) -> bool:
    beyond = text[right + 1 : right + 2]
    further = text[left - 1 : left] if left else ""
    if before.isalnum():
        if after.isalnum():
            return _cuts_word(text, right, before, after)
        if after in _JOINTS and beyond.isalnum() and _is_joint(after, before, beyond, text, left):
            return True
        if after in _SUFFIXES or unicodedata.category(after) == "Sc":
            return before.isdigit() or after == "+"
        # "A-" and "C#" are other things than "A" and "C"
        return (
            before.isupper() and after in "-−#" and not beyond.isalnum() and not further.isalnum()
        )
    if after.isalnum():
        if before in _JOINTS:
            if further.isalnum():
                return _is_joint(before, further, after, text, left - 1)
            if before in ".," and after.isdigit() and (not further or further.isspace()):
                return before == "."
        if after.isdigit():
            return _is_sign(before, further) or unicodedata.category(before) == "Sc"
        return before == "°" and after in "CF"
    return False


def _cuts_word(text: str, right: int, before: str, after: str) -> bool:
    """Whether two neighbouring letters or digits belong to one word or number."""
    if before < "\u0e00" and after < "\u0e00":
        # "fee¹" carries a footnote mark; "m²" and "10⁵" carry an exponent.
        if after in "¹²³⁴⁵⁶⁷⁸⁹" and before.isalpha():
            word = _WORD_END.search(text[max(0, right - _LOOK) : right])
            return word is None or len(word[0]) < 3
        return True
    if chars.is_numeral(before) and chars.is_numeral(after):
        return True
    if chars.is_unspaced(before) or chars.is_unspaced(after):
        return False
    if "\uac00" <= after <= "\ud7a3" and "\uac00" <= before <= "\ud7a3":
        rest = _WORD.match(text, right)
        return rest is None or rest[0] not in _PARTICLES
    return True


def _is_joint(joint: str, before: str, after: str, text: str, left: int) -> bool:
    """Whether `joint` holds the characters around it together; `left` is where `before` is."""
    if joint in _LETTER_JOINTS:
        return True
    digits = before.isdigit() and after.isdigit()
    if joint in _APOSTROPHES:
        if digits:
            return True
        if not (before.isalpha() and after.isalpha()):
            return False
        word = _WORD_END.search(text[max(0, left + 1 - _LOOK) : left + 1])
        return word is None or word[0].lower() not in _ELIDED
    return digits


def _is_sign(before: str, further: str) -> bool:
    """Whether `before` is a sign or comparator of the number behind it, not an arrow or a tag."""
    return before in chars.SIGNS and (not further or further.isspace() or further in "([{|\"'“‘„*_")


def _cuts_wrapped_word(text: str, left: int, right: int) -> bool:
    """Whether a cut at a line end falls into a word that a hyphen carries over it."""
    start = right
    while start < len(text) and text[start] in " \t\r\n" and start - right < _LOOK:
        start += 1
    tail = text[max(0, start - _LOOK) : start]
    if not _LINE_END_HYPHEN.search(tail):
        return False
    following = _WORD.match(text, start)
    if following is None or not (following[0][0].islower() or following[0][0].isdigit()):
        return False
    return following[0] not in _SUSPENDED or left < 0


def _decoded(text: str, left: int, right: int, before: str, after: str) -> tuple[str, str]:
    """Return the neighbours of a cut with HTML entities read as their characters."""
    if before == ";":
        entity = _ENTITY_END.search(text[max(0, left + 1 - _LOOK) : left + 1])
        if entity:
            before = html.unescape(entity[0])[-1]
    if after == "&":
        entity = _ENTITY.match(text, right)
        if entity:
            after = html.unescape(entity[0])[0]
    return before, after
