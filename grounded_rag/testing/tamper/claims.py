"""What classes of claims are made of: statements, pairs, tables and lists, put into passages.

Most claims are about material of the fuzzer's own, in `data/`, which no verifier has seen.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from grounded_rag.testing.tamper.cases import Cited, Draw, Draws, Kind, Passage, Pools, read

Item = TypeVar("Item")

ROUNDS = 12
"""How often a class goes through its material, each time with other surroundings."""


def false(name: str, says: str, draws: Draws) -> Kind:
    """Return a class of claims that their sources do not assert."""
    return Kind(name=name, label="false", says=says, draws=draws)


def honest(name: str, says: str, draws: Draws) -> Kind:
    """Return a class of claims that keep to the words of their sources."""
    return Kind(name=name, label="honest", says=says, draws=draws)


def rounds(rng: random.Random, items: Sequence[Item]) -> Iterator[Item]:
    """Yield the material of a class again and again, each time in another order."""
    for _ in range(ROUNDS):
        yield from rng.sample(items, len(items))


def each(
    texts: Callable[[random.Random, Pools], Iterator[tuple[str, Item]]],
    make: Callable[[random.Random, str, Item], Draw],
) -> Draws:
    """Return the claims that a maker makes of each text, with what belongs to it."""

    def draws(rng: random.Random, pools: Pools) -> Iterator[Draw]:
        for text, item in texts(rng, pools):
            yield make(rng, text, item)

    return draws


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
    """Return a passage that holds a text as it stands, alone or with other sentences around it.

    These are from `near`, or fillers of the language; with `block` the text has a paragraph of its
    own. Without headings there is none or a plain one, by chance. `number`, which passage of the
    claim it is, gives the id.
    """
    others = [item for item in near or fillers(language) if item not in text]
    before, after = _beside(rng, others), _beside(rng, others)
    joint = "\n\n" if block else rng.choice([gap(language), gap(language), "\n\n"])
    whole = joint.join(part for part in (before, text, after) if part)
    if headings is None:
        plain = read("headings")["plain"].get(language, ())
        headings = (rng.choice(plain),) if plain and rng.random() < 0.3 else ()
    return made_passage(whole, title=title, headings=headings, number=number)


def _beside(rng: random.Random, others: Sequence[str]) -> str:
    return rng.choice(others) if others and rng.random() < 0.6 else ""


def made_passage(
    text: str, *, title: str = "", headings: tuple[str, ...] = (), number: int = 1
) -> Passage:
    """Return a passage of exactly this text."""
    return Passage(
        id=f"p{number}", source=f"made-{number}", text=text, title=title, headings=headings
    )


def material(name: str, *keys: str) -> Any:
    """Return what stands in a file of material where some keys lead to."""
    found: Any = read(name)
    for key in keys:
        found = found[key]
    return found


class Pair(NamedTuple):
    """A sentence of a source and a claim about it, with what stands around the sentence."""

    source: str
    claim: str
    language: str = "en"
    title: str = ""
    near: tuple[str, ...] = ()


def pair_of(row: Any) -> Pair:
    """Return a pair as the files of material write it: a table, or a list of its parts."""
    return Pair(**row) if isinstance(row, dict) else Pair(*row)


def pairs(*path: str, block: bool = False, read_row: Callable[[Any], Pair] = pair_of) -> Draws:
    """Return the claims of pairs that stand in a file of material, where some keys lead to."""

    def draws(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
        yield from of_pairs(rng, [read_row(row) for row in material(*path)], block=block)

    return draws


def of_pairs(rng: random.Random, known: Sequence[Pair], *, block: bool = False) -> Iterator[Draw]:
    """Yield the claims of pairs, each source in a passage."""
    for pair in rounds(rng, known):
        where = passage(
            rng, pair.source, language=pair.language, near=pair.near, title=pair.title, block=block
        )
        yield Draw((Cited(where, pair.source),), pair.claim, pair.language)


class Statement(NamedTuple):
    """A plain statement as a clause, with its relatives where they are known."""

    clause: str  # with a small first letter and without a full stop
    past: str = ""  # the same for an earlier time
    later: str = ""  # the same for a coming time
    denied: str = ""  # its opposite
    asks: str = ""  # the question whether it is so
    amount: bool = False  # names a price or a quantity
    language: str = "en"

    @property
    def sentence(self) -> str:
        """The statement as a sentence."""
        return capital(self.clause) + stop(self.language)

    @property
    def subject(self) -> str:
        """The words in front of the verb: those that the statement shares with its past."""
        shared = []
        for now, then in zip(self.clause.split(), self.past.split(), strict=False):
            if now != then:
                break
            shared.append(now)
        return " ".join(shared)

    def claimed(self, where: Passage, quote: str) -> Draw:
        """Return the statement as a claim that cites a quote."""
        return Draw((Cited(where, quote),), self.sentence, self.language)


@cache
def statements(language: str = "en") -> tuple[Statement, ...]:
    """Return the plain statements of a language; only the English ones have relatives."""
    if language != "en":
        clauses = read("clauses")[language]["clauses"]
        return tuple(Statement(clause=clause, language=language) for clause in clauses)
    return tuple(
        Statement(
            clause=row["is"], past=row["past"], later=row["later"], denied=row["not"],
            asks=row["asks"], amount=row.get("amount", False),
        )
        for row in read("statements")["statements"]
    )  # fmt: skip


_STANDS_ALONE = re.compile(
    r"(?:The|An?|You|Your|Customers|Members) [^\"“”()?!:;\n\u00ad]{20,150}\."
)
_LEANS = re.compile(
    r"\b(?:this|that|these|those|they|them|it|its|their|he|she|his|her)\b", re.IGNORECASE
)


def corpus_statements(pools: Pools) -> tuple[Statement, ...]:
    """Return the sentences of a corpus that can stand alone and inside a longer sentence."""
    texts = {s.text for s in pools.sentences if _STANDS_ALONE.fullmatch(s.text) and s.whole}
    return tuple(
        Statement(clause=small(text[:-1])) for text in sorted(texts) if not _LEANS.search(text)
    )


def fillers(language: str) -> tuple[str, ...]:
    """Return sentences that may stand beside others in a passage; none for some languages."""
    return tuple(read("whole").get(language, {}).get("sentences", ()))


def languages() -> tuple[str, ...]:
    """Return the languages that have whole sentences."""
    return tuple(read("whole"))


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


def listed(rng: random.Random, lead: str, items: Sequence[str]) -> str:
    """Return a list under its lead-in, with one of several marks."""
    mark = rng.choice(["- ", "* ", "• ", "{n}. ", "({a}) ", "– "])
    lines = [
        mark.format(n=place + 1, a="abcdefgh"[place]) + item for place, item in enumerate(items)
    ]
    return "\n".join([lead + rng.choice(["\n", ""]), *lines]).replace("\n\n\n", "\n\n")


def list_quote(rng: random.Random, text: str, item: str) -> str:
    """Return a quote of a list that holds its lead-in and an item: to that item, or the whole."""
    return text if rng.random() < 0.5 else text[: text.rindex(item) + len(item)]


def table_of(table: dict[str, Any]) -> tuple[str, list[str]]:
    """Return a table with pipes, and its rows alone."""
    head = f"| {' | '.join(table['header'])} |"
    rule = f"|{'|'.join(' --- ' for _ in table['header'])}|"
    rows = [f"| {' | '.join(row)} |" for row in table["rows"]]
    return "\n".join([head, rule, *rows]), rows


class Cell(NamedTuple):
    """A cell of a table, by the numbers of its row and column."""

    table: dict[str, Any]
    line: int
    column: int

    @property
    def row(self) -> list[str]:
        """The cells of its row, the label first."""
        found: list[str] = self.table["rows"][self.line]
        return found

    @property
    def heading(self) -> str:
        """The heading of its column."""
        found: str = self.table["header"][self.column]
        return found

    def passage(self, rng: random.Random) -> Passage:
        """Return a passage that holds its table."""
        table = self.table
        text, _rows = table_of(table)
        return passage(rng, text, language=table["language"], block=True, title=table["title"])

    def stated(self, where: Passage, form: str, *, column: str, content: str) -> Draw:
        """Return a claim that cites the row of the cell."""
        claim = form.format(row=self.row[0], column=column, cell=content)
        quote = table_of(self.table)[1][self.line]
        return Draw((Cited(where, quote),), claim, self.table["language"])


def cells(rng: random.Random) -> Iterator[Cell]:
    """Yield the cells of all tables, row labels apart."""
    yield from rounds(
        rng,
        [
            Cell(table, line, column)
            for table in read("tables")["tables"]
            for line in range(len(table["rows"]))
            for column in range(1, len(table["header"]))
        ],
    )
