"""A guess at the language and script of a text: enough to know when words cannot be compared."""

from __future__ import annotations

import re
from functools import lru_cache

_LETTERS = 600
_WORD = re.compile(r"[^\W\d_]+")
_MARKERS = {
    "en": "the of and to is are was were in on at for with by this that it its not be as from an "
    "has have will may must can or each every per which who their his her all no only any than "
    "a an he she we you i do does so if there me but when up out",
    "de": "der die das und ist sind nicht ein eine einen einem einer mit für auf den dem des im zu "
    "von wird werden beträgt bis zum zur wie oder nur nach bei auch kein keine es sich am",
    "fr": "le la les des du et est sont une un dans pour pas sur au aux avec qui que ce cette par "
    "ne il elle plus ou à où être",
    "es": "el la los las de del y es son una un en para por con no se que su al lo como más o",
    "it": "il lo la gli le di del della e è sono una un in per non che con si da al nel alla",
    "pt": "o a os as de do da dos das e é são um uma em para por com não que se no na ao",
    "nl": "de het een van en is zijn niet op voor met dat te in aan bij wordt worden om ook",
}
_TABLE: dict[str, tuple[str, ...]] = {}
for _language, _words in _MARKERS.items():
    for _word in _words.split():
        _TABLE[_word] = (*_TABLE.get(_word, ()), _language)
_SCRIPTS = (
    ("latin", 0x0041, 0x024F), ("latin", 0x1E00, 0x1EFF), ("greek", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F), ("armenian", 0x0530, 0x058F), ("hebrew", 0x0590, 0x05FF),
    ("arabic", 0x0600, 0x077F), ("indic", 0x0900, 0x0DFF), ("thai", 0x0E00, 0x0EFF),
    ("hangul", 0x1100, 0x11FF), ("kana", 0x3040, 0x30FF), ("han", 0x3400, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF), ("kana", 0xFF66, 0xFF9F),
)  # fmt: skip


@lru_cache(maxsize=2048)
def guess_language(text: str) -> str | None:
    """Return "en", "de", "fr", "es", "it", "pt" or "nl" for a Latin text, or None if unsure.

    Args:
        text: A sentence or more; the first 4,000 characters count.
    """
    counts = dict.fromkeys(_MARKERS, 0.0)
    for word in _WORD.findall(text[:4000].lower()):
        owners = _TABLE.get(word, ())
        for owner in owners:
            counts[owner] += 1 / len(owners)
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    (best, score), (_, second) = ranked[:2]
    return best if score >= 1 and score > second * 1.3 else None


@lru_cache(maxsize=2048)
def main_script(text: str) -> str | None:
    """Return the script of most letters of the beginning of `text` ("latin", "han"…), or None."""
    if text[:_LETTERS].isascii():
        return "latin" if any(map(str.isalpha, text[:_LETTERS])) else None
    counts: dict[str, int] = {}
    for character in text[:_LETTERS]:
        if not character.isalpha():
            continue
        code = ord(character)
        name = next((name for name, low, high in _SCRIPTS if low <= code <= high), "other")
        counts[name] = counts.get(name, 0) + 1
    return max(counts, key=lambda name: counts[name]) if counts else None


def comparable(left: str, right: str) -> bool:
    """Whether the words of two texts can be compared: same script, no two known languages."""
    scripts = main_script(left), main_script(right)
    if None not in scripts and scripts[0] != scripts[1] and set(scripts) - {"kana", "han"}:
        return False
    languages = guess_language(left), guess_language(right)
    return None in languages or languages[0] == languages[1]
