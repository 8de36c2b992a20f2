"""What may enter a pipeline: questions that can be asked, passages that the policy admits."""

from __future__ import annotations

from grounded_rag.config import Policy
from grounded_rag.errors import QuestionError
from grounded_rag.types import Instant, RetrievedChunk
from grounded_rag.validity import current
from grounded_rag.verification import addresses_assistant


def admitted(chunk: RetrievedChunk, policy: Policy, as_of: Instant) -> bool:
    """Whether the policy lets a chunk reach the generator, whichever retriever found it."""
    if not chunk.chunk.text.strip():
        return False
    if policy.stale == "exclude" and not current(chunk.validity, as_of=as_of):
        return False
    return policy.injected != "quarantine" or not addresses_assistant(chunk.chunk.text)


def check_question(question: str) -> None:
    """Refuse a question that cannot be asked.

    Raises:
        QuestionError: It is empty or holds lone surrogates.
    """
    if not question.strip():
        raise QuestionError("The question is empty.", hint="Ask something in plain words.")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QuestionError(
            f"The question holds a broken character at position {error.start}.",
            hint="Send the question as valid Unicode text.",
        ) from error
