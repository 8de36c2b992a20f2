"""Claim decomposition: a claim is split into parts, and passes if every part is supported.

`with_decomposition` wraps a judge. Claims are split at the ends of sentences, or by a language
model whose output is checked: nothing may get lost, and nothing may come in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from grounded_rag.config import MODEL_TIMEOUT
from grounded_rag.errors import PromptError
from grounded_rag.generate.clients import ModelCalls
from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.protocols import Grade, Judge, JudgeItem, Judgement, JudgeRequest, Opinion
from grounded_rag.resources import prompts_dir
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Frozen, Usage


class ClaimParts(Frozen):
    """The parts of one claim."""

    claim: str
    parts: tuple[str, ...] = Field(description="One statement each; the claim itself if it is one.")


class Decomposed(Frozen):
    """The parts of several claims, in order, and the tokens that splitting them cost."""

    claims: tuple[ClaimParts, ...]
    usage: Usage = Usage()


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


Decomposition = Literal["off", "sentences"] | Decomposer
"""How claims are split: not at all, at the ends of sentences, or by a decomposer."""


def with_decomposition(judge: Judge, decompose: Decomposition = "sentences") -> Judge:
    """Return a judge that grades claims part by part, all of which must be supported.

    "off" returns `judge` itself: one grade for each claim.
    """
    if decompose == "off":
        return judge
    return PartByPart(judge, SentenceDecomposer() if decompose == "sentences" else decompose)


class PartByPart:
    """A judge that splits claims and asks another judge about every part."""

    def __init__(self, judge: Judge, decomposer: Decomposer) -> None:
        self._judge = judge
        self._decomposer = decomposer

    @property
    def name(self) -> str:
        """Names of judge and decomposer."""
        return f"{self._judge.name}+parts:{self._decomposer.name}"

    async def judge(self, request: JudgeRequest) -> Judgement:
        """Grade all claims of a draft; one call of the inner judge for all parts."""
        split = await self._decomposer.decompose(
            [item.claim for item in request.items], question=request.question
        )
        items = [
            JudgeItem(claim=part, evidence=item.evidence)
            for item, claim in zip(request.items, split.claims, strict=True)
            for part in claim.parts
        ]
        judged = await self._judge.judge(request.model_copy(update={"items": tuple(items)}))
        # Strict and at once: a missing opinion would shift those of all later parts.
        graded = iter([*zip((item.claim for item in items), judged.opinions, strict=True)])
        return Judgement(
            opinions=tuple(
                all_parts(list(islice(graded, len(claim.parts)))) for claim in split.claims
            ),
            usage=split.usage + judged.usage,
        )


def all_parts(parts: Sequence[tuple[str, Opinion]]) -> Opinion:
    """Return the opinion on a claim, given the opinion on each of its parts.

    One contradicted part contradicts the claim. Otherwise one part that is not mentioned leaves
    the claim not mentioned, and one that could not be judged leaves it unjudged.
    """
    if not parts:
        return Opinion(grade=None, detail="The claim has no parts.")
    if len(parts) == 1:
        return parts[0][1]
    for grade, words in (
        (Grade.CONTRADICTED, "contradicted"),
        (Grade.NOT_MENTIONED, "not mentioned"),
        (None, "not judged"),
    ):
        for part, opinion in parts:
            if opinion.grade is grade:
                detail = f"The part “{part}” is {words}. {opinion.detail}".rstrip()
                return Opinion(grade=grade, rests_on=opinion.rests_on, detail=detail)
    return Opinion(
        grade=Grade.SUPPORTED,
        rests_on=tuple(dict.fromkeys(text for _, opinion in parts for text in opinion.rests_on)),
        detail=f"All {len(parts)} parts are supported.",
    )


def split_claim(claim: str) -> ClaimParts:
    """Split a claim into its sentences, in any script.

    Sentences are not split further: of 324 claims, rules for English coordinations ("… and …")
    removed five further wrong ones and two right ones (`benchmarks/NOTES.md`).
    """
    sentences = (span.of(claim) for span in split_sentences(claim))
    parts = tuple(text for text in sentences if any(map(str.isalnum, text)))
    return ClaimParts(claim=claim, parts=parts if len(parts) > 1 else (claim,))


class SentenceDecomposer:
    """Splits at the ends of sentences, without a model."""

    name = "sentences"

    async def decompose(
        self,
        claims: Sequence[str],
        *,
        question: str | None = None,  # noqa: ARG002 - the protocol gives it; sentences do not need it
    ) -> Decomposed:
        """Return the sentences of each claim."""
        return Decomposed(claims=tuple(map(split_claim, claims)))


class SplitClaim(BaseModel):
    """One claim in parts."""

    model_config = ConfigDict(extra="ignore")

    number: int = Field(description="Number of the claim, as given.")
    parts: list[str] = Field(description="Its parts, in order; the claim itself if it is one.")


class AtomicClaims(BaseModel):
    """The claims, each split into parts that can be checked alone."""

    model_config = ConfigDict(extra="ignore")

    claims: list[SplitClaim]


class ModelDecomposer:
    """Asks a language model for the parts of claims; its output is checked by `checked_parts`.

    A claim is split into sentences instead if the output cannot be read, was cut or was refused.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: Path | str | None = None,
        max_output_tokens: int = 2_048,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        """Choose a model; nothing is sent and no key is looked for yet.

        Args:
            model: "provider/model", as for a generator; by default the default model.
            client: Your own client; see `StructuredGenerator`.
            prompts: Folder with your own `decompose.md`.
            max_output_tokens: Limit of one output.
            timeout: Most seconds for one call.

        Raises:
            PromptError: There is no readable prompt, or it has no version line.
        """
        self._calls = ModelCalls(model, client, timeout=timeout)
        self._prompt = _load_prompt(prompts_dir() if prompts is None else Path(prompts))
        self._max_output_tokens = max_output_tokens

    @property
    def name(self) -> str:
        """Model, and the version line of the prompt."""
        version, _, _ = self._prompt.partition("\n")
        return f"{self._calls.model or 'default model'} ({version.strip('<!-> ')})"

    async def decompose(self, claims: Sequence[str], *, question: str | None = None) -> Decomposed:
        """Return the parts of each claim, in order; one call for all of them.

        Raises:
            MissingKeyError: There are no credentials.
            ProviderUnavailableError: Overloaded, unreachable or out of time.
            ProviderError: Any other failure of the provider.
        """
        if not claims:
            return Decomposed(claims=())
        reply = await self._calls.ask(
            self._messages(claims, question),
            AtomicClaims,
            max_output_tokens=self._max_output_tokens,
        )
        # An output that was cut is not read: it may lack the last parts.
        split = () if reply.parsed is None else reply.parsed.claims
        by_number = {entry.number: entry.parts for entry in split}
        return Decomposed(
            claims=tuple(
                checked_parts(claim, by_number.get(number, ()), question=question)
                for number, claim in enumerate(claims, start=1)
            ),
            usage=reply.usage,
        )

    def _messages(self, claims: Sequence[str], question: str | None) -> BuiltMessages:
        _, _, system = self._prompt.partition("\n")
        numbered = [{"number": at, "text": text} for at, text in enumerate(claims, start=1)]
        # Escaped, so that lone surrogates can be sent and nothing looks like a marker.
        data = json.dumps({"question": question, "claims": numbered}, ensure_ascii=True, indent=1)
        return BuiltMessages(system=system.strip(), blocks=(data,), labels={})


_PROMPT_FILE = "decompose.md"


def _load_prompt(folder: Path) -> str:
    path = folder / _PROMPT_FILE
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise PromptError(
            f"{path} cannot be read: {error}.",
            hint=f"Copy the built-in one as a start: {prompts_dir() / _PROMPT_FILE}",
        ) from error
    first, _, body = text.partition("\n")
    if not first.startswith("<!--") or "version" not in first or not body.strip():
        raise PromptError(
            f"{path} does not start with a version comment.",
            hint="Make its first line, for example, <!-- my prompt, version 1 -->",
        )
    return text


_MAX_PARTS = 40
"""Parts beyond which an output is not used, since every part is judged."""


def checked_parts(claim: str, parts: Sequence[str], *, question: str | None = None) -> ClaimParts:
    """Return the parts that a model gave, made safe; the question's names may stand for pronouns.

    If the parts together lack a content word, a number or a negation of the claim, the claim itself
    becomes a further part, so that no error can hide in what was left out. If they add a word that
    neither claim nor question has, the claim is split into sentences instead.
    """
    given = tuple(part.strip() for part in parts if part.strip())
    said = _content(" ".join(given))
    added = said - _content(f"{claim} {question or ''}")
    if not given or len(given) > _MAX_PARTS or added:
        return split_claim(claim)
    if len(given) == 1:
        return ClaimParts(claim=claim, parts=(claim,))
    lost = _content(claim) - said
    return ClaimParts(claim=claim, parts=(*given, claim) if lost else given)


_DENIALS = ("not", "never", "no", "without", "unless", "only", "except")


def _content(text: str) -> frozenset[str]:
    """Return the content words of a text by stem, with the negations that no split may lose."""
    stems = {word.stem for word in content_words(text)}
    lowered = f" {' '.join(text.lower().replace('’', chr(39)).split())} "
    denials = {word for word in _DENIALS if f" {word} " in lowered}
    if "n't " in lowered:
        denials.add("not")
    return frozenset(stems | denials)
