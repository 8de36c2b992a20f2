"""A language model that says whether an answer is to the point of its question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grounded_rag.judge.calls import Calls
from grounded_rag.judge.prompts import JudgePrompt
from grounded_rag.judge.schema import RelevanceVerdict
from grounded_rag.relevance import Ruling

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
