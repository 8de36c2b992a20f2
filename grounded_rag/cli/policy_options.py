"""Options that choose what ships: how strong support must be, and what becomes of open claims."""

from __future__ import annotations

from typing import Annotated, Literal

import typer
from pydantic import ValidationError

from grounded_rag import Policy

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


SupportOption = Annotated[
    str | None,
    typer.Option(
        metavar="[strict|spans-only]",
        help="What ships in the generator's own words: what is verbatim or confirmed (strict, the "
        "default); spans-only is existence only.",
        rich_help_panel="Answers",
    ),
]
"""Read by `support_of`: a word of an earlier version is told what takes its place."""

UnprovenOption = Annotated[
    Unproven | None,
    typer.Option(
        help="A claim that nothing has shown: restate it in the source's words (default), ask "
        "again, or refuse.",
        rich_help_panel="Answers",
    ),
]
