"""How the claims of an answer lie on the page: a first line, then paragraphs, lists and code.

Only structure decides: line ends, list marks and the lists of the cited passages. The words of a
claim are never changed, and nothing of them is read as HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from chatbot.markup import Piece, plain, shown
from chatbot.passages import MARKDOWN, Block, Item, blocks, text_blocks
from grounded_rag.text.sentences import ends_with_stop
from grounded_rag.types import Frozen, RetrievedChunk, Span

_BETWEEN_ITEMS = 8
_ENDS = " ;,."
_COLONS = (":", "：")
_LINE_END = re.compile(r"\n(?:[ \t]*\n)*")


class Part(Frozen):
    """Claims that are shown together.

    Attributes:
        kind: `lead` is the first line, `text` a paragraph, `block` one claim with a structure of
            its own, and `list` has one claim an item.
        claims: 0-based indexes of the claims.
        lead_in: For a list, what its claims begin with; "" where they have nothing in common.
        items: For a list, the claims without it.
    """

    kind: Literal["lead", "text", "block", "list"]
    claims: tuple[int, ...]
    lead_in: str = ""
    items: tuple[str, ...] = ()


class SourceList(NamedTuple):
    """A list of a cited passage: its items as they read, without what joins them."""

    items: tuple[str, ...]


class _Listed(NamedTuple):
    """A claim that is an item of a list, with the lead-in that it repeats."""

    of: SourceList
    lead_in: str
    item: str


def source_lists(chunks: Sequence[tuple[RetrievedChunk, str]]) -> tuple[SourceList, ...]:
    """Return the lists of cited passages; each chunk comes with its media type."""
    return tuple(
        SourceList(tuple(_bare(said) for said in map(_item_text, block.items) if _is_item(said)))
        for chunk, media_type in chunks
        for block in blocks(chunk, media_type=media_type)
        if block.kind == "list"
    )


def claim_blocks(
    text: str, *, media_type: str, lists: Sequence[SourceList] = ()
) -> tuple[Block, ...]:
    """Return a claim as blocks.

    Args:
        text: The claim.
        media_type: Of the documents that it cites: whose marks may be in it.
        lists: Lists of the passages that it cites.
    """
    text = text.strip()
    if "\n" in text:
        return _several_lines(text, media_type)
    pieces = shown(text, Span(start=0, end=len(text)), markdown=media_type == MARKDOWN)
    segments = tuple(Piece(text=piece.text, code=piece.code) for piece in pieces)
    listed = _several_items(_text(segments), lists)
    return listed or (Block(kind="text", segments=segments),)


def parts(claims: Sequence[Sequence[Block]], lists: Sequence[SourceList]) -> tuple[Part, ...]:
    """Return how claims are shown together, in their order."""
    listed = [_listed(claim, lists) for claim in claims]
    made: list[Part] = []
    at = 0
    while at < len(claims):
        end = at + 1
        first = listed[at]
        while first is not None and end < len(claims) and _together(first, listed[end]):
            end += 1
        if first is not None and end - at > 1:
            run = [one for one in listed[at:end] if one is not None]
            made.append(
                Part(
                    kind="list",
                    claims=tuple(range(at, end)),
                    lead_in=first.lead_in,
                    items=tuple(one.item for one in run),
                )
            )
        elif not _is_sentence(claims[at]):
            made.append(Part(kind="block", claims=(at,)))
        elif at == 0:
            made.append(Part(kind="lead", claims=(0,)))
        elif made[-1].kind == "text" and ends_with_stop(_said(claims[at - 1])):
            made[-1] = Part(kind="text", claims=(*made[-1].claims, at))
        else:
            made.append(Part(kind="text", claims=(at,)))
        at = end
    return tuple(made)


def _text(pieces: Sequence[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _said(claim: Sequence[Block]) -> str:
    return " ".join(_text(block.segments) for block in claim)


def _is_sentence(claim: Sequence[Block]) -> bool:
    return len(claim) == 1 and claim[0].kind == "text"


def _item_text(item: Item) -> str:
    return plain(_text(item.segments), markdown=False)


def _is_item(said: str) -> bool:
    """Whether an item says something itself; one that ends in a colon leads to a list below it."""
    return bool(said.strip(_ENDS)) and not said.endswith(_COLONS)


def _bare(text: str) -> str:
    """Return an item without what joins it to the next, such as "; or"."""
    head, mark, tail = text.rpartition(";")
    return (head if mark and len(tail) <= _BETWEEN_ITEMS else text).rstrip(_ENDS)


def _several_lines(text: str, media_type: str) -> tuple[Block, ...]:
    found = text_blocks(text, media_type=media_type)
    head, *rest = _LINE_END.split(text, maxsplit=1)
    if head.rstrip().endswith(_COLONS) and all(block.kind == "text" for block in found):
        # What a lead-in announces line by line is code: that of an HTML page is not indented.
        code = Block(kind="code", segments=(Piece(text=rest[0].rstrip(), code=True),))
        return (*text_blocks(head, media_type=media_type), code)
    return found


def _several_items(said: str, lists: Sequence[SourceList]) -> tuple[Block, ...]:
    """Return a claim of the form "lead-in: item; item" as a list, or () where it is none."""
    for known in lists:
        spans: list[Span] = []
        at = 0
        for item in known.items:
            start = said.find(item, at)
            if start >= 0:
                at = start + len(item)
                spans.append(Span(start=start, end=at))
        if len(spans) < 2 or len(said) - at > len(_ENDS):
            continue
        gaps = [later.start - one.end for one, later in pairwise(spans)]
        lead_in = said[: spans[0].start].strip()
        if max(gaps) <= _BETWEEN_ITEMS and (not lead_in or lead_in.endswith(_COLONS)):
            edges = [*(span.start for span in spans), len(said)]
            items = tuple(
                Item(segments=(Piece(text=said[start:end].strip()),))
                for start, end in pairwise(edges)
            )
            made = Block(kind="list", items=items)
            return (
                (Block(kind="text", segments=(Piece(text=lead_in),)), made) if lead_in else (made,)
            )
    return ()


def _listed(claim: Sequence[Block], lists: Sequence[SourceList]) -> _Listed | None:
    if not _is_sentence(claim):
        return None
    said = _said(claim)
    for known in lists:
        for item in known.items:
            start = said.rfind(item)
            if start < 0 or said[start + len(item) :].strip(_ENDS):
                continue
            lead_in = said[:start].strip()
            if not lead_in or lead_in.endswith(_COLONS):
                return _Listed(known, lead_in, said[start:])
    return None


def _together(first: _Listed, other: _Listed | None) -> bool:
    return other is not None and (first.of, first.lead_in) == (other.of, other.lead_in)
