"""The commands `ingest`, `ask`, `verify` and `status`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import grounded_rag
from grounded_rag import InputError, Outcome, Policy
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.progress import ingest_bar
from grounded_rag.cli.render import answer_view, console, pairs_table, verification_view
from grounded_rag.cli.reports import ingest_view, status_rows

REFUSED = 3
_POLICY = Policy()


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files.")],
    index: Annotated[
        Path,
        typer.Option("--index", "-i", help="Folder of the index.", envvar="GROUNDED_RAG_INDEX"),
    ],
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at the first file that cannot be read.")
    ] = False,
    words_only: Annotated[
        bool, typer.Option("--words-only", help="Search by words alone, without an embedding.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Bring an index up to date with folders or files; unchanged documents cost nothing."""
    with ingest_bar(enabled=not as_json) as progress:
        report = grounded_rag.update_index(
            paths,
            index=index,
            embedding=None if words_only else "default",
            strict=strict,
            progress=progress,
        )
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(ingest_view(report, index=index))
    return 1 if report.failed else 0


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = "extractive",
    as_of: AsOfOption = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", help="Only documents whose metadata has KEY=VALUE; repeatable."),
    ] = None,
    on_failed_claim: Annotated[
        Literal["refuse", "drop"],
        typer.Option(help="A claim still fails: refuse the whole answer, or drop the claim."),
    ] = _POLICY.on_failed_claim,
    support: Annotated[
        Literal["strict", "balanced", "spans-only"],
        typer.Option(help="How strong the support of a claim must be."),
    ] = _POLICY.support,
    stale: Annotated[
        Literal["flag", "exclude", "refuse"],
        typer.Option(help="What becomes of evidence that no longer holds."),
    ] = _POLICY.stale,
    quote_match: Annotated[
        Literal["repair", "exact"],
        typer.Option(help="Whether differences of presentation are bridged, and recorded."),
    ] = _POLICY.quote_match,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages to retrieve.")] = _POLICY.k,
    max_attempts: Annotated[
        int, typer.Option(min=1, max=10, help="Calls of the generator, the first included.")
    ] = _POLICY.max_attempts,
    max_seconds: Annotated[
        float, typer.Option(min=0.1, max=86_400, help="Seconds for one question.")
    ] = _POLICY.max_seconds,
    prompts: Annotated[Path | None, typer.Option(help="Folder with prompts of your own.")] = None,
    refusal: Annotated[str | None, typer.Option(help="Refusal string of your own.")] = None,
    receipts: Annotated[
        Path | None, typer.Option(help="Folder to save the answer's receipt to.")
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Also show what was retrieved, drafted and rejected.")
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Ask one question. Exit code 0: answered, 3: refused, 1: error."""
    options: dict[str, Any] = {"generator": generator}
    if prompts is not None:
        options["prompts"] = prompts
    if refusal is not None:
        options["refusal"] = refusal
    if receipts is not None:
        options["receipts"] = receipts
    options["policy"] = Policy(
        on_failed_claim=on_failed_claim,
        support=support,
        stale=stale,
        quote_match=quote_match,
        k=k,
        max_attempts=max_attempts,
        max_seconds=max_seconds,
    )
    moment = parse_as_of(as_of)
    filters = _filters(where or [])
    with ingest_bar(enabled=corpus is not None and not as_json) as progress:
        rag = open_rag(index=index, corpus=corpus, progress=progress, **options)
    with rag:
        answer = rag.query(question, as_of=moment, filters=filters)
    if as_json:
        typer.echo(answer.to_json(trace=trace))
    else:
        console().print(answer_view(answer, trace=trace))
    return 0 if answer.answered else REFUSED


def verify(
    draft: Annotated[
        Path, typer.Argument(help='JSON file with the draft, "-" for standard input.')
    ],
    chunks: Annotated[
        Path | None,
        typer.Option("--chunks", help='JSON list of {"id", "text", "metadata"}.'),
    ] = None,
    question: Annotated[str | None, typer.Option(help="The question; never evidence.")] = None,
    as_of: AsOfOption = None,
    refusal: Annotated[str | None, typer.Option(help="The refusal string in force.")] = None,
    as_json: JsonOption = False,
) -> int:
    """Verify a draft of any stack. Exit code 0: every claim is supported, 3: not.

    Without --chunks, the file holds an object with "draft", "chunks" and, where known,
    "question".
    """
    text = _read(draft)
    body: Any = text
    passages: Any
    if chunks is None:
        whole = _json(text, draft)
        if not isinstance(whole, dict) or not {"draft", "chunks"} <= set(whole):
            raise InputError(
                f'{draft} has no "draft" and "chunks".',
                hint="Put both into the file, or give the chunks by --chunks FILE.",
            )
        body, passages = whole["draft"], whole["chunks"]
        if question is None and isinstance(whole.get("question"), str):
            question = whole["question"]
    else:
        passages = _json(_read(chunks), chunks)
    result = grounded_rag.verify(
        body, passages, question=question, as_of=parse_as_of(as_of), refusal=refusal
    )
    if as_json:
        typer.echo(result.model_dump_json(indent=2))
    else:
        console().print(verification_view(result))
    return 0 if result.outcome is Outcome.ACCEPTED else REFUSED


def status(
    index: IndexOption = None, corpus: CorpusOption = None, as_json: JsonOption = False
) -> int:
    """Show what an index holds."""
    with open_rag(index=index, corpus=corpus) as rag:
        report = rag.status()
    if as_json:
        typer.echo(report.model_dump_json(indent=2))
    else:
        console().print(pairs_table(status_rows(report)))
    return 0


def _filters(where: list[str]) -> dict[str, Any]:
    filters: dict[str, Any] = {}
    for condition in where:
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(
                f"{condition!r} is no KEY=VALUE, such as trust=official.", param_hint="--where"
            )
        filters.setdefault(key.strip(), []).append(value.strip())
    return filters


def _read(path: Path) -> str:
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read().decode("utf-8")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error


def _json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON: {error}.", hint="See `verify --help`.") from error
