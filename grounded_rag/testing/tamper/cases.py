"""What the fuzzer is made of: material from documents, labelled cases, and the classes of them.

A case is a quote or a claim with a label. Quotes are asked whether they stand in the chunk that
they cite, claims whether their literal quotes carry them.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple, TypeAlias

from grounded_rag.types import Citation, Frozen, Span

Label: TypeAlias = Literal["tamper", "benign", "false", "honest", "reworded"]
"""What a verifier must do: not locate a tampered quote and locate a benign one; not ship a false
claim in its own words and ship an honest one. A reworded claim is honest too, but other words
than the source's are not asked to ship."""

QUOTE_LABELS = frozenset({"tamper", "benign"})
TRUE_LABELS = frozenset({"benign", "honest", "reworded"})


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of one file of material; nobody may change it."""
    file = resources.files("grounded_rag.testing.tamper") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


class Passage(Frozen):
    """A stretch of a document, as long as a chunk.

    Attributes:
        id: Name of the passage, unique in its corpus.
        text: Its characters, unchanged.
        source: The document or data set that it comes from; "" for a document of its own.
        title: Title of its document.
        headings: Headings above it, the outermost first.
    """

    id: str
    text: str
    source: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()


class Sentence(Frozen):
    """A sentence, or a run of whole words of one, that stands once in its passage.

    Attributes:
        text: Its characters, a literal span of the passage.
        passage: The passage.
        start: Code point of the passage at which it starts.
        whole: Whether it is a whole sentence.
    """

    text: str
    passage: Passage
    start: int
    whole: bool = True

    @property
    def end(self) -> int:
        """Code point of the passage one past its last."""
        return self.start + len(self.text)

    def replaced(self, text: str) -> Passage:
        """Return the passage with another text in the place of the sentence."""
        whole = self.passage.text
        changed = whole[: self.start] + text + whole[self.end :]
        return self.passage.model_copy(update={"text": changed})


class Row(Frozen):
    """A row of a table written with pipes: its cells, none empty, and the passage it is in."""

    cells: tuple[str, ...]
    passage: Passage
    start: int
    text: str


class Pools(NamedTuple):
    """What a corpus offers besides the sentence at hand.

    Attributes:
        names: Names (runs of capitalised words) of the corpus.
        sentences: All its sentences.
        neighbours: The other sentences of a passage, by its id.
        rows: Table rows that have at least one neighbour, by passage id.
    """

    names: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    neighbours: dict[str, tuple[Sentence, ...]]
    rows: dict[str, tuple[Row, ...]]


class FuzzCase(Frozen):
    """One labelled quote, or one labelled claim with its literal quotes.

    Attributes:
        id: Name, unique in a run.
        kind: Name of the class that made it.
        label: What the verifier must do with it.
        chunks: The retrieved chunks; the cited ones are among them unless the class is about that.
        cited: Id of the cited chunk.
        quote: The quote to be checked.
        original: What the cited document really says in the place of the quote.
        expected: For a benign quote, the literal span of the cited chunk that must be returned.
        claim: The claim that cites it; "" for one in the words of the quote.
        further: Further quotes of a claim, in the order in which they are cited.
        language: Language of the source, as a two-letter code.
        poison: Characters that must not reach a reader; a claim that ships without them is fine.
    """

    id: str
    kind: str
    label: Label
    chunks: tuple[Passage, ...]
    cited: str
    quote: str
    original: str = ""
    expected: Span | None = None
    claim: str = ""
    further: tuple[Citation, ...] = ()
    language: str = "en"
    poison: str = ""

    @property
    def cited_text(self) -> str:
        """Text of the cited chunk, or "" where there is no such chunk."""
        return next((chunk.text for chunk in self.chunks if chunk.id == self.cited), "")

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All its quotes, with the ids of the chunks that they cite."""
        return (Citation(chunk_id=self.cited, quote=self.quote), *self.further)


class Cited(NamedTuple):
    """A quote and the passage that it is cited from."""

    passage: Passage
    quote: str


class Draw(NamedTuple):
    """What a class makes of its material, before it gets a name and a label.

    Attributes:
        cited: The quotes, in the order in which they are cited.
        claim: The claim; "" for one in the words of the quote.
        language: Language of the source.
        poison: Characters that must not reach a reader.
        original: What the document really says in the place of the quote.
        expected: Expected span of a benign quote.
        beside: Passages that are shown beside the cited ones.
        missing: Whether a chunk is cited that does not exist; the passage is shown all the same.
    """

    cited: tuple[Cited, ...]
    claim: str = ""
    language: str = "en"
    poison: str = ""
    original: str = ""
    expected: Span | None = None
    beside: tuple[Passage, ...] = ()
    missing: bool = False


Maker: TypeAlias = Callable[[random.Random, Sentence, Pools], Draw | None]
"""Makes a quote of a sentence, or None where there is nothing to change in it."""

Draws: TypeAlias = Callable[[random.Random, Pools], Iterator[Draw]]
"""Yields draws for as long as the material lasts; the same randomness gives the same ones."""


class Kind(Frozen):
    """One class of cases.

    Attributes:
        name: Short name.
        label: What the verifier must do with its cases.
        says: What the class does, for a person.
        draws: Makes its cases, without a name.
        make: For classes of quotes, what `draws` makes of one sentence.
    """

    name: str
    label: Label
    says: str
    draws: Draws
    make: Maker | None = None
