"""How two texts differ: word by word, and number by number by value."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from grounded_rag.receipts.blocks import common_blocks, steps
from grounded_rag.receipts.findings import DiffPart, NumberChange
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity

_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+|\s+|.", re.DOTALL
)
_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")
_BY_CHARACTER = 600


def tokens(text: str) -> list[str]:
    """Return words, numbers, single CJK characters, white space and marks; joined, the text."""
    return _TOKEN.findall(text)


def similarity(old: str, new: str) -> float:
    """Return the share of characters that two texts have in common in order, 0 to 1.

    Long texts are compared by words: that takes a fraction of the time and differs little.
    """
    total = len(old) + len(new)
    if not total:
        return 1.0
    if total <= _BY_CHARACTER:
        return SequenceMatcher(None, old, new, autojunk=False).ratio()
    left, right = tokens(old), tokens(new)
    blocks = common_blocks(left, right)
    kept = sum(len(t) for block in blocks for t in left[block.left : block.left + block.size])
    return 2 * kept / total


def kept_share(part: str, old: str, new: str) -> float:
    """Return the share of `part`, a slice of `old`, that stands where `new` aligns with `old`."""
    start = old.find(part)
    if start < 0 or not part:
        return 0.0
    left, right = tokens(old), tokens(new)
    offsets = [0]
    for token in left:
        offsets.append(offsets[-1] + len(token))
    kept = 0
    for block in common_blocks(left, right):
        first, last = offsets[block.left], offsets[block.left + block.size]
        kept += max(0, min(last, start + len(part)) - max(first, start))
    return kept / len(part)


def word_diff(old: str, new: str) -> tuple[DiffPart, ...]:
    """Return what leads from `old` to `new`, in whole words; white space alone is no difference."""
    left, right = tokens(old), tokens(new)
    parts: list[DiffPart] = []
    for step in steps(_plain(left), _plain(right)):
        old_part, new_part = "".join(left[step.left]), "".join(right[step.right])
        if step.kind == "same":
            parts.append(DiffPart.model_construct(kind="same", text=new_part))
            continue
        if old_part:
            parts.append(DiffPart.model_construct(kind="removed", text=old_part))
        if new_part:
            parts.append(DiffPart.model_construct(kind="added", text=new_part))
    return tuple(parts)


def _plain(parts: Sequence[str]) -> list[str]:
    return [" " if part.isspace() else part for part in parts]


class _Number(NamedTuple):
    """A number of a text: how it is written, and what it says."""

    text: str
    key: Hashable


def number_changes(old: str, new: str) -> tuple[NumberChange, ...]:
    """Return every number, date and time by whose value or unit two texts differ, in order.

    "two weeks" and "2 weeks" are the same. Digits that count nothing, as in an address or a name,
    are compared as they are written.
    """
    left, right = _numbers(old), _numbers(new)
    changes: list[NumberChange] = []
    for step in steps([number.key for number in left], [number.key for number in right]):
        if step.kind == "same":
            continue
        before: list[str | None] = [number.text for number in left[step.left]]
        after: list[str | None] = [number.text for number in right[step.right]]
        width = max(len(before), len(after))
        before += [None] * (width - len(before))
        after += [None] * (width - len(after))
        changes += [NumberChange(old=o, new=n) for o, n in zip(before, after, strict=True)]
    return tuple(changes)


def _numbers(text: str) -> list[_Number]:
    found: list[tuple[int, _Number]] = []
    covered = bytearray(len(text))
    for quantity in find_quantities(text):
        if quantity.soft and not any(character.isdigit() for character in quantity.text):
            continue
        covered[quantity.start : quantity.end] = b"\x01" * (quantity.end - quantity.start)
        found.append((quantity.start, _Number(quantity.text, _key(quantity))))
    found.extend(
        (match.start(), _Number(match[0], ("digits", match[0])))
        for match in _DIGITS.finditer(text)
        if not covered[match.start()]
    )
    return [number for _, number in sorted(found, key=lambda item: item[0])]


def _key(quantity: Quantity) -> Hashable:
    if quantity.kind == "date":
        return ("date", frozenset(quantity.dates))
    if quantity.kind == "time":
        return ("time", frozenset(quantity.times))
    if quantity.kind == "label":
        return ("digits", quantity.text.strip().rstrip("."))
    return (quantity.kind == "ordinal", frozenset(quantity.values), quantity.unit, quantity.per,
            quantity.bound)  # fmt: skip
