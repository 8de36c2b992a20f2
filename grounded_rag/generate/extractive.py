"""The built-in generator: it picks the sentences that answer, without any model call."""

from __future__ import annotations

from functools import partial

import anyio.to_thread

from grounded_rag.generate.candidates import find_candidates
from grounded_rag.protocols import Generation, GenerationRequest
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, Claim, Draft


class ExtractiveGenerator:
    """Answers with sentences of the passages, or declines."""

    name = "extractive"

    def __init__(self, *, embedding: object | None = None, threshold: float = 0.5) -> None:
        self._embedding = embedding
        self._threshold = threshold

    async def generate(self, request: GenerationRequest) -> Generation:
        """Return a draft of at most one claim a part of the question."""
        draft = await anyio.to_thread.run_sync(partial(self._draft, request))
        return Generation(draft=draft, model=self.name)

    def _draft(self, request: GenerationRequest) -> Draft:
        wanted = {word.stem for word in content_words(request.question)}
        best = None
        best_score = 0.0
        for candidate in find_candidates(request.chunks):
            have = {w.stem for w in content_words(candidate.text)}
            score = len(wanted & have) / max(1, len(wanted)) - 0.01 * candidate.chunk
            if score > best_score:
                best, best_score = candidate, score
        if best is None or best_score < self._threshold:
            return Draft()
        citation = Citation(chunk_id=request.chunks[best.chunk].chunk.id, quote=best.text)
        return Draft(claims=(Claim(text=best.text, citations=(citation,)),))
