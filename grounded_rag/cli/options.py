"""Options that several commands share, and what they stand for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from grounded_rag import GroundedRAG
from grounded_rag.cli.settings import Settings
from grounded_rag.cli.terminal import ingest_bar
from grounded_rag.errors import InputError, ManifestError
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.types import Instant
from grounded_rag.validity import parse_instant

IndexOption = Annotated[
    Path | None,
    typer.Option("--index", "-i", help="Folder of the index.", envvar="GROUNDED_RAG_INDEX"),
]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        "-c",
        help='"demo", or a folder of documents: brought up to date in a cache, then asked.',
    ),
]
GeneratorOption = Annotated[
    str | None,
    typer.Option(
        "--generator",
        "-g",
        help='"extractive" (built in, no model), "anthropic", "anthropic-citations", or '
        '"PROVIDER/MODEL". By default what the settings or GROUNDED_RAG_GENERATOR say, else '
        "extractive.",
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--settings",
        "-s",
        metavar="FILE.toml|KEY=VALUE",
        help="Settings file, or one setting such as policy.k=12; repeatable, the last one counts. "
        "`grounded-rag settings` prints them all.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", help="Date for which the answer should hold, such as 2026-04-30."),
]


def parse_as_of(text: str | None) -> Instant | None:
    """Return the moment of `--as-of`, or None without one."""
    try:
        return parse_instant(text)
    except ManifestError as error:
        raise typer.BadParameter(str(error), param_hint="--as-of") from error


def corpus_folder(corpus: str) -> Path:
    """Return the folder that `--corpus` stands for.

    Raises:
        InputError: There is none.
    """
    folder = demo_corpus_dir() if corpus == "demo" else Path(corpus)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", hint="Name the folder with the documents.")
    return folder


def cached_index(corpus: Path) -> Path:
    """Return where the index of a corpus is kept."""
    from grounded_rag.index.ledger import SCHEMA_VERSION

    home = Path(os.environ.get("GROUNDED_RAG_HOME") or typer.get_app_dir("grounded-rag"))
    digest = hashlib.sha256(str(corpus.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    # Nobody named this folder: a newer schema makes one of its own instead of refusing the old.
    return home / "indexes" / f"{corpus.name}-{digest[:12]}-v{SCHEMA_VERSION}"


@contextmanager
def open_rag(
    *,
    index: Path | None,
    corpus: str | None,
    settings: Settings | None = None,
    quiet: bool = False,
    **options: Any,
) -> Iterator[GroundedRAG]:
    """Open what the options name; a corpus is brought up to date first.

    `options` are those of `GroundedRAG` from the command line; None leaves one to the settings.

    Raises:
        typer.BadParameter: Neither or both of index and corpus are named.
    """
    settings = settings or Settings()
    given = {name: value for name, value in options.items() if value is not None}
    chosen = {"policy": settings.policy, **settings.rag.options(), **given}
    if corpus is None:
        if index is None:
            raise typer.BadParameter(
                "name an index made by `grounded-rag ingest`, or say --corpus demo",
                param_hint="--index",
            )
        rag = GroundedRAG.open(index, **chosen)
    else:
        # An index by environment is a default that a corpus replaces.
        if index is not None and "GROUNDED_RAG_INDEX" not in os.environ:
            raise typer.BadParameter("give --index or --corpus, not both", param_hint="--corpus")
        folder = corpus_folder(corpus)
        with ingest_bar(enabled=not quiet) as progress:
            rag = GroundedRAG.from_corpus(
                folder, index=cached_index(folder), progress=progress, **chosen
            )
    with rag:
        yield rag
