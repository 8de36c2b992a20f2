"""Atomic claims, and how the grades of a claim's parts make the grade of the claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from grounded_rag.evaluation.decomposition.clauses import split_clauses
from grounded_rag.protocols import Grade, Opinion
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Frozen, Usage


class Atoms(Frozen):
    """The parts of one claim.

    Attributes:
        claim: The claim.
        parts: What it says, one statement each, in order; the claim itself where it is one.
    """

    claim: str
    parts: tuple[str, ...]


class Decomposed(Frozen):
    """The parts of several claims.

    Attributes:
        claims: The parts of each claim, in order.
        usage: Tokens that it cost.
    """

    claims: tuple[Atoms, ...]
    usage: Usage = Usage()


class PartOpinion(Frozen):
    """The grade of one part of a claim."""

    part: str
    opinion: Opinion


@runtime_checkable
class Decomposer(Protocol):
    """Splits claims into statements that can be judged alone."""

    @property
    def name(self) -> str:
        """What decomposes, for verdicts and fingerprints."""
        ...

    async def decompose(self, claims: Sequence[str], *, question: str | None = None) -> Decomposed:
        """Return the parts of each claim, in order."""
        ...


def split_claim(claim: str) -> Atoms:
    """Split a claim by rules: into sentences, and English ones at coordinations.

    A condition stays with its clause, a shared subject is repeated, and where a split could
    change the meaning there is none. A claim in another language is split into sentences.
    """
    parts = tuple(
        clause.text
        for span in split_sentences(claim)
        for clause in split_clauses(span.of(claim))
        if any(character.isalnum() for character in clause.text)
    )
    return Atoms(claim=claim, parts=parts if len(parts) > 1 else (claim,))


class RuleDecomposer:
    """Splits by rules, without a model: the same claim always gives the same parts."""

    name = "rules"

    async def decompose(
        self,
        claims: Sequence[str],
        *,
        question: str | None = None,  # noqa: ARG002 - rules need no context
    ) -> Decomposed:
        """Return the parts of each claim."""
        return Decomposed(claims=tuple(map(split_claim, claims)))


def all_parts(parts: Sequence[PartOpinion]) -> Opinion:
    """Return the opinion on a claim all of whose parts must be supported.

    One contradicted part contradicts the claim; one that is not mentioned leaves it unsupported;
    one that could not be judged leaves it unjudged unless another part decides.
    """
    if not parts:
        return Opinion(grade=None, detail="The claim has no parts.")
    for grade, words in (
        (Grade.CONTRADICTED, "contradicted"),
        (Grade.NOT_MENTIONED, "not mentioned"),
        (None, "not judged"),
    ):
        found = next((part for part in parts if part.opinion.grade is grade), None)
        if found is not None:
            detail = f"The part “{found.part}” is {words}."
            if found.opinion.detail and len(parts) > 1:
                detail = f"{detail} {found.opinion.detail}"
            if len(parts) == 1:
                detail = found.opinion.detail or detail
            return Opinion(grade=grade, rests_on=found.opinion.rests_on, detail=detail)
    return Opinion(
        grade=Grade.SUPPORTED,
        rests_on=tuple(dict.fromkeys(text for part in parts for text in part.opinion.rests_on)),
        detail=parts[0].opinion.detail
        if len(parts) == 1
        else f"All {len(parts)} parts are supported.",
    )
