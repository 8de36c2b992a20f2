"""Runs golden sets: bounded concurrency, one record an item, resumable, errors kept."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
from pydantic import Field

from grounded_rag.errors import GroundedRAGError, InputError
from grounded_rag.evaluation.datasets import GoldenItem, golden_hash, load_golden, select
from grounded_rag.evaluation.gold import gold_places
from grounded_rag.evaluation.metrics import one_line_error
from grounded_rag.evaluation.records import EvalRecord, Prices, RecordError, RunMeta
from grounded_rag.evaluation.report import EvalReport, OwnMetrics, ReportBuilder, report_of
from grounded_rag.evaluation.runs import Run, meta_of, text_reader
from grounded_rag.rag import GroundedRAG
from grounded_rag.relevance import DEFAULT_THRESHOLD, RelevanceJudge, SentenceEmbedding, relevance
from grounded_rag.types import Frozen


class Progress(Frozen):
    """How far a run is."""

    done: int = Field(description="Items with a record, resumed ones included.")
    total: int = Field(description="Items to cover.")
    item: str = Field(default="", description="The item just done.")
    errors: int = Field(default=0, description="In this call.")


ProgressHook = Callable[[Progress], object]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to run."""

    concurrency: int = 4  # most questions under way at once
    relevance: SentenceEmbedding | None = None  # of the first pass; None: no relevance
    threshold: float = DEFAULT_THRESHOLD  # least first-pass score of an answer to the point
    judge: RelevanceJudge | None = None  # confirms what the first pass doubts
    prices: Prices | None = None
    progress: ProgressHook | None = None  # called after each item


def evaluate(
    rag: GroundedRAG,
    golden: Path | str | Sequence[GoldenItem],
    *,
    run: Path | str | None = None,
    split: str | None = None,
    limit: int | None = None,
    metrics: OwnMetrics = (),
    options: Options | None = None,
) -> EvalReport:
    """Ask every question of a golden set and measure what comes out.

    Args:
        rag: What to measure.
        golden: A golden set, or the path of one.
        run: Folder of the run. An unfinished run there is continued: items that have a record are
            not asked again, those that ended in an error or could not be checked are. None keeps
            nothing but the report.
        split: Only items of this split.
        limit: Only so many items, spread evenly over the set.
        metrics: Metrics of your own besides the built-in ones; see `docs/metrics.md`.
        options: Concurrency, relevance, prices, progress.

    Raises:
        InputError: The golden set is broken, or the folder holds a run of another set or of
            other settings.
        ConfigError: One of `metrics` is no metric.
    """
    # Provider clients live on the loop of the object that owns them; that is where we run, too.
    return rag._loop.run(
        lambda: aevaluate(
            rag, golden, run=run, split=split, limit=limit, metrics=metrics, options=options
        )
    )


async def aevaluate(
    rag: GroundedRAG,
    golden: Path | str | Sequence[GoldenItem],
    *,
    run: Path | str | None = None,
    split: str | None = None,
    limit: int | None = None,
    metrics: OwnMetrics = (),
    options: Options | None = None,
) -> EvalReport:
    """Ask every question of a golden set; the asynchronous twin of `evaluate`."""
    options = options or Options()
    named = isinstance(golden, (str, Path))
    items = load_golden(golden) if isinstance(golden, (str, Path)) else tuple(golden)
    items = select(items, split=split, limit=limit)
    meta = meta_of(
        rag,
        golden=str(golden) if named else "items",
        golden_hash=golden_hash(items),
        items=len(items),
        split=split or "",
        prices=options.prices,
        threshold=options.threshold if options.relevance is not None else None,
    )
    # Before anything is asked: a metric that is none must not cost a run.
    ReportBuilder(meta, metrics=metrics)
    with ExitStack() as stack:
        if run is None:
            temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="grounded-rag-"))
            run = Path(temporary) / "run"
        opened = stack.enter_context(_continued(Path(run), meta))
        done = opened.resume()
        await _ask_all(rag, [i for i in items if i.id not in done], opened, options, len(done))
        return report_of(opened, metrics=metrics)


def _continued(folder: Path, meta: RunMeta) -> Run:
    if not Run.exists(folder):
        return Run.create(folder, meta)
    run = Run.open(folder)
    for what, before, now in (
        ("golden set", run.meta.golden_hash, meta.golden_hash),
        ("generator", run.meta.generator, meta.generator),
        ("policy or prompts", run.meta.fingerprint, meta.fingerprint),
        ("checks", run.meta.checks, meta.checks),
        ("verifier", run.meta.verifier, meta.verifier),
        ("index", run.meta.index.content_hash, meta.index.content_hash),
        ("relevance threshold", run.meta.relevance_threshold, meta.relevance_threshold),
    ):
        if before != now:
            raise InputError(
                f"The run in {folder} was made with another {what}.",
                hint="Name a new folder: a run mixes no settings.",
            )
    if meta.prices is not None and meta.prices != run.meta.prices:
        # What was asked stays as it is: tokens are on record, and their price is not.
        run.rewrite(run.meta.model_copy(update={"prices": meta.prices}))
    return run


async def _ask_all(
    rag: GroundedRAG, items: Sequence[GoldenItem], run: Run, options: Options, done: int
) -> None:
    text_of = text_reader(rag)
    state = Progress(done=done, total=done + len(items))
    if options.progress is not None:
        options.progress(state)
    left = iter(items)
    broken: list[Exception] = []

    async def work() -> None:
        nonlocal state
        for item in left:
            record = await _ask(rag, item, options, text_of)
            try:
                run.append(record)
                state = Progress(
                    done=state.done + 1,
                    total=state.total,
                    item=item.id,
                    errors=state.errors + (record.error is not None),
                )
                if options.progress is not None:
                    options.progress(state)
            except Exception as error:  # noqa: BLE001 - raised again below, without a group
                broken.append(error)
                group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for _ in range(max(1, options.concurrency)):
            group.start_soon(work)
    if broken:
        raise broken[0]


async def _ask(
    rag: GroundedRAG,
    item: GoldenItem,
    options: Options,
    text_of: Callable[[str], str | None] | None,
) -> EvalRecord:
    before = time.perf_counter()
    try:
        answer = await rag.aquery(item.question, as_of=item.as_of)
        scores: dict[str, float] = {}
        findings: dict[str, bool | None] = {}
        if options.relevance is not None and answer.answered:
            found = await relevance(
                item.question,
                # The claims alone: marks of citation say nothing about relevance.
                " ".join(claim.text for claim in answer.claims),
                options.relevance,
                threshold=options.threshold,
                judge=options.judge,
            )
            scores["relevance"] = found.score
            if found.asked:
                findings["relevance"] = found.confirmed
        return EvalRecord(
            item=item,
            answer=answer,
            places=gold_places(item, text_of) if text_of is not None else (),
            scores=scores,
            judged=findings,
            seconds=time.perf_counter() - before,
        )
    except Exception as error:  # noqa: BLE001 - one bad record must not lose the run
        kind, _, message = one_line_error(error).partition(": ")
        hint = ""
        if isinstance(error, GroundedRAGError):
            message, hint = error.message, error.hint
        return EvalRecord(
            item=item,
            error=RecordError(kind=kind, message=message, hint=hint),
            seconds=time.perf_counter() - before,
        )


def write_run(
    meta: RunMeta,
    records: Iterable[EvalRecord],
    folder: Path | str | None,
    *,
    metrics: OwnMetrics = (),
    progress: ProgressHook | None = None,
    wanted: Iterable[str] = (),
) -> EvalReport:
    """Write records that nobody has to be asked for as they come, and return their report.

    Without a folder nothing but the report is kept. Ids of `wanted` without a record are missing.
    """
    builder = ReportBuilder(meta, metrics=metrics)
    done = errors = 0
    left = set(wanted)
    with ExitStack() as stack:
        run = None if folder is None else stack.enter_context(Run.create(folder, meta))
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
    if meta.items:
        return builder.result()
    # A file of answers says how many it holds when it has been read.
    counted = meta.model_copy(update={"items": done + len(left)})
    if run is not None:
        run.rewrite(counted)
    return builder.result().model_copy(update={"meta": counted, "missing": len(left)})
