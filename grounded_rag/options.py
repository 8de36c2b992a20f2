"""The keyword options of `GroundedRAG`, and how the parts of its pipeline are made of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self, TypedDict

from grounded_rag.answer import Answer
from grounded_rag.config import MODEL_TIMEOUT, Policy, fingerprint
from grounded_rag.errors import ConfigError, MissingKeyError
from grounded_rag.pipeline import Parts
from grounded_rag.plugins import check_parts
from grounded_rag.protocols import EntailmentModel, Generator, Judge, Retriever, SupportCheck
from grounded_rag.relevance import RelevanceCheck
from grounded_rag.types import AnswerStatus, Tier
from grounded_rag.verification.checks import stack_names
from grounded_rag.verification.rules import Rules

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from grounded_rag.generate.extractive import ExtractiveGenerator
    from grounded_rag.generate.prompts import PromptKind, PromptSet
    from grounded_rag.index.reranking import Reranker, RerankerChoice
    from grounded_rag.index.store import Index

Hook = Callable[[Answer], object]
"""Called with an answer; what it returns is ignored, and an error in it reaches the caller."""


class Options(TypedDict, total=False):
    """Keyword options common to all ways of making a `GroundedRAG`.

    Attributes:
        reranker: Puts what the retriever found into a better order: the folder of a cross-encoder
            in ONNX, a `CrossEncoder`, an object with `rerank` such as a wrapped LlamaIndex
            postprocessor, or several of these, applied one after the other.
        generator: A name ("extractive", "anthropic", "anthropic/MODEL", "anthropic-citations",
            "anthropic-citations/MODEL", "openai/MODEL", or any provider string that instructor
            knows), or a `Generator` of one's own. The default is the built-in extractive
            generator; a key in the environment switches nothing.
        threshold: Log-odds below which the built-in generator declines: higher refuses more. By
            default what `tune` stored in the index, else the built-in one.
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
        timeout: Most seconds for one call of any model that is named: generator, judge and the
            rewriter of follow-ups; 90 by default, and never more than the policy's `max_seconds`.
            An object of one's own keeps its own.
        relevance: Whether answers that may be beside their question carry a flag: True compares
            by the built-in embedding, and asks a judge that is named above about those it doubts;
            a `RelevanceCheck` brings its own.
        on_refusal: Called with each refused answer, to hand the question to a person.
        on_review: Called with each answer that a person should look at: flagged, partial, or
            shipped on the existence of its quotes alone.
        receipts: Folder that the receipt of each answer is saved to, refusals included; see
            `Answer.receipt`. An answer whose receipt cannot be saved is not returned.
    """

    reranker: RerankerChoice | Sequence[RerankerChoice]
    generator: str | Generator
    threshold: float
    quote_mode: Literal["copy", "label"]
    policy: Policy
    refusal: str
    prompts: Path | str
    checks: Sequence[SupportCheck]
    entailment: Path | str | EntailmentModel
    judge: str | Judge
    timeout: float
    relevance: bool | RelevanceCheck
    on_answer: Hook
    on_refusal: Hook
    on_review: Hook
    receipts: Path | str


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Functions of the user that are called with answers, in this order."""

    on_answer: Hook | None = None
    on_refusal: Hook | None = None
    on_review: Hook | None = None

    @classmethod
    def of(cls, options: Options) -> Self:
        """Return the hooks among some options."""
        return cls(
            on_answer=options.get("on_answer"),
            on_refusal=options.get("on_refusal"),
            on_review=options.get("on_review"),
        )

    def call(self, answer: Answer) -> None:
        """Call those that an answer is for."""
        if self.on_answer is not None:
            self.on_answer(answer)
        if self.on_refusal is not None and not answer.answered:
            self.on_refusal(answer)
        if self.on_review is not None and needs_review(answer):
            self.on_review(answer)


def needs_review(answer: Answer) -> bool:
    """Whether a person should look at an answer: flagged, partial, or with unproven claims."""
    return answer.answered and (
        answer.status is AnswerStatus.PARTIAL
        or bool(answer.flags)
        or any(verdict.tier is Tier.NONE for verdict in answer.claims)
    )


_CITATIONS = "anthropic-citations"


def resolve_embedding(
    embedding: BaseEmbedding | Literal["default"] | None,
) -> BaseEmbedding | None:
    """Return the embedding that a choice stands for; None means words alone."""
    if embedding != "default":
        return embedding
    from grounded_rag.index.embedding import default_embedding

    return default_embedding().embedding


def make_generator(
    choice: str | Generator,
    *,
    prompts: PromptSet,
    threshold: float | None = None,
    quote_mode: Literal["copy", "label"] = "copy",
    timeout: float = MODEL_TIMEOUT,
) -> Generator:
    """Return the generator that a name stands for, or the given one.

    Args:
        choice: "extractive", "anthropic", "anthropic/MODEL", "anthropic-citations",
            "anthropic-citations/MODEL", any provider string of instructor, or a generator.
        prompts: Prompts, of the kind that `prompt_kind` names.
        threshold: Threshold of the extractive generator, or None for the built-in one.
        quote_mode: Whether a structured generator has quotes copied or sentences labelled.
        timeout: Most seconds for one call of a model.

    Raises:
        ConfigError: The name stands for nothing, or for a generator without a threshold.
        MissingKeyError: The provider has no credentials.
        MissingExtraError: The provider's package is not installed.
    """
    name = choice.strip() if isinstance(choice, str) else ""
    if name == "extractive":
        from grounded_rag.generate.extractive import DEFAULT_THRESHOLD, ExtractiveGenerator

        return ExtractiveGenerator(threshold=DEFAULT_THRESHOLD if threshold is None else threshold)
    if threshold is not None:
        raise ConfigError(
            "`threshold` belongs to the built-in extractive generator.",
            hint="Leave it out, or leave the generator out.",
        )
    if not isinstance(choice, str):
        return choice
    provider, _, model = name.partition("/")
    if provider == _CITATIONS:
        from grounded_rag.generate.citations_api import CitationsGenerator

        return CitationsGenerator(model or None, prompts=prompts, timeout=timeout)
    if name != "anthropic" and "/" not in name:
        raise ConfigError(
            f"There is no generator named {choice!r}.",
            hint='Use "extractive", "anthropic", "anthropic/MODEL", "anthropic-citations" or '
            'another "provider/MODEL".',
        )
    from grounded_rag.generate.structured import StructuredGenerator

    return StructuredGenerator(
        None if name == "anthropic" else name,
        prompts=prompts,
        quote_mode=quote_mode,
        timeout=timeout,
    )


def prompt_kind(options: Options) -> PromptKind:
    """Return the kind of prompts that the named generator uses."""
    choice = options.get("generator", "extractive")
    if isinstance(choice, str) and choice.strip().partition("/")[0] == _CITATIONS:
        return "citations"
    return options.get("quote_mode", "copy")


def prompt_set(folder: Path | str | None, *, kind: PromptKind = "copy") -> PromptSet:
    """Return the prompts of a folder, or the built-in ones.

    Raises:
        PromptError: The folder lacks what makes answers checkable.
    """
    from grounded_rag.generate.prompts import PromptSet

    return PromptSet.load(None if folder is None else Path(folder), kind=kind)


def make_entailment(choice: Path | str | EntailmentModel | None) -> EntailmentModel | None:
    """Return the entailment model of a folder, or the given one.

    Raises:
        ConfigError: The folder lacks a file of the model, or its labels do not tell.
    """
    if not isinstance(choice, str | Path):
        return choice
    from grounded_rag.models.entailment import OnnxEntailment

    return OnnxEntailment(choice)


def make_judge(
    choice: str | Judge | None,
    *,
    prompts: Path | str | None = None,
    timeout: float = MODEL_TIMEOUT,
) -> Judge | None:
    """Return the judge that a name stands for, or the given one.

    Args:
        choice: "anthropic", "PROVIDER/MODEL", a judge, or None.
        prompts: Folder that may hold a `judge.md`.
        timeout: Most seconds for one call of a model.

    Raises:
        ConfigError: The name stands for nothing.
        MissingKeyError: There are no credentials: a judge that never works would refuse everything.
        MissingExtraError: The provider's package is not installed.
        PromptError: The folder's `judge.md` lacks what a judge needs.
    """
    if not isinstance(choice, str):
        return choice
    name = choice.strip()
    if name != "anthropic" and not all(name.partition("/")):
        raise ConfigError(
            f"There is no judge named {choice!r}.", hint='Use "anthropic" or "PROVIDER/MODEL".'
        )
    from grounded_rag.judge import LLMJudge

    _warn_if_small(name)
    made = LLMJudge(None if name == "anthropic" else name, prompts=prompts, timeout=timeout)
    try:
        made.check()
    except MissingKeyError as error:
        raise MissingKeyError(
            error.message, hint=f"Set the key of the judge {name!r}, or leave the judge out."
        ) from None
    return made


# "qwen:1.5b", "Llama-3B-Instruct"; neither "8x7b" nor the "a3b" of "30b-a3b" nor "4bit".
_BILLIONS = re.compile(r"(?<![\w.])(\d{1,4}(?:\.\d{1,3})?)b(?!\w)", re.IGNORECASE)
_SMALL = 4.0


def _warn_if_small(judge: str) -> None:
    """Warn of a judge whose name says that it is small; most names say nothing."""
    sizes = [float(size) for size in _BILLIONS.findall(judge.rpartition("/")[2])]
    if sizes and max(sizes) < _SMALL:
        warnings.warn(
            f"The judge {judge!r} has {max(sizes):g} billion parameters by its name. A judge of "
            "1.5 billion called 18 of 20 claims supported that were false or beside the question; "
            "without a judge, such claims are shown in the source's own words.",
            stacklevel=2,
        )


def make_relevance(
    choice: bool | RelevanceCheck,
    *,
    judge: object = None,
    prompts: Path | str | None = None,
    timeout: float = MODEL_TIMEOUT,
) -> RelevanceCheck | None:
    """Return how answers are looked at for relevance, or None.

    Args:
        choice: Whether to look, or how.
        judge: The judge option: one that is named confirms what the embedding doubts.
        prompts: Folder that may hold a `relevance.md`.
        timeout: Most seconds for one call of a model.

    Raises:
        ConfigError: The built-in embedding cannot be used.
        PromptError: The folder's `relevance.md` lacks what a judge needs.
    """
    if not isinstance(choice, bool):
        return choice
    if not choice:
        return None
    embedding = resolve_embedding("default")
    if embedding is None:
        raise ConfigError(
            "Relevance needs an embedding, and the built-in one cannot be used.",
            hint="Pass relevance=RelevanceCheck(embedding=…, threshold=…).",
        )
    if not isinstance(judge, str):
        return RelevanceCheck(embedding=embedding)
    from grounded_rag.judge.llm import LLMRelevanceJudge

    name = judge.strip()
    confirming = LLMRelevanceJudge(
        None if name == "anthropic" else name, prompts=prompts, timeout=timeout
    )
    return RelevanceCheck(embedding=embedding, judge=confirming)


def call_timeout(seconds: float | None, policy: Policy) -> float:
    """Return the most seconds for one call of a named model, by default what the policy leaves.

    Raises:
        ConfigError: It is no time, or longer than the policy gives to a whole question.
    """
    if seconds is None:
        return min(MODEL_TIMEOUT, policy.max_seconds)
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise ConfigError(f"timeout={seconds!r} is no time.", hint="Give seconds above 0.")
    if seconds > policy.max_seconds:
        raise ConfigError(
            f"timeout={seconds:g} could never be used up: the policy ends every question after "
            f"{policy.max_seconds:g} seconds.",
            hint=f"Set max_seconds of the policy (setting policy.max_seconds) to {seconds:g} or "
            "more: a judge or a second attempt needs time of its own.",
        )
    return seconds


def make_parts(retriever: Retriever, options: Options) -> Parts:
    """Return the parts of a pipeline.

    Raises:
        ConfigError: An option is unknown, or options do not fit together.
        PromptError: The prompts folder lacks what makes answers checkable.
    """
    known = Options.__annotations__
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise ConfigError(
            f"Unknown option: {', '.join(unknown)}.",
            hint=f"Known options: {', '.join(sorted(known))}.",
        )
    check_parts(retriever, options)
    if options.get("reranker") is not None:
        from grounded_rag.index.reranking import RerankedRetriever, make_rerankers

        retriever = RerankedRetriever(retriever, make_rerankers(options["reranker"]))
    policy = options.get("policy", Policy())
    timeout = call_timeout(options.get("timeout"), policy)
    if options.get("quote_mode", "copy") not in ("copy", "label"):
        raise ConfigError(
            f"There is no quote mode {options['quote_mode']!r}.", hint='Use "copy" or "label".'
        )
    prompts = prompt_set(options.get("prompts"), kind=prompt_kind(options))
    refusal = options.get("refusal", prompts.refusal)
    if not refusal.strip():
        raise ConfigError("The refusal string is empty.", hint="Give a sentence, or leave it out.")
    choice = options.get("generator", "extractive")
    checks = options.get("checks")
    entailment = make_entailment(options.get("entailment"))
    judge = make_judge(options.get("judge"), prompts=options.get("prompts"), timeout=timeout)
    stack = stack_names(checks, entailment=entailment, judge=judge)
    generator = make_generator(
        choice,
        prompts=prompts,
        threshold=options.get("threshold"),
        quote_mode=options.get("quote_mode", "copy"),
        timeout=timeout,
    )
    # A generator that is handed over comes with prompts of its own.
    own = getattr(generator, "prompts", None)
    in_force = own if isinstance(own, type(prompts)) else prompts
    chosen = getattr(generator, "fingerprint_parts", ())
    return Parts(
        retriever=retriever,
        generator=generator,
        policy=policy,
        rules=Rules.of(policy, refusal=refusal, checks=checks, entailment=entailment, judge=judge),
        refusal=refusal,
        relevance=make_relevance(
            options.get("relevance", False),
            judge=options.get("judge"),
            prompts=options.get("prompts"),
            timeout=timeout,
        ),
        receipts=Path(options["receipts"]) if "receipts" in options else None,
        on_answer=Hooks.of(options).call,
        generator_name=choice if isinstance(choice, str) else type(choice).__name__,
        fingerprint=fingerprint(policy, refusal, *in_force.fingerprint_parts, *stack, *chosen),
    )


class OpenIndex:
    """An index folder open for reading, with the embedding it is searched with."""

    def __init__(self, path: Path, embedding: BaseEmbedding | Literal["default"] | None) -> None:
        from grounded_rag.index.store import Index

        self.path = path
        if embedding != "default":
            self.embedding = embedding
            self.index: Index = Index.open(path, embedding=embedding)
            return
        # What the index was made with decides: one without vectors is searched by words, and
        # one with the built-in embedding's vectors too where that cannot be loaded.
        self.index = Index.open(path)
        try:
            self.embedding = self._matching_default()
        except BaseException:
            self.index.close()
            raise

    def _matching_default(self) -> BaseEmbedding | None:
        from grounded_rag.index.opening import check_identity
        from grounded_rag.index.records import identity_of

        made_with = self.index.identity
        default = resolve_embedding("default") if made_with is not None else None
        if default is not None:
            check_identity(self.path, made_with, identity_of(default))
        return default

    def retriever(self, policy: Policy, *, rerankers: Sequence[Reranker] = ()) -> Retriever:
        """Return a retriever over this index under a policy."""
        from grounded_rag.index.retrieval import HybridRetriever

        stale: Literal["flag", "exclude"] = "exclude" if policy.stale == "exclude" else "flag"
        return HybridRetriever(
            self.index, embedding=self.embedding, rerankers=rerankers, stale=stale
        )

    def generator(self, threshold: float | None = None) -> ExtractiveGenerator:
        """Return the built-in generator for this index, with the threshold that is stored for it.

        One that was chosen for other weights says nothing about these, and is not used.

        Args:
            threshold: Threshold in place of the stored one.
        """
        from grounded_rag.generate.extractive import ExtractiveGenerator

        made = partial(ExtractiveGenerator, embedding=self.embedding)
        if threshold is not None:
            return made(threshold=threshold)
        default, tuned = made(), self.index.threshold
        if tuned is None:
            return default
        if tuned.weights == default.weights:
            return made(threshold=tuned.threshold)
        warnings.warn(
            f"The threshold stored in {self.path} was chosen for other weights of the generator "
            "and is not used. Choose it again, or take it away: grounded-rag tune --reset.",
            stacklevel=3,
        )
        return default

    def close(self) -> None:
        """Close the files."""
        self.index.close()
