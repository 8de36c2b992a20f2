"""Judges that grade a claim part by part, and the built-in checks as a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

from grounded_rag.evaluation.decomposition.clauses import split_clauses
from grounded_rag.evaluation.factuality.claims import ClaimInput, case_of
from grounded_rag.protocols import (
    ClaimCase,
    Grade,
    Judge,
    JudgeItem,
    Judgement,
    JudgeRequest,
    Opinion,
    SupportCheck,
)
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Frozen, Reason, Signal, Usage
from grounded_rag.verification.support import default_checks, support_score


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


_ENOUGH = 0.67
"""Support score that tells supported claims from the rest best, on average over public sets."""

Decomposition = Literal["off", "rules"] | Decomposer
"""Whether and how claims are split: not at all (holistic), by rules, or by a model."""


def with_decomposition(judge: Judge, decompose: Decomposition = "rules") -> Judge:
    """Return a judge that grades claims part by part, all of which must be supported.

    Args:
        judge: Grades the parts.
        decompose: "off" returns `judge` itself: the holistic preset, one grade a claim.
    """
    if decompose == "off":
        return judge
    return PartByPart(judge, RuleDecomposer() if decompose == "rules" else decompose)


class PartByPart:
    """A judge that splits claims and asks another judge about every part."""

    def __init__(self, judge: Judge, decomposer: Decomposer) -> None:
        self._judge = judge
        self._decomposer = decomposer

    @property
    def name(self) -> str:
        """Names of both."""
        return f"{self._judge.name}+parts:{self._decomposer.name}"

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade all claims of a draft; one call of the inner judge for all parts."""
        split = await self._decomposer.decompose(
            [item.claim for item in request.items], question=request.question
        )
        items = [
            JudgeItem(claim=part, evidence=item.evidence)
            for item, atoms in zip(request.items, split.claims, strict=True)
            for part in atoms.parts
        ]
        judged = await self._judge.judge(request.model_copy(update={"items": tuple(items)}))
        graded = iter(zip(items, judged.opinions, strict=True))
        return Judgement(
            opinions=tuple(
                all_parts(
                    [
                        PartOpinion(part=item.claim, opinion=opinion)
                        for item, opinion in (next(graded) for _ in atoms.parts)
                    ]
                )
                for atoms in split.claims
            ),
            usage=split.usage + judged.usage,
        )


class ChecksJudge:
    """The built-in checks as a judge, for measuring without a model.

    "Supported" means here that no check objects and the words agree, which is no entailment.
    """

    name = "built-in-checks"

    def __init__(self, checks: Sequence[SupportCheck] | None = None) -> None:
        """Grade by `checks`; None takes the built-in ones and `enough_words`."""
        self._checks = (*default_checks(), enough_words) if checks is None else tuple(checks)

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade each claim."""
        return Judgement(
            opinions=tuple(
                grade_by_checks(
                    case_of(
                        ClaimInput(
                            claim=item.claim, evidence=item.evidence, question=request.question
                        )
                    ),
                    self._checks,
                )
                for item in request.items
            )
        )


def enough_words(case: ClaimCase) -> Signal:
    """Object to a claim whose support score is low. For measuring alone: it refuses paraphrases."""
    score = support_score(case)
    return Signal(
        check="enough_words",
        passed=score >= _ENOUGH,
        score=score,
        reason=None if score >= _ENOUGH else Reason.UNPROVEN,
        detail=f"The support score of the claim is {score:.2f}.",
    )


def grade_by_checks(case: ClaimCase, checks: Sequence[SupportCheck]) -> Opinion:
    """Return the grade that vetoes alone give: supported where none fires."""
    signals = [signal for check in checks if (signal := check(case)) is not None]
    objections = [signal for signal in signals if signal.passed is False and signal.role == "veto"]
    if objections:
        denied = next((s for s in objections if s.reason is Reason.CONTRADICTED), None)
        first = denied or objections[0]
        grade = Grade.CONTRADICTED if denied is not None else Grade.NOT_MENTIONED
        return Opinion(grade=grade, detail=first.detail)
    if any(signal.passed is None and signal.role == "veto" for signal in signals):
        return Opinion(grade=None, detail="A check could not decide.")
    return Opinion(grade=Grade.SUPPORTED, detail="No check objects.")


def each_part(check: SupportCheck) -> SupportCheck:
    """Return a support check that runs `check` on every part of a claim, split by rules.

    The claim passes when all parts pass. The score is the lowest, and the detail names the part
    that decided.
    """

    def by_parts(case: ClaimCase) -> Signal | None:
        parts = split_claim(case.claim.text).parts
        if len(parts) == 1:
            return check(case)
        found = []
        for part in parts:
            claim = case.claim.model_copy(update={"text": part})
            signal = check(case.model_copy(update={"claim": claim}))
            if signal is not None:
                found.append((part, signal))
        if not found:
            return None
        part, worst = min(found, key=lambda pair: _ORDER[pair[1].passed])
        scores = [signal.score for _, signal in found if signal.score is not None]
        return worst.model_copy(
            update={
                "score": min(scores, default=None),
                "detail": worst.detail if worst.passed else f"“{part}”: {worst.detail}",
            }
        )

    return by_parts


_ORDER = {False: 0, None: 1, True: 2}
