"""Assertions for the tests of applications."""

from __future__ import annotations

from grounded_rag.types import Answer, AnswerStatus


def assert_grounded(answer: Answer) -> None:
    """Assert that nothing unverified is in an answer.

    Every shipped claim is supported and cites at least one place; every quote is literally what
    its chunk and its document read there; the text holds the claims and nothing else; a refusal
    holds no claim.

    Args:
        answer: What `GroundedRAG.query` returned.

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
        _require(verdict.supported, f"a claim is {verdict.status}: {verdict.text!r}")
        _require(bool(verdict.located), f"a claim has no located citation: {verdict.text!r}")
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
        _require(verdict.text.strip() in rest, f"the text lacks a claim: {verdict.text!r}")
        rest = rest.replace(verdict.text.strip(), "", 1)
    for reference in answer.references:
        rest = rest.replace(f"[{reference.number}]", "")
    _require(not rest.strip(), f"the text holds more than its claims: {rest.strip()!r}")


def _require(condition: bool, message: str) -> None:
    # Not an `assert` statement: those vanish under `python -O`.
    if not condition:
        raise AssertionError(message)
