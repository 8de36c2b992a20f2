"""A judge on any provider that instructor knows: one narrow question, answered by a tool call."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import anyio

from grounded_rag.config import DEFAULT_MODEL, MODEL_TIMEOUT
from grounded_rag.errors import ConfigError, GroundedRAGError
from grounded_rag.generate.clients import ModelCalls, Reply, connect
from grounded_rag.generate.messages import BuiltMessages, estimate_tokens
from grounded_rag.generate.passages import sendable
from grounded_rag.generate.responses import Ending
from grounded_rag.judge.verdicts import (
    Ballot,
    JudgeAnswer,
    JudgePrompt,
    Mode,
    RelevanceVerdict,
    Verdicts,
    WholeVerdict,
    majority,
    read_verdicts,
    read_whole,
    unsaid,
)
from grounded_rag.protocols import Judgement, JudgeRequest
from grounded_rag.relevance import Ruling
from grounded_rag.types import Usage

_MAX_VOTES = 9
AnswerT = TypeVar("AnswerT", bound=JudgeAnswer)


class LLMJudge:
    """A `Judge` that asks a language model whether cited statements support claims.

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
        timeout: float = MODEL_TIMEOUT,
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
            prompts: Folder with your own `judge.md` or `judge_holistic.md`.
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
        self._questions = _Questions(
            JudgePrompt.load(mode, None if prompts is None else Path(prompts)),
            provider,
            client,
            max_output_tokens=max_output_tokens,
            timeout=timeout,
        )
        self._votes = votes
        self._mode: Mode = mode
        self._background = mode == "per_claim" if background is None else background
        self._max_input_tokens = max_input_tokens

    @property
    def name(self) -> str:
        """Provider, model, prompt, votes and an unusual background: for fingerprints."""
        votes = f" x{self._votes}" if self._votes > 1 else ""
        background = "with" if self._background else "without"
        usual = self._background == (self._mode == "per_claim")
        shown = "" if usual else f" {background} background"
        return f"{self._questions.model} {self._mode}@{self._questions.prompt.digest}{votes}{shown}"

    def check(self) -> None:
        """Find out, without sending anything, whether the provider could be used at all.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ConfigError: The provider is not known.
        """
        self._questions.check()

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade the claims of a draft.

        Returns:
            One opinion per claim; without a grade where the judge's answer could not be used.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ProviderError: Every call failed.
        """
        ballots: list[Ballot] = []
        usage = Usage()
        failures: list[GroundedRAGError] = []
        for spoken in await self._poll(self._body(request)):
            if isinstance(spoken, GroundedRAGError):
                failures.append(spoken)
                ballots.append(unsaid(request.items, f"The judge failed: {spoken.message}"))
                continue
            usage += spoken.usage
            ballots.append(self._ballot(request, spoken))
        if len(failures) == len(ballots):
            raise failures[0]
        return Judgement(opinions=majority(request.items, ballots), usage=usage)

    async def _poll(self, body: dict[str, Any]) -> list[Reply[JudgeAnswer] | GroundedRAGError]:
        shape: type[JudgeAnswer] = Verdicts if self._mode == "per_claim" else WholeVerdict
        spoken: list[Reply[JudgeAnswer] | GroundedRAGError] = []

        async def vote() -> None:
            try:
                spoken.append(await self._questions.ask(body, shape))
            except GroundedRAGError as error:
                spoken.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(self._votes):
                group.start_soon(vote)
        return spoken

    def _ballot(self, request: JudgeRequest, reply: Reply[JudgeAnswer]) -> Ballot:
        if isinstance(reply.parsed, Verdicts):
            return read_verdicts(request.items, reply.parsed, context=request.context)
        if isinstance(reply.parsed, WholeVerdict):
            return read_whole(request.items, reply.parsed, context=request.context)
        return unsaid(request.items, _trouble(reply.ending))

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "claims": [
                {"number": number, "claim": item.claim, "evidence": list(item.evidence)}
                for number, item in enumerate(request.items, start=1)
            ]
        }
        if not self._background:
            return body
        left = self._max_input_tokens - estimate_tokens(
            self._questions.prompt.text + _as_json(body)
        )
        shown: list[str] = []
        for text in request.context:
            left -= estimate_tokens(text)
            if left < 0:
                break
            shown.append(text)
        return body | {"question": request.question or "", "background": shown}


class LLMRelevanceJudge:
    """A `RelevanceJudge`: asked only about answers that the embedding doubts.

    It does not ask whether the answer is true or supported.
    """

    def __init__(
        self,
        provider: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        """Choose a model; nothing is sent and no key is looked for yet.

        Args:
            provider: "provider/model", as for `LLMJudge`.
            client: Your own client, as for `LLMJudge`.
            prompts: Folder with your own `relevance.md`.
            timeout: Most seconds for one call.

        Raises:
            PromptError: The prompt cannot be read or lacks what a judge needs.
        """
        self._questions = _Questions(
            JudgePrompt.load("relevance", None if prompts is None else Path(prompts)),
            provider,
            client,
            max_output_tokens=256,
            timeout=timeout,
        )

    @property
    def name(self) -> str:
        """Provider, model and prompt."""
        return f"{self._questions.model} relevance@{self._questions.prompt.digest}"

    async def relevant(self, question: str, answer: str) -> Ruling:
        """Say whether `answer` is to the point of `question`.

        Raises:
            ProviderError: The call failed.
        """
        body = {"question": question, "answer": answer}
        reply = await self._questions.ask(body, RelevanceVerdict)
        said = reply.parsed.relevant if reply.parsed is not None else None
        return Ruling(relevant=said, usage=reply.usage)


class _Questions:
    """Questions to one model. The prompt is sent as it is: nothing is ever filled into it."""

    def __init__(
        self,
        prompt: JudgePrompt,
        provider: str | None,
        client: Any | None,
        *,
        max_output_tokens: int,
        timeout: float,
    ) -> None:
        self.prompt = prompt
        self._calls = ModelCalls(provider, client, timeout=timeout)
        self._max_output_tokens = max_output_tokens

    @property
    def model(self) -> str:
        calls = self._calls
        if calls.client is None:
            return calls.model or f"anthropic/{DEFAULT_MODEL}"
        return calls.model or type(calls.client).__name__

    def check(self) -> None:
        connect(self._calls.model, self._calls.client)

    async def ask(self, body: dict[str, Any], shape: type[AnswerT]) -> Reply[AnswerT]:
        """Ask about `body`, which is data; a cut answer is asked for again with twice the room."""
        messages = BuiltMessages(system=self.prompt.text, blocks=(_as_json(body),), labels={})
        room = self._max_output_tokens
        first = await self._calls.ask(messages, shape, max_output_tokens=room, steady=True)
        if first.ending is not Ending.CUT:
            return first
        second = await self._calls.ask(messages, shape, max_output_tokens=2 * room, steady=True)
        return replace(second, usage=first.usage + second.usage)


def _as_json(body: dict[str, Any]) -> str:
    return sendable(json.dumps(body, ensure_ascii=False, indent=1))


def _trouble(ending: Ending) -> str:
    return {
        Ending.CUT: "The judge's output was cut, also with twice the limit.",
        Ending.FULL: "The judge's context window is used up.",
        Ending.REFUSED: "The judge's provider declined to answer.",
    }.get(ending, "The judge's output could not be read.")
