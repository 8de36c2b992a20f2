"""Which characters of a document a reader sees: marks of Markdown and HTML are left out.

Nothing is rendered: what stays is text, and the page puts it into text nodes. Only marks go that
say nothing themselves. Words are never left out, and neither is what takes words back, such as
`~~` and `<del>`. Unknown tags stay too: `<your-key>` is a word of its author.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from grounded_rag.types import Frozen, Span


class Piece(Frozen):
    """A piece of text as the page shows it.

    Attributes:
        text: What is shown; always text, never markup.
        quoted: Whether it belongs to the quote.
        code: Whether it is code.
    """

    text: str
    quoted: bool = False
    code: bool = False


class Shown(NamedTuple):
    """Characters that are shown, and the range of the source that they stand for."""

    text: str
    start: int
    end: int
    code: bool = False


BLOCK_TAGS = frozenset(
    "address article aside blockquote br caption center dd details div dl dt figcaption figure"
    " footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody td tfoot"
    " th thead tr ul".split()
)
"""Tags that begin a line."""
_INLINE_TAGS = frozenset(
    "a abbr b big cite code em font i img kbd mark q samp small span strong sub sup tt u"
    " var".split()
)
# Its words would run into the word before it: 10<sup>6</sup> is not 106.
_RAISED = "sup"

TAG = re.compile(r"</?(?P<name>[A-Za-z][A-Za-z0-9]{0,14})(?=[\s/>])[^<>]{0,600}>")
"""A tag; `name` says which."""
_MARK = re.compile(
    r"""(?<!`)(?P<ticks>`{1,3})(?!`)(?P<code>.{1,500}?)(?<!`)(?P=ticks)(?!`)
    | \\(?P<escaped>[!-/:-@\[-`{-~])
    | <!--.{0,2000}?-->
    | </?(?P<tag>[A-Za-z][A-Za-z0-9]{0,14})(?=[\s/>])[^<>]{0,600}>
    | <(?P<address>(?:https?://|mailto:)[^\s<>]{1,500})>
    | (?P<entity>&(?:\#[0-9]{1,7}|\#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)
    | \{:(?:[ \t]{0,3}(?:[.\#][\w-]{1,60}|[\w-]{1,40}=(?:"[^"\n]{0,200}"|'[^'\n]{0,200}'))){1,8}
      [ \t]{0,3}\}
    | \{\#[\w.:-]{1,100}\}(?=[ \t]{0,8}$)
    | !?\[(?P<label>[^\[\]\n]{0,200}(?:\[[^\[\]\n]{0,100}\][^\[\]\n]{0,100}){0,2})\]
      \([ \t]?(?:<[^<>\n]{0,500}>|[^()\s<>]{0,500})(?:\s{1,3}"[^"\n]{0,200}")?[ \t]?\)
    | ^[ \t]{0,3}>[ \t]?
    | (?P<run>\*{1,3}|_{1,3})
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
# A blank line ends what a pair of marks may span.
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")


class _Edit(NamedTuple):
    start: int
    end: int
    text: str = ""


class _Run(NamedTuple):
    start: int
    end: int
    mark: str
    opens: bool
    closes: bool


def shown(text: str, span: Span, *, markdown: bool) -> list[Shown]:
    """Return what a reader sees of a range, in the order of the source.

    Args:
        text: The text of a passage, or of a claim.
        span: A paragraph, list item or table cell of it.
        markdown: Whether it is Markdown; other text is shown as it is.
    """
    if not markdown:
        return [Shown(span.of(text), span.start, span.end)] if len(span) else []
    edits: list[_Edit] = []
    code: list[Span] = []
    runs: list[_Run] = []
    _scan(text, span.start, span.end, edits, code, runs)
    edits += _emphasis(runs)
    edits.sort()
    return list(_without(text, span, edits, code))


def plain(text: str, *, markdown: bool) -> str:
    """Return a heading, a title or a part of a passage on one line, as a reader sees it."""
    pieces = shown(text, Span(start=0, end=len(text)), markdown=markdown)
    return " ".join("".join(piece.text for piece in pieces).split())


def cut(pieces: list[Shown], quote: Span | None) -> tuple[Piece, ...]:
    """Cut what is shown at the edges of the quote; the marks lie on its very characters."""
    made: list[Piece] = []
    for piece in pieces:
        for text, quoted in _sides(piece, quote):
            if not text:
                continue
            last = made[-1] if made else None
            if last is not None and (last.quoted, last.code) == (quoted, piece.code):
                made[-1] = last.model_copy(update={"text": last.text + text})
            else:
                made.append(Piece(text=text, quoted=quoted, code=piece.code))
    return tuple(made)


def _sides(piece: Shown, quote: Span | None) -> Iterator[tuple[str, bool]]:
    if quote is None or not (piece.start < quote.end and quote.start < piece.end):
        yield piece.text, False
    elif len(piece.text) != piece.end - piece.start:
        # It stands for other characters, such as `&amp;`: it is quoted as a whole.
        yield piece.text, True
    else:
        begin, end = max(0, quote.start - piece.start), quote.end - piece.start
        yield piece.text[:begin], False
        yield piece.text[begin:end], True
        yield piece.text[end:], False


def _scan(
    text: str, start: int, end: int, edits: list[_Edit], code: list[Span], runs: list[_Run]
) -> None:
    """Collect the marks between two places; those in the label of a link too."""
    at = start
    while (found := _MARK.search(text, at, end)) is not None:
        begin, at = found.span()
        if found["ticks"] is not None:
            if _PARAGRAPH_END.search(found["code"]):
                at = found.end("ticks")
                continue
            code.append(Span(start=found.start("code"), end=found.end("code")))
            edits += [_Edit(begin, code[-1].start), _Edit(code[-1].end, at)]
        elif found["run"] is not None:
            runs.append(_run(text, found, start, end))
        elif found["escaped"] is not None:
            edits.append(_Edit(begin, begin + 1))
        elif found["tag"] is not None:
            name = found["tag"].lower()
            if name in BLOCK_TAGS:
                edits.append(_Edit(begin, at, "\n"))
            elif name in _INLINE_TAGS:
                raised = name == _RAISED and text[begin + 1] != "/"
                edits.append(_Edit(begin, at, "^" if raised else ""))
        elif found["address"] is not None:
            edits += [_Edit(begin, begin + 1), _Edit(at - 1, at)]
        elif found["entity"] is not None:
            character = html.unescape(found["entity"])
            # One that nobody sees, or that turns the line round, stays what it is.
            if not any(unicodedata.category(one).startswith("C") for one in character):
                edits.append(_Edit(begin, at, character))
        elif found["label"] is not None:
            inside = found.span("label")
            edits += [_Edit(begin, inside[0]), _Edit(inside[1], at)]
            _scan(text, *inside, edits, code, runs)
        else:
            edits.append(_Edit(begin, at))


def _run(text: str, found: re.Match[str], start: int, end: int) -> _Run:
    before = text[found.start() - 1] if found.start() > start else " "
    after = text[found.end()] if found.end() < end else " "
    # Inside of a word, such as 2*3*4 or MAX_SIZE_MB, it is no mark.
    inside = before.isalnum() and after.isalnum()
    return _Run(
        *found.span(),
        mark=found["run"],
        opens=not after.isspace() and not inside,
        closes=not before.isspace() and not inside,
    )


def _emphasis(runs: list[_Run]) -> Iterator[_Edit]:
    """Yield the marks that have a partner; one without it is content, or is cut off."""
    waiting: list[_Run] = []
    for run in runs:
        partner = next(
            (
                index
                for index in range(len(waiting) - 1, max(-1, len(waiting) - 9), -1)
                if waiting[index].mark == run.mark
            ),
            None,
        )
        if run.closes and partner is not None:
            opened = waiting[partner]
            yield _Edit(opened.start, opened.end)
            yield _Edit(run.start, run.end)
            del waiting[partner:]
        elif run.opens:
            waiting.append(run)


def _without(text: str, span: Span, edits: list[_Edit], code: list[Span]) -> Iterator[Shown]:
    at = span.start
    for edit in edits:
        yield from _plain_pieces(text, at, edit.start, code)
        if edit.text:
            yield Shown(edit.text, edit.start, edit.end)
        at = edit.end
    yield from _plain_pieces(text, at, span.end, code)


def _plain_pieces(text: str, start: int, end: int, code: list[Span]) -> Iterator[Shown]:
    # Code is parted from its surroundings by its ticks, so a piece is one or the other.
    if start < end:
        is_code = any(span.start <= start and end <= span.end for span in code)
        yield Shown(text[start:end], start, end, is_code)
