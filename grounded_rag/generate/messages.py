"""From a request to the texts that a model reads, and back from its labels to chunk ids."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import Field

from grounded_rag.errors import QuestionError
from grounded_rag.generate.passages import clip, readable, sendable, show_passage
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.protocols import FailedClaim, GenerationRequest, Reask
from grounded_rag.types import Citation, Claim, Frozen, Reason

SAFETY_FACTOR = 1.3
"""tiktoken only approximates other vendors' tokenizers: estimates are raised by this factor."""

_ENCODING = "o200k_base"


def estimate_tokens(text: str) -> int:
    """Return a cautious estimate of the tokens of `text`, the safety factor included.

    Uses tiktoken with the vocabulary that llama-index-core ships, so nothing is downloaded;
    where `TIKTOKEN_CACHE_DIR` is set already, that folder is used instead.
    """
    return math.ceil(_counter()(text) * SAFETY_FACTOR)


@cache
def _counter() -> Callable[[str], int]:
    import tiktoken

    if "TIKTOKEN_CACHE_DIR" not in os.environ and (bundled := _bundled_cache()):
        os.environ["TIKTOKEN_CACHE_DIR"] = bundled
    encoding = tiktoken.get_encoding(_ENCODING)
    # Without disallowed_special=() a text that holds "<|endoftext|>" raises.
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _bundled_cache() -> str | None:
    # The package is located, not imported: importing it takes seconds.
    spec = find_spec("llama_index")
    for root in spec.submodule_search_locations or () if spec else ():
        folder = Path(root) / "core" / "_static" / "tiktoken_cache"
        if folder.is_dir():
            return str(folder)
    return None


_MAX_CLAIMS = 8
_MAX_WORDS = 24
_NO_LABEL = (Reason.UNKNOWN_CHUNK, Reason.AMBIGUOUS_CHUNK)


class KnownLabels:
    """What the model of one request knows chunks and, in label mode, sentences by."""

    def __init__(
        self, label_of: Mapping[str, str], sentences: Mapping[str, Citation] | None = None
    ) -> None:
        """Take the passages' labels by chunk id, and what each sentence's label stands for.

        `sentences` is None where quotes are copied.
        """
        self._label_of = label_of
        self._sentences = sentences
        self._ids = sorted((key for key in label_of if len(key) > 3), key=len, reverse=True)

    @property
    def by_sentence(self) -> bool:
        """Whether the model names sentences instead of copying quotes."""
        return self._sentences is not None

    def chunk(self, chunk_id: str) -> str:
        """Return the label of a chunk; what is none stays as it is."""
        return self._label_of.get(chunk_id, chunk_id)

    def place(self, citation: Citation) -> list[str]:
        """Return the labels of the sentences that a quote is, stands in or takes in.

        Where there is none, what the model wrote as a label stays, and a chunk gets its own.
        """
        quote = _one_line(citation.quote)
        sentences = {
            label: _one_line(sentence.quote)
            for label, sentence in (self._sentences or {}).items()
            if sentence.chunk_id == citation.chunk_id
        }
        # A short sentence may stand in a longer one: the closest reading wins.
        for fits in (str.__eq__, str.__contains__, lambda one, quoted: one in quoted):
            if named := [label for label, one in sentences.items() if fits(one, quote)]:
                return named
        return [self.chunk(citation.chunk_id)]

    def relabel(self, text: str) -> str:
        """Put labels for chunk ids, longest first: the model knows labels only."""
        for chunk_id in self._ids:
            text = text.replace(chunk_id, self._label_of[chunk_id])
        return text

    def listed(self) -> str:
        """Return the labels of all sentences, as one range per passage."""
        ends: dict[str, tuple[str, str]] = {}
        for label, sentence in (self._sentences or {}).items():
            first, _ = ends.get(sentence.chunk_id, (label, label))
            ends[sentence.chunk_id] = (first, label)
        return ", ".join(
            first if first == last else f"{first} to {last}" for first, last in ends.values()
        )


def mending(reask: Reask, prompts: PromptSet, known: KnownLabels) -> str:
    """Return the text of a second attempt; its size has a limit that no draft can move."""
    failed = [_failed(item, known) for item in reask.failed[:_MAX_CLAIMS]]
    kept = [_claim(claim, known) for claim in reask.kept[:_MAX_CLAIMS]]
    return prompts.mend(failed=_json(failed), kept=_json(kept), note=sendable(clip(reask.note)))


def _failed(item: FailedClaim, known: KnownLabels) -> dict[str, Any]:
    entry = _claim(item.claim, known)
    entry["problem"] = clip(_problem(item, known))
    if item.apart:
        entry["apart"] = [clip(word) for word in item.apart[:_MAX_WORDS]]
    if item.nearest is not None:
        chunk_id = item.chunk_id or ""
        where: dict[str, Any] = {"chunk_id": clip(known.chunk(chunk_id))}
        if known.by_sentence:
            labels = known.place(Citation(chunk_id=chunk_id, quote=item.nearest))
            where = {"sentences": [clip(label) for label in labels[:_MAX_CLAIMS]]}
        entry["nearest"] = {**where, "text": clip(readable(item.nearest))}
    return entry


def _problem(item: FailedClaim, known: KnownLabels) -> str:
    if known.by_sentence and item.reason in _NO_LABEL:
        # The verifier's words list the ids of chunks, and a sentence is what has to be named.
        return f"It names a sentence that does not exist; the labels are {known.listed()}."
    return known.relabel(item.detail or item.reason.value)


def _claim(claim: Claim, known: KnownLabels) -> dict[str, Any]:
    cited = claim.citations[:_MAX_CLAIMS]
    arithmetic = {"arithmetic": clip(claim.arithmetic)} if claim.arithmetic else {}
    if known.by_sentence:
        labels = dict.fromkeys(clip(label) for each in cited for label in known.place(each))
        return {"text": clip(claim.text), "sentences": [*labels][:_MAX_CLAIMS], **arithmetic}
    return {
        "text": clip(claim.text),
        "citations": [
            {"chunk_id": clip(known.chunk(each.chunk_id)), "quote": clip(each.quote)}
            for each in cited
        ],
        **arithmetic,
    }


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json(values: Sequence[Any]) -> str:
    return sendable(json.dumps(values, ensure_ascii=False, indent=1))


_WRAPPING = " \t\r\n[](){}<>\"'`“”‘’"
_OVERHEAD = 40


class BuiltMessages(Frozen):
    """What a model is sent for one request."""

    system: str  # The same for every request, so that a provider can cache it
    # Text blocks of the user's turn; none is blank. A passage is three: opening line, text,
    # closing line.
    blocks: tuple[str, ...]
    labels: dict[str, str]  # Labels of the passages shown, in order, with their chunk ids
    # What the labels of sentences stand for; empty where quotes are copied.
    quotes: dict[str, Citation] = Field(default_factory=dict)
    dropped: tuple[str, ...] = ()  # Ids of chunks beyond the token budget, or blank
    estimated_tokens: int = 0  # Cautious estimate of the input's size

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
    sent and become U+FFFD. The best-ranked chunks that fit into `budget` tokens are shown; the
    others are listed as dropped. With `labelled` each sentence stands under a label.

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
    tail = asking_blocks(request, prompts, KnownLabels(label_of, named if labelled else None))
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
        tail = asking_blocks(request, prompts, KnownLabels(label_of, quotes))
    return BuiltMessages(
        system=system,
        blocks=(*blocks, *tail),
        labels=labels,
        quotes=quotes,
        dropped=tuple(c.chunk.id for c in request.chunks if c.chunk.id not in shown),
        estimated_tokens=spent,
    )


def asking_blocks(request: GenerationRequest, prompts: PromptSet, known: KnownLabels) -> list[str]:
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
