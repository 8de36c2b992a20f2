"""Claims put together from parts that the source keeps apart: sentences, list items, cells."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from grounded_rag.testing.tamper.claim_data import (
    capital,
    fillers,
    gap,
    own_statements,
    read,
    small,
)
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, Made, rounds
from grounded_rag.testing.tamper.surroundings import passage
from grounded_rag.testing.tamper.values import Pools


def _from_two(
    rng: random.Random, first: str, second: str, claim: str, *, language: str = "en"
) -> Made:
    """Cite two sentences: in one quote, in two of one passage, or in two passages."""
    if rng.random() < 0.25:
        apart = (
            Cited(passage(rng, first, language=language), first),
            Cited(passage(rng, second, language=language, number=2), second),
        )
        return Made(claim, apart if rng.random() < 0.5 else apart[::-1], language)
    both = gap(language).join([first, second])
    where = passage(rng, both, language=language)
    quotes = rng.choice([(both,), (first, second), (second, first)])
    return Made(claim, tuple(Cited(where, quote) for quote in quotes), language)


def _tails(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    material = [
        (row["opens"], left, right, after)
        for row in read("splices")["tails"]
        for left, right in permutations(row["tails"], 2)
        for after in row["next"]
    ]
    for opens, left, right, after in rounds(rng, material):
        second = capital(after.format(tail=right))
        yield _from_two(rng, f"{opens} {left}.", second, f"{opens} {right}.")


def _subjects(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for row in rounds(rng, read("splices")["subjects"] * 3):
        pair = [row["first"], row["second"]]
        one, other = rng.sample(pair, 2)
        first, second = (f"{who} {does}." for who, does in pair)
        yield _from_two(rng, first, second, f"{one[0]} {other[1]}.")


def _foreign_splices(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for first, second, claim, code in rounds(rng, read("foreign")["splices"]):
        yield _from_two(rng, first, second, claim, language=code)


def _half_true(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Two sentences, of which the source asserts the first alone."""
    frames = [frame for group in read("frames")["en"].values() for frame in group]
    for frame in rounds(rng, frames):
        said = rng.choice(own_statements())
        first = rng.choice(fillers("en"))
        second = capital(frame.format(S=capital(said.clause), s=said.clause))
        yield _from_two(rng, first, second, f"{first} {said.sentence}")


def _reasons(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    known = read("splices")
    for row in rounds(rng, known["reasons"] * 3):
        joint = rng.choice(known["joints"])
        claim = row["first"].removesuffix(".") + joint + small(row["second"])
        yield _from_two(rng, row["first"], row["second"], claim)


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


def _denied_items(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for row in rounds(rng, read("lists")["false"]):
        item = rng.choice(row["items"])
        text = listed(rng, row["lead"], row["items"])
        quote = item if len(item) > 16 and rng.random() < 0.3 else list_quote(rng, text, item)
        where = passage(rng, text, block=True)
        yield Made(capital(row["claim"].format(item=item)), (Cited(where, quote),))


def _denied_statements(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for lead in rounds(rng, read("lists")["above"]["leads"] * 3):
        some = rng.sample(own_statements(), 3)
        text = listed(rng, lead, [statement.sentence for statement in some])
        claim = rng.choice(some).sentence
        where = passage(rng, text, block=True)
        yield Made(claim, (Cited(where, text if rng.random() < 0.3 else claim),))


def table_of(table: dict[str, Any]) -> tuple[str, list[str]]:
    """Return a table with pipes, and its rows alone."""
    head = f"| {' | '.join(table['header'])} |"
    rule = f"|{'|'.join(' --- ' for _ in table['header'])}|"
    rows = [f"| {' | '.join(row)} |" for row in table["rows"]]
    return "\n".join([head, rule, *rows]), rows


def _wrong_cells(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    cells = [
        (table, line, column)
        for table in read("tables")["tables"]
        for line in range(len(table["rows"]))
        for column in range(1, len(table["header"]))
    ]
    for table, line, column in rounds(rng, cells):
        row = table["rows"][line]
        others = [c for c in row[1:] if c != row[column]]
        others += [r[column] for r in table["rows"] if r[column] != row[column]]
        text, lines = table_of(table)
        where = passage(rng, text, language=table["language"], block=True, title=table["title"])
        names = {"row": row[0], "column": table["header"][column], "cell": rng.choice(others)}
        forms = ["{row}, {column}: {cell}", *read("tables")["sentences"].get(table["language"], ())]
        claim = rng.choice(forms).format(**names)
        yield Made(claim, (Cited(where, lines[line]),), table["language"])


KINDS: tuple[ClaimKind, ...] = (
    ClaimKind("splice", False, "one sentence with the end of another", _tails),
    ClaimKind("splice_subject", False, "the subject of one with the rest of another", _subjects),
    ClaimKind("splice_other", False, "such splices in other languages", _foreign_splices),
    ClaimKind("half_true", False, "two sentences, the second torn out of a frame", _half_true),
    ClaimKind("splice_reason", False, "two sentences joined by a reason of its own", _reasons),
    ClaimKind("list_denied", False, "an item of a list that denies or chooses", _denied_items),
    ClaimKind("list_statement", False, "a statement under such a lead-in", _denied_statements),
    ClaimKind("table_other", False, "the cell of another row or column", _wrong_cells),
)
"""Classes whose claims join what the source keeps apart."""
