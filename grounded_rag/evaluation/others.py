"""From a recorded answer of another system to a record that the same metrics read."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from grounded_rag.config import Policy
from grounded_rag.evaluation.attribution import attribute
from grounded_rag.evaluation.formats import Context, Recorded, Unreadable
from grounded_rag.evaluation.records import EvalRecord, OtherAnswer, RecordError
from grounded_rag.protocols import SupportCheck
from grounded_rag.resources import default_refusal
from grounded_rag.types import Chunk, Draft, Outcome, RetrievedChunk, Span
from grounded_rag.verification import verify


def judge_other(
    content: Recorded | Unreadable,
    *,
    policy: Policy,
    refusal: str = "",
    checks: Sequence[SupportCheck] | None = None,
) -> EvalRecord:
    """Verify a recorded answer and return its record.

    A refusal is decided by structure: the record says so, or the whole text is the refusal string
    in force, presentation aside. No phrases are guessed.

    Args:
        content: What was read.
        policy: Rules for quotes; which tiers count is the run's policy too.
        refusal: The system's refusal string; "" means the built-in one.
        checks: Support checks; None means the built-in ones, which confirm near-copies alone.
    """
    if isinstance(content, Unreadable):
        return EvalRecord(item=content.item, error=content.error)
    contexts = _chunks(content.contexts)
    refused = content.refused is True or (
        content.refused is None and _declines(content, refusal or default_refusal())
    )
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
    draft = Draft(claims=content.claims)
    if not content.claims:
        draft = attribute(content.text, contexts, question=content.item.question, checks=checks)
    verification = verify(
        draft,
        contexts,
        question=content.item.question,
        as_of=content.item.as_of,
        quote_match=policy.quote_match,
        checks=checks,
    )
    other = OtherAnswer(
        text=content.text,
        contexts=contexts,
        draft=draft,
        own_citations=bool(content.claims),
        verification=verification,
    )
    return EvalRecord(item=content.item, other=other)


def _declines(content: Recorded, refusal: str) -> bool:
    if content.claims:
        return False
    if not content.text.strip():
        # Nothing was said: that is an empty answer, which metrics count as one.
        return False
    outcome = verify(content.text, [], refusal=refusal, checks=()).outcome
    return outcome is Outcome.REFUSED


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
