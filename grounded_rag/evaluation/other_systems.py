"""From a recorded answer of another system to a record that the same metrics read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from grounded_rag.errors import InputError
from grounded_rag.evaluation.attribution import attribute
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.evaluation.observed import is_open
from grounded_rag.evaluation.records import EvalRecord, GoldenItem, OtherAnswer, RecordError
from grounded_rag.protocols import Share
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    Frozen,
    Outcome,
    RetrievedChunk,
    Span,
)
from grounded_rag.verification import verify
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.support import support_score


class OpenClaims(Frozen):
    """The open claims of a run.

    Attributes:
        claims: How many there are.
        mean: Mean of their figures; None without any.
        calibrated: Whether the figures are P(true) by a calibrated model. Otherwise they are raw
            support scores, which order claims and are no probabilities.
        by_item: The figures by item, in the order of its open claims; None is unknown.
    """

    claims: int
    mean: Share | None = None
    calibrated: bool = False
    by_item: dict[str, tuple[Share | None, ...]] = Field(default_factory=dict)


def support_of(claims: Sequence[ClaimVerdict]) -> tuple[float | None, ...]:
    """Return the support score of each open claim, and None for every other claim.

    A claim without any place in what was retrieved shares no word with it: its score is 0.

    Args:
        claims: Verdicts on the claims of an answer.
    """
    return tuple(_support(claim) if is_open(claim) else None for claim in claims)


def _support(claim: ClaimVerdict) -> float:
    evidence = [each.text for each in claim.statements] or [each.quote for each in claim.located]
    if not evidence or not claim.text:
        return 0.0
    given = ClaimInput(claim=claim.text, evidence=tuple(dict.fromkeys(evidence)))
    return support_score(case_of(given))


def open_claims(
    support: dict[str, tuple[float | None, ...]],
    likely: dict[str, tuple[float | None, ...]] | None = None,
) -> OpenClaims:
    """Return the open claims of a run with their figures.

    Args:
        support: Support scores of its claims by item; None for a claim that is not open.
        likely: P(true) of its claims by item, where a calibrated model gives it.
    """
    found: dict[str, tuple[float | None, ...]] = {}
    for item, scores in support.items():
        places = [place for place, score in enumerate(scores) if score is not None]
        if not places:
            continue
        figures = scores if likely is None else likely.get(item, ())
        found[item] = tuple(figures[at] if at < len(figures) else None for at in places)
    known = [figure for figures in found.values() for figure in figures if figure is not None]
    return OpenClaims(
        claims=sum(map(len, found.values())),
        mean=sum(known) / len(known) if known else None,
        calibrated=likely is not None,
        by_item=found,
    )


Format = Literal["jsonl", "ragas", "llamaindex"]


class Context(Frozen):
    """One retrieved text of another system.

    Attributes:
        id: Unique among the contexts of an answer.
        text: The text.
        source: The id as recorded, which several chunks of one document may share; "" as `id`.
    """

    id: str
    text: str
    source: str = ""


class Recorded(Frozen):
    """One answer of another system.

    Attributes:
        item: What is known about the question.
        text: The answer.
        contexts: What was retrieved, best first.
        claims: The system's own claims with citations; empty where it gives prose alone.
        refused: Whether the record says that it declined; None where it does not say.
    """

    item: GoldenItem
    text: str
    contexts: tuple[Context, ...] = ()
    claims: tuple[Claim, ...] = ()
    refused: bool | None = None


class Unreadable(Frozen):
    """A line that is no recorded answer, and why."""

    item: GoldenItem
    error: RecordError


class Line(Frozen):
    """One line of a file: an answer, or why there is none."""

    number: Annotated[int, Field(ge=1)]
    content: Recorded | Unreadable


def read_answers(
    path: Path | str,
    *,
    format: Format = "jsonl",  # noqa: A002 - the name of the command's option
    golden: Sequence[GoldenItem] = (),
) -> Iterator[Line]:
    """Yield the recorded answers of a file, one in memory at a time.

    Args:
        path: JSON lines; for `ragas` and `llamaindex` also one JSON list.
        format: Shape of the records; see `docs/evaluation.md`.
        golden: Items that add labels and gold, matched by id, else by question.

    Raises:
        InputError: The file cannot be read.
    """
    reader = _READERS[format]
    known = {item.id: item for item in golden}
    by_question = {item.question: item for item in golden}
    for number, text in _objects(Path(path)):
        row: dict[str, Any] = {}
        content: Recorded | Unreadable
        try:
            row = _row(text)
            content = reader(row)
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
            content = _unreadable(number, row, error)
        item = known.get(str(row.get("id", ""))) or by_question.get(content.item.question)
        if item is not None:
            content = content.model_copy(update={"item": item})
        yield Line(number=number, content=content)


def _objects(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = file.readline()
            if first.lstrip().startswith("["):
                rows = json.loads(first + file.read())
                yield from enumerate(rows, start=1)
                return
            file.seek(0)
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} cannot be read: {error}.", hint="Give UTF-8 JSON lines, or one JSON list."
        ) from error


def _row(given: Any) -> dict[str, Any]:
    row = json.loads(given) if isinstance(given, str) else given
    if not isinstance(row, dict):
        raise TypeError("no JSON object")
    # Lone surrogates can be written in JSON and in no file of ours: found here, line by line.
    json.dumps(row, ensure_ascii=False).encode("utf-8")
    return row


def _unreadable(number: int, row: Mapping[str, Any], error: Exception) -> Unreadable:
    """Return why a line cannot be used, under its own id and question where it says them."""
    hint = "docs/evaluation.md shows the shape of each format."
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = f"{where}: {first['msg']}"
    elif isinstance(error, AttributeError):
        message = "a field holds something else than its format says"
    elif isinstance(error, KeyError):
        message = f"the field {error.args[0]!r} is missing"
    else:
        message = str(error)[:200].encode("utf-8", "replace").decode()
        hint = getattr(error, "hint", hint)
    named = row.get("id")
    asked = next((row[key] for key in _QUESTIONS if isinstance(row.get(key), str)), "")
    return Unreadable(
        item=GoldenItem(
            id=str(named) if isinstance(named, str | int) and str(named) else f"line-{number}",
            question=asked.strip() or f"(line {number})",
        ),
        error=RecordError(kind="InputError", message=f"line {number}: {message}", hint=hint),
    )


_QUESTIONS = ("question", "user_input", "query")
"""Where the formats keep the question."""


class _ShapeError(TypeError):
    """A field has another shape than its format says, and this is what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def _own(row: Mapping[str, Any]) -> Recorded:
    """Our lines: question, answer, contexts, and where known claims, citations and labels."""
    fields = {key: row[key] for key in GoldenItem.model_fields if key in row}
    contexts = _contexts(row.get("contexts"))
    claims = [
        Claim(
            text=_text(claim["text"]),
            citations=_citations(claim.get("citations") or [claim], contexts),
        )
        for claim in row.get("claims") or ()
    ]
    return Recorded(
        item=GoldenItem.model_validate(fields),
        text=_text(row["answer"]),
        contexts=contexts,
        claims=tuple(claims),
        refused=_refused(row),
    )


def _citations(
    given: Sequence[Mapping[str, Any]], contexts: Sequence[Context]
) -> tuple[Citation, ...]:
    return tuple(
        _citation(_text(one["chunk_id"]), _text(one["quote"]), contexts)
        for one in given
        if "chunk_id" in one or "quote" in one
    )


def _citation(name: str, quote: str, contexts: Sequence[Context]) -> Citation:
    """Return a citation of the context that is meant: of several by one name, with the quote."""
    meant = [context for context in contexts if context.source == name]
    holding = [context for context in meant if quote in context.text]
    return Citation(chunk_id=(holding or meant)[0].id if meant else name, quote=quote)


def _ragas(row: Mapping[str, Any]) -> Recorded:
    """ragas, both generations: user_input/response/… and question/answer/contexts/ground_truth."""
    question = row["user_input"] if "user_input" in row else row["question"]
    answer = row["response"] if "response" in row else row["answer"]
    contexts = row["retrieved_contexts"] if "retrieved_contexts" in row else row.get("contexts")
    reference = row.get("reference", row.get("ground_truth"))
    item = {"question": _text(question)}
    if isinstance(reference, str) and reference.strip():
        item["expected"] = reference
    return Recorded(
        item=GoldenItem.model_validate({**item, **_named(row)}),
        text=_text(answer),
        contexts=_contexts(contexts),
        refused=_refused(row),
    )


def _llamaindex(row: Mapping[str, Any]) -> Recorded:
    """LlamaIndex: an EvaluationResult (query, response, contexts), or a Response's JSON."""
    item: dict[str, Any] = {"question": _text(row["query"])}
    reference = row.get("reference", row.get("reference_answer"))
    if isinstance(reference, str) and reference.strip():
        item["expected"] = reference
    contexts: list[Any] | None = row.get("contexts") or row.get("reference_contexts")
    if row.get("source_nodes"):
        nodes = [one.get("node", one) for one in row["source_nodes"]]
        contexts = [{"id": n.get("id_", n.get("id")), "text": n["text"]} for n in nodes]
    return Recorded(
        item=GoldenItem.model_validate({**item, **_named(row)}),
        text=_text(row["response"]),
        contexts=_contexts(contexts),
        refused=_refused(row),
    )


_READERS = {"jsonl": _own, "ragas": _ragas, "llamaindex": _llamaindex}


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("id", "as_of", "answerable", "split", "kind") if key in row}


def _refused(row: Mapping[str, Any]) -> bool | None:
    refused = row.get("refused")
    return refused if isinstance(refused, bool) else None


def _contexts(given: Any) -> tuple[Context, ...]:
    if not isinstance(given, list | None):
        # A lone text would be read letter by letter.
        found = "a text" if isinstance(given, str) else f"a {type(given).__name__}"
        raise _ShapeError(
            f"contexts are a list, and {found} was found",
            "Write a JSON list of texts; a table that was saved as CSV turns lists into texts, so "
            "export JSON lines instead.",
        )
    contexts: list[Context] = []
    taken: set[str] = set()
    for number, one in enumerate(given or (), start=1):
        text, name = one, f"context-{number}"
        if not isinstance(one, str):
            if not isinstance(one, dict) or not isinstance(one.get("text"), str):
                raise _ShapeError(
                    f"contexts[{number - 1}] holds no text",
                    'Each context is a text, or {"id": …, "text": …}; leave out those that are '
                    "empty.",
                )
            text = one["text"]
            name = str(one.get("id") or one.get("chunk_id") or name)
        # Chunks of one document often carry its id: one must not hide the other.
        unique = name
        while unique in taken:
            unique = f"{unique}#{number}"
        taken.add(unique)
        contexts.append(Context(id=unique, text=text, source=name))
    return tuple(contexts)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"text is expected, and {type(value).__name__} was found")
    return value


def judge_other(content: Recorded | Unreadable, *, rules: Rules) -> EvalRecord:
    """Verify a recorded answer and return its record.

    A refusal is decided by structure: the record says so, or the whole text is the refusal string
    in force, presentation aside. No phrases are guessed.

    Args:
        content: What was read.
        rules: The rules in force; their refusal string is that of the system.
    """
    if isinstance(content, Unreadable):
        return EvalRecord(item=content.item, error=content.error)
    contexts = _chunks(content.contexts)
    refused = content.refused is True or (content.refused is None and _declines(content, rules))
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
    draft, apart = Draft(claims=content.claims), tuple[str, ...]()
    question = content.item.question
    if not content.claims:
        draft, apart = attribute(content.text, contexts, question=question, rules=rules)
    verification = verify(draft, contexts, question=question, as_of=content.item.as_of, rules=rules)
    other = OtherAnswer(
        text=content.text,
        contexts=contexts,
        draft=draft,
        own_citations=bool(content.claims),
        verification=verification,
        support=support_of(verification.claims),
        apart=apart,
    )
    return EvalRecord(item=content.item, other=other)


def _declines(content: Recorded, rules: Rules) -> bool:
    if content.claims:
        return False
    if not content.text.strip():
        # Nothing was said: that is an empty answer, which metrics count as one.
        return False
    return verify(content.text, [], rules=rules).outcome is Outcome.REFUSED


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
