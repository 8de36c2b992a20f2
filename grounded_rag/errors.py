"""Every error the package raises, as one tree.

    GroundedRAGError                  says what happened and what to do next
    ├── InputError                    the caller's input cannot be used (also a ValueError)
    │   ├── QuestionError             empty or unusable question
    │   ├── DraftError                `verify` got something that is no draft or no chunks
    │   ├── ManifestError             manifest, front matter or date cannot be read
    │   └── ReceiptError              a receipt cannot be read, made or saved
    ├── ConfigError                   settings, prompts or policy do not fit together
    │   ├── PromptError               a prompts folder lacks what makes answers checkable
    │   └── MissingExtraError         an optional dependency is not installed
    ├── ReadError                     a document cannot be read
    │   ├── UndecodableError          bytes that are no text in any accepted encoding
    │   ├── UnsupportedFormatError    no reader for this kind of file
    │   ├── EncryptedError            a protected document
    │   └── NoTextError               nothing to quote: empty or scanned
    ├── StoreError                    the index cannot be used
    │   ├── IndexNotFoundError        no index in this folder
    │   ├── IndexMismatchError        made by another embedding model or schema version
    │   └── IndexLockedError          another process is writing
    └── ProviderError                 a named model provider failed
        ├── MissingKeyError           no credentials for it
        └── ProviderUnavailableError  overloaded, unreachable or out of time: may be tried again

None derives from RuntimeError: LlamaIndex hides those inside its event-loop helpers.
"""

from __future__ import annotations


class GroundedRAGError(Exception):
    """Base of all errors of this package.

    Attributes:
        message: What happened, in one line.
        hint: What to do next, in one line.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class InputError(GroundedRAGError, ValueError):
    """The caller's input cannot be used."""


class QuestionError(InputError):
    """The question is empty or cannot be used."""


class DraftError(InputError):
    """What was handed to `verify` is no draft, or its chunks are no chunks."""


class ManifestError(InputError):
    """A manifest, front matter or one of their dates cannot be read."""


class ReceiptError(InputError):
    """A receipt cannot be read, made or saved."""


class ConfigError(GroundedRAGError):
    """Settings, prompts or policy do not fit together."""


class PromptError(ConfigError):
    """A prompts folder lacks what makes answers checkable."""


class MissingExtraError(ConfigError):
    """An optional dependency is not installed; the hint names the extra."""


class ReadError(GroundedRAGError):
    """A document cannot be read."""


class UndecodableError(ReadError):
    """The bytes are no text in any accepted encoding; the message names the byte."""


class UnsupportedFormatError(ReadError):
    """There is no reader for this kind of file."""


class EncryptedError(ReadError):
    """The document is protected by a password."""


class NoTextError(ReadError):
    """The document holds no text that could be quoted: it is empty, or scanned pictures."""


class StoreError(GroundedRAGError):
    """The index cannot be used."""


class IndexNotFoundError(StoreError):
    """There is no index in this folder."""


class IndexMismatchError(StoreError):
    """The index was made by another embedding model or another schema version."""


class IndexLockedError(StoreError):
    """Another process is writing to the index; the message names it."""


class ProviderError(GroundedRAGError):
    """A named model provider failed."""


class MissingKeyError(ProviderError):
    """There are no credentials for the provider."""


class ProviderUnavailableError(ProviderError):
    """The provider is overloaded, unreachable or out of time; the call may be tried again."""
