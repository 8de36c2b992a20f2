"""Claims that read a table row as "column: cell" pairs: exact reading, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.text.lines import is_delimiter_row
from grounded_rag.types import Signal

_MAX = 20_000


def table_cells(case: ClaimCase) -> Signal | None:
    """Confirm a claim that pairs cells of one row with their own columns, and adds nothing.

    "Card: Gold; Fee a year: €95" from a row under the header "Card | Fee a year". Every pair must
    be exact; whatever else the claim holds leaves it to the other checks.
    """
    if not reads_row(case):
        return None
    return Signal(
        check="nearness",
        passed=True,
        score=1.0,
        detail="The claim reads cells of the quoted row under the names of their columns.",
        role="decider",
    )


def reads_row(case: ClaimCase) -> bool:
    """Whether a claim is nothing but "column: cell" pairs of the one row that it quotes."""
    if len(case.evidence) != 1 or ": " not in case.claim.text or len(case.claim.text) > _MAX:
        return False
    pairs = _pairs(case.evidence[0])
    parts = [" ".join(part.split()) for part in case.claim.text.rstrip(".").split(";")]
    return bool(pairs) and all(part in pairs for part in parts)


def without_row_readings(
    check: Callable[[ClaimCase], Signal | None],
) -> Callable[[ClaimCase], Signal | None]:
    """Return `check` silenced where `table_cells` has decided.

    Checks for prose would take a column's name for the subject of its neighbour's cell.
    """

    @wraps(check)
    def silenced(case: ClaimCase) -> Signal | None:
        return None if reads_row(case) else check(case)

    return silenced


def _pairs(piece: EvidencePiece) -> frozenset[str]:
    """Return every "column: cell" of a quoted row that stands with its header."""
    row = piece.sentence_span.of(piece.chunk.chunk.text)
    header, found, _ = piece.sentence.partition("\n")
    if not found or "\n" in row.strip() or not piece.sentence.endswith(row):
        return frozenset()
    names, cells = _cells(header), _cells(row)
    if len(names) != len(cells) or len(cells) < 2 or not _ruled(header, piece.chunk.chunk.text):
        return frozenset()
    return frozenset(
        f"{name}: {cell}" for name, cell in zip(names, cells, strict=True) if name and cell
    )


def _cells(row: str) -> list[str]:
    text = row.strip()
    if "|" not in text or "\\|" in text:
        return []
    # One pipe a side: an empty cell at the edge still is a cell.
    inner = text.removeprefix("|").removesuffix("|")
    return [" ".join(cell.split()) for cell in inner.split("|")]


def _ruled(header: str, text: str) -> bool:
    """Whether the line below `header` is the rule of a table: without one, it may be no header."""
    below = text[text.find(header) + len(header) :].lstrip("\r\n").partition("\n")[0]
    return is_delimiter_row(below)
