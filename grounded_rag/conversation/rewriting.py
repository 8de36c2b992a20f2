"""Follow-ups made self-standing, from earlier questions alone: by a model, or by rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, Field

from grounded_rag.generate.clients import ModelCalls
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.passages import sendable
from grounded_rag.generate.prompts import read_prompt
from grounded_rag.resources import read_table

_MOST_EARLIER = 6
_LONGEST_WRITTEN = 2_000


class SelfStanding(BaseModel):
    """The question, made self-standing."""

    question: str = Field(description="The question as it would be asked on its own.")


class PromptRewriter:
    """Asks a model through instructor; what cannot be used is left to the rules."""

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Choose model and prompt; nothing is sent and no key is looked for yet.

        Args:
            model: See `StructuredGenerator`.
            client: See `StructuredGenerator`.
            prompts: Folder with your own `rewrite.md`; None takes the built-in one.
            timeout: Most seconds for one call.

        Raises:
            PromptError: The prompt cannot be read or has no version line.
        """
        self._system = read_prompt(None if prompts is None else Path(prompts), "rewrite.md")
        self._calls = ModelCalls(model, client, timeout=timeout)

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question made self-standing; without earlier ones nothing is asked.

        Raises:
            MissingKeyError: There are no credentials.
            ProviderError: The provider failed.
        """
        if not earlier:
            return question
        body = json.dumps(
            {"earlier": list(earlier[-_MOST_EARLIER:]), "question": question}, ensure_ascii=False
        )
        messages = BuiltMessages(system=self._system, blocks=(sendable(body),), labels={})
        reply = await self._calls.ask(messages, SelfStanding, max_output_tokens=512)
        written = reply.parsed.question.strip() if reply.parsed is not None else ""
        # What was cut or refused, or is no question of a sane length, is not used.
        if written and len(written) <= _LONGEST_WRITTEN:
            return written
        return stand_alone(question, earlier)


class RuleRewriter:
    """Makes follow-ups self-standing by `stand_alone`."""

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question, completed from the last earlier one."""
        return stand_alone(question, earlier)


# Longer questions stand alone, and patterns are kept from hostile lengths.
_LONGEST = 400
# A pronoun in a longer question mostly stands for what the question itself has named: without
# this, 16 of 468 golden questions, which all stand alone, are rewritten.
_SHORT_QUESTION = 10


def stand_alone(question: str, earlier: Sequence[str]) -> str:
    """Return a question that can be understood without those before it.

    Args:
        question: The question as it was asked.
        earlier: Earlier questions, self-standing, oldest first.
    """
    asked = question.strip()
    if not earlier or not asked or max(len(asked), len(earlier[-1])) > _LONGEST:
        return question
    before = earlier[-1].strip()
    rules = _rules()
    opener = rules.opener.match(asked)
    rest = asked[opener.end() if opener else 0 :].strip()
    bare = rest.rstrip(" ?!.")
    if bare and _is_phrase(bare):
        if rules.prepositional.match(rest):
            return _with_phrase(before, bare)
        if len(rest) < len(asked):
            return _with_topic(before, bare)
    topic, pronoun = _topic(before), _PRONOUN.search(asked)
    if topic is None or pronoun is None or not _refers_back(asked, pronoun.start()):
        return question
    return _PRONOUN.sub(lambda match: _named(match, topic.text), asked, count=1)


_PRONOUN = re.compile(
    r"\b(?:(?P<their>its|their|his|her)(?=\s+\w)|(?P<it>it|they|them|he|she|him|that one|this one|"
    r"those|these)(?![\w'’-])|(?P<verb>(?:is|does|was|will|can|do|are|did|of|for|about|with)\s+)"
    r"(?P<that>that|this)(?=\s*(?:[?.,!]|$|(?:also|still|mean|cost|apply|include|work|take)\b)))",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:\b(?:the|my|your|our|an?)\s+)?\b[A-Z0-9][\w&’'-]*(?:\s+(?:of\s+|and\s+)?[A-Z0-9][\w&’'-]*)*"
)
_NOUN = re.compile(
    r"\b(?:the|an?|my|your|our|their|this|that)\s+[a-z][\w’'-]*(?:\s+[a-z][\w’'-]*){0,3}",
    re.IGNORECASE,
)


class _Rules(NamedTuple):
    """The words of the data file, as the rules use them."""

    opener: re.Pattern[str]
    prepositional: re.Pattern[str]
    next_phrase: re.Pattern[str]
    expletive: re.Pattern[str]
    finite: frozenset[str]
    after_noun: frozenset[str]
    before_name: frozenset[str]
    no_name: frozenset[str]


@cache
def _rules() -> _Rules:
    lists, dates = read_table("follow_ups"), read_table("questions")
    openers, asides = _either(lists["openers"]), _either(lists["asides"])
    prepositions = _either(lists["prepositions"])
    states, verbs = _either(lists["expletive_states"]), _either(lists["expletive_verbs"])
    objects = _either(lists["expletive_objects"])
    before_name = frozenset(lists["before_name"])
    return _Rules(
        opener=_compiled(rf"(?:{openers}\b[\s,]*)*(?:{asides}\b\s*)?"),
        prepositional=_compiled(rf"{prepositions}\b"),
        next_phrase=_compiled(rf",|\s{prepositions}\b"),
        expletive=_compiled(
            rf"\bit\s+(?:is\s+)?(?:{states}\b|{verbs}s?\s+{objects}\b"
            r"|(?:when|if|that|who|which|where)\b|\w+\s+(?:to|that|for|if)\b)"
        ),
        finite=frozenset(lists["finite"]),
        after_noun=frozenset(lists["after_noun"]) | frozenset(lists["prepositions"]),
        before_name=before_name,
        # "Open on Saturdays? When does it close?" does not ask when Saturdays close.
        # "March" is no month there, since questions have it as a verb.
        no_name=before_name | frozenset(dates["days_and_months"]) | {"march"},
    )


def _either(words: Iterable[str]) -> str:
    spaced = (r"\s+".join(each.split()) for each in words)
    return f"(?:{'|'.join(spaced)})"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


class _Place(NamedTuple):
    start: int
    end: int
    text: str


def _is_phrase(bare: str) -> bool:
    finite = _rules().finite
    words = (word.strip(",:;").lower() for word in bare.split())
    return finite.isdisjoint(words) and not re.search(r"[.?!:;,]\s", bare)


def _refers_back(asked: str, at: int) -> bool:
    """Whether a pronoun has to stand for something outside its question.

    A short question that has named nothing before the pronoun; in others it mostly stands for
    what the question itself has named.
    """
    if len(asked.split()) > _SHORT_QUESTION or _rules().expletive.search(asked):
        return False
    own = _topic(asked[:at])
    # "A fee for that": what is new to the question is not what it points back to.
    return own is None or own.text.lower().startswith(("a ", "an "))


def _with_phrase(before: str, phrase: str) -> str:
    """Put a prepositional phrase in the place of one with the same preposition, or at the end."""
    preposition = phrase.split()[0]
    body = before.rstrip(" ?!.")
    places = list(re.finditer(rf"\b{re.escape(preposition)}\b", body, re.IGNORECASE))
    if places:
        rest = body[places[-1].end() :]
        # The old phrase ends where another preposition or a comma begins a new one.
        rest = rest.lstrip()
        follows = _rules().next_phrase.search(rest)
        tail = rest[follows.start() :] if follows else ""
        return f"{body[: places[-1].start()]}{phrase}{tail}?"
    return f"{body} {phrase}?"


def _with_topic(before: str, topic: str) -> str:
    """Put a new topic in the place of the old one."""
    body = before.rstrip(" ?!.")
    words = topic.split()
    # "And travel insurance?" after "... pet insurance?": the same head, so the same place.
    same_head = rf"(?:\b[\w’'-]+\s+){{{len(words) - 1}}}\b{re.escape(words[-1])}\b"
    if len(words) > 1 and (alike := re.search(same_head, body, re.IGNORECASE)):
        return f"{body[: alike.start()]}{topic}{body[alike.end() :]}?"
    old = _topic(before)
    if old is None:
        return f"{body}, {topic}?"
    return f"{body[: old.start]}{topic}{body[old.end :]}?"


def _topic(question: str) -> _Place | None:
    """Return what a question is about: its last name, else its first noun phrase."""
    body = question.rstrip(" ?!.")
    names = [place for match in _NAME.finditer(body) if (place := _name(match, body)) is not None]
    if names:
        return names[-1]
    for match in _NOUN.finditer(body):
        words = match[0].split()
        keep = 1
        while keep < len(words) and words[keep].lower() not in _rules().after_noun:
            keep += 1
        if keep > 1:
            text = " ".join(words[:keep])
            end = match.start() + len(match[0]) if keep == len(words) else None
            found = body.find(words[keep - 1], match.start()) + len(words[keep - 1])
            return _Place(match.start(), end or found, text)
    return None


def _name(match: re.Match[str], body: str) -> _Place | None:
    """Return a name, without a question word that only opens the sentence."""
    start, text = match.start(), match[0]
    words = text.split()
    while words and words[0].lower() in _rules().before_name and (start == 0 or words[0] == "I"):
        start += len(words[0])
        start += len(body[start:]) - len(body[start:].lstrip())
        words = words[1:]
    text = " ".join(words)
    meaning = [word for word in words if word.lower() not in _rules().no_name]
    if not any(word[:1].isupper() for word in meaning):
        return None
    return _Place(start, match.end(), text)


def _named(match: re.Match[str], topic: str) -> str:
    if match["their"]:
        return f"{topic}{'’' if topic.endswith('s') else '’s'}"
    return f"{match['verb'] or ''}{topic}"
