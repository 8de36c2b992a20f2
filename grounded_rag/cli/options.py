"""Options shared by the commands, and what they stand for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from grounded_rag import GroundedRAG, Policy
from grounded_rag.errors import ManifestError
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
    str,
    typer.Option(
        "--generator",
        "-g",
        help='"extractive" (built in, no model), "anthropic", "anthropic-citations", or '
        '"PROVIDER/MODEL".',
        envvar="GROUNDED_RAG_GENERATOR",
    ),
]
EntailmentOption = Annotated[
    Path | None,
    typer.Option(
        "--entailment",
        help="Folder with an ONNX entailment model: confirms claims in words of their own.",
        envvar="GROUNDED_RAG_ENTAILMENT",
    ),
]
RerankerOption = Annotated[
    Path | None,
    typer.Option(
        "--reranker",
        help="Folder with an ONNX cross-encoder, which puts the passages found in better order.",
        envvar="GROUNDED_RAG_RERANKER",
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help='"anthropic" or "PROVIDER/MODEL": grades the claims that nothing else confirmed.',
        envvar="GROUNDED_RAG_JUDGE",
    ),
]
FailedClaimOption = Annotated[
    Literal["refuse", "drop"],
    typer.Option(
        help="A claim cannot be mended or restated: refuse the whole answer, or drop the claim."
    ),
]
UnprovenOption = Annotated[
    Literal["restate", "reask", "refuse"],
    typer.Option(
        help="A quote exists, and nothing shows that it says what the claim says: ship the "
        "source's own words in its place, ask the generator again, or refuse."
    ),
]
# "balanced" is read so that it gets its own error, which says what to use instead.
SupportOption = Annotated[
    Literal["strict", "spans-only", "balanced"],
    typer.Option(
        metavar="[strict|spans-only]",
        help="What ships in the generator's own words: what is word for word from its source or "
        "confirmed, or whatever quotes something that exists.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", help="Date for which the answer should hold, such as 2026-04-30."),
]


class Settings(BaseSettings):
    """What the environment may say; each name is prefixed with GROUNDED_RAG_.

    Attributes:
        home: Folder for caches, such as the index of the demo corpus.
    """

    model_config = SettingsConfigDict(env_prefix="GROUNDED_RAG_", extra="ignore")

    home: Path = Path(typer.get_app_dir("grounded-rag"))


def parse_as_of(text: str | None) -> Instant | None:
    """Return the moment of `--as-of`, or None without one."""
    try:
        return parse_instant(text)
    except ManifestError as error:
        raise typer.BadParameter(str(error), param_hint="--as-of") from error


def cache_of(corpus: Path) -> Path:
    """Return the cached index folder of a corpus folder."""
    import hashlib

    digest = hashlib.sha256(str(corpus.resolve()).encode("utf-8", "surrogatepass")).hexdigest()
    return Settings().home / "indexes" / f"{corpus.name}-{digest[:12]}"


def open_rag(
    *, index: Path | None, corpus: str | None, progress: Any = None, **options: Any
) -> GroundedRAG:
    """Open the index that the options name.

    Raises:
        typer.BadParameter: Neither or both of index and corpus are named.
    """
    if corpus is not None:
        if index is not None and "GROUNDED_RAG_INDEX" not in os.environ:
            raise typer.BadParameter("give --index or --corpus, not both", param_hint="--corpus")
        folder = demo_corpus_dir() if corpus == "demo" else Path(corpus)
        cache = cache_of(folder)
        return GroundedRAG.from_corpus(folder, index=cache, progress=progress, **options)
    if index is None:
        raise typer.BadParameter(
            "name an index made by `grounded-rag ingest`, or say --corpus demo",
            param_hint="--index",
        )
    return GroundedRAG.open(index, **options)


Support = Literal["strict", "spans-only"]
Unproven = Literal["restate", "reask", "refuse"]


def support_of(text: str | None) -> Support | None:
    """Return how strong support must be, as `SupportOption` gives it.

    Raises:
        ConfigError: It is a word that earlier versions knew; the message says what to use.
        typer.BadParameter: It is no such word.
    """
    if text is None:
        return None
    try:
        return Policy.model_validate({"support": text}).support
    except ValidationError as error:
        raise typer.BadParameter("choose strict or spans-only", param_hint="--support") from error


RunSupportOption = Annotated[
    str | None,
    typer.Option(
        metavar="[strict|spans-only]",
        help="What ships in the generator's own words: what is verbatim or confirmed (strict, the "
        "default); spans-only is existence only.",
        rich_help_panel="Answers",
    ),
]
"""Read by `support_of`: a word of an earlier version is told what takes its place."""

RunUnprovenOption = Annotated[
    Unproven | None,
    typer.Option(
        help="A claim that nothing has shown: restate it in the source's words (default), ask "
        "again, or refuse.",
        rich_help_panel="Answers",
    ),
]
