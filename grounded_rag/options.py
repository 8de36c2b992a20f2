"""The keyword options of `GroundedRAG`, common to all ways of making one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypedDict

from grounded_rag.config import Policy
from grounded_rag.protocols import EntailmentModel, Generator, Judge, SupportCheck
from grounded_rag.relevance import RelevanceCheck
from grounded_rag.types import Answer, AnswerStatus, Tier

Hook = Callable[[Answer], object]
"""Called with an answer; what it returns is ignored, and an error in it reaches the caller."""


class Options(TypedDict, total=False):
    """Keyword options common to all ways of making a `GroundedRAG`.

    Attributes:
        generator: A name ("extractive", "anthropic", "anthropic/MODEL", "anthropic-citations",
            "anthropic-citations/MODEL", "openai/MODEL", or any provider string that instructor
            knows), or a `Generator` of one's own. The default is the built-in extractive
            generator; a key in the environment switches nothing.
        quote_mode: How a named generator points at its evidence: "copy" copies quotes, "label"
            names labelled sentences whose exact text is filled in. Others take no notice.
        policy: Rules: what ships, what is retried, when to refuse.
        refusal: Refusal string in place of the default one.
        prompts: Folder with prompts of one's own, for generators that use prompts.
        checks: Support checks in place of the built-in ones, each of them one function; `role`
            says what the verdict makes of one: `[*default_checks(), role(my_check, "filter")]`.
        entailment: Entailment model for claims that are open: a folder with an ONNX
            cross-encoder, or an `EntailmentModel` of one's own.
        judge: Judge for claims that are still open: "anthropic", "PROVIDER/MODEL", or a `Judge`
            of one's own. Naming one lets it talk to its provider; a key alone never does.
        on_answer: Called with every answer, refusals included: to sample, export or count.
        relevance: Whether answers that may be beside their question carry a flag: True compares
            by the built-in embedding, and asks a judge that is named above about those it doubts;
            a `RelevanceCheck` brings its own.
        on_refusal: Called with each refused answer, to hand the question to a person.
        on_review: Called with each answer that a person should look at: flagged, partial, or
            shipped on the existence of its quotes alone.
        receipts: Folder that the receipt of each answer is saved to, refusals included; see
            `Answer.receipt`. An answer whose receipt cannot be saved is not returned.
    """

    generator: str | Generator
    quote_mode: Literal["copy", "label"]
    policy: Policy
    refusal: str
    prompts: Path | str
    checks: Sequence[SupportCheck]
    entailment: Path | str | EntailmentModel
    judge: str | Judge
    relevance: bool | RelevanceCheck
    on_answer: Hook
    on_refusal: Hook
    on_review: Hook
    receipts: Path | str


def needs_review(answer: Answer) -> bool:
    """Whether a person should look at an answer: flagged, partial, or with unproven claims."""
    return answer.answered and (
        answer.status is AnswerStatus.PARTIAL
        or bool(answer.flags)
        or any(verdict.tier is Tier.NONE for verdict in answer.claims)
    )
