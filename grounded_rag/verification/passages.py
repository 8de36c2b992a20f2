"""The retrieved chunks of one verification, with what is worked out about each only once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

from grounded_rag.text.language import guess_language
from grounded_rag.text.lines import Line, LineKind, classify_lines, group_units
from grounded_rag.text.sentences import sentence_bounds
from grounded_rag.types import Chunk, RetrievedChunk
from grounded_rag.verification.characters import DAMAGED
from grounded_rag.verification.folding import FoldedText, Place, fold
from grounded_rag.verification.layout import Layout
from grounded_rag.verification.locate import Source

_HEADING_LINE = re.compile(r"[ \t]*#{1,6}[ \t][^\n]*")
_DAMAGE = re.compile(f"[{DAMAGED}]")


class Passage:
    """One retrieved chunk. Everything but the text is worked out when it is first asked for."""

    __slots__ = (
        "_context", "_damage", "_headings", "_language", "_layout", "_lines", "_sentences",
        "retrieved", "source", "statements",
    )  # fmt: skip

    def __init__(self, retrieved: RetrievedChunk) -> None:
        self.retrieved = retrieved
        self.source = Source(retrieved.chunk.text)
        self._sentences: list[tuple[int, int]] | None = None
        self._headings: tuple[Place, ...] | None = None
        self._damage: tuple[int, ...] | None = None
        self._context: FoldedText | None = None
        self._layout: Layout | None = None
        self._lines: list[Line] | None = None
        self._language: str | Literal[False] | None = False
        # Statements by where their sentence begins; `statements` makes them.
        self.statements: dict[int, Any] = {}

    @property
    def chunk(self) -> Chunk:
        """The chunk itself."""
        return self.retrieved.chunk

    @property
    def id(self) -> str:
        """Id of the chunk."""
        return self.retrieved.chunk.id

    @property
    def text(self) -> str:
        """Text of the chunk, which is all that counts as evidence."""
        return self.retrieved.chunk.text

    @property
    def sentences(self) -> list[tuple[int, int]]:
        """Start and end of each sentence of the text."""
        if self._sentences is None:
            self._sentences = sentence_bounds(self.text)
        return self._sentences

    @property
    def lines(self) -> list[Line]:
        """Every line of the text with its kind."""
        if self._lines is None:
            self._lines = classify_lines(self.text)
        return self._lines

    @property
    def layout(self) -> Layout:
        """Sentences of the text with their lines, cut where they are asked for."""
        if self._layout is None:
            self._layout = Layout(self.text)
        return self._layout

    @property
    def language(self) -> str | None:
        """Language of most of the text, or None where it is not clear."""
        if self._language is False:
            self._language = guess_language(self.text)
        return self._language

    @property
    def of_index(self) -> bool:
        """Whether the chunk was cut by this package, from a document that it knows."""
        return self.retrieved.document_hash is not None

    @property
    def has_headings(self) -> bool:
        """Whether it is known which parts of the text are headings."""
        return bool(self.chunk.heading_spans)

    def is_heading(self, start: int, end: int) -> bool:
        """Whether a sentence is a heading, as far as the chunk says."""
        spans = self.chunk.heading_spans
        return bool(spans) and any(h.start <= start and end <= h.end for h in spans)

    def behind_heading(self, start: int, end: int) -> int:
        """Return where a sentence goes on behind a heading that its first line is, or `start`."""
        inside = [h.end for h in self.chunk.heading_spans if h.start <= start < h.end < end]
        begin = max(inside, default=start)
        while begin < end and self.text[begin].isspace():
            begin += 1
        return begin

    @property
    def headings(self) -> tuple[Place, ...]:
        """Headings inside the text: navigation, never evidence."""
        if self._headings is None:
            spans = [Place(span.start, span.end) for span in self.chunk.heading_spans]
            if not spans and "#" in self.text:
                spans = [
                    Place(unit.start, unit.end)
                    for unit in group_units(self.text)
                    if unit.kind is LineKind.HEADING
                ]
            self._headings = tuple(spans)
        return self._headings

    @property
    def damage(self) -> tuple[int, ...]:
        """Where extraction lost a character, for the first hundred of them."""
        if self._damage is None:
            found = (match.start() for match in _DAMAGE.finditer(self.text))
            self._damage = tuple(position for position, _ in zip(found, range(100), strict=False))
        return self._damage

    @property
    def context(self) -> FoldedText:
        """Title, headings and metadata as they may have been shown to the model, folded."""
        if self._context is None:
            shown = [self.retrieved.title, self.retrieved.source, *self.chunk.headings]
            shown += [text for text in self.retrieved.metadata.values() if isinstance(text, str)]
            self._context = fold("\n".join(shown))
        return self._context

    def in_heading(self, place: Place) -> bool:
        """Whether `place` lies wholly inside a heading."""
        if not self.chunk.heading_spans:
            # Only the quote's own line is looked at: most lines do not begin like a heading.
            start = self.text.rfind("\n", 0, place.start) + 1
            line = _HEADING_LINE.match(self.text, start)
            return line is not None and place.end <= line.end()
        return any(
            heading.start <= place.start and place.end <= heading.end for heading in self.headings
        )


class Passages:
    """All retrieved chunks, by id. Their order means nothing."""

    __slots__ = ("_by_id",)

    def __init__(self, chunks: Iterable[RetrievedChunk]) -> None:
        self._by_id: dict[str, list[Passage]] = {}
        for retrieved in chunks:
            same_id = self._by_id.setdefault(retrieved.chunk.id, [])
            text = retrieved.chunk.text
            copy = next((known for known in same_id if known.text == text), None)
            if copy is None:
                same_id.append(Passage(retrieved))
            elif _stable(retrieved) < _stable(copy.retrieved):
                copy.retrieved = retrieved

    def __iter__(self) -> Iterator[Passage]:
        for passages in self._by_id.values():
            yield from passages

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def ids(self) -> Collection[str]:
        """Every id once."""
        return self._by_id.keys()

    def get(self, chunk_id: str) -> tuple[Passage, ...]:
        """Return the passages under an id: none, one, or several that contradict each other."""
        return tuple(self._by_id.get(chunk_id, ()))


def _stable(retrieved: RetrievedChunk) -> tuple[str, int, str]:
    """Order chunks by what they are, so that of two copies always the same one counts."""
    chunk = retrieved.chunk
    return chunk.doc_id, chunk.span.start, repr(retrieved.validity)
