"""What the generator of claims is made of: citations, labelled claims and their classes."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, TypeAlias, TypeVar

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


_OWN = re.compile(r"(?:The|An?|You|Your|Customers|Members) [^\"“”()?!:;\n\u00ad]{20,150}\.")
_LEANS = re.compile(
    r"\b(?:this|that|these|those|they|them|it|its|their|he|she|his|her)\b", re.IGNORECASE
)


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of one file of material; nobody may change it."""
    file = resources.files("grounded_rag.testing.tamper") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


class Statement(NamedTuple):
    """A plain statement as a clause, with its relatives where they are known.

    Attributes:
        clause: The statement with a small first letter and without a full stop.
        past: The same for an earlier time, or "".
        later: The same for a coming time, or "".
        denied: Its opposite, or "".
        asks: The question whether it is so, or "".
        amount: Whether it names a price or a quantity.
        language: Its language.
    """

    clause: str
    past: str = ""
    later: str = ""
    denied: str = ""
    asks: str = ""
    amount: bool = False
    language: str = "en"

    @property
    def sentence(self) -> str:
        """The statement as a sentence."""
        return capital(self.clause) + stop(self.language)


def stop(language: str) -> str:
    """Return the full stop of a language."""
    return "。" if language in ("ja", "zh") else "."


def gap(language: str) -> str:
    """Return what stands between two sentences of a language."""
    return "" if language in ("ja", "zh") else " "


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """Return a text with a small first letter."""
    return text[:1].lower() + text[1:]


def own_statements() -> tuple[Statement, ...]:
    """Return the English statements of the generator's own."""
    return tuple(
        Statement(
            clause=row["is"], past=row["past"], later=row["later"], denied=row["not"],
            asks=row["asks"], amount=row.get("amount", False),
        )
        for row in read("statements")["statements"]
    )  # fmt: skip


def foreign_statements(language: str) -> tuple[Statement, ...]:
    """Return the statements of another language."""
    clauses = read("clauses")[language]["clauses"]
    return tuple(Statement(clause=clause, language=language) for clause in clauses)


def corpus_statements(pools: Pools) -> tuple[Statement, ...]:
    """Return the sentences of a corpus that can stand alone and inside a longer sentence."""
    texts = {s.text for s in pools.sentences if _OWN.fullmatch(s.text) and s.whole}
    return tuple(
        Statement(clause=small(text[:-1])) for text in sorted(texts) if not _LEANS.search(text)
    )


def fillers(language: str) -> tuple[str, ...]:
    """Return sentences that may stand beside others in a passage; none for some languages."""
    return tuple(read("whole").get(language, {}).get("sentences", ()))


def languages() -> tuple[str, ...]:
    """Return the languages that have whole sentences."""
    return tuple(read("whole"))


def passage(
    rng: random.Random,
    text: str,
    *,
    language: str = "en",
    near: Sequence[str] = (),
    block: bool = False,
    title: str = "",
    headings: tuple[str, ...] | None = None,
    number: int = 1,
) -> Passage:
    """Return a passage that holds a text, alone or with other sentences around it.

    Args:
        rng: Source of randomness.
        text: The text; it is kept as it stands.
        language: Its language, in which the other sentences are too.
        near: Sentences that may stand around it; by default the fillers of the language.
        block: Whether the text must stand in a paragraph of its own.
        title: Title of its document.
        headings: Headings above the passage; None for none or a plain one, by chance.
        number: Which passage of the claim it is; it gives the id.
    """
    others = [item for item in near or fillers(language) if item not in text]
    before, after = _beside(rng, others), _beside(rng, others)
    joint = "\n\n" if block else rng.choice([gap(language), gap(language), "\n\n"])
    whole = joint.join(part for part in (before, text, after) if part)
    if headings is None:
        plain = read("headings")["plain"].get(language, ())
        headings = (rng.choice(plain),) if plain and rng.random() < 0.3 else ()
    return Passage(
        id=f"p{number}", source=f"made-{number}", text=whole, title=title, headings=headings
    )


def _beside(rng: random.Random, others: Sequence[str]) -> str:
    return rng.choice(others) if others and rng.random() < 0.6 else ""
