"""Which retrieved chunk a cited id names. Never clamped, guessed or mapped by position."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from grounded_rag.types import Reason

_WRAPPING = " \t\r\n[](){}<>【】〔〕［］（）「」『』〈〉《》«»“”„‘’\"'`*"


class ResolvedId(NamedTuple):
    """The id of a retrieved chunk, or why there is none.

    Attributes:
        id: The id, or None.
        repaired: Whether brackets or quotation marks around it were taken off.
        problem: Why there is none.
        detail: One sentence.
    """

    id: str | None
    repaired: bool = False
    problem: Reason | None = None
    detail: str = ""


def resolve_id(cited: str, ids: Collection[str], *, repair: bool = True) -> ResolvedId:
    """Return the chunk that `cited` names.

    Args:
        cited: Id as the generator wrote it.
        ids: Ids of the retrieved chunks.
        repair: Whether brackets, quotation marks and white space around an id may be taken off.
    """
    if cited in ids:
        return ResolvedId(cited)
    bare = cited.strip(_WRAPPING)
    # An id that itself ends in a bracket survives: only what surrounds a known id is taken off.
    for candidate in (cited.strip(), bare):
        if repair and candidate in ids:
            return ResolvedId(candidate, repaired=True)
    known = ", ".join(sorted(ids)[:12]) or "none"
    shown = cited[:60]
    if _may_mean_several(bare, ids):
        return ResolvedId(
            None,
            problem=Reason.AMBIGUOUS_CHUNK,
            detail=f'"{shown}" may mean several of the retrieved chunks ({known}); '
            "use one id exactly as it was given.",
        )
    return ResolvedId(
        None,
        problem=Reason.UNKNOWN_CHUNK,
        detail=f'"{shown}" is no id of a retrieved chunk; the ids are {known}.',
    )


def _may_mean_several(bare: str, ids: Collection[str]) -> bool:
    """Whether `bare` could be a position, counted from 0 or 1, or a part of several ids."""
    if not bare:
        return False
    if bare.isascii() and bare.isdigit() and len(bare) < 6:
        return int(bare) <= len(ids)
    return sum(known.startswith((f"{bare}:", f"{bare}#", f"{bare}/")) for known in ids) > 1
