"""The public `verify`: one pure function from a draft and its chunks to a verification."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Literal

from grounded_rag.protocols import SupportCheck
from grounded_rag.types import Instant, Verification
from grounded_rag.verification.confirm import check_open, open_claims
from grounded_rag.verification.examination import examine
from grounded_rag.verification.stack import stages


def verify(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] = "repair",
    checks: Sequence[SupportCheck] | None = None,
    max_age: dt.timedelta | None = None,
) -> Verification:
    """Verify a draft against the chunks that were retrieved for it.

    Every quote is looked up in the chunk that its citation names; then the support checks judge
    the claim on the quote and its enclosing sentence(s). The order of the chunks means nothing,
    and no model output raises: output that cannot be read is the outcome `invalid_output`.

    Args:
        draft: A `Draft`; a mapping `{"claims": [{"text", "chunk_id", "quote"}]}` or with nested
            `citations`; the same as a JSON string; or the model's raw text.
        chunks: `RetrievedChunk`s, mappings `{"id", "text", "metadata"}` or LlamaIndex nodes.
        question: The question. It is never evidence; it explains quotes taken from it, and parts
            that the draft leaves open must stand in it.
        as_of: Moment for which the answer should hold; without it no staleness is judged.
        refusal: The refusal string in force; None means the built-in one.
        quote_match: `repair` bridges differences of presentation and records them; `exact` never.
        checks: Support checks; None means the built-in ones, `()` judges quotes only.
        max_age: Evidence older than this is flagged; needs `as_of`.

    Returns:
        One verdict a claim, flags on supported claims, and what the whole draft amounts to.

    Raises:
        DraftError: `draft` or `chunks` is of a Python type that can be neither.
        ManifestError: `as_of` is text that is no date.
    """
    first, later = stages(checks)
    examination = examine(
        draft,
        chunks,
        question=question,
        as_of=as_of,
        refusal=refusal,
        quote_match=quote_match,
        checks=first,
        max_age=max_age,
    )
    if later:
        examination = examination.with_signals(check_open(open_claims(examination), later))
    return examination.verification
