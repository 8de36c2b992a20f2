"""Claim decomposition: parts that are judged alone, all of which must be supported."""

from grounded_rag.evaluation.decomposition.clauses import Clause, split_clauses
from grounded_rag.evaluation.decomposition.judging import (
    Atoms,
    ChecksJudge,
    Decomposed,
    Decomposer,
    Decomposition,
    PartByPart,
    PartOpinion,
    RuleDecomposer,
    all_parts,
    each_part,
    enough_words,
    grade_by_checks,
    split_claim,
    with_decomposition,
)
from grounded_rag.evaluation.decomposition.model import ModelDecomposer, checked_parts

__all__ = [
    "Atoms",
    "ChecksJudge",
    "Clause",
    "Decomposed",
    "Decomposer",
    "Decomposition",
    "ModelDecomposer",
    "PartByPart",
    "PartOpinion",
    "RuleDecomposer",
    "all_parts",
    "checked_parts",
    "each_part",
    "enough_words",
    "grade_by_checks",
    "split_claim",
    "split_clauses",
    "with_decomposition",
]
