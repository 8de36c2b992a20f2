"""Identifiers: what is made of digits or signs and counts nothing.

A version, a section, an error code, a model, an address or a telephone number names one thing. Two
of them are the same only if they are the same string, after the little that its kind may write in
two ways: 2.1 is not 2.10 and 4(a) is not 4(b), but "Chapter IV" is "Chapter 4" and "020 555 0100"
is "020-555-0100".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from grounded_rag.resources import read_table
from grounded_rag.text import quantities
from grounded_rag.text.dates import MONTHS
from grounded_rag.text.number_words import SCALES
from grounded_rag.text.words import STOPWORDS

IdentifierKind = Literal["name", "code", "address", "number"]
"""A `name` stands behind a word such as "section"; a `code` mixes letters and digits; an `address`
is a URL or e-mail address; a `number` a telephone or account number."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """One identifier of a text."""

    start: int
    end: int
    text: str  # without the word that names its kind
    key: str  # normal form: two identifiers are the same if and only if their keys are
    kind: IdentifierKind


# Every repetition is bounded, or begins only where no run of the same characters does: one pass.
_URL = re.compile(r"(?:(?<![a-zA-Z+])[a-zA-Z+]{2,11}://|(?<!\w)www\.)[^\s<>\"“”«»|\\^`{}]+")
_PAGE = re.compile(r"(?<![\w.@/-])(?:[a-z0-9-]{2,40}\.){1,4}[a-z]{2,12}/[^\s<>\"“”«»|\\^`{}]+")
_LOCAL = re.compile(r"[\w.+%-]{1,64}\Z")
_DOMAIN = re.compile(
    r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,7}\.[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
_IBAN = re.compile(
    r"(?<!\w)[A-Z]{2}\d{2}[ \u00a0\u202f-]?[A-Z0-9]{4}"
    r"(?:[ \u00a0\u202f-]?(?=[A-Z0-9]{0,3}\d)[A-Z0-9]{4}){1,6}"
    r"(?:[ \u00a0\u202f-]?(?=[A-Z0-9]{0,2}\d)[A-Z0-9]{1,3})?(?!\w)"
)
_CARD = re.compile(r"(?<![\w.,-])\d{4}([ \u00a0-])\d{4}\1\d{4}\1\d{4}(?!\w)")
_GAP = r"[ \u00a0\u202f.\-‐‑–/]"
_PHONE = re.compile(
    rf"(?<![\w.,/-])(?:\+?\d{{1,15}}|\(\+?\d{{1,5}}\))(?:{_GAP}?\(\d{{1,5}}\))?"
    rf"(?:(?:{_GAP}|(?<=\)))\d{{1,15}}){{0,7}}(?!\w|[.,]\d)"
)
_SIX_DIGITS = re.compile(r"\d(?:[^\d\n]{0,4}\d){5}")
_AMERICAN = re.compile(r"(?:1[ .-])?\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:[ \u00a0\u202f.]\d{3})+")
_DATE = re.compile(r"\d{1,2}([./-])\d{1,2}\1(?:\d{2}|\d{4})|\d{4}([./-])\d{1,2}\2\d{1,2}")
_DATE_INSIDE = re.compile(r"\d([./-])\d{1,2}\1(?:19|20)\d\d(?!\d)|(?:19|20)\d\d-\d\d-\d\d")
_CLOCKS = re.compile(r"\d{1,2}\.\d{2} ?[-–] ?\d{1,2}\.\d{2}")
_HEX = re.compile(
    r"(?<!\w)(?:0[xX][0-9a-fA-F]{1,64}"
    r"|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"
    r"|(?=[0-9]{0,64}[a-fA-F])(?=[a-fA-F]{0,64}[0-9])[0-9a-fA-F]{16,128}"
    r"|#(?=[0-9]{0,6}[a-fA-F])[0-9a-fA-F]{6})(?!\w)"
)
_CODE = re.compile(
    r"(?<![\w.,/-])(?:v\d{1,9}(?:\.\d{1,9}){1,5}(?:-[a-zA-Z0-9.]{1,20})?"  # v2.1
    r"|[A-Z][A-Za-z]{0,9}[-‐‑]?\d[A-Za-z0-9]{0,20}"
    r"(?:[-‐‑./_](?=[A-Za-z]{0,9}\d)[A-Za-z0-9]{1,20}){0,6}"  # QX-2
    r"|\d{1,9}[A-Z]{1,5}\d[A-Za-z0-9]{0,20}"  # 1F4A
    r"|\d{1,9}(?:\.\d{1,9}){2,6}(?:-[a-zA-Z0-9.]{1,20})?"  # 1.2.3
    r"|\d{1,9}(?:\.\d{1,9}){0,4}(?:\([a-zA-Z0-9]{1,4}\)){1,4}"  # 4(a)
    r"|\d{1,9}(?:-\d{1,9}){2,6}"  # 978-3-16
    r"|(?:1[89]|20)\d\d[/–-](?:(?:1[89]|20)\d\d|\d\d)"  # 2024/25
    r")(?!\w|[.,/-]\d)"
)
_YEARS = re.compile(r"(\d{4})([/–-])(\d{4}|\d{2})")
_PREFIX = re.compile(r"([A-Za-z]+)[-‐‑]?")
_BEFORE_HYPHEN = frozenset("mid pre post sub early late non ca".split())
_MODEL = re.compile(r"(?<![\w-])([a-z]?[A-Z][\w-]{1,30})[ \u00a0]\d{1,4}[a-zA-Z]?(?![\w.,-])")
_NAME = re.compile(
    r"[A-Za-z]{0,5}[-‐‑.]?\d[A-Za-z0-9]{0,30}(?:,\d{3}(?!\d)){0,4}"
    r"(?:[-‐‑./:_](?:[A-Za-z]{0,8}\d[A-Za-z0-9]{0,30}|[A-Z]{1,5}(?![A-Za-z])|[a-z](?![A-Za-z])))"
    r"{0,8}(?:\([A-Za-z0-9]{1,5}\)|[ \u00a0]\((?:[a-z]|\d{1,2}|[ivx]{1,5})\)){0,4}"
)
_PLAIN = re.compile(r"(\d[\d,.]*)([A-Za-z]*)")
_FOLLOWING = re.compile(r"[ \u00a0\u202f]?([^\W\d_]+|[%‰°€$£¥])")
_AROUND = " \u00a0\u202f:*_`“\"'"
_SIGNS = ("§§", "§", "#", "№")
_LOOK_BACK = 40
_ROMAN = re.compile(r"(C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_SEPARATORS = re.compile(r"[^\w+]")


@lru_cache(maxsize=1024)
def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the identifiers of `text` in order; none overlaps another."""
    words = naming()
    if not words.gate.search(text):
        return ()
    # Of two that overlap, the one of the surer kind stays: the digits of a URL are no code.
    kinds: tuple[Iterable[Identifier], ...] = (
        _addresses(text),
        _numbers(text, words),
        _hexadecimal(text),
        _names(text, words),
        _models(text, words),
        _codes(text),
    )
    ranked = sorted(
        ((rank, one) for rank, kind in enumerate(kinds) for one in kind),
        key=lambda item: (item[1].start, item[0]),
    )
    kept: list[tuple[int, Identifier]] = []
    for rank, one in ranked:
        if not kept or kept[-1][1].end <= one.start:
            kept.append((rank, one))
        elif rank < kept[-1][0]:
            kept[-1] = (rank, one)
    return tuple(one for _, one in kept)


@dataclass(frozen=True, slots=True)
class Naming:
    """Naming words of all languages, in lower case, and the patterns made of them."""

    ordered: frozenset[str]  # numbered in Arabic or Roman figures ("chapter")
    named: frozenset[str]  # letters behind them are letters ("model")
    grouped: frozenset[str]  # digits behind them are written in groups ("account")
    verbs: frozenset[str]  # those of them that are verbs too ("book")
    spelled: dict[str, int]  # number words that can be a name ("World War Two")
    gate: re.Pattern[str]  # what a text with an identifier holds
    candidate: re.Pattern[str]  # where a name can begin
    endings: tuple[str, ...]  # phrases before the last digits of a number
    joint: re.Pattern[str]  # what stands between two names of a list
    suffix: re.Pattern[str]  # what belongs to the model whose number stands before it

    def names(self, word: str) -> bool:
        """Whether a number behind the word is a name."""
        return word in self.ordered or word in self.named or word in self.grouped

    def several(self, word: str) -> bool:
        """Whether the word is the plural of a naming word."""
        return word == "§§" or any(self.names(word[:-cut]) for cut in (1, 2) if len(word) > cut)


@lru_cache(maxsize=1)
def naming() -> Naming:
    """Return the naming words of the data file."""
    data = read_table("identifiers")

    def listed(name: str) -> list[str]:
        return sorted({word for row in data[name].values() for word in row.split()})

    joints = "|".join(map(re.escape, listed("joints")))
    spelled = "|".join(data["spelled"])
    alone = r"(?![\w’']|[.-]\w)"
    roman = rf"(?<![\w.,-])(?:[IVXLC]{{1,9}}{alone}|[ivx]{{2,6}}{alone}|[A-Z]{alone}"
    return Naming(
        ordered=frozenset(listed("ordered")),
        named=frozenset(listed("named")),
        grouped=frozenset(listed("grouped")),
        verbs=frozenset(listed("verbs")),
        spelled=dict(data["spelled"]),
        gate=re.compile(rf"\d|@|://|www\.|[a-z]\.[a-z]{{2,12}}/|{roman}|(?i:{spelled})(?![\w-]))"),
        candidate=re.compile(rf"{roman}|(?i:{spelled})(?![\w-])|[A-Za-z]{{0,5}}[-‐‑.]?\d)"),
        endings=tuple(f" {one} " for row in data["endings"].values() for one in row.split("|")),
        joint=re.compile(rf"\s?(?:[,;]|,?\s(?:{joints})|[–-])\s?", re.IGNORECASE),
        suffix=re.compile(rf"(?:[ \u00a0](?:{'|'.join(listed('suffixes'))})(?!\w)){{1,3}}"),
    )


def _made(text: str, start: int, end: int, key: str, kind: IdentifierKind) -> Identifier:
    return Identifier(start, end, text[start:end], key, kind)


def _addresses(text: str) -> Iterator[Identifier]:
    for pattern in (_URL, _PAGE) if "/" in text or "www." in text else ():
        for match in pattern.finditer(text):
            url = _without_closing(match.group())
            yield _made(text, match.start(), match.start() + len(url), _url_key(url), "address")
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local and domain:
            name = domain.group()
            key = f"{local.group()}@{name.lower()}"
            yield _made(text, local.start(), at + 1 + len(name), key, "address")
        at = text.find("@", at + 1)


def _without_closing(url: str) -> str:
    """Take off the punctuation of the sentence behind a URL."""
    end = len(url)
    open_brackets = url.count(")") - url.count("(")
    while end and (url[end - 1] in ".,;:!?'’]*_…" or (url[end - 1] == ")" and open_brackets > 0)):
        open_brackets -= url[end - 1] == ")"
        end -= 1
    return url[:end]


def _url_key(url: str) -> str:
    """Fold the case of scheme and host; the path is exact, and an empty one is "/"."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        scheme, rest = "", url
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    path = rest[len(host) :]
    return scheme.lower() + mark + host.lower() + ("" if path == "/" else path)


def _numbers(text: str, words: Naming) -> Iterator[Identifier]:
    if not _SIX_DIGITS.search(text):
        return
    for match in _IBAN.finditer(text):
        key = _SEPARATORS.sub("", match.group())
        if 15 <= len(key) <= 34:
            yield _made(text, *match.span(), key, "number")
    for match in _CARD.finditer(text):
        yield _made(text, *match.span(), _SEPARATORS.sub("", match.group()), "number")
    for match in _PHONE.finditer(text):
        written = _without_hours(text, match.end(), match.group())
        if _is_phone(text, match.start(), written, words):
            end = match.start() + len(written)
            yield _made(text, match.start(), end, _phone_key(written), "number")


def _without_hours(text: str, end: int, written: str) -> str:
    """Take off a number of its own behind a telephone number: "24 hours a day", "24/7"."""
    if written.endswith(" 24/7"):
        return written[:-5]
    cut = written.rfind(" ")
    return written[:cut] if cut > 0 and _counts(text, end, "") else written


def _is_phone(text: str, start: int, written: str, words: Naming) -> bool:
    digits = sum(map(str.isdigit, written))
    if not 6 <= digits <= 24 or _DATE.fullmatch(written) or _DATE_INSIDE.search(written):
        return False
    if " – " in written or " - " in written or _CLOCKS.fullmatch(written):
        return False
    if _THOUSANDS.fullmatch(written):
        return False
    before = re.findall(r"[^\W\d_]+\.?", text[max(0, start - _LOOK_BACK) : start].lower())
    if any(word in words.grouped for word in before[-3:]):
        return True
    if not 7 <= digits <= 15:
        return False
    surely = written[0] in "+(" or re.match(r"0\d", written) is not None
    return surely or _AMERICAN.fullmatch(written) is not None


def _phone_key(written: str) -> str:
    """Take out what groups the digits; "0049" is "+49", and "(0)" is not dialled behind it."""
    international = written.lstrip("(").startswith("+")
    if international:
        written = written.replace("(0)", "")
    digits = re.sub(r"\D", "", written)
    if digits.startswith("00") and len(digits) > 10:
        international, digits = True, digits[2:]
    return ("+" if international else "") + digits


def _hexadecimal(text: str) -> Iterator[Identifier]:
    for match in _HEX.finditer(text):
        yield _made(text, *match.span(), match.group().lower(), "code")


def _names(text: str, words: Naming) -> Iterator[Identifier]:
    """Find what stands behind a naming word, with the rest of its list ("Sections 4 and 5")."""
    last, several = 0, False
    for match in words.candidate.finditer(text):
        start = match.start()
        if start < last:
            continue
        found: Identifier | None = None
        word, at = _word_before(text, start)
        if words.names(word.lower()):
            found = _named(text, start, at, word, words)
            several = words.several(word.lower())
        elif (word and text[max(0, at - _LOOK_BACK) : start].lower().endswith(words.endings)) or (
            several and start - last <= 12 and words.joint.fullmatch(text, last, start)
        ):
            found = _plain_name(text, start)
        if found is not None:
            yield found
            last = found.end


def _word_before(text: str, start: int) -> tuple[str, int]:
    """Return the word or sign right before `start`, and its place; "" where there is none."""
    floor = max(0, start - _LOOK_BACK)
    end = floor + len(text[floor:start].rstrip(_AROUND))
    if start - end > 5:
        return "", start
    for sign in _SIGNS:
        if text.endswith(sign, floor, end):
            heading = sign == "#" and (end < start or not text[start].isdigit())
            return ("", start) if heading else (sign, end - len(sign))
    at = end
    while at > floor and (text[at - 1].isalpha() or text[at - 1] in "-.°º"):
        at -= 1
    word = text[at:end].lstrip("-.")
    return word, end - len(word)


def _named(text: str, start: int, at: int, word: str, words: Naming) -> Identifier | None:
    """Read the name at `start` behind a naming word that stands at `at`."""
    lower = word.lower()
    capital = word[:1].isupper() and bool(re.search(r"[\w,;)]\s+\Z", text[max(0, at - 4) : at]))
    verb = lower in words.verbs and not capital
    letters = re.match(r"[A-Za-z]+(?!\w)", text[start : start + 12])
    if letters is None:  # digits in it
        found = _plain_name(text, start)
        if found is None or (verb and found.text.isdecimal()):
            return None
        if lower in words.grouped:
            if sum(map(str.isdigit, found.text)) < 3:
                return None
            key = _SEPARATORS.sub("", found.text)
            return Identifier(found.start, found.end, found.text, key, "number")
        return found
    name = letters.group()
    key = name
    if name.lower() in words.spelled:
        # "the model one should use", "book two rooms"
        if not word[:1].isupper() or verb:
            return None
        key = str(words.spelled[name.lower()])
    elif lower in words.ordered:
        if name == "I" and not word[:1].isupper():
            return None  # "the type I prefer"
        key = str(_roman(name) or name)
    elif name == "I":
        return None
    if key == name and (len(name) > 1 and not (set(name) <= set("IVXLC"))):
        return None
    return _made(text, start, start + len(name), key, "name")


def _plain_name(text: str, start: int) -> Identifier | None:
    match = _NAME.match(text, start)
    if match is None:
        return None
    name = match.group()
    plain = _PLAIN.fullmatch(name)
    if plain and _counts(text, match.end(), plain[2]):
        return None
    key = re.sub(r"[ \u00a0]", "", name).replace("‐", "-").replace("‑", "-")
    return _made(text, start, match.end(), re.sub(r"\A[vV](?=\d+\.)", "", key), "name")


def _counts(text: str, end: int, glued: str) -> bool:
    """Whether a unit, a scale or a month follows a number: then it counts something."""
    if glued:
        return len(glued) > 1 and (
            glued.lower() in ("st", "nd", "rd", "th") or quantities.lookup(glued) is not None
        )
    following = _FOLLOWING.match(text, end)
    if following is None:
        return False
    word = following[1]
    if len(word) == 1:
        return not word.isalpha() and quantities.lookup(word) is not None
    month = word.lower() in MONTHS and word[0].isupper()
    return month or word.lower() in SCALES or quantities.lookup(word) is not None


def _roman(name: str) -> int | None:
    """Return the value of Roman figures, or None for letters that rarely are such (“XL”, “C”)."""
    upper = name.upper()
    if not _ROMAN.fullmatch(upper) or (set(upper) & set("LC") and len(upper) < 3):
        return None
    digits = [_ROMAN_DIGITS[letter] for letter in upper]
    following = [*digits[1:], 0]
    return sum(-one if one < after else one for one, after in zip(digits, following, strict=True))


def _models(text: str, words: Naming) -> Iterator[Identifier]:
    """Find a name with a number that its variant follows: "Nova 12 Pro"."""
    for match in _MODEL.finditer(text):
        variant = words.suffix.match(text, match.end())
        if variant and match[1].lower() not in STOPWORDS and not words.names(match[1].lower()):
            name = text[match.start() : variant.end()]
            yield _made(text, match.start(), variant.end(), " ".join(name.split()), "code")


def _codes(text: str) -> Iterator[Identifier]:
    for match in _CODE.finditer(text):
        code = match.group()
        key = code.replace("‐", "-").replace("‑", "-")
        years = _YEARS.fullmatch(code)
        if years:
            following = int(years[1]) + 1
            if int(years[3]) not in (following, following % 100) or (
                len(years[3]) == 4 and years[2] != "/"
            ):
                continue  # "2019-2025" is a range of years
            key = f"{years[1]}/{following % 100:02}"
        elif code[0] == "v":
            key = code[1:]
        elif code[0].isdigit():
            if _DATE.fullmatch(code) or _THOUSANDS.fullmatch(code):
                continue
        elif not _is_code(code):
            continue
        yield _made(text, *match.span(), key, "code")


def _is_code(code: str) -> bool:
    """Whether letters before digits are part of a name, and no currency, month or prefix."""
    prefix = _PREFIX.match(code)
    word = prefix[1].lower() if prefix else ""
    if word in _BEFORE_HYPHEN or word in MONTHS:
        return False
    unit = quantities.lookup(prefix[1]) if prefix else None
    return unit is None or not quantities.is_currency(unit[0])
