"""Remarks on supported claims: where a place is uncertain, a source outdated or contradicted."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator, Sequence

from grounded_rag.protocols import ClaimCase
from grounded_rag.types import ClaimVerdict, Flag, FlagKind, Instant, Located, RetrievedChunk, Tier
from grounded_rag.validity import staleness
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.presentation import DAMAGED

# A speaker's own stance. Sources have one too: what stands in the evidence is never flagged.
_STANCE = """
    i think | i believe | i guess | i assume | i suppose | i suspect | i would say | i'd say |
    i'm not sure | i am not sure | not entirely sure | as far as i know | as far as i can tell |
    to my knowledge | to the best of my knowledge | if i understand correctly | in my opinion |
    in my view | it seems | it would seem | it appears that | it looks like | seemingly |
    apparently | presumably | ich glaube | ich denke | ich vermute | ich nehme an |
    meines wissens | soweit ich weiß | meiner meinung nach | es scheint | anscheinend |
    vermutlich | je pense que | je crois que | je suppose que | à ma connaissance | à mon avis |
    il semble | apparemment | creo que | pienso que | supongo que | que yo sepa | en mi opinión |
    parece que | al parecer
"""
_CHANCE = """
    probably | perhaps | maybe | possibly | most likely | very likely | likely | presumably |
    wahrscheinlich | vielleicht | womöglich | möglicherweise | vermutlich | probablement |
    peut-être | sans doute | probablemente | quizás | quizá | tal vez | posiblemente
"""
# With one of these in the evidence, a word of chance in the claim may well be the source's.
_SOURCE_CHANCE = """
    may | might | could | can | expected | estimated | chance | risk | unlikely | potential |
    potentially | typically | usually | often | kann | könnte | dürfte | pourrait | peut | podría
"""


def _pattern(phrases: str) -> re.Pattern[str]:
    listed = [" ".join(phrase.split()) for phrase in phrases.split("|")]
    # The longest first: "it appears that" before "it".
    listed.sort(key=len, reverse=True)
    joined = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in listed)
    return re.compile(rf"(?<!\w)(?:{joined})(?!\w)")


_STANCES = _pattern(_STANCE)
_CHANCES = _pattern(_CHANCE)
_SOURCES = _pattern(_CHANCE + "|" + _SOURCE_CHANCE)


def own_hedge(claim: str, evidence: Sequence[str]) -> str | None:
    """Return the words by which a claim hedges and its evidence does not, or None.

    Args:
        claim: Text of the claim.
        evidence: The cited statements.
    """
    text = _plain(claim)
    source = _plain("\n".join(evidence))
    for stance in _STANCES.finditer(text):
        if stance[0] not in source:
            return stance[0]
    chance = _CHANCES.search(text)
    if chance is not None and _SOURCES.search(source) is None:
        return chance[0]
    return None


def _plain(text: str) -> str:
    return text.lower().replace("’", "'")


CONFIDENCE_CHECK = "token_confidence"
"""Name of the filter that looks at the model's own doubts."""

_WHOLE = 0.9
_LONG = 240
_MANY_SENTENCES = 4


def place_flags(index: int, located: Located, passage: Passage) -> Iterator[Flag]:
    """Yield what a reader should know about the place of a quote.

    Args:
        index: 0-based index of the claim.
        located: The place.
        passage: Its chunk.
    """

    def flag(kind: FlagKind, detail: str) -> Flag:
        return Flag(
            kind=kind,
            claim=index,
            chunk_id=located.chunk_id,
            doc_id=located.doc_id,
            detail=detail,
        )

    if located.ambiguous:
        count = len(located.occurrences)
        yield flag(
            FlagKind.AMBIGUOUS_LOCATION,
            f"The quote stands {count} times in the chunk and nothing tells which one is meant.",
        )
    text = passage.text.strip()
    whole = len(located.quote) >= _WHOLE * len(text)
    if whole and len(text) >= _LONG and len(passage.sentences) >= _MANY_SENTENCES:
        yield flag(
            FlagKind.OVERSIZED_QUOTE,
            "The quote is the whole chunk; it does not show which words carry the claim.",
        )
    if passage.damage and DAMAGED.search(located.quote):
        yield flag(FlagKind.DAMAGED_TEXT, "The quoted text holds characters lost in extraction.")
    if passage.retrieved.trust == "untrusted":
        yield flag(FlagKind.UNTRUSTED_SOURCE, "The source is marked as untrusted.")


def wording_flags(index: int, case: ClaimCase, verdict: ClaimVerdict) -> Iterator[Flag]:
    """Yield what the claim's own wording, and the model's doubts, call a person's attention to.

    Args:
        index: 0-based index of the claim.
        case: The claim with its evidence.
        verdict: Its verdict. What ships in the source's own words has no wording to remark on.
    """
    if not verdict.supported:
        return
    located = case.evidence[0].located

    def flag(kind: FlagKind, detail: str) -> Flag:
        return Flag(
            kind=kind,
            claim=index,
            chunk_id=located.chunk_id,
            doc_id=located.doc_id,
            detail=detail,
        )

    hedge = None
    if not case.verbatim:
        hedge = own_hedge(case.claim.text, [piece.sentence for piece in case.evidence])
    if hedge is not None:
        yield flag(FlagKind.HEDGED, f"The claim hedges (“{hedge}”) where its source does not.")
    doubt = next(
        (s for s in verdict.signals if s.check == CONFIDENCE_CHECK and s.passed is False), None
    )
    if doubt is not None:
        yield flag(FlagKind.UNSURE_TOKENS, doubt.detail)


def unconfirmed_flag(index: int, verdict: ClaimVerdict) -> Iterator[Flag]:
    """Yield a flag on a claim that ships although nothing has shown it, as "spans-only" allows.

    Args:
        index: 0-based index of the claim.
        verdict: Its verdict.
    """
    if verdict.supported and verdict.tier is Tier.NONE:
        yield Flag(
            kind=FlagKind.UNCONFIRMED,
            claim=index,
            chunk_id=verdict.located[0].chunk_id,
            doc_id=verdict.located[0].doc_id,
            detail="The quote exists; nothing has shown that it says what the claim says.",
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
    index: int, case: ClaimCase, chunks: Sequence[RetrievedChunk], *, as_of: Instant | None
) -> Iterator[Flag]:
    """Yield one flag where other current sources say something else than the evidence."""
    from grounded_rag.verification.support import find_conflicts

    try:
        conflicts = find_conflicts(case, chunks, as_of=as_of)
    except Exception:  # noqa: BLE001 - a remark that cannot be made must not cost the answer
        return
    if conflicts:
        cited = case.evidence[0].located
        titles = {c.chunk.id: c.title or c.chunk.doc_id for c in chunks}
        yield Flag(
            kind=FlagKind.CONFLICT,
            claim=index,
            chunk_id=cited.chunk_id,
            doc_id=cited.doc_id,
            detail=" ".join(
                f"{titles.get(conflict.chunk_id, conflict.chunk_id)} {conflict.detail}"
                for conflict in conflicts
            ),
            related=tuple(conflict.chunk_id for conflict in conflicts),
        )
