"""What every surface shows of an answer, before it is put into its markup."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grounded_rag.highlight import Segment, highlight
from grounded_rag.render.links import source_link
from grounded_rag.render.support import support_of_all
from grounded_rag.text.sentences import ends_with_stop
from grounded_rag.types import (
    STALENESS_KINDS,
    Answer,
    ClaimVerdict,
    Flag,
    FlagKind,
    Frozen,
    Located,
    RetrievedChunk,
)


class RelatedSource(Frozen):
    """A document that a badge points to: the current one, or the other side of a conflict."""

    title: str
    link: str | None = None


class Badge(Frozen):
    """A remark on a source.

    Attributes:
        kind: What it is about.
        label: The kind in words.
        detail: One sentence for a person.
        related: Documents that it points to, where they are known.
    """

    kind: FlagKind
    label: str
    detail: str
    related: tuple[RelatedSource, ...] = ()

    @property
    def stale(self) -> bool:
        """Whether it is about the source's age or validity."""
        return self.kind in STALENESS_KINDS


class MarkedClaim(Frozen):
    """A claim with the numbers of its citations.

    Attributes:
        text: The claim.
        numbers: Numbers of its citations.
        restated: Whether the words are the source's, in the place of a claim that nothing showed.
        line: Whether it stands on a line of its own: a table cell or a list item, which no full
            stop parts from what follows.
    """

    text: str
    numbers: tuple[int, ...]
    restated: bool = False
    line: bool = False


class SourceCard(Frozen):
    """One numbered source of an answer.

    Attributes:
        number: The number in the answer's text.
        title: Title of the document.
        headings: Headings that govern the quote, outermost first, the title left out.
        page: 1-based page, where known.
        source: Where the document came from.
        link: Safe address that opens it at the quote, or None.
        segments: The enclosing sentence(s), cut at the edges of the quote.
        badges: Remarks on it.
    """

    number: int
    title: str
    headings: tuple[str, ...] = ()
    page: int | None = None
    source: str = ""
    link: str | None = None
    segments: tuple[Segment, ...]
    badges: tuple[Badge, ...] = ()


class AnswerCards(Frozen):
    """An answer laid out for people.

    Attributes:
        claims: Claims in reading order; empty for a refusal.
        support: On what they rest, in words; "" for a refusal.
        cards: The numbered sources.
        remarks: Remarks that belong to no numbered source.
    """

    claims: tuple[MarkedClaim, ...] = ()
    support: str = ""
    cards: tuple[SourceCard, ...] = ()
    remarks: tuple[Badge, ...] = ()

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


def lay_out(answer: Answer) -> AnswerCards:
    """Return what a surface shows of `answer`; a refusal has neither claims nor cards."""
    known = (*answer.evidence, *answer.trace.retrieved)
    shown = highlight(answer)
    cards = tuple(
        SourceCard(
            number=item.reference.number,
            title=item.chunk.title or item.chunk.chunk.doc_id,
            headings=governing(
                item.reference.located,
                [answer.claims[index] for index in item.reference.claims],
                item.chunk,
            ),
            page=item.reference.located.page,
            source=item.chunk.source,
            link=source_link(
                item.chunk.source,
                page=item.reference.located.page,
                quoted=item.reference.located.quote,
            ),
            segments=item.segments,
            badges=_badges((f for f in answer.flags if f.chunk_id == item.chunk.chunk.id), known),
        )
        for item in shown
    )
    cited = {item.chunk.chunk.id for item in shown}
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
        remarks=_badges((f for f in answer.flags if f.chunk_id not in cited), known),
    )


def governing(
    located: Located, claims: Iterable[ClaimVerdict], chunk: RetrievedChunk
) -> tuple[str, ...]:
    """Return the headings that govern a quote, outermost first, without the document's title.

    Args:
        located: The quote's place.
        claims: The claims that cite it.
        chunk: The passage that it stands in.
    """
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
