"""What every surface shows of an answer, before it is put into its markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote, urlsplit

from grounded_rag.receipts.interchange import is_web, text_fragment_link
from grounded_rag.text.sentences import enclosing_sentences, ends_with_stop
from grounded_rag.types import (
    STALENESS_KINDS,
    AnswerData,
    ClaimVerdict,
    Flag,
    FlagKind,
    Frozen,
    Located,
    Reason,
    Reference,
    RetrievedChunk,
    Span,
    Tier,
    number_references,
)

IN_SOURCE_WORDS = "in the source’s words"
"""What a restated claim is marked with, on every surface."""


class Segment(Frozen):
    """A piece of source text, and whether it belongs to the quote."""

    text: str
    quoted: bool


class RelatedSource(Frozen):
    """A document that a badge points to: the current one, or the other side of a conflict."""

    title: str
    link: str | None = None


class Badge(Frozen):
    """A remark on a source; `label` is its kind in words."""

    kind: FlagKind
    label: str
    detail: str
    related: tuple[RelatedSource, ...] = ()

    @property
    def stale(self) -> bool:
        """Whether it is about the source's age or validity."""
        return self.kind in STALENESS_KINDS


class MarkedClaim(Frozen):
    """A claim with the numbers of its citations."""

    text: str
    numbers: tuple[int, ...]
    restated: bool = False  # the words are the source's, not those of the generator
    line: bool = False  # a table cell or list item: no full stop parts it from what follows


class SourceCard(Frozen):
    """One numbered source of an answer."""

    number: int
    title: str
    headings: tuple[str, ...] = ()  # that govern the quote, outermost first, the title left out
    page: int | None = None
    source: str = ""  # where the document came from
    link: str | None = None  # safe address that opens it at the quote
    segments: tuple[Segment, ...]  # the enclosing sentence(s), cut at the edges of the quote
    badges: tuple[Badge, ...] = ()


class AnswerCards(Frozen):
    """An answer laid out for people; a refusal has no claims, support and cards."""

    claims: tuple[MarkedClaim, ...] = ()
    support: str = ""  # on what the claims rest, in words
    cards: tuple[SourceCard, ...] = ()
    remarks: tuple[Badge, ...] = ()  # that belong to no numbered source, or to several at once

    @property
    def mixed(self) -> bool:
        """Whether some claims are restated and some are not, so that each needs its own mark."""
        return len({claim.restated for claim in self.claims}) > 1

    @property
    def lines(self) -> tuple[tuple[MarkedClaim, ...], ...]:
        """The claims as lines: sentences run on, table cells and list items do not."""
        lines: list[list[MarkedClaim]] = []
        for claim in self.claims:
            if lines and not claim.line and not lines[-1][-1].line:
                lines[-1].append(claim)
            else:
                lines.append([claim])
        return tuple(map(tuple, lines))


def lay_out(answer: AnswerData) -> AnswerCards:
    """Return what a surface shows of `answer`; a refusal has neither claims nor cards."""
    known = (*answer.evidence, *answer.trace.retrieved)
    chunks = {chunk.chunk.id: chunk for chunk in answer.evidence}
    cards = tuple(
        _card(answer, reference, chunks[reference.located.chunk_id], known)
        for reference in answer.references
    )
    cited = {reference.located.chunk_id for reference in answer.references}
    return AnswerCards(
        claims=tuple(
            MarkedClaim(
                text=verdict.text.strip(),
                numbers=tuple(r.number for r in answer.references if index in r.claims),
                restated=verdict.restated,
                line=not ends_with_stop(verdict.text),
            )
            for index, verdict in enumerate(answer.claims)
        ),
        support=support_of_all(answer.claims),
        cards=cards,
        remarks=(
            *_badges((flag for flag in answer.flags if flag.chunk_id not in cited), known),
            *_undated(answer),
        ),
    )


def _card(
    answer: AnswerData,
    reference: Reference,
    chunk: RetrievedChunk,
    known: Sequence[RetrievedChunk],
) -> SourceCard:
    located = reference.located
    claims = [answer.claims[index] for index in reference.claims]
    flags = [
        flag
        for flag in answer.flags
        if flag.chunk_id == located.chunk_id and flag.kind is not FlagKind.UNDATED
    ]
    return SourceCard(
        number=reference.number,
        title=chunk.title or chunk.chunk.doc_id,
        headings=governing(located, claims, chunk),
        page=located.page,
        source=chunk.source,
        link=source_link(chunk.source, page=located.page, quoted=located.quote),
        segments=segments(chunk.chunk.text, located.chunk_span),
        badges=_badges(flags, known),
    )


def _undated(answer: AnswerData) -> Iterator[Badge]:
    """Yield one badge for all cited sources without a date: most corpora have many of them."""
    marks: dict[str, dict[str, None]] = {}
    for flag in answer.flags:
        for reference in answer.references:
            if flag.kind is FlagKind.UNDATED and reference.located.chunk_id == flag.chunk_id:
                marks.setdefault(flag.detail, {})[f"[{reference.number}]"] = None
    for detail, numbers in marks.items():
        told = f"{detail.removesuffix('.')}: {' '.join(numbers)}."
        yield Badge(
            kind=FlagKind.UNDATED,
            label=str(FlagKind.UNDATED),
            detail=told if len(answer.references) > 1 else detail,
        )


def governing(
    located: Located, claims: Iterable[ClaimVerdict], chunk: RetrievedChunk
) -> tuple[str, ...]:
    """Return the headings that govern a quote, outermost first, without the document's title."""
    place = located.chunk_span
    stated = [
        heading
        for verdict in claims
        for statement in verdict.statements
        if statement.chunk_id == located.chunk_id
        and any(span.start < place.end and place.start < span.end for span in statement.quotes)
        for heading in statement.headings
    ]
    return tuple(h for h in dict.fromkeys(stated or chunk.chunk.headings) if h != chunk.title)


def _badges(flags: Iterable[Flag], known: Sequence[RetrievedChunk]) -> tuple[Badge, ...]:
    """Return one badge a kind and sentence: a person need not read it once a claim."""
    once = {(flag.kind, flag.detail): flag for flag in flags}
    return tuple(
        Badge(
            kind=flag.kind,
            label=flag.kind.replace("_", " "),
            detail=flag.detail,
            related=tuple(_related(name, known) for name in dict.fromkeys(flag.related)),
        )
        for flag in once.values()
    )


def _related(name: str, known: Sequence[RetrievedChunk]) -> RelatedSource:
    """Return the document that a flag names by its id, or by the id of one of its chunks."""
    for chunk in known:
        if name in (chunk.chunk.doc_id, chunk.chunk.id):
            return RelatedSource(
                title=chunk.title or chunk.chunk.doc_id, link=source_link(chunk.source)
            )
    return RelatedSource(title=name)


def segments(text: str, quote: Span, *, context: Span | None = None) -> tuple[Segment, ...]:
    """Cut a part of `text` into before, quote and after; empty pieces are left out.

    The part is `context`, or by default the sentence(s) that enclose the quote.
    """
    shown = context or enclosing_sentences(text, quote)
    start, end = min(shown.start, quote.start), max(shown.end, quote.end)
    pieces = (
        Segment(text=text[start : quote.start], quoted=False),
        Segment(text=quote.of(text), quoted=True),
        Segment(text=text[quote.end : end], quoted=False),
    )
    return tuple(piece for piece in pieces if piece.text)


_SPACE_OR_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


def source_link(source: str, *, page: int | None = None, quoted: str = "") -> str | None:
    """Return an address that opens a source, or None where none is safe.

    A source is data: it may be named `javascript:…` or `//elsewhere`. Only `http` and `https`
    addresses and paths relative to the page are linked; anything else is shown as text.

    Args:
        source: Where the document came from: an address, or a path relative to the corpus.
        page: 1-based page, which a PDF is opened at.
        quoted: The quote, which a web page is opened at (a text fragment).
    """
    if is_web(source):
        return _web(source, page=page, quoted=quoted)
    if _SCHEME.match(source) or source.startswith(("/", "#", "?")) or source != source.strip():
        return None
    if not source or "\\" in source or _SPACE_OR_CONTROL.search(source.replace(" ", "")):
        return None
    path = quote(source, safe="/")
    return f"{path}#page={page}" if page is not None and _is_paged(source) else path


def _web(source: str, *, page: int | None, quoted: str) -> str | None:
    if _SPACE_OR_CONTROL.search(source) or any(c in source for c in "\"'<>\\`"):
        return None
    if page is not None and _is_paged(urlsplit(source).path):
        return source if "#" in source else f"{source}#page={page}"
    return text_fragment_link(source, quoted) or source


def _is_paged(path: str) -> bool:
    return path.lower().endswith(".pdf")


_WITHHELD = {
    Reason.CUT_CONTEXT: "the passage begins or ends inside the statement",
    Reason.NOT_ASSERTED: "the source does not assert it",
    Reason.TOO_LONG: "its statement is too long to be an answer",
    Reason.BESIDE_QUESTION: "its statement is about something else than the question",
    Reason.INJECTED_INSTRUCTION: "its source speaks to the assistant",
    Reason.NOT_A_STATEMENT: "it states nothing",
    Reason.EMPTY_CLAIM: "it has no words",
    Reason.BESIDE_REFUSAL: "the output refuses",
}
_DECIDERS = {"entailment": "the entailment model", "judge": "the judge"}


def support_in_words(verdict: ClaimVerdict) -> str:
    """Return on what a claim that is supported rests."""
    if verdict.restated:
        return IN_SOURCE_WORDS
    if verdict.tier is Tier.VERBATIM:
        return "word for word from the source"
    if verdict.tier is Tier.CONFIRMED:
        return f"confirmed by {_decider(verdict)}"
    return "quoted from a real place, not checked further"


def withheld_in_words(verdict: ClaimVerdict) -> str:
    """Return why the source's own words may not ship in place of a failed claim; "" if they may."""
    if verdict.restatements:
        return ""
    reason = verdict.withheld or verdict.reason
    return _WITHHELD.get(reason, "it quotes no statement of the source") if reason else ""


def support_of_all(claims: Sequence[ClaimVerdict]) -> str:
    """Return on what all claims of an answer rest, as one line; "" without any.

    Claims are named by their marks, which a reader sees: a claim may be several sentences.
    """
    marks: dict[str, list[str]] = {support_in_words(verdict): [] for verdict in claims}
    for reference in number_references(claims):
        for words in dict.fromkeys(support_in_words(claims[index]) for index in reference.claims):
            marks[words].append(f"[{reference.number}]")
    if len(marks) == 1:
        return next(iter(marks))
    return "; ".join(f"{''.join(numbers)} {words}" for words, numbers in marks.items())


def _decider(verdict: ClaimVerdict) -> str:
    for signal in verdict.signals:
        if signal.role != "decider" or signal.passed is not True:
            continue
        if signal.check in _DECIDERS:
            return f"{_DECIDERS[signal.check]} {signal.decided_by}".rstrip()
        # A rule of the built-in checks has no name there: it never confirms a claim.
        if signal.decided_by:
            return f"the check {signal.decided_by}"
    return "a check"
