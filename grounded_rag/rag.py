"""`GroundedRAG`: the facade. Questions go to `pipeline`, options to `options`."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from pydantic import JsonValue

from grounded_rag._sync import BackgroundLoop
from grounded_rag.answer import Answer
from grounded_rag.config import Policy
from grounded_rag.errors import ConfigError
from grounded_rag.events import Event, Final
from grounded_rag.options import (
    OpenIndex,
    Options,
    make_parts,
    resolve_embedding,
)
from grounded_rag.pipeline import answer_question
from grounded_rag.protocols import Generator, Reader, Retriever
from grounded_rag.types import Instant, Verification
from grounded_rag.validity import parse_instant, today_utc
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verifier import averify

if TYPE_CHECKING:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.retrievers import BaseRetriever

    from grounded_rag.index.records import IndexStatus
    from grounded_rag.ingest.update import IngestProgress, IngestReport


class GroundedRAG:
    """Answers questions from documents with verified quotes, or refuses.

    Example:
        >>> rag = GroundedRAG.from_corpus("handbook/")        # doctest: +SKIP
        >>> answer = rag.query("How long is the notice period?")   # doctest: +SKIP
        >>> answer.text, answer.claims[0].located[0].quote    # doctest: +SKIP

    Use it as a context manager, or call `close()`, to stop its background loop and files.
    """

    def __init__(self, retriever: Retriever, **options: Unpack[Options]) -> None:
        """Answer from any retriever; `open` and `from_corpus` bring their own.

        Args:
            retriever: Finds chunks for a question.
            options: See `Options`.

        Raises:
            ConfigError: Options do not fit together.
            PromptError: The prompts folder lacks what makes answers checkable.
        """
        self._parts = make_parts(retriever, options)
        self._loop = BackgroundLoop()
        self._index: OpenIndex | None = None
        self._readers: dict[str, Reader] = {}
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls,
        path: Path | str,
        *,
        embedding: BaseEmbedding | Literal["default"] | None = "default",
        readers: Mapping[str, Reader] | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Answer from an index folder.

        Args:
            path: Folder that `ingest` has made.
            embedding: The LlamaIndex embedding that the index was made with; None searches by
                words alone.
            readers: Readers of one's own by suffix, for later calls of `ingest`.
            options: See `Options`.

        Raises:
            ConfigError: The reranker cannot be read, or options do not fit together.
            IndexNotFoundError: There is no index.
            IndexMismatchError: It was made by another embedding model or schema version.
        """
        from grounded_rag.index.reranking import make_rerankers
        from grounded_rag.ingest.readers import check_readers

        own_readers = check_readers(readers)
        # Here they stand inside the retriever, which knows what has been superseded.
        rerankers = make_rerankers(options.pop("reranker", None))
        index = OpenIndex(Path(path), embedding)
        try:
            if options.get("generator", "extractive") == "extractive":
                options["generator"] = index.generator(options.pop("threshold", None))
            policy = options.get("policy", Policy())
            rag = cls(index.retriever(policy, rerankers=rerankers), **options)
        except BaseException:
            index.close()
            raise
        rag._index = index
        rag._readers = own_readers
        return rag

    @classmethod
    def from_corpus(
        cls,
        folder: Path | str,
        *,
        index: Path | str | None = None,
        embedding: BaseEmbedding | Literal["default"] | None = "default",
        readers: Mapping[str, Reader] | None = None,
        progress: Callable[[IngestProgress], object] | None = None,
        **options: Unpack[Options],
    ) -> Self:
        """Ingest a folder, or what has changed in it, and answer from it.

        Args:
            folder: Folder with documents, and a `manifest.toml` where dates matter.
            index: Folder of the index. Without one, a temporary folder is used and deleted by
                `close()`; name one to ingest only what changed the next time.
            embedding: LlamaIndex embedding; None searches by words alone.
            readers: Readers of one's own by suffix, as in `{".rst": MyReader()}`; they come before
                the built-in ones, and later calls of `ingest` use them too.
            progress: Called as ingestion goes on.
            options: See `Options`.

        Raises:
            InputError: The folder is missing, empty or has a broken manifest.
            ReadError: No document of it can be read.
        """
        from grounded_rag.ingest.update import update_index

        temporary = None
        if index is None:
            temporary = tempfile.TemporaryDirectory(prefix="grounded-rag-")
            index = temporary.name
        try:
            resolved = resolve_embedding(embedding)
            update_index(
                [Path(folder)],
                index=Path(index),
                embedding=resolved,
                readers=readers,
                progress=progress,
            )
            rag = cls.open(index, embedding=resolved, readers=readers, **options)
        except BaseException:
            if temporary is not None:
                temporary.cleanup()
            raise
        rag._temporary = temporary
        return rag

    def query(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Answer:
        """Answer a question; a refusal is an answer too, with a typed reason.

        Args:
            question: The question.
            as_of: Moment for which the answer should hold; today in UTC by default.
            filters: Metadata that documents must carry; a list means any of its values.

        Raises:
            QuestionError: The question is empty.
            ProviderError: The named provider failed.
            ReceiptError: The receipt cannot be saved.
        """
        return self._loop.run(partial(self.aquery, question, as_of=as_of, filters=filters))

    async def aquery(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Answer:
        """Answer a question; the asynchronous twin of `query`."""
        return await answer_question(
            question,
            parts=self._parts,
            as_of=parse_instant(as_of) or today_utc(),
            filters=filters,
        )

    def stream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
        rejected_text: bool = False,
    ) -> Iterator[Event]:
        """Answer a question, and tell what happens on the way; the last event is the answer.

        Under the policy `refuse` claims come when all of them have passed; under `drop` each
        comes as soon as it has passed, if the generator can stream. A claim that was told is in
        the answer: nothing is taken back. The answer is the one that `query` gives for the same
        drafts. Ending the iteration early cancels the question.

        Args:
            question: The question.
            as_of: Moment for which the answer should hold; today in UTC by default.
            filters: Metadata that documents must carry; a list means any of its values.
            rejected_text: Whether events may carry the text of claims that did not pass.

        Raises:
            QuestionError: The question is empty.
            ProviderError: The named provider failed, also in the middle of a stream; then there
                is no last event.
            ReceiptError: The receipt cannot be saved.
        """
        return self._loop.iterate(
            partial(
                self.astream, question, as_of=as_of, filters=filters, rejected_text=rejected_text
            )
        )

    async def astream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
        rejected_text: bool = False,
    ) -> AsyncGenerator[Event]:
        """Answer a question, and tell what happens on the way; the twin of `stream`."""
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        work = asyncio.ensure_future(
            answer_question(
                question,
                parts=self._parts,
                as_of=parse_instant(as_of) or today_utc(),
                filters=filters,
                listener=events.put_nowait,
                rejected_text=rejected_text,
            )
        )
        work.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield Final(answer=await work)
        finally:
            # Whoever stops listening stops the work: no call goes on unseen.
            if not work.done():
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
            elif not work.cancelled():
                # Taken note of, so that asyncio does not log it as never retrieved.
                work.exception()

    def ingest(
        self,
        *paths: Path | str,
        strict: bool = False,
        readers: Mapping[str, Reader] | None = None,
        progress: Callable[[IngestProgress], object] | None = None,
    ) -> IngestReport:
        """Bring the index up to date with folders or files; unchanged ones cost no embedding.

        Args:
            paths: Folders or files.
            strict: Raise on the first file that cannot be read, before anything is written.
            readers: Further readers by suffix, for this call; see `from_corpus`.
            progress: Called as ingestion goes on.

        Raises:
            ConfigError: This object was made from a retriever and has no index.
            IndexLockedError: Another process is writing.
            InputError: A folder is missing, empty or has a broken manifest.
        """
        from grounded_rag.ingest.readers import check_readers
        from grounded_rag.ingest.update import update_index

        index = self._need_index("ingest")
        return update_index(
            [Path(path) for path in paths],
            index=index.path,
            embedding=index.embedding,
            strict=strict,
            readers={**self._readers, **check_readers(readers)},
            progress=progress,
        )

    def verify(
        self,
        draft: object,
        chunks: Iterable[Any],
        *,
        question: str | None = None,
        as_of: Instant | str | None = None,
    ) -> Verification:
        """Verify a draft of another stack under this object's rules, as `query` would.

        Arguments are those of `grounded_rag.averify`.
        """
        check = partial(
            averify,
            draft,
            chunks,
            question=question,
            as_of=parse_instant(as_of),
            rules=self.rules,
        )
        return self._loop.run(check)

    @property
    def loop(self) -> BackgroundLoop:
        """The background loop that serves the blocking calls."""
        return self._loop

    @property
    def generator(self) -> Generator:
        """The generator that writes the drafts."""
        return self._parts.generator

    @property
    def rules(self) -> Rules:
        """What counts as support here and what decides it; for `verify` and `Verifier` too."""
        return self._parts.rules

    @property
    def index_path(self) -> Path | None:
        """Folder of the index, or None where this object was made from a retriever."""
        return None if self._index is None else self._index.path

    def status(self) -> IndexStatus:
        """Return what the index holds.

        Raises:
            ConfigError: This object was made from a retriever and has no index.
        """
        return self._need_index("status").index.status()

    def as_retriever(self, *, as_of: Instant | str | None = None) -> BaseRetriever:
        """Return a LlamaIndex retriever over the same chunks, with their offsets and validity."""
        from grounded_rag.llama import GroundedRetriever

        return GroundedRetriever(
            self._parts.retriever,
            k=self._parts.policy.k,
            as_of=parse_instant(as_of),
            loop=self._loop,
        )

    def as_query_engine(self, *, as_of: Instant | str | None = None) -> BaseQueryEngine:
        """Return a LlamaIndex query engine whose responses are verified answers."""
        from grounded_rag.llama import GroundedQueryEngine

        return GroundedQueryEngine(
            partial(self.aquery, as_of=parse_instant(as_of)), loop=self._loop
        )

    def close(self) -> None:
        """Stop the background loop and close the index; a temporary index is deleted."""
        self._loop.close()
        if self._index is not None:
            self._index.close()
            self._index = None
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _need_index(self, what: str) -> OpenIndex:
        if self._index is None:
            raise ConfigError(
                f"`{what}` needs an index, and this object has none.",
                hint="Make it with GroundedRAG.open(...) or GroundedRAG.from_corpus(...).",
            )
        return self._index
