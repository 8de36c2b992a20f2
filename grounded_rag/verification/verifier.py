"""The public `verify`: one pure function from a draft and its chunks to a verification."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Literal

from grounded_rag.protocols import SupportCheck
from grounded_rag.types import Instant, Verification
from grounded_rag.verification.examination import examine
from grounded_rag.verification.rules import Rules, rules_from
from grounded_rag.verification.stack import stages


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
        # Only who has deciders of their own loads what asks them.
        from grounded_rag.verification.confirm import check_open, open_claims

        examination = examination.with_signals(check_open(open_claims(examination), later))
    return examination.verification
