"""The command `tune`: choose the refusal threshold of an index on its own questions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import BaseModel
from rich.console import Group, RenderableType

from grounded_rag.cli.options import (
    CorpusOption,
    IndexOption,
    JsonOption,
    SettingsOption,
    cached_index,
    corpus_folder,
    open_rag,
)
from grounded_rag.cli.settings import load_settings
from grounded_rag.cli.terminal import NOT_GOOD, counting_bar, figures, line, show

if TYPE_CHECKING:
    from grounded_rag.evaluation.tuning import Bounds, Performance, Share, Tuning

_Rate = partial(typer.Option, min=0.001, max=0.999)


def tune(
    golden: Annotated[
        Path | None,
        typer.Option("--golden", help="Golden set with answerable and unanswerable questions."),
    ] = None,
    index: IndexOption = None,
    corpus: CorpusOption = None,
    split: Annotated[str | None, typer.Option(help="Only items of this split.")] = None,
    alpha: Annotated[
        float, _Rate(help="Most unanswerable questions that may be answered, as a share.")
    ] = 0.2,
    beta: Annotated[
        float | None,
        _Rate(help="Most answers that may be on no gold place, as a share; needs gold quotes."),
    ] = None,
    delta: Annotated[
        float,
        typer.Option(min=0.001, max=0.499, help="1 less the confidence that the rates hold."),
    ] = 0.1,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing.")] = False,
    reset: Annotated[bool, typer.Option("--reset", help="Take the stored threshold away.")] = False,
    settings: SettingsOption = None,
    as_json: JsonOption = False,
) -> int:
    """Choose when the built-in generator declines, by exact bounds on its errors.

    The threshold is stored in the index and used from the next opening on. Exit code 0: done.
    3: no threshold keeps to the bounds; nothing is stored. 1: an error, such as too few questions.
    """
    from grounded_rag.evaluation import tuning

    if reset == (golden is not None):
        raise typer.BadParameter("give either --golden FILE or --reset", param_hint="--golden")
    if reset:
        folder = index if corpus is None else cached_index(corpus_folder(corpus))
        if folder is None:
            raise typer.BadParameter("name the index", param_hint="--index")
        tuning.reset_threshold(folder)
        show(_Reset(index=folder), _reset_view, as_json=as_json)
        return 0
    assert golden is not None  # noqa: S101 - of two, exactly one is given
    with (
        open_rag(
            index=index,
            corpus=corpus,
            settings=load_settings(settings),
            quiet=as_json,
            generator="extractive",
        ) as rag,
        counting_bar(enabled=not as_json) as advance,
    ):
        found = tuning.tune(
            rag,
            golden,
            alpha=alpha,
            beta=beta,
            delta=delta,
            split=split,
            store=not dry_run,
            progress=lambda step: advance("Asking", step.done, step.total, step.item),
        )
    show(found, tuning_view, as_json=as_json)
    return 0 if found.chosen is not None else NOT_GOOD


class _Reset(BaseModel):
    """That the threshold of an index is the built-in one again."""

    index: Path
    threshold: None = None


def _reset_view(done: _Reset) -> RenderableType:
    return line(f"{done.index} uses the built-in threshold again")


def tuning_view(found: Tuning) -> RenderableType:
    """Return the chosen threshold beside the one in force, and what it promises."""
    shown = [("now", found.current)]
    if found.chosen is not None:
        shown.insert(0, ("chosen", found.chosen))
    table = figures("", *(name for name, _ in shown), left=("",))
    for name, cells in _rows([at for _, at in shown]):
        table.add_row(name, *cells)
    parts: list[RenderableType] = [table, ""]
    if found.chosen is None:
        parts.append(line(f"no threshold can be certified: {found.reason}", "yellow"))
        parts.append(line("next: allow a higher rate, or label more questions", "dim"))
    else:
        parts += [line(text) for text in _promise(found.bounds)]
    if found.unlabelled:
        text = f"note: {found.unlabelled} items do not say whether they are answerable"
        parts.append(line(text, "yellow"))
    if found.misplaced:
        text = f"note: the gold of {found.misplaced} items stands in no document of the index"
        parts.append(line(text, "yellow"))
    if found.chosen is not None:
        parts.append(
            line("stored; the index uses it from now on" if found.stored else "not stored", "dim")
        )
    return Group(*parts)


def _rows(shown: list[Performance]) -> list[tuple[str, list[str]]]:
    rows = [
        ("threshold", [f"{at.threshold:+.2f}" for at in shown]),
        ("answerable questions answered", [_share(at.answered) for at in shown]),
        ("  right: on a gold place", [_share(at.right) for at in shown]),
        ("  wrong, of those answered", [_share(at.wrong) for at in shown]),
        ("unanswerable questions refused", [_share(at.refused) for at in shown]),
    ]
    return [row for row in rows if shown[0].right.trials or not row[0].startswith(" ")]


def _share(share: Share) -> str:
    ends = share.interval
    return f"{share.hits} of {share.trials} ({ends.low:.0%}–{ends.high:.0%})"


def _promise(bounds: Bounds) -> list[str]:
    """Return what a certified threshold promises."""
    from grounded_rag.evaluation.certificate import percent

    lines = [f"at most {percent(bounds.alpha)} of unanswerable questions are answered"]
    if bounds.beta is not None:
        lines.append(f"at most {percent(bounds.beta)} of answers are on no gold place")
    lines[-1] += f", at {percent(1 - bounds.delta)} confidence, for questions like these"
    return lines
