"""Splitting an English sentence at coordinations, each part with the subject it shares.

Words alone decide, so the splitter is timid: where a part might lose a condition, a negation or
its subject, the sentence stays whole. A split that changes the meaning is worse than none.
"""

from __future__ import annotations

import re

from grounded_rag.types import Frozen, Span

_WORD = re.compile(r"[^\W_](?:[\w'’.&/-]*\w)?|\d[\d.,]*")
_JOINT = re.compile(r"(?P<semi>;)\s+|(?:,\s+|\s+)(?P<word>and|but)\s+", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|unless|once|when|whenever|where|provided|providing|except|only|until|while|although|"
    r"though|because|since|before|after|as long as|in case|subject to)\b",
    re.IGNORECASE,
)
_SCOPE = re.compile(
    r"\b(?:not|never|no|nor|neither|cannot|without|hardly|either|both|between|whether|"
    r"may|might|could|would|should|up to|at least|at most|each|every|all|any|none)\b|n[’']t\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:that|says?|said|claim(?:s|ed)|wrote|writes|believes?d?|argues?d?|according to|"
    r"reported(?:ly)?|alleged(?:ly)?)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(?:that|which|who|whom|whose|how|why|what)\b", re.IGNORECASE)
_BREAK = re.compile(r"[,:–—]| - ")
_BRACKETS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_AUXILIARIES = frozenset(
    "is are was were has have had does do did can must will shall became become remains remained"
    " consists contains includes".split()
)
_PAST = frozenset(
    """
    began bought brought built came chose cost died drew fell felt found gave got grew held kept
    knew led left lost made met paid ran rose said sang sat saw sent sold spent spoke spread stood
    taught told thought took went won wore wrote
    """.split()
)
_OPENERS = frozenset(
    """
    a an the his her its their our my your this that these those as at by for from in into of off
    on onto over out to toward towards under until up upon with within one two three four five six
    seven eight nine ten several many most some more over about around nearly he she it they
    """.split()
)
_ACTIVE = frozenset(
    """
    appeared attended continued died emerged ended graduated joined lived married moved played
    received remained retired returned served started studied worked
    """.split()
)
_NO_VERB = frozenset("hundred red united based limited called named used associated".split())


class Clause(Frozen):
    """One part of a sentence that says something by itself.

    Attributes:
        text: What it says, with a subject or a condition that it shares put before it.
        span: Where its own words stand, in code points of the sentence.
    """

    text: str
    span: Span


def split_clauses(sentence: str) -> tuple[Clause, ...]:
    """Return the clauses of one sentence, or the sentence itself where it is not to be split.

    Every word of the sentence, but for the conjunctions, is in a clause. A condition at the front
    ("If …,") stands before every clause; behind it, and wherever a negation, a hedge or a
    quantifier could reach over a conjunction, nothing is split.
    """
    whole = (Clause(text=sentence, span=Span(start=0, end=len(sentence))),)
    front = _front_condition(sentence)
    body_start = len(front)
    parts: list[tuple[int, int, bool]] = []
    start = body_start
    for joint in _JOINT.finditer(sentence, body_start):
        left, right = sentence[start : joint.start()], sentence[joint.end() :]
        if _CONDITION.search(sentence, joint.end()) or _SCOPE.search(left) or _open(left):
            continue
        if _in_a_name(left, right):
            continue
        if _finite(left) is not None and not _REPORTED.search(left) and _own_subject(right):
            parts.append((start, joint.start(), False))
        elif joint["word"] and _hands_on(left) and _continues(right):
            parts.append((start, joint.start(), True))
        else:
            continue
        start = joint.end()
    if not parts or _CONDITION.search(sentence, body_start, parts[0][1]):
        return whole
    return _clauses(sentence, front, parts, start)


def _clauses(
    sentence: str, front: str, parts: list[tuple[int, int, bool]], last: int
) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    end = len(sentence.rstrip())
    subject, shares = "", False
    for start, stop, next_shares in [*parts, (last, end, False)]:
        own = sentence[start:stop].strip().rstrip(",")
        if not shares:
            subject = _subject(own) or subject
            text = own
        else:
            text = f"{subject} {_passive(sentence[:start], own)}{own}"
        if clauses and not shares and not front and text.split()[0].islower():
            text = text[:1].upper() + text[1:]
        text = f"{front}{text}".rstrip()
        if not text.endswith((".", "!", "?", "…")):
            text += "."
        offset = start + len(sentence[start:stop]) - len(sentence[start:stop].lstrip())
        clauses.append(Clause(text=text, span=Span(start=offset, end=offset + len(own))))
        shares = next_shares
    return tuple(clauses)


def _passive(before: str, own: str) -> str:
    """Return "was " where `own` goes on with a participle of a passive, else ""."""
    verb = own.split(maxsplit=1)[0].lower()
    found = re.search(r"\b(is|are|was|were) (?:\w+ )?\w+ed\b", before)
    return f"{found[1]} " if found and verb.endswith("ed") and verb not in _ACTIVE else ""


def _front_condition(sentence: str) -> str:
    """Return a condition that opens the sentence, with its comma, or ""."""
    opening = _CONDITION.match(sentence)
    comma = sentence.find(", ")
    return sentence[: comma + 2] if opening is not None and comma > 0 else ""


def _finite(text: str) -> int | None:
    """Return where the first finite verb of `text` begins, or None."""
    words = list(_WORD.finditer(text))
    for number, word in enumerate(words):
        following = _following(text, words, number)
        if number and _is_verb(word[0], following):
            return word.start()
    return None


def _following(text: str, words: list[re.Match[str]], number: int) -> str:
    """Return the next word in lower case, or "" where something but white space is between."""
    if number + 1 >= len(words):
        return ""
    between = text[words[number].end() : words[number + 1].start()]
    return words[number + 1][0].lower() if between.isspace() else ""


def _is_verb(word: str, following: str) -> bool:
    lowered = word.lower()
    if lowered in _AUXILIARIES or lowered in _PAST:
        return True
    if not word.islower() or lowered in _NO_VERB:
        return False
    if lowered.endswith("ed") and len(lowered) > 4:
        # "a limited edition": before a noun it is no verb of the sentence.
        return following in _OPENERS or following[:1].isdigit()
    if lowered.endswith("s") and not lowered.endswith(("ss", "us", "is")) and len(lowered) > 3:
        return following in _DETERMINERS or following[:1].isdigit()
    return False


_DETERMINERS = frozenset("a an the his her its their our my your this that these those".split())


def _subject(text: str) -> str:
    """Return what stands before the first finite verb, where that is a plausible subject."""
    at = _finite(text)
    subject = "" if at is None else text[:at].strip()
    words = subject.split()
    return subject if 0 < len(words) <= 8 and "," not in subject else ""


def _hands_on(left: str) -> bool:
    """Whether the subject of `left` may be that of a verb behind it.

    Not behind a relative clause, whose subject it could be too, and not where `left` ends in a
    verb, whose object is still to come ("has directed and created many works").
    """
    at = _finite(left)
    if at is None or not _subject(left) or _RELATIVE.search(left, at):
        return False
    last = _WORD.findall(left)[-1].lower()
    return not (last.endswith("ed") or last in _PAST or last in _AUXILIARIES or last == "born")


def _in_a_name(left: str, right: str) -> bool:
    """Whether the conjunction stands between capitals: "Disease Control and Prevention"."""
    return left.rstrip()[-1:].isalnum() and left.split()[-1][:1].isupper() and right[:1].isupper()


def _open(left: str) -> bool:
    """Whether a bracket or quotation of `left` is still open."""
    return left.count('"') % 2 == 1 or any(
        left.count(opening) > left.count(closing) for opening, closing in _BRACKETS
    )


def _own_subject(right: str) -> bool:
    """Whether a part begins with a subject of its own: a few words, then a finite verb."""
    clause = _JOINT.split(right, maxsplit=1)[0]
    at = _finite(clause)
    if at is None:
        return False
    words = clause[:at].split()
    first = words[0].lower() if words else ""
    return (
        0 < len(words) <= 6
        and not _BREAK.search(clause, 0, at)
        and not _RELATIVE.search(clause, 0, at)
        and (first in _SUBJECTS or words[0][:1].isupper())
    )


_SUBJECTS = _DETERMINERS | frozenset("he she it they we i you there".split())


def _continues(right: str) -> bool:
    """Whether a part goes on with a finite verb of the subject before it."""
    words = list(_WORD.finditer(right))
    return (
        bool(words) and words[0][0].islower() and _is_verb(words[0][0], _following(right, words, 0))
    )
