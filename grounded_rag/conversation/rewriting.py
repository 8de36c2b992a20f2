"""Follow-ups made self-standing, from earlier questions alone: by a model, or by rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from grounded_rag.config import MODEL_TIMEOUT
from grounded_rag.conversation.follow_ups import stand_alone
from grounded_rag.errors import ProviderError
from grounded_rag.generate.clients import ModelCalls
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.passages import sendable
from grounded_rag.generate.prompts import read_prompt

_MOST_EARLIER = 6
_LONGEST_WRITTEN = 2_000


class SelfStanding(BaseModel):
    """The question, made self-standing."""

    question: str = Field(description="The question as it would be asked on its own.")


class PromptRewriter:
    """Asks a model through instructor. Where it fails, a conversation goes on with the rules."""

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        """Choose model and prompt; nothing is sent and no key is looked for yet.

        Args:
            model: See `StructuredGenerator`.
            client: See `StructuredGenerator`.
            prompts: Folder with your own `rewrite.md`; None takes the built-in one.
            timeout: Most seconds for one call.

        Raises:
            PromptError: The prompt cannot be read or has no version line.
        """
        self._system = read_prompt(None if prompts is None else Path(prompts), "rewrite.md")
        self._calls = ModelCalls(model, client, timeout=timeout)

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question made self-standing; without earlier ones nothing is asked.

        Raises:
            MissingKeyError: There are no credentials.
            ProviderError: The provider failed, or what it wrote cannot be used.
        """
        if not earlier:
            return question
        body = json.dumps(
            {"earlier": list(earlier[-_MOST_EARLIER:]), "question": question}, ensure_ascii=False
        )
        messages = BuiltMessages(system=self._system, blocks=(sendable(body),), labels={})
        reply = await self._calls.ask(messages, SelfStanding, max_output_tokens=512)
        written = reply.parsed.question.strip() if reply.parsed is not None else ""
        # What was cut or refused, or is no question of a sane length, is not used.
        if not written or len(written) > _LONGEST_WRITTEN:
            raise ProviderError(
                "The rewriter returned no question that can be used.",
                hint="Name another model, or pass rewriter=RuleRewriter().",
            )
        return written


class RuleRewriter:
    """Makes follow-ups self-standing by `stand_alone`."""

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return the question, completed from the last earlier one."""
        return stand_alone(question, earlier)
