"""The one place that does I/O in order, and the only one that can return an answered `Answer`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import anyio
from pydantic import JsonValue

from grounded_rag.compose import compose
from grounded_rag.config import Policy
from grounded_rag.confirmation import verify_and_confirm
from grounded_rag.decision import Accept, Decline, Progress, advance, decide, refuse
from grounded_rag.errors import QuestionError
from grounded_rag.protocols import (
    EntailmentModel,
    Generation,
    GenerationRequest,
    Generator,
    Judge,
    Query,
    Reask,
    Retriever,
    SupportCheck,
)
from grounded_rag.types import (
    Answer,
    AnswerStatus,
    Attempt,
    Flag,
    Instant,
    Refusal,
    RefusalReason,
    RetrievedChunk,
    StopReason,
    Timings,
    Trace,
    Usage,
    Verification,
)
from grounded_rag.validity import current
from grounded_rag.verification import addresses_assistant

Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        retriever: Finds chunks.
        generator: Writes drafts.
        policy: Rules in force.
        refusal: The one refusal string.
        checks: Support checks, or None for the built-in ones.
        entailment, judge: What confirms claims that the checks leave open, or None.
        generator_name: Name shown in answers until the generator names its model.
        fingerprint: SHA-256 over policy and prompts.
        clock: Monotonic seconds.
    """

    retriever: Retriever
    generator: Generator
    policy: Policy
    refusal: str
    checks: Sequence[SupportCheck] | None = None
    entailment: EntailmentModel | None = None
    judge: Judge | None = None
    generator_name: str = ""
    fingerprint: str = ""
    clock: Clock = time.perf_counter


@dataclass(kw_only=True)
class _Run:
    """Mutable state of one question; it never leaves this module."""

    started: float
    question: str
    as_of: Instant
    chunks: tuple[RetrievedChunk, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    retrieve_seconds: float = 0.0
    generate_seconds: float = 0.0
    verify_seconds: float = 0.0


async def answer_question(
    question: str,
    *,
    parts: Parts,
    as_of: Instant,
    filters: Mapping[str, JsonValue] | None = None,
) -> Answer:
    """Retrieve, generate, verify, and ask again or refuse until the policy is satisfied.

    Args:
        question: The question.
        parts: What the pipeline is made of.
        as_of: Moment for which staleness is judged.
        filters: Metadata that documents must carry.

    Raises:
        QuestionError: The question is empty or holds lone surrogates.
        ProviderError: The generator's provider failed.
    """
    _check_question(question)
    run = _Run(started=parts.clock(), question=question, as_of=as_of)
    retrieved = await parts.retriever.retrieve(
        Query(text=question, k=parts.policy.k, as_of=as_of, filters=dict(filters or {}))
    )
    run.chunks = tuple(chunk for chunk in retrieved if _admitted(chunk, parts.policy, as_of))
    run.retrieve_seconds = parts.clock() - run.started
    if not run.chunks:
        return _refused(run, parts, refuse(RefusalReason.NOTHING_RETRIEVED))
    return await _attempts(run, parts)


def _admitted(chunk: RetrievedChunk, policy: Policy, as_of: Instant) -> bool:
    """Whether the policy lets a chunk reach the generator, whichever retriever found it."""
    if not chunk.chunk.text.strip():
        return False
    if policy.stale == "exclude" and not current(chunk.validity, as_of=as_of):
        return False
    return policy.injected != "quarantine" or not addresses_assistant(chunk.chunk.text)


def _check_question(question: str) -> None:
    if not question.strip():
        raise QuestionError("The question is empty.", hint="Ask something in plain words.")
    try:
        question.encode("utf-8")
    except UnicodeEncodeError as error:
        raise QuestionError(
            f"The question holds a broken character at position {error.start}.",
            hint="Send the question as valid Unicode text.",
        ) from error


async def _attempts(run: _Run, parts: Parts) -> Answer:
    progress = Progress()
    reask: Reask | None = None
    asked_about_output = False
    for number in range(1, parts.policy.max_attempts + 1):
        generation = await _generate(run, parts, reask, number)
        if generation is None:
            if parts.policy.on_failed_claim == "drop" and progress.held:
                return _accepted(run, parts, Accept(held=progress.held, partial=True))
            return _refused(run, parts, refuse(RefusalReason.BUDGET_EXHAUSTED))
        verification = await _verify(run, parts, generation)
        if verification is not None:
            progress = advance(progress, verification, parts.policy)
        decision = decide(
            progress,
            verification,
            stop=generation.stop,
            policy=parts.policy,
            may_ask_again=number < parts.policy.max_attempts and not _spent(run, parts),
            first=number == 1,
            asked_for_claims=asked_about_output,
        )
        if isinstance(decision, Accept):
            return _accepted(run, parts, decision)
        if isinstance(decision, Decline):
            return _refused(run, parts, decision.refusal)
        asked_about_output = asked_about_output or bool(decision.reask.note)
        reask = decision.reask
    raise AssertionError("decide() never asks again when it may not")


async def _generate(run: _Run, parts: Parts, reask: Reask | None, number: int) -> Generation | None:
    """Call the generator once; None means that the seconds of the policy ran out."""
    before = parts.clock()
    left = parts.policy.max_seconds - (before - run.started)
    generation: Generation | None = None
    with anyio.move_on_after(max(left, 0.0)):
        generation = await parts.generator.generate(
            GenerationRequest(
                question=run.question,
                chunks=run.chunks,
                refusal=parts.refusal,
                as_of=run.as_of,
                reask=reask,
            )
        )
    seconds = parts.clock() - before
    run.generate_seconds += seconds
    if generation is None:
        run.attempts.append(
            Attempt(number=number, stop=StopReason.TRUNCATED, seconds=seconds, detail="out of time")
        )
        return None
    run.usage = run.usage + generation.usage
    run.model = generation.model or run.model
    run.attempts.append(
        Attempt(
            number=number,
            stop=generation.stop,
            draft=generation.draft,
            usage=generation.usage,
            seconds=seconds,
            detail=generation.detail,
        )
    )
    return generation


async def _verify(run: _Run, parts: Parts, generation: Generation) -> Verification | None:
    if generation.draft is None or generation.stop is not StopReason.COMPLETE:
        return None
    before, spans_only = parts.clock(), parts.policy.support == "spans-only"
    verification, usage = await verify_and_confirm(
        generation.draft,
        run.chunks,
        question=run.question,
        as_of=run.as_of,
        refusal=parts.refusal,
        quote_match=parts.policy.quote_match,
        checks=() if spans_only else parts.checks,
        max_age=parts.policy.max_age,
        entailment=None if spans_only else parts.entailment,
        judge=None if spans_only else parts.judge,
        timeout=max(0.0, parts.policy.max_seconds - (before - run.started)),
        may_judge=run.usage.total_tokens < parts.policy.max_total_tokens,
    )
    run.verify_seconds += parts.clock() - before
    run.usage = run.usage + usage
    spent = run.attempts[-1].usage + usage
    run.attempts[-1] = run.attempts[-1].model_copy(
        update={"verification": verification, "usage": spent}
    )
    return verification


def _spent(run: _Run, parts: Parts) -> bool:
    return (
        run.usage.total_tokens >= parts.policy.max_total_tokens
        or parts.clock() - run.started >= parts.policy.max_seconds
    )


def _accepted(run: _Run, parts: Parts, accept: Accept) -> Answer:
    claims = tuple(held.verdict for held in accept.held)
    flags: list[Flag] = []
    for index, held in enumerate(accept.held):
        flags.extend(flag.model_copy(update={"claim": index}) for flag in held.flags)
    cited = dict.fromkeys(located.chunk_id for claim in claims for located in claim.located)
    by_id = {chunk.chunk.id: chunk for chunk in run.chunks}
    return Answer(
        question=run.question,
        status=AnswerStatus.PARTIAL if accept.partial else AnswerStatus.ANSWERED,
        text=compose(claims),
        claims=claims,
        unanswered=accept.unanswered,
        flags=tuple(flags),
        evidence=tuple(by_id[chunk_id] for chunk_id in cited),
        attempts=len(run.attempts),
        usage=run.usage,
        generator=run.model or parts.generator_name,
        policy=parts.policy.model_dump(mode="json"),
        fingerprint=parts.fingerprint,
        as_of=run.as_of,
        timings=_timings(run, parts),
        trace=_trace(run),
    )


def _refused(run: _Run, parts: Parts, refusal: Refusal) -> Answer:
    return Answer(
        question=run.question,
        status=AnswerStatus.REFUSED,
        text=parts.refusal,
        refusal=refusal,
        attempts=len(run.attempts),
        usage=run.usage,
        generator=run.model or parts.generator_name,
        policy=parts.policy.model_dump(mode="json"),
        fingerprint=parts.fingerprint,
        as_of=run.as_of,
        timings=_timings(run, parts),
        trace=_trace(run),
    )


def _timings(run: _Run, parts: Parts) -> Timings:
    return Timings(
        retrieve=run.retrieve_seconds,
        generate=run.generate_seconds,
        verify=run.verify_seconds,
        total=parts.clock() - run.started,
    )


def _trace(run: _Run) -> Trace:
    return Trace(retrieved=run.chunks, attempts=tuple(run.attempts))
