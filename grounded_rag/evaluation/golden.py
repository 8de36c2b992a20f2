"""Golden sets: reading them, finding what is wrong with them, and how large they are."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from grounded_rag.errors import InputError
from grounded_rag.evaluation.golden_rules import RULES, USEFUL, GoldenFinding, quote_findings
from grounded_rag.evaluation.records import GoldenItem
from grounded_rag.statistics import clopper_pearson
from grounded_rag.types import Frozen


class GoldenStats(Frozen):
    """Size and balance of a golden set.

    Attributes:
        items: Number of items.
        answerable: Number by answerable, "unlabelled" included.
        kinds: Number by kind.
        splits: Number by split.
        with_gold: Items with gold places.
        with_expected: Items with an expected answer.
        missing: Items still missing to `USEFUL`.
        widest: Half-width of the 95 % interval of a rate of one half over all items: the
            coarsest ruler that the set is.
    """

    items: int
    answerable: dict[str, int]
    kinds: dict[str, int]
    splits: dict[str, int]
    with_gold: int
    with_expected: int
    missing: int
    widest: float


class GoldenCheck(Frozen):
    """What a golden set holds, and what is wrong with it."""

    stats: GoldenStats
    findings: tuple[GoldenFinding, ...] = ()

    @property
    def usable(self) -> bool:
        """Whether nothing is wrong with it; warnings leave it usable."""
        return all(finding.severity != "error" for finding in self.findings)


class _Line(Frozen):
    """One line of a file: an item, or what is wrong with it."""

    number: int
    item: GoldenItem | None = None
    problem: str = ""


def load_golden(path: Path | str) -> tuple[GoldenItem, ...]:
    """Read a golden set, one JSON object a line; blank lines are skipped.

    Raises:
        InputError: A line is no item, or an id comes twice; the message names it.
    """
    items: list[GoldenItem] = []
    seen: set[str] = set()
    for line in _lines(Path(path)):
        if line.item is None:
            raise InputError(
                f"{path} line {line.number}: {line.problem}",
                hint="`grounded-rag golden check` lists everything that is wrong with a set.",
            )
        if line.item.id in seen:
            raise InputError(
                f"{path} line {line.number}: the id {line.item.id!r} comes twice.",
                hint="Give each item an id of its own.",
            )
        seen.add(line.item.id)
        items.append(line.item)
    if not items:
        raise InputError(f"{path} holds no items.", hint="`grounded-rag golden new` starts a set.")
    return tuple(items)


def golden_hash(items: Iterable[GoldenItem]) -> str:
    """Return the SHA-256, hexadecimal, over the items in their order."""
    digest = hashlib.sha256()
    for item in items:
        digest.update(item.model_dump_json().encode() + b"\n")
    return digest.hexdigest()


def _lines(path: Path) -> Iterable[_Line]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error
    # Not splitlines(): a quote may hold U+2028 and other marks that are no ends of lines in JSON.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _read(number, line)


def _read(number: int, line: str) -> _Line:
    try:
        return _Line(number=number, item=GoldenItem.model_validate(json.loads(line)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "item"
        return _Line(number=number, problem=f"{place}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return _Line(number=number, problem=f"no JSON: {error}")


def check_golden(path: Path | str, *, documents: Mapping[str, str] | None = None) -> GoldenCheck:
    """Check a golden set: schema, quotes, duplicates, leakage between splits, balance and size.

    Args:
        path: The file.
        documents: Canonical text of each document by id; without it, quotes are not compared.

    Raises:
        InputError: The file cannot be read at all.
    """
    lines = list(_lines(Path(path)))
    findings = [
        GoldenFinding(
            severity="error", rule="schema", where=f"line {line.number}", detail=line.problem
        )
        for line in lines
        if line.item is None
    ]
    items = [line.item for line in lines if line.item is not None]
    for rule in RULES:
        findings += rule(items)
    if documents is not None:
        findings += quote_findings(items, documents)
    return GoldenCheck(stats=golden_stats(items), findings=tuple(findings))


def golden_stats(items: Sequence[GoldenItem]) -> GoldenStats:
    """Return size and balance of a set."""
    half = clopper_pearson(len(items) // 2, len(items))
    return GoldenStats(
        items=len(items),
        answerable=_count(str(item.answerable or "unlabelled") for item in items),
        kinds=_count(item.kind or "-" for item in items),
        splits=_count(item.split or "-" for item in items),
        with_gold=sum(bool(item.gold) for item in items),
        with_expected=sum(bool(item.expected.strip()) for item in items),
        missing=max(0, USEFUL - len(items)),
        widest=(half.high - half.low) / 2,
    )


def _count(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
