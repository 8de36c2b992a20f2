"""Words that limit a number: "up to 30", "at least two", "12 or more", "ca. 5"."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.text.quantities import Bound
from grounded_rag.text.scan import Token, word_at

_BEFORE_ROWS = {
    Bound.AT_MOST: "up to|at most|no more than|not more than|maximum of|maximum|max|max .|"
    "not exceed|not exceeding|never exceed|no later than|not later than|limited to|capped at|"
    "bis zu|höchstens|maximal|≤|< =|jusqu'à|no longer than|not longer than|not over|not above|"
    "nicht mehr als|no greater than|not greater than|maximum is|limit is|limit of|cap of|"
    "upper limit of|as many as|as much as|as long as|cannot exceed|a maximum|at the most|"
    "not older than|no older than|never more than|never over|never above",
    Bound.LESS_THAN: "less than|fewer than|under|below|<|weniger als|unter|lower than|"
    "shorter than|younger than|smaller than|lighter than|moins de",
    Bound.AT_LEAST: "at least|minimum of|minimum|min .|no less than|not less than|no fewer than|"
    "not fewer than|≥|> =|mindestens|not below|not under|starting at|starting from|au moins|"
    "minimum is|nicht weniger als|a minimum|no earlier than|not earlier than|at the least|"
    "never less than|never under|never below|no younger than|not younger than",
    Bound.MORE_THAN: "more than|over|above|exceeding|exceeds|exceed|exceeded|>|greater than|"
    "longer than|older than|heavier than|higher than|larger than|taller than|mehr als|über|"
    "in excess of|plus de|bigger than|upwards of",
    Bound.ABOUT: "about|around|approximately|roughly|approx|approx .|circa|ca|ca .|~|≈|nearly|"
    "almost|etwa|rund|ungefähr|knapp|fast|environ|close to|estimated|some",
}  # fmt: skip
_AFTER_ROWS = {
    Bound.AT_LEAST: "or more|or above|or over|and over|and above|or higher|or older|or longer|"
    "or greater|and more|and older|or later|minimum|at least|at the least|oder mehr",
    Bound.AT_MOST: "or less|or fewer|or under|or below|or lower|or younger|or earlier|or shorter|"
    "maximum|max|at most|at the most|and under|oder weniger",
    Bound.ABOUT: "or so",
}
_BEFORE = {tuple(p.split()): bound for bound, row in _BEFORE_ROWS.items() for p in row.split("|")}
_AFTER = {tuple(p.split()): bound for bound, row in _AFTER_ROWS.items() for p in row.split("|")}
_FILLERS = frozenset("a an the only of just".split())


def bound_before(tokens: Sequence[Token], index: int) -> Bound | None:
    """Return the bound that the words right before token `index` put on it, or None."""
    end = index
    if word_at(tokens, end - 1) in _FILLERS and word_at(tokens, end - 2) != "maximum":
        end -= word_at(tokens, end - 1) in ("a", "an", "the", "only", "just")
    for length in (3, 2, 1):
        key = tuple(word_at(tokens, position) for position in range(end - length, end))
        found = _BEFORE.get(key)
        if found is not None:
            return found
    return None


def bound_after(tokens: Sequence[Token], index: int) -> Bound | None:
    """Return the bound that the words from token `index` on put on the number before it."""
    if word_at(tokens, index) == "+" and index < len(tokens) and tokens[index].glued:
        return Bound.AT_LEAST
    for length in (3, 2, 1):
        key = tuple(word_at(tokens, position) for position in range(index, index + length))
        found = _AFTER.get(key)
        if found is not None:
            return found
    return None
