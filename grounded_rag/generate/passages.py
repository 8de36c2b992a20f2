"""How a passage is shown to a model: a line that opens it, its text, a line that closes it."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any, NamedTuple

from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import guess_language
from grounded_rag.types import Citation, RetrievedChunk, Span

_LINE_END = r"[ \t]*(?:\r\n?|\n)[ \t]*"
_SOFT = re.compile(rf"(?<=[^\W\d_])\xad(?:{_LINE_END}(?=[^\W\d_]))?|\xad")
_LETTERS = r"[^\W\d_]{1,40}"
_HYPHEN = re.compile(rf"(?<![^\W_])({_LETTERS})([-‐]){_LINE_END}(?=({_LETTERS}))")
_CUT_WORDS = re.compile(rf"{_LETTERS}(?:[-‐]{_LINE_END}{_LETTERS})+")
_WORD = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")


def readable(text: str, *, within: str | None = None) -> str:
    """Return `text` without soft hyphens and line-end hyphens; all else stays as it is.

    Where a line ends in a hyphen between letters, the line end goes, and the hyphen with it. The
    hyphen stays where the text writes the word with one elsewhere, where another stands before
    it ("state-of-the-art") and before a capital ("Anglo-Saxon"). Nothing is joined where the
    second part is a word of its own ("Haus- und Garten"). The words of `within` decide, if `text`
    is a part of it.
    """
    if "\xad" in text:
        text = _SOFT.sub("", text)
    if _HYPHEN.search(text) is None:
        return text
    # The words that a line end cuts are no evidence of how they are written.
    whole = _CUT_WORDS.sub(" ", text if within is None else within)
    words = frozenset(word.lower() for word in _WORD.findall(whole))
    return _HYPHEN.sub(partial(_joined, words=words), text)


def _joined(match: re.Match[str], *, words: frozenset[str]) -> str:
    left, hyphen, right = match.groups()
    chained = match.string[match.start() - 1 : match.start()] in ("-", "‐")
    if chained or right[0].isupper() or f"{left}-{right}".lower() in words:
        return f"{left}{hyphen}"
    stands_alone = right.lower() in words or guess_language(right) is not None
    if stands_alone and (left + right).lower() not in words:
        return match[0]
    return left


class LabelledPassage(NamedTuple):
    """A passage with its sentences under labels."""

    text: str  # One line per sentence, `[label] sentence`; headings have no label
    quotes: dict[str, Citation]  # What each label stands for


def citable_sentences(chunk: RetrievedChunk) -> tuple[Span, ...]:
    """Return the sentences of a chunk that may be evidence: headings are left out."""
    return tuple(span for span in split_sentences(chunk.chunk.text) if not _heading(chunk, span))


def labelled_passage(label: str, chunk: RetrievedChunk) -> LabelledPassage:
    """Return the sentences of a passage as `label.1`, `label.2` and so on."""
    lines: list[str] = []
    quotes: dict[str, Citation] = {}
    whole = chunk.chunk.text
    for span in split_sentences(whole):
        sentence = span.of(whole)
        if _heading(chunk, span):
            lines.append(readable(sentence, within=whole))
            continue
        name = f"{label}.{len(quotes) + 1}"
        quotes[name] = Citation(chunk_id=chunk.chunk.id, quote=sentence)
        lines.append(f"[{name}] {readable(sentence, within=whole)}")
    return LabelledPassage("\n".join(lines), quotes)


def _heading(chunk: RetrievedChunk, span: Span) -> bool:
    return any(heading.contains(span) for heading in chunk.chunk.heading_spans)


_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MAX_CHARACTERS = 700
_IN_FORCE = ("effective_from", "valid_until", "superseded_on")
_LAST_SEEN = ("reviewed_on", "updated_at")


class ShownPassage(NamedTuple):
    """The blocks of one passage, and what the labels of its sentences stand for."""

    blocks: tuple[str, str, str]
    quotes: dict[str, Citation]


def show_passage(label: str, retrieved: RetrievedChunk, *, labelled: bool) -> ShownPassage:
    """Return a passage as a model sees it; `label` must occur in no text of the request."""
    about = json.dumps(passage_metadata(retrieved), ensure_ascii=False)
    quotes: dict[str, Citation] = {}
    if labelled:
        text, quotes = labelled_passage(label, retrieved)
    else:
        text = readable(retrieved.chunk.text)
    # A passage of soft hyphens alone would be a blank block, which providers refuse.
    shown = text if text.strip() else retrieved.chunk.text
    return ShownPassage(
        (f"PASSAGE {label} {sendable(about)}", sendable(shown), f"END OF {label}"), quotes
    )


def passage_metadata(retrieved: RetrievedChunk) -> dict[str, Any]:
    """Return title, section and dates, which distinguish passages, as JSON and never as text.

    When a passage was looked at or changed last says little about what holds; it is given only
    where nothing says more.
    """
    validity = retrieved.validity
    about: dict[str, Any] = {"title": clip(retrieved.title or retrieved.source)}
    if retrieved.chunk.headings:
        about["section"] = [clip(heading) for heading in retrieved.chunk.headings]
    dated = any(getattr(validity, name) is not None for name in (*_IN_FORCE, "superseded_by"))
    for name in _IN_FORCE if dated else _LAST_SEEN:
        value = getattr(validity, name)
        if value is not None:
            about[name] = value.isoformat()
    if validity.superseded_by is not None:
        about["superseded"] = True
    return about


def clip(text: str) -> str:
    """Return `text`, cut to a length that no document or draft can move."""
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + " […]"


def sendable(text: str) -> str:
    """Return `text` with lone surrogates, which cannot be sent, as U+FFFD: as long as before."""
    return _SURROGATE.sub("\ufffd", text)
