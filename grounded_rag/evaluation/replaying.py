"""Judges recorded answers again without any model call; only checks that changed run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grounded_rag.config import Policy, fingerprint
from grounded_rag.evaluation.checks import (
    RecordedSignals,
    check_identities,
    replayed_checks,
    verifier_fingerprint,
)
from grounded_rag.evaluation.openness import support_of
from grounded_rag.evaluation.records import EvalRecord, OtherAnswer, RunMeta
from grounded_rag.evaluation.runs import policy_of
from grounded_rag.pipeline import Parts, answer_question
from grounded_rag.protocols import Generation, GenerationRequest, Query, SupportCheck
from grounded_rag.resources import default_refusal
from grounded_rag.types import Answer, Attempt, Flag, FlagKind, RefusalReason, RetrievedChunk
from grounded_rag.validity import today_utc
from grounded_rag.verification import verify
from grounded_rag.verification.rules import Rules

_BY_MODEL = frozenset({FlagKind.BESIDE_QUESTION, FlagKind.UNSURE_TOKENS})


class Replay:
    """How the records of one run are judged now.

    Attributes:
        policy: The policy in force now.
        fingerprint: Fingerprint of policy and prompts: the recorded one under the recorded policy,
            else one of its own. Answers given live under that policy carry another, since a
            replay asks nobody again; so no certificate or calibration speaks of both.
        unchanged: Whether nothing that judges has changed: recorded verdicts are kept then.
    """

    def __init__(
        self,
        meta: RunMeta,
        *,
        policy: Policy | None = None,
        checks: Sequence[SupportCheck] | None = None,
        everything: bool = False,
    ) -> None:
        """Compare what judges now with what judged the recorded run.

        Args:
            meta: The recorded run.
            policy: Policy to judge under; None means the recorded one.
            checks: Support checks; None means the built-in ones.
            everything: Whether to run all checks again even where nothing changed.
        """
        self._meta = meta
        self._checks = checks
        self._everything = everything
        self.policy = policy_of(meta) if policy is None else policy
        self._refusal = meta.refusal or default_refusal()
        now = check_identities(checks)
        same_policy = self.policy.model_dump(mode="json") == meta.policy
        self.fingerprint = (
            meta.fingerprint
            if same_policy or not meta.fingerprint
            else fingerprint(self.policy, "replay", meta.fingerprint)
        )
        self.unchanged = (
            not everything
            and meta.verifier == verifier_fingerprint()
            and now == meta.checks
            and all(identity.fingerprint for identity in now)
            and same_policy
        )

    def meta(self, run_id: str) -> RunMeta:
        """Return what the replayed run is made with."""
        return self._meta.model_copy(
            update={
                "id": run_id,
                "replay_of": self._meta.id,
                "policy": self.policy.model_dump(mode="json"),
                "fingerprint": self.fingerprint,
                "verifier": verifier_fingerprint(),
                "checks": check_identities(self._checks),
            }
        )

    async def judge(self, record: EvalRecord) -> EvalRecord:
        """Return the record as it would have come out now."""
        if self.unchanged or record.error is not None:
            return record
        if record.other is not None:
            other = self._other(record.other, record)
            return record.model_copy(update={"other": other})
        if record.answer is None:
            return record
        return record.model_copy(update={"answer": await self._answer(record.answer)})

    async def _answer(self, answer: Answer) -> Answer:
        attempts = answer.trace.attempts
        if answer.refusal is not None and answer.refusal.reason is RefusalReason.BUDGET_EXHAUSTED:
            return answer
        verdicts = [
            verdict
            for attempt in attempts
            if attempt.verification is not None
            for verdict in attempt.verification.claims
        ]
        # The pipeline itself decides, over what was retrieved and drafted then. It may not ask
        # again beyond the record: there is no draft that could answer.
        limit = max(1, min(self.policy.max_attempts, len(attempts) or 1))
        parts = Parts(
            retriever=_Recorded(answer.trace.retrieved),
            generator=_Script(attempts),
            policy=self.policy.model_copy(update={"max_attempts": limit}),
            rules=self._rules(RecordedSignals(verdicts)),
            refusal=self._refusal,
            generator_name=answer.generator,
            fingerprint=self.fingerprint,
            clock=_stopped,
        )
        again = await answer_question(
            answer.question, parts=parts, as_of=answer.as_of or today_utc()
        )
        return again.model_copy(
            update={
                "flags": (*again.flags, *_kept_flags(answer, again)),
                "timings": answer.timings,
                "usage": answer.usage,
                "attempts": answer.attempts,
                "generator": answer.generator,
                "policy": self.policy.model_dump(mode="json"),
                "trace": again.trace.model_copy(
                    update={"attempts": _timed(again.trace.attempts, attempts)}
                ),
            }
        )

    def _other(self, other: OtherAnswer, record: EvalRecord) -> OtherAnswer:
        if other.refused or other.verification is None:
            return other
        recorded = RecordedSignals(other.verification.claims)
        verification = verify(
            other.draft,
            other.contexts,
            question=record.item.question,
            as_of=record.item.as_of,
            rules=self._rules(recorded),
        )
        support = support_of(verification.claims)
        return other.model_copy(update={"verification": verification, "support": support})

    def _rules(self, recorded: RecordedSignals) -> Rules:
        """Return the rules in force, with checks that did not change playing their record back.

        What models said is among the recorded signals, so no model is asked.
        """
        checks = replayed_checks(
            self._checks,
            recorded,
            before=self._meta.checks,
            deciders=self._meta.deciders,
            everything=self._everything,
        )
        return Rules.of(self.policy, refusal=self._refusal, checks=checks)


def _kept_flags(before: Answer, again: Answer) -> Iterator[Flag]:
    """Yield recorded remarks that rest on a model or on token probabilities, claim by claim."""
    places = {verdict.claim: index for index, verdict in enumerate(again.claims)}
    for flag in before.flags:
        place = places.get(before.claims[flag.claim].claim)
        if flag.kind in _BY_MODEL and place is not None:
            kept = flag.model_copy(update={"claim": place})
            if kept not in again.flags:
                yield kept


def _timed(again: Sequence[Attempt], before: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """Return attempts that were judged again with the seconds of the recorded ones."""
    return tuple(
        new.model_copy(update={"seconds": old.seconds})
        for new, old in zip(again, before, strict=False)
    )


class _Recorded:
    """A retriever that returns what was retrieved."""

    def __init__(self, chunks: Sequence[RetrievedChunk]) -> None:
        self._chunks = chunks

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        """Return the recorded chunks."""
        del query
        return self._chunks


class _Script:
    """A generator that returns the recorded drafts in order."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._left = iter(attempts)

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return the next recorded draft."""
        del request
        attempt = next(self._left)
        return Generation(
            draft=attempt.draft, stop=attempt.stop, usage=attempt.usage, detail=attempt.detail
        )


def _stopped() -> float:
    return 0.0
