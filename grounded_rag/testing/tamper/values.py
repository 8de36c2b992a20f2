"""What the fuzzer is made of: passages, sentences, edits, cases and kinds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from grounded_rag.types import Frozen, Span

Label: TypeAlias = Literal["tamper", "benign"]


class Passage(Frozen):
    """A stretch of a real document, as long as a chunk.

    Attributes:
        id: Name of the passage, unique in its corpus.
        source: The document or data set that it comes from.
        text: Its characters, unchanged.
        title: Title of its document.
        headings: Headings above it, the outermost first.
    """

    id: str
    source: str
    text: str
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


class Row(Frozen):
    """A row of a table written with pipes: its cells, none empty, and the passage it is in."""

    cells: tuple[str, ...]
    passage: Passage
    start: int
    text: str


class FuzzChunk(Frozen):
    """A chunk of one case."""

    id: str
    text: str


class FuzzCase(Frozen):
    """One labelled quote.

    Attributes:
        id: Name, unique in a run.
        kind: Name of the class that made it.
        label: "tamper": the quote must not be located; "benign": it must be.
        chunks: The retrieved chunks; the cited one is among them unless the class is about that.
        cited: Id of the cited chunk.
        quote: The quote to be checked.
        original: What the cited document really says in its place.
        expected: For a benign quote, the literal span of the cited chunk that must be returned.
        claim: The claim that cites it; "" for one in the words of the quote.
    """

    id: str
    kind: str
    label: Label
    chunks: tuple[FuzzChunk, ...]
    cited: str
    quote: str
    original: str
    expected: Span | None = None
    claim: str = ""

    @property
    def cited_text(self) -> str:
        """Text of the cited chunk, or "" where there is no such chunk."""
        return next((chunk.text for chunk in self.chunks if chunk.id == self.cited), "")


class Edit(NamedTuple):
    """A change to one sentence, before it is put back into its passage.

    Attributes:
        source: What stands in the chunk in place of the sentence.
        quote: What the quote says.
        start: First code point of `source` that a benign quote stands for.
        end: One past the last; None for the end of `source`.
    """

    source: str
    quote: str
    start: int = 0
    end: int | None = None


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


class Draw(NamedTuple):
    """What a class makes of its material, before it gets a name.

    Attributes:
        chunks: Texts of the chunks; the first one is cited unless `cited` says otherwise.
        quote: The quote.
        original: What the document really says.
        expected: Expected span of a benign quote.
        cited: Position of the cited chunk; None cites a chunk that does not exist.
    """

    chunks: tuple[str, ...]
    quote: str
    original: str
    expected: Span | None = None
    cited: int | None = 0


EditMaker: TypeAlias = Callable[[random.Random, str, Pools], Edit | None]
Maker: TypeAlias = Callable[[random.Random, Sentence, Pools], Draw | None]


class Kind(Frozen):
    """One class of quotes.

    Attributes:
        name: Short name.
        label: What the verifier must do with its quotes.
        says: What the class does, for a person.
        make: Pure function from randomness and material to a case, or None where the material
            has nothing to change.
        literal: Whether a quote of this class is meant to be literally in the cited chunk (a word
            cut in two is), so that the oracle must not drop it for that.
    """

    name: str
    label: Label
    says: str
    make: Maker
    literal: bool = False


def in_passage(maker: EditMaker) -> Maker:
    """Return a maker that puts the edited sentence back into its passage."""

    def make(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
        edit = maker(rng, sentence.text, pools)
        if edit is None:
            return None
        text = sentence.passage.text
        chunk = text[: sentence.start] + edit.source + text[sentence.end :]
        end = len(edit.source) if edit.end is None else edit.end
        return Draw(
            chunks=(chunk,),
            quote=edit.quote,
            original=edit.source,
            expected=Span(start=sentence.start + edit.start, end=sentence.start + end),
        )

    return make


def tamper(name: str, says: str, maker: EditMaker, *, literal: bool = False) -> Kind:
    """Return a class of meaning-changing edits within a sentence."""
    placed = in_passage(maker)

    def make(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
        draw = placed(rng, sentence, pools)
        return draw._replace(expected=None) if draw is not None else None

    return Kind(name=name, label="tamper", says=says, make=make, literal=literal)


def benign(name: str, says: str, maker: EditMaker) -> Kind:
    """Return a class of edits within a sentence that change its presentation only."""
    return Kind(name=name, label="benign", says=says, make=in_passage(maker), literal=True)


WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def one_of(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match of a pattern of ours in `text`, or None."""
    found = list(pattern.finditer(text))
    return rng.choice(found) if found else None


def inner(rng: random.Random, pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return a random match that touches neither end of the text, or None."""
    found = [m for m in pattern.finditer(text) if m.start() > 0 and m.end() < len(text) - 1]
    return rng.choice(found) if found else None


def put(text: str, found: re.Match[str], other: str) -> str:
    """Return `text` with `other` in the place of a match."""
    return text[: found.start()] + other + text[found.end() :]


def swap_listed(rng: random.Random, text: str, pairs: Sequence[tuple[str, str]]) -> Edit | None:
    """Replace one listed expression of `text` by its counterpart, keeping a capital letter."""
    pairs = list(pairs)
    rng.shuffle(pairs)
    for old, new in pairs:
        found = one_of(rng, _whole(old), text)
        if found is not None:
            return Edit(text, put(text, found, _like(found.group(), new)))
    return None


def swap_sequence(rng: random.Random, text: str, words: Sequence[str]) -> Edit | None:
    """Replace a word of a series by another one of it."""
    found = one_of(rng, _any_of(tuple(words)), text)
    if found is None:
        return None
    others = [word for word in words if word.lower() != found.group().lower()]
    return Edit(text, put(text, found, _like(found.group(), rng.choice(others))))


def _like(model: str, word: str) -> str:
    """Return `word` with a first capital where `model` has one."""
    return word[0].upper() + word[1:] if model[0].isupper() else word


@cache
def _whole(expression: str) -> re.Pattern[str]:
    left = r"(?<!\w)" if expression[0].isalpha() else ""
    right = r"(?!\w)" if expression[-1].isalpha() else ""
    fold = re.IGNORECASE if expression.islower() else 0
    return re.compile(left + re.escape(expression) + right, fold)


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    fold = re.IGNORECASE if words[0].islower() else 0
    return re.compile(rf"\b(?:{'|'.join(words)})\b", fold)
