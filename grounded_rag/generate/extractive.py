"""The built-in generator: it picks the sentences that answer, without any model call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio.to_thread

from grounded_rag.generate.candidates import Candidate, claim_of, compared, find_candidates, headed
from grounded_rag.generate.late_interaction import (
    LateInteraction,
    Likeness,
    QuestionSimilarity,
    SentenceEmbedding,
)
from grounded_rag.generate.overlap import as_meant
from grounded_rag.generate.question import Question, analyse
from grounded_rag.generate.ranking import PIECES, SENTENCES, WORDS, Ranker
from grounded_rag.generate.selection import select
from grounded_rag.models.sentence_cache import TokenEmbedding
from grounded_rag.protocols import Generation, GenerationRequest
from grounded_rag.text.sentences import question_parts
from grounded_rag.types import Claim, Draft
from grounded_rag.validity import current
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.subject import missing_subject

DEFAULT_THRESHOLD = -0.3
"""Log-odds from which a sentence counts as an answer: most right less wrong answers on `dev`."""

_BORROWED = 0.6
_POINTING = frozenset("it its they them their this that these those one there he she".split())
_FEW_TERMS = 2


@dataclass(frozen=True, slots=True)
class Assessment:
    """What can be said to one part of a question."""

    text: str  # The part, a literal span of the question
    confidence: float  # Log-odds that the first claim answers it
    claims: tuple[Claim, ...]  # The best claims, whatever the confidence


class ExtractiveGenerator:
    """Answers with sentences of the passages, word for word, or declines.

    It makes no model call: sentences are scored by the question's words, by the asked-for kind
    of answer and, where an embedding is at hand, by similarity. Its drafts are verified like any
    other. The same request always gives the same draft.
    """

    name = "extractive"

    def __init__(
        self,
        *,
        embedding: SentenceEmbedding | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        ranker: Ranker | None = None,
    ) -> None:
        """Choose what to score with.

        Args:
            embedding: Any LlamaIndex embedding; without one, words alone decide, which separates
                answers from near misses less well. The built-in one also compares word by word,
                which does so better.
            threshold: Log-odds below which it declines: higher refuses more, -inf never.
            ranker: Your own weights in place of those that go with the embedding.
        """
        self._similarity = self._late = None
        self._ranker = WORDS
        if isinstance(embedding, TokenEmbedding):
            self._late = LateInteraction(embedding)
            self._ranker = PIECES
        elif embedding is not None:
            self._similarity = QuestionSimilarity(embedding)
            self._ranker = SENTENCES
        self._ranker = ranker or self._ranker
        self._threshold = threshold

    @property
    def threshold(self) -> float:
        """Log-odds below which it declines."""
        return self._threshold

    @property
    def weights(self) -> str:
        """SHA-256, hexadecimal, over the weights: confidences of others cannot be compared."""
        linear = (self._ranker.choice, self._ranker.confidence)
        parts = [(sorted(each.weights.items()), each.intercept) for each in linear]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def fingerprint_parts(self) -> tuple[str, ...]:
        """What its answers depend on beside policy and prompts; () by default."""
        default = self._threshold == DEFAULT_THRESHOLD
        return () if default else (f"threshold {self._threshold!r}",)

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return a draft; it has no claims where no sentence answers."""
        # Scoring is work for the processor: the event loop stays free.
        draft = await anyio.to_thread.run_sync(partial(self.draft, request))
        return Generation(draft=draft, model=self.name)

    def draft(self, request: GenerationRequest) -> Draft:
        """Do what `generate` does, blocking."""
        done = self._done(request)
        parts = [part for part in self.assess(request) if part.text not in done]
        claims: dict[str, Claim] = {}
        for part in parts:
            if part.confidence >= self._threshold:
                claims.update((claim.text, claim) for claim in part.claims)
        unanswered = tuple(part.text for part in parts if part.confidence < self._threshold)
        return Draft(claims=tuple(claims.values()), unanswered=unanswered if claims else ())

    def _done(self, request: GenerationRequest) -> frozenset[str]:
        """Return the parts of the question that kept claims answer already."""
        kept = request.reask.kept if request.reask is not None else ()
        if not kept:
            return frozenset()
        first = self.assess(request.model_copy(update={"reask": None}))
        return frozenset(part.text for part in first if any(c in kept for c in part.claims))

    def assess(
        self, request: GenerationRequest, *, threshold: float | None = None
    ) -> tuple[Assessment, ...]:
        """Return the best that can be said to each part of the question, and how sure that is.

        Where no part of several is answered, the question as a whole is assessed instead.

        Args:
            request: The request.
            threshold: Confidence from which a part is answered; by default the generator's own.
        """
        threshold = self._threshold if threshold is None else threshold
        passages = [Passage(retrieved) for retrieved in request.chunks]
        candidates = find_candidates(passages)
        parts = [span.of(request.question) for span in question_parts(request.question)]
        found = [
            self._assess(part, question, candidates, passages, request)
            for part, question in zip(
                parts, _analyse_parts([as_meant(part, candidates) for part in parts]), strict=True
            )
        ]
        if len(found) > 1 and all(one.confidence < threshold for one in found):
            whole = analyse(as_meant(request.question, candidates))
            return (self._assess(request.question, whole, candidates, passages, request),)
        return tuple(found)

    def _assess(
        self,
        part: str,
        question: Question,
        candidates: Sequence[Candidate],
        passages: Sequence[Passage],
        request: GenerationRequest,
    ) -> Assessment:
        outdated = _outdated(request)

        def is_beside(index: int) -> bool:
            one = candidates[index]
            passage = passages[one.chunk]
            return missing_subject(part, one.statement, passage, passages) is not None

        selection = select(
            question,
            candidates,
            compare=partial(self._compare, question, candidates),
            ranker=self._ranker,
            is_beside=is_beside,
            excluded=_said_before(candidates, request),
            outdated=outdated,
            successors=_successors(request, outdated),
        )
        claims = [
            claim_of(index, candidates, passages, question, outdated=outdated)
            for index in selection.indices
        ]
        return Assessment(text=part, confidence=selection.confidence, claims=_without_parts(claims))

    def _compare(
        self, question: Question, candidates: Sequence[Candidate], indices: Sequence[int]
    ) -> Sequence[Likeness]:
        if self._late is not None:
            texts = [headed(candidates[index], question) for index in indices]
            return self._late.compare(question, texts)
        if self._similarity is None:
            return [Likeness()] * len(indices)
        texts = [compared(candidates[index], question) for index in indices]
        cosines = self._similarity.cosines(question.text, texts)
        return [Likeness(cosine=cosine) for cosine in cosines]


def _analyse_parts(parts: Sequence[str]) -> list[Question]:
    """Analyse the parts; one that points back ("when is it paid?") borrows terms of the first."""
    questions = [analyse(part) for part in parts]
    first = questions[0]
    for number, question in enumerate(questions[1:], start=1):
        few = len(question.terms) < _FEW_TERMS
        if not few and question.stems.isdisjoint(_POINTING):
            continue
        borrowed = tuple(
            replace(term, weight=term.weight * _BORROWED, borrowed=True)
            for term in first.terms
            if term.word.stem not in question.stems
        )
        words = " ".join(term.word.text for term in borrowed)
        questions[number] = replace(
            question,
            text=f"{question.text} ({words})",
            terms=(*question.terms, *borrowed),
            stems=question.stems | {term.word.stem for term in borrowed},
        )
    return questions


def _without_parts(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Leave out claims whose quote another claim quotes as part of its own."""
    kept: list[Claim] = []
    for claim in claims:
        if any(_within(claim, other) for other in kept):
            continue
        kept = [other for other in kept if not _within(other, claim)]
        kept.append(claim)
    return tuple(kept)


def _within(claim: Claim, other: Claim) -> bool:
    return all(
        any(
            here.chunk_id == there.chunk_id and here.quote in there.quote
            for there in other.citations
        )
        for here in claim.citations
    )


def _said_before(candidates: Sequence[Candidate], request: GenerationRequest) -> frozenset[int]:
    """Return the candidates that an earlier attempt said, kept or rejected."""
    if request.reask is None:
        return frozenset()
    claims = [item.claim for item in request.reask.failed] + list(request.reask.kept)
    quotes = [citation.quote for claim in claims for citation in claim.citations]

    def text(candidate: Candidate) -> str:
        return request.chunks[candidate.chunk].chunk.text

    return frozenset(
        index
        for index, candidate in enumerate(candidates)
        if any(_same(candidate.statement.span.of(text(candidate)), quote) for quote in quotes)
    )


def _same(text: str, quote: str) -> bool:
    return bool(quote) and (text in quote or quote in text)


def _outdated(request: GenerationRequest) -> frozenset[int]:
    if request.as_of is None:
        return frozenset()
    return frozenset(
        number
        for number, retrieved in enumerate(request.chunks)
        if not current(retrieved.validity, as_of=request.as_of)
    )


def _successors(request: GenerationRequest, outdated: frozenset[int]) -> dict[int, frozenset[int]]:
    """Return for each outdated chunk the current chunks of the documents that replaced its own."""
    follows = {
        retrieved.chunk.doc_id: retrieved.validity.superseded_by for retrieved in request.chunks
    }
    found: dict[int, frozenset[int]] = {}
    for number in outdated:
        doc_id = follows[request.chunks[number].chunk.doc_id]
        chain: set[str] = set()
        while doc_id is not None and doc_id not in chain:
            chain.add(doc_id)
            doc_id = follows.get(doc_id)
        found[number] = frozenset(
            at
            for at, retrieved in enumerate(request.chunks)
            if retrieved.chunk.doc_id in chain and at not in outdated
        )
    return found
