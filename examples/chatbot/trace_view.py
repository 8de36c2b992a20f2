"""What is behind an answer, rejected text included: for the drawer that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chatbot.markup import plain
from chatbot.passages import MARKDOWN
from grounded_rag import Answer, ClaimVerdict
from grounded_rag.render.cards import support_in_words, withheld_in_words
from grounded_rag.types import Attempt, Frozen, RetrievedChunk, Timings, Usage

if TYPE_CHECKING:
    from chatbot.corpora import Corpus

_EXCERPT = 280


class FoundView(Frozen):
    """A retrieved passage.

    Attributes:
        rank: 1-based rank.
        title: Title of the document.
        place: Headings above it.
        found_by: Signals that found it.
        score: The retriever's score; only its order means something.
        cited: Whether the answer cites it.
        excerpt: Its beginning.
    """

    rank: int
    title: str
    place: tuple[str, ...]
    found_by: tuple[str, ...]
    score: float
    cited: bool
    excerpt: str


class CheckView(Frozen):
    """What one check found; `passed` is None where it could not check."""

    name: str
    passed: bool | None
    detail: str


class DraftedView(Frozen):
    """A drafted claim and its verdict.

    Attributes:
        text: The claim as drafted: rejected text too.
        passed: Whether it was verified.
        status: The verdict.
        support: On what it rests, in words; "" where it did not pass.
        reason: Typed reason where it did not pass.
        why: One sentence that says what decided.
        instead: What the source says, which was shown in its place; "" where nothing was.
        withheld: Why nothing was shown in its place, in words; "" where something was.
        quotes: The quotes as drafted.
        checks: What each check found.
    """

    text: str
    passed: bool
    status: str
    support: str
    reason: str
    why: str
    instead: str
    withheld: str
    quotes: tuple[str, ...]
    checks: tuple[CheckView, ...]


class AttemptView(Frozen):
    """One draft: the first, or a re-ask.

    Attributes:
        number: 1 for the first, then one more for each re-ask.
        stop: How the generation ended.
        detail: What went wrong outside the claims.
        seconds: Wall-clock seconds of the generator.
        tokens: Tokens of it.
        claims: What was drafted.
        problems: What was wrong with the draft as a whole.
    """

    number: int
    stop: str
    detail: str
    seconds: float
    tokens: int
    claims: tuple[DraftedView, ...]
    problems: tuple[str, ...]


class TraceView(Frozen):
    """Everything behind an answer."""

    retrieved: tuple[FoundView, ...]
    attempts: tuple[AttemptView, ...]
    timings: Timings
    usage: Usage
    generator: str
    policy: dict[str, str]
    fingerprint: str


def trace_view(answer: Answer, corpus: Corpus) -> TraceView:
    """Return the trace of an answer as the drawer shows it."""
    cited = {chunk.chunk.id for chunk in answer.evidence}
    restates = answer.policy.get("unproven") == "restate"
    return TraceView(
        retrieved=tuple(
            _found(chunk, corpus, cited=chunk.chunk.id in cited) for chunk in answer.trace.retrieved
        ),
        attempts=tuple(_attempt(each, restates=restates) for each in answer.trace.attempts),
        timings=answer.timings,
        usage=answer.usage,
        generator=answer.generator,
        policy={name: str(value) for name, value in answer.policy.items()},
        fingerprint=answer.fingerprint,
    )


def _found(chunk: RetrievedChunk, corpus: Corpus, *, cited: bool) -> FoundView:
    media_type = corpus.media_type_of(chunk.chunk.doc_id)
    text = plain(_body(chunk), markdown=media_type == MARKDOWN)
    title = corpus.title_of(chunk.chunk.doc_id)
    return FoundView(
        rank=chunk.rank,
        title=title,
        place=tuple(name for name in chunk.chunk.headings if name != title),
        found_by=chunk.sources,
        score=chunk.score,
        cited=cited,
        excerpt=text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…",
    )


def _body(chunk: RetrievedChunk) -> str:
    """Return the text of a passage on one line, without the headings that `place` tells."""
    text, start, parts = chunk.chunk.text, 0, []
    for heading in sorted(chunk.chunk.heading_spans, key=lambda span: span.start):
        parts.append(text[start : heading.start])
        start = max(start, heading.end)
    parts.append(text[start:])
    return " ".join(" ".join(parts).split())


def _attempt(attempt: Attempt, *, restates: bool) -> AttemptView:
    verification = attempt.verification
    claims = verification.claims if verification is not None else ()
    problems = verification.problems if verification is not None else ()
    return AttemptView(
        number=attempt.number,
        stop=str(attempt.stop),
        detail=attempt.detail,
        seconds=attempt.seconds,
        tokens=attempt.usage.total_tokens,
        claims=tuple(_drafted(verdict, restates=restates) for verdict in claims),
        problems=tuple(problem.detail or problem.reason for problem in problems),
    )


def _drafted(verdict: ClaimVerdict, *, restates: bool) -> DraftedView:
    instead = (verdict.restatement or "") if restates else ""
    if verdict.supported or instead:
        withheld = ""
    else:
        withheld = withheld_in_words(verdict) or "the rules in force want no restatement"
    problems = " ".join(check.detail for check in verdict.citations if check.problem is not None)
    return DraftedView(
        text=verdict.text,
        passed=verdict.supported,
        status=str(verdict.status),
        support=support_in_words(verdict) if verdict.supported else "",
        reason=(verdict.reason or "").replace("_", " "),
        why=verdict.why or problems,
        instead=instead,
        withheld=withheld,
        quotes=tuple(citation.quote for citation in verdict.claim.citations),
        checks=tuple(
            CheckView(
                name=signal.check.replace("_", " "), passed=signal.passed, detail=signal.detail
            )
            for signal in verdict.signals
        ),
    )
