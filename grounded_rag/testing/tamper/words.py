"""Classes that change, move, add or drop words within a sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from grounded_rag.testing.tamper.values import (
    WORD,
    Edit,
    EditMaker,
    Kind,
    Pools,
    inner,
    one_of,
    put,
    swap_listed,
    swap_sequence,
    tamper,
)

UNITS = (
    ("kg", "g"), ("kilograms", "grams"), ("km", "m"), ("kilometres", "metres"),
    ("kilometers", "meters"), ("miles", "kilometers"), ("mg", "µg"), ("ml", "l"), ("mm", "cm"),
    ("hours", "minutes"), ("hour", "minute"), ("minutes", "seconds"), ("days", "weeks"),
    ("day", "week"), ("weeks", "months"), ("week", "month"), ("months", "years"),
    ("month", "year"), ("year", "month"), ("years", "days"), ("GB", "MB"), ("MB", "kB"),
    ("bytes", "bits"), ("characters", "words"), ("°C", "°F"), ("feet", "inches"),
    ("acres", "hectares"), ("tons", "pounds"), ("tonnes", "kilograms"), ("watts", "volts"),
)  # fmt: skip
SCALES = (
    ("million", "billion"), ("billion", "million"), ("thousand", "million"),
    ("millions", "thousands"), ("thousands", "millions"), ("hundred", "thousand"),
    ("hundreds", "thousands"), ("trillion", "billion"), ("dozen", "hundred"), ("half", "third"),
    ("double", "triple"), ("twice", "three times"), ("quarter", "half"),
)  # fmt: skip
CURRENCIES = (
    ("€", "$"), ("$", "€"), ("£", "€"), ("¥", "$"), ("EUR", "USD"), ("USD", "EUR"),
    ("GBP", "EUR"), ("euros", "dollars"), ("euro", "dollar"), ("dollars", "euros"),
    ("dollar", "euro"), ("pounds", "euros"), ("cents", "pence"), ("US$", "A$"),
)  # fmt: skip
MONTHS = tuple(
    "January February March April May June July August September October November December".split()
)
WEEKDAYS = tuple("Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split())
ORDINALS = tuple("first second third fourth fifth sixth seventh eighth ninth tenth".split())
NUMBER_WORDS = tuple(
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty "
    "forty fifty sixty".split()
)
AUXILIARIES = tuple(
    "is are was were be been has have had can could may might must shall should will would do "
    "does did".split()
)
NEGATIONS = (" not", " never", " no", "n't", " neither", " without")
NEGATION_SWAPS = (("no", "some"), ("never", "always"), ("without", "with"), ("none", "all"))
COMPARATORS = (
    ("more than", "less than"), ("less than", "more than"), ("fewer than", "more than"),
    ("at least", "at most"), ("at most", "at least"), ("up to", "at least"),
    ("no more than", "no less than"), ("above", "below"), ("below", "above"),
    ("before", "after"), ("after", "before"), ("over", "under"), ("under", "over"),
    ("higher", "lower"), ("lower", "higher"), ("more", "less"), ("less", "more"),
    ("most", "least"), ("larger", "smaller"), ("smaller", "larger"), ("longer", "shorter"),
    ("earlier", "later"), ("later", "earlier"), ("until", "from"), ("greater", "smaller"),
    ("increased", "decreased"), ("decreased", "increased"), ("within", "after"),
    ("between", "outside"), ("best", "worst"), ("maximum", "minimum"), ("minimum", "maximum"),
)  # fmt: skip
MODALS = (
    ("may", "must"), ("must", "may"), ("can", "must"), ("should", "must"), ("shall", "may"),
    ("will", "might"), ("might", "will"), ("could", "will"), ("would", "will"),
    ("cannot", "can"), ("SHALL", "SHOULD"), ("SHOULD", "SHALL"), ("MAY", "SHALL"),
    ("MUST", "MAY"), ("usually", "always"), ("often", "always"), ("probably", "certainly"),
    ("possible", "certain"), ("likely", "certain"), ("required", "allowed"),
    ("optional", "mandatory"), ("recommended", "required"),
)  # fmt: skip
QUANTIFIERS = (
    ("all", "some"), ("some", "all"), ("every", "no"), ("each", "no"), ("any", "every"),
    ("many", "few"), ("few", "many"), ("most", "all"), ("several", "two"), ("both", "neither"),
    ("only", "also"), ("always", "sometimes"), ("sometimes", "always"), ("none", "all"),
    ("either", "both"), ("about", "exactly"), ("approximately", "exactly"), ("nearly", "exactly"),
    ("almost", "fully"), ("other", "all"),
)  # fmt: skip
SYNONYMS = (
    ("use", "utilise"), ("used", "utilised"), ("buy", "purchase"), ("begin", "start"),
    ("large", "big"), ("small", "little"), ("show", "display"), ("help", "assist"),
    ("people", "persons"), ("money", "funds"), ("also", "additionally"), ("get", "obtain"),
    ("such as", "like"), ("because", "since"), ("however", "but"), ("provide", "supply"),
    ("information", "data"), ("information", "details"), ("company", "firm"), ("began", "started"),
    ("called", "named"), ("made", "created"), ("city", "town"), ("important", "significant"),
    ("need", "require"), ("pay", "remit"), ("bank", "lender"), ("account", "profile"),
)  # fmt: skip
ADDED = tuple(
    "not only never usually annual former rarely partly main new reportedly former Northern "
    "approximately additional".split()
)
DANGLING = frozenset(
    "a an the of to in on at by for from with and or but nor as is are was were be been that "
    "this these those it its his her their our your my we you they he she which who whom".split()
)
"""Words that carry grammar rather than content: never the ones that are swapped."""

HOMOGLYPHS = {
    "a": "а", "e": "е", "o": "оο", "p": "р", "c": "с", "x": "х", "y": "у", "i": "і", "j": "ј",
    "s": "ѕ", "v": "ν", "A": "АΑ", "B": "ВΒ", "E": "ЕΕ", "H": "НΗ", "I": "ІΙ", "K": "КΚ",
    "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ", "T": "ТΤ", "X": "ХΧ", "Y": "Υ", "Z": "Ζ",
    "l": "Iı", "0": "О", "1": "l",
}  # fmt: skip
"""Letters of other scripts (and of this one) that look alike, by the letter they imitate."""

SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
SUBSCRIPTS = "₀₁₂₃₄₅₆₇₈₉"
FRACTIONS = {"½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8"}
OPERATORS = (
    ("<", ">"), (">", "<"), ("≤", "<"), ("≥", ">"), ("≤", "≥"), ("≠", "="), ("±", "+"),
    ("≈", "="), ("×", "+"), ("÷", "×"), ("≪", "<"), ("−", "+"), ("~", "="),
)  # fmt: skip
ACCENTS = {
    "a": "áàâäãå", "e": "éèêë", "i": "íìîï", "o": "óòôöõ", "u": "úùûü", "n": "ñ", "c": "ç",
    "A": "ÁÄ", "E": "ÉÈ", "O": "Ö", "U": "Ü",
}  # fmt: skip
OTHER_LETTERS = (
    ("ss", "ß"), ("o", "ø"), ("ae", "æ"), ("oe", "œ"), ("i", "ı"), ("d", "ð"), ("l", "ł"),
    ("s", "ſ"), ("th", "þ"), ("d", "đ"), ("K", "\N{LATIN CAPITAL LETTER K WITH HOOK}"),
)  # fmt: skip
"""Letters that some folds take for the plain ones on the left: German Maße is not Masse."""

LIGATURES = (("ffi", "ﬃ"), ("ffl", "ﬄ"), ("ff", "ﬀ"), ("fi", "ﬁ"), ("fl", "ﬂ"))
ENTITIES = (
    ("&", "&amp;"), ("£", "&pound;"), ("€", "&euro;"), ('"', "&quot;"), ("'", "&#39;"),
    ("’", "&rsquo;"), ("–", "&ndash;"), ("—", "&mdash;"), ("é", "&eacute;"), ("ü", "&uuml;"),
    ("“", "&ldquo;"), ("”", "&rdquo;"), ("§", "&sect;"), ("°", "&deg;"),
)  # fmt: skip


_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})+\b")
_AUXILIARY = re.compile(rf"\b(?:{'|'.join(AUXILIARIES)})\b")
_NEGATION = re.compile(r" not\b| never\b| no(?= )|(?<=[a-z])n['’]t\b| neither\b|(?<=can)not\b")
_SPACE = re.compile(r"(?<=[^\W\d_]) (?=[^\W\d_])")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_PREFIX = re.compile(r"\b(re|co|un|pre|non)(?=[a-z]{4,})")


def _listed(pairs: Sequence[tuple[str, str]]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        return swap_listed(rng, text, pairs)

    return make


def _entity(rng: random.Random, text: str, pools: Pools) -> Edit | None:
    found = one_of(rng, _NAME, text)
    if found is None:
        return None
    others = [n for n in rng.sample(pools.names, min(8, len(pools.names))) if n != found.group()]
    return Edit(text, put(text, found, others[0])) if others else None


def _negation_in(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = inner(rng, _AUXILIARY, text)
    if found is None:
        return None
    return Edit(text, put(text, found, f"{found.group()} {rng.choice(['not', 'never'])}"))


def _negation_out(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _NEGATION, text)
    if found is None:
        return swap_listed(rng, text, NEGATION_SWAPS)
    return Edit(text, put(text, found, ""))


def _content(text: str) -> list[re.Match[str]]:
    return [
        m for m in WORD.finditer(text) if len(m.group()) > 3 and m.group().lower() not in DANGLING
    ]


def _word_order(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = _content(text)
    if len(words) < 3:
        return None
    first, second = sorted(rng.sample(words, 2), key=lambda m: m.start())
    if first.group().lower() == second.group().lower():
        return None
    return Edit(
        text,
        text[: first.start()]
        + second.group()
        + text[first.end() : second.start()]
        + first.group()
        + text[second.end() :],
    )


def _reversed_parts(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = text.split(" ")
    if len(words) < 8:
        return None
    middle = rng.randrange(3, len(words) - 3)
    return Edit(text, " ".join(words[middle:] + words[:middle]))


def _dropped(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = text.split(" ")
    if len(words) < 6:
        return None
    place = rng.randrange(1, len(words) - 1)
    return Edit(text, " ".join(words[:place] + words[place + 1 :]))


def _added(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = text.split(" ")
    if len(words) < 4:
        return None
    place = rng.randrange(1, len(words))
    return Edit(text, " ".join([*words[:place], rng.choice(ADDED), *words[place:]]))


def _one_letter(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = [m for m in WORD.finditer(text) if len(m.group()) > 3 and m.group().isascii()]
    if not words:
        return None
    found = rng.choice(words)
    word = found.group()
    place = rng.randrange(1, len(word) - 1)
    letter = rng.choice([c for c in "abcdefghiklmnoprstuvwy" if c != word[place].lower()])
    changed = rng.choice(
        [
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place:],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        ]
    )
    return Edit(text, put(text, found, changed)) if changed != word else None


def _word_space(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    if rng.random() < 0.5:
        found = one_of(rng, _SPACE, text)
        return Edit(text, put(text, found, "")) if found is not None else None
    # Only where words are set apart by spaces: in Chinese or Japanese a space says nothing.
    words = [m for m in WORD.finditer(text) if len(m.group()) > 5 and m.group().isascii()]
    if not words:
        return None
    word = rng.choice(words)
    return Edit(text, put(text, word, f"{word.group()[:3]} {word.group()[3:]}"))


def _hyphen(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _HYPHEN, text)
    if found is not None:
        return Edit(text, put(text, found, rng.choice(["", " "])))
    found = one_of(rng, _PREFIX, text)
    if found is None:
        return None
    hyphened = put(text, found, f"{found.group()}-")
    return rng.choice([Edit(text, hyphened), Edit(hyphened, text)])


def _joined(mark: Callable[[random.Random], str]) -> EditMaker:
    def make(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
        words = text.split(" ")
        if len(words) < 8:
            return None
        first = rng.randrange(2, len(words) - 4)
        last = rng.randrange(first + 1, len(words) - 1)
        return Edit(text, " ".join([*words[:first], mark(rng), *words[last:]]).replace("  ", " "))

    return make


def _ellipsis(rng: random.Random) -> str:
    return rng.choice(["...", "…", "[...]", "[…]", "(...)", ". . .", "....", "--", "/"])


WORD_KINDS: tuple[Kind, ...] = (
    tamper("entity_swap", "a name is another name of the same corpus", _entity),
    tamper("negation_in", "a negation is put in", _negation_in),
    tamper("negation_out", "a negation is taken out", _negation_out),
    tamper("comparator", "more is less, at least is at most", _listed(COMPARATORS)),
    tamper("modality", "may is must", _listed(MODALS)),
    tamper("quantifier", "all is some", _listed(QUANTIFIERS)),
    tamper("synonym", "a word is another one of like meaning", _listed(SYNONYMS)),
    tamper("word_order", "two words have changed places", _word_order),
    tamper("reversed_parts", "the end of the sentence stands first", _reversed_parts),
    tamper("dropped_word", "a word is missing", _dropped),
    tamper("added_word", "a word is added", _added),
    tamper("one_letter", "one letter is another, missing, added or moved", _one_letter),
    tamper("word_space", "a space between words is gone, or one is in a word", _word_space),
    tamper("hyphen", "re-sign is resign, well-known is well known", _hyphen),
    tamper("ellipsis_join", "an ellipsis stands for words that are left out", _joined(_ellipsis)),
    tamper("silent_join", "words are left out without a mark", _joined(lambda _rng: "")),
)  # fmt: skip


_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_DIGIT = re.compile(r"\d")
_DECIMAL = re.compile(r"(?<![\d.,])\d+\.\d+(?![\d.,]\d)")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3},\d{3}(?![\d,])")
_LONG = re.compile(r"(?<![\d.,])\d{4,}(?![\d.,]\d)")
_TIME = re.compile(r"(?<![\d€$£.,:])([01]?\d|2[0-3]):([0-5]\d)\b")
_HALF_DAY = re.compile(r"\b([ap])(\.?m\.?)(?=\W|$)", re.IGNORECASE)
_PERCENT = re.compile(r"(?<=\d)\s?%|\bper ?cent\b|\bpercent\b")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_DAY = re.compile(rf"\b(\d{{1,2}})(?= (?:{'|'.join(MONTHS)})\b)")
_SUFFIXED = re.compile(r"\b(\d{1,3})(st|nd|rd|th)\b")
_BARE = re.compile(r"(?<= )\d+(?:[.,]\d+)*(?=[ ,;])")


def _digit(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DIGIT, text)
    if found is None:
        return None
    other = rng.choice([d for d in "0123456789" if d != found.group()])
    return Edit(text, put(text, found, other))


def _decimal_point(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _DECIMAL, text)
    if found is None:
        found = one_of(rng, _NUMBER, text)
        if found is None or len(found.group()) < 2 or not found.group().isdigit():
            return None
        number = found.group()
        return Edit(text, put(text, found, f"{number[:-1]}.{number[-1]}"))
    whole, _, part = found.group().partition(".")
    moved = f"{whole}{part[0]}.{part[1:]}" if len(part) > 1 else whole + part
    return Edit(text, put(text, found, rng.choice([whole + part, moved, f"{whole},{part}"])))


def _grouping(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _GROUPED, text)
    if found is not None:
        digits = found.group().replace(",", "")
        shifted = f"{digits[:-2]},{digits[-2:]}"
        pointed = found.group().replace(",", ".")
        return Edit(text, put(text, found, rng.choice([shifted, pointed, f"{digits}0"])))
    found = one_of(rng, _LONG, text)
    if found is None:
        return None
    digits = found.group()
    return Edit(text, put(text, found, f"{digits[:-2]},{digits[-2:]}"))


def _sign(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE, text)
    if found is None:
        return None
    minus = rng.choice(["-", "\N{MINUS SIGN}"])
    negative, plus = put(text, found, minus + found.group()), put(text, found, "+" + found.group())
    return rng.choice(
        [Edit(text, negative), Edit(negative, text), Edit(negative, plus), Edit(plus, negative)]
    )


def _accounting(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _BARE, text)
    if found is None:
        return None
    bracketed = put(text, found, f"({found.group()})")
    return rng.choice([Edit(bracketed, text), Edit(text, bracketed)])


def _unit(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, UNITS)


def _scale(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, SCALES)


def _currency(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_listed(rng, text, CURRENCIES)


def _percent(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _PERCENT, text)
    if found is None:
        return None
    if "%" in found.group():
        others = [" percentage points", "‰", "", " basis points"]
    else:
        others = ["percentage points", "basis points", "per mille"]
    return Edit(text, put(text, found, rng.choice(others)))


def _date(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    edits = [
        swap_sequence(rng, text, MONTHS),
        swap_sequence(rng, text, WEEKDAYS),
        _near_number(rng, text, _YEAR, low=1500, high=2099),
        _near_number(rng, text, _DAY, low=1, high=28),
    ]
    possible = [edit for edit in edits if edit is not None]
    return rng.choice(possible) if possible else None


def _near_number(
    rng: random.Random, text: str, pattern: re.Pattern[str], *, low: int, high: int
) -> Edit | None:
    found = one_of(rng, pattern, text)
    if found is None:
        return None
    value = int(found.group())
    other = min(high, max(low, value + rng.choice([-10, -2, -1, 1, 2, 10])))
    return Edit(text, put(text, found, str(other)))


def _time(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _TIME, text)
    if found is not None:
        hour = (int(found.group(1)) + rng.choice([1, 2, 12])) % 24
        shifted = found.group().replace(found.group(1), f"{hour:02d}", 1)
        return Edit(text, put(text, found, shifted))
    found = one_of(rng, _HALF_DAY, text)
    if found is None:
        return None
    other = {"a": "p", "p": "a", "A": "P", "P": "A"}[found.group(1)]
    return Edit(text, put(text, found, other + found.group(2)))


def _ordinal(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _SUFFIXED, text)
    if found is None:
        return swap_sequence(rng, text, ORDINALS)
    number = int(found.group(1)) + rng.choice([1, 2, 10])
    teens = 10 <= number % 100 <= 20
    suffix = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return Edit(text, put(text, found, f"{number}{suffix}"))


def _number_word(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return swap_sequence(rng, text, NUMBER_WORDS)


NUMBER_KINDS: tuple[Kind, ...] = (
    tamper("digit", "one digit is another one", _digit),
    tamper("decimal_point", "a decimal point moves, comes or goes", _decimal_point),
    tamper("grouping", "the grouping of a number shifts (1,500 to 15,00)", _grouping),
    tamper("sign", "a number gains, loses or turns its sign", _sign),
    tamper("accounting", "a bracketed, that is negative, amount loses its brackets", _accounting),
    tamper("unit", "a unit of measure is another one", _unit),
    tamper("scale", "million is billion", _scale),
    tamper("currency", "a currency is another one", _currency),
    tamper("percent", "percent is percentage points, or is gone", _percent),
    tamper("date", "another day, month, weekday or year", _date),
    tamper("time", "another hour, or am is pm", _time),
    tamper("ordinal", "first is second", _ordinal),
    tamper("number_word", "five is six", _number_word),
)
