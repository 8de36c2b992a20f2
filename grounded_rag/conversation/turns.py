"""What a conversation is made of. No type here carries an answer's text to a generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from grounded_rag.events import Event
from grounded_rag.types import Answer, Frozen


class Outdated(Frozen):
    """An earlier answer that no longer holds against the index as it is now.

    Attributes:
        turn: 1-based number of the turn.
        question: Its question.
        reasons: One sentence a claim that does not hold, or a source that is outdated since.
    """

    kind: Literal["outdated"] = "outdated"
    turn: Annotated[int, Field(ge=1)]
    question: str
    reasons: tuple[str, ...]


class Understood(Frozen):
    """How a question was understood.

    Attributes:
        asked: The question as it was asked.
        question: The same made self-standing; equal to `asked` where it stood alone.
    """

    kind: Literal["understood"] = "understood"
    asked: str
    question: str


class Turn(Frozen):
    """One question of a conversation and its answer.

    Attributes:
        asked: The question as it was asked.
        question: The self-standing question that was answered.
        answer: The answer or the refusal; its `question` is the self-standing one.
        outdated: Earlier answers that were found not to hold any more when this was asked.
    """

    asked: str
    question: str
    answer: Answer
    outdated: tuple[Outdated, ...] = ()


ConversationEvent = Understood | Outdated | Event
"""Any event of a conversation, told apart by `kind`."""


@runtime_checkable
class Rewriter(Protocol):
    """Makes a follow-up question self-standing."""

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return a question that can be understood without the conversation.

        Args:
            question: The question as it was asked.
            earlier: Earlier questions, self-standing, oldest first. Answers are never among them.
        """
        ...
