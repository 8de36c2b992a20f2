"""Runs that ask nobody: other systems' recorded answers, and our own judged again."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from grounded_rag.config import Policy, fingerprint
from grounded_rag.errors import InputError
from grounded_rag.evaluation.checks import check_identities, verifier_fingerprint
from grounded_rag.evaluation.formats import Format, Recorded, Unreadable, read_answers
from grounded_rag.evaluation.golden import load_golden
from grounded_rag.evaluation.making import new_id
from grounded_rag.evaluation.others import judge_other
from grounded_rag.evaluation.records import EvalRecord, GoldenItem, RecordError, RunMeta
from grounded_rag.evaluation.replaying import Replay
from grounded_rag.evaluation.report import EvalReport, ReportBuilder
from grounded_rag.evaluation.runner import Progress, ProgressHook
from grounded_rag.evaluation.runs import Run
from grounded_rag.protocols import SupportCheck
from grounded_rag.verification.rules import Rules
from grounded_rag.version import __version__


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
