"""A judge on any provider that instructor knows: one call for all claims of a draft."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from grounded_rag.errors import ConfigError, GroundedRAGError
from grounded_rag.generate.messages import estimate_tokens
from grounded_rag.judge.calls import (
    Calls,
    JudgeAnswer,
    JudgePrompt,
    Mode,
    Reading,
    RelevanceVerdict,
    Verdicts,
    WholeVerdict,
    as_json,
    grade_of,
)
from grounded_rag.protocols import Grade, JudgeItem, Judgement, JudgeRequest, Opinion
from grounded_rag.relevance import Ruling
from grounded_rag.types import Usage
from grounded_rag.verification.deciders import unfounded

Ballot = tuple[Opinion, ...]
"""The opinions of one answer, one a claim, in order."""


def unsaid(items: Sequence[JudgeItem], detail: str) -> Ballot:
    """Return a ballot that says nothing about any claim, and why."""
    return (Opinion(grade=None, detail=detail),) * len(items)


def read_verdicts(items: Sequence[JudgeItem], answer: Verdicts) -> Ballot:
    """Return the opinion on each claim; two grades for one claim are none.

    Args:
        items: The claims, numbered from 1 in the request.
        answer: What the judge said.
    """
    return tuple(_opinion(number, answer) for number in range(1, len(items) + 1))


def _opinion(number: int, answer: Verdicts) -> Opinion:
    given = [item for item in answer.verdicts if item.number == number]
    grades = {grade_of(item.verdict) for item in given}
    if not given:
        return Opinion(grade=None, detail="The judge gave no verdict on this claim.")
    if len(grades) > 1 or None in grades:
        return Opinion(grade=None, detail="The judge gave no single verdict on this claim.")
    words = dict.fromkeys(text for item in given for text in item.rests_on)
    return Opinion(grade=grades.pop(), rests_on=tuple(words))


def read_whole(items: Sequence[JudgeItem], answer: WholeVerdict) -> Ballot:
    """Return what a verdict on the whole answer says about each claim.

    Support of the whole is support of every claim for which words of its own evidence were
    named. Where the whole is not supported, nobody was asked which claim fails: with several
    claims, none of them could be checked.

    Args:
        items: The claims.
        answer: What the judge said about all of them together.
    """
    grade = grade_of(answer.verdict)
    if grade is None:
        return unsaid(items, "The judge gave no verdict.")
    if len(items) == 1:
        return (Opinion(grade=grade, rests_on=tuple(answer.rests_on)),)
    if grade is not Grade.SUPPORTED:
        detail = (
            "The judge does not find the answer as a whole supported, and was not asked which "
            "claim fails."
        )
        return unsaid(items, detail)
    everything = [text for item in items for text in item.evidence]
    missing = unfounded(everything, answer.rests_on)
    if missing is not None:
        return unsaid(items, f"The judge's verdict is void: {missing}.")
    return tuple(_share(item, answer.rests_on) for item in items)


def _share(item: JudgeItem, rests_on: Sequence[str]) -> Opinion:
    own = tuple(words for words in rests_on if unfounded(item.evidence, [words]) is None)
    if not own:
        return Opinion(grade=None, detail="The judge named no words of this claim's evidence.")
    return Opinion(grade=Grade.SUPPORTED, rests_on=own)


def majority(items: Sequence[JudgeItem], ballots: Sequence[Ballot]) -> Ballot:
    """Return the opinion of more than half of the ballots on each claim, or none.

    A vote that rests on words that are not there is no vote for anything.

    Args:
        items: The claims.
        ballots: The answers, at least one.
    """
    if len(ballots) == 1:
        return ballots[0]
    return tuple(
        _elected(item, [ballot[number] for ballot in ballots]) for number, item in enumerate(items)
    )


def _elected(item: JudgeItem, votes: Sequence[Opinion]) -> Opinion:
    valid = [vote for vote in votes if _counts(item, vote)]
    tally = Counter(vote.grade for vote in valid).most_common(1)
    if not tally or tally[0][1] * 2 <= len(votes):
        said = ", ".join(vote.grade.value if vote.grade else "nothing" for vote in votes)
        return Opinion(grade=None, detail=f"The judge's votes have no majority: {said}.")
    return next(vote for vote in valid if vote.grade is tally[0][0])


def _counts(item: JudgeItem, vote: Opinion) -> bool:
    if vote.grade is None or vote.grade is Grade.NOT_MENTIONED:
        return vote.grade is not None
    return unfounded(item.evidence, vote.rests_on) is None


_MAX_VOTES = 9


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
        self._calls = Calls(provider, client, max_output_tokens=max_output_tokens, timeout=timeout)
        self._votes = votes
        self._mode: Mode = mode
        self._prompt = JudgePrompt.load(mode, None if prompts is None else Path(prompts))
        self._background = mode == "per_claim" if background is None else background
        self._max_input_tokens = max_input_tokens

    @property
    def name(self) -> str:
        """Provider, model, prompt, votes and an unusual background: for fingerprints."""
        votes = f" x{self._votes}" if self._votes > 1 else ""
        background = "with" if self._background else "without"
        usual = self._background == (self._mode == "per_claim")
        shown = "" if usual else f" {background} background"
        return f"{self._calls.model} {self._mode}@{self._prompt.digest}{votes}{shown}"

    def check(self) -> None:
        """Find out, without sending anything, whether the provider could be used at all.

        Raises:
            MissingKeyError: There are no credentials.
            MissingExtraError: The provider's package is not installed.
            ConfigError: The provider is not known.
        """
        self._calls.check()

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade the claims of a draft.

        Args:
            request: Claims with the statements that they cite.

        Returns:
            One opinion a claim; without a grade where the judge's answer could not be used.

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

    async def _poll(self, body: dict[str, Any]) -> list[Reading | GroundedRAGError]:
        """Make the calls of all votes at once."""
        shape: type[JudgeAnswer] = Verdicts if self._mode == "per_claim" else WholeVerdict
        spoken: list[Reading | GroundedRAGError] = []

        async def vote() -> None:
            try:
                spoken.append(await self._calls.ask(self._prompt.text, body, shape))
            except GroundedRAGError as error:
                spoken.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(self._votes):
                group.start_soon(vote)
        return spoken

    def _ballot(self, request: JudgeRequest, reading: Reading) -> Ballot:
        if isinstance(reading.answer, Verdicts):
            return read_verdicts(request.items, reading.answer)
        if isinstance(reading.answer, WholeVerdict):
            return read_whole(request.items, reading.answer)
        return unsaid(request.items, reading.trouble)

    def _body(self, request: JudgeRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "claims": [
                {"number": number, "claim": item.claim, "evidence": list(item.evidence)}
                for number, item in enumerate(request.items, start=1)
            ]
        }
        if not self._background:
            return body
        left = self._max_input_tokens - estimate_tokens(self._prompt.text + as_json(body))
        shown: list[str] = []
        for text in request.context:
            left -= estimate_tokens(text)
            if left < 0:
                break
            shown.append(text)
        return body | {"question": request.question or "", "background": shown}


_SAID = {"RELEVANT": True, "BESIDE_THE_QUESTION": False}


class LLMRelevanceJudge:
    """A `RelevanceJudge`: asked only about answers that the embedding doubts.

    Whether the answer is true or supported is none of its business.
    """

    def __init__(
        self,
        provider: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        timeout: float = 30.0,
    ) -> None:
        """Choose a model; nothing is sent and no key is looked for yet.

        Args:
            provider: "provider/model", as for `LLMJudge`.
            client: Your own client, as for `LLMJudge`.
            prompts: Folder with a `relevance.md` of one's own.
            timeout: Most seconds for one call.

        Raises:
            PromptError: The prompt cannot be read or lacks what a judge needs.
        """
        self._calls = Calls(provider, client, max_output_tokens=256, timeout=timeout)
        self._prompt = JudgePrompt.load("relevance", None if prompts is None else Path(prompts))

    @property
    def name(self) -> str:
        """Provider, model and prompt."""
        return f"{self._calls.model} relevance@{self._prompt.digest}"

    async def relevant(self, question: str, answer: str) -> Ruling:
        """Say whether `answer` is to the point of `question`.

        Raises:
            ProviderError: The call failed.
        """
        body = {"question": question, "answer": answer}
        reading = await self._calls.ask(self._prompt.text, body, RelevanceVerdict)
        said = reading.answer.verdict if isinstance(reading.answer, RelevanceVerdict) else ""
        return Ruling(relevant=_SAID.get(said), usage=reading.usage)
