"""Runs that ask nobody: other systems' recorded answers, and our own judged again."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from grounded_rag.answer import Answer
from grounded_rag.config import Policy, fingerprint
from grounded_rag.errors import InputError
from grounded_rag.evaluation.golden import load_golden
from grounded_rag.evaluation.other_systems import (
    Format,
    Recorded,
    Unreadable,
    judge_other,
    read_answers,
    support_of,
)
from grounded_rag.evaluation.provenance import (
    RecordedSignals,
    check_identities,
    new_id,
    replayed_checks,
    verifier_fingerprint,
)
from grounded_rag.evaluation.records import (
    EvalRecord,
    GoldenItem,
    OtherAnswer,
    RecordError,
    RunMeta,
)
from grounded_rag.evaluation.report import EvalReport, ReportBuilder
from grounded_rag.evaluation.runner import Progress, ProgressHook
from grounded_rag.evaluation.runs import Run, policy_of
from grounded_rag.pipeline import Parts, answer_question
from grounded_rag.protocols import Generation, GenerationRequest, Query, SupportCheck
from grounded_rag.resources import default_refusal
from grounded_rag.types import Attempt, Flag, FlagKind, RefusalReason, RetrievedChunk
from grounded_rag.validity import today_utc
from grounded_rag.verification import verify
from grounded_rag.verification.rules import Rules
from grounded_rag.version import __version__

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


def evaluate_answers(
    answers: Path | str,
    *,
    format: Format = "jsonl",  # noqa: A002 - the name of the command's option
    golden: Path | str | None = None,
    run: Path | str | None = None,
    policy: Policy | None = None,
    refusal: str = "",
    checks: Sequence[SupportCheck] | None = None,
    name: str = "",
    progress: ProgressHook | None = None,
) -> EvalReport:
    """Measure recorded answers of another system.

    Args:
        answers: File with the answers.
        format: Shape of its records.
        golden: Golden set that adds labels and gold, matched by id, else by question. Its items
            without an answer count as missing.
        run: Folder for the run, which must not hold one; None keeps nothing but the report.
        policy: Rules in force. A claim that is neither a statement of its source nor confirmed nor
            rejected is open, and counts as neither support nor hallucination.
        refusal: That system's refusal string; "" means the built-in one.
        checks: Support checks, such as one that asks an entailment model; None means the
            built-in ones.
        name: Name of the system.
        progress: Called after each answer.

    Raises:
        InputError: A file cannot be read or holds no answer, or the folder holds a run.
    """
    policy = policy or Policy()
    rules = Rules.of(policy, refusal=refusal or None, checks=checks)
    labels = load_golden(golden) if golden is not None else ()
    meta = RunMeta(
        id=new_id(),
        started=dt.datetime.now(dt.UTC),
        package_version=__version__,
        golden=str(golden or answers),
        generator=name or Path(answers).stem,
        policy=policy.model_dump(mode="json"),
        fingerprint=fingerprint(policy, refusal),
        refusal=refusal,
        verifier=verifier_fingerprint(),
        checks=check_identities(checks),
    )

    def judge(line_content: Recorded | Unreadable) -> EvalRecord:
        return judge_other(line_content, rules=rules)

    lines = (line.content for line in read_answers(answers, format=format, golden=labels))
    records = _judged(lines, judge)
    # Before a folder is made: a file that cannot be read, or holds nothing, is no run.
    first = next(records, None)
    if first is None:
        raise InputError(
            f"{answers} holds no answer.", hint="Give JSON lines, one recorded answer each."
        )
    wanted = frozenset(item.id for item in labels)
    return _written(meta, chain((first,), records), run, progress, wanted=wanted)


def _judged(
    contents: Iterable[Recorded | Unreadable],
    judge: Callable[[Recorded | Unreadable], EvalRecord],
) -> Iterator[EvalRecord]:
    """Yield a record an answer; one whose id came before is an error of its own."""
    seen: set[str] = set()
    for content in contents:
        record = judge(content)
        if record.item.id in seen:
            record = _twice(record.item, len(seen))
        seen.add(record.item.id)
        yield record


def _twice(item: GoldenItem, number: int) -> EvalRecord:
    return EvalRecord(
        item=item.model_copy(update={"id": f"{item.id}-{number}"}),
        error=RecordError(
            kind="Duplicate",
            message=f"The id {item.id!r}, or the question it stands for, comes twice.",
            hint="Give each record an id of its own.",
        ),
    )


def replay(
    recorded: Path | str,
    *,
    run: Path | str | None = None,
    policy: Policy | None = None,
    checks: Sequence[SupportCheck] | None = None,
    everything: bool = False,
    progress: ProgressHook | None = None,
) -> EvalReport:
    """Judge a recorded run again, without any model call; one record in memory at a time.

    A check whose name and fingerprint are as they were plays its recorded signals back; the
    others run. Where nothing at all has changed, recorded verdicts are kept as they are.

    Args:
        recorded: Folder of the recorded run.
        run: Folder for the new run, which must not hold one; None keeps nothing but the report.
        policy: Policy to judge under; None means the recorded one.
        checks: Support checks; None means the built-in ones.
        everything: Whether to run all checks again even where nothing changed.
        progress: Called after each record.

    Raises:
        InputError: There is no run, or the new folder holds one.
    """
    source = Run.open(recorded)
    again = Replay(source.meta, policy=policy, checks=checks, everything=everything)
    meta = again.meta(new_id())
    with _looped() as judge_on:
        records = (judge_on(again, record) for record in source.records())
        return _written(meta, records, run, progress)


@contextmanager
def _looped() -> Iterator[Callable[[Replay, EvalRecord], EvalRecord]]:
    """Give a function that runs the judging coroutine on one loop for all records."""
    with asyncio.Runner() as runner:

        def judge(again: Replay, record: EvalRecord) -> EvalRecord:
            if again.unchanged:
                return record
            return runner.run(again.judge(record))

        yield judge


def _written(
    meta: RunMeta,
    records: Iterable[EvalRecord],
    folder: Path | str | None,
    progress: ProgressHook | None,
    *,
    wanted: frozenset[str] = frozenset(),
) -> EvalReport:
    """Write the records of a run as they come, and return its report.

    Args:
        meta: What the run is made with.
        records: The records.
        folder: Folder of the run, or None.
        progress: Called after each record.
        wanted: Ids that should have a record; what is left of them is missing.
    """
    builder = ReportBuilder(meta)
    done = errors = 0
    left = set(wanted)
    # Without a folder nothing is written: the report is all that is wanted.
    run = Run.create(folder, meta) if folder is not None else None
    try:
        for record in records:
            if run is not None:
                # What was recorded once can be read again: no need to wait for the disk.
                run.append(record, durable=False)
            builder.add(record)
            done += 1
            left.discard(record.item.id)
            errors += record.error is not None
            if progress is not None:
                total = max(meta.items, done)
                progress(Progress(done=done, total=total, item=record.item.id, errors=errors))
    finally:
        if run is not None:
            run.close()
    if not meta.items:
        # A file of answers says how many it holds when it has been read.
        counted = meta.model_copy(update={"items": done + len(left)})
        if run is not None:
            run.rewrite(counted)
        return builder.result().model_copy(update={"meta": counted, "missing": len(left)})
    return builder.result()
