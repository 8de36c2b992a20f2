"""Provider clients behind one call: a model's name, or the user's own client."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
from pydantic import BaseModel

from grounded_rag.config import DEFAULT_MODEL
from grounded_rag.errors import (
    ConfigError,
    MissingExtraError,
    MissingKeyError,
    ProviderError,
    ProviderUnavailableError,
)
from grounded_rag.generate.messages import BuiltMessages

_AGAIN = frozenset({408, 409, 425, 429})
_UNREACHABLE = ("APIConnectionError", "APITimeoutError", "ConnectError", "TransportError")
_NO_KEY = ("authentication method", "api_key", "api key", "credentials")
_KEYS = {
    "anthropic": "ANTHROPIC_API_KEY",
    "openai": "OPENAI_API_KEY",
    "google": "GOOGLE_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "groq": "GROQ_API_KEY",
    "cohere": "COHERE_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
}
_WORDS = 300


def root_cause(error: BaseException) -> BaseException:
    """Return the provider's own error inside instructor's wrapper, or `error` itself."""
    while type(error).__module__.startswith("instructor.") and error.__cause__ is not None:
        error = error.__cause__
    return error


def is_provider_failure(error: BaseException) -> bool:
    """Whether `error` comes from the call itself, not from reading its result."""
    return (
        _status(error) is not None
        or _unreachable(error)
        or _names_no_key(error)
        or type(error).__module__.partition(".")[0] in ("anthropic", "openai")
    )


def provider_error(error: BaseException, provider: str) -> ProviderError:
    """Return the error of this package for a provider's failure.

    Args:
        error: The provider's own error, unwrapped.
        provider: Name for people, such as "anthropic".
    """
    status = _status(error)
    words = _words(error)
    if status in (401, 403):
        return ProviderError(
            f"{provider} did not accept the credentials ({status}: {words}).",
            hint=f"Check {key_name(provider)} and what it is allowed to use.",
        )
    if (status is not None and (status in _AGAIN or status >= 500)) or _overloaded(error):
        return ProviderUnavailableError(
            f"{provider} cannot answer now ({status or 'no status'}: {words}).",
            hint="Try again later; the question was not answered.",
        )
    if status is not None:
        return ProviderError(
            f"{provider} refused the request ({status}: {words}).",
            hint="Check the model's name and the size of the request.",
        )
    if _unreachable(error):
        return ProviderUnavailableError(
            f"{provider} cannot be reached ({words or type(error).__name__}).",
            hint="Check the network and the address of the provider.",
        )
    if type(error).__name__ == "CredentialsError":
        return MissingKeyError(
            f"The credentials for {provider} cannot be read ({words}).",
            hint=f"Mend them, or set {key_name(provider)}.",
        )
    if _names_no_key(error):
        return missing_key(provider)
    return ProviderError(f"{provider} failed ({type(error).__name__}: {words}).")


def missing_key(provider: str) -> MissingKeyError:
    """Return the error for a provider without credentials."""
    return MissingKeyError(
        f"There is no key for {provider}.",
        hint=f"Set {key_name(provider)}, or hand over your own client; "
        "without a generator the built-in extractive one answers.",
    )


def key_name(provider: str) -> str:
    """Return the usual environment variable of a provider's key."""
    return _KEYS.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")


def _status(error: BaseException) -> int | None:
    value = getattr(error, "status_code", None)
    return value if isinstance(value, int) else None


def _overloaded(error: BaseException) -> bool:
    body = getattr(error, "body", None)
    inner = body.get("error") if isinstance(body, Mapping) else None
    kind = inner.get("type") if isinstance(inner, Mapping) else None
    return kind in ("overloaded_error", "rate_limit_error", "api_error")


def _unreachable(error: BaseException) -> bool:
    if isinstance(error, TimeoutError | ConnectionError):
        return True
    return any(kind.__name__ in _UNREACHABLE for kind in type(error).__mro__)


def _names_no_key(error: BaseException) -> bool:
    text = str(error).lower()
    return _status(error) is None and any(words in text for words in _NO_KEY)


def _words(error: BaseException) -> str:
    """Return the provider's message in one line of limited length."""
    body: Any = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    message = inner.get("message") if isinstance(inner, Mapping) else None
    line = " ".join(str(message or getattr(error, "message", None) or error).split())
    return line if len(line) <= _WORDS else f"{line[:_WORDS]}…"


Shape = TypeVar("Shape", bound=BaseModel)
_ANTHROPIC = "anthropic"
_LIMIT = "max_tokens"
_NEWER_LIMIT = "max_completion_tokens"
_EXTRAS = {"openai": "openai", "ollama": "openai", "deepseek": "openai", "openrouter": "openai"}


@dataclass(slots=True)
class Connection:
    """An instructor client and how to talk to it.

    Attributes:
        create: The client's `create`, blocking or not.
        provider: Provider's name.
        model: Model to ask for, or None where the client itself knows.
        anthropic: Whether it takes Anthropic's form of messages.
        sdk: The asynchronous client of the anthropic SDK underneath, which can stream; or None.
        limit: What the provider calls the limit of the output; found out by the first call.
    """

    create: Callable[..., Any]
    provider: str
    model: str | None
    anthropic: bool
    sdk: Any | None = None
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
        template engine, passages included.

        Args:
            messages: What to send.
            shape: Response model.
            max_output_tokens: Limit of the output.
            on_response: Told every raw response, also one that cannot be read.
            options: Further arguments that this provider takes.
        """
        from instructor.core.hooks import Hooks

        hooks = Hooks()
        hooks.on("completion:response", on_response)
        arguments = {
            "response_model": shape,
            "max_retries": 0,
            "hooks": hooks,
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

        Args:
            messages: What to send.
            shape: Response model.
            max_output_tokens: Limit of the output.
        """
        import instructor
        from instructor.processing.response import handle_response_model
        from instructor.utils.providers import Provider

        if self.sdk is None:
            raise ConfigError("This client cannot stream.", hint="Use the anthropic SDK's own.")
        _, arguments = handle_response_model(
            response_model=shape,
            mode=instructor.Mode.TOOLS,
            provider=Provider.ANTHROPIC,
            **self._arguments(messages, max_output_tokens),
        )
        stream: AsyncIterator[Any] = await self.sdk.messages.create(**arguments, stream=True)
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

    Args:
        model: "provider/model" as instructor knows it, or the bare name for one's own client.
        client: One's own client: any of the anthropic SDK, an OpenAI one, or one patched by
            instructor; None makes one from the environment.

    Raises:
        MissingKeyError: There are no credentials for the provider.
        MissingExtraError: The provider's package is not installed.
        ConfigError: The client or the provider is not known.
    """
    _quiet_logging()
    if client is not None:
        return _own_client(model, client)
    named = model or f"{_ANTHROPIC}/{DEFAULT_MODEL}"
    provider, slash, rest = named.partition("/")
    if not slash or not provider or not rest:
        raise ConfigError(
            f"{named!r} names no provider.",
            hint=f"Write provider/model, for example {_ANTHROPIC}/{DEFAULT_MODEL}.",
        )
    if provider == _ANTHROPIC:
        return _own_client(rest, anthropic_client())
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


def _streaming_sdk(client: Any) -> Any | None:
    return client if is_asynchronous(client) else None


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


def _own_client(model: str | None, client: Any) -> Connection:
    import instructor

    if isinstance(client, instructor.Instructor | instructor.AsyncInstructor):
        provider = str(getattr(client.provider, "value", client.provider))
        own = provider == _ANTHROPIC
        return Connection(
            create=client.create,
            provider=provider,
            model=model.removeprefix(f"{provider}/") if model else None,
            anthropic=own,
            sdk=_streaming_sdk(client.client) if own else None,
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
            sdk=_streaming_sdk(client),
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
    extra = _EXTRAS.get(provider)
    package = getattr(error, "name", None) or provider
    return MissingExtraError(
        f"The package for {provider} is not installed.",
        hint=f'Install it: pip install "grounded-rag[{extra}]"'
        if extra
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
