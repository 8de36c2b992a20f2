"""A table row with the names of the columns that a question asks about."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.generate.question import Question
from grounded_rag.text.listing import told_row
from grounded_rag.text.words import content_words


def row_claim(row: str, header: str, question: Question) -> str:
    """Return a row as it is told: its first cell and the columns asked about.

    Where the question names no column, all of them; where the header does not fit, the cells.

    Args:
        row: The row.
        header: The table's header row, or "".
        question: The question.
    """
    cells, names, chosen = _chosen(row, header, question)
    if not names:
        return ", ".join(cell for cell in cells if cell)
    pairs = [(names[at], cells[at]) for at in chosen if names[at] and cells[at]]
    return told_row(cells[0], pairs)


def row_reading(row: str, header: str, question: Question) -> str:
    """Return the same as it is compared: "column: cell" pairs, the first column among them.

    Args:
        row: The row.
        header: The table's header row, or "".
        question: The question.
    """
    cells, names, chosen = _chosen(row, header, question)
    if not names:
        return ", ".join(cell for cell in cells if cell)
    return "; ".join(
        f"{names[at]}: {cells[at]}" if names[at] else cells[at] for at in (0, *chosen) if cells[at]
    )


def _chosen(
    row: str, header: str, question: Question
) -> tuple[list[str], list[str], Sequence[int]]:
    """Return the cells, the names of their columns if they fit, and the columns to tell."""
    cells, names = _cells(row), _cells(header)
    if len(names) != len(cells):
        return cells, [], ()
    return cells, names, _asked(names, question) or range(1, len(cells))


def _asked(names: Sequence[str], question: Question) -> list[int]:
    """Return the columns, the first left out, whose names agree best with the question."""
    wanted = {term.word.stem: term.weight for term in question.terms}
    fits: dict[int, float] = {}
    for at, name in enumerate(names[1:], start=1):
        stems = {word.stem for word in content_words(name)}
        shared = sum(weight for stem, weight in wanted.items() if stem in stems)
        if shared:
            # Of "Quill Account" and "Quill Plus Account" the question means the one it spells out.
            fits[at] = shared - _SPARE * len(stems - question.stems)
    best = max(fits.values(), default=0.0)
    return [at for at, fit in fits.items() if fit >= best - _TIE] if best > 0 else []


def _cells(row: str) -> list[str]:
    line = row.strip()
    if not line:
        return []
    if "|" in line:
        # One pipe a side: an empty cell at the edge still is a cell.
        inner = line.removeprefix("|").removesuffix("|")
        return [cell.strip() for cell in inner.split("|")]
    return [cell.strip() for cell in line.split("\t")]


_SPARE = 0.1
_TIE = 0.01
