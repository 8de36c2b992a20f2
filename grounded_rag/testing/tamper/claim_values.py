"""What the generator of claims is made of: citations, labelled claims and their classes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias, TypeVar

from grounded_rag.testing.tamper.values import Passage, Pools

Item = TypeVar("Item")


class Cited(NamedTuple):
    """A literal quote and the passage that it stands in."""

    passage: Passage
    quote: str


class LabelledClaim(NamedTuple):
    """A claim with its literal quotes.

    Attributes:
        kind: Name of the class.
        true: Whether the source asserts the claim.
        claim: The claim.
        cited: Its quotes, in the order in which they are cited.
        language: Language of the source, as a two-letter code.
        poison: Characters that must not reach a reader; a claim that ships without them is fine.
    """

    kind: str
    true: bool
    claim: str
    cited: tuple[Cited, ...]
    language: str = "en"
    poison: str = ""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The cited passages, each once."""
        return tuple({item.passage.id: item.passage for item in self.cited}.values())

    @property
    def quote(self) -> str:
        """The quotes as one text, for people."""
        return " […] ".join(item.quote for item in self.cited)


class Made(NamedTuple):
    """A claim that a class has made, before it gets the name and the label of the class."""

    claim: str
    cited: tuple[Cited, ...]
    language: str = "en"
    poison: str = ""


Stream: TypeAlias = Callable[[random.Random, Pools], Iterator[Made]]


class ClaimKind(NamedTuple):
    """One class of claims.

    Attributes:
        name: Short name.
        true: Whether the sources of its claims assert them.
        says: What the class does, for a person.
        stream: Yields claims for as long as its material lasts.
        near: Whether its true claims keep to the words of the source, other notation apart.
    """

    name: str
    true: bool
    says: str
    stream: Stream
    near: bool = True


ROUNDS = 12
"""How often a class goes through its material, each time with other surroundings."""


def rounds(rng: random.Random, material: Sequence[Item]) -> Iterator[Item]:
    """Yield the material of a class again and again, each time in another order."""
    for _ in range(ROUNDS):
        yield from rng.sample(material, len(material))
