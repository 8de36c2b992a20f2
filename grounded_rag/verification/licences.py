"""What may differ between a claim and a statement: licensed edits, and names for pronouns.

The licences are data by language (`data/licences.toml`). `tokens` brings what is licensed as equal
into one form; `names_for` gives what "we" and a leading "it" stand for, where title, headings,
metadata or the sentence before leave no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from grounded_rag.resources import read_table
from grounded_rag.text.values import canonical_values, may_be_value
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import Found
from grounded_rag.verification.wording import clean_wording, without_marks

TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
# Letters of a word that says something in any language whose words are set apart.
LONG_WORD = re.compile(r"[a-zà-öø-ÿß-ɏα-ωа-я]{5,}")
_STOPS = frozenset(".!。！…．।॥؛;,")
_QUOTES = frozenset("\"'")
_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_CAPITALS = re.compile(r"(?:[A-ZÀ-Ý][\w'’&.-]*)(?:[ \t]+(?:of|and|&|de|la|[A-ZÀ-Ý][\w'’&.-]*))*")
# A longer heading, or head of a sentence, is no name.
_MOST_WORDS = 6
_NO_NAME = frozenset("how what why when where who the a an your our about with at from in".split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Licences:
    """The licences of one language.

    Attributes:
        articles: Words that may come or go.
        counts: Words before which they may not.
        linkers: Leading words that only link, as words, by the first of them.
        free: Linking words that need no mark behind them.
        same: First words of phrases of one meaning, each with the phrases that begin so.
        contractions: Words for each contraction.
        organisation: What the speaker's own words may become.
        pronouns: What a leading pronoun may become.
        agreement: Forms of a verb behind a name.
        defines: Verbs for the dash behind a defined term.
    """

    articles: frozenset[str]
    counts: frozenset[str]
    linkers: Mapping[str, tuple[tuple[str, ...], ...]]
    free: frozenset[tuple[str, ...]]
    same: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]]
    contractions: Mapping[str, tuple[str, ...]]
    organisation: Mapping[str, tuple[str, ...]]
    pronouns: Mapping[str, tuple[str, ...]]
    agreement: Mapping[str, str]
    defines: frozenset[str]


@lru_cache(maxsize=32)
def licences_of(language: str | None) -> Licences:
    """Return the licences of a language, with those that hold in any."""
    listed: dict[str, Any] = {
        **read_table("licences")["any"],
        **read_table("licences").get(language or "", {}),
    }

    def phrases(text: str) -> list[tuple[str, ...]]:
        return [tuple(TOKEN.findall(part)) for part in text.split("|") if part.strip()]

    def pairs(text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        for part in re.findall(r"[^=]+=[^=]+?(?=\s+\S+=|\s*$)", text):
            left, _, right = part.partition("=")
            found[left.strip()] = " ".join(right.split())
        return found

    def patterns(name: str) -> dict[str, tuple[str, ...]]:
        return {
            key: tuple(part.strip() for part in value.split("|"))
            for key, value in listed.get(name, {}).items()
        }

    same: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
    for group in listed.get("same", ()):
        first, *others = phrases(group)
        for other in others:
            same.setdefault(other[0], []).append((other, first))
    for choices in same.values():
        choices.sort(key=lambda choice: -len(choice[0]))
    linkers: dict[str, tuple[tuple[str, ...], ...]] = {}
    for linker in sorted(phrases(listed["linkers"]), key=len, reverse=True):
        linkers[linker[0]] = (*linkers.get(linker[0], ()), linker)
    return Licences(
        articles=frozenset(listed.get("articles", "").split()),
        counts=frozenset(listed.get("article_counts", "").split()),
        linkers=linkers,
        free=frozenset(phrases(listed["free_linkers"])),
        same={key: tuple(value) for key, value in same.items()},
        contractions={
            key: tuple(value.split())
            for key, value in pairs(listed.get("contractions", "")).items()
        },
        organisation=patterns("organisation"),
        pronouns=patterns("pronouns"),
        agreement=pairs(listed.get("agreement", "")),
        defines=frozenset(listed.get("defines", "").split()),
    )


def tokens(
    text: str,
    rules: Licences,
    *,
    claim: bool = False,
    values: bool = False,
    language: str | None = None,
) -> list[str]:
    """Return the words, numbers and signs of a text, in one form for what is licensed as equal.

    The wrapping quotation marks of a `claim` say nothing. With `values`, numbers, dates and times
    stand as their values, read in the language of the text.
    """
    plain = without_marks(clean_wording(text))
    found = _with_values(plain, language) if values else TOKEN.findall(plain)
    while found and found[-1] in _STOPS:
        found.pop()
    if claim and len(found) > 2 and found[0] == found[-1] and found[0] in _QUOTES:
        found = found[1:-1]
        while found and found[-1] in _STOPS:
            found.pop()
    if found and found[0][:1].isupper() and (len(found[0]) == 1 or found[0][1:].islower()):
        found[0] = found[0].lower()
    if rules.contractions:
        found = _expanded(found, rules)
    if rules.same:
        found = _canonical(found, rules)
    return found


def _with_values(text: str, language: str | None) -> list[str]:
    found: list[str] = []
    done = 0
    for value in canonical_values(text, language=language):
        found += TOKEN.findall(text[done : value.start])
        found.append(f"\0{value.key!r}")
        done = value.end
    return found + TOKEN.findall(text[done:])


def _expanded(words: list[str], rules: Licences) -> list[str]:
    if not any("'" in word or "’" in word for word in words):
        return words
    found: list[str] = []
    for word in words:
        plain = word.replace("’", "'")
        full = rules.contractions.get(plain.lower()) if "'" in plain else None
        found += full if full is not None else [plain]
    return found


def _canonical(words: list[str], rules: Licences) -> list[str]:
    if rules.same.keys().isdisjoint(words):
        return words
    found: list[str] = []
    at = 0
    while at < len(words):
        for phrase, first in rules.same.get(words[at], ()):
            if tuple(words[at : at + len(phrase)]) == phrase:
                found += first
                at += len(phrase)
                break
        else:
            found.append(words[at])
            at += 1
    return found


@lru_cache(maxsize=65536)
def may_vanish(word: str) -> bool:
    """Whether a licence may leave a word out or put another form in its place."""
    return word in _licensed_words() or may_be_value(word)


@cache
def _licensed_words() -> frozenset[str]:
    """Return every word of the licences."""

    def words(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield from LONG_WORD.findall(value.lower())
        elif isinstance(value, dict):
            for part in value.values():
                yield from words(part)
        elif isinstance(value, list):
            for part in value:
                yield from words(part)

    return frozenset(words(read_table("licences")))


class Names(NamedTuple):
    """Names of one statement's surroundings.

    Attributes:
        organisation: The organisation that speaks; at most one.
        subjects: What a leading pronoun stands for; empty where there is any doubt.
    """

    organisation: tuple[str, ...]
    subjects: tuple[str, ...]


def names_for(found: Found, passage: Passage) -> Names:
    """Return the names that the surroundings of a statement give."""
    return Names(_organisation(passage), _subjects(found))


def _organisation(passage: Passage) -> tuple[str, ...]:
    """Return the organisation that metadata, title and headings name, if it is one alone."""
    listed = read_table("licences")["organisations"]
    given = [
        value
        for key in listed["metadata"].split()
        if isinstance(value := passage.retrieved.metadata.get(key), str) and value.strip()
    ]
    if given:
        return tuple(dict.fromkeys(given)) if len(set(given)) == 1 else ()
    ends = frozenset(listed["ends"].split())
    texts = (passage.retrieved.title, *passage.chunk.headings)
    others = frozenset(listed["others"].split())
    if any(word.lower() in others for text in texts for word in _WORD.findall(text)):
        return ()
    named = {
        run
        for text in texts
        for match in _CAPITALS.finditer(text)
        for run in (_until_end(match[0], ends),)
        if run
    }
    return tuple(named) if len(named) == 1 else ()


def _until_end(run: str, ends: frozenset[str]) -> str:
    """Return a run of capitalised words up to the word that names a kind of organisation."""
    words = run.split()
    if "of" in words and words[max(0, words.index("of") - 1)].lower() not in ends:
        # "Terms of Orbis Bank" names what the terms are of.
        words = words[words.index("of") + 1 :]
    last = max((at for at, word in enumerate(words) if word.strip(".,").lower() in ends), default=0)
    first = 0
    while first < last and words[first].lower() in _NO_NAME:
        first += 1
    return " ".join(words[first : last + 1]) if last > first else ""


def _subjects(found: Found) -> tuple[str, ...]:
    """Return what a leading pronoun stands for: the head of the sentence before, or the heading."""
    if found.antecedent:
        return _head(found.antecedent, found.core, found.statement.headings)
    heading = found.statement.headings[-1:] if found.statement.headings else ()
    return tuple(name for name in heading if _is_name(name))


def _head(before: str, core: str, headings: tuple[str, ...]) -> tuple[str, ...]:
    """Return the name at the head of a sentence, where nothing else in it could be meant."""
    words = list(_WORD.finditer(before))
    verbs = frozenset(read_table("licences")["heads"]["en"].split())
    determiners = frozenset(read_table("licences")["heads"]["determiners"].split())
    begin = 1 if words and words[0][0].lower() in ("the", "a", "an", "our", "your") else 0
    end = next(
        (at for at, word in enumerate(words) if at > begin and word[0].lower() in verbs), None
    )
    capitals = next(
        (at for at, word in enumerate(words) if at >= begin and word[0][:1].islower()), len(words)
    )
    if capitals - begin > 1:
        # A name in capitals ends where the small letters begin.
        end = capitals if end is None else min(end, capitals)
    if end is None or end - begin > _MOST_WORDS or before.count(". ") > 0:
        return ()
    head = [word[0] for word in words[begin:end]]
    rest = [word[0] for word in words[end + 1 :]]
    pronoun = core.split(maxsplit=1)[0].lower()
    if end < len(words) and words[end][0].lower() in ("and", "or", "of", "&"):
        return ()
    person = capitals - begin > 1 and pronoun in ("he", "she", "his", "her")
    if not person and any(
        word.lower() in determiners or word.lower() in ("and", "or", "of") for word in rest
    ):
        return ()
    if any(word[:1].isupper() for word in rest) or any(
        word.lower() in ("and", "or", "of", "in", "for", "with", "from") for word in head
    ):
        return ()
    name = before[words[begin].start() : words[end - 1].end()]
    named = [name]
    # The heading may give the same thing its full name.
    named += [
        heading
        for heading in headings[-2:]
        if _is_name(heading) and set(name.lower().split()) <= set(heading.lower().split())
    ]
    return tuple(dict.fromkeys(clean_wording(each) for each in named))


def _is_name(heading: str) -> bool:
    words = heading.split()
    return 0 < len(words) <= _MOST_WORDS and not re.search(r"[?:;,.!|]", heading)
