"""Plain text and Markdown: the canonical text is the decoded file, Markdown's marks included."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from grounded_rag.ingest.decoding import MAX_BYTES, check_size, decode, require_text
from grounded_rag.ingest.metadata import split_front_matter
from grounded_rag.ingest.readers.html import html_text
from grounded_rag.ingest.structure import Heading, build_sections, heading_spans, leading_title
from grounded_rag.protocols import ParsedDocument
from grounded_rag.text.code import code_blocks

_UNDERLINED = re.compile(
    r"^(?=\S)([^\r\n]{1,120})(?:\r\n|\n|\r)(={3,}|-{3,})[ \t]*(?=[\r\n]|\Z)", re.MULTILINE
)
_TITLE_LENGTH = 100


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads plain text, unchanged but for its byte order mark; underlined lines are headings."""

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        decoded = decode(data, source=source)
        require_text(decoded.text, source=source)
        headings = _headings(decoded.text)
        return ParsedDocument(
            text=decoded.text,
            title=_title(decoded.text),
            media_type="text/plain",
            sections=build_sections(len(decoded.text), headings),
            headings=heading_spans(headings),
            warnings=decoded.warnings,
        )


def _headings(text: str) -> list[Heading]:
    return [
        Heading(
            start=found.start(),
            end=found.end(),
            level=1 if found[2][0] == "=" else 2,
            title=found[1].strip(),
        )
        for found in _UNDERLINED.finditer(text)
        if _alone(text, found)
    ]


def _alone(text: str, found: re.Match[str]) -> bool:
    """Whether a blank line, or nothing, stands before the heading: no row of a table does."""
    before = text[max(0, found.start() - 200) : found.start()]
    lines = before.splitlines()
    return not lines or not lines[-1].strip()


def _title(text: str) -> str:
    """Return the first line if it stands alone and is no sentence."""
    lines = text.lstrip()[:1000].splitlines()[:2]
    first = lines[0].strip()
    if len(first) > _TITLE_LENGTH or first.endswith((".", "!", ":", ";", ",")):
        return ""
    alone = len(lines) == 1 or not lines[1].strip() or not lines[1].strip("=- \t")
    return first if alone else ""


_BLOCKS = "ol|ul|dl|table|div|p|pre|blockquote|center|details|section|figure|h[1-6]"
_BLOCK_TAG = re.compile(
    rf"^[ \t]{{0,3}}(?=<)(<({_BLOCKS})\b[^<>\n]{{0,1000}}>)", re.MULTILINE | re.IGNORECASE
)
_ANY_BLOCK_TAG = re.compile(rf"<(/?)({_BLOCKS})\b[^<>]{{0,1000}}>", re.IGNORECASE)
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_RULED = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(
    r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\||<|#{1,6}[ \t]|(?:[-*_][ \t]*){3,}$)| {4}|\t"
)
_ATTRIBUTES = re.compile(r"\{[#.:][^{}]{0,120}\}$")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,500}\)")
_LONGEST_LINE = 2000
_EMPHASIS = re.compile(r"(\*\*|__|`)(?=\S)([^*_`]{1,300})(?<=\S)\1")


@dataclass(frozen=True, slots=True)
class MarkdownReader:
    """Reads Markdown; its marks stay, and HTML in it is read as HTML.

    Byte order mark and front matter are left out.
    """

    max_bytes: int = MAX_BYTES

    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        """Read `data`; see `grounded_rag.protocols.Reader`."""
        check_size(len(data), source=source, max_bytes=self.max_bytes)
        decoded = decode(data, source=source)
        values, text = split_front_matter(decoded.text, source=source)
        text, warnings = _read_html_blocks(text, source=source)
        require_text(text, source=source)
        headings = find_headings(text)
        return ParsedDocument(
            text=text,
            title=leading_title(headings),
            media_type="text/markdown",
            sections=build_sections(len(text), headings),
            headings=heading_spans(headings),
            metadata=values,
            warnings=decoded.warnings + warnings,
        )


def _read_html_blocks(text: str, *, source: str) -> tuple[str, tuple[str, ...]]:
    """Return a Markdown text with its blocks of HTML read as such, and what was left out of them.

    A block is an element whose tag begins a line; one that is not closed stays as it is.
    """
    if not _BLOCK_TAG.search(text):
        return text, ()
    inside_code = {
        tag.start()
        for block in code_blocks(text)
        for tag in _BLOCK_TAG.finditer(text, block.outer.start, block.outer.end)
    }
    ends = _ends_of_elements(text)
    parts: list[str] = []
    warnings: list[str] = []
    done = 0
    for opened in _BLOCK_TAG.finditer(text):
        start = opened.start()
        end = ends.get(opened.start(1))
        if end is None or start < done or start in inside_code:
            continue
        read = html_text(text[start:end], source=source)
        level = opened[2][1:] if opened[2][1:].isdigit() and "\n" not in read.text else "0"
        parts += [text[done:start], f"{'#' * int(level)} {read.text}".lstrip(" ")]
        warnings += read.warnings
        done = end
    return "".join([*parts, text[done:]]), tuple(warnings)


def _ends_of_elements(text: str) -> dict[int, int]:
    """Return for each opening tag that is closed where its element ends, in one pass."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for tag in _ANY_BLOCK_TAG.finditer(text):
        above = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            above.append(tag.start())
        elif above:
            ends[above.pop()] = tag.end()
    return ends


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a Markdown text: ATX and underlined ones, outside fenced code."""
    headings: list[Heading] = []
    fence = ""
    above: tuple[int, int] | None = None
    for start, end in _lines(text):
        line = text[start:end]
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line[opened.end() :].strip():
                fence = ""
            continue
        if opened and not (opened[1][0] == "`" and "`" in line[opened.end() :]):
            fence, above = opened[1], None
            continue
        atx = _ATX.match(line)
        if atx:
            title = plain_title(_without_closing(line[atx.end(1) :]))
            if title:
                headings.append(Heading(start, end, len(atx[1]), title))
            above = None
            continue
        ruled = _RULED.match(line)
        if ruled and above is not None:
            title = plain_title(text[above[0] : above[1]])
            if not any(map(str.isalnum, title)):
                above = None
                continue
            headings.append(Heading(above[0], end, 1 if ruled[1][0] == "=" else 2, title))
            above = None
            continue
        paragraph = line.strip() and not _NO_PARAGRAPH.match(line)
        above = (above[0] if above else start, end) if paragraph else None
    return headings


def plain_title(raw: str) -> str:
    """Return the words of a heading without tags, link targets, attributes and emphasis."""
    title = _ATTRIBUTES.sub("", _TAG.sub("", raw[:_LONGEST_LINE]).rstrip())
    title = _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", title))
    return " ".join(title.split())


def _without_closing(title: str) -> str:
    """Return a heading's text without the signs that may close it: `# Title #`."""
    bare = title.rstrip(" \t")
    opened = bare.rstrip("#")
    return opened if not opened or opened[-1] in " \t" else bare


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each line without its line end."""
    for found in _LINE.finditer(text):
        start, end = found.span()
        while end > start and text[end - 1] in "\r\n":
            end -= 1
        yield start, end
