"""A generator on Claude's own citations: it writes sentences, the provider says what they cite."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal
from weakref import WeakKeyDictionary

import anyio
import anyio.to_thread

from grounded_rag.config import DEFAULT_MODEL, MODEL_TIMEOUT
from grounded_rag.errors import QuestionError
from grounded_rag.generate.clients import anthropic_client, is_asynchronous
from grounded_rag.generate.messages import KnownLabels, asking_blocks, estimate_tokens
from grounded_rag.generate.passages import citable_sentences, passage_metadata, readable, sendable
from grounded_rag.generate.prompts import PromptSet
from grounded_rag.generate.provider_errors import provider_error
from grounded_rag.generate.responses import (
    Ending,
    ending_of,
    field_of,
    stop_word,
    undrafted,
    usage_of,
)
from grounded_rag.protocols import Generation, GenerationRequest
from grounded_rag.text.sentences import split_sentences
from grounded_rag.types import Citation, Claim, Draft, Frozen, RetrievedChunk, Span, Usage

_UNANSWERED = re.compile(r"(?m)^[ \t]*UNANSWERED:(.*)$")
_OVERHEAD = 40
_PROVIDER = "anthropic"

BlockForm = Literal["document", "search_result", "text"]
"""How passages are sent: sentence blocks of a document or of a search result, or plain text."""


class CitationsGenerator:
    """Asks Claude for an answer with its citations switched on.

    Each passage is sent cut into sentences, so that a pointer names whole sentences of ours. A
    sentence of the answer becomes a claim, its pointers become quotes of the stored text, and the
    same verifier judges them: a pointer that exists is not yet support. What Claude writes without
    a citation is an uncited claim and fails. There is no schema: the provider refuses citations
    and structured output in one request.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        client: Any | None = None,
        prompts: PromptSet | Path | str | None = None,
        blocks: BlockForm = "document",
        max_output_tokens: int = 2_048,
        max_input_tokens: int = 24_000,
        timeout: float = MODEL_TIMEOUT,
    ) -> None:
        """Choose model and limits; nothing is sent and no key is looked for yet.

        Args:
            model: Model's name; by default that of `config.DEFAULT_MODEL`.
            client: Your own client of the anthropic SDK; a blocking one runs in a thread.
            prompts: A prompt set of kind "citations", or a folder that holds one.
            blocks: How passages are sent; "text" lets the provider choose the sentences.
            max_output_tokens: Limit of one output; a cut output is tried once more with twice it.
            max_input_tokens: Limit of the input; the lowest-ranked passages beyond it are left out.
            timeout: Most seconds for one call, the SDK's own retries included.

        Raises:
            PromptError: The prompts lack what makes answers checkable.
        """
        self._model = (model or DEFAULT_MODEL).removeprefix(f"{_PROVIDER}/")
        self._client = client
        self._prompts = (
            prompts
            if isinstance(prompts, PromptSet)
            else PromptSet.load(None if prompts is None else Path(prompts), kind="citations")
        )
        self._blocks = blocks
        self._max_output_tokens = max_output_tokens
        self._max_input_tokens = max_input_tokens
        self._timeout = timeout
        # A client keeps connections that belong to the loop they were first used in.
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    @property
    def model(self) -> str:
        """The model, with its provider."""
        return f"{_PROVIDER}/{self._model}"

    @property
    def client(self) -> Any | None:
        """The client that was handed over, or None."""
        return self._client

    @property
    def timeout(self) -> float:
        """Most seconds for one call."""
        return self._timeout

    @property
    def prompts(self) -> PromptSet:
        """The prompts in force, for a policy's fingerprint."""
        return self._prompts

    async def generate(self, request: GenerationRequest) -> Generation:
        """Ask for an answer and return it as claims.

        Returns:
            The draft with real chunk ids; without a draft, `stop` says why.

        Raises:
            QuestionError: The question is blank.
            MissingKeyError: There are no credentials; found out before anything is sent.
            ProviderUnavailableError: Overloaded, unreachable or out of time.
            ProviderError: Any other failure, with the provider's own words.
        """
        if not request.question.strip():
            raise QuestionError("The question is empty.", hint="Ask something.")
        system = self._prompts.system(sendable(request.refusal), own_words=request.own_words)
        titles = {c.chunk.id: c.title or c.chunk.doc_id for c in request.chunks}
        tail = asking_blocks(request, self._prompts, KnownLabels(titles))
        spent = _OVERHEAD + sum(estimate_tokens(text) for text in (system, *tail))
        sent = _fitting(request.chunks, self._max_input_tokens - spent)
        name = f"{_PROVIDER}/{self._model}"
        if not sent:
            return Generation(draft=Draft(), detail="No passage fits into the token budget.")
        documents = [document for document, _ in sent]
        content = [_block(document, chunk, self._blocks) for document, chunk in sent]
        content += [{"type": "text", "text": text} for text in tail]
        limit = request.max_output_tokens or self._max_output_tokens
        usage = Usage()
        for enlarged in (False, True):
            response = await self._call(system, content, limit)
            usage += usage_of(response)
            ending = ending_of(response)
            # The stop reason comes first: what was cut or refused is never read.
            if ending is Ending.COMPLETE:
                return Generation(
                    draft=draft_of(response.content, documents), usage=usage, model=name
                )
            if ending is not Ending.CUT or enlarged:
                break
            limit *= 2
        return undrafted(ending, word=stop_word(response) or "", usage=usage, model=name)

    async def _call(self, system: str, content: list[dict[str, Any]], limit: int) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            self._clients[loop] = self._client or anthropic_client()
        client = self._clients[loop]
        arguments = {
            "model": self._model,
            "max_tokens": limit,
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": content}],
        }
        try:
            with anyio.fail_after(self._timeout):
                if is_asynchronous(client):
                    return await client.messages.create(**arguments)
                return await anyio.to_thread.run_sync(
                    partial(client.messages.create, **arguments), abandon_on_cancel=True
                )
        except Exception as error:
            raise provider_error(error, _PROVIDER) from error


def _fitting(
    chunks: Sequence[RetrievedChunk], budget: int
) -> list[tuple[SentDocument, RetrievedChunk]]:
    """Return the best-ranked chunks that fit, each with its citable sentences."""
    sent: list[tuple[SentDocument, RetrievedChunk]] = []
    for chunk in chunks:
        blocks = citable_sentences(chunk)
        about = json.dumps(passage_metadata(chunk), ensure_ascii=False)
        cost = estimate_tokens(chunk.chunk.text) + estimate_tokens(about)
        if not blocks or cost > budget:
            continue
        budget -= cost
        sent.append(
            (SentDocument(chunk_id=chunk.chunk.id, text=chunk.chunk.text, blocks=blocks), chunk)
        )
    return sent


def _block(document: SentDocument, chunk: RetrievedChunk, form: BlockForm) -> dict[str, Any]:
    about = passage_metadata(chunk)
    title = sendable(str(about.pop("title"))) or "untitled"
    context = sendable(json.dumps(about, ensure_ascii=False)) if about else ""
    sentences = [
        {"type": "text", "text": sendable(readable(span.of(document.text), within=document.text))}
        for span in document.blocks
    ]
    if form == "search_result":
        return {
            "type": "search_result",
            # The provider has no place of its own for dates here.
            "title": f"{title} {context}".strip(),
            "source": sendable(chunk.source) or title,
            "content": sentences,
            "citations": {"enabled": True},
        }
    source: dict[str, Any] = {"type": "content", "content": sentences}
    if form == "text":
        source = {"type": "text", "media_type": "text/plain", "data": sendable(document.text)}
    block = {
        "type": "document",
        "source": source,
        "title": title,
        "citations": {"enabled": True},
    }
    return {**block, "context": context} if context else block


class SentDocument(Frozen):
    """A chunk as it was sent: its sentences, each a citable block."""

    chunk_id: str
    text: str
    blocks: tuple[Span, ...]  # Citable sentences, in code points of `text`, in order


def draft_of(content: Sequence[Any], documents: Sequence[SentDocument]) -> Draft:
    """Return the draft that a response's text blocks amount to. Pure.

    Returns:
        One claim a sentence; a sentence without a pointer is an uncited claim, which verification
        rejects. Text without any pointer at all is `prose`: the refusal, or no answer. Lines
        `UNANSWERED: …` name open parts of the question. A pointer to nothing that was sent keeps
        the provider's words and an unknown chunk id, for verification to reject.
    """
    text = ""
    pieces: list[tuple[Span, tuple[Citation, ...]]] = []
    for block in content:
        if field_of(block, "type") != "text":
            continue
        written = sendable(str(field_of(block, "text") or ""))
        citations = tuple(
            citation
            for pointer in field_of(block, "citations") or ()
            for citation in _resolve(pointer, documents)
        )
        if citations:
            pieces.append((Span(start=len(text), end=len(text) + len(written)), citations))
        text += written
    unanswered = tuple(part.strip(" \t") for part in _UNANSWERED.findall(text) if part.strip(" \t"))
    # Blanked, not cut: the places of the pieces stay.
    text = _UNANSWERED.sub(lambda match: " " * len(match[0]), text)
    if not pieces:
        return Draft(prose=text.strip(), unanswered=unanswered)
    claims = (_claim(text, sentence, pieces) for sentence in split_sentences(text))
    return Draft(claims=tuple(claims), unanswered=unanswered)


def _claim(text: str, sentence: Span, pieces: Sequence[tuple[Span, tuple[Citation, ...]]]) -> Claim:
    found = (
        citation
        for span, citations in pieces
        if span.overlaps(sentence) and _shares_text(text, span, sentence)
        for citation in citations
    )
    return Claim(text=sentence.of(text), citations=tuple(dict.fromkeys(found)))


def _shares_text(text: str, piece: Span, sentence: Span) -> bool:
    """Whether a piece covers a letter or digit of a sentence, not its final stop alone."""
    shared = text[max(piece.start, sentence.start) : min(piece.end, sentence.end)]
    return any(character.isalnum() for character in shared)


def _resolve(pointer: Any, documents: Sequence[SentDocument]) -> Iterator[Citation]:
    kind = str(field_of(pointer, "type") or "")
    cited = sendable(str(field_of(pointer, "cited_text") or ""))
    field = "search_result_index" if kind == "search_result_location" else "document_index"
    index = field_of(pointer, field)
    if not isinstance(index, int) or not 0 <= index < len(documents):
        yield Citation(chunk_id=f"document {index}", quote=cited)
        return
    document = documents[index]
    spans = _spans(kind, pointer, document)
    if spans and any(_same(found, cited) for found in _readings(spans, document.text)):
        for span in spans:
            yield Citation(chunk_id=document.chunk_id, quote=span.of(document.text))
        return
    # The pointer and its words disagree: the words are judged, by the same verifier as any quote.
    yield Citation(chunk_id=document.chunk_id, quote=cited)


def _spans(kind: str, pointer: Any, document: SentDocument) -> tuple[Span, ...]:
    if kind == "char_location":
        start, end = field_of(pointer, "start_char_index"), field_of(pointer, "end_char_index")
        if _in_order(start, end, len(document.text)):
            return (_trimmed(document.text, start, end),)
        return ()
    if kind in ("content_block_location", "search_result_location"):
        start, end = field_of(pointer, "start_block_index"), field_of(pointer, "end_block_index")
        if _in_order(start, end, len(document.blocks)):
            return document.blocks[start:end]
    return ()


def _in_order(start: Any, end: Any, limit: int) -> bool:
    return isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= limit


def _trimmed(text: str, start: int, end: int) -> Span:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return Span(start=start, end=start + len(inner.strip()))


def _readings(spans: Sequence[Span], text: str) -> Iterator[str]:
    """Yield the words of some sentences as they are stored, and as they were shown."""
    yield "".join(span.of(text) for span in spans)
    yield "".join(readable(span.of(text), within=text) for span in spans)


def _same(found: str, cited: str) -> bool:
    """Whether the words at a pointer are those that the provider shows for it."""
    return not cited or "".join(sendable(found).split()) == "".join(cited.split())
