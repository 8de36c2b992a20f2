"""From a request to the texts that a model reads, and back from its labels to chunk ids."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import Field

from grounded_rag.errors import QuestionError
from grounded_rag.generate.labels import LabelledPassage, labelled_passage
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.tokens import estimate_tokens
from grounded_rag.protocols import FailedClaim, GenerationRequest, Reask
from grounded_rag.types import Citation, Claim, Frozen, RetrievedChunk

_SURROGATE = re.compile(r"[\ud800-\udfff]")
_WRAPPING = " \t\r\n[](){}<>\"'`“”‘’"
_MAX_CLAIMS = 8
_MAX_CHARACTERS = 700
_OVERHEAD = 40


class BuiltMessages(Frozen):
    """What a model is sent for one request.

    Attributes:
        system: System prompt: the same for every request, so that a provider can cache it.
        blocks: Text blocks of the user's turn, in order; none is blank. A passage is three:
            a line that opens it, its text unchanged, and a line that closes it.
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

    Text of passages is never part of a template and arrives unchanged; only lone surrogates,
    which cannot be sent, become U+FFFD.

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
    system = prompts.system(sendable(request.refusal))
    usable = [chunk for chunk in request.chunks if chunk.chunk.text.strip()]
    names = request_labels(request, prompts, len(usable))
    label_of = {chunk.chunk.id: label for label, chunk in zip(names, usable, strict=True)}
    question = f"QUESTION\n{sendable(request.question)}"
    tail = [question]
    if request.as_of is not None:
        tail.insert(0, f"AS OF {request.as_of.isoformat()}")
    shapes = {name: _passage(name, c, labelled) for name, c in zip(names, usable, strict=True)}
    if request.reask is not None:
        named = {quote: key for shape in shapes.values() for key, quote in shape.quotes.items()}
        tail.append(mending(request.reask, prompts, label_of, named if labelled else None))
    spent = _OVERHEAD + sum(estimate_tokens(text) for text in (system, *tail))
    blocks: list[str] = []
    labels: dict[str, str] = {}
    quotes: dict[str, Citation] = {}
    for (label, shape), chunk in zip(shapes.items(), usable, strict=True):
        cost = sum(estimate_tokens(text) for text in shape.blocks)
        if spent + cost > budget:
            continue
        spent += cost
        blocks.extend(shape.blocks)
        quotes.update(shape.quotes)
        labels[label] = chunk.chunk.id
    shown = set(labels.values())
    return BuiltMessages(
        system=system,
        blocks=(*blocks, *tail),
        labels=labels,
        quotes=quotes,
        dropped=tuple(c.chunk.id for c in request.chunks if c.chunk.id not in shown),
        estimated_tokens=spent,
    )


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


class _Passage(NamedTuple):
    """The blocks of one passage, and what the labels of its sentences stand for."""

    blocks: tuple[str, str, str]
    quotes: dict[str, Citation]


def _passage(label: str, retrieved: RetrievedChunk, labelled: bool) -> _Passage:
    about = json.dumps(passage_metadata(retrieved), ensure_ascii=False)
    shown = LabelledPassage(retrieved.chunk.text, {})
    if labelled:
        shown = labelled_passage(label, retrieved)
    return _Passage(
        (f"PASSAGE {label} {sendable(about)}", sendable(shown.text), f"END OF {label}"),
        shown.quotes,
    )


def passage_metadata(retrieved: RetrievedChunk) -> dict[str, Any]:
    """Return title, section and dates: what tells passages apart, as JSON, never as text."""
    validity = retrieved.validity
    dates = {
        name: value.isoformat()
        for name in ("effective_from", "valid_until", "superseded_on", "reviewed_on", "updated_at")
        if (value := getattr(validity, name)) is not None
    }
    about: dict[str, Any] = {"title": _clip(retrieved.title or retrieved.source)}
    if retrieved.chunk.headings:
        about["section"] = [_clip(heading) for heading in retrieved.chunk.headings]
    about.update(dates)
    if validity.superseded_by is not None:
        about["superseded"] = True
    return about


def mending(
    reask: Reask,
    prompts: PromptSet,
    label_of: Mapping[str, str],
    sentences: Mapping[Citation, str] | None = None,
) -> str:
    """Return the text of a second attempt; its size has a limit that no draft can move.

    Args:
        reask: What to mend.
        prompts: The prompts.
        label_of: What the model knows a chunk by.
        sentences: Labels of quoted sentences, where the model knows quotes by labels.
    """
    failed = [_failed(item, label_of, sentences) for item in reask.failed[:_MAX_CLAIMS]]
    kept = [_claim(claim, label_of, sentences) for claim in reask.kept[:_MAX_CLAIMS]]
    return prompts.mend(
        failed=_json(failed), kept=_json(kept), note=sendable(_clip(reask.note)) or "none"
    )


def _failed(
    item: FailedClaim, label_of: Mapping[str, str], sentences: Mapping[Citation, str] | None
) -> dict[str, Any]:
    entry = _claim(item.claim, label_of, sentences)
    entry["problem"] = _clip(_relabel(item.detail or item.reason.value, label_of))
    if item.nearest is not None:
        entry["nearest"] = {
            "chunk_id": label_of.get(item.chunk_id or "", item.chunk_id or ""),
            "text": _clip(item.nearest),
        }
    return entry


def _claim(
    claim: Claim, label_of: Mapping[str, str], sentences: Mapping[Citation, str] | None
) -> dict[str, Any]:
    cited = claim.citations[:_MAX_CLAIMS]
    arithmetic = {"arithmetic": _clip(claim.arithmetic)} if claim.arithmetic else {}
    if sentences is not None:
        labels = [_clip(sentences.get(citation, citation.chunk_id)) for citation in cited]
        return {"text": _clip(claim.text), "sentences": labels, **arithmetic}
    return {
        "text": _clip(claim.text),
        "citations": [
            {
                "chunk_id": _clip(label_of.get(citation.chunk_id, citation.chunk_id)),
                "quote": _clip(citation.quote),
            }
            for citation in cited
        ],
        **arithmetic,
    }


def _relabel(text: str, label_of: Mapping[str, str]) -> str:
    """Put labels for chunk ids, longest first: the model knows labels only."""
    for chunk_id in sorted(label_of, key=len, reverse=True):
        if len(chunk_id) > 3:
            text = text.replace(chunk_id, label_of[chunk_id])
    return text


def _json(values: Sequence[Any]) -> str:
    return sendable(json.dumps(values, ensure_ascii=False, indent=1))


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_CHARACTERS else text[:_MAX_CHARACTERS] + " […]"


def sendable(text: str) -> str:
    """Return `text` with lone surrogates, which cannot be sent, as U+FFFD: as long as before."""
    return _SURROGATE.sub("\ufffd", text)
