"""Claims that differ from one sentence of their source by a word, a number or a character."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence

from grounded_rag.testing.tamper import words
from grounded_rag.testing.tamper.claim_values import (
    Cited,
    ClaimKind,
    Made,
    Statement,
    Stream,
    capital,
    fillers,
    foreign_statements,
    own_statements,
    passage,
    read,
    rounds,
)
from grounded_rag.testing.tamper.values import Passage, Pools

_BRACKETS = re.compile(r"\[([^\]]*)\]")
_NUMBER = re.compile(r"\d[\d.,]*\d")
_WORD = re.compile(r"[A-Za-z]{4,}")
_TAGGED = "not true"


def _pair(
    rng: random.Random, source: str, claim: str, *, language: str = "en", near: Sequence[str] = ()
) -> Made:
    where = passage(rng, source, language=language, near=near)
    return Made(claim, (Cited(where, source),), language)


def _negations(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    known = read("negations")
    material = [(code, *pair) for code in known for pair in known[code]["pairs"]]
    for code, source, claim in rounds(rng, material):
        near = () if fillers(code) else [pair[0] for pair in known[code]["pairs"]]
        yield _pair(rng, source, claim, language=code, near=near)


def _replaced(name: str, rng: random.Random) -> Iterator[Made]:
    for source, claim, *code in rounds(rng, read("changes")["replaced"][name]):
        yield _pair(rng, source, claim, language=code[0] if code else "en")


def _alternatives(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _replaced("or_and", rng)


def _identifiers(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _replaced("identifier", rng)


def _readings(name: str) -> Stream:
    """Return the claims of one kind of misreading."""

    def stream(rng: random.Random, _pools: Pools) -> Iterator[Made]:
        for source, claim, *code in rounds(rng, read("readings")[name]):
            yield _pair(rng, source, claim, language=code[0] if code else "en")

    return stream


def without(marked: str) -> tuple[str, str]:
    """Return a marked sentence whole, and without the part that stands in its brackets."""
    rest = " ".join(_BRACKETS.sub("", marked).split())
    return _BRACKETS.sub(r"\1", marked), capital(re.sub(r"\s+([.,])", r"\1", rest))


def _behind_noun(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for marked in rounds(rng, read("changes")["dropped"]["noun"]):
        yield _pair(rng, *without(marked))


def _words(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for marked in rounds(rng, read("changes")["dropped"]["word"]):
        yield _pair(rng, *without(marked))


def _foreign_words(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for marked, code in rounds(rng, read("foreign")["dropped"]):
        yield _pair(rng, *without(marked), language=code)


def _foreign_tenses(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for source, claim, code in rounds(rng, read("foreign")["tense"]):
        yield _pair(rng, source, claim, language=code)


def _corpus_words(rng: random.Random, pools: Pools) -> Iterator[Made]:
    lost = "|".join(re.escape(word) for word in read("changes")["dropped"]["lost"])
    pattern = re.compile(rf"(?<=\s)(?:{lost})\s(?=\S)", re.IGNORECASE)
    for sentence in rounds(rng, [s for s in pools.sentences if pattern.search(s.text)]):
        found = rng.choice(list(pattern.finditer(sentence.text)))
        claim = sentence.text[: found.start()] + sentence.text[found.end() :]
        if claim not in sentence.passage.text:
            yield Made(claim, (Cited(sentence.passage, sentence.text),))


def _spoofs(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    material = [*fillers("en"), *(item.sentence for item in own_statements())]
    makers = (_override, _inside, _overlaid, _lookalike, _tagged)
    for source in rounds(rng, material):
        made = rng.choice(makers)(rng, source)
        if made is not None and made[0] != source:
            where = passage(rng, source)
            yield Made(made[0], (Cited(where, source),), poison=made[1])


def _place(rng: random.Random, text: str) -> re.Match[str]:
    found = list(_NUMBER.finditer(text)) or list(_WORD.finditer(text))
    return rng.choice(found)


def _override(rng: random.Random, text: str) -> tuple[str, str] | None:
    """Turn a number round, and let controls turn it back for the eye, or the other way round."""
    numbers = [m for m in _NUMBER.finditer(text) if m.group() != m.group()[::-1]]
    if not numbers:
        return None
    found = rng.choice(numbers)
    held = rng.choice([found.group()[::-1], found.group()])
    mark = rng.choice(read("changes")["spoof"]["overrides"])
    return text[: found.start()] + mark.format(x=held) + text[found.end() :], mark[0]


def _inside(rng: random.Random, text: str) -> tuple[str, str]:
    """Put an invisible character into a number or a word."""
    found = _place(rng, text)
    at = rng.randrange(found.start() + 1, found.end())
    mark = rng.choice(read("changes")["spoof"]["inside"])
    return text[:at] + mark + text[at:], mark


def _overlaid(rng: random.Random, text: str) -> tuple[str, str]:
    """Strike a number or a word through with a combining character."""
    found = _place(rng, text)
    mark = rng.choice(read("changes")["spoof"]["overlays"])
    struck = "".join(letter + mark for letter in found.group())
    return text[: found.start()] + struck + text[found.end() :], mark


def _lookalike(rng: random.Random, text: str) -> tuple[str, str]:
    """Put a letter of another script in the place of one that looks the same."""
    options = [
        (at, other)
        for at, letter in enumerate(text)
        for other in words.HOMOGLYPHS.get(letter, "")
        if not other.isascii()
    ]
    at, other = rng.choice(options)
    return text[:at] + other + text[at + 1 :], other


def _tagged(rng: random.Random, text: str) -> tuple[str, str]:
    """Hide words in tag characters."""
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in _TAGGED)
    at = rng.choice([0, len(text), text.index(" ")])
    return text[:at] + hidden + text[at:], hidden[0]


ALTERED_KINDS: tuple[ClaimKind, ...] = (
    ClaimKind("negation_lost", False, "a denial dropped, in many languages", _negations),
    ClaimKind("and_or", False, "or is and, and is or", _alternatives),
    ClaimKind("noun_restriction", False, "a restriction behind a noun dropped", _behind_noun),
    ClaimKind("word_lost", False, "a word dropped that the meaning needs", _words),
    ClaimKind("word_lost_other", False, "the same in other languages", _foreign_words),
    ClaimKind("tense_other", False, "another time in other languages", _foreign_tenses),
    ClaimKind("word_lost_corpus", False, "the same in sentences of the corpus", _corpus_words),
    ClaimKind("identifier", False, "another version, code, address or symbol", _identifiers),
    ClaimKind("number_bound", False, "the number of something else", _readings("number_binding")),
    ClaimKind("compared", False, "a comparison turned round", _readings("comparison")),
    ClaimKind("how_many", False, "all for not all", _readings("quantifier")),
    ClaimKind("reference", False, "the former for the latter", _readings("reference")),
    ClaimKind("gap", False, "joined across a gap of the source", _readings("gap")),
    ClaimKind("attributed", False, "somebody's words as a fact", _readings("attribution")),
    ClaimKind("meta", False, "about the source, or with a word of the model", _readings("meta")),
    ClaimKind(
        "cross_language", False, "the opposite in another language", _readings("cross_language")
    ),
    ClaimKind("spoof", False, "characters that deceive the eye", _spoofs),
)
"""Classes whose claims are one sentence of the source with one change."""


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


MIRROR_KINDS: tuple[ClaimKind, ...] = (
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
