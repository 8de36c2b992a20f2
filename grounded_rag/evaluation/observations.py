"""What one metric says about one record, in three states."""

from __future__ import annotations

from typing import NamedTuple


class Observation(NamedTuple):
    """Hits among trials of one record.

    No trials and no failures mean "not applicable". Failures are never counted as misses.

    Attributes:
        hits: What counts for the rate; a share between 0 and 1 for a mean.
        trials: Number of things looked at.
        failed: Number of things that could not be scored.
        why: Why they could not.
    """

    hits: float = 0
    trials: int = 0
    failed: int = 0
    why: str = ""


NOT_APPLICABLE = Observation()


def yes_or_no(hit: bool) -> Observation:
    """Return the observation of one thing looked at."""
    return Observation(hits=int(hit), trials=1)


def share(hits: int, trials: int) -> Observation:
    """Return the observation of several things looked at."""
    return Observation(hits=hits, trials=trials)


def failed(why: str, *, things: int = 1) -> Observation:
    """Return the observation of things that could not be scored."""
    return Observation(failed=things, why=why)
