"""Claims that stand in their source word by word, which does not assert them there."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from grounded_rag.testing.tamper.claim_data import (
    Statement,
    capital,
    corpus_statements,
    foreign_statements,
    gap,
    own_statements,
    read,
)
from grounded_rag.testing.tamper.claim_values import Cited, ClaimKind, Made, rounds
from grounded_rag.testing.tamper.surroundings import passage
from grounded_rag.testing.tamper.values import Pools

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


KINDS: tuple[ClaimKind, ...] = (
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
