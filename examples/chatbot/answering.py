"""The one seam to grounded_rag: a question goes in, events come out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from grounded_rag import Answer, ClaimVerdict
from grounded_rag.conversation import Conversation, ConversationEvent, Outdated, Understood
from grounded_rag.events import (
    ClaimRejected,
    ClaimVerified,
    Drafting,
    Final,
    ReAsked,
    Retrieved,
)
from grounded_rag.types import Frozen, Instant


class Progress(Frozen):
    """Something is being done; nothing of it is an answer.

    Attributes:
        stage: What.
        detail: More about it, for people.
    """

    stage: Literal["waiting", "searching", "drafting", "checking", "asking_again"]
    detail: str = ""


class Verified(Frozen):
    """A sentence that will be in the answer; it is never taken back.

    Attributes:
        verdict: What was found about it.
    """

    verdict: ClaimVerdict


class FollowUp(Frozen):
    """The question as it was understood from the earlier ones; only where it was changed."""

    question: str


class Correction(Frozen):
    """An earlier answer of the conversation that no longer holds.

    Attributes:
        question: Its question.
        reasons: What speaks against it now.
    """

    question: str
    reasons: tuple[str, ...]


class Finished(Frozen):
    """The answer, or the refusal. It is the last event."""

    answer: Answer


Step = Progress | FollowUp | Correction | Verified | Finished


async def stream_answer(
    conversation: Conversation, question: str, *, as_of: Instant | None
) -> AsyncGenerator[Step]:
    """Answer a question, and tell how it goes on.

    Args:
        conversation: What was asked before, over the corpus that was chosen.
        question: The question; it may refer to earlier ones.
        as_of: Date for which the answer should hold; None means today.

    Raises:
        QuestionError: The question is empty.
        ProviderError: The named provider failed.
    """
    yield Progress(stage="searching")
    # Closed at once when the visitor leaves, so that no call of a provider goes on unseen.
    async with aclosing(conversation.astream(question, as_of=as_of)) as events:
        async for event in events:
            if not isinstance(event, Understood) or event.question != event.asked:
                yield _step(event)


def _step(event: ConversationEvent) -> Step:
    match event:
        case Understood():
            return FollowUp(question=event.question)
        case Outdated():
            return Correction(question=event.question, reasons=event.reasons)
        case Retrieved():
            return Progress(stage="drafting", detail=_count(len(event.chunks), "passage"))
        case Drafting(drafted=0):
            return Progress(stage="drafting")
        case Drafting():
            return Progress(stage="checking", detail=_count(event.drafted, "sentence"))
        case ClaimVerified():
            return Verified(verdict=event.verdict)
        case ClaimRejected():
            return Progress(stage="checking", detail="One sentence did not pass.")
        case ReAsked():
            return Progress(stage="asking_again")
        case Final():
            return Finished(answer=event.answer)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}."
