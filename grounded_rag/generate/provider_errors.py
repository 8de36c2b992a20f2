"""A provider's failures as this package's errors, with what the user can do about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grounded_rag.errors import MissingKeyError, ProviderError, ProviderUnavailableError

_WORTH_ANOTHER_TRY = frozenset({408, 409, 425, 429})
# Known by name, so that no provider's SDK has to be imported.
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
_LONGEST_MESSAGE = 300


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
    """Return the error of this package for a provider's own error, unwrapped by `root_cause`."""
    status = _status(error)
    message = _message(error)
    if status in (401, 403):
        return ProviderError(
            f"{provider} did not accept the credentials ({status}: {message}).",
            hint=f"Check {key_name(provider)} and what it is allowed to use.",
        )
    if (status is not None and (status in _WORTH_ANOTHER_TRY or status >= 500)) or _overloaded(
        error
    ):
        return ProviderUnavailableError(
            f"{provider} cannot answer now ({status or 'no status'}: {message}).",
            hint="Try again later; the question was not answered.",
        )
    if status is not None:
        return ProviderError(
            f"{provider} refused the request ({status}: {message}).",
            hint="Check the model's name and the size of the request.",
        )
    if _unreachable(error):
        return ProviderUnavailableError(
            f"{provider} cannot be reached ({message or type(error).__name__}).",
            hint="Check the network and the address of the provider.",
        )
    if type(error).__name__ == "CredentialsError":
        return MissingKeyError(
            f"The credentials for {provider} cannot be read ({message}).",
            hint=f"Mend them, or set {key_name(provider)}.",
        )
    if _names_no_key(error):
        return missing_key(provider)
    return ProviderError(f"{provider} failed ({type(error).__name__}: {message}).")


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


def _message(error: BaseException) -> str:
    body: Any = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    given = inner.get("message") if isinstance(inner, Mapping) else None
    line = " ".join(str(given or getattr(error, "message", None) or error).split())
    return line if len(line) <= _LONGEST_MESSAGE else f"{line[:_LONGEST_MESSAGE]}…"
