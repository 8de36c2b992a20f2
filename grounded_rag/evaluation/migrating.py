"""Records of version 0.1, read by this one.

Version 0.1 called claims "high", "checked" and "lexical" by their nearness to a quote, which proves
nothing: only what a decider had confirmed stays confirmed. Everything else is open until the run is
judged again.
"""

from __future__ import annotations

import json
from typing import Any

_TIERS = {"high": "none", "checked": "confirmed", "lexical": "none"}
_GONE = frozenset(
    {"low_overlap", "wrong_entity", "stronger_than_quote", "added_content", "far_from_quote"}
)
_WHY = "Version 0.1 called it {tier}; judge the run again to know more."


def migrated(line: bytes) -> bytes:
    """Return a record as this version writes it; one that already is stays as it is.

    Args:
        line: One line of `records.jsonl`.

    Raises:
        ValueError: It is no JSON.
    """
    return json.dumps(_migrated(json.loads(line)), ensure_ascii=False).encode()


def _migrated(value: Any) -> Any:
    if isinstance(value, list):
        return [_migrated(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _migrated(each) for key, each in value.items()}
    if found.get("reason") in _GONE:
        found["reason"] = "unproven"
        if found.get("status") == "unsupported":
            # A word list had objected, which proves nothing either.
            found["status"] = "open"
    if found.get("tier") in _TIERS and "status" in found:
        found["why"] = _WHY.format(tier=found["tier"])
        found["tier"] = _TIERS[found["tier"]]
    return found
