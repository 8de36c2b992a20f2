"""An answer as Markdown (CommonMark and GitHub's), every value escaped."""

from __future__ import annotations

import re

from grounded_rag.render.cards import IN_SOURCE_WORDS, Badge, MarkedClaim, SourceCard, lay_out
from grounded_rag.types import AnswerData
from grounded_rag.types.display import one_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>&|~$@^])")
# What only has a meaning at the start of a line, or as the start of a bare address.
_LINE_START = re.compile(r"^(?:([#+=:-])|(\d{1,9})([.)]))")
_ADDRESS = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp)(:)|\b(www)(\.)")


def to_markdown(answer: AnswerData) -> str:
    """Return an answer as Markdown: claims with [1] marks, then the sources with their quotes.

    A refusal shows the fixed sentence with its reason and the next step. Rejected text and the
    trace never appear. Quotes are bold inside their sentence.
    """
    cards = lay_out(answer)
    blocks = [f"**{escape_markdown(answer.question) or '?'}**"]
    if answer.answered:
        # A hard line break between lines of one answer.
        blocks.append(
            "\\\n".join(
                " ".join(_claim(claim, marked=cards.mixed) for claim in line)
                for line in cards.lines
            )
        )
        blocks.append(f"Support: {escape_markdown(cards.support)}")
    else:
        blocks.append(escape_markdown(answer.text))
        if answer.refusal is not None:
            why = f"{answer.refusal.detail} {answer.refusal.next_step}"
            blocks.append(f"Why: {escape_markdown(why)}")
    blocks.extend(f"Not answered: “{escape_markdown(part)}”" for part in answer.unanswered)
    blocks.extend(_badge(badge) for badge in cards.remarks)
    blocks.extend(_card(card) for card in cards.cards)
    if answer.as_of is not None:
        blocks.append(f"As of {answer.as_of.isoformat()}.")
    return "\n\n".join(blocks) + "\n"


def escape_markdown(text: str) -> str:
    """Return `text` on one line, so that Markdown shows its characters and does nothing else."""
    line = _SPECIAL.sub(r"\\\1", one_line(text))
    line = _ADDRESS.sub(lambda m: f"{m[1] or m[3]}\\{m[2] or m[4]}", line)
    return _LINE_START.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def _claim(claim: MarkedClaim, *, marked: bool) -> str:
    numbers = "".join(f"[{number}]" for number in claim.numbers)
    words = f" *({IN_SOURCE_WORDS})*" if claim.restated and marked else ""
    return f"{escape_markdown(claim.text)} {numbers}{words}"


def _card(card: SourceCard) -> str:
    place = [_linked(card.title, card.link)]
    place.extend(escape_markdown(heading) for heading in card.headings)
    if card.page is not None:
        place.append(f"page {card.page}")
    if card.source:
        place.append(escape_markdown(card.source))
    quote = "".join(_segment(s.text, quoted=s.quoted) for s in card.segments)
    lines = [f"[{card.number}] {' · '.join(place)}", *map(_badge, card.badges), quote.strip()]
    # A hard line break between the lines of one source, all of them in one block quote.
    return "> " + "\\\n> ".join(lines)


def _segment(text: str, *, quoted: bool) -> str:
    escaped = escape_markdown(text)
    if not escaped:
        return " "
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    # Emphasis opens and closes beside any character when quotation marks stand around it.
    return f"{before}“**{escaped}**”{after}" if quoted else f"{before}{escaped}{after}"


def _badge(badge: Badge) -> str:
    related = "; ".join(_linked(item.title, item.link) for item in badge.related)
    see = f" See: {related}." if related else ""
    return f"⚠ **{escape_markdown(badge.label)}**: {escape_markdown(badge.detail)}{see}"


def _linked(title: str, link: str | None) -> str:
    shown = escape_markdown(title) or "source"
    if link is None:
        return shown
    return f"[{shown}](<{link.translate(_IN_TARGET)}>)"


# What would end a target between angle brackets, or be read as an entity in it.
_IN_TARGET = str.maketrans({"<": "%3C", ">": "%3E", "\\": "%5C", "`": "%60", "&": "&amp;"})
