"""Reading raw provider responses: how a generation ended and what it cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from grounded_rag.generate.passages import sendable
from grounded_rag.protocols import Generation
from grounded_rag.types import StopReason, Usage
from grounded_rag.types.display import one_line

_MOST_OBJECTS = 16
_MOST_SHOWN = 600


class Ending(Enum):
    """How a response ended.

    `CUT` may be helped by a larger output limit, `FULL` (the context window is used up) may not;
    `UNSTATED` means that the response names no reason at all.
    """

    COMPLETE = "complete"
    CUT = "cut"
    FULL = "full"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    UNSTATED = "unstated"

    @property
    def whole(self) -> bool:
        """Whether the output may be read: one that was cut or refused never is."""
        return self in (Ending.COMPLETE, Ending.UNSTATED)


_ENDINGS = {
    # Anthropic
    "end_turn": Ending.COMPLETE,
    "tool_use": Ending.COMPLETE,
    "max_tokens": Ending.CUT,
    "model_context_window_exceeded": Ending.FULL,
    "refusal": Ending.REFUSED,
    # OpenAI and those that speak its protocol
    "stop": Ending.COMPLETE,
    "tool_calls": Ending.COMPLETE,
    "function_call": Ending.COMPLETE,
    "length": Ending.CUT,
    "model_length": Ending.FULL,
    "content_filter": Ending.REFUSED,
    # Google, Cohere, Bedrock
    "complete": Ending.COMPLETE,
    "tool_call": Ending.COMPLETE,
    "safety": Ending.REFUSED,
    "blocklist": Ending.REFUSED,
    "prohibited_content": Ending.REFUSED,
    "recitation": Ending.REFUSED,
    "guardrail_intervened": Ending.REFUSED,
    "content_filtered": Ending.REFUSED,
}


def ending_of(response: Any) -> Ending:
    """Return how `response`, of whatever provider, ended."""
    reason = stop_word(response)
    if reason is None:
        return Ending.UNSTATED
    choice = _first(response, "choices")
    if field_of(field_of(choice, "message"), "refusal"):
        return Ending.REFUSED
    return _ENDINGS.get(reason, Ending.UNKNOWN)


def stop_word(response: Any) -> str | None:
    """Return the provider's own word for the end of `response`, in lower case, or None."""
    for holder in (response, _first(response, "choices"), _first(response, "candidates")):
        for field in ("stop_reason", "stopReason", "finish_reason"):
            value = field_of(holder, field)
            if value is not None:
                return str(getattr(value, "name", None) or value).lower()
    return None


def usage_of(response: Any) -> Usage:
    """Return the tokens of one response, cached ones apart; one call."""
    usage = field_of(response, "usage") or field_of(response, "usage_metadata")
    cached = _count(field_of(field_of(usage, "prompt_tokens_details"), "cached_tokens"))
    prompt = _count(field_of(usage, "prompt_tokens")) - cached
    return Usage(
        calls=1,
        input_tokens=_some(usage, "input_tokens", "inputTokens", "prompt_token_count")
        or max(prompt, 0),
        output_tokens=_some(
            usage, "output_tokens", "outputTokens", "completion_tokens", "candidates_token_count"
        ),
        cache_read_tokens=_some(usage, "cache_read_input_tokens", "cacheReadInputTokens") or cached,
        cache_write_tokens=_some(usage, "cache_creation_input_tokens", "cacheWriteInputTokens"),
    )


def damaged_tool_input(response: Any) -> Any | None:
    """Return the input of the one tool call that holds lone surrogates, mended, or None.

    Such a character is valid in a provider's JSON and is refused by strict decoders, which
    would lose the whole draft; it becomes U+FFFD, so that at most its own claim fails.
    """
    content = field_of(response, "content")
    if not isinstance(content, list):
        return None
    inputs = [
        field_of(block, "input") for block in content if field_of(block, "type") == "tool_use"
    ]
    if len(inputs) != 1:
        return None
    mended = without_surrogates(inputs[0])
    return mended if mended != inputs[0] else None


def text_of(response: Any) -> str:
    """Return the text that a response holds beside tool calls, or ""."""
    message = field_of(_first(response, "choices"), "message")
    candidate = field_of(_first(response, "candidates"), "content")
    for holder in (
        field_of(response, "content"),
        field_of(message, "content"),
        field_of(candidate, "parts"),
    ):
        if isinstance(holder, str):
            return holder
        if isinstance(holder, list):
            parts = (field_of(part, "text") for part in holder)
            return "".join(part for part in parts if isinstance(part, str))
    return ""


def written_of(response: Any) -> str:
    """Return all that the model wrote, for people: its text, and the input of its tool calls."""
    content = field_of(response, "content")
    blocks = content if isinstance(content, list) else []
    inputs = [field_of(block, "input") for block in blocks if field_of(block, "type") == "tool_use"]
    calls = field_of(field_of(_first(response, "choices"), "message"), "tool_calls") or []
    inputs += [field_of(field_of(call, "function"), "arguments") for call in calls]
    inputs_shown = [
        given if isinstance(given, str) else json.dumps(given) for given in inputs if given
    ]
    return "\n".join(part for part in (text_of(response).strip(), *inputs_shown) if part)


def objects_in(text: str) -> Iterator[Any]:
    """Yield the JSON objects that stand in a text: alone, in a code block or after words."""
    decoder = json.JSONDecoder()
    at = 0
    for _ in range(_MOST_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
        else:
            yield value


def without_surrogates(value: Any) -> Any:
    """Return decoded JSON with lone surrogates as U+FFFD, keys included."""
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, Mapping):
        return {without_surrogates(k): without_surrogates(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_surrogates(entry) for entry in value]
    return value


def field_of(holder: Any, field: str) -> Any:
    """Return a field of an SDK's object or of a mapping, or None."""
    if isinstance(holder, Mapping):
        return holder.get(field)
    return getattr(holder, field, None)


def _first(holder: Any, field: str) -> Any:
    values = field_of(holder, field)
    return values[0] if isinstance(values, list) and values else None


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _some(usage: Any, *fields: str) -> int:
    return next((count for field in fields if (count := _count(field_of(usage, field)))), 0)


def undrafted(
    ending: Ending, *, word: str, usage: Usage, model: str, written: str = ""
) -> Generation:
    """Return a generation without a draft; its detail says why, and how what was written began."""
    stop, detail = {
        Ending.REFUSED: (StopReason.REFUSED, "The model refused to answer."),
        Ending.CUT: (StopReason.TRUNCATED, "The output was cut, also with twice the limit."),
        Ending.FULL: (StopReason.TRUNCATED, "The model's context window is used up."),
        Ending.UNKNOWN: (StopReason.INVALID, f"The output ended with {word!r}."),
    }.get(ending, (StopReason.INVALID, "The output could not be read as claims."))
    if stop is StopReason.INVALID and (line := one_line(written[: 4 * _MOST_SHOWN])):
        shown = line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} […]"
        detail = f"{detail} The model wrote: {shown}"
    return Generation(draft=None, stop=stop, usage=usage, model=model, detail=detail)
