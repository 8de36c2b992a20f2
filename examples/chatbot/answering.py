"""The one seam to grounded_rag: a question goes in, events come out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from grounded_rag import Answer, GroundedRAG
from grounded_rag.types import Frozen, Instant


class Progress(Frozen):
    """Something is being done; nothing of it is an answer.

    Attributes:
        stage: What.
        detail: More about it, for people.
    """

    stage: Literal["waiting", "searching", "drafting", "checking", "asking_again"]
    detail: str = ""


class Finished(Frozen):
    """The answer, or the refusal. It is the last event."""

    answer: Answer


Event = Progress | Finished


async def stream_answer(
    rag: GroundedRAG, question: str, *, as_of: Instant | None
) -> AsyncIterator[Event]:
    """Answer a question, and tell how it goes on.

    Args:
        rag: Answers from the corpus that was chosen.
        question: The question.
        as_of: Date for which the answer should hold; None means today.

    Raises:
        QuestionError: The question is empty.
        ProviderError: The named provider failed.
    """
    yield Progress(stage="searching")
    yield Finished(answer=await rag.aquery(question, as_of=as_of))
