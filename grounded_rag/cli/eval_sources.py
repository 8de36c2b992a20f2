"""Where the answers that `eval` measures come from, and which options go with that."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import typer

from grounded_rag import InputError
from grounded_rag.resources import demo_corpus_dir

_ASKING = (
    "index", "generator", "entailment", "judge", "split", "limit", "k", "prompts", "concurrency",
    "relevance", "prices",
)  # fmt: skip
"""Options of asking, of no use where nothing is asked."""


class Source(NamedTuple):
    """Where answers come from besides an index."""

    replay_of: Path | None
    answers: Path | None

    def check(self, *, corpus: str | None) -> None:
        """Raise unless exactly one source is named; an index by environment does not count."""
        if self.replay_of is not None and self.answers is not None:
            raise InputError("--replay and --answers are given together.", hint="Give one of them.")
        if (self.replay_of or self.answers) and corpus is not None:
            raise InputError(
                "--corpus asks questions; --replay and --answers ask none.",
                hint="Give one of them.",
            )

    def check_unused(self, context: typer.Context) -> None:
        """Raise where an option was typed that this source makes no use of.

        To drop `--split dev` in silence would show the figures of other questions.
        """
        unused: tuple[str, ...]
        if self.replay_of is not None:
            unused, because = (
                (*_ASKING, "golden", "format", "refusal"),
                "--replay judges a recorded run again",
            )
        elif self.answers is not None:
            unused, because = (*_ASKING, "everything"), "--answers asks no question"
        else:
            unused, because = ("everything", "format", "refusal"), "nothing recorded is judged"
        for name in unused:
            typed = context.get_parameter_source(name)
            if typed is not None and typed.name == "COMMANDLINE":
                option = {"golden": "GOLDEN", "k": "-k"}.get(name, f"--{name}")
                raise InputError(
                    f"{option} has no effect here: {because}.", hint=f"Leave out {option}."
                )


def golden_path(golden: Path | None, corpus: str | None) -> Path:
    """Return the golden set that is named, or the corpus's own.

    Raises:
        typer.BadParameter: Neither a set nor a corpus is named.
        InputError: The corpus has none.
    """
    if golden is not None:
        return golden
    if corpus is None:
        raise typer.BadParameter("name a golden set, or say --corpus demo", param_hint="GOLDEN")
    folder = demo_corpus_dir() if corpus == "demo" else Path(corpus)
    if not (folder / "golden.jsonl").is_file():
        raise InputError(
            f"{folder} has no golden.jsonl.",
            hint="Name a golden set, or start one with `grounded-rag golden new`.",
        )
    return folder / "golden.jsonl"
