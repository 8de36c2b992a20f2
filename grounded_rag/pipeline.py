"""The one place that does I/O in order, and the only one that can return an answered `Answer`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import anyio
from pydantic import JsonValue

from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.decision import (
    Accept,
    AskAgain,
    Decline,
    Held,
    Progress,
    advance,
    compose,
    decide,
    out_of_time,
    refuse,
    said,
    shipping,
)
from grounded_rag.errors import QuestionError
from grounded_rag.events import ClaimRejected, ClaimVerified, Drafting, Event, ReAsked, Retrieved
from grounded_rag.protocols import (
    Generation,
    GenerationRequest,
    Generator,
    Query,
    Reask,
    Retriever,
    TokenLogprob,
)
from grounded_rag.relevance import RelevanceCheck
from grounded_rag.streaming import Incoming, generate, keep, shows_early
from grounded_rag.types import (
    AnswerStatus,
    Attempt,
    Claim,
    ClaimVerdict,
    Draft,
    Flag,
    Instant,
    Outcome,
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
from grounded_rag.verification.drafts import clean_claim
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verifier import verify_and_confirm

Clock = Callable[[], float]


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        retriever: Finds chunks.
        generator: Writes drafts.
        policy: What an application chose: what ships, what is retried, when to refuse.
        rules: What counts as support and what decides it, made of the policy and the options.
        refusal: The one refusal string.
        relevance: How answers are looked at for relevance to the question, or None.
        generator_name: Name shown in answers until the generator names its model.
        fingerprint: SHA-256 over policy and prompts.
        clock: Monotonic seconds.
    """

    retriever: Retriever
    generator: Generator
    policy: Policy
    rules: Rules
    refusal: str
    relevance: RelevanceCheck | None = None
    generator_name: str = ""
    fingerprint: str = ""
    clock: Clock = time.perf_counter


Listener = Callable[[Event], object]
"""Told what happens; it must not block."""


@dataclass(kw_only=True)
class Run:
    """Mutable state of one question; it never leaves the pipeline."""

    started: float
    question: str
    as_of: Instant
    chunks: tuple[RetrievedChunk, ...] = ()
    attempts: list[Attempt] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    listener: Listener | None = None
    rejected_text: bool = False
    shown: dict[str, Held] = field(default_factory=dict)
    retrieve_seconds: float = 0.0
    generate_seconds: float = 0.0
    verify_seconds: float = 0.0

    def tell(self, event: Event) -> None:
        """Hand an event to whoever listens."""
        if self.listener is not None:
            self.listener(event)

    def show(self, held: Held) -> None:
        """Tell a claim that will be in the answer, once: equal ones merge there too."""
        if said(held.verdict) not in self.shown:
            self.shown[said(held.verdict)] = held
            self.tell(ClaimVerified(verdict=held.verdict, flags=held.flags))

    def as_told(self, held: Held) -> Held:
        """Return a claim with the citations it was told with, where it was told with others."""
        told = self.shown.get(said(held.verdict), held)
        return held if told.verdict.claim == held.verdict.claim else told

    def reject(self, verdict: ClaimVerdict) -> None:
        """Tell that a claim did not pass; its text goes along only if it was asked for."""
        self.tell(
            ClaimRejected(
                attempt=len(self.attempts) or 1,
                reason=verdict.withheld or verdict.reason,
                verdict=verdict if self.rejected_text else None,
            )
        )


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


async def answer_question(
    question: str,
    *,
    parts: Parts,
    as_of: Instant,
    filters: Mapping[str, JsonValue] | None = None,
    listener: Listener | None = None,
    rejected_text: bool = False,
) -> Answer:
    """Retrieve, generate, verify, and ask again or refuse until the policy is satisfied.

    With a listener the draft is read as it comes in, where the generator can stream. What is
    done with it is the same, so that the answer is the same.

    Args:
        question: The question.
        parts: What the pipeline is made of.
        as_of: Moment for which staleness is judged.
        filters: Metadata that documents must carry.
        listener: Told every event but the last, which is the returned answer.
        rejected_text: Whether events may carry the text of claims that did not pass.

    Raises:
        QuestionError: The question is empty or holds lone surrogates.
        ProviderError: The generator's provider failed.
    """
    check_question(question)
    run = Run(
        started=parts.clock(),
        question=question,
        as_of=as_of,
        listener=listener,
        rejected_text=rejected_text,
    )
    retrieved = await parts.retriever.retrieve(
        Query(text=question, k=parts.policy.k, as_of=as_of, filters=dict(filters or {}))
    )
    run.chunks = tuple(chunk for chunk in retrieved if admitted(chunk, parts.policy, as_of))
    run.retrieve_seconds = parts.clock() - run.started
    run.tell(Retrieved(chunks=run.chunks))
    if not run.chunks:
        return _refused(run, parts, refuse(RefusalReason.NOTHING_RETRIEVED))
    return await _attempts(run, parts)


async def _attempts(run: Run, parts: Parts) -> Answer:
    progress = Progress()
    asked: list[Reask] = []
    asked_about_output = False
    for number in range(1, parts.policy.max_attempts + 1):
        run.tell(Drafting(attempt=number))
        incoming = Incoming()
        generation = await _generate(run, parts, asked[-1] if asked else None, number, incoming)
        verification = await _verified(run, parts, generation, incoming)
        if verification is not None:
            progress = advance(progress, verification, parts.policy)
        if verification is None or verification.outcome is Outcome.INVALID_OUTPUT:
            progress = keep(progress, incoming.shown_alone(), parts.policy)
        if generation is None:
            return _concluded(run, parts, out_of_time(progress, parts.policy))
        decision = decide(
            progress,
            verification,
            stop=generation.stop,
            policy=parts.policy,
            may_ask_again=number < parts.policy.max_attempts and not _spent(run, parts),
            first=number == 1,
            asked_for_claims=asked_about_output,
            asked=asked,
        )
        if not isinstance(decision, AskAgain):
            return _concluded(run, parts, decision)
        asked_about_output = asked_about_output or bool(decision.reask.note)
        reask = decision.reask
        asked.append(reask)
        reasons = tuple(failed.reason for failed in reask.failed)
        run.tell(ReAsked(attempt=number + 1, reasons=reasons, note=reask.note))
    raise AssertionError("decide() never asks again when it may not")


def _concluded(run: Run, parts: Parts, decision: Accept | Decline) -> Answer:
    if isinstance(decision, Decline):
        return _refused(run, parts, decision.refusal)
    held = tuple(map(run.as_told, decision.held))
    for each in held:
        run.show(each)
    return _accepted(run, parts, decision.model_copy(update={"held": held}))


async def _generate(
    run: Run, parts: Parts, reask: Reask | None, number: int, incoming: Incoming
) -> Generation | None:
    """Call the generator once; None means that the seconds of the policy ran out."""
    before = parts.clock()
    left = parts.policy.max_seconds - (before - run.started)
    verifying = run.verify_seconds
    # Its place in the trace is taken first: what is verified on arrival is counted to it.
    run.attempts.append(Attempt(number=number, stop=StopReason.TRUNCATED, detail="out of time"))
    generation: Generation | None = None
    with anyio.move_on_after(max(left, 0.0)):
        generation = await generate(
            parts.generator,
            GenerationRequest(
                question=run.question,
                chunks=run.chunks,
                refusal=parts.refusal,
                as_of=run.as_of,
                reask=reask,
                own_words=parts.rules.has_deciders,
            ),
            on_claim=None if run.listener is None else partial(_arrived, run, parts, incoming),
            on_start_over=incoming.start_over,
        )
    seconds = parts.clock() - before - (run.verify_seconds - verifying)
    run.generate_seconds += seconds
    if generation is None:
        run.attempts[-1] = run.attempts[-1].model_copy(update={"seconds": seconds})
        return None
    run.usage = run.usage + generation.usage
    run.model = generation.model or run.model
    spent = run.attempts[-1].usage + generation.usage
    draft = generation.draft
    if draft is not None:
        # Cleaned here as on arrival, so that a claim is one and the same both times.
        draft = draft.model_copy(update={"claims": tuple(map(clean_claim, draft.claims))})
    run.attempts[-1] = Attempt(
        number=number,
        stop=generation.stop,
        draft=None if draft is None else incoming.whole(draft),
        usage=spent,
        seconds=seconds,
        detail=generation.detail,
    )
    return generation


async def _arrived(run: Run, parts: Parts, incoming: Incoming, claim: Claim) -> None:
    """Take a claim that has come in; verify and tell it at once where it may be shown at once."""
    claim = clean_claim(claim)
    incoming.drafted += 1
    run.tell(Drafting(attempt=len(run.attempts), drafted=incoming.drafted))
    if not shows_early(parts.policy):
        return
    found = await incoming.look_at(claim, partial(_verify, run, parts), parts.policy)
    if found is not None:
        ships = shipping(found.claims[0], parts.policy)
        for verdict in ships:
            run.show(Held(verdict=verdict, flags=found.flags))
        if not ships:
            run.reject(found.claims[0])


async def _verified(
    run: Run, parts: Parts, generation: Generation | None, incoming: Incoming
) -> Verification | None:
    """Verify a draft that is complete; any other gives None, whatever of it has been shown."""
    if generation is None or generation.stop is not StopReason.COMPLETE:
        return None
    draft = run.attempts[-1].draft
    if draft is None:
        return None
    verify = partial(_verify, run, parts, tokens=generation.tokens)
    verification = await incoming.verification(draft, verify)
    run.attempts[-1] = run.attempts[-1].model_copy(update={"verification": verification})
    for verdict in verification.claims:
        if not shipping(verdict, parts.policy) and verdict.claim not in incoming.verified:
            run.reject(verdict)
    return verification


async def _verify(
    run: Run, parts: Parts, draft: Draft, *, tokens: tuple[TokenLogprob, ...] = ()
) -> Verification:
    before = parts.clock()
    left = max(0.0, parts.policy.max_seconds - (before - run.started))
    verification, usage = await verify_and_confirm(
        draft,
        run.chunks,
        question=run.question,
        as_of=run.as_of,
        rules=replace(parts.rules, timeout=left),
        may_judge=run.usage.total_tokens < parts.policy.max_total_tokens,
        tokens=tokens,
    )
    run.verify_seconds += parts.clock() - before
    run.usage = run.usage + usage
    spent = run.attempts[-1].usage + usage
    run.attempts[-1] = run.attempts[-1].model_copy(update={"usage": spent})
    return verification


def _spent(run: Run, parts: Parts) -> bool:
    return (
        run.usage.total_tokens >= parts.policy.max_total_tokens
        or parts.clock() - run.started >= parts.policy.max_seconds
    )


def _accepted(run: Run, parts: Parts, accept: Accept) -> Answer:
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


def _refused(run: Run, parts: Parts, refusal: Refusal) -> Answer:
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


def _timings(run: Run, parts: Parts) -> Timings:
    return Timings(
        retrieve=run.retrieve_seconds,
        generate=run.generate_seconds,
        verify=run.verify_seconds,
        total=parts.clock() - run.started,
    )


def _trace(run: Run) -> Trace:
    return Trace(retrieved=run.chunks, attempts=tuple(run.attempts))
