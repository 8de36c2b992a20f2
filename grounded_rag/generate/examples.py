"""Worked examples of a prompt, shown in the very form that a model meets and answers in."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import tomllib
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from grounded_rag.generate.passages import passage_metadata, show_passage
from grounded_rag.types import Chunk, Citation, Claim, Draft, Frozen, RetrievedChunk, Span, Validity

ExampleForm = Literal["copy", "label", "citations"]
"""How evidence is pointed at: quotes copied, sentences by label, or the provider's citations."""


class _Part(Frozen):
    """A part of an example; a key that is not known is a slip of the pen."""

    model_config = ConfigDict(extra="forbid")


class ExamplePassage(_Part):
    """A passage of an example."""

    text: str
    title: str = ""
    section: tuple[str, ...] = ()
    effective_from: dt.date | None = None
    valid_until: dt.date | None = None


class ExampleQuote(_Part):
    """A quote, copied from the passage of that number."""

    quote: str = Field(min_length=1)
    passage: int = Field(default=1, ge=1)


class ExampleClaim(_Part):
    """A claim that the answer gives."""

    text: str
    quotes: tuple[ExampleQuote, ...] = Field(min_length=1)


class ExampleAnswer(_Part):
    """What is to be answered."""

    claims: tuple[ExampleClaim, ...]
    unanswered: tuple[str, ...] = ()


class Example(_Part):
    """A question with passages, and its answer in either wording.

    Attributes:
        shows: What the example is for, in a few words.
        question: The question.
        as_of: The day to answer for, or None.
        passages: What may be cited.
        source: The answer in whole sentences of the passages.
        own: The answer in words of its own.
    """

    shows: str
    question: str
    as_of: dt.date | None = None
    passages: tuple[ExamplePassage, ...] = Field(min_length=1)
    source: ExampleAnswer
    own: ExampleAnswer

    @model_validator(mode="after")
    def _check(self) -> Example:
        """Refuse an example that breaks the rules which it should show."""
        for answer in (self.source, self.own):
            for quote in (quote for claim in answer.claims for quote in claim.quotes):
                if quote.passage > len(self.passages):
                    raise ValueError(f"there is no passage {quote.passage}")
                if quote.quote not in self.passages[quote.passage - 1].text:
                    raise ValueError(f"the quote {quote.quote!r} is not in its passage")
            for part in answer.unanswered:
                if part not in self.question:
                    raise ValueError(f"{part!r} is no part of the question")
        return self

    def chunks(self, number: int) -> tuple[RetrievedChunk, ...]:
        """Return the passages as chunks; their ids are the labels that they are shown under.

        Args:
            number: Number of the example.
        """
        return tuple(
            _chunk(f"EX{number}-{rank}", rank, passage)
            for rank, passage in enumerate(self.passages, start=1)
        )

    def draft(self, number: int, *, own_words: bool) -> Draft:
        """Return the answer as the draft that it stands for."""
        answer = self.own if own_words else self.source
        claims = tuple(
            Claim(
                text=claim.text,
                citations=tuple(
                    Citation(chunk_id=f"EX{number}-{quote.passage}", quote=quote.quote)
                    for quote in claim.quotes
                ),
            )
            for claim in answer.claims
        )
        return Draft(claims=claims, unanswered=answer.unanswered)


class _Examples(_Part):
    examples: tuple[Example, ...]


def read_examples(text: str) -> tuple[Example, ...]:
    """Read examples from TOML.

    Raises:
        ValueError: The text is no TOML of that shape, or an example breaks its own rules.
    """
    return _Examples.model_validate(tomllib.loads(text)).examples


def show_examples(examples: tuple[Example, ...], form: ExampleForm, *, own_words: bool) -> str:
    """Return the examples as a part of a system prompt.

    Args:
        examples: The examples.
        form: How evidence is pointed at.
        own_words: Whether claims are in words of their own.
    """
    shown = (
        _with_citations(number, example, own_words)
        if form == "citations"
        else _with_tool(number, example, own_words, labelled=form == "label")
        for number, example in enumerate(examples, start=1)
    )
    return "\n\n".join(shown)


def _with_tool(number: int, example: Example, own_words: bool, *, labelled: bool) -> str:
    draft = example.draft(number, own_words=own_words)
    lines = [f"## {example.shows}", ""]
    labels: dict[Citation, str] = {}
    for chunk in example.chunks(number):
        passage = show_passage(chunk.chunk.id, chunk, labelled=labelled)
        lines += passage.blocks
        labels.update({sentence: label for label, sentence in passage.quotes.items()})
    lines += _asked(example)
    claims = [
        _labelled(claim, labels)
        if labelled
        else {"citations": [c.model_dump() for c in claim.citations], "text": claim.text}
        for claim in draft.claims
    ]
    given = {"claims": claims, "unanswered": list(draft.unanswered)}
    return "\n".join((*lines, "", "Input of the tool:", json.dumps(given, ensure_ascii=False)))


def _labelled(claim: Claim, labels: dict[Citation, str]) -> dict[str, Any]:
    named = [
        label
        for quote in claim.citations
        for sentence, label in labels.items()
        if sentence.chunk_id == quote.chunk_id and quote.quote in sentence.quote
    ]
    return {"sentences": named, "text": claim.text}


def _with_citations(number: int, example: Example, own_words: bool) -> str:
    draft = example.draft(number, own_words=own_words)
    lines = [f"## {example.shows}", ""]
    for chunk in example.chunks(number):
        about = json.dumps(passage_metadata(chunk), ensure_ascii=False)
        lines += [f"DOCUMENT {about}", chunk.chunk.text]
    lines += [*_asked(example), "", "Answer:"]
    for claim in draft.claims:
        lines.append(claim.text)
        lines += [f"  cites: {citation.quote}" for citation in claim.citations]
    return "\n".join((*lines, *(f"UNANSWERED: {part}" for part in draft.unanswered)))


def _asked(example: Example) -> list[str]:
    day = [] if example.as_of is None else [f"AS OF {example.as_of.isoformat()}"]
    return [*day, "QUESTION", example.question]


def _chunk(label: str, rank: int, passage: ExamplePassage) -> RetrievedChunk:
    # A TOML text in three quotation marks begins behind its first line end, and may end in one.
    text = passage.text.strip()
    return RetrievedChunk(
        chunk=Chunk(
            id=label,
            doc_id=label,
            span=Span(start=0, end=len(text)),
            text=text,
            content_hash=hashlib.sha256(text.encode()).hexdigest(),
            headings=passage.section,
        ),
        rank=rank,
        title=passage.title,
        validity=Validity(effective_from=passage.effective_from, valid_until=passage.valid_until),
    )
