"""Follow-ups made self-standing by a language model, which sees questions and never answers."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import anyio
from pydantic import BaseModel, Field

from grounded_rag.errors import GroundedRAGError
from grounded_rag.generate.clients import Connection, connect, provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.passages import sendable
from grounded_rag.generate.prompts import read_prompt
from grounded_rag.generate.responses import Ending, ending_of

_AND = re.compile(
    r"(?:(?:and|or|but|so|ok(?:ay)?|then)\b[\s,]*)*"
    r"(?:(?:what|how)\s+(?:about|if\s+it\s+is|if\s+it's)\b\s*)?",
    re.IGNORECASE,
)
_PREPOSITIONS = (
    "for in at on with without from to under after before during by of as until since per "
    "within via through abroad"
).split()
_PREPOSITIONAL = re.compile(rf"(?:{'|'.join(_PREPOSITIONS)})\b.*", re.IGNORECASE | re.DOTALL)
_CLAUSE = re.compile(
    r"(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could|may|"
    r"must|should|will|would|has|have|had|am|tell|show|list|give|explain)\b",
    re.IGNORECASE,
)
# "Until when must I ...?" opens with a preposition and asks a whole question.
_WHOLE = re.compile(
    rf"(?:{'|'.join(_PREPOSITIONS)})\s+(?:what|when|which|where|whom|whose|how)\b.*"
    r"\b(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|am)\b",
    re.IGNORECASE | re.DOTALL,
)
_PRONOUN = re.compile(
    r"\b(?:(?P<their>its|their|his|her)(?=\s+\w)|(?P<it>it|they|them|he|she|him|that one|this one|"
    r"those|these)(?![\w'’-])|(?P<verb>(?:is|does|was|will|can|do|are|did|of|for|about|with)\s+)"
    r"(?P<that>that|this)(?=\s*(?:[?.,!]|$|(?:also|still|mean|cost|apply|include|work|take)\b)))",
    re.IGNORECASE,
)
# "Is it wise to ...", "how long does it take to ...": the pronoun stands for what follows.
_EXPLETIVE = re.compile(
    r"\bit\s+(?:is\s+)?(?:(?:possible|necessary|allowed|true|raining|ok|okay|safe)\b|"
    r"(?:take|cost|mean|matter)s?\s+(?:to|the|a|an|me|my|you|for|if|when)\b|"
    r"(?:when|if|that|who|which|where)\b|\w+\s+(?:to|that|for|if)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?:\b(?:the|my|your|our|an?)\s+)?\b[A-Z0-9][\w&’'-]*(?:\s+(?:of\s+|and\s+)?[A-Z0-9][\w&’'-]*)*"
)
_NOUN = re.compile(
    r"\b(?:the|an?|my|your|our|their|this|that)\s+[a-z][\w’'-]*(?:\s+[a-z][\w’'-]*){0,3}",
    re.IGNORECASE,
)
_STOP = frozenset(
    (
        "is are was were do does did can could may must should will would has have had be been "
        "when where why how what which who if that and or but than then not it they i we you he "
        "she open close cost costs take takes apply applies get gets start starts end ends last "
        "lasts work works mean means change changes expire expires begin begins pay pays"
    ).split()
) | frozenset(_PREPOSITIONS)
_LEAD = frozenset(
    (
        "i who what when where which why how is are was were do does did can could may must should "
        "will would has have had am tell show list give explain the a an my your our for in on at"
    ).split()
)
_NO_TOPIC = frozenset(
    (
        "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
        "thursdays fridays saturdays sundays january february march april may june july august "
        "september october november december"
    ).split()
)
_PERSONS = frozenset("i you we they he she i'm i'd i've you're we're".split())
_SHORT_PHRASE = 6
_SHORT_QUESTION = 10
_LONGEST = 400
_LONGEST_TOPIC = 4


class RuleRewriter:
    """Makes follow-ups self-standing by `stand_alone`."""

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question, completed from the last earlier one."""
        return stand_alone(question, earlier)


class _Place(NamedTuple):
    start: int
    end: int
    text: str


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
    rest = asked[_lead_in(asked) :].strip()
    led = len(rest) < len(asked)
    bare = rest.rstrip(" ?!.")
    if bare and not _CLAUSE.match(rest) and not _WHOLE.match(rest):
        if _PREPOSITIONAL.match(rest) and _is_phrase(bare):
            return _with_phrase(before, bare)
        if led and _is_phrase(bare):
            return _with_topic(before, bare)
    topic, pronoun = _topic(before), _PRONOUN.search(asked)
    if topic is None or pronoun is None or not _refers_back(asked, pronoun.start()):
        return question
    return _PRONOUN.sub(lambda match: _named(match, topic.text), asked, count=1)


def _is_phrase(bare: str) -> bool:
    """Whether a text is a short phrase, and no sentence of its own."""
    words = [word.strip(",:;").lower() for word in bare.split()]
    finite = any(_CLAUSE.fullmatch(word) or word in _PERSONS for word in words)
    return len(words) <= _SHORT_PHRASE and not finite and not re.search(r"[.?!:;,]\s", bare)


def _refers_back(asked: str, at: int) -> bool:
    """Whether a pronoun has to stand for something outside its question.

    A short question that has named nothing before the pronoun; in others it mostly stands for
    what the question itself has named.
    """
    if len(asked.split()) > _SHORT_QUESTION or _EXPLETIVE.search(asked):
        return False
    own = _topic(asked[:at])
    # "A fee for that": what is new to the question is not what it points back to.
    return own is None or own.text.lower().startswith(("a ", "an "))


def _lead_in(asked: str) -> int:
    match = _AND.match(asked)
    return match.end() if match else 0


def _with_phrase(before: str, phrase: str) -> str:
    """Put a prepositional phrase in the place of one with the same preposition, or at the end."""
    preposition = phrase.split()[0]
    body = before.rstrip(" ?!.")
    places = list(re.finditer(rf"\b{re.escape(preposition)}\b", body, re.IGNORECASE))
    if places:
        rest = body[places[-1].end() :]
        # The old phrase ends where another preposition or a comma begins a new one.
        follows = re.search(rf",|\s(?:{'|'.join(_PREPOSITIONS)})\b", rest.lstrip())
        tail = rest.lstrip()[follows.start() :] if follows else ""
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
    if old is None or len(old.text.split()) > _LONGEST_TOPIC:
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
        while keep < len(words) and words[keep].lower() not in _STOP:
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
    while words and words[0].lower() in _LEAD and (start == 0 or words[0] == "I"):
        start += len(words[0])
        start += len(body[start:]) - len(body[start:].lstrip())
        words = words[1:]
    text = " ".join(words)
    meaning = [word for word in words if word.lower() not in _LEAD | _NO_TOPIC]
    if not any(word[:1].isupper() for word in meaning):
        return None
    return _Place(start, match.end(), text)


def _named(match: re.Match[str], topic: str) -> str:
    if match["their"]:
        return f"{topic}{'’' if topic.endswith('s') else '’s'}"
    return f"{match['verb'] or ''}{topic}"


_SHOWN = 6
_PROMPTED_LONGEST = 2_000


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
            prompts: Folder with a `rewrite.md` of one's own; None takes the built-in one.
            timeout: Most seconds for one call.

        Raises:
            PromptError: The prompt cannot be read or has no version line.
        """
        self._model = model
        self._client = client
        self._system = read_prompt(None if prompts is None else Path(prompts), "rewrite.md")
        self._timeout = timeout
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question made self-standing; without earlier ones nothing is asked.

        Raises:
            MissingKeyError: There are no credentials.
            ProviderError: The provider failed.
        """
        if not earlier:
            return question
        body = json.dumps(
            {"earlier": list(earlier[-_SHOWN:]), "question": question}, ensure_ascii=False
        )
        messages = BuiltMessages(system=self._system, blocks=(sendable(body),), labels={})
        responses: list[Any] = []
        written = ""
        connection = self._connected()
        try:
            with anyio.fail_after(self._timeout):
                parsed = await connection.call(
                    messages, SelfStanding, max_output_tokens=512, on_response=responses.append
                )
                written = parsed.question.strip()
        except GroundedRAGError:
            raise
        except Exception as error:
            if not responses:
                raise provider_error(root_cause(error), connection.provider) from error
        complete = bool(responses) and ending_of(responses[-1]) in (
            Ending.COMPLETE,
            Ending.UNSTATED,
        )
        # What was cut or refused, or is no question of a sane length, is not used.
        if complete and written and len(written) <= _PROMPTED_LONGEST:
            return written
        return stand_alone(question, earlier)

    def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._model, self._client)
        return self._connections[loop]
