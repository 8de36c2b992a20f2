"""False claims about material of the fuzzer's own.

They are torn out of a text that does not assert them, joined from parts that the source keeps
apart, altered by a word or a character, or go one step further than a licensed edit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations
from typing import Any, TypeAlias

from grounded_rag.testing.tamper.cases import Cited, Draw, Kind, Pools, read
from grounded_rag.testing.tamper.characters import HOMOGLYPHS
from grounded_rag.testing.tamper.claims import (
    Pair,
    Statement,
    capital,
    cells,
    corpus_statements,
    each,
    false,
    fillers,
    gap,
    list_quote,
    listed,
    made_passage,
    material,
    of_pairs,
    pairs,
    passage,
    rounds,
    small,
    statements,
)
from grounded_rag.testing.tamper.quotes import put

_FROM_CORPUS = 0.3


Said: TypeAlias = Callable[[random.Random, Pools], Iterator[tuple[str, Statement]]]
"""Yields texts in which a statement is left out, each with a statement."""


def _english(*path: str, times: int = 1, corpus: bool = True) -> Said:
    """Return English texts with statements of ours and, at times, sentences of the corpus."""

    def said(rng: random.Random, pools: Pools) -> Iterator[tuple[str, Statement]]:
        own, others = statements(), corpus_statements(pools) if corpus else ()
        for text in rounds(rng, _texts(*path) * times):
            yield text, rng.choice(others if others and rng.random() < _FROM_CORPUS else own)

    return said


def _texts(*path: str) -> list[str]:
    """Return the texts of a file of material, those of all groups below some keys."""
    found = material(*path)
    groups = found.values() if isinstance(found, dict) else [found]
    return [text for group in groups for text in group]


def _endings(rng: random.Random, pools: Pools) -> Iterator[tuple[str, Statement]]:
    amounts = [statement for statement in statements() if statement.amount]
    for ending, statement in _english("endings", "en")(rng, pools):
        of_amount = ending in read("endings")["en"]["amount"]
        yield ending, rng.choice(amounts) if of_amount else statement


def _by_language(*path: str, leave_out: str = "") -> Said:
    """Return the texts of all languages but one, each with a statement of its language."""

    def said(rng: random.Random, _pools: Pools) -> Iterator[tuple[str, Statement]]:
        codes = [code for code in material(*path) if code != leave_out]
        for code, text in rounds(rng, [(c, text) for c in codes for text in _texts(*path, c)]):
            yield text, rng.choice(statements(code))

    return said


_foreign = partial(_by_language, leave_out="en")


def _torn(
    rng: random.Random,
    template: str,
    statement: Statement,
    *,
    block: bool = False,
    long: float = 0.5,
) -> Draw:
    """Return a statement as a claim, quoted from a text that holds its words.

    `long` is how often the whole text is quoted rather than the statement's words.
    """
    text = _filled(template, statement)
    words = statement.clause if statement.clause in text else capital(statement.clause)
    quote = text if words not in text or rng.random() < long else words
    where = passage(rng, text, language=statement.language, block=block)
    return statement.claimed(where, quote)


def _filled(template: str, statement: Statement) -> str:
    clause = statement.clause
    return capital(
        template.format(
            S=capital(clause), s=clause, q=capital(statement.asks), n=capital(statement.denied)
        )
    )


def _taken_back(rng: random.Random, after: str, statement: Statement) -> Draw:
    text = statement.sentence + gap(statement.language) + after
    where = passage(rng, text, language=statement.language)
    return statement.claimed(where, text if rng.random() < 0.3 else statement.sentence)


def _tenses(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    forms_of = [(s, form) for s in statements() for form in read("changes")["tense"]["sources"]]
    for statement, (template, claimed) in rounds(rng, forms_of):
        forms = {"is": statement.clause, "past": statement.past, "later": statement.later}
        text = capital(template.format(**forms))
        yield Draw((Cited(passage(rng, text), text),), f"{capital(forms[claimed])}.")


def _asking(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for statement in rounds(rng, statements()):
        where = passage(rng, statement.sentence)
        yield Draw((Cited(where, statement.sentence),), capital(statement.asks))


def _under_heading(rng: random.Random, heading: str, statement: Statement) -> Draw:
    text, language = statement.sentence, statement.language
    outer = rng.choice(read("headings")["plain"][language])
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
    where = passage(rng, text, language=language, block=True, headings=above)
    return statement.claimed(where, statement.sentence)


_torn_block = partial(_torn, block=True)

TORN: tuple[Kind, ...] = (
    false("frame", "torn out of what somebody says, doubts, asks or supposes",
          each(_english("frames", "en"), _torn)),
    false("frame_other", "the same in other languages", each(_foreign("frames"), _torn)),
    false("ending", "cut off before an exception, a condition or a limit", each(_endings, _torn)),
    false("ending_other", "the same in other languages", each(_foreign("endings"), _torn)),
    false("next_sentence", "taken back by the sentence behind it",
          each(_english("restrictions", "en"), _taken_back)),
    false("next_other", "the same in other languages",
          each(_foreign("restrictions"), _taken_back)),
    false("tense", "what was or will be is, or the other way round", _tenses),
    false("asked", "the source asks it",
          each(_english("voices", "asked", times=4, corpus=False),
               partial(_torn_block, long=1))),
    false("question", "the claim is a question", _asking),
    false("dialogue", "said by somebody whom the source corrects",
          each(_english("voices", "dialogue", times=2, corpus=False), _torn_block)),
    false("withdrawn", "struck out, commented out, unticked or revoked",
          each(_english("voices", "withdrawn", times=2, corpus=False), _torn_block)),
    false("voice_other", "dialogues and myths in other languages",
          each(_by_language("voices", "other"), _torn_block)),
    false("heading", "stands under a heading that denies it",
          each(_by_language("headings", "denying"), _under_heading)),
)  # fmt: skip
"""Classes whose claims stand in the source, which does not assert them."""


def _from_two(
    rng: random.Random, first: str, second: str, claim: str, language: str = "en"
) -> Draw:
    """Cite two sentences: in one quote, in two of one passage, or in two passages."""
    if rng.random() < 0.25:
        apart = (
            Cited(passage(rng, first, language=language), first),
            Cited(passage(rng, second, language=language, number=2), second),
        )
        return Draw(apart if rng.random() < 0.5 else apart[::-1], claim, language)
    both = gap(language).join([first, second])
    where = passage(rng, both, language=language)
    quotes = rng.choice([(both,), (first, second), (second, first)])
    return Draw(tuple(Cited(where, quote) for quote in quotes), claim, language)


def _tails(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    splices = [
        (row["opens"], left, right, after)
        for row in read("splices")["tails"]
        for left, right in permutations(row["tails"], 2)
        for after in row["next"]
    ]
    for opens, left, right, after in rounds(rng, splices):
        second = capital(after.format(tail=right))
        yield _from_two(rng, f"{opens} {left}.", second, f"{opens} {right}.")


def _subjects(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for row in rounds(rng, read("splices")["subjects"] * 3):
        pair = [row["first"], row["second"]]
        one, other = rng.sample(pair, 2)
        first, second = (f"{who} {does}." for who, does in pair)
        yield _from_two(rng, first, second, f"{one[0]} {other[1]}.")


def _foreign_splices(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for parts in rounds(rng, read("foreign")["splices"]):
        yield _from_two(rng, *parts)


def _half_true(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    """Two sentences, of which the source asserts the first alone."""
    for frame in rounds(rng, _texts("frames", "en")):
        said = rng.choice(statements())
        first = rng.choice(fillers("en"))
        yield _from_two(rng, first, _filled(frame, said), f"{first} {said.sentence}")


def _reasons(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    known = read("splices")
    for row in rounds(rng, known["reasons"] * 3):
        joint = rng.choice(known["joints"])
        claim = row["first"].removesuffix(".") + joint + small(row["second"])
        yield _from_two(rng, row["first"], row["second"], claim)


def _denied_items(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for row in rounds(rng, read("lists")["false"]):
        item = rng.choice(row["items"])
        text = listed(rng, row["lead"], row["items"])
        quote = item if len(item) > 16 and rng.random() < 0.3 else list_quote(rng, text, item)
        where = passage(rng, text, block=True)
        yield Draw((Cited(where, quote),), capital(row["claim"].format(item=item)))


def _denied_statements(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for lead in rounds(rng, read("lists")["above"]["leads"] * 3):
        some = rng.sample(statements(), 3)
        text = listed(rng, lead, [statement.sentence for statement in some])
        claim = rng.choice(some).sentence
        where = passage(rng, text, block=True)
        yield Draw((Cited(where, text if rng.random() < 0.3 else claim),), claim)


def _wrong_cells(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for cell in cells(rng):
        table, right = cell.table, cell.row[cell.column]
        others = [other for other in cell.row[1:] if other != right]
        others += [row[cell.column] for row in table["rows"] if row[cell.column] != right]
        forms = ["{row}, {column}: {cell}", *read("tables")["sentences"].get(table["language"], ())]
        where, wrong = cell.passage(rng), rng.choice(others)
        yield cell.stated(where, rng.choice(forms), column=cell.heading, content=wrong)


JOINED: tuple[Kind, ...] = (
    false("splice", "one sentence with the end of another", _tails),
    false("splice_subject", "the subject of one with the rest of another", _subjects),
    false("splice_other", "such splices in other languages", _foreign_splices),
    false("half_true", "two sentences, the second torn out of a frame", _half_true),
    false("splice_reason", "two sentences joined by a reason of its own", _reasons),
    false("list_denied", "an item of a list that denies or chooses", _denied_items),
    false("list_statement", "a statement under such a lead-in", _denied_statements),
    false("table_other", "the cell of another row or column", _wrong_cells),
)
"""Classes whose claims join what the source keeps apart."""


_BRACKETS = re.compile(r"\[([^\]]*)\]")


def without(marked: str) -> tuple[str, str]:
    """Return a marked sentence whole, and without the part that stands in its brackets."""
    rest = " ".join(_BRACKETS.sub("", marked).split())
    return _BRACKETS.sub(r"\1", marked), capital(re.sub(r"\s+([.,])", r"\1", rest))


def _dropped(row: Any) -> Pair:
    """Return the pair of a marked sentence, which may stand with its language."""
    marked, *language = [row] if isinstance(row, str) else row
    return Pair(*without(marked), *language)


def _negations(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    denied = []
    for code, group in read("negations").items():
        # A language without fillers has its own denied statements around it.
        near = () if fillers(code) else tuple(source for source, _ in group["pairs"])
        denied += [Pair(source, claim, code, near=near) for source, claim in group["pairs"]]
    yield from of_pairs(rng, denied)


def _corpus_words(rng: random.Random, pools: Pools) -> Iterator[Draw]:
    lost = "|".join(re.escape(word) for word in read("changes")["dropped"]["lost"])
    pattern = re.compile(rf"(?<=\s)(?:{lost})\s(?=\S)", re.IGNORECASE)
    for sentence in rounds(rng, [s for s in pools.sentences if pattern.search(s.text)]):
        claim = put(sentence.text, rng.choice(list(pattern.finditer(sentence.text))), "")
        if claim not in sentence.passage.text:
            yield Draw((Cited(sentence.passage, sentence.text),), claim)


_NUMBER = re.compile(r"\d[\d.,]*\d")
_WORD = re.compile(r"[A-Za-z]{4,}")
_TAGGED = "not true"


def _spoofs(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    sources = [*fillers("en"), *(item.sentence for item in statements())]
    makers = (_override, _invisible, _overlaid, _lookalike, _tagged)
    for source in rounds(rng, sources):
        claim, poison = rng.choice(makers)(rng, source)
        if claim != source:
            yield Draw((Cited(passage(rng, source), source),), claim, poison=poison)


def _place(rng: random.Random, text: str) -> re.Match[str]:
    return rng.choice(list(_NUMBER.finditer(text)) or list(_WORD.finditer(text)))


def _mark(rng: random.Random, name: str) -> str:
    mark: str = rng.choice(read("changes")["spoof"][name])
    return mark


def _override(rng: random.Random, text: str) -> tuple[str, str]:
    """Turn a number round, and let controls turn it back for the eye, or the other way round."""
    numbers = [m for m in _NUMBER.finditer(text) if m.group() != m.group()[::-1]]
    if not numbers:
        return text, ""
    found = rng.choice(numbers)
    held = rng.choice([found.group()[::-1], found.group()])
    mark = _mark(rng, "overrides")
    return put(text, found, mark.format(x=held)), mark[0]


def _invisible(rng: random.Random, text: str) -> tuple[str, str]:
    """Put an invisible character into a number or a word."""
    found = _place(rng, text)
    at = rng.randrange(found.start() + 1, found.end())
    mark = _mark(rng, "inside")
    return text[:at] + mark + text[at:], mark


def _overlaid(rng: random.Random, text: str) -> tuple[str, str]:
    """Strike a number or a word through with a combining character."""
    found = _place(rng, text)
    mark = _mark(rng, "overlays")
    return put(text, found, "".join(letter + mark for letter in found.group())), mark


def _lookalike(rng: random.Random, text: str) -> tuple[str, str]:
    """Put a letter of another script in the place of one that looks the same."""
    options = [
        (at, other)
        for at, letter in enumerate(text)
        for other in HOMOGLYPHS.get(letter, "")
        if not other.isascii()
    ]
    at, other = rng.choice(options)
    return text[:at] + other + text[at + 1 :], other


def _tagged(rng: random.Random, text: str) -> tuple[str, str]:
    """Hide words in tag characters."""
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in _TAGGED)
    at = rng.choice([0, len(text), text.index(" ")])
    return text[:at] + hidden + text[at:], hidden[0]


ALTERED: tuple[Kind, ...] = (
    false("negation_lost", "a denial dropped, in many languages", _negations),
    false("and_or", "or is and, and is or", pairs("changes", "replaced", "or_and")),
    false("noun_restriction", "a restriction behind a noun dropped",
          pairs("changes", "dropped", "noun", read_row=_dropped)),
    false("word_lost", "a word dropped that the meaning needs",
          pairs("changes", "dropped", "word", read_row=_dropped)),
    false("word_lost_other", "the same in other languages",
          pairs("foreign", "dropped", read_row=_dropped)),
    false("tense_other", "another time in other languages", pairs("foreign", "tense")),
    false("word_lost_corpus", "the same in sentences of the corpus", _corpus_words),
    false("identifier", "another version, code, address or symbol",
          pairs("changes", "replaced", "identifier")),
    false("number_bound", "the number of something else", pairs("readings", "number_binding")),
    false("compared", "a comparison turned round", pairs("readings", "comparison")),
    false("how_many", "all for not all", pairs("readings", "quantifier")),
    false("reference", "the former for the latter", pairs("readings", "reference")),
    false("gap", "joined across a gap of the source", pairs("readings", "gap")),
    false("attributed", "somebody's words as a fact", pairs("readings", "attribution")),
    false("meta", "about the source, or with a word of the model", pairs("readings", "meta")),
    false("cross_language", "the opposite in another language",
          pairs("readings", "cross_language")),
    false("spoof", "characters that deceive the eye", _spoofs),
)  # fmt: skip
"""Classes whose claims are one sentence of the source with one change."""


def _led(rng: random.Random, template: str, statement: Statement) -> Draw:
    text = template.format(s=statement.clause)
    return statement.claimed(passage(rng, text, language=statement.language), text)


def _inserted(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    """Leave out what stands between the subject and the verb."""
    for insertion in rounds(rng, read("mirrors")["inserted"]["en"]):
        statement = rng.choice(statements())
        subject = statement.subject
        text = f"{capital(subject)}{insertion}{statement.clause.removeprefix(subject)}."
        yield statement.claimed(passage(rng, text), text)


def _pronouns(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for row in rounds(rng, read("mirrors")["pronoun"]["pairs"]):
        text = f"{row.get('before', '')} {row['source']}".strip()
        headings = (row["heading"],) if "heading" in row else ()
        text = f"{text} {rng.choice(fillers('en'))}" if rng.random() < 0.5 else text
        where = made_passage(text, headings=headings)
        yield Draw((Cited(where, row["source"]),), row["claim"])


MIRRORS: tuple[Kind, ...] = (
    false("leading_lost", "a leading word dropped that does more than link",
          each(_by_language("mirrors", "leading"), _led)),
    false("insertion_lost", "what stands behind the subject dropped", _inserted),
    false("pronoun_other", "a name that the pronoun does not stand for", _pronouns),
    false("organisation_other", "an organisation that is not we",
          pairs("mirrors", "organisation", "pairs")),
    false("notation_other", "another value in a similar notation",
          pairs("mirrors", "notation", "pairs")),
    false("article_other", "few is a few", pairs("mirrors", "article", "pairs")),
    false("contraction_other", "can for can't", pairs("mirrors", "contraction", "pairs")),
    false("debris", "paragraph, page and citation numbers taken for text",
          pairs("mirrors", "debris", "pairs", block=True)),
)  # fmt: skip
"""Classes whose claims go one step further than a licence."""

FALSE_MADE: tuple[Kind, ...] = TORN + JOINED + ALTERED + MIRRORS
