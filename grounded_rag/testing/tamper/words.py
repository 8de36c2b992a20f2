"""Classes that change, move, add or drop words within a sentence."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from grounded_rag.testing.tamper import wordlists
from grounded_rag.testing.tamper.pick import WORD, inner, one_of, put, swap_listed
from grounded_rag.testing.tamper.values import Edit, EditMaker, Kind, Pools, tamper

_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})+\b")
_AUXILIARY = re.compile(rf"\b(?:{'|'.join(wordlists.AUXILIARIES)})\b")
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
        return swap_listed(rng, text, wordlists.NEGATION_SWAPS)
    return Edit(text, put(text, found, ""))


def _content(text: str) -> list[re.Match[str]]:
    return [
        m
        for m in WORD.finditer(text)
        if len(m.group()) > 3 and m.group().lower() not in wordlists.DANGLING
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
    return Edit(text, " ".join([*words[:place], rng.choice(wordlists.ADDED), *words[place:]]))


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


KINDS: tuple[Kind, ...] = (
    tamper("entity_swap", "a name is another name of the same corpus", _entity),
    tamper("negation_in", "a negation is put in", _negation_in),
    tamper("negation_out", "a negation is taken out", _negation_out),
    tamper("comparator", "more is less, at least is at most", _listed(wordlists.COMPARATORS)),
    tamper("modality", "may is must", _listed(wordlists.MODALS)),
    tamper("quantifier", "all is some", _listed(wordlists.QUANTIFIERS)),
    tamper("synonym", "a word is another one of like meaning", _listed(wordlists.SYNONYMS)),
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
