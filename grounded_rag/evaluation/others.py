"""From a recorded answer of another system to a record that the same metrics read."""

from __future__ import annotations

import hashlib

from grounded_rag.evaluation.attribution import attribute
from grounded_rag.evaluation.formats import Context, Recorded, Unreadable
from grounded_rag.evaluation.openness import support_of
from grounded_rag.evaluation.records import EvalRecord, OtherAnswer, RecordError
from grounded_rag.types import Chunk, Draft, Outcome, RetrievedChunk, Span
from grounded_rag.verification import verify
from grounded_rag.verification.rules import Rules


def judge_other(content: Recorded | Unreadable, *, rules: Rules) -> EvalRecord:
    """Verify a recorded answer and return its record.

    A refusal is decided by structure: the record says so, or the whole text is the refusal string
    in force, presentation aside. No phrases are guessed.

    Args:
        content: What was read.
        rules: The rules in force; their refusal string is that of the system.
    """
    if isinstance(content, Unreadable):
        return EvalRecord(item=content.item, error=content.error)
    contexts = _chunks(content.contexts)
    refused = content.refused is True or (content.refused is None and _declines(content, rules))
    if refused:
        other = OtherAnswer(text=content.text, contexts=contexts, refused=True)
        return EvalRecord(item=content.item, other=other)
    if not contexts and (content.text.strip() or content.claims):
        error = RecordError(
            kind="NoContext",
            message="The answer comes without any context, so nothing in it can be judged.",
            hint="Record what was retrieved under `contexts`.",
        )
        return EvalRecord(item=content.item, error=error)
    draft, apart = Draft(claims=content.claims), tuple[str, ...]()
    question = content.item.question
    if not content.claims:
        draft, apart = attribute(content.text, contexts, question=question, rules=rules)
    verification = verify(draft, contexts, question=question, as_of=content.item.as_of, rules=rules)
    other = OtherAnswer(
        text=content.text,
        contexts=contexts,
        draft=draft,
        own_citations=bool(content.claims),
        verification=verification,
        support=support_of(verification.claims),
        apart=apart,
    )
    return EvalRecord(item=content.item, other=other)


def _declines(content: Recorded, rules: Rules) -> bool:
    if content.claims:
        return False
    if not content.text.strip():
        # Nothing was said: that is an empty answer, which metrics count as one.
        return False
    return verify(content.text, [], rules=rules).outcome is Outcome.REFUSED


def _chunks(contexts: tuple[Context, ...]) -> tuple[RetrievedChunk, ...]:
    return tuple(
        RetrievedChunk(
            chunk=Chunk(
                id=context.id,
                doc_id=context.source or context.id,
                span=Span(start=0, end=len(context.text)),
                text=context.text,
                content_hash=hashlib.sha256(context.text.encode()).hexdigest(),
            ),
            rank=rank,
        )
        for rank, context in enumerate(contexts, start=1)
    )
