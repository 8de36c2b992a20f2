"""Answers with a payload in every field, made by the pipeline's own verifier and composer."""

from __future__ import annotations

from grounded_rag.answer import Answer
from grounded_rag.decision import compose, refuse
from grounded_rag.testing import make_chunk, make_draft
from grounded_rag.types import AnswerStatus, ClaimStatus, Flag, FlagKind, RefusalReason, Tier, Trace
from grounded_rag.validity import parse_instant
from grounded_rag.verification import verify

SENTENCE = "The notice period is six weeks."


def answered(
    sentence=SENTENCE,
    *,
    before="",
    after="",
    question="How long is the notice period?",
    title="Leaving",
    source="handbook/leaving.md",
    headings=(),
    page=None,
    flags=(),
    unanswered=(),
    others=(),
    restated=False,
    more=(),
):
    """An answer of one claim that is a copy of its quote, whatever the texts are, and of `more`."""
    text = f"{before}{sentence}{after}"
    made = make_chunk(text, id="c1", doc_id="leaving", title=title)
    inner = made.chunk.model_copy(update={"headings": headings, "page": page})
    chunk = made.model_copy(update={"chunk": inner, "source": source})
    draft = make_draft((sentence, "c1", sentence))
    found = verify(draft, [chunk]).claims[0]
    assert found.located, found.why
    # A payload may cut its sentence in two, or strike it out: what is rendered is the same.
    # An answer may be read from anywhere, so its claim holds what a draft is cleaned of.
    passed = {
        "claim": found.claim.model_copy(update={"text": sentence}),
        "status": ClaimStatus.SUPPORTED,
        "tier": Tier.VERBATIM,
        "restated": restated,
    }
    claims = (found.model_copy(update=passed), *more)
    return Answer(
        question=question,
        status=AnswerStatus.PARTIAL if unanswered else AnswerStatus.ANSWERED,
        text=compose(claims),
        claims=claims,
        unanswered=unanswered,
        flags=flags,
        evidence=(chunk,),
        as_of=parse_instant("2026-11-29"),
        trace=Trace(retrieved=(chunk, *others)),
    )


def remark(kind, detail, *related, chunk_id="c1"):
    return Flag(
        kind=kind, claim=0, chunk_id=chunk_id, doc_id="leaving", detail=detail, related=related
    )


def declined(question="Who?", text="I cannot say.", detail=None):
    refusal = refuse(RefusalReason.CLAIMS_FAILED)
    if detail is not None:
        refusal = refusal.model_copy(update={"detail": detail, "next_step": detail})
    return Answer(question=question, status=AnswerStatus.REFUSED, text=text, refusal=refusal)


def everywhere(payload):
    """An answer with `payload` in every field that a document, model or person can write."""
    successor = make_chunk("x", id="c2", doc_id="new", title=payload).model_copy(
        update={"source": payload}
    )
    return answered(
        sentence=f"The notice period {payload} is six weeks.",
        before=f"Before {payload}. ",
        after=f" After {payload}.",
        question=payload,
        title=payload,
        source=payload,
        headings=(payload,),
        page=3,
        unanswered=(payload,),
        flags=(
            remark(FlagKind.SUPERSEDED, payload, "new", payload),
            remark(FlagKind.CONFLICT, payload, "c2", chunk_id="elsewhere"),
        ),
        others=(successor,),
    )


PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)//http://x",
    "data:text/html,<script>alert(1)</script>",
    "//evil.example/x",
    "\\\\evil.example\\x",
    "https://evil.example/\"onclick='x'>",
    "[click](javascript:alert(1))",
    "![x](http://evil.example/pixel.png)",
    "`code` *bold* _it_ ~~no~~ | cell | $x$",
    "# heading",
    "1. list",
    "[1]: http://evil.example 'title'",
    "<https://evil.example> www.evil.example http://evil.example a@evil.example",
    "&lt;b&gt; &amp; &#x3c;",
    "{{ 7*7 }} ${x} {% raw %}",
    "\x1b[2J\x1b]8;;http://evil.example\x07link\x1b]8;;\x07",
    "\x9b31m \x00 \x7f \r",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "[bold red]x[/] :smile:",
    "قانون العمل ٣٠ يومًا",
    "解約予告期間は六週間です。",
    "</style></title></textarea>--><svg onload=alert(1)>",
)
