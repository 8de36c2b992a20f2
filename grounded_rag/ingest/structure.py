"""Headings of a document and the sections that they open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grounded_rag.types import Section, Span

LONGEST_TITLE = 300
"""Characters of a title that are kept: every chunk below a heading carries it."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: where its line lies in the text, its level (1 is the outermost) and title."""

    start: int
    end: int
    level: int
    title: str


def build_sections(
    length: int, headings: Sequence[Heading], pages: Sequence[Span] = ()
) -> tuple[Section, ...]:
    """Return the sections that `headings` open.

    Args:
        length: Code points of the text.
        headings: Headings in reading order.
        pages: Spans of the pages, in order, or empty.

    Returns:
        Sections in reading order; each runs from its heading to the next heading of any level,
        so they are disjoint. Text before the first heading belongs to none.
    """
    sections: list[Section] = []
    path: list[Heading] = []
    page = 0
    for index, heading in enumerate(headings):
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(replace(heading, title=heading.title[:LONGEST_TITLE]))
        end = headings[index + 1].start if index + 1 < len(headings) else length
        while page < len(pages) and pages[page].end <= heading.start:
            page += 1
        sections.append(
            Section(
                title=path[-1].title,
                path=tuple(part.title for part in path),
                span=Span(start=heading.start, end=end),
                page=page + 1 if page < len(pages) else None,
            )
        )
    return tuple(sections)


def heading_spans(headings: Sequence[Heading]) -> tuple[Span, ...]:
    """Return the spans of the heading lines, in order."""
    return tuple(Span(start=heading.start, end=heading.end) for heading in headings)


def leading_title(headings: Sequence[Heading]) -> str:
    """Return the first heading if it stands above all the others, else ""."""
    above_all = headings and all(other.level > headings[0].level for other in headings[1:])
    return headings[0].title[:LONGEST_TITLE] if above_all else ""
