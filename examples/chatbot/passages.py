"""Cuts a text into blocks that a page can show: paragraphs, lists, code, tables, and the quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from chatbot.markup import BLOCK_TAGS, TAG, Piece, Shown, cut, shown
from grounded_rag.types import Frozen, RetrievedChunk, Span

MARKDOWN = "text/markdown"
"""Media type of texts whose marks are Markdown and HTML."""
_FLOWING = (MARKDOWN, "text/plain", "application/pdf")
"""Media types whose lines are wrapped by hand: a line end is a space there."""

_ITEM = re.compile(
    r"(?P<bullet>[-*+•‣◦▪●○·–])[ \t]+(?=\S)|(?P<number>\(?(?:\d{1,3}|[A-Za-z])[.)])[ \t]+(?=\S)"
)
_FENCE = re.compile(r"[ \t]{0,8}(`{3,}|~{3,})[^`\n]*$")
_RULE = re.compile(r"[ \t]*(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,}|={3,})$")
_DELIMITER = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_LINE_ENDS = str.maketrans("\r\n", "  ")
_TAB = 4
_DEEPEST = 3


class Row(Frozen):
    """A row of a table.

    Attributes:
        cells: Its cells, cut at the edges of the quote.
        quoted: Whether the quote touches it.
    """

    cells: tuple[tuple[Piece, ...], ...]
    quoted: bool


class Item(Frozen):
    """An item of a list.

    Attributes:
        segments: Its text, cut at the edges of the quote.
        marker: Its number or letter as the source has it; "" for a bullet.
        level: How deep it is nested, from 0.
    """

    segments: tuple[Piece, ...]
    marker: str = ""
    level: int = 0


class Block(Frozen):
    """A part of a passage, or of a claim.

    Attributes:
        kind: How to show it.
        segments: Its text, cut at the edges of the quote; empty for a list or table.
        items: Items of a list.
        header: Header of a table.
        rows: Rows of a table.
        quoted: Whether the quote touches it.
    """

    kind: Literal["heading", "text", "code", "list", "table"]
    segments: tuple[Piece, ...] = ()
    items: tuple[Item, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    quoted: bool = False


def blocks(
    chunk: RetrievedChunk, quote: Span | None = None, *, media_type: str = "text/plain"
) -> tuple[Block, ...]:
    """Cut a chunk into blocks.

    Args:
        chunk: The chunk.
        quote: The quote's place in the chunk's text, or None without one.
        media_type: Of the document: whose marks are in the text.
    """
    return text_blocks(
        chunk.chunk.text, quote, headings=chunk.chunk.heading_spans, media_type=media_type
    )


def text_blocks(
    text: str,
    quote: Span | None = None,
    *,
    headings: Sequence[Span] = (),
    media_type: str = "text/plain",
) -> tuple[Block, ...]:
    """Cut a text into blocks; see `blocks`."""
    lines = list(_lines(text, headings, markdown=media_type == MARKDOWN))
    made: list[Block] = []
    show = _Showing(text, quote, media_type)
    at = 0
    while at < len(lines):
        end, block = _next_block(lines, at, show)
        if block is not None:
            made.append(block)
        at = end
    return tuple(made)


class _Line(NamedTuple):
    """A line, or what follows a tag that begins one; `start` is behind its indentation."""

    start: int
    end: int
    indent: int
    kind: Literal["blank", "text", "heading", "code", "fence", "row", "delimiter"]
    tag: str = ""


class _Showing(NamedTuple):
    """What the blocks of one text have in common."""

    text: str
    quote: Span | None
    media_type: str

    def pieces(self, *spans: Span) -> tuple[Piece, ...]:
        """Return what is shown of some ranges, each on a line of its own."""
        found: list[Shown] = []
        for number, span in enumerate(spans):
            if number:
                found.append(Shown("\n", spans[number - 1].end, span.start))
            for piece in shown(self.text, span, markdown=self.media_type == MARKDOWN):
                # The line end that a `<br>` stands for is kept.
                wrapped = self.media_type in _FLOWING and len(piece.text) == piece.end - piece.start
                text = piece.text.translate(_LINE_ENDS) if wrapped else piece.text
                found.append(piece._replace(text=text))
        return _trimmed(cut(found, self.quote))

    def touches(self, start: int, end: int) -> bool:
        """Whether the quote touches a range."""
        return self.quote is not None and self.quote.overlaps(Span(start=start, end=end))


def _trimmed(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Return pieces without white space around them, and without those that hold nothing else."""
    kept = list(pieces)
    while kept and not kept[0].text.strip():
        del kept[0]
    while kept and not kept[-1].text.strip():
        del kept[-1]
    if kept:
        kept[0] = kept[0].model_copy(update={"text": kept[0].text.lstrip()})
        kept[-1] = kept[-1].model_copy(update={"text": kept[-1].text.rstrip()})
    return tuple(kept)


def _lines(text: str, headings: Sequence[Span], *, markdown: bool) -> Iterator[_Line]:
    """Yield the lines of a text with what they are; code is told before anything else."""
    raws = text.splitlines(keepends=True)
    fence, fence_indent = "", 0
    after_blank, column = True, 0  # of the text of the list item that a line may belong to
    above = ""
    at = 0
    for number, raw in enumerate(raws):
        start, at = at, at + len(raw)
        content = raw.strip()
        begin = start + len(raw) - len(raw.lstrip()) if content else start
        end = begin + len(content)
        indent = len(raw[: begin - start].expandtabs(_TAB))
        whole = start, start + len(raw.rstrip("\r\n"))
        opened = _FENCE.match(raw.rstrip()) if markdown else None
        if fence:
            closes = opened is not None and opened[1].startswith(fence)
            yield _Line(*whole, fence_indent, "fence" if closes else "code")
            fence = "" if closes else fence
            continue
        if opened is not None:
            fence, fence_indent = opened[1], indent
            yield _Line(begin, end, 0, "fence")
            continue
        if not content:
            yield _Line(start, start, 0, "blank")
            after_blank, above = True, ""
            continue
        if after_blank and indent == 0:
            column = 0
        item = _ITEM.match(content)
        if after_blank and indent >= column + _TAB and not item:
            yield _Line(*whole, indent, "code")
            continue
        below = raws[number + 1].strip() if number + 1 < len(raws) else ""
        kind = _kind(content, above=above, below=below)
        if any(other.start < end and begin < other.end for other in headings):
            yield _Line(begin, end, indent, "heading")
        elif kind == "text" and markdown and "<" in content:
            yield from _parted(text, begin, end, indent)
        else:
            yield _Line(begin, end, indent, kind)
        column = indent + item.end() if item else column
        after_blank, above = False, kind


def _kind(content: str, *, above: str, below: str) -> Literal["text", "row", "delimiter"]:
    """Return what a line is; the lines around it tell which line without a mark is a row."""
    if _DELIMITER.match(content):
        return "delimiter"
    if "|" not in content:
        return "text"
    table = above in ("row", "delimiter") or _DELIMITER.match(below)
    return "row" if table or content.startswith("|") or content.count(" | ") > 1 else "text"


def _parted(text: str, start: int, end: int, indent: int) -> Iterator[_Line]:
    """Yield a line with HTML in it, cut where a tag begins a line of its own."""
    begin, tag = start, ""
    for found in TAG.finditer(text, start, end):
        name = found["name"].lower()
        if name not in BLOCK_TAGS or name == "br":
            continue
        if text[begin : found.start()].strip() or tag:
            yield _Line(begin, found.start(), indent, "text", tag)
        tag = ("/" if found[0][1] == "/" else "") + name
        begin = found.end()
    if text[begin:end].strip() or tag:
        yield _Line(begin, end, indent, "text", tag)


def _next_block(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    """Return where the block that begins at a line ends, and the block; None for nothing shown."""
    line = lines[at]
    if line.kind in ("blank", "fence", "delimiter"):
        return at + 1, None
    if line.kind == "code":
        return _code(lines, at, show)
    if line.kind == "heading":
        return _heading(lines, at, show)
    if line.kind == "row":
        return _table(lines, at, show)
    if line.tag in ("tr", "td", "th"):
        return _html_table(lines, at, show)
    if line.tag == "li" or (not line.tag and _ITEM.match(show.text, line.start, line.end)):
        return _list(lines, at, show)
    if _RULE.match(show.text, line.start, line.end):
        return at + 1, None
    return _paragraph(lines, at, show)


def _code(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    end = at
    while end < len(lines) and lines[end].kind in ("code", "blank"):
        end += 1
    while lines[end - 1].kind == "blank":
        end -= 1
    inside = [line for line in lines[at:end] if line.kind == "code"]
    # Fenced code has no indentation of its own.
    lead = min(line.indent for line in inside)
    found: list[Shown] = []
    for number, line in enumerate(lines[at:end]):
        if number:
            found.append(Shown("\n", lines[at + number - 1].end, line.start))
        begin = _behind(show.text, line, lead) if line.kind == "code" else line.start
        found.append(Shown(show.text[begin : line.end], begin, line.end))
    return end, _block("code", cut(found, show.quote), lines[at].start, lines[end - 1].end, show)


def _behind(text: str, line: _Line, columns: int) -> int:
    """Return the place in a line that lies behind so many columns of indentation."""
    at, column = line.start, 0
    while at < line.end and column < columns and text[at] in " \t":
        column += _TAB - column % _TAB if text[at] == "\t" else 1
        at += 1
    return at


def _heading(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    line = lines[at]
    if _RULE.match(show.text, line.start, line.end):
        # The line below a heading that underlines it.
        return at + 1, None
    piece = show.text[line.start : line.end]
    begin = line.start + len(piece) - len(piece.lstrip("# "))
    pieces = show.pieces(Span(start=begin, end=line.end))
    return at + 1, _block("heading", pieces, begin, line.end, show)


def _paragraph(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    end = at + 1
    while end < len(lines) and _goes_on(lines[end], show):
        end += 1
    span = Span(start=lines[at].start, end=lines[end - 1].end)
    return end, _block("text", show.pieces(span), span.start, span.end, show)


def _goes_on(line: _Line, show: _Showing) -> bool:
    """Whether a line belongs to the paragraph or item before it."""
    return (
        line.kind == "text"
        and not line.tag
        and not _ITEM.match(show.text, line.start, line.end)
        and not _RULE.match(show.text, line.start, line.end)
    )


def _list(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    items: list[Item] = []
    indents: list[int] = []
    start, depth, end = lines[at].start, 0, lines[at].end
    while at < len(lines):
        line = lines[at]
        if (
            line.tag in ("ul", "ol", "/ul", "/ol", "/li")
            and show.text[line.start : line.end].strip() == ""
        ):
            depth += {"/": -1}.get(line.tag[0], 1) if line.tag != "/li" else 0
            at += 1
            continue
        marker = _ITEM.match(show.text, line.start, line.end) if not line.tag else None
        if line.kind == "blank" and _list_goes_on(lines, at, show):
            at += 1
            continue
        if line.kind != "text" or (line.tag != "li" and marker is None):
            break
        at += 1
        begin = marker.end() if marker else line.start
        while at < len(lines) and _goes_on(lines[at], show):
            at += 1
        end = lines[at - 1].end
        while indents and indents[-1] > line.indent:
            indents.pop()
        if not indents or indents[-1] < line.indent:
            indents.append(line.indent)
        level = max(0, depth) if line.tag else len(indents) - 1
        pieces = show.pieces(Span(start=begin, end=end))
        if pieces:
            number = (marker["number"] if marker else "") or ""
            items.append(Item(segments=pieces, marker=number, level=min(level, _DEEPEST)))
    if not items:
        return at, None
    return at, Block(kind="list", items=tuple(items), quoted=show.touches(start, end))


def _list_goes_on(lines: list[_Line], at: int, show: _Showing) -> bool:
    """Whether an item follows blank lines."""
    while at < len(lines) and lines[at].kind == "blank":
        at += 1
    if at == len(lines) or lines[at].kind != "text":
        return False
    line = lines[at]
    return line.tag == "li" or bool(_ITEM.match(show.text, line.start, line.end))


def _table(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    end = at
    while end < len(lines) and lines[end].kind in ("row", "delimiter"):
        end += 1
    header: tuple[str, ...] = ()
    first = at
    if at + 1 < end and lines[at + 1].kind == "delimiter":
        cells = (show._replace(quote=None).pieces(cell) for cell in _cells(show.text, lines[at]))
        header = tuple("".join(piece.text for piece in cell) for cell in cells)
        first = at + 2
    rows = tuple(
        Row(
            cells=tuple(show.pieces(cell) for cell in _cells(show.text, line)),
            quoted=show.touches(line.start, line.end),
        )
        for line in lines[first:end]
        if line.kind == "row"
    )
    quoted = show.touches(lines[at].start, lines[end - 1].end)
    return end, Block(kind="table", header=header, rows=rows, quoted=quoted)


def _cells(text: str, line: _Line) -> list[Span]:
    row = text[line.start : line.end]
    edges = [line.start + match.start() for match in _CELL_EDGE.finditer(row)]
    begins = [line.start, *(edge + 1 for edge in edges)]
    ends = [*edges, line.end]
    cells = []
    for position, (start, end) in enumerate(zip(begins, ends, strict=True)):
        piece = text[start:end]
        outside = position == 0 or position == len(edges)
        if outside and not piece.strip():
            continue
        lead = len(piece) - len(piece.lstrip())
        cells.append(Span(start=start + lead, end=start + lead + len(piece.strip())))
    return cells


def _html_table(lines: list[_Line], at: int, show: _Showing) -> tuple[int, Block | None]:
    rows: list[list[list[Span]]] = [[]]
    start = lines[at].start
    end = at
    while end < len(lines) and lines[end].tag != "/table" and lines[end].kind in ("text", "blank"):
        line = lines[end]
        said = bool(show.text[line.start : line.end].strip())
        if line.tag in ("tr", "/tr"):
            rows.append([])
        if line.tag in ("td", "th") or (line.tag == "tr" and said):
            rows[-1].append([])
        if said and not rows[-1]:
            # Text outside of any cell: the table has ended without saying so.
            break
        if said:
            rows[-1][-1].append(Span(start=line.start, end=line.end))
        end += 1
    made = tuple(
        Row(
            cells=tuple(show.pieces(*cell) for cell in row),
            quoted=any(show.touches(span.start, span.end) for cell in row for span in cell),
        )
        for row in rows
        if row
    )
    quoted = show.touches(start, lines[end - 1].end) if end > at else False
    block = Block(kind="table", rows=made, quoted=quoted) if made else None
    return max(end, at + 1), block


def _block(
    kind: Literal["heading", "text", "code"],
    pieces: tuple[Piece, ...],
    start: int,
    end: int,
    show: _Showing,
) -> Block | None:
    if not any(piece.text.strip() for piece in pieces):
        return None
    return Block(kind=kind, segments=pieces, quoted=show.touches(start, end))
