"""Remarks on what may ship: an uncertain place, a source outdated or contradicted, a hedge."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import read_table
from grounded_rag.types import ClaimVerdict, Flag, FlagKind, Instant, Located, RetrievedChunk, Tier
from grounded_rag.validity import staleness
from grounded_rag.verification.passages import Passage, Passages
from grounded_rag.verification.presentation import DAMAGED

if TYPE_CHECKING:
    from grounded_rag.verification.support import Conflict

CONFIDENCE_CHECK = "token_confidence"
"""Name of the filter that looks at the model's own doubts."""

# A quote of nearly the whole chunk hides which words carry the claim, unless the chunk is short.
_WHOLE = 0.9
_LONG = 240
_MANY_SENTENCES = 4


def place_flags(index: int, located: Located, passage: Passage) -> Iterator[Flag]:
    """Yield what a reader should know about the place of a quote."""
    if located.ambiguous:
        count = len(located.occurrences)
        yield _flag(
            index,
            located,
            FlagKind.AMBIGUOUS_LOCATION,
            f"The quote stands {count} times in the chunk and nothing tells which one is meant.",
        )
    text = passage.text.strip()
    whole = len(located.quote) >= _WHOLE * len(text)
    if whole and len(text) >= _LONG and len(passage.sentences) >= _MANY_SENTENCES:
        yield _flag(
            index,
            located,
            FlagKind.OVERSIZED_QUOTE,
            "The quote is the whole chunk; it does not show which words carry the claim.",
        )
    if passage.damage and DAMAGED.search(located.quote):
        yield _flag(
            index,
            located,
            FlagKind.DAMAGED_TEXT,
            "The quoted text holds characters lost in extraction.",
        )
    if passage.retrieved.trust == "untrusted":
        yield _flag(index, located, FlagKind.UNTRUSTED_SOURCE, "The source is marked as untrusted.")


def wording_flags(index: int, case: ClaimCase, verdict: ClaimVerdict) -> Iterator[Flag]:
    """Yield what the claim's own wording, and the model's doubts, call a person's attention to.

    What ships in the source's own words has no wording to remark on.
    """
    if not verdict.supported:
        return
    located = case.evidence[0].located

    hedge = None
    if not case.verbatim:
        hedge = own_hedge(case.claim.text, [piece.sentence for piece in case.evidence])
    if hedge is not None:
        yield _flag(
            index,
            located,
            FlagKind.HEDGED,
            f"The claim hedges (“{hedge}”) where its source does not.",
        )
    doubt = next(
        (s for s in verdict.signals if s.check == CONFIDENCE_CHECK and s.passed is False), None
    )
    if doubt is not None:
        yield _flag(index, located, FlagKind.UNSURE_TOKENS, doubt.detail)


def unconfirmed_flag(index: int, verdict: ClaimVerdict) -> Iterator[Flag]:
    """Yield a flag on a claim that ships although nothing has shown it, as "spans-only" allows."""
    if verdict.supported and verdict.tier is Tier.NONE:
        yield _flag(
            index,
            verdict.located[0],
            FlagKind.UNCONFIRMED,
            "The quote exists; nothing has shown that it says what the claim says.",
        )


def staleness_flags(
    index: int, chunk: RetrievedChunk, *, as_of: Instant, max_age: dt.timedelta | None
) -> Iterator[Flag]:
    """Yield what the metadata of a cited chunk's document says against it at `as_of`."""
    for finding in staleness(chunk.validity, as_of=as_of, max_age=max_age):
        yield Flag(
            kind=finding.kind,
            claim=index,
            chunk_id=chunk.chunk.id,
            doc_id=chunk.chunk.doc_id,
            detail=finding.detail,
            related=finding.related,
            since=finding.since,
        )


def conflict_flags(
    cases: Iterable[tuple[int, ClaimCase]], passages: Passages, *, as_of: Instant | None
) -> Iterator[Flag]:
    """Yield a flag for each claim whose evidence other current sources contradict.

    What two claims would say of the same sources, from either side, is said of the first.
    """
    from grounded_rag.verification.support import find_conflicts

    titles = {p.id: p.retrieved.title or p.chunk.doc_id for p in passages}
    told: set[frozenset[tuple[str, str]]] = set()
    for index, case in cases:
        conflicts: tuple[Conflict, ...] = ()
        # A remark that cannot be made must not cost the answer.
        with suppress(Exception):
            conflicts = find_conflicts(case, passages, as_of=as_of)
        cited = case.evidence[0].located
        new: dict[frozenset[tuple[str, str]], Conflict] = {}
        for each in conflicts:
            sides = frozenset({(cited.doc_id, each.ours), (each.doc_id, each.theirs)})
            if sides not in told:
                new.setdefault(sides, each)
        told.update(new)
        if new:
            yield Flag(
                kind=FlagKind.CONFLICT,
                claim=index,
                chunk_id=cited.chunk_id,
                doc_id=cited.doc_id,
                detail=" ".join(f"{titles[each.chunk_id]} {each.detail}" for each in new.values()),
                related=tuple(each.chunk_id for each in new.values()),
            )


def _flag(index: int, located: Located, kind: FlagKind, detail: str) -> Flag:
    return Flag(
        kind=kind, claim=index, chunk_id=located.chunk_id, doc_id=located.doc_id, detail=detail
    )


def own_hedge(claim: str, evidence: Sequence[str]) -> str | None:
    """Return the words by which a claim hedges and its evidence does not, or None."""
    hedges = _hedges()
    text = _plain(claim)
    source = _plain("\n".join(evidence))
    for stance in hedges.stance.finditer(text):
        if stance[0] not in source:
            return stance[0]
    chance = hedges.chance.search(text)
    if chance is not None and hedges.source_chance.search(source) is None:
        return chance[0]
    return None


class _Hedges(NamedTuple):
    """The patterns of `drafts.toml`, where each is explained."""

    stance: re.Pattern[str]
    chance: re.Pattern[str]
    source_chance: re.Pattern[str]


@cache
def _hedges() -> _Hedges:
    listed = read_table("drafts")["hedges"]

    def pattern(*names: str) -> re.Pattern[str]:
        phrases = [" ".join(part.split()) for name in names for part in listed[name].split("|")]
        # The longest first: "it appears that" before "it".
        phrases.sort(key=len, reverse=True)
        joined = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
        return re.compile(rf"(?<!\w)(?:{joined})(?!\w)")

    return _Hedges(pattern("stance"), pattern("chance"), pattern("chance", "source_chance"))


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")
