"""Claims that look like a whole statement with a harmless edit, and say something else."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from grounded_rag.testing.tamper.claim_data import (
    Statement,
    capital,
    fillers,
    foreign_statements,
    own_statements,
    read,
)
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, Made, rounds
from grounded_rag.testing.tamper.surroundings import passage
from grounded_rag.testing.tamper.values import Passage, Pools


def _leading(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    known: Mapping[str, list[str]] = read("mirrors")["leading"]
    for language, template in rounds(rng, [(c, t) for c in known for t in known[c]]):
        own = own_statements() if language == "en" else foreign_statements(language)
        statement = rng.choice(own)
        text = template.format(s=statement.clause)
        where = passage(rng, text, language=language)
        yield Made(statement.sentence, (Cited(where, text),), language)


def subject_of(statement: Statement) -> str:
    """Return the words that a statement shares with its past: those in front of its verb."""
    shared = []
    for now, then in zip(statement.clause.split(), statement.past.split(), strict=False):
        if now != then:
            break
        shared.append(now)
    return " ".join(shared)


def _inserted(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Leave out what stands between the subject and the verb."""
    for insertion in rounds(rng, read("mirrors")["inserted"]["en"]):
        statement = rng.choice(own_statements())
        subject = subject_of(statement)
        text = f"{capital(subject)}{insertion}{statement.clause.removeprefix(subject)}."
        where = passage(rng, text)
        yield Made(statement.sentence, (Cited(where, text),))


def _pronouns(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for row in rounds(rng, read("mirrors")["pronoun"]["pairs"]):
        text = f"{row.get('before', '')} {row['source']}".strip()
        headings = (row["heading"],) if "heading" in row else ()
        text = f"{text} {rng.choice(fillers('en'))}" if rng.random() < 0.5 else text
        where = Passage(id="p1", source="made-1", text=text, headings=headings)
        yield Made(row["claim"], (Cited(where, row["source"]),))


def _organisations(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for row in rounds(rng, read("mirrors")["organisation"]["pairs"]):
        where = passage(rng, row["source"], title=row["title"])
        yield Made(row["claim"], (Cited(where, row["source"]),))


def _pairs(name: str, rng: random.Random, *, block: bool = False) -> Iterator[Made]:
    for source, claim in rounds(rng, read("mirrors")[name]["pairs"]):
        where = passage(rng, source, block=block)
        yield Made(claim, (Cited(where, source),))


def _notations(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("notation", rng)


def _articles(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("article", rng)


def _contractions(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("contraction", rng)


def _debris(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("debris", rng, block=True)


KINDS: tuple[ClaimKind, ...] = (
    ClaimKind("leading_lost", False, "a leading word dropped that does more than link", _leading),
    ClaimKind("insertion_lost", False, "what stands behind the subject dropped", _inserted),
    ClaimKind("pronoun_other", False, "a name that the pronoun does not stand for", _pronouns),
    ClaimKind("organisation_other", False, "an organisation that is not we", _organisations),
    ClaimKind("notation_other", False, "another value in a similar notation", _notations),
    ClaimKind("article_other", False, "few is a few", _articles),
    ClaimKind("contraction_other", False, "can for can't", _contractions),
    ClaimKind("debris", False, "paragraph, page and citation numbers taken for text", _debris),
)
"""Classes whose claims go one step further than a licence."""
