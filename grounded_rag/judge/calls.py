"""One narrow question to a language model, answered by a tool call; never free text."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any
from weakref import WeakKeyDictionary

import anyio

from grounded_rag.config import DEFAULT_MODEL
from grounded_rag.errors import GroundedRAGError
from grounded_rag.generate.clients import Connection, connect
from grounded_rag.generate.failures import provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.responses import Ending, ending_of, usage_of
from grounded_rag.judge.schema import JudgeAnswer
from grounded_rag.types import Frozen, Usage

_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Reading(Frozen):
    """What a question gave: an answer, or how it ended without one.

    Attributes:
        answer: The answer; None where it was cut, refused or could not be read.
        ending: How the last response ended.
        usage: Tokens of all calls.
    """

    answer: JudgeAnswer | None = None
    ending: Ending = Ending.UNSTATED
    usage: Usage = Usage()

    @property
    def trouble(self) -> str:
        """Why there is no answer, as one sentence."""
        return {
            Ending.CUT: "The judge's output was cut, also with twice the limit.",
            Ending.FULL: "The judge's context window is used up.",
            Ending.REFUSED: "The judge's provider declined to answer.",
        }.get(self.ending, "The judge's output could not be read.")


class Calls:
    """Calls of one model with limits.

    Temperature 0 is asked for where the provider takes it; Anthropic's current models do not.
    """

    def __init__(
        self, provider: str | None, client: Any | None, *, max_output_tokens: int, timeout: float
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet."""
        self._provider = provider
        self._client = client
        self._max_output_tokens = max_output_tokens
        self._timeout = timeout
        self._takes_temperature = True
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    @property
    def model(self) -> str:
        """Provider and model, for names."""
        if self._client is None:
            return self._provider or f"anthropic/{DEFAULT_MODEL}"
        return self._provider or type(self._client).__name__

    def check(self) -> None:
        """Find out, without sending anything, whether the provider could be used at all.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ConfigError: The provider is not known.
        """
        connect(self._provider, self._client)

    async def ask(self, system: str, body: dict[str, Any], shape: type[JudgeAnswer]) -> Reading:
        """Ask once; a cut answer is asked for once more with twice the room.

        Args:
            system: The prompt, sent as it is.
            body: What is asked about, sent as JSON: data, whatever it says.
            shape: What comes back.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ProviderError: The call failed.
        """
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._provider, self._client)
        connection = self._connections[loop]
        messages = BuiltMessages(system=system, blocks=(as_json(body),), labels={})
        reading = await self._call(connection, messages, shape, self._max_output_tokens)
        if reading.ending is not Ending.CUT:
            return reading
        again = await self._call(connection, messages, shape, 2 * self._max_output_tokens)
        return again.model_copy(update={"usage": reading.usage + again.usage})

    async def _call(
        self, connection: Connection, messages: BuiltMessages, shape: type[JudgeAnswer], limit: int
    ) -> Reading:
        responses: list[Any] = []
        steady = self._takes_temperature and not connection.anthropic
        answer: JudgeAnswer | None = None
        try:
            with anyio.fail_after(self._timeout):
                answer = await connection.call(
                    messages,
                    shape,
                    max_output_tokens=limit,
                    on_response=responses.append,
                    options={"temperature": 0} if steady else None,
                )
        except GroundedRAGError:
            raise
        except Exception as error:
            # instructor wraps whatever happens; without a response, the call itself failed.
            cause = root_cause(error)
            if not responses and steady and "temperature" in str(cause).lower():
                self._takes_temperature = False
                return await self._call(connection, messages, shape, limit)
            if not responses:
                raise provider_error(cause, connection.provider) from error
        # The stop reason comes first: an answer that was cut or refused is never read.
        response = responses[-1] if responses else None
        ending = ending_of(response)
        return Reading(
            answer=answer if ending in (Ending.COMPLETE, Ending.UNSTATED) else None,
            ending=ending,
            usage=sum((usage_of(each) for each in responses), Usage()),
        )


def as_json(body: dict[str, Any]) -> str:
    """Return `body` as JSON text; lone surrogates, which cannot be sent, become U+FFFD."""
    return _SURROGATE.sub("\ufffd", json.dumps(body, ensure_ascii=False, indent=1))
