"""Assertions for the tests of applications."""

from __future__ import annotations

from grounded_rag.answer import Answer
from grounded_rag.types import AnswerStatus, Citation, Claim, ClaimVerdict, Draft, Tier
from grounded_rag.verification import verify


def assert_grounded(answer: Answer, *, existence_only: bool = False) -> None:
    """Assert that nothing unverified is in an answer.

    Every shipped claim is verbatim or confirmed, and one that is verbatim, restated ones among
    them, is so when it is compared with its source again. It cites at least one place, and every
    quote is literally what its chunk and its document read there. The text holds the claims and
    nothing else; a refusal holds no claim.

    Args:
        answer: What `GroundedRAG.query` returned.
        existence_only: Whether it is enough that quotes exist, as `Policy(support="spans-only")`
            has it.

    Raises:
        AssertionError: One of these does not hold; the message names it.
    """
    if answer.status is AnswerStatus.REFUSED:
        _require(not answer.claims, "a refusal carries claims")
        _require(answer.refusal is not None, "a refusal has no reason")
        return
    _require(bool(answer.claims), "an answer has no claims")
    chunks = {chunk.chunk.id: chunk.chunk for chunk in answer.evidence}
    rest = answer.text
    for verdict in answer.claims:
        named = f"{'restated ' if verdict.restated else ''}claim {verdict.text!r}"
        _require(verdict.supported, f"the {named} is {verdict.status}: {verdict.why}")
        _require(bool(verdict.located), f"the {named} has no located citation")
        if not existence_only:
            _require(
                verdict.tier is not Tier.NONE,
                f"nothing has shown the {named}: it is neither verbatim nor confirmed. Answer with "
                'support="strict", or pass existence_only=True where quotes that exist are enough',
            )
        _require(
            verdict.tier is Tier.VERBATIM or not verdict.restated,
            f"the {named} is {verdict.tier}; the source's own words are verbatim",
        )
        for located in verdict.located:
            _require(located.chunk_id in chunks, f"the evidence lacks chunk {located.chunk_id!r}")
            chunk = chunks[located.chunk_id]
            _require(
                located.chunk_span.of(chunk.text) == located.quote,
                f"chunk {located.chunk_id!r} does not read {located.quote!r} there",
            )
            _require(
                located.document_span == located.chunk_span.shift(chunk.span.start),
                f"the document span of {located.quote!r} is not where its chunk puts it",
            )
        if verdict.tier is Tier.VERBATIM:
            again = _compared(verdict, answer)
            _require(
                again.tier is Tier.VERBATIM,
                f"the {named} is called verbatim and is not: {again.why}",
            )
        _require(verdict.text.strip() in rest, f"the text lacks a claim: {verdict.text!r}")
        rest = rest.replace(verdict.text.strip(), "", 1)
    for reference in answer.references:
        rest = rest.replace(f"[{reference.number}]", "")
    _require(not rest.strip(), f"the text holds more than its claims: {rest.strip()!r}")


def _compared(verdict: ClaimVerdict, answer: Answer) -> ClaimVerdict:
    """Return the verdict on a shipped claim as its places alone give it."""
    citations = (Citation(chunk_id=each.chunk_id, quote=each.quote) for each in verdict.located)
    claim = Claim(text=verdict.text, citations=tuple(citations))
    return verify(Draft(claims=(claim,)), answer.evidence, checks=()).claims[0]


def _require(condition: bool, message: str) -> None:
    # Not an `assert` statement: those vanish under `python -O`.
    if not condition:
        raise AssertionError(message)
