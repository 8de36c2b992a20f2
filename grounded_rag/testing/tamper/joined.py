"""Claims put together from parts that the source keeps apart: sentences, list items, cells."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

from grounded_rag.testing.tamper.claim_values import (
    Cited,
    ClaimKind,
    Made,
    Statement,
    capital,
    corpus_statements,
    fillers,
    foreign_statements,
    gap,
    own_statements,
    passage,
    read,
    rounds,
    small,
)
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


JOINED_KINDS: tuple[ClaimKind, ...] = (
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


_FROM_CORPUS = 0.3


def filled(template: str, statement: Statement) -> str:
    """Return a template with a statement and its relatives in their places."""
    return template.format(
        S=capital(statement.clause),
        s=statement.clause,
        q=capital(statement.asks),
        n=capital(statement.denied),
    )


def _torn(
    rng: random.Random, text: str, statement: Statement, *, block: bool = False, long: float = 0.5
) -> Made:
    """Return the claim that a statement holds, quoted from a text that holds its words.

    Args:
        rng: Source of randomness.
        text: The text.
        statement: The statement.
        block: Whether the text must stand in a paragraph of its own.
        long: How often the whole text is quoted rather than the statement's words.
    """
    words = statement.clause if statement.clause in text else capital(statement.clause)
    quote = text if words not in text or rng.random() < long else words
    where = passage(rng, text, language=statement.language, block=block)
    return Made(statement.sentence, (Cited(where, quote),), statement.language)


def _english(rng: random.Random, pools: Pools) -> Iterator[Statement]:
    """Yield statements of the generator's own, and now and then a sentence of the corpus."""
    own, corpus = own_statements(), corpus_statements(pools)
    while True:
        yield rng.choice(corpus if corpus and rng.random() < _FROM_CORPUS else own)


def _frames(rng: random.Random, pools: Pools) -> Iterator[Made]:
    frames = [frame for group in read("frames")["en"].values() for frame in group]
    for frame, statement in zip(rounds(rng, frames), _english(rng, pools), strict=False):
        yield _torn(rng, capital(filled(frame, statement)), statement)


def _endings(rng: random.Random, pools: Pools) -> Iterator[Made]:
    known = read("endings")["en"]
    amounts = [statement for statement in own_statements() if statement.amount]
    endings = rounds(rng, [*known["any"], *known["amount"]])
    for ending, statement in zip(endings, _english(rng, pools), strict=False):
        said = rng.choice(amounts) if ending in known["amount"] else statement
        yield _torn(rng, filled(ending, said), said)


def _foreign(name: str, rng: random.Random) -> Iterator[tuple[str, Statement]]:
    """Yield texts of a file in other languages, each with a statement of its language."""
    known = read(name)
    material = [(code, t) for code in known if code != "en" for t in known[code]["any"]]
    for code, template in rounds(rng, material):
        yield template, rng.choice(foreign_statements(code))


def _foreign_frames(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for template, statement in _foreign("frames", rng):
        yield _torn(rng, capital(filled(template, statement)), statement)


def _foreign_endings(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for template, statement in _foreign("endings", rng):
        yield _torn(rng, filled(template, statement), statement)


def _restricted(rng: random.Random, statement: Statement, after: str) -> Made:
    text = statement.sentence + gap(statement.language) + after
    where = passage(rng, text, language=statement.language)
    quote = text if rng.random() < 0.3 else statement.sentence
    return Made(statement.sentence, (Cited(where, quote),), statement.language)


def _restrictions(rng: random.Random, pools: Pools) -> Iterator[Made]:
    known = read("restrictions")["en"]["any"]
    for after, statement in zip(rounds(rng, known), _english(rng, pools), strict=False):
        yield _restricted(rng, statement, after)


def _foreign_restrictions(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for after, statement in _foreign("restrictions", rng):
        yield _restricted(rng, statement, after)


def _tenses(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    material = [(s, form) for s in own_statements() for form in read("changes")["tense"]["sources"]]
    for statement, (template, claimed) in rounds(rng, material):
        forms = {"is": statement.clause, "past": statement.past, "later": statement.later}
        text = capital(template.format(**forms))
        where = passage(rng, text)
        yield Made(f"{capital(forms[claimed])}.", (Cited(where, text),))


def _questions(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for template in rounds(rng, read("voices")["asked"]["texts"] * 4):
        statement = rng.choice(own_statements())
        yield _torn(rng, filled(template, statement), statement, block=True, long=1)


def _asking(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for statement in rounds(rng, own_statements()):
        where = passage(rng, statement.sentence)
        yield Made(capital(statement.asks), (Cited(where, statement.sentence),))


def _voices(name: str) -> Sequence[str]:
    texts: Sequence[str] = read("voices")[name]["texts"]
    return texts


def _dialogues(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for template in rounds(rng, [*_voices("dialogue")] * 2):
        statement = rng.choice(own_statements())
        yield _torn(rng, filled(template, statement), statement, block=True)


def _withdrawn(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for template in rounds(rng, [*_voices("withdrawn")] * 2):
        statement = rng.choice(own_statements())
        yield _torn(rng, filled(template, statement), statement, block=True)


def _foreign_voices(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    known = read("voices")["other"]
    for code, template in rounds(rng, [(c, t) for c in known for t in known[c]]):
        statement = rng.choice(foreign_statements(code))
        yield _torn(rng, filled(template, statement), statement, block=True)


def _headings(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    known = read("headings")["denying"]
    for code, heading in rounds(rng, [(c, h) for c in known for h in known[c]]):
        own = own_statements() if code == "en" else foreign_statements(code)
        statement = rng.choice(own)
        text = statement.sentence
        outer = rng.choice(read("headings")["plain"][code])
        above: tuple[str, ...] = ()
        match rng.randrange(5):
            case 0:
                above = (heading,)
            case 1:
                above = (outer, heading)
            case 2:
                text = f"## {heading}\n\n{text}"
            case 3:
                text = f"**{heading}**\n\n{text}"
            case _:
                text = f"### {heading}\n- {text}"
        where = passage(rng, text, language=code, block=True, headings=above)
        yield Made(statement.sentence, (Cited(where, statement.sentence),), code)


TORN_KINDS: tuple[ClaimKind, ...] = (
    ClaimKind("frame", False, "torn out of what somebody says, doubts, asks or supposes", _frames),
    ClaimKind("frame_other", False, "the same in other languages", _foreign_frames),
    ClaimKind("ending", False, "cut off before an exception, a condition or a limit", _endings),
    ClaimKind("ending_other", False, "the same in other languages", _foreign_endings),
    ClaimKind("next_sentence", False, "taken back by the sentence behind it", _restrictions),
    ClaimKind("next_other", False, "the same in other languages", _foreign_restrictions),
    ClaimKind("tense", False, "what was or will be is, or the other way round", _tenses),
    ClaimKind("asked", False, "the source asks it", _questions),
    ClaimKind("question", False, "the claim is a question", _asking),
    ClaimKind("dialogue", False, "said by somebody whom the source corrects", _dialogues),
    ClaimKind("withdrawn", False, "struck out, commented out, unticked or revoked", _withdrawn),
    ClaimKind("voice_other", False, "dialogues and myths in other languages", _foreign_voices),
    ClaimKind("heading", False, "stands under a heading that denies it", _headings),
)
"""Classes whose claims stand in the source, which does not assert them."""
