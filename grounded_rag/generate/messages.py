"""From a request to the texts that a model reads, and back from its labels to chunk ids."""

from __future__ import annotations

import base64
import hashlib

from pydantic import Field

from grounded_rag.errors import QuestionError
from grounded_rag.generate.mending import KnownLabels, mending
from grounded_rag.generate.passages import sendable, show_passage
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.tokens import estimate_tokens
from grounded_rag.protocols import GenerationRequest
from grounded_rag.types import Citation, Frozen

_WRAPPING = " \t\r\n[](){}<>\"'`“”‘’"
_OVERHEAD = 40


class BuiltMessages(Frozen):
    """What a model is sent for one request.

    Attributes:
        system: System prompt: the same for every request, so that a provider can cache it.
        blocks: Text blocks of the user's turn, in order; none is blank. A passage is three:
            a line that opens it, its text, and a line that closes it.
        labels: Labels of the passages shown, in order, with the chunk ids they stand for.
        quotes: Labels of sentences with what they stand for; empty where quotes are copied.
        dropped: Ids of chunks left out because the token budget was used up or they are blank.
        estimated_tokens: Cautious estimate of the input's size.
    """

    system: str
    blocks: tuple[str, ...]
    labels: dict[str, str]
    quotes: dict[str, Citation] = Field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    estimated_tokens: int = 0

    def chunk_id(self, label: str) -> str:
        """Return the chunk id that `label` stands for.

        White space, brackets and quotation marks around a label are ignored. An unknown label
        is returned as it is: verification reports it.
        """
        return self.labels.get(label.strip(_WRAPPING), label)

    def citation(self, label: str) -> Citation:
        """Return the quote that a sentence's label stands for; an unknown one stays unknown."""
        return self.quotes.get(label.strip(_WRAPPING), Citation(chunk_id=label, quote=label))

    def with_note(self, note: str) -> BuiltMessages:
        """Return the same messages with one more block at the end."""
        return self.model_copy(update={"blocks": (*self.blocks, sendable(note))})


def build_messages(
    request: GenerationRequest, prompts: PromptSet, *, budget: int, labelled: bool = False
) -> BuiltMessages:
    """Lay out a request for a model. Pure: the same arguments give the same messages.

    Text of passages is never part of a template. It arrives as it is stored, but for words that
    a soft hyphen or a line end cuts (see `readable`) and for lone surrogates, which cannot be
    sent and become U+FFFD.

    Args:
        request: Question, chunks, and what to mend.
        prompts: The prompts.
        budget: Most input tokens, by `estimate_tokens`. The best-ranked chunks that fit are
            shown; the others are dropped and listed.
        labelled: Whether each sentence is shown under a label, for it to be named by.

    Raises:
        QuestionError: The question is blank.
    """
    if not request.question.strip():
        raise QuestionError("The question is empty.", hint="Ask something.")
    system = prompts.system(sendable(request.refusal), own_words=request.own_words)
    usable = [chunk for chunk in request.chunks if chunk.chunk.text.strip()]
    names = request_labels(request, prompts, len(usable))
    label_of = {chunk.chunk.id: label for label, chunk in zip(names, usable, strict=True)}
    shapes = [show_passage(label_of[c.chunk.id], c, labelled=labelled) for c in usable]
    named = {label: quote for shape in shapes for label, quote in shape.quotes.items()}
    tail = _tail(request, prompts, KnownLabels(label_of, named if labelled else None))
    spent = _OVERHEAD + sum(estimate_tokens(text) for text in (system, *tail))
    blocks: list[str] = []
    labels: dict[str, str] = {}
    quotes: dict[str, Citation] = {}
    for shape, chunk in zip(shapes, usable, strict=True):
        cost = sum(estimate_tokens(text) for text in shape.blocks)
        if spent + cost > budget:
            continue
        spent += cost
        blocks.extend(shape.blocks)
        quotes.update(shape.quotes)
        labels[label_of[chunk.chunk.id]] = chunk.chunk.id
    shown = set(labels.values())
    if len(quotes) < len(named):
        # No sentence of a passage that was left out may be offered for mending.
        tail = _tail(request, prompts, KnownLabels(label_of, quotes))
    return BuiltMessages(
        system=system,
        blocks=(*blocks, *tail),
        labels=labels,
        quotes=quotes,
        dropped=tuple(c.chunk.id for c in request.chunks if c.chunk.id not in shown),
        estimated_tokens=spent,
    )


def _tail(request: GenerationRequest, prompts: PromptSet, known: KnownLabels) -> list[str]:
    """Return the blocks behind the passages: the day, the question, and what to mend."""
    tail = [f"QUESTION\n{sendable(request.question)}"]
    if request.as_of is not None:
        tail.insert(0, f"AS OF {request.as_of.isoformat()}")
    if request.reask is not None:
        tail.append(mending(request.reask, prompts, known))
    return tail


def request_labels(request: GenerationRequest, prompts: PromptSet, count: int) -> tuple[str, ...]:
    """Return labels that occur in no text of the request, so that no document can forge one.

    They follow from the prompts alone unless a text happens to contain them: the tool's schema
    lists them, and a provider's cache of it and of the system prompt lives from staying equal.
    """
    texts = [request.question.upper()]
    for retrieved in request.chunks:
        chunk = retrieved.chunk
        texts.extend(
            text.upper()
            for text in (chunk.text, retrieved.title, retrieved.source, *chunk.headings)
        )
    attempt = 0
    while True:
        seed = "\x00".join((*prompts.fingerprint_parts, str(attempt)))
        digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
        mark = base64.b32encode(digest).decode()[: 4 + attempt // 64]
        if not any(mark in text for text in texts):
            return tuple(f"{mark}-{number}" for number in range(1, count + 1))
        attempt += 1
