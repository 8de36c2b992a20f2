"""An answer as HTML: semantic, without script, every value escaped."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from html import escape
from importlib.resources import files

from grounded_rag.render.cards import (
    IN_SOURCE_WORDS,
    AnswerCards,
    Badge,
    MarkedClaim,
    SourceCard,
    lay_out,
)
from grounded_rag.types import AnswerData

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")
# What HTML forbids as a character and what would reorder the text around it.
_UNSHOWABLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def to_html(answer: AnswerData, *, standalone: bool = False, id_prefix: str = "answer") -> str:
    """Return an answer as HTML.

    A refusal shows the fixed sentence with its reason and the next step. Rejected text and the
    trace never appear. Links carry `rel="noopener noreferrer nofollow"`.

    Args:
        answer: The answer.
        standalone: Whether to return a whole document with its style sheet and a content
            security policy that lets nothing run; otherwise an `<article>` to put into a page.
        id_prefix: Begins the ids of the article, so that several fit into one page.

    Raises:
        ValueError: `id_prefix` holds something other than ASCII letters, digits, `-` and `_`.
    """
    if not _PREFIX.fullmatch(id_prefix):
        raise ValueError("id_prefix must be an ASCII letter, then letters, digits, - or _")
    article = _article(answer, lay_out(answer), id_prefix)
    if not standalone:
        return article
    return (
        "<!doctype html>\n"
        '<html><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(answer.question)}</title>\n"
        f"<style>\n{_PAGE_STYLE}{_style()}</style></head>\n"
        f"<body>\n{article}\n</body></html>\n"
    )


def to_notebook(answer: AnswerData) -> str:
    """Return an answer as HTML for the output of a notebook's cell, with its style sheet.

    The style sheet names only parts of the article, so that it changes nothing else of the
    notebook. The ids follow from the answer: two answers have different ones.
    """
    said = f"{answer.question}\0{answer.text}".encode("utf-8", "surrogatepass")
    prefix = f"answer-{hashlib.sha256(said).hexdigest()[:12]}"
    return f"<style>\n{_style()}</style>\n{to_html(answer, id_prefix=prefix)}"


_PAGE_STYLE = """\
:root { color-scheme: light dark; }
body {
  margin: 2rem auto; max-width: 46rem; padding: 0 1rem;
  font: 1rem/1.55 system-ui, sans-serif;
}
"""


@cache
def _style() -> str:
    return files("grounded_rag.render").joinpath("answer.css").read_text(encoding="utf-8")


def _article(answer: AnswerData, cards: AnswerCards, prefix: str) -> str:
    parts = [
        f'<article class="gr-answer" data-status="{answer.status.value}">',
        f'<h2 class="gr-question" dir="auto">{_text(answer.question)}</h2>',
    ]
    if answer.refusal is not None or not answer.answered:
        parts.append(f'<p class="gr-refusal" dir="auto">{_text(answer.text)}</p>')
        if answer.refusal is not None:
            parts.append(
                f'<p class="gr-why" data-reason="{answer.refusal.reason.value}">'
                f"{_text(answer.refusal.detail)} {_text(answer.refusal.next_step)}</p>"
            )
    else:
        parts.extend(
            f'<p class="gr-text" dir="auto">'
            f"{' '.join(_claim(claim, prefix, marked=cards.mixed) for claim in line)}</p>"
            for line in cards.lines
        )
        parts.append(f'<p class="gr-support">Support: <bdi>{_text(cards.support)}</bdi></p>')
    parts.extend(
        f'<p class="gr-open">Not answered: <q dir="auto">{_text(part)}</q></p>'
        for part in answer.unanswered
    )
    parts.extend(f'<p class="gr-remarks">{_badge(badge)}</p>' for badge in cards.remarks)
    if cards.cards:
        parts.append('<ol class="gr-sources">')
        parts.extend(_card(card, prefix) for card in cards.cards)
        parts.append("</ol>")
    if answer.as_of is not None:
        moment = _text(answer.as_of.isoformat())
        parts.append(f'<p class="gr-as-of">As of <time datetime="{moment}">{moment}</time></p>')
    parts.append("</article>")
    return "\n".join(parts)


def _claim(claim: MarkedClaim, prefix: str, *, marked: bool) -> str:
    marks = "".join(
        f'<a class="gr-mark" href="#{prefix}-source-{number}" aria-label="Source {number}">'
        f"[{number}]</a>"
        for number in claim.numbers
    )
    restated = ' data-restated="true"' if claim.restated else ""
    words = (
        f' <span class="gr-words">({IN_SOURCE_WORDS})</span>' if claim.restated and marked else ""
    )
    return f'<span class="gr-claim"{restated}><bdi>{_text(claim.text)}</bdi> {marks}{words}</span>'


def _card(card: SourceCard, prefix: str) -> str:
    title = f"<bdi>{_text(card.title)}</bdi>"
    place = [f'<bdi class="gr-heading">{_text(heading)}</bdi>' for heading in card.headings]
    if card.page is not None:
        place.append(f'<span class="gr-page">page {card.page}</span>')
    if card.source:
        place.append(f'<bdi class="gr-origin">{_text(card.source)}</bdi>')
    quote = "".join(
        f"<mark>{_text(segment.text)}</mark>" if segment.quoted else _text(segment.text)
        for segment in card.segments
    )
    badges = "".join(_badge(badge) for badge in card.badges)
    return (
        f'<li class="gr-source" id="{prefix}-source-{card.number}" value="{card.number}">'
        f'<p class="gr-place"><cite>{_linked(title, card.link)}</cite>'
        + "".join(f" · {item}" for item in place)
        + "</p>"
        + (f'<p class="gr-badges">{badges}</p>' if badges else "")
        + f'<blockquote dir="auto">{quote}</blockquote></li>'
    )


def _badge(badge: Badge) -> str:
    kind = "stale" if badge.stale else badge.kind.value
    related = "; ".join(_linked(f"<bdi>{_text(r.title)}</bdi>", r.link) for r in badge.related)
    see = f" See: {related}." if related else ""
    return (
        f'<span class="gr-badge" data-kind="{kind}"><strong>{_text(badge.label)}</strong> '
        f"<bdi>{_text(badge.detail)}</bdi>{see}</span>"
    )


def _linked(inner: str, link: str | None) -> str:
    if link is None:
        return inner
    return f'<a href="{escape(link)}" rel="noopener noreferrer nofollow">{inner}</a>'


def _text(text: str) -> str:
    """Return `text` for an element or a quoted attribute; forbidden characters become U+FFFD."""
    return escape(_UNSHOWABLE.sub("\ufffd", text))
