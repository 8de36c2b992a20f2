"""Judges our own recorded runs again, without asking any model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grounded_rag.answer import Answer
from grounded_rag.config import Policy, fingerprint
from grounded_rag.evaluation.other_systems import support_of
from grounded_rag.evaluation.records import CheckIdentity, EvalRecord, OtherAnswer, RunMeta
from grounded_rag.evaluation.report import EvalReport, OwnMetrics
from grounded_rag.evaluation.runner import ProgressHook, write_run
from grounded_rag.evaluation.runs import (
    Run,
    all_checks,
    check_identities,
    new_id,
    policy_of,
    verifier_fingerprint,
)
from grounded_rag.pipeline import Parts, answer_question
from grounded_rag.protocols import (
    ClaimCase,
    Generation,
    GenerationRequest,
    Query,
    SupportCheck,
)
from grounded_rag.resources import default_refusal
from grounded_rag.types import (
    Attempt,
    ClaimVerdict,
    Flag,
    FlagKind,
    Located,
    RefusalReason,
    RetrievedChunk,
    Signal,
)
from grounded_rag.validity import today_utc
from grounded_rag.verification import verify
from grounded_rag.verification.checks import Staged
from grounded_rag.verification.rules import Rules

_BY_MODEL = frozenset({FlagKind.BESIDE_QUESTION, FlagKind.UNSURE_TOKENS})


def replay(
    recorded: Path | str,
    *,
    run: Path | str | None = None,
    policy: Policy | None = None,
    checks: Sequence[SupportCheck] | None = None,
    everything: bool = False,
    metrics: OwnMetrics = (),
    progress: ProgressHook | None = None,
) -> EvalReport:
    """Judge a recorded run again, without any model call; one record in memory at a time.

    The recorded signals of a check are used while its name and fingerprint stay the same; other
    checks run. Where nothing at all has changed, recorded verdicts are kept as they are.

    Args:
        recorded: Folder of the recorded run.
        run: Folder for the new run, which must not hold one; None keeps nothing but the report.
        policy: Policy to judge under; None means the recorded one.
        checks: Support checks; None means the built-in ones.
        everything: Whether to run all checks again even where nothing changed.
        metrics: Metrics of your own besides the built-in ones.
        progress: Called after each record.

    Raises:
        InputError: There is no run, or the new folder holds one.
        ConfigError: One of `metrics` is no metric.
    """
    source = Run.open(recorded)
    again = _Replay(source.meta, policy=policy, checks=checks, everything=everything)
    # One loop for all records: a new one for each would take longer than judging it.
    with asyncio.Runner() as loop:
        records = (
            record if again.unchanged else loop.run(again.judge(record))
            for record in source.records()
        )
        return write_run(again.meta(new_id()), records, run, metrics=metrics, progress=progress)


class _Replay:
    def __init__(
        self,
        meta: RunMeta,
        *,
        policy: Policy | None = None,
        checks: Sequence[SupportCheck] | None = None,
        everything: bool = False,
    ) -> None:
        self._meta = meta
        self._checks = checks
        self._everything = everything
        self.policy = policy_of(meta) if policy is None else policy
        self._refusal = meta.refusal or default_refusal()
        now = check_identities(checks)
        same_policy = self.policy.model_dump(mode="json") == meta.policy
        # Under another policy it is also not that of live answers: a replay asks nobody again, so
        # no certificate or calibration may count the two together.
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
        if record.error is not None:
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
            retriever=_RecordedRetriever(answer.trace.retrieved),
            generator=_RecordedGenerator(attempts),
            policy=self.policy.model_copy(update={"max_attempts": limit}),
            rules=self._rules(_RecordedSignals(verdicts)),
            refusal=self._refusal,
            generator_name=answer.generator,
            fingerprint=self.fingerprint,
            # The recorded timings are put back below.
            clock=lambda: 0.0,
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
                    update={
                        "attempts": tuple(
                            new.model_copy(update={"seconds": old.seconds})
                            for new, old in zip(again.trace.attempts, attempts, strict=False)
                        )
                    }
                ),
            }
        )

    def _other(self, other: OtherAnswer, record: EvalRecord) -> OtherAnswer:
        if other.refused or other.verification is None:
            return other
        recorded = _RecordedSignals(other.verification.claims)
        verification = verify(
            other.draft,
            other.contexts,
            question=record.item.question,
            as_of=record.item.as_of,
            rules=self._rules(recorded),
        )
        support = support_of(verification.claims)
        return other.model_copy(update={"verification": verification, "support": support})

    def _rules(self, recorded: _RecordedSignals) -> Rules:
        """Return the rules in force, with checks that did not change playing their record back.

        What models said is among the recorded signals, so no model is asked.
        """
        checks = _replayed_checks(
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


class _RecordedRetriever:
    def __init__(self, chunks: Sequence[RetrievedChunk]) -> None:
        self._chunks = chunks

    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        del query
        return self._chunks


class _RecordedGenerator:
    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._left = iter(attempts)

    async def generate(self, request: GenerationRequest) -> Generation:
        del request
        attempt = next(self._left)
        return Generation(
            draft=attempt.draft, stop=attempt.stop, usage=attempt.usage, detail=attempt.detail
        )


_BY_VERIFIER = frozenset({"asserted"})
"""Signals that no check gives: the verifier finds them again each time."""

_Key = tuple[str, tuple[tuple[str, int, int], ...]]


def _key(text: str, located: Iterable[Located]) -> _Key:
    places = tuple((p.chunk_id, p.chunk_span.start, p.chunk_span.end) for p in located)
    return text, places


class _RecordedSignals:
    """The signals of recorded verdicts, by claim and places of its quotes."""

    def __init__(self, verdicts: Iterable[ClaimVerdict]) -> None:
        self._by_case: dict[_Key, Mapping[str, Signal]] = {
            _key(verdict.text, verdict.located): {
                s.check: s for s in verdict.signals if s.check not in _BY_VERIFIER
            }
            for verdict in verdicts
            # Checks run only where every citation has its place.
            if verdict.citations and all(c.problem is None for c in verdict.citations)
        }
        self.names = frozenset(name for case in self._by_case.values() for name in case)

    def play(self, name: str, *, otherwise: SupportCheck | None) -> SupportCheck:
        """Return a check that answers from the record, and asks `otherwise` about new claims."""

        def recorded(case: ClaimCase) -> Signal | None:
            known = self._by_case.get(_key(case.claim.text, (p.located for p in case.evidence)))
            if known is not None:
                return known.get(name)
            return otherwise(case) if otherwise is not None else None

        recorded.__name__ = name
        return recorded


def _replayed_checks(
    checks: Sequence[SupportCheck] | None,
    recorded: _RecordedSignals,
    *,
    before: Sequence[CheckIdentity],
    deciders: Sequence[CheckIdentity],
    everything: bool,
) -> tuple[SupportCheck, ...]:
    """Return the checks to judge again with: those that did not change play their record back.

    A recorded signal of a check that is not among `checks`, such as a model's, is kept as well.
    """
    result: list[SupportCheck] = []
    unchanged: set[str] = set()
    present: set[str] = set()
    for check, identity in zip(all_checks(checks), check_identities(checks), strict=True):
        same = bool(identity.fingerprint) and identity in before
        present.add(identity.name)
        if same:
            unchanged.add(identity.name)
        # A check without a recorded signal of its name runs: it may have signalled under another.
        plays = same and not everything and identity.name in recorded.names
        result.append(_played(check, identity.name, recorded) if plays else check)
    names_before = {identity.name for identity in before}
    extra = recorded.names - present - names_before
    if names_before - unchanged - recorded.names:
        # A check that changed or is gone may have signalled under another name than its own:
        # only what models said is kept then.
        extra &= {identity.name for identity in deciders}
    return (*result, *(recorded.play(name, otherwise=None) for name in sorted(extra)))


def _played(check: SupportCheck, name: str, recorded: _RecordedSignals) -> SupportCheck:
    """Return a check that answers from the record, at the stage of the one it stands for."""
    if isinstance(check, Staged):
        played = recorded.play(name, otherwise=check.check)
        return Staged(played, role=check.role, name=name, only_open=check.only_open)
    return recorded.play(name, otherwise=check)
