"""Calibrated factuality: how likely each claim is true (FRANQ, arXiv 2505.21072)."""

from grounded_rag.evaluation.factuality.blend import Blend
from grounded_rag.evaluation.factuality.builtin import builtin_scorers
from grounded_rag.evaluation.factuality.claims import (
    ClaimInput,
    LabelledClaim,
    claims_of,
    read_labelled,
)
from grounded_rag.evaluation.factuality.combine import ClaimScores, Scorers, franq
from grounded_rag.evaluation.factuality.curve import Curve, fit_curve
from grounded_rag.evaluation.factuality.fit import (
    CrossFit,
    Labelled,
    cross_fit,
    fit,
    label_scores,
    labels_hash,
    measure,
)
from grounded_rag.evaluation.factuality.knowledge import (
    ClosedBookAgreement,
    NothingKnown,
    ParametricKnowledge,
    SumOfEigenvalues,
)
from grounded_rag.evaluation.factuality.metrics import (
    ReliabilityBin,
    RiskPoint,
    bootstrap,
    brier,
    ece,
    pr_auc,
    prr,
    reliability,
    risk_coverage,
    roc_auc,
)
from grounded_rag.evaluation.factuality.model import (
    ClaimFactuality,
    Factuality,
    FactualityModel,
    Measured,
    Variant,
)
from grounded_rag.evaluation.factuality.reporting import ScoredItem, score_run
from grounded_rag.evaluation.factuality.scorers import (
    EntailmentFaithfulness,
    JudgeFaithfulness,
    LexicalSupport,
    MaxEntailment,
    Scorer,
    SemanticEntropy,
    WeakestSentence,
)

__all__ = [
    "Blend",
    "ClaimFactuality",
    "ClaimInput",
    "ClaimScores",
    "ClosedBookAgreement",
    "CrossFit",
    "Curve",
    "EntailmentFaithfulness",
    "Factuality",
    "FactualityModel",
    "JudgeFaithfulness",
    "Labelled",
    "LabelledClaim",
    "LexicalSupport",
    "MaxEntailment",
    "Measured",
    "NothingKnown",
    "ParametricKnowledge",
    "ReliabilityBin",
    "RiskPoint",
    "ScoredItem",
    "Scorer",
    "Scorers",
    "SemanticEntropy",
    "SumOfEigenvalues",
    "Variant",
    "WeakestSentence",
    "bootstrap",
    "brier",
    "builtin_scorers",
    "claims_of",
    "cross_fit",
    "ece",
    "fit",
    "fit_curve",
    "franq",
    "label_scores",
    "labels_hash",
    "measure",
    "pr_auc",
    "prr",
    "read_labelled",
    "reliability",
    "risk_coverage",
    "roc_auc",
    "score_run",
]
