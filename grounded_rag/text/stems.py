"""Light stemming: inflections are removed, derivations are left to `related`.

A full Porter stemmer merges "organ" and "organization"; where a match licenses a claim that is
too much, so only plural, tense, adverb and comparison endings go.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

_IRREGULAR_ROWS = """
be am is are was were been being|have has had having|do does did done doing|go goes went gone
say said|get got gotten|make made making|know knew known|take took taken taking|see saw seen
come came coming|give gave given giving|find found|think thought|tell told|become became
leave left leaving|feel felt|bring brought|begin began begun beginning|keep kept|hold held
write wrote written writing|stand stood|hear heard|let letting|mean meant|set setting|meet met
run ran running|pay paid|sit sat sitting|speak spoke spoken|lead led|grow grew grown|lose lost
fall fell fallen|send sent|build built|understand understood|draw drew drawn|break broke broken
spend spent|cut cutting|rise rose risen rising|drive drove driven driving|buy bought|wear wore worn
choose chose chosen choosing|sell sold|catch caught|teach taught|win won winning|fight fought
throw threw thrown|sleep slept|forget forgot forgotten|seek sought|deal dealt|sing sang sung
fly flew flown|eat ate eaten|shoot shot|show showed shown|bear bore borne|swim swam swum
strike struck|steal stole stolen|wake woke woken|freeze froze frozen|hide hid hidden hiding
ride rode ridden riding|ring rang rung|shake shook shaken|sink sank sunk|spin spun|stick stuck
swear swore sworn|sweep swept|swing swung|tear tore torn|withdraw withdrew withdrawn|bind bound
breed bred|feed fed|flee fled|lend lent|light lit|shut shutting|put putting|quit quitting
forbid forbade forbidden|overtake overtook overtaken|undertake undertook undertaken
child children|man men|woman women|person people|foot feet|tooth teeth|mouse mice|goose geese
life lives|wife wives|knife knives|half halves|leaf leaves|shelf shelves|wolf wolves|thief thieves
good better best|bad worse worst|many more most|little less least|far farther further furthest
datum data|criterion criteria|medium media|analysis analyses|crisis crises|basis bases
thesis theses|phenomenon phenomena|index indices|vertex vertices|matrix matrices
"""
_IRREGULAR = {
    form: row.split()[0]
    for line in _IRREGULAR_ROWS.strip().splitlines()
    for row in line.split("|")
    for form in row.split()
}
# "leaves", "bound" and the like are two words at once; the commoner reading is kept.
_IRREGULAR["leaves"] = "leave"
_KEEP_S = frozenset(
    "bus gas plus lens news series species status virus campus bonus census chaos canvas "
    "atlas alias always perhaps whereas towards besides across thus is this us yes".split()
)
_KEEP_ING = frozenset(
    "thing king ring wing spring string bring sing swing nothing something anything everything "
    "during evening morning ceiling sibling sterling pudding".split()
)
_KEEP_ED = frozenset("need seed feed speed bed red shed indeed exceed proceed succeed".split())
_VOWELS = frozenset("aeiouy")

_DERIVATIONS = (
    "izations isations ization isation ational ationally fulness ousness iveness ications ication "
    "ations ation ition itions ments ment ness ances ance ences ence ables able ibles ible ities "
    "ity ives ive ions ion ally al ers er ors or ists ist isms ism ful less ous ically ical ics ic "
    "ants ant ents ent ary ery ory ance age ship hood dom ize ise izes ises ized ised izing ising "
    "ify ifies ified ian ians ese ish ing ings ed es s e y d r ly ur ure ures t"
).split()
_SUFFIXES = frozenset([*_DERIVATIONS, ""])


def fold_marks(word: str) -> str:
    """Return a lower-case word without Latin diacritics ("café" → "cafe", "ß" → "ss")."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.replace("ß", "ss").replace("ı", "i"))
    kept: list[str] = []
    latin = False
    for character in decomposed:
        if "\u0300" <= character <= "\u036f":
            if not latin:
                kept.append(character)
            continue
        latin = character < "\u0250" or "\u1e00" <= character <= "\u1eff"
        kept.append(character)
    return unicodedata.normalize("NFC", "".join(kept))


@lru_cache(maxsize=65536)
def stem(word: str, language: str | None = None) -> str:
    """Return the stem of one lower-case word.

    Args:
        word: A word in lower case.
        language: "de" for German endings; anything else, or None, for English ones, which leave
            most words of other languages alone.
    """
    folded = fold_marks(word)
    folded = folded.removesuffix("'s")
    folded = folded.replace("'", "") if not folded.endswith("n't") else folded
    if language == "de":
        return _german(folded)
    if folded in _IRREGULAR:
        return _IRREGULAR[folded]
    if not folded.isalpha() or len(folded) < 4:
        return folded
    return _final(_tense(_plural(folded)))


def related(left: str, right: str) -> bool:
    """Whether two stems look like derivations of one another ("inspect", "inspection")."""
    if left == right:
        return True
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) < 4:
        return False
    common = 0
    for a, b in zip(shorter, longer, strict=False):
        if a != b:
            break
        common += 1
    if common < 4 or common < len(longer) * 0.5:
        return False
    first, second = shorter[common:], longer[common:]
    if "less" in (first, second):
        return False
    return first in _SUFFIXES and second in _SUFFIXES


def _plural(word: str) -> str:
    if word in _KEEP_S or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word[:-1]


def _tense(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    for suffix, keep in (("ing", _KEEP_ING), ("ed", _KEEP_ED)):
        if word.endswith(suffix) and word not in keep:
            base = word[: -len(suffix)]
            if len(base) >= 3 and not _VOWELS.isdisjoint(base):
                return _undouble(base)
    return word


def _undouble(base: str) -> str:
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base


def _final(word: str) -> str:
    if word.endswith("ly") and len(word) > 5:
        word = word[:-2]
    if word.endswith("ll") and len(word) > 4:
        word = word[:-1]
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if word.endswith("y") and len(word) > 3 and word[-2] not in _VOWELS:
        word = word[:-1] + "i"
    return word


def _german(word: str) -> str:
    word = word.removesuffix("s") if len(word) > 5 and word[-2:-1] in "bdfghklmnrt" else word
    for ending in ("ern", "em", "er", "en", "es", "e", "n"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word
