"""Hedging in the model's own words: a claim that doubts what its evidence says plainly."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
