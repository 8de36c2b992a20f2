"""The names that title, headings, metadata or the sentence before give beyond doubt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from grounded_rag.verification.passages import Passage
from grounded_rag.verification.statements import Found
from grounded_rag.verification.wording import clean_wording

_WORD = re.compile(r"\w+(?:['’\-]\w+)*")
_CAPITALS = re.compile(r"(?:[A-ZÀ-Ý][\w'’&.-]*)(?:[ \t]+(?:of|and|&|de|la|[A-ZÀ-Ý][\w'’&.-]*))*")
_MOST_WORDS = 6


class Names(NamedTuple):
    """Names of one statement's surroundings.

    Attributes:
        organisation: The organisation that speaks; at most one.
        subjects: What a leading pronoun stands for; empty where there is any doubt.
    """

    organisation: tuple[str, ...]
    subjects: tuple[str, ...]


def names_for(found: Found, passage: Passage, licences: Mapping[str, Any]) -> Names:
    """Return the names that the surroundings of a statement give.

    Args:
        found: The statement.
        passage: Its passage.
        licences: `data/licences.toml`.
    """
    return Names(_organisation(passage, licences), _subjects(found, licences))


def _organisation(passage: Passage, licences: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the organisation that metadata, title and headings name, if it is one alone."""
    listed = licences["organisations"]
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


_NO_NAME = frozenset("how what why when where who the a an your our about with at from in".split())


def _subjects(found: Found, licences: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a leading pronoun stands for: the head of the sentence before, or the heading."""
    if found.antecedent:
        return _head(found.antecedent, found.core, found.statement.headings, licences)
    heading = found.statement.headings[-1:] if found.statement.headings else ()
    return tuple(name for name in heading if _is_name(name))


def _head(
    before: str, core: str, headings: tuple[str, ...], licences: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the name at the head of a sentence, where nothing else in it could be meant."""
    words = list(_WORD.finditer(before))
    verbs = frozenset(licences["heads"]["en"].split())
    determiners = frozenset(licences["heads"]["determiners"].split())
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
