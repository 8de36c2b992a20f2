"""The way of a question: retrieve, generate, verify, decide, ask again, compose, file.

`answer_question` is the one coroutine that does all I/O of a question, in order and under one set
of budgets, and the only place that returns an answered `Answer`. What it decides by are pure
functions of `decision`, `verification` and `validity`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from anyio import to_thread
from pydantic import JsonValue

from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.decision import (
    Accept,
    Decline,
    Held,
    Progress,
    advance,
    compose,
    decide,
    left_open,
    naming,
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
    StartedOver,
    TokenLogprob,
)
from grounded_rag.receipts.make import save_receipt
from grounded_rag.relevance import RelevanceCheck, relevance_flag
from grounded_rag.streaming import Incoming, drafted, keep, shows_early
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
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.subject import absent_subject
from grounded_rag.verification.verifier import verify_and_confirm

Clock = Callable[[], float]

Listener = Callable[[Event], object]
"""Called with each event of a question; it must not block."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a pipeline is made of.

    Attributes:
        retriever: Finds chunks.
        generator: Writes drafts.
        policy: What an application chose: what ships, what is retried, when to refuse.
        rules: What counts as support and what decides it, made of the policy and the options.
        refusal: The one refusal string.
        relevance: How answers are checked for relevance to the question, or None.
        receipts: Folder that the receipt of each answer is saved to, or None.
        on_answer: Called with each answer at the end, refusals included, or None.
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
    receipts: Path | None = None
    on_answer: Callable[[Answer], object] | None = None
    generator_name: str = ""
    fingerprint: str = ""
    clock: Clock = time.perf_counter


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

    With a listener the draft is read as it arrives, where the generator can stream. What is done
    with it is the same, so that the answer is the same.

    Args:
        question: The question.
        parts: What the pipeline is made of.
        as_of: Moment for which staleness is judged.
        filters: Metadata that documents must carry.
        listener: Called with every event but the last, which is the returned answer.
        rejected_text: Whether events may carry the text of claims that did not pass.

    Raises:
        QuestionError: The question is empty or holds lone surrogates.
        ProviderError: The generator's provider failed.
        ReceiptError: The receipt cannot be saved.
    """
    check_question(question)
    way = _Way(parts, question, as_of, listener=listener, rejected_text=rejected_text)
    await way.retrieve(filters)
    if way.chunks:
        decision = await way.attempt()
    else:
        decision = Decline(refusal=refuse(RefusalReason.NOTHING_RETRIEVED))
    if isinstance(decision, Accept):
        decision = way.show(decision)
        await way.check_relevance(decision)
    answer = way.answer(decision)
    if parts.receipts is not None:
        # An answer without the receipt that was asked for is not returned.
        await to_thread.run_sync(save_receipt, answer.receipt(), parts.receipts)
    if parts.on_answer is not None:
        parts.on_answer(answer)
    return answer


def check_question(question: str) -> None:
    """Raise for a question that cannot be asked.

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


async def retrieve(
    question: str, *, parts: Parts, as_of: Instant, filters: Mapping[str, JsonValue] | None = None
) -> tuple[RetrievedChunk, ...]:
    """Return the chunks for a question that the policy lets reach the generator, best first."""
    query = Query(text=question, k=parts.policy.k, as_of=as_of, filters=dict(filters or {}))
    found = await parts.retriever.retrieve(query)
    return tuple(chunk for chunk in found if admitted(chunk, parts.policy, as_of))


def admitted(chunk: RetrievedChunk, policy: Policy, as_of: Instant) -> bool:
    """Whether the policy lets a chunk reach the generator, whichever retriever found it."""
    if not chunk.chunk.text.strip():
        return False
    if policy.stale == "exclude" and not current(chunk.validity, as_of=as_of):
        return False
    return policy.injected != "quarantine" or not addresses_assistant(chunk.chunk.text)


class _Way:
    """The state of one question while it is being answered; it never leaves this module."""

    def __init__(
        self,
        parts: Parts,
        question: str,
        as_of: Instant,
        *,
        listener: Listener | None,
        rejected_text: bool,
    ) -> None:
        self.chunks: tuple[RetrievedChunk, ...] = ()
        self._parts = parts
        self._policy = parts.policy
        self._question = question
        self._as_of = as_of
        self._listener = listener
        self._rejected_text = rejected_text
        self._started = parts.clock()
        self._seconds = {"retrieve": 0.0, "generate": 0.0, "verify": 0.0, "relevance": 0.0}
        self._usage = Usage()
        self._model = ""
        self._attempts: list[Attempt] = []
        self._shown: dict[str, Held] = {}
        self._relevance_flag: Flag | None = None

    async def retrieve(self, filters: Mapping[str, JsonValue] | None) -> None:
        """Find the chunks that the policy admits."""
        self.chunks = await retrieve(
            self._question, parts=self._parts, as_of=self._as_of, filters=filters
        )
        self._seconds["retrieve"] = self._parts.clock() - self._started
        self._tell(Retrieved(chunks=self.chunks))

    async def attempt(self) -> Accept | Decline:
        """Draft, verify and decide, until the decision is not to ask again."""
        progress = Progress()
        asked: list[Reask] = []
        for number in range(1, self._policy.max_attempts + 1):
            self._tell(Drafting(attempt=number))
            incoming = Incoming()
            generation = await self._generate(number, asked[-1] if asked else None, incoming)
            verification = await self._verify_draft(generation, incoming)
            if verification is not None:
                progress = advance(progress, verification, self._policy)
            if verification is None or verification.outcome is Outcome.INVALID_OUTPUT:
                progress = keep(progress, incoming.shown_alone(), self._policy)
            if generation is None:
                return out_of_time(progress, self._policy)
            decision = decide(
                progress,
                verification,
                stop=generation.stop,
                policy=self._policy,
                may_ask_again=number < self._policy.max_attempts and not self._spent(),
                asked=asked,
            )
            if isinstance(decision, Accept | Decline):
                return decision
            asked.append(decision.reask)
            reasons = tuple(failed.reason for failed in decision.reask.failed)
            self._tell(ReAsked(attempt=number + 1, reasons=reasons, note=decision.reask.note))
        raise AssertionError("decide() never asks again when it may not")

    async def _generate(
        self, number: int, reask: Reask | None, incoming: Incoming
    ) -> Generation | None:
        """Call the generator once; None means that the seconds of the policy ran out."""
        before, verifying = self._parts.clock(), self._seconds["verify"]
        # Its place in the trace is taken first: what is verified on arrival is counted to it.
        self._attempts.append(
            Attempt(number=number, stop=StopReason.TRUNCATED, detail="out of time")
        )
        request = GenerationRequest(
            question=self._question,
            chunks=self.chunks,
            refusal=self._parts.refusal,
            as_of=self._as_of,
            reask=reask,
            own_words=self._parts.rules.has_deciders,
        )
        generation: Generation | None = None
        with anyio.move_on_after(self._seconds_left()):
            items = drafted(self._parts.generator, request, stream=self._listener is not None)
            async with aclosing(items):
                async for item in items:
                    if isinstance(item, Generation):
                        generation = item
                    elif isinstance(item, StartedOver):
                        incoming.start_over()
                    else:
                        await self._arrived(item, incoming)
        seconds = self._parts.clock() - before - (self._seconds["verify"] - verifying)
        self._seconds["generate"] += seconds
        if generation is None:
            self._note(seconds=seconds)
            return None
        self._model = generation.model or self._model
        draft = generation.draft
        if draft is not None:
            # Cleaned here as on arrival, so that a claim is one and the same both times.
            draft = draft.model_copy(update={"claims": tuple(map(clean_claim, draft.claims))})
            draft = incoming.whole(draft)
        self._spend(generation.usage)
        self._note(stop=generation.stop, draft=draft, seconds=seconds, detail=generation.detail)
        return generation

    async def _arrived(self, claim: Claim, incoming: Incoming) -> None:
        """Take a claim that has arrived; verify and show it at once where it may be shown early."""
        claim = clean_claim(claim)
        incoming.drafted += 1
        self._tell(Drafting(attempt=len(self._attempts), drafted=incoming.drafted))
        if claim in incoming.verified or not shows_early(self._policy):
            return
        found = await self._verify(Draft(claims=(claim,)))
        ships = incoming.take(claim, found, self._policy)
        for verdict in ships:
            self._show(Held(verdict=verdict, flags=found.flags))
        # A claim that cannot be read is left for the whole draft, which cannot be read either.
        if not ships and found.outcome is not Outcome.INVALID_OUTPUT:
            self._reject(found.claims[0])

    async def _verify_draft(
        self, generation: Generation | None, incoming: Incoming
    ) -> Verification | None:
        """Verify a draft that is complete; any other gives None, whatever of it was shown."""
        if generation is None or generation.stop is not StopReason.COMPLETE:
            return None
        draft = self._attempts[-1].draft
        if draft is None:
            return None
        rest = incoming.unverified(draft)
        found = await self._verify(rest, tokens=generation.tokens)
        verification = incoming.joined(draft, rest, found)
        self._note(verification=verification)
        for verdict in verification.claims:
            if not shipping(verdict, self._policy) and verdict.claim not in incoming.verified:
                self._reject(verdict)
        return verification

    async def _verify(self, draft: Draft, *, tokens: tuple[TokenLogprob, ...] = ()) -> Verification:
        before = self._parts.clock()
        verification, usage = await verify_and_confirm(
            draft,
            self.chunks,
            question=self._question,
            as_of=self._as_of,
            rules=replace(self._parts.rules, timeout=self._seconds_left()),
            may_judge=self._tokens_left(),
            tokens=tokens,
        )
        self._seconds["verify"] += self._parts.clock() - before
        self._spend(usage)
        return verification

    def show(self, accept: Accept) -> Accept:
        """Tell every claim of the answer; return it with the citations that were told."""
        held = tuple(map(self._as_shown, accept.held))
        for each in held:
            self._show(each)
        return accept.model_copy(update={"held": held})

    async def check_relevance(self, accept: Accept) -> None:
        """Look for a flag where the answer may not address the question."""
        if self._parts.relevance is None:
            return
        before = self._parts.clock()
        self._relevance_flag, usage = await relevance_flag(
            self._question,
            [held.verdict for held in accept.held],
            self._parts.relevance,
            timeout=self._seconds_left(),
            may_judge=self._tokens_left(),
        )
        self._usage = self._usage + usage
        self._seconds["relevance"] = self._parts.clock() - before

    def answer(self, decision: Accept | Decline) -> Answer:
        """Return the answer or the refusal that was decided on."""
        accept = decision if isinstance(decision, Accept) else None
        held = () if accept is None else accept.held
        claims = tuple(each.verdict for each in held)
        flags = [
            flag.model_copy(update={"claim": index})
            for index, each in enumerate(held)
            for flag in each.flags
        ]
        if self._relevance_flag is not None:
            flags.append(self._relevance_flag)
        status = AnswerStatus.REFUSED
        unanswered: tuple[str, ...] = ()
        if accept is not None:
            unanswered = left_open(self._question, accept)
            status = AnswerStatus.PARTIAL if unanswered else AnswerStatus.ANSWERED
        cited = dict.fromkeys(located.chunk_id for claim in claims for located in claim.located)
        by_id = {chunk.chunk.id: chunk for chunk in self.chunks}
        return Answer(
            question=self._question,
            status=status,
            text=self._parts.refusal if accept is None else compose(claims),
            claims=claims,
            unanswered=unanswered,
            dropped=0 if accept is None else accept.dropped,
            refusal=None if isinstance(decision, Accept) else self._explained(decision.refusal),
            flags=tuple(flags),
            evidence=tuple(by_id[chunk_id] for chunk_id in cited),
            attempts=len(self._attempts),
            usage=self._usage,
            generator=self._model or self._parts.generator_name,
            policy=self._policy.model_dump(mode="json"),
            fingerprint=self._parts.fingerprint,
            as_of=self._as_of,
            timings=Timings(**self._seconds, total=self._parts.clock() - self._started),
            trace=Trace(retrieved=self.chunks, attempts=tuple(self._attempts)),
        )

    def _explained(self, refusal: Refusal) -> Refusal:
        """Say what the question asks about and no passage holds, where nothing answers it."""
        if refusal.reason not in (RefusalReason.GENERATOR_DECLINED, RefusalReason.CLAIMS_FAILED):
            return refusal
        return naming(refusal, absent_subject(self._question, map(Passage, self.chunks)))

    def _seconds_left(self) -> float:
        return max(0.0, self._policy.max_seconds - (self._parts.clock() - self._started))

    def _tokens_left(self) -> bool:
        return self._usage.total_tokens < self._policy.max_total_tokens

    def _spent(self) -> bool:
        return not self._tokens_left() or not self._seconds_left()

    def _spend(self, usage: Usage) -> None:
        self._usage = self._usage + usage
        self._note(usage=self._attempts[-1].usage + usage)

    def _note(self, **what: object) -> None:
        """Write into the trace of the current attempt."""
        self._attempts[-1] = self._attempts[-1].model_copy(update=what)

    def _tell(self, event: Event) -> None:
        if self._listener is not None:
            self._listener(event)

    def _show(self, held: Held) -> None:
        """Tell a claim that will be in the answer, once: equal ones merge there too."""
        if said(held.verdict) not in self._shown:
            self._shown[said(held.verdict)] = held
            self._tell(ClaimVerified(verdict=held.verdict, flags=held.flags))

    def _as_shown(self, held: Held) -> Held:
        """Return a claim with the citations it was shown with, where those were others."""
        shown = self._shown.get(said(held.verdict), held)
        return held if shown.verdict.claim == held.verdict.claim else shown

    def _reject(self, verdict: ClaimVerdict) -> None:
        """Tell that a claim did not pass; its text goes along only if it was asked for."""
        self._tell(
            ClaimRejected(
                attempt=len(self._attempts) or 1,
                reason=verdict.withheld or verdict.reason,
                verdict=verdict if self._rejected_text else None,
            )
        )
