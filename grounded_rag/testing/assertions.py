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
        assert not answer.claims, "a refusal carries claims"
        assert answer.refusal is not None, "a refusal has no reason"
        return
    assert answer.claims, "an answer has no claims"
    chunks = {chunk.chunk.id: chunk.chunk for chunk in answer.evidence}
    rest = answer.text
    for verdict in answer.claims:
        assert verdict.supported, f"a claim is {verdict.status}: {verdict.text!r}"
        assert verdict.located, f"a claim has no located citation: {verdict.text!r}"
        for located in verdict.located:
            chunk = chunks.get(located.chunk_id)
            assert chunk is not None, f"the evidence lacks chunk {located.chunk_id!r}"
            assert located.chunk_span.of(chunk.text) == located.quote, (
                f"chunk {located.chunk_id!r} does not read {located.quote!r} there"
            )
            assert located.document_span == located.chunk_span.shift(chunk.span.start), (
                f"the document span of {located.quote!r} is not where its chunk puts it"
            )
        assert verdict.text.strip() in rest, f"the text lacks a claim: {verdict.text!r}"
        rest = rest.replace(verdict.text.strip(), "", 1)
    for reference in answer.references:
        rest = rest.replace(f"[{reference.number}]", "")
    assert not rest.strip(), f"the text holds more than its claims: {rest.strip()!r}"
