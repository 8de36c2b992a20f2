"""What can be wrong with a golden set, one rule a function."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from grounded_rag.evaluation.records import Answerable, GoldenItem
from grounded_rag.types import Frozen

USEFUL = 100
"""Least number of items with which a rate says something; 200 are better."""

_LEAST_SHARE = 0.15


class GoldenFinding(Frozen):
    """One thing to mend in a golden set.

    Attributes:
        severity: An `error` makes a measurement wrong; a `warning` makes it weak.
        rule: Short name of the rule.
        where: Line or id.
        detail: One sentence for a person.
    """

    severity: Literal["error", "warning"]
    rule: str
    where: str
    detail: str


def _error(rule: str, where: str, detail: str) -> GoldenFinding:
    return GoldenFinding(severity="error", rule=rule, where=where, detail=detail)


def _warning(rule: str, where: str, detail: str) -> GoldenFinding:
    return GoldenFinding(severity="warning", rule=rule, where=where, detail=detail)


def _unfilled(items: Sequence[GoldenItem]) -> list[GoldenFinding]:
    found: list[GoldenFinding] = []
    for item in items:
        if not item.question.strip():
            found.append(_error("unfilled", item.id, "The question is empty."))
        if item.answerable is None:
            found.append(_error("unfilled", item.id, 'Nobody has said whether it is "answerable".'))
    return found


def _labels(items: Sequence[GoldenItem]) -> list[GoldenFinding]:
    found: list[GoldenFinding] = []
    for item in items:
        if item.answerable is Answerable.NO and (item.gold or item.expected.strip()):
            found.append(
                _error("labels", item.id, "It is unanswerable and has gold or an expected answer.")
            )
        if item.answerable in (Answerable.YES, Answerable.PART) and not (
            item.gold or item.expected.strip()
        ):
            found.append(
                _error("labels", item.id, "It is answerable and has neither gold nor `expected`.")
            )
        if (item.answerable is Answerable.PART) != bool(item.unanswered.strip()):
            found.append(
                _error("labels", item.id, "`unanswered` belongs to `part`, and only there.")
            )
        if item.unanswered not in item.question:
            found.append(
                _error("labels", item.id, "`unanswered` is no literal part of the question.")
            )
    return found


def _duplicates(items: Sequence[GoldenItem]) -> list[GoldenFinding]:
    found: list[GoldenFinding] = []
    for name, count in Counter(item.id for item in items).items():
        if count > 1:
            found.append(_error("duplicate", name, f"The id comes {count} times."))
    for group in _grouped(items, lambda item: f"{_plain(item.question)}\x00{item.as_of}"):
        if _plain(group[0].question) and len({item.id for item in group}) > 1:
            ids = ", ".join(item.id for item in group)
            found.append(_error("duplicate", ids, "They ask the same question for the same day."))
    return found


def _leakage(items: Sequence[GoldenItem]) -> list[GoldenFinding]:
    """The same words in two splits: what is tuned on one has seen the other."""
    found: list[GoldenFinding] = []
    for group in _grouped(items, lambda item: " ".join(sorted(set(_plain(item.question).split())))):
        splits = sorted({item.split for item in group})
        if len(splits) > 1 and _plain(group[0].question):
            ids = ", ".join(item.id for item in group)
            detail = f"The same question stands in the splits {', '.join(map(repr, splits))}."
            # The same words for another day are another question, but a close relative.
            same_day = len({item.as_of for item in group}) < len(group)
            found.append((_error if same_day else _warning)("leakage", ids, detail))
    return found


def _balance(items: Sequence[GoldenItem]) -> list[GoldenFinding]:
    found: list[GoldenFinding] = []
    if len(items) < USEFUL:
        found.append(
            _warning(
                "size",
                f"{len(items)} items",
                f"A useful set has {USEFUL} to {2 * USEFUL}; {USEFUL - len(items)} are missing.",
            )
        )
    labelled = [item for item in items if item.answerable is not None]
    unanswerable = sum(item.answerable is Answerable.NO for item in labelled)
    if labelled and not _LEAST_SHARE <= unanswerable / len(labelled) <= 1 - _LEAST_SHARE:
        found.append(
            _warning(
                "balance",
                f"{unanswerable} of {len(labelled)}",
                "Both directions need questions: at least 15 % unanswerable, 15 % answerable.",
            )
        )
    return found


def quote_findings(
    items: Sequence[GoldenItem], documents: Mapping[str, str]
) -> list[GoldenFinding]:
    """Return the gold quotes that do not stand verbatim in their documents.

    Args:
        items: The items.
        documents: Canonical text of each document by id.
    """
    found: list[GoldenFinding] = []
    for item in items:
        for option in (option for piece in item.gold for option in piece.any_of):
            text = documents.get(option.file)
            if text is None:
                found.append(_error("quote", item.id, f"There is no document {option.file!r}."))
            elif not option.quote.strip():
                found.append(_error("quote", item.id, f"A quote from {option.file} is empty."))
            elif option.quote not in text:
                shown = option.quote[:60].replace("\n", " ")
                found.append(
                    _error("quote", item.id, f"{option.file} does not say “{shown}” verbatim.")
                )
    return found


def _grouped(
    items: Sequence[GoldenItem], key: Callable[[GoldenItem], str]
) -> Iterable[list[GoldenItem]]:
    groups: dict[str, list[GoldenItem]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return [group for group in groups.values() if len(group) > 1]


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


RULES: tuple[Callable[[Sequence[GoldenItem]], list[GoldenFinding]], ...] = (
    _unfilled,
    _labels,
    _duplicates,
    _leakage,
    _balance,
)
"""The rules that need nothing but the items."""
