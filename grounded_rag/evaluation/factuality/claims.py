"""Claims for scoring and for fitting, and the file that labelled ones come in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field

from grounded_rag.answer import Answer
from grounded_rag.errors import InputError
from grounded_rag.evaluation.datasets import read_lines
from grounded_rag.protocols import ClaimCase, EvidencePiece
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    ClaimVerdict,
    Frozen,
    Located,
    RetrievedChunk,
    Span,
)


def _as_tuple(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class ClaimInput(Frozen):
    """What scorers may look at; only claim and evidence are always there.

    A lone string of evidence stands for a list of one. `token_logprobs` are the natural logarithms
    of the probabilities that a model without the evidence gives to the claim's tokens.
    """

    claim: Annotated[str, Field(min_length=1)]
    evidence: Annotated[tuple[str, ...], BeforeValidator(_as_tuple), Field(min_length=1)]
    question: str | None = None
    title: str = Field(default="", description="Context for names, never evidence.")
    token_logprobs: tuple[Annotated[float, Field(le=0)], ...] = ()


class LabelledClaim(ClaimInput):
    """A claim that a person has judged.

    Claims of one `group`, such as an answer, are never split between fitting and measuring.
    A claim with "" is a group alone.
    """

    true: bool
    group: str = ""


def read_labelled(path: Path | str) -> tuple[LabelledClaim, ...]:
    """Read labelled claims from a JSON Lines file; each line holds the fields of `LabelledClaim`.

    Raises:
        InputError: The file cannot be read, is empty, or has a line that is no labelled claim.
    """
    rows: list[LabelledClaim] = []
    for number, row in read_lines(Path(path), LabelledClaim):
        if isinstance(row, str):
            raise InputError(
                f"Line {number} of {path}: {row}.",
                hint='Each line is {"claim": "…", "evidence": ["…"], "true": true}.',
            )
        rows.append(row)
    if not rows:
        raise InputError(f"{path} holds no labelled claims.", hint="Label some claims first.")
    return tuple(rows)


def case_of(claim: ClaimInput) -> ClaimCase:
    """Return a claim as the built-in checks see it: all of its evidence is cited."""
    pieces = []
    for number, text in enumerate(claim.evidence):
        span = Span(start=0, end=len(text))
        name = f"evidence-{number}"
        citation = Citation(chunk_id=name, quote=text)
        pieces.append(
            EvidencePiece(
                citation=citation,
                located=Located(
                    chunk_id=name, doc_id=name, chunk_span=span, document_span=span, quote=text
                ),
                sentence=text,
                sentence_span=span,
                chunk=RetrievedChunk(
                    chunk=Chunk(id=name, doc_id=name, span=span, text=text, content_hash=""),
                    title=claim.title,
                ),
            )
        )
    citations = tuple(piece.citation for piece in pieces)
    return ClaimCase(
        claim=Claim(text=claim.claim, citations=citations),
        evidence=tuple(pieces),
        question=claim.question,
    )


def claims_of(answer: Answer) -> tuple[ClaimInput, ...]:
    """Return the shipped claims of an answer with the chunks that they cite; none if refused."""
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    found = (cited_claim(verdict, chunks, answer.question) for verdict in answer.claims)
    return tuple(claim for claim in found if claim is not None)


def cited_claim(
    verdict: ClaimVerdict, chunks: Mapping[str, RetrievedChunk], question: str
) -> ClaimInput | None:
    """Return a claim with the chunks (given by id) that it cites; None if it cites none."""
    cited = list(dict.fromkeys(located.chunk_id for located in verdict.located))
    if not cited or not verdict.text:
        return None
    return ClaimInput(
        claim=verdict.text,
        evidence=tuple(chunks[chunk_id].chunk.text for chunk_id in cited),
        question=question,
        title=" · ".join(filter(None, (chunks[chunk_id].title for chunk_id in cited))),
    )
