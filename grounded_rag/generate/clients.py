"""One call of a language model: a model's name or the user's own client, and what came back.

Of instructor only what it exports is used (`instructor.__all__`); a test holds on to that, and to
a streamed request being the same as a blocking one.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread
from pydantic import BaseModel

from grounded_rag.config import DEFAULT_MODEL
from grounded_rag.errors import ConfigError, GroundedRAGError, MissingExtraError
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.provider_errors import (
    is_provider_failure,
    missing_key,
    provider_error,
    root_cause,
)
from grounded_rag.generate.responses import Ending, ending_of, usage_of
from grounded_rag.types import Usage

Shape = TypeVar("Shape", bound=BaseModel)
_ANTHROPIC = "anthropic"
_LIMIT = "max_tokens"
_NEWER_LIMIT = "max_completion_tokens"
_BY_OPENAI_EXTRA = ("openai", "ollama", "deepseek", "openrouter")


@dataclass(frozen=True, slots=True)
class Reply(Generic[Shape]):
    """What one call gave."""

    # None where nothing could be read; never read where the output was cut or refused.
    parsed: Shape | None
    response: Any  # The last raw one
    ending: Ending
    usage: Usage  # Tokens of all responses


class ModelCalls:
    """Calls of one model, each with a time limit."""

    def __init__(self, model: str | None, client: Any | None, *, timeout: float) -> None:
        """Choose a model, as for `connect`; nothing is sent and no key is looked for yet."""
        self.model = model
        self.client = client
        self.timeout = timeout
        self._takes_temperature = True
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    def connection(self) -> Connection:
        """Return the connection of the running event loop, made at its first use."""
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self.model, self.client)
        return self._connections[loop]

    async def ask(
        self,
        messages: BuiltMessages,
        shape: type[Shape],
        *,
        max_output_tokens: int,
        steady: bool = False,
    ) -> Reply[Shape]:
        """Make one call and look at how it ended before anything is read.

        `steady` asks for temperature 0 where the provider takes it; Anthropic's current models
        do not.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ProviderUnavailableError: Overloaded, unreachable or out of time.
            ProviderError: Any other failure, with the provider's own words.
        """
        connection = self.connection()
        cold = steady and self._takes_temperature and not connection.anthropic
        responses: list[Any] = []
        parsed: Shape | None = None
        try:
            with anyio.fail_after(self.timeout):
                parsed = await connection.call(
                    messages,
                    shape,
                    max_output_tokens=max_output_tokens,
                    on_response=responses.append,
                    options={"temperature": 0} if cold else None,
                )
        except GroundedRAGError:
            raise
        except Exception as error:
            # instructor wraps whatever happens; without a response, the call itself failed.
            cause = root_cause(error)
            if not responses and cold and "temperature" in str(cause).lower():
                self._takes_temperature = False
                return await self.ask(messages, shape, max_output_tokens=max_output_tokens)
            if not responses:
                raise provider_error(cause, connection.provider) from error
        response = responses[-1] if responses else None
        ending = ending_of(response)
        return Reply(
            parsed=parsed if ending.whole else None,
            response=response,
            ending=ending,
            usage=sum((usage_of(each) for each in responses), Usage()),
        )


@dataclass(slots=True)
class Connection:
    """An instructor client and how to talk to it."""

    create: Callable[..., Any]  # The client's `create`, blocking or not
    provider: str
    model: str | None  # None where the client itself knows
    anthropic: bool  # Whether it takes Anthropic's form of messages
    # The asynchronous client of the anthropic SDK underneath, which can stream.
    sdk: Any | None = None
    # What the provider calls the limit of the output; found out by the first call.
    limit: str = _LIMIT

    @property
    def name(self) -> str:
        """Provider and model, for people."""
        return f"{self.provider}/{self.model}" if self.model else self.provider

    async def call(
        self,
        messages: BuiltMessages,
        shape: type[Shape],
        *,
        max_output_tokens: int,
        on_response: Callable[[Any], None],
        options: Mapping[str, Any] | None = None,
    ) -> Shape:
        """Make one call and return what instructor reads from it.

        There is no second try of a response: the stop reason must be looked at before anything
        is asked again. Only a request refused for the name of its output limit, before anything
        was written, is sent once more with the newer name, as is every later one.
        `context=` is never passed: with it instructor renders every message through a
        template engine, passages included. `on_response` gets every raw response, also one that
        cannot be read.
        """
        from instructor import hooks

        # Of this call alone: a client's own hooks would hear of every call that runs meanwhile.
        heard = hooks.Hooks()
        heard.on("completion:response", on_response)
        arguments = {
            "response_model": shape,
            "max_retries": 0,
            "hooks": heard,
            **self._arguments(messages, max_output_tokens),
            **(options or {}),
        }
        try:
            parsed = await self._create(arguments)
        except Exception as error:
            if self.limit != _LIMIT or _NEWER_LIMIT not in str(root_cause(error)):
                raise
            self.limit = _NEWER_LIMIT
            arguments[self.limit] = arguments.pop(_LIMIT)
            parsed = await self._create(arguments)
        if not isinstance(parsed, shape):
            raise ConfigError(
                f"The client returned {type(parsed).__name__} instead of the response model.",
                hint="Hand over an instructor client in its default tool mode.",
            )
        return parsed

    async def open_stream(
        self, messages: BuiltMessages, shape: type[BaseModel], *, max_output_tokens: int
    ) -> AsyncIterator[Any]:
        """Make the same call as a stream of the SDK's events, with the schema instructor builds.

        The SDK's raw events are taken, not its accumulating stream: that one raises on a lone
        surrogate in the model's JSON, which would lose the whole draft.
        """
        import instructor

        if self.sdk is None:
            raise ConfigError("This client cannot stream.", hint="Use the anthropic SDK's own.")
        tool = instructor.generate_anthropic_schema(shape)
        stream: AsyncIterator[Any] = await self.sdk.messages.create(
            **self._arguments(messages, max_output_tokens),
            tools=[tool],
            tool_choice={
                "type": "tool",
                "name": tool["name"],
                "disable_parallel_tool_use": True,
            },
            stream=True,
        )
        return stream

    async def _create(self, arguments: Mapping[str, Any]) -> Any:
        if inspect.iscoroutinefunction(self.create):
            return await self.create(**arguments)
        return await anyio.to_thread.run_sync(
            partial(self.create, **arguments), abandon_on_cancel=True
        )

    def _arguments(self, messages: BuiltMessages, max_output_tokens: int) -> dict[str, Any]:
        form = _anthropic_form(messages) if self.anthropic else _common_form(messages)
        arguments: dict[str, Any] = {self.limit: max_output_tokens, **form}
        if self.model is not None:
            arguments["model"] = self.model
        return arguments


def connect(model: str | None, client: Any | None) -> Connection:
    """Return a connection; nothing is sent yet.

    The model is "provider/model" as instructor knows it, or the bare name with a client: any of
    the anthropic SDK, an OpenAI one, or one patched by instructor. Without a client one is made
    from the environment.

    Raises:
        MissingKeyError: There are no credentials for the provider.
        MissingExtraError: The provider's package is not installed.
        ConfigError: The client or the provider is not known.
    """
    _quiet_logging()
    if client is not None:
        return _given_client(model, client)
    named = model or f"{_ANTHROPIC}/{DEFAULT_MODEL}"
    provider, slash, rest = named.partition("/")
    if not slash or not provider or not rest:
        raise ConfigError(
            f"{named!r} names no provider.",
            hint=f"Write provider/model, for example {_ANTHROPIC}/{DEFAULT_MODEL}.",
        )
    if provider == _ANTHROPIC:
        return _given_client(rest, anthropic_client())
    return _by_name(named, provider, rest)


def anthropic_client() -> Any:
    """Return an asynchronous Anthropic client made from the environment; nothing is sent.

    Raises:
        MissingKeyError: There are no credentials.
    """
    import anthropic

    try:
        client = anthropic.AsyncAnthropic()
    except anthropic.AnthropicError as error:
        # A profile that is named but unreadable; looked up on disk, nothing is sent.
        raise provider_error(error, _ANTHROPIC) from None
    if not any(getattr(client, name, None) for name in ("api_key", "auth_token", "credentials")):
        raise missing_key(_ANTHROPIC)
    return client


def is_asynchronous(client: Any) -> bool:
    """Whether a client of the anthropic SDK, of whatever platform, is an asynchronous one."""
    # Its methods are wrapped in plain functions, so that they cannot be asked themselves.
    return any(kind.__name__ == "AsyncAPIClient" for kind in type(client).__mro__)


def _by_name(named: str, provider: str, model: str) -> Connection:
    import instructor

    try:
        patched = instructor.from_provider(named, async_client=True)
    except ImportError as error:
        raise _missing_extra(provider, error) from None
    except Exception as error:
        # Providers fail in their own ways here; what is known gets its own message.
        words = str(error)
        if "is required to use" in words or "not installed" in words:
            raise _missing_extra(provider, error) from None
        if "unsupported provider" in words.lower():
            raise ConfigError(
                f"instructor knows no provider {provider!r}.",
                hint="Use one that it lists, or hand over your own client.",
            ) from None
        if is_provider_failure(error) or "_API_KEY" in words:
            if "_API_KEY" in words or "api_key" in words:
                raise missing_key(provider) from None
            raise provider_error(error, provider) from None
        raise ConfigError(
            f"A client for {provider} cannot be made: {' '.join(words.split())[:300]}.",
            hint="Hand over your own client instead.",
        ) from error
    return Connection(create=patched.create, provider=provider, model=model, anthropic=False)


def _given_client(model: str | None, client: Any) -> Connection:
    import instructor

    if isinstance(client, instructor.Instructor | instructor.AsyncInstructor):
        provider = str(getattr(client.provider, "value", client.provider))
        own = provider == _ANTHROPIC
        return Connection(
            create=client.create,
            provider=provider,
            model=model.removeprefix(f"{provider}/") if model else None,
            anthropic=own,
            sdk=client.client if own and is_asynchronous(client.client) else None,
        )
    family = type(client).__module__.partition(".")[0]
    families = [kind.__module__.partition(".")[0] for kind in type(client).__mro__]
    if _ANTHROPIC in families:
        patched: Any = instructor.from_anthropic(client, mode=instructor.Mode.TOOLS)
        return Connection(
            create=patched.create,
            provider=_ANTHROPIC,
            model=(model or DEFAULT_MODEL).removeprefix(f"{_ANTHROPIC}/"),
            anthropic=True,
            sdk=client if is_asynchronous(client) else None,
        )
    if "openai" in families and model:
        patched = instructor.from_openai(client, mode=instructor.Mode.TOOLS)
        return Connection(
            create=patched.create,
            provider="openai",
            model=model.removeprefix("openai/"),
            anthropic=False,
        )
    raise ConfigError(
        f"A client of {family}.{type(client).__name__} cannot be used as it is.",
        hint="Patch it with instructor first, and name the model.",
    )


def _missing_extra(provider: str, error: Exception) -> MissingExtraError:
    package = getattr(error, "name", None) or provider
    return MissingExtraError(
        f"The package for {provider} is not installed.",
        hint='Install it: pip install "grounded-rag[openai]"'
        if provider in _BY_OPENAI_EXTRA
        else f'Install it: pip install "instructor[{provider}]" (needs {package}).',
    )


def _anthropic_form(messages: BuiltMessages) -> dict[str, Any]:
    """Return Anthropic's arguments; tools and system prompt are marked for its cache."""
    return {
        "system": [
            {
                "type": "text",
                "text": messages.system,
                "cache_control": {"type": "ephemeral"},
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": block} for block in messages.blocks],
            }
        ],
    }


def _common_form(messages: BuiltMessages) -> dict[str, Any]:
    return {
        "messages": [
            {"role": "system", "content": messages.system},
            {"role": "user", "content": "\n".join(messages.blocks)},
        ]
    }


def _quiet_logging() -> None:
    """Keep instructor's error log off the terminal where the application configured no logging.

    Its failures reach the caller as exceptions; a handler of the application still gets them.
    """
    log = logging.getLogger("instructor")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
