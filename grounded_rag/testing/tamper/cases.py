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

from pydantic import Field

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
    """A stretch of a document, as long as a chunk."""

    id: str  # unique in its corpus
    text: str
    source: str = ""  # its document or data set; "" for a document of its own
    title: str = ""
    headings: tuple[str, ...] = ()


class Sentence(Frozen):
    """A sentence, or a run of whole words of one, that stands once in its passage."""

    text: str
    passage: Passage
    start: int  # code point of the passage
    whole: bool = True

    @property
    def end(self) -> int:
        """One past its last code point of the passage."""
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
    """What a corpus offers besides the sentence at hand."""

    names: tuple[str, ...]  # runs of capitalised words
    sentences: tuple[Sentence, ...]
    neighbours: dict[str, tuple[Sentence, ...]]  # the sentences of a passage, by its id
    rows: dict[str, tuple[Row, ...]]  # of tables with several rows, by passage id


class FuzzCase(Frozen):
    """One labelled quote, or one labelled claim with its literal quotes."""

    id: str = Field(description="Name, unique in a run.")
    kind: str = Field(description="Name of the class that made it.")
    label: Label = Field(description="What the verifier must do with it.")
    chunks: tuple[Passage, ...] = Field(
        description="The retrieved chunks; the cited ones are among them, but for classes about it."
    )
    cited: str = Field(description="Id of the cited chunk.")
    quote: str = Field(description="The quote to be checked.")
    original: str = Field(
        default="", description="What the cited document says in the place of the quote."
    )
    expected: Span | None = Field(
        default=None, description="Literal span of the chunk that a benign quote must be given."
    )
    claim: str = Field(default="", description='The claim; "" for one in the words of the quote.')
    further: tuple[Citation, ...] = Field(default=(), description="Further quotes of a claim.")
    language: str = Field(default="en", description="Two-letter code of the source's language.")
    poison: str = Field(
        default="", description="Characters that must not reach a reader; without them it is fine."
    )

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
    """What a class makes of its material, before it gets a name and a label; see `FuzzCase`."""

    cited: tuple[Cited, ...]
    claim: str = ""
    language: str = "en"
    poison: str = ""
    original: str = ""
    expected: Span | None = None
    beside: tuple[Passage, ...] = ()  # shown beside the cited passages
    missing: bool = False  # a chunk is cited that does not exist; the passage is shown all the same


Maker: TypeAlias = Callable[[random.Random, Sentence, Pools], Draw | None]
"""Makes a quote of a sentence, or None where there is nothing to change in it."""

Draws: TypeAlias = Callable[[random.Random, Pools], Iterator[Draw]]
"""Yields draws for as long as the material lasts; the same randomness gives the same ones."""


class Kind(Frozen):
    """One class of cases: its name, what it does in words, and what makes the cases."""

    name: str
    label: Label
    says: str
    draws: Draws
    make: Maker | None = None  # for classes of quotes, what `draws` makes of one sentence
