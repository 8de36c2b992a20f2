"""Verifying a draft in one call: `verify`, its asynchronous twin, and both as one object."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Literal, Self

from grounded_rag.protocols import EntailmentModel, Judge, SupportCheck, TokenLogprob
from grounded_rag.types import Instant, Usage, Verification
from grounded_rag.verification.checks import stages
from grounded_rag.verification.confidence import confidence_signals
from grounded_rag.verification.deciders import (
    Confirmed,
    Deciders,
    check_open,
    confirm,
    open_claims,
)
from grounded_rag.verification.examination import examine
from grounded_rag.verification.rules import Rules, rules_from


def verify(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] | None = None,
    checks: Sequence[SupportCheck] | None = None,
    max_age: dt.timedelta | None = None,
) -> Verification:
    """Verify a draft against the chunks that were retrieved for it.

    Every quote is looked up in the chunk that its citation names, and each claim is laid beside the
    whole statements that its quotes stand in. A claim that is such a statement, word for word but
    for licensed edits, is supported. One that says something else, or something more, is rejected
    where a check can say what is wrong, and is open where none can: then nothing has shown it, and
    `ClaimVerdict.restatements` hold what may be said in its place. The order of the chunks means
    nothing, and no model output raises: output that cannot be read is the outcome `invalid_output`.

    Args:
        draft: A `Draft`; a mapping `{"claims": [{"text", "chunk_id", "quote"}]}` or with nested
            `citations`; the same as a JSON string; or the model's raw text.
        chunks: `RetrievedChunk`s, mappings `{"id", "text", "metadata"}` or LlamaIndex nodes.
        question: The question. It is never evidence; it explains quotes taken from it, parts that
            the draft leaves open must stand in it, and a statement about another name than it asks
            for is not offered in the place of a claim.
        as_of: Moment for which the answer should hold; without it no staleness is judged.
        rules: All rules in one; or, for a quick call, the single keywords below.
        refusal: The refusal string in force; None means the built-in one.
        quote_match: `repair` bridges differences of presentation and records them; `exact` never.
        checks: Support checks; None means the built-in ones, `()` none. Deciders among them are
            asked about open claims; an entailment model or a judge needs `averify` or `Verifier`.
        max_age: Evidence older than this is flagged; needs `as_of`.

    Returns:
        One verdict a claim, flags on what may ship, and what the whole draft amounts to.

    Raises:
        ConfigError: Rules and single keywords were given.
        DraftError: `draft` or `chunks` is of a Python type that can be neither.
        ManifestError: `as_of` is text that is no date.
    """
    rules = rules_from(
        rules, refusal=refusal, quote_match=quote_match, checks=checks, max_age=max_age
    )
    first, later = stages(() if rules.spans_only else rules.checks)
    examination = examine(draft, chunks, question=question, as_of=as_of, rules=rules, checks=first)
    if later:
        examination = examination.with_signals(check_open(open_claims(examination), later))
    return examination.verification


async def averify(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules | None = None,
    entailment: EntailmentModel | None = None,
    judge: Judge | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] | None = None,
    checks: Sequence[SupportCheck] | None = None,
    max_age: dt.timedelta | None = None,
    timeout: float | None = None,
) -> Verification:
    """Verify a draft of any stack, with an entailment model or a judge for what stays open.

    Args:
        draft: See `verify`.
        chunks: See `verify`.
        question: See `verify`; a judge sees it as background.
        as_of: See `verify`.
        rules: All rules in one; or, for a quick call, the single keywords below.
        entailment: Model that says whether a claim follows from the statements it cites.
        judge: Judge that grades the claims that are still open.
        refusal: See `verify`.
        quote_match: See `verify`.
        checks: See `verify`; those that wait for open claims run in a worker thread.
        max_age: See `verify`.
        timeout: Most seconds for the deciders; what does not end in time could not be checked.

    Raises:
        ConfigError: Rules and single keywords were given.
        DraftError: `draft` or `chunks` is of a Python type that can be neither.
        ManifestError: `as_of` is text that is no date.
    """
    rules = rules_from(
        rules,
        refusal=refusal,
        quote_match=quote_match,
        checks=checks,
        max_age=max_age,
        entailment=entailment,
        judge=judge,
        timeout=timeout,
    )
    confirmed = await verify_and_confirm(draft, chunks, question=question, as_of=as_of, rules=rules)
    return confirmed.verification


async def verify_and_confirm(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None,
    as_of: Instant | str | None,
    rules: Rules,
    may_judge: bool = True,
    tokens: Sequence[TokenLogprob] = (),
) -> Confirmed:
    """Do what `averify` does, and say what the judge cost.

    What a judge that may not be asked would have been asked about could not be checked. Where the
    provider tells how sure it was of each of the `tokens`, what it was unsure of is doubted.
    """
    first, later = stages(() if rules.spans_only else rules.checks)
    examination = examine(draft, chunks, question=question, as_of=as_of, rules=rules, checks=first)
    if rules.spans_only:
        return Confirmed(examination.verification, Usage())
    if tokens:
        examination = examination.with_signals(confidence_signals(examination, tokens))
    deciders = Deciders(checks=later, entailment=rules.entailment, judge=rules.judge)
    return await confirm(
        examination, deciders, question=question, timeout=rules.timeout, may_judge=may_judge
    )


class Verifier:
    """Verifies drafts of any stack, with the same checks and deciders each time.

    Example:
        >>> judge = LLMJudge("anthropic")                                  # doctest: +SKIP
        >>> with Verifier(judge=judge) as verifier:                        # doctest: +SKIP
        ...     found = verifier.verify(draft, chunks, question=question)

    `verify` blocks and may be called from anywhere; `averify` is its asynchronous twin. All
    blocking calls share one background loop, since clients of providers keep connections that
    belong to the loop of their first use. Use it as a context manager, or call `close()`.
    """

    def __init__(
        self,
        *,
        rules: Rules | None = None,
        entailment: EntailmentModel | None = None,
        judge: Judge | None = None,
        checks: Sequence[SupportCheck] | None = None,
        refusal: str | None = None,
        quote_match: Literal["repair", "exact"] | None = None,
        max_age: dt.timedelta | None = None,
        timeout: float | None = None,
    ) -> None:
        """Choose checks and deciders.

        Args:
            rules: All rules in one; or the single keywords below.
            entailment: Model that says whether a claim follows from the statements it cites.
            judge: Judge that grades the claims that are still open.
            checks: See `grounded_rag.verify`.
            refusal: See `grounded_rag.verify`.
            quote_match: See `grounded_rag.verify`.
            max_age: See `grounded_rag.verify`.
            timeout: Most seconds for the deciders of one draft.

        Raises:
            ConfigError: Rules and single keywords were given.
        """
        self.rules = rules_from(
            rules,
            entailment=entailment,
            judge=judge,
            checks=checks,
            refusal=refusal,
            quote_match=quote_match,
            max_age=max_age,
            timeout=timeout,
        )
        # Imported here: `verify` alone needs no event loop.
        from grounded_rag._sync import BackgroundLoop

        self._loop = BackgroundLoop()

    def verify(
        self,
        draft: object,
        chunks: Iterable[object],
        *,
        question: str | None = None,
        as_of: Instant | str | None = None,
    ) -> Verification:
        """Verify a draft against the chunks that were retrieved for it.

        Args:
            draft: See `grounded_rag.verify`.
            chunks: See `grounded_rag.verify`.
            question: The question, which is never evidence.
            as_of: Moment for which staleness is judged; without it, none is.

        Raises:
            DraftError: `draft` or `chunks` is of a Python type that can be neither.
            ManifestError: `as_of` is text that is no date.
        """
        return self._loop.run(partial(self.averify, draft, chunks, question=question, as_of=as_of))

    async def averify(
        self,
        draft: object,
        chunks: Iterable[object],
        *,
        question: str | None = None,
        as_of: Instant | str | None = None,
    ) -> Verification:
        """Verify a draft; the asynchronous twin of `verify`."""
        return await averify(draft, chunks, question=question, as_of=as_of, rules=self.rules)

    def close(self) -> None:
        """Stop the background loop."""
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
