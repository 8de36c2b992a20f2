"""Follow-ups made self-standing by a language model, which sees questions and never answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from pydantic import BaseModel, Field

from grounded_rag.conversation.rules import stand_alone
from grounded_rag.errors import GroundedRAGError
from grounded_rag.generate.clients import Connection, connect
from grounded_rag.generate.failures import provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.passages import sendable
from grounded_rag.generate.prompts import read_prompt
from grounded_rag.generate.responses import Ending, ending_of

_SHOWN = 6
_LONGEST = 2_000


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
        if complete and written and len(written) <= _LONGEST:
            return written
        return stand_alone(question, earlier)

    def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._model, self._client)
        return self._connections[loop]
