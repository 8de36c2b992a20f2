"""From what a provider returned to a draft with real chunk ids."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any

import anyio

from grounded_rag.errors import GroundedRAGError, ProviderUnavailableError
from grounded_rag.generate.clients import Connection
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.provider_errors import provider_error
from grounded_rag.generate.responses import (
    Ending,
    ending_of,
    objects_in,
    stop_word,
    without_surrogates,
)
from grounded_rag.generate.schema import AnswerShape, LabelledShape, unwrapped
from grounded_rag.types import Citation, Claim, Draft, Frozen, Usage


class DraftReading(Frozen):
    """What one call gave: a draft, or how it ended without one."""

    draft: Draft | None = None
    ending: Ending = Ending.UNSTATED
    word: str = ""  # The provider's own word for the ending
    usage: Usage = Usage()
    written: str = ""  # What the model wrote, where no draft could be read from it


def read_draft(parsed: AnswerShape, messages: BuiltMessages) -> Draft:
    """Return the draft of a parsed answer; unknown labels stay as they are, for verification."""
    claims = tuple(
        Claim(
            text=claim.text,
            citations=(
                _labelled(claim.sentences, messages)
                if isinstance(parsed, LabelledShape)
                else _copied(claim.citations, messages)
            ),
            arithmetic=claim.arithmetic.strip() or None,
        )
        for claim in parsed.claims
    )
    return Draft(claims=claims, unanswered=tuple(parsed.unanswered), repaired=parsed.repaired)


def read_text(text: str, shape: type[AnswerShape]) -> AnswerShape | None:
    """Return the answer that a model wrote as text instead of calling the tool, or None.

    Smaller models put the right JSON into their text. What stands around it is not read; nor is
    anything where several answers stand in the text.
    """
    found = [given for given in objects_in(text) if "claims" in (unwrapped(given) or ())]
    if len(found) != 1:
        return None
    try:
        answer = shape.model_validate(without_surrogates(found[0]))
    except ValueError:
        return None
    return answer.model_copy(update={"repaired": True})


def _labelled(sentences: Sequence[str], messages: BuiltMessages) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(messages.citation(label) for label in sentences))


def _copied(entries: Sequence[Any], messages: BuiltMessages) -> tuple[Citation, ...]:
    return tuple(
        Citation(chunk_id=messages.chunk_id(entry.chunk_id), quote=entry.quote) for entry in entries
    )


_SPACE = " \t\r\n"


class EntryScanner:
    """Finds the complete entries of one top-level list of a JSON object that comes in pieces."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._text = ""
        self._position = 0
        self._depth = 0
        self._string_from: int | None = None
        self._escaped = False
        self._last_string = ""
        self._current_key: str | None = None
        self._in_list = False
        self._entry_from: int | None = None

    def feed(self, piece: str) -> Iterator[Any]:
        """Take the next piece and yield what has become complete, decoded.

        What cannot be decoded is left out: the whole output will say so.
        """
        self._text += piece
        while self._position < len(self._text):
            entry = self._step(self._text[self._position], self._position)
            self._position += 1
            if entry is not None:
                try:
                    yield json.loads(entry)
                except (ValueError, RecursionError):
                    continue

    def _step(self, character: str, at: int) -> str | None:
        """Take one character; return the text of an entry that it completes."""
        if self._string_from is not None:
            self._in_string(character, at)
            return None
        if character in _SPACE:
            return None
        if self._in_list and self._depth == 2 and character in ",]":
            return self._end_entry(character, at)
        if self._in_list and self._depth == 2 and self._entry_from is None:
            self._entry_from = at
        if character == '"':
            self._string_from = at
        elif character in "{[":
            self._open(character)
        elif character in "}]":
            self._depth -= 1
            if self._in_list and self._depth == 2:
                return self._entry(at + 1)
        elif self._depth == 1 and character == ":":
            self._current_key = self._last_string
        elif self._depth == 1 and character == ",":
            self._current_key = None
        return None

    def _in_string(self, character: str, at: int) -> None:
        if self._escaped:
            self._escaped = False
        elif character == "\\":
            self._escaped = True
        elif character == '"' and self._string_from is not None:
            if self._depth == 1:
                self._last_string = self._text[self._string_from + 1 : at]
            self._string_from = None

    def _open(self, character: str) -> None:
        self._depth += 1
        if self._depth == 2 and character == "[" and self._current_key == self._key:
            self._in_list = True

    def _end_entry(self, character: str, at: int) -> str | None:
        entry = self._entry(at)
        if character == "]":
            self._depth -= 1
            self._in_list = False
        return entry

    def _entry(self, end: int) -> str | None:
        start, self._entry_from = self._entry_from, None
        return None if start is None else self._text[start:end]


async def stream_draft(
    connection: Connection,
    messages: BuiltMessages,
    shape: type[AnswerShape],
    *,
    limit: int,
    timeout: float,
) -> AsyncGenerator[Claim | DraftReading]:
    """Yield each claim when all of it has arrived, then what the whole call gave.

    `timeout` counts the seconds of waiting for the provider, over the whole call.

    Raises:
        ProviderUnavailableError: Overloaded, unreachable, out of time, or the stream broke off
            before it said how it ended.
        ProviderError: Any other failure, with the provider's own words.
    """
    left = timeout
    arriving = _Arriving()
    stream: Any = None
    try:
        # No cancel scope may be open while this generator is suspended, so each step has its own;
        # nor does what happens to a claim meanwhile, such as a judge's work, count as waiting.
        since = anyio.current_time()
        with anyio.fail_after(left):
            stream = await connection.open_stream(messages, shape, max_output_tokens=limit)
        left -= anyio.current_time() - since
        events = stream.__aiter__()
        while True:
            since = anyio.current_time()
            try:
                with anyio.fail_after(max(0.0, left)):
                    event = await anext(events)
            except StopAsyncIteration:
                break
            left -= anyio.current_time() - since
            for entry in arriving.take(event):
                claim = _claim(entry, shape, messages)
                if claim is not None:
                    yield claim
    except GroundedRAGError:
        raise
    except Exception as error:
        raise provider_error(error, connection.provider) from error
    finally:
        if stream is not None:
            with anyio.CancelScope(shield=True):
                await stream.close()
    if not arriving.stopped:
        raise ProviderUnavailableError(
            f"The stream from {connection.provider} broke off before it was complete.",
            hint="Try again; nothing unfinished was used.",
        )
    yield arriving.reading(shape, messages)


class _Arriving:
    """What has arrived of one response."""

    def __init__(self) -> None:
        self.stopped = False
        self._scanner = EntryScanner("claims")
        self._json = ""
        self._text = ""
        self._given: Any = None
        self._tools = 0
        self._word: str | None = None
        self._usage: dict[str, Any] = {}

    def take(self, event: Any) -> list[Any]:
        """Take one event of the SDK; return the entries of `claims` that it completes."""
        if event.type == "message_start":
            self._count(event.message.usage)
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            self._tools += 1
            if self._tools == 1:
                self._given = event.content_block.input
        elif event.type == "content_block_start" and event.content_block.type == "text":
            self._text += event.content_block.text
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            self._text += event.delta.text
        elif event.type == "content_block_stop":
            return self._whole_input()
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            self._json += event.delta.partial_json
            # A second call of the tool is no part of the answer to one question.
            return list(self._scanner.feed(event.delta.partial_json)) if self._tools == 1 else []
        elif event.type == "message_delta":
            self._word = event.delta.stop_reason
            self._count(event.usage)
        elif event.type == "message_stop":
            self.stopped = True
            return self._whole_input()
        return []

    def _whole_input(self) -> list[Any]:
        """Return the entries of an input that came with the start of its block, not in pieces.

        Servers that only speak the provider's protocol send it so.
        """
        given, self._given = self._given, None
        if not given or self._json:
            return []
        self._json = json.dumps(given)
        return list(self._scanner.feed(self._json))

    def reading(self, shape: type[AnswerShape], messages: BuiltMessages) -> DraftReading:
        """Return what the whole response amounts to; how it ended comes first."""
        response = {"stop_reason": self._word}
        ending = ending_of(response)
        draft = None
        if ending is Ending.COMPLETE and self._tools == 1:
            draft = _draft(self._json, shape, messages)
        elif ending is Ending.COMPLETE and self._tools == 0:
            answer = read_text(self._text, shape)
            draft = read_draft(answer, messages) if answer is not None else None
        return DraftReading(
            draft=draft,
            ending=ending,
            word=stop_word(response) or "",
            usage=Usage(
                calls=1,
                input_tokens=self._usage.get("input_tokens", 0),
                output_tokens=self._usage.get("output_tokens", 0),
                cache_read_tokens=self._usage.get("cache_read_input_tokens", 0),
                cache_write_tokens=self._usage.get("cache_creation_input_tokens", 0),
            ),
            written="\n".join(filter(None, (self._text, self._json))) if draft is None else "",
        )

    def _count(self, usage: Any) -> None:
        given: Mapping[str, Any] = usage.model_dump() if usage is not None else {}
        self._usage.update({k: v for k, v in given.items() if isinstance(v, int)})


def _claim(entry: Any, shape: type[AnswerShape], messages: BuiltMessages) -> Claim | None:
    """Return one claim just as the whole draft will hold it; None where it cannot be read."""
    draft = _validated({"claims": [entry], "unanswered": []}, shape, messages)
    return draft.claims[0] if draft is not None and draft.claims else None


def _draft(text: str, shape: type[AnswerShape], messages: BuiltMessages) -> Draft | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return _validated(value, shape, messages)


def _validated(value: Any, shape: type[AnswerShape], messages: BuiltMessages) -> Draft | None:
    try:
        return read_draft(shape.model_validate(without_surrogates(value)), messages)
    except ValueError:
        return None
