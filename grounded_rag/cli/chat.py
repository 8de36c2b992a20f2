"""The command `chat`: a conversation, typed or piped in, one question a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import typer
from rich.text import Text

from grounded_rag import Policy
from grounded_rag.cli.options import (
    AsOfOption,
    CorpusOption,
    FailedClaimOption,
    GeneratorOption,
    IndexOption,
    JsonOption,
    SupportOption,
    UnprovenOption,
    open_rag,
    parse_as_of,
)
from grounded_rag.cli.terminal import answer_view, console, ingest_bar, report_error
from grounded_rag.conversation import Conversation, Turn
from grounded_rag.errors import ProviderError, QuestionError
from grounded_rag.text.display import one_line

_POLICY = Policy()
_HELP = "Ask a question; follow-ups may refer to earlier ones. An empty line or Ctrl-D ends it."


def chat(
    index: IndexOption = None,
    corpus: CorpusOption = None,
    generator: GeneratorOption = "extractive",
    as_of: AsOfOption = None,
    unproven: UnprovenOption = _POLICY.unproven,
    on_failed_claim: FailedClaimOption = _POLICY.on_failed_claim,
    support: SupportOption = _POLICY.support,
    as_json: JsonOption = False,
) -> int:
    """Ask follow-up questions, one a line; works with piped input, and --json prints JSON Lines.

    One line comes for each question; one that failed has "error", "message" and "hint". Exit code
    0: all were answered or refused, 1: one failed.
    """
    moment = parse_as_of(as_of)
    policy = Policy(unproven=unproven, on_failed_claim=on_failed_claim, support=support)
    with ingest_bar(enabled=corpus is not None and not as_json) as progress:
        rag = open_rag(
            index=index,
            corpus=corpus,
            progress=progress,
            generator=generator,
            policy=policy,
        )
    failed = 0
    with rag:
        conversation = Conversation(rag)
        for question in _questions(quiet=as_json):
            try:
                turn = conversation.ask(question, as_of=moment)
            except (ProviderError, QuestionError) as error:
                # One question fails; the conversation goes on.
                failed += 1
                report_error(error, as_json=as_json)
                continue
            if as_json:
                typer.echo(turn.model_dump_json())
            else:
                _show(turn)
    return 1 if failed else 0


def _questions(*, quiet: bool) -> Iterator[str]:
    """Yield one question a line until an empty line, the end of the input or an interrupt."""
    typed = sys.stdin.isatty()
    if typed and not quiet:
        console(stderr=True).print(Text(_HELP, style="dim"), soft_wrap=True)
    while True:
        if typed and not quiet:
            typer.echo("\n> ", nl=False, err=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            return
        if not line or (typed and not line.strip()):
            return
        # Piped input may space its questions out.
        if line.strip():
            yield line.strip()


def _show(turn: Turn) -> None:
    screen = console()
    screen.print()
    for outdated in turn.outdated:
        line = f"! The answer to “{outdated.question}” no longer holds:"
        screen.print(Text(one_line(line), style="magenta"), soft_wrap=True)
        for reason in outdated.reasons:
            screen.print(Text(f"    {one_line(reason)}", style="magenta"), soft_wrap=True)
    if turn.question != turn.asked:
        screen.print(Text(f"  understood from: {one_line(turn.asked)}", style="dim"))
    screen.print(answer_view(turn.answer))
