"""What a generator returns when there is no draft: how the call ended, and why."""

from __future__ import annotations

from grounded_rag.generate.responses import Ending
from grounded_rag.protocols import Generation
from grounded_rag.text.display import one_line
from grounded_rag.types import StopReason, Usage

_MOST = 600


def undrafted(
    ending: Ending, *, word: str, usage: Usage, model: str, written: str = ""
) -> Generation:
    """Return a generation without a draft.

    Args:
        ending: How the last call ended.
        word: The provider's own word for it, or "".
        usage: Tokens of all calls.
        model: Provider and model, for people.
        written: What the model wrote instead; its beginning goes into the detail.
    """
    stop, detail = {
        Ending.REFUSED: (StopReason.REFUSED, "The model refused to answer."),
        Ending.CUT: (StopReason.TRUNCATED, "The output was cut, also with twice the limit."),
        Ending.FULL: (StopReason.TRUNCATED, "The model's context window is used up."),
        Ending.UNKNOWN: (StopReason.INVALID, f"The output ended with {word!r}."),
    }.get(ending, (StopReason.INVALID, "The output could not be read as claims."))
    if stop is StopReason.INVALID and (line := one_line(written[: 4 * _MOST])):
        shown = line if len(line) <= _MOST else f"{line[:_MOST]} […]"
        detail = f"{detail} The model wrote: {shown}"
    return Generation(draft=None, stop=stop, usage=usage, model=model, detail=detail)
