"""The support score: how well the words of a claim stand in its evidence. It orders, no more.

Five parts, each worth its place on the public sets (docs/support.md): the share of the claim's
words that the evidence has, which saturates, since an edited-in error leaves a near-copy and an
honest rewording does not; the share that the nearest sentence alone has; and a price each for a
number that the passage does not give, a name that it lacks, and a denial of the claim's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from grounded_rag.protocols import ClaimCase
from grounded_rag.resources import read_table
from grounded_rag.text.quantities import Agreement, compare
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import related
from grounded_rag.types import Signal
from grounded_rag.verification.support.numbers import numbers
from grounded_rag.verification.support.terms import ReadText, TextTerm, read

CAP = 0.7
"""Coverage above this counts no more."""
# Measured on six public sets (benchmarks/NOTES.md): neighbouring weights do as well, so that their
# choice is not what carries the score; a part was kept if leaving it out costs about one point.
_NEAREST = 0.3
_NUMBER = 0.3
_DENIAL = 0.3
_NAME = 0.2
_WORDS = 0.5
_MEANING = 0.6
# Letters by which stems are looked up: derivations of one word begin alike.
_PREFIX = 4
# Sentences of the evidence that are looked at, so that hostile input costs little.
_MOST = 150


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What the score is made of.

    Attributes:
        coverage: Share of the claim's weight that all of the evidence has.
        nearest: Largest share that one sentence of the evidence has.
        strange_name: Whether neither evidence nor title has a name of the claim.
        denial: Whether the claim denies and the nearest sentence does not.
        wrong_number: Whether the passage does not give a number of the claim.
    """

    coverage: float
    nearest: float
    strange_name: bool
    denial: bool
    wrong_number: bool = False

    def score(self, similarity: float | None = None) -> float:
        """Return the parts as one number between 0 and 1."""
        words = (min(self.coverage, CAP) / CAP + _NEAREST * self.nearest) / (1 + _NEAREST)
        score = words if similarity is None else _WORDS * words + _MEANING * similarity
        score -= _NUMBER * self.wrong_number + _NAME * self.strange_name + _DENIAL * self.denial
        return min(1.0, max(0.0, score))


def support_score(
    case: ClaimCase,
    signals: Iterable[Signal] | None = None,
    *,
    similarity: float | None = None,
) -> float:
    """Return a score between 0 and 1 by which claims can be ordered; it is no probability.

    Args:
        case: The claim with its evidence.
        signals: What the built-in checks said, where they have run already.
        similarity: What `similarity_check` said; without it words alone count.
    """
    return score_parts(case, signals).score(similarity)


def score_parts(case: ClaimCase, signals: Iterable[Signal] | None = None) -> ScoreParts:
    """Return the parts of the support score; the arguments are those of `support_score`."""
    if signals is None:
        found = numbers(case)
        signals = () if found is None else (found,)
    wrong = any(signal.check == "numbers" and signal.passed is False for signal in signals)
    return replace(_words(case), wrong_number=wrong)


def coverage(case: ClaimCase) -> float:
    """Return the share of the claim's content found in the evidence, 0 to 1.

    Words of the title and headings are left out: a claim may name what they name.
    """
    return _words(case).coverage


def denies(terms: Iterable[TextTerm]) -> bool:
    """Whether one of the terms is a negation."""
    return any(denies_by(term.lower) for term in terms)


def denies_by(lower: str) -> bool:
    """Whether a word in lower case denies what it governs."""
    return lower in _negations() or lower.endswith(("n't", "n’t"))


@cache
def _negations() -> frozenset[str]:
    return frozenset(word for words in read_table("negations").values() for word in words)


def _words(case: ClaimCase) -> ScoreParts:
    pieces = case.evidence
    titles = [t for p in pieces for t in (p.chunk.title, *p.chunk.chunk.headings)]
    return _compared(
        case.claim.text,
        "\n".join(dict.fromkeys(piece.sentence for piece in pieces)),
        "\n".join(dict.fromkeys(titles)),
    )


@lru_cache(maxsize=512)
def _compared(claim: str, evidence: str, context: str) -> ScoreParts:
    ours, theirs, around = read(claim), read(evidence), read(context)
    stems, titles = _index(theirs.terms), _index(around.terms)
    missing = [term for term in ours.content if not _covered(term, theirs.terms, stems)]
    given = {
        term for term in missing if term.quantity is None and _covered(term, around.terms, titles)
    }
    total = sum(_weight(term) for term in ours.content if term not in given)
    lost = sum(_weight(term) for term in missing if term not in given)
    shares = [(_share(ours, sentence), sentence) for sentence in _sentences(theirs)]
    nearest, sentence = max(shares, key=lambda found: found[0], default=(0.0, ()))
    return ScoreParts(
        coverage=1 - lost / total if total else 1.0,
        nearest=nearest,
        strange_name=any(term.name and term not in given for term in missing),
        denial=denies(ours.terms) and not denies(sentence),
    )


def _covered(term: TextTerm, terms: Sequence[TextTerm], stems: dict[str, set[str]]) -> bool:
    """Whether one of `terms` is the same word, a derivation of it, or the same number by value."""
    if term.quantity is not None:
        return any(
            compare(term.quantity, other.quantity) in (Agreement.SAME, Agreement.WEAKER)
            for other in terms
            if other.quantity is not None
        )
    alike = stems.get(term.stem[:_PREFIX], set())
    return term.stem in alike or any(related(term.stem, other) for other in alike)


def _index(terms: Sequence[TextTerm]) -> dict[str, set[str]]:
    """Return stems by their first letters: derivations of one word begin alike."""
    found: dict[str, set[str]] = {}
    for term in terms:
        found.setdefault(term.stem[:_PREFIX], set()).add(term.stem)
    return found


def _share(claim: ReadText, sentence: Sequence[TextTerm]) -> float:
    stems = _index(sentence)
    total = sum(map(_weight, claim.content))
    kept = sum(_weight(term) for term in claim.content if _covered(term, sentence, stems))
    return kept / total if total else 1.0


def _weight(term: TextTerm) -> float:
    """Return how much a term counts: names and numbers tell statements apart."""
    return 1.5 if term.name or term.quantity is not None else 1.0


def _sentences(reading: ReadText) -> list[tuple[TextTerm, ...]]:
    """Return the terms of each sentence; so many of them that hostile input costs little."""
    found: list[tuple[TextTerm, ...]] = []
    position = 0
    for span in split_sentences(reading.text)[:_MOST]:
        first = position
        while position < len(reading.terms) and reading.terms[position].start < span.end:
            position += 1
        found.append(reading.terms[first:position])
    return found
