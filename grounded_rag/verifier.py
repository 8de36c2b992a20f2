"""The verifier with its deciders as one object, for the output of any other stack."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Literal, Self

from grounded_rag._sync import BackgroundLoop
from grounded_rag.confirmation import averify
from grounded_rag.protocols import EntailmentModel, Judge, SupportCheck
from grounded_rag.types import Instant, Verification
from grounded_rag.verification.rules import Rules, rules_from


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
