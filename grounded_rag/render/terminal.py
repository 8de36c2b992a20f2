"""An answer for a terminal. Document and model text is data: never markup, never codes."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grounded_rag.render.cards import IN_SOURCE_WORDS, Badge, MarkedClaim, SourceCard, lay_out
from grounded_rag.types import AnswerData, Flag, FlagKind
from grounded_rag.types.display import one_line, safe

_STYLES = {True: "black on bright_yellow", False: ""}


def to_terminal(answer: AnswerData, *, color: bool = False, width: int = 80) -> str:
    """Return an answer as lines for a terminal.

    Control characters of documents, questions and models become U+FFFD, and so do characters
    that reorder a line. With `color` the only escape sequences are those of our own colours.

    Args:
        answer: The answer.
        color: Whether to colour the text; quotes are marked by “ ” either way.
        width: Columns to wrap at.
    """
    screen = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )
    with screen.capture() as capture:
        screen.print(answer_lines(answer))
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n"))


def answer_lines(answer: AnswerData) -> RenderableType:
    """Return an answer with its quotes highlighted, its badges, or its refusal with the reason."""
    cards = lay_out(answer)
    parts: list[RenderableType] = [Text(one_line(answer.question), style="bold")]
    if answer.answered:
        parts.extend(_line(line, marked=cards.mixed) for line in cards.lines)
        parts.append(Text(f"  support: {one_line(cards.support)}", style="dim"))
    else:
        parts.append(Text(safe(answer.text), style="yellow"))
        if answer.refusal is not None:
            why = f"  why: {one_line(answer.refusal.detail)} [{answer.refusal.reason}]"
            parts.append(Text(why, style="dim"))
            parts.append(Text(f"  next: {one_line(answer.refusal.next_step)}", style="dim"))
    parts.extend(
        Text(f"  not answered: {one_line(part)}", style="yellow") for part in answer.unanswered
    )
    parts.extend(Padding(_card(card), (0, 0, 0, 2)) for card in cards.cards)
    parts.extend(map(_said_of_several, cards.remarks))
    return Group(*parts)


def flag_line(flag: Flag) -> Text:
    """Return one remark as a line."""
    return _remark(flag.kind.replace("_", " "), flag.detail)


def _line(claims: Sequence[MarkedClaim], *, marked: bool) -> Text:
    line = Text()
    for claim in claims:
        numbers = "".join(f"[{number}]" for number in claim.numbers)
        line.append(" " if line else "")
        line.append(f"{safe(claim.text)} {numbers}", style="green")
        if claim.restated and marked:
            line.append(f" ({IN_SOURCE_WORDS})", style="dim")
    return line


def _card(card: SourceCard) -> RenderableType:
    place = [card.title]
    if card.headings:
        place.append(" › ".join(card.headings))
    if card.page is not None:
        place.append(f"page {card.page}")
    if card.source:
        place.append(card.source)
    line = Text(f"[{card.number}] ", style="cyan")
    line.append(one_line(" · ".join(place)), style="dim")
    quote = Text()
    for segment in card.segments:
        text = safe(segment.text).replace("\n", " ").replace("\t", " ")
        # The marks stay readable where there are no colours: in a pipe, in a log.
        quote.append(f"“{text}”" if segment.quoted else text, style=_STYLES[segment.quoted])
    return Group(line, Padding(quote, (0, 0, 0, 4)), *map(_badge, card.badges))


def _said_of_several(badge: Badge) -> RenderableType:
    if badge.kind is not FlagKind.UNDATED:
        return _badge(badge)
    # Many documents have no date: that is told, and is no alarm.
    return Text(f"  {badge.label}: {one_line(badge.detail)}", style="dim")


def _badge(badge: Badge) -> Text:
    # A successor or a conflicting source that the sentence does not name already.
    unnamed = [r.title for r in badge.related if r.title not in badge.detail]
    see = f" See: {'; '.join(unnamed)}" if unnamed else ""
    return _remark(badge.label, badge.detail + see)


def _remark(label: str, detail: str) -> Text:
    return Text(f"! {label}: {one_line(detail)}", style="magenta")
