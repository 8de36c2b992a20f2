"""Sentences under labels: the model names a label, and code fills in the exact quote."""

from __future__ import annotations

from typing import NamedTuple

from grounded_rag.generate.readable import readable
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Citation, RetrievedChunk, Span


class LabelledPassage(NamedTuple):
    """A passage with its sentences under labels.

    Attributes:
        text: One line a sentence, `[label] sentence`; headings have no label.
        quotes: What each label stands for.
    """

    text: str
    quotes: dict[str, Citation]


def citable_sentences(chunk: RetrievedChunk) -> tuple[Span, ...]:
    """Return the sentences of a chunk that may be evidence: headings are left out."""
    return tuple(span for span in split_sentences(chunk.chunk.text) if not _heading(chunk, span))


def labelled_passage(label: str, chunk: RetrievedChunk) -> LabelledPassage:
    """Return the sentences of a passage as `label.1`, `label.2` and so on.

    Args:
        label: Label of the passage; it occurs in no text of the request.
        chunk: The passage.
    """
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
