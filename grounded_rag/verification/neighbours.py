"""How sentences hang together: what takes back, points back, leads in, denies or withdraws.

The lists are data (`data/statements.toml`) and those of all languages are joined. Reading too much
into them makes a statement longer, or a claim open; it never lets one pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from grounded_rag.resources import read_table
from grounded_rag.text.quantities import lookup

# Vowel signs and accents that combine are no word characters to `re`, and are part of words.
_SIGNS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0971-\u0dff\u0e31-\u0e4e"
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SIGNED_WORD = re.compile(rf"(?:[^\W_]|[{_SIGNS}])+(?:['-](?:[^\W_]|[{_SIGNS}])+)*")
_ARTICLES = frozenset({"das", "die"})
# Two words, or a few characters, say nothing alone: "Not today." belongs to what stands before it.
_TWO = 2
_FEW_CHARACTERS = 5
_FEW = 4
# A longer sentence with a negation has a subject of its own, and denies something else; one of
# three words denies whatever stands before it.
_BRIEF = 9
_CURT = 3
# Letters of a word that two sentences can be said to share.
_TELLING = 4
# Words of the longest opening, and characters in which an opening or a label stands.
_LONGEST = 5
_REACH = 60
# A paragraph of its own that speaks of validity far down may be about something else.
_SHORT_PARAGRAPH = 100
_CLAUSE = 6
_BOX_REACH = 16
_NOTE = re.compile(r"[*†‡(（\[]|[¹²³⁴-⁹]")


def restricts(
    sentence: str, before: str = "", *, apart: bool = False, language: str | None = None
) -> bool:
    """Whether a sentence takes back, narrows or corrects the one before it.

    Presentation is folded away in both. Of a paragraph, list item or label of its own (`apart`)
    only the opening words count. Where the language is known, the openings of the others do not.
    """
    body = sentence.lstrip(" \"'“”„«»*_-–—")
    label, colon, rest = body[:_REACH].partition(":") if apart else (body, "", "")
    if colon and 0 < len(label.split()) <= _FEW and rest.strip():
        # "Agent: No, it is seven." answers "Caller: The fee is five."
        body = body[len(label) + 1 :].lstrip()
    elif not apart and _NOTE.match(sentence):
        return True
    head = _words(body[:_REACH])
    if not head:
        return False
    words = _words(body)
    takes_back = not apart and (_retracts(words) or _denies_briefly(words))
    if _opens(head, body, "changes", "words"):
        return takes_back or _changes(words, body, before)
    if _opens(head, body, "restricts", _known("restricts", language)):
        return True
    if takes_back or (not apart and _is_short(body, head)):
        return True
    if apart and len(body) <= _SHORT_PARAGRAPH and _retracts(words):
        return True
    if _opens(head, body, "points_back", _known("points_back", language)) and (
        head[0] not in _ARTICLES or not _names_a_noun(body)
    ):
        return not listed_words("limits", "words").isdisjoint(words) or any(
            mark in body for mark in _denials(body)
        )
    if _opens(head, body, "pronouns", _known("pronouns", language)):
        return not listed_words("validity", "words").isdisjoint(words)
    return False


def _denials(body: str) -> Iterable[str]:
    """Return marks that deny inside a word, or in a script that sets no spaces."""
    return listed_words("headings", "unspaced") if body[:1] > "\u2e80" else ("n't", "n’t")


def _known(section: str, language: str | None) -> str:
    """Return the name of the list of a language in a section; "" where it has none of its own."""
    return (
        language if language is not None and language in read_table("statements")[section] else ""
    )


def _names_a_noun(body: str) -> bool:
    """Whether a German article stands before its noun: "Das Archiv" and "Das gilt"."""
    second = body.split(maxsplit=2)[1:2]
    return bool(second) and second[0][:1].isupper()


def _is_short(body: str, head: list[str]) -> bool:
    if body[:1] > "\u2e80":
        return len(body) <= _FEW_CHARACTERS
    return len(head) <= _TWO


def _retracts(words: list[str]) -> bool:
    """Whether a sentence, as words, speaks of the validity of another one, wherever in it."""
    if not listed_words("retracts", "words").isdisjoint(words):
        return True
    stems = _stems("retracts")
    if any(word.startswith(stems) for word in words):
        return True
    line = f" {' '.join(words)} "
    return any(f" {phrase} " in line for phrase in _phrases("retracts"))


def _denies_briefly(words: list[str]) -> bool:
    """Whether a sentence, as words, is little more than a negation of what stands before it.

    "Since May this is not so."; a negation about something else has a subject of its own.
    """
    if len(words) > _BRIEF or listed_words("headings", "negations").isdisjoint(words):
        return False
    return len(words) <= _CURT or not listed_words("retracts", "points").isdisjoint(words)


def _changes(words: list[str], body: str, before: str) -> bool:
    """Whether a sentence that begins with a time says that the one before it has changed."""
    if not listed_words("changes", "ranges").isdisjoint(words[1:_LONGEST]):
        return False
    if body[:1] > "\u2e80" or not listed_words("limits", "words").isdisjoint(words[1:]):
        return True
    if not _openings("points_back", "").keys().isdisjoint(words[1:]):
        return True
    return any(len(word) >= _TELLING and word in words for word in _words(before))


def depends(sentence: str, language: str | None = None) -> bool:
    """Whether a sentence cannot be read alone: it opens with a pronoun, "Hence" or "Yes".

    Where the language is known, the openings of the others do not count.
    """
    head = _words(sentence[:_REACH])
    if not head or not _opens(head, sentence, "dependent", _known("dependent", language)):
        return False
    if _opens(head, sentence, "existence", "words"):
        return False
    soon = _words(sentence)[1:_CLAUSE]
    return not any(
        _opens(head, sentence, "impersonal", each)
        and not listed_words("clauses", each).isdisjoint(soon)
        for each in read_table("statements")["impersonal"]
    )


def announces(sentence: str) -> bool:
    """Whether a sentence says that something follows, briefly or at its end.

    "One of the following items.", "Imagine the worst.", "Here is what people say."
    """
    words = _words(sentence[-_REACH:])
    if len(words) <= _BRIEF and words and _opens(words, sentence, "presents"):
        return True
    words = words if len(words) <= _BRIEF and len(sentence) <= _REACH else words[-_TELLING:]
    listed = listed_words("announces", "words")
    return any(
        word in listed and not (words[at + 1 :] and lookup(words[at + 1]) is not None)
        for at, word in enumerate(words)
    )


@lru_cache(maxsize=4096)
def is_neutral(lead: str) -> bool:
    """Whether a line that leads into a list says nothing about it ("The main points:")."""
    return listed_words("neutral_leads", "words").issuperset(_words(lead))


@lru_cache(maxsize=4096)
def heading_denies(heading: str) -> bool:
    """Whether a sentence under this heading is not asserted as it stands.

    "Myths" and "What we do not cover" deny; "If you do not pay" and "Payments you did not
    authorise" name a case and a topic.
    """
    if "|" in heading:
        # The header of a table, carried along as a heading.
        return False
    if any(mark in heading for mark in listed_words("headings", "unspaced")):
        return True
    words = _words(heading)
    if not words or heading.rstrip().endswith("?"):
        return False
    if len(words) == 1 and words[0] in listed_words("headings", "alone"):
        return True
    stems, whole = _stems("headings"), listed_words("headings", "whole")
    if any(word in whole or word.startswith(stems) for word in words):
        return True
    line = f" {' '.join(words)} "
    if any(f" {phrase} " in line for phrase in _phrases("headings")):
        return True
    if words[0] == "no" and len(words) < _FEW:
        return True
    topic = words[0] in listed_words("headings", "topics")
    negations = listed_words("headings", "negations")
    return not topic and any(
        (word in negations or word.endswith("n't"))
        and not (at and words[at - 1] in listed_words("headings", "topics"))
        and word not in ("didn't", "haven't", "hasn't", "hadn't", "wasn't", "weren't")
        for at, word in enumerate(words)
    )


def unasserted(text: str, start: int, end: int, begin: int) -> bool:
    """Whether a sentence is struck out, commented out, or an item that is not ticked.

    The line or item begins at `start`, its marker included; the sentence reaches from `begin` to
    `end`.
    """
    head = text[start : min(end, start + _BOX_REACH)].lstrip(" \t-*+•0123456789.)")
    if head.startswith(tuple(read_table("statements")["unasserted"]["boxes"])):
        return True
    return any(opened < end and begin < closed for opened, closed in _withdrawn(text))


@lru_cache(maxsize=64)
def _withdrawn(text: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a text that are struck out or commented out."""
    found: list[tuple[int, int]] = []
    for left, right in read_table("statements")["unasserted"]["pairs"]:
        opened = text.find(left)
        while opened >= 0:
            closed = text.find(right, opened + len(left))
            if closed < 0:
                # An open comment hides the rest; an open strike is two tildes.
                found += [(opened, len(text))] if left != right else []
                break
            found.append((opened, closed + len(right)))
            opened = text.find(left, closed + len(right))
    return tuple(found)


@cache
def boxes() -> tuple[str, ...]:
    """Return the boxes that a list item may begin with, ticked or not."""
    marks = read_table("statements")["unasserted"]
    return (*marks["ticked"], *marks["boxes"])


@cache
def listed_words(section: str, name: str) -> frozenset[str]:
    """Return a list of words of `data/statements.toml`."""
    return frozenset(read_table("statements")[section][name].split())


def _words(text: str) -> list[str]:
    pattern = _WORD if text.isascii() else _SIGNED_WORD
    return pattern.findall(text.lower().replace("’", "'"))


def _opens(head: list[str], text: str, section: str, name: str = "") -> bool:
    """Whether a text begins with one of the openings of a section, in one list of it or in any.

    Its first words are in `head`; the text itself is for scripts that set no spaces.
    """
    openings = _openings(section, name)
    behind = openings.get(head[0])
    if behind is not None and any(head[1 : 1 + len(rest)] == rest for rest in behind):
        return True
    if text[:1] <= "\u2e80":
        return False
    return any(text[:size] in openings for size in range(1, _LONGEST + 1))


@cache
def _openings(section: str, name: str) -> dict[str, list[list[str]]]:
    """Return what may stand behind each first word of the openings of a section."""
    listed = read_table("statements")[section]
    found: dict[str, list[list[str]]] = {}
    for text in (listed[name],) if name else listed.values():
        for part in text.split("|") if "|" in text else text.split():
            first, *rest = part.split()
            found.setdefault(first, []).append(rest)
    return found


@cache
def _phrases(section: str) -> tuple[str, ...]:
    return tuple(
        " ".join(part.split()) for part in read_table("statements")[section]["phrases"].split("|")
    )


@cache
def _stems(section: str) -> tuple[str, ...]:
    return tuple(read_table("statements")[section]["stems"].split())
