"""A judge on any provider that instructor knows: one call for all claims of a draft."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import anyio

from grounded_rag.config import DEFAULT_MODEL
from grounded_rag.errors import ConfigError, GroundedRAGError
from grounded_rag.generate.clients import Connection, connect
from grounded_rag.generate.failures import provider_error, root_cause
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.responses import Ending, ending_of, usage_of
from grounded_rag.generate.tokens import estimate_tokens
from grounded_rag.judge.prompts import JudgePrompt, Mode
from grounded_rag.judge.reading import Ballot, majority, read_verdicts, read_whole, unsaid
from grounded_rag.judge.schema import JudgeAnswer, Verdicts, WholeVerdict
from grounded_rag.protocols import Judgement, JudgeRequest
from grounded_rag.types import Frozen, Usage

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MAX_VOTES = 9


class _Reading(Frozen):
    """What one call gave: an answer, or how it ended without one."""

    answer: JudgeAnswer | None = None
    ending: Ending = Ending.UNSTATED
    usage: Usage = Usage()


class LLMJudge:
    """A `Judge` that asks a language model whether cited sentences support claims.

    All claims of a draft travel as JSON in one call, and come back with one grade each and the
    words of the evidence that it rests on. Whatever cannot be read, is cut or refused is "could
    not check". Temperature 0 is asked for where the provider takes it; Anthropic's current models
    do not: there, stability comes from the narrow schema, and from votes where asked.
    """

    def __init__(
        self,
        provider: str | None = None,
        *,
        client: Any | None = None,
        votes: int = 1,
        mode: Mode = "per_claim",
        prompts: Path | str | None = None,
        background: bool | None = None,
        max_output_tokens: int = 2_048,
        max_input_tokens: int = 24_000,
        timeout: float = 60.0,
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet.

        Args:
            provider: "provider/model", such as "anthropic/…" or "openai/…"; by default the model
                of `config.DEFAULT_MODEL` on Anthropic. With `client`, the model's bare name.
            client: Your own client, as for `StructuredGenerator`.
            votes: Calls for one draft; each claim gets what more than half of them say. More
                than one costs that many times as much.
            mode: `per_claim` grades each claim; `holistic` asks one cheaper question about the
                answer as a whole.
            prompts: Folder with a `judge.md` (or `judge_holistic.md`) of one's own.
            background: Whether the judge sees the whole cited chunks and the question, to know
                what "it" stands for. Never evidence; `holistic` is cheaper for leaving it out.
            max_output_tokens: Limit of one output; a cut output is tried once more with twice it.
            max_input_tokens: Limit of the input; background beyond it is left out.
            timeout: Most seconds for one call.

        Raises:
            ConfigError: `votes` is not between 1 and 9, or the mode is unknown.
            PromptError: The prompt cannot be read or lacks what a judge needs.
        """
        if not 1 <= votes <= _MAX_VOTES:
            raise ConfigError(
                f"A judge cannot vote {votes} times.", hint=f"Give votes from 1 to {_MAX_VOTES}."
            )
        if mode not in ("per_claim", "holistic"):
            raise ConfigError(
                f"There is no judge mode {mode!r}.", hint='Use "per_claim" or "holistic".'
            )
        self._provider = provider
        self._client = client
        self._votes = votes
        self._mode: Mode = mode
        self._prompt = JudgePrompt.load(mode, None if prompts is None else Path(prompts))
        self._background = mode == "per_claim" if background is None else background
        self._max_output_tokens = max_output_tokens
        self._max_input_tokens = max_input_tokens
        self._timeout = timeout
        self._takes_temperature = True
        # A client keeps connections that belong to the loop they were first used in.
        self._connections: WeakKeyDictionary[asyncio.AbstractEventLoop, Connection] = (
            WeakKeyDictionary()
        )

    @property
    def name(self) -> str:
        """Provider, model, prompt and votes: what a fingerprint has to tell apart."""
        if self._client is None:
            model = self._provider or f"anthropic/{DEFAULT_MODEL}"
        else:
            model = self._provider or type(self._client).__name__
        votes = f" x{self._votes}" if self._votes > 1 else ""
        return f"{model} {self._mode}@{self._prompt.digest}{votes}"

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade the claims of a draft.

        Args:
            request: Claims with their cited sentences.

        Returns:
            One opinion a claim; without a grade where the judge's answer could not be used.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ProviderError: Every call failed.
        """
        connection = self._connected()
        messages = self._messages(request)
        ballots: list[Ballot] = []
        usage = Usage()
        failures: list[GroundedRAGError] = []
        for spoken in await self._poll(connection, messages):
            if isinstance(spoken, GroundedRAGError):
                failures.append(spoken)
                ballots.append(unsaid(request.items, f"The judge failed: {spoken.message}"))
                continue
            usage += spoken.usage
            ballots.append(self._ballot(request, spoken))
        if len(failures) == len(ballots):
            raise failures[0]
        return Judgement(opinions=majority(request.items, ballots), usage=usage)

    async def _poll(
        self, connection: Connection, messages: BuiltMessages
    ) -> list[_Reading | GroundedRAGError]:
        """Make the calls of all votes at once."""
        spoken: list[_Reading | GroundedRAGError] = []

        async def vote() -> None:
            try:
                spoken.append(await self._read(connection, messages))
            except GroundedRAGError as error:
                spoken.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(self._votes):
                group.start_soon(vote)
        return spoken

    def _ballot(self, request: JudgeRequest, reading: _Reading) -> Ballot:
        if isinstance(reading.answer, Verdicts):
            return read_verdicts(request.items, reading.answer)
        if isinstance(reading.answer, WholeVerdict):
            return read_whole(request.items, reading.answer)
        detail = {
            Ending.CUT: "The judge's output was cut, also with twice the limit.",
            Ending.FULL: "The judge's context window is used up.",
            Ending.REFUSED: "The judge's provider declined to answer.",
        }.get(reading.ending, "The judge's output could not be read.")
        return unsaid(request.items, detail)

    def _connected(self) -> Connection:
        loop = asyncio.get_running_loop()
        if loop not in self._connections:
            self._connections[loop] = connect(self._provider, self._client)
        return self._connections[loop]

    def _messages(self, request: JudgeRequest) -> BuiltMessages:
        """Lay out the request as JSON: data, whatever it says."""
        body: dict[str, Any] = {
            "claims": [
                {"number": number, "claim": item.claim, "evidence": list(item.evidence)}
                for number, item in enumerate(request.items, start=1)
            ]
        }
        left = self._max_input_tokens - estimate_tokens(self._prompt.text + _json(body))
        if self._background:
            shown: list[str] = []
            for text in request.context:
                left -= estimate_tokens(text)
                if left < 0:
                    break
                shown.append(text)
            body |= {"question": request.question or "", "background": shown}
        return BuiltMessages(system=self._prompt.text, blocks=(_json(body),), labels={})

    async def _read(self, connection: Connection, messages: BuiltMessages) -> _Reading:
        reading = await self._call(connection, messages, self._max_output_tokens)
        if reading.ending is not Ending.CUT:
            return reading
        again = await self._call(connection, messages, 2 * self._max_output_tokens)
        return again.model_copy(update={"usage": reading.usage + again.usage})

    async def _call(self, connection: Connection, messages: BuiltMessages, limit: int) -> _Reading:
        shape: type[JudgeAnswer] = Verdicts if self._mode == "per_claim" else WholeVerdict
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
                return await self._call(connection, messages, limit)
            if not responses:
                raise provider_error(cause, connection.provider) from error
        # The stop reason comes first: an answer that was cut or refused is never read.
        response = responses[-1] if responses else None
        ending = ending_of(response)
        readable = ending in (Ending.COMPLETE, Ending.UNSTATED)
        return _Reading(
            answer=answer if readable else None,
            ending=ending,
            usage=sum((usage_of(each) for each in responses), Usage()),
        )


def _json(body: dict[str, Any]) -> str:
    # Lone surrogates cannot be sent.
    return _SURROGATE.sub("\ufffd", json.dumps(body, ensure_ascii=False, indent=1))
