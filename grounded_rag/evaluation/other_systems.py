"""Measures recorded answers of other systems: from their lines to records that all metrics read."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from grounded_rag.config import Policy, fingerprint
from grounded_rag.errors import InputError
from grounded_rag.evaluation.datasets import GoldenItem, first_problem, load_golden
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.evaluation.prose import attribute
from grounded_rag.evaluation.records import (
    EvalRecord,
    OtherAnswer,
    RecordError,
    RunMeta,
    is_open,
)
from grounded_rag.evaluation.report import EvalReport, OwnMetrics
from grounded_rag.evaluation.runner import ProgressHook, write_run
from grounded_rag.evaluation.runs import check_identities, new_id, verifier_fingerprint
from grounded_rag.protocols import SupportCheck
from grounded_rag.types import Citation, Claim, ClaimVerdict, Draft, Frozen, Outcome, RetrievedChunk
from grounded_rag.verification import verify
from grounded_rag.verification.passages import read_chunks
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.support import support_score
from grounded_rag.version import __version__

Format = Literal["jsonl", "ragas", "llamaindex"]


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
    metrics: OwnMetrics = (),
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
        metrics: Metrics of your own besides the built-in ones; see `docs/metrics.md`.
        progress: Called after each answer.

    Raises:
        InputError: A file cannot be read or holds no answer, or the folder holds a run.
        ConfigError: One of `metrics` is no metric.
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
    records = _judged_once(read_answers(answers, format=format, golden=labels), rules)
    # Before a folder is made: a file that cannot be read, or holds nothing, is no run.
    first = next(records, None)
    if first is None:
        raise InputError(
            f"{answers} holds no answer.", hint="Give JSON lines, one recorded answer each."
        )
    wanted = (item.id for item in labels)
    return write_run(
        meta, chain((first,), records), run, metrics=metrics, progress=progress, wanted=wanted
    )


def _judged_once(
    answers: Iterable[RecordedAnswer | UnreadableLine], rules: Rules
) -> Iterator[EvalRecord]:
    """Yield one record for each answer; a repeated id makes its record an error."""
    seen: set[str] = set()
    for answer in answers:
        record = judge_other(answer, rules=rules)
        item = record.item
        if item.id in seen:
            record = EvalRecord(
                item=item.model_copy(update={"id": f"{item.id}-{len(seen)}"}),
                error=RecordError(
                    kind="Duplicate",
                    message=f"The id {item.id!r}, or the question it stands for, comes twice.",
                    hint="Give each record an id of its own.",
                ),
            )
        seen.add(record.item.id)
        yield record


class RecordedAnswer(Frozen):
    """One answer of another system."""

    item: GoldenItem
    text: str
    contexts: tuple[RetrievedChunk, ...] = ()
    claims: tuple[Claim, ...] = Field(default=(), description="Empty where it gives prose alone.")
    refused: bool | None = Field(default=None, description="None where the record does not say.")


class UnreadableLine(Frozen):
    """A line that is no recorded answer, and why."""

    item: GoldenItem
    error: RecordError


def judge_other(answer: RecordedAnswer | UnreadableLine, *, rules: Rules) -> EvalRecord:
    """Verify a recorded answer and return its record.

    A refusal is decided by structure: the record says so, or the whole text is the system's refusal
    string (that of the rules), presentation aside. No phrases are guessed.
    """
    if isinstance(answer, UnreadableLine):
        return EvalRecord(item=answer.item, error=answer.error)
    contexts = answer.contexts
    if answer.refused or (answer.refused is None and _declines(answer, rules)):
        other = OtherAnswer(text=answer.text, contexts=contexts, refused=True)
        return EvalRecord(item=answer.item, other=other)
    if not contexts and (answer.text.strip() or answer.claims):
        error = RecordError(
            kind="NoContext",
            message="The answer comes without any context, so nothing in it can be judged.",
            hint="Record what was retrieved under `contexts`.",
        )
        return EvalRecord(item=answer.item, error=error)
    draft, apart = Draft(claims=answer.claims), tuple[str, ...]()
    question = answer.item.question
    if not answer.claims:
        draft, apart = attribute(answer.text, contexts, question=question, rules=rules)
    verification = verify(draft, contexts, question=question, as_of=answer.item.as_of, rules=rules)
    other = OtherAnswer(
        text=answer.text,
        contexts=contexts,
        draft=draft,
        own_citations=bool(answer.claims),
        verification=verification,
        support=support_of(verification.claims),
        apart=apart,
    )
    return EvalRecord(item=answer.item, other=other)


def _declines(answer: RecordedAnswer, rules: Rules) -> bool:
    # Nothing said at all is an empty answer, which metrics count as one.
    return (
        not answer.claims
        and bool(answer.text.strip())
        and verify(answer.text, [], rules=rules).outcome is Outcome.REFUSED
    )


def support_of(claims: Sequence[ClaimVerdict]) -> tuple[float | None, ...]:
    """Return the support score of each open claim, and None for every other claim.

    A claim without any place in what was retrieved shares no word with it: its score is 0.
    """
    return tuple(_support(claim) if is_open(claim) else None for claim in claims)


def _support(claim: ClaimVerdict) -> float:
    evidence = [each.text for each in claim.statements] or [each.quote for each in claim.located]
    if not evidence or not claim.text:
        return 0.0
    given = ClaimInput(claim=claim.text, evidence=tuple(dict.fromkeys(evidence)))
    return support_score(case_of(given))


def read_answers(
    path: Path | str,
    *,
    format: Format = "jsonl",  # noqa: A002 - the name of the command's option
    golden: Sequence[GoldenItem] = (),
) -> Iterator[RecordedAnswer | UnreadableLine]:
    """Yield the recorded answers of a file, one in memory at a time.

    The file holds JSON lines or, for `ragas` and `llamaindex`, one JSON list; `docs/evaluation.md`
    shows the records. Golden items add labels and gold, matched by id, else by question.

    Raises:
        InputError: The file cannot be read.
    """
    shape = _SHAPES[format]
    known = {item.id: item for item in golden}
    by_question = {item.question: item for item in golden}
    for number, line in _lines(Path(path)):
        row: dict[str, Any] = {}
        answer: RecordedAnswer | UnreadableLine
        try:
            row = _row(line)
            answer = _own_lines(row) if shape is None else _foreign(row, shape)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            answer = _unreadable(number, row, error)
        item = known.get(str(row.get("id", ""))) or by_question.get(answer.item.question)
        yield answer if item is None else answer.model_copy(update={"item": item})


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
            if first.lstrip().startswith("["):
                yield from enumerate(json.loads(first + file.read()), start=1)
                return
            file.seek(0)
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read: {error}.", hint="Give UTF-8 JSON lines, or one JSON list."
        ) from error


def _row(line: Any) -> dict[str, Any]:
    row = json.loads(line) if isinstance(line, str) else line
    if not isinstance(row, dict):
        raise TypeError("no JSON object")
    # Lone surrogates can be written in JSON and in no file of ours: found here, line by line.
    json.dumps(row, ensure_ascii=False).encode("utf-8")
    return row


class _Shape(NamedTuple):
    """The fields of a format, in order of preference: its versions named them differently."""

    question: tuple[str, ...]
    answer: tuple[str, ...]
    contexts: tuple[str, ...]
    expected: tuple[str, ...]


_SHAPES: Mapping[str, _Shape | None] = {
    # Our own lines carry any field of a golden item, claims and citations.
    "jsonl": None,
    # Both generations of ragas.
    "ragas": _Shape(
        question=("user_input", "question"),
        answer=("response", "answer"),
        contexts=("retrieved_contexts", "contexts"),
        expected=("reference", "ground_truth"),
    ),
    # An EvaluationResult, or the JSON of a Response.
    "llamaindex": _Shape(
        question=("query",),
        answer=("response",),
        contexts=("source_nodes", "contexts", "reference_contexts"),
        expected=("reference", "reference_answer"),
    ),
}


def _own_lines(row: Mapping[str, Any]) -> RecordedAnswer:
    contexts = _contexts(row.get("contexts"))
    return RecordedAnswer(
        item=GoldenItem.model_validate({k: row[k] for k in GoldenItem.model_fields if k in row}),
        text=_text(row["answer"]),
        contexts=contexts,
        claims=tuple(
            Claim(
                text=_text(claim["text"]),
                citations=tuple(
                    _citation(_text(one["chunk_id"]), _text(one["quote"]), contexts)
                    for one in claim.get("citations") or [claim]
                    if "chunk_id" in one or "quote" in one
                ),
            )
            for claim in row.get("claims") or ()
        ),
        refused=_refused(row),
    )


def _citation(name: str, quote: str, contexts: Sequence[RetrievedChunk]) -> Citation:
    """Cite the context of that name; of several, the one that holds the quote."""
    meant = [context.chunk for context in contexts if context.chunk.doc_id == name]
    holding = [chunk for chunk in meant if quote in chunk.text]
    return Citation(chunk_id=(holding or meant)[0].id if meant else name, quote=quote)


def _foreign(row: Mapping[str, Any], shape: _Shape) -> RecordedAnswer:
    labels = ("id", "as_of", "answerable", "split", "kind")
    item = {key: row[key] for key in labels if key in row}
    item["question"] = _text(row[_field(row, shape.question)])
    expected = row.get(_field(row, shape.expected))
    if isinstance(expected, str) and expected.strip():
        item["expected"] = expected
    contexts = next((row[name] for name in shape.contexts if row.get(name)), None)
    return RecordedAnswer(
        item=GoldenItem.model_validate(item),
        text=_text(row[_field(row, shape.answer)]),
        contexts=_contexts(contexts),
        refused=_refused(row),
    )


def _field(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((name for name in names if name in row), names[-1])


def _refused(row: Mapping[str, Any]) -> bool | None:
    refused = row.get("refused")
    return refused if isinstance(refused, bool) else None


class _ShapeError(TypeError):
    """A field has another shape than its format says; `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _contexts(given: Any) -> tuple[RetrievedChunk, ...]:
    if not isinstance(given, list | None):
        # A lone text would be read letter by letter.
        found = "a text" if isinstance(given, str) else f"a {type(given).__name__}"
        raise _ShapeError(
            f"contexts are a list, and {found} was found",
            "Write a JSON list of texts; a table that was saved as CSV turns lists into texts, so "
            "export JSON lines instead.",
        )
    chunks: list[dict[str, Any]] = []
    taken: set[str] = set()
    for number, one in enumerate(given or (), start=1):
        # LlamaIndex wraps a node with its score.
        context = {"text": one} if isinstance(one, str) else one
        context = context.get("node", context) if isinstance(context, dict) else {}
        text = context.get("text") if isinstance(context, dict) else None
        if not isinstance(text, str):
            raise _ShapeError(
                f"contexts[{number - 1}] holds no text",
                'Each context is a text, or {"id": …, "text": …}; leave out those that are empty.',
            )
        ids = (context.get(key) for key in ("id", "id_", "chunk_id"))
        name = next((str(found) for found in ids if found), f"context-{number}")
        # Chunks of one document often carry its id: one must not hide the other.
        unique = name
        while unique in taken:
            unique = f"{unique}#{number}"
        taken.add(unique)
        chunks.append({"id": unique, "text": text, "metadata": {"doc_id": name}})
    return read_chunks(chunks)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"text is expected, and {type(value).__name__} was found")
    return value


def _unreadable(number: int, row: Mapping[str, Any], error: Exception) -> UnreadableLine:
    hint = "docs/evaluation.md shows the shape of each format."
    if isinstance(error, ValidationError):
        message = first_problem(error)
    elif isinstance(error, AttributeError):
        message = "a field holds something else than its format says"
    elif isinstance(error, KeyError):
        message = f"the field {error.args[0]!r} is missing"
    else:
        message = str(error)[:200].encode("utf-8", "replace").decode()
        hint = getattr(error, "hint", hint)
    named = row.get("id")
    questions = (row.get(key) for key in ("question", "user_input", "query"))
    asked = next((text for text in questions if isinstance(text, str)), "")
    return UnreadableLine(
        item=GoldenItem(
            id=str(named) if isinstance(named, str | int) and str(named) else f"line-{number}",
            question=asked.strip() or f"(line {number})",
        ),
        error=RecordError(kind="InputError", message=f"line {number}: {message}", hint=hint),
    )
