"""Honest claims: whole statements of their source, as they stand or with one harmless edit."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

from grounded_rag.testing.tamper.claim_values import (
    Cited,
    ClaimKind,
    Made,
    capital,
    fillers,
    gap,
    languages,
    own_statements,
    passage,
    read,
    rounds,
    small,
    stop,
)
from grounded_rag.testing.tamper.joined import list_quote, listed, table_of
from grounded_rag.testing.tamper.values import Passage, Pools

_LONG_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_]{8,}(?![^\W\d_])")
_INNER_WORD = re.compile(r"(?<= )[^\W\d_]{4,}(?= )")
_MARKS = ("[3]", "[3][7]", "[12, 14]", "[^2]", "【4】", "【4:0†source】", "[Source 1]")
_NUMBERS = (
    "49.{n} ", "§ {n} ", "({n}) ", "{n}. ", "{n}) ", "3.2.{n} ", "{a}) ", "({a}) ", "{a}. ",
    "- ", "* ", "• ", "{r}. ",
)  # fmt: skip
_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_CASELESS = ("ja", "zh")
_ASKING = ("question", "command", "hypothesis", "denied")


def _sentences(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield whole sentences with their language, all languages evenly."""
    yield from rounds(rng, [(code, text) for code in languages() for text in fillers(code)])


def _kept(rng: random.Random, source: str, claim: str, language: str, **where: Any) -> Made:
    found = passage(rng, source, language=language, **where)
    return Made(claim, (Cited(found, source),), language)


def _title(rng: random.Random, language: str) -> str:
    titles: list[str] = read("whole")[language]["titles"]
    return rng.choice(titles)


def _wholes(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for language, text in _sentences(rng):
        yield _kept(rng, text, text, language, title=_title(rng, language))


def _tricky(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Sentences with abbreviations, direct speech and stops that end nothing."""
    known = read("tricky")
    for language, text in rounds(rng, [(c, t) for c in known for t in known[c]["sentences"]]):
        yield _kept(rng, text, text, language)


def _framed(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """The whole of a sentence that reports, restricts or supposes something."""
    known = read("frames")["en"]
    frames = [f for kind, group in known.items() for f in group if kind not in _ASKING]
    endings = [e for group in read("endings")["en"].values() for e in group if "?" not in e]
    for template in rounds(rng, [*frames, *endings]):
        clause = rng.choice(own_statements()).clause
        text = capital(template.format(S=capital(clause), s=clause))
        yield _kept(rng, text, text, "en")


def _twos(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Two whole sentences that stand beside each other, in one quote or in two."""
    for language, text in _sentences(rng):
        other = rng.choice([t for t in fillers(language) if t != text])
        both = gap(language).join([text, other])
        where = passage(rng, both, language=language)
        quotes = rng.choice([(both,), (text, other)])
        yield Made(both, tuple(Cited(where, quote) for quote in quotes), language)


def _headed(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Under a plain heading, among the items of a list, or beside a table."""
    tables = read("tables")["tables"]
    for language, text in _sentences(rng):
        heading = rng.choice(read("headings")["plain"][language])
        others = rng.sample([t for t in fillers(language) if t != text], 2)
        match rng.randrange(4):
            case 0:
                body = f"## {heading}\n\n{gap(language).join([text, *others])}"
            case 1:
                body = "\n".join(f"- {t}" for t in rng.sample([text, *others], 3))
            case 2:
                body = f"{heading}\n\n{text}\n\n{others[0]}"
            case _:
                body = f"{others[0]}\n\n{table_of(rng.choice(tables))[0]}\n\n{text}"
        where = Passage(id="p1", source="made-1", text=body, title=_title(rng, language))
        yield Made(text, (Cited(where, text),), language)


def _answers(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """A plain statement behind the question that it answers."""
    forms = ("{q}\n{a}", "**{q}**\n\n{a}", "### {q}\n\n{a}", "Q: {q}\nA: {a}", "{q} Yes. {a}")
    for statement in rounds(rng, own_statements()):
        answer = statement.sentence
        text = rng.choice(forms).format(q=capital(statement.asks), a=answer)
        where = passage(rng, text, block=True)
        yield Made(answer, (Cited(where, answer),))


def _presented(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    edits = [_spaced, _wrapped, _soft_hyphen, _divided, _decomposed, _emphasised, _linked, _curled]
    turn = 0
    for language, text in _sentences(rng):
        source = edits[turn % len(edits)](rng, text, language)
        turn += 1
        if source == text:
            continue
        claim = text
        if source.replace("’", "'") == text and rng.random() < 0.5:
            source, claim = claim, source
        yield _kept(rng, source, claim, language)


def _spaced(rng: random.Random, text: str, _language: str) -> str:
    places = [m.start() for m in re.finditer(" ", text)]
    if not places:
        return text
    at = rng.choice(places)
    return text[:at] + rng.choice(["\u00a0", "\u202f", "  ", "\u2009"]) + text[at + 1 :]


def _wrapped(rng: random.Random, text: str, _language: str) -> str:
    places = [m.start() for m in re.finditer(r"(?<!\d) ", text)]
    if len(places) < 3:
        return text
    at = rng.choice(places[1:])
    return text[:at] + rng.choice(["\n", "\r\n", "\n   "]) + text[at + 1 :]


def _cut(rng: random.Random, text: str, mark: str, language: str) -> str:
    words = [m for m in _LONG_WORD.finditer(text) if m.start() > 0]
    if not words or language in _CASELESS:
        return text
    at = rng.choice(words).start() + rng.randint(3, 5)
    return text[:at] + mark + text[at:]


def _soft_hyphen(rng: random.Random, text: str, language: str) -> str:
    return _cut(rng, text, "\u00ad", language)


def _divided(rng: random.Random, text: str, language: str) -> str:
    return _cut(rng, text, "-\n", language)


def _decomposed(_rng: random.Random, text: str, _language: str) -> str:
    return unicodedata.normalize("NFD", text)


def _emphasised(rng: random.Random, text: str, _language: str) -> str:
    mark = rng.choice(["**", "*", "_", "__"])
    words = list(_INNER_WORD.finditer(text))
    if not words or rng.random() < 0.3:
        return f"**{text}**"
    found = rng.choice(words)
    return text[: found.start()] + mark + found.group() + mark + text[found.end() :]


def _linked(rng: random.Random, text: str, _language: str) -> str:
    words = list(_INNER_WORD.finditer(text))
    if not words:
        return text
    found = rng.choice(words)
    link = f"[{found.group()}](https://town.example/page)"
    return text[: found.start()] + link + text[found.end() :]


def _curled(_rng: random.Random, text: str, _language: str) -> str:
    curled = re.sub(r'"([^"]*)"', r"“\1”", text)
    return curled.replace("'", "’") if curled == text else curled


def _cited(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """Citation marks in the source, or in the claim, that the other lacks."""
    for language, text in _sentences(rng):
        mark = rng.choice(_MARKS)
        end = stop(language)
        marked = rng.choice(
            [f"{text} {mark}", f"{text}{mark}", f"{text.removesuffix(end)} {mark}{end}"]
        )
        source, claim = rng.choice([(marked, text), (marked, text), (text, marked)])
        yield _kept(rng, source, claim, language, block=True)


def _numbered(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """A paragraph or list number in front, which the claim leaves out."""
    for language, text in _sentences(rng):
        form = rng.choice(_NUMBERS)
        others = rng.sample([t for t in fillers(language) if t != text], 2)
        first = rng.randint(1, 6)
        lines = [
            form.format(n=first + place, a="abcdefghi"[first + place], r=_ROMAN[first + place])
            + line
            for place, line in enumerate([others[0], text, others[1]])
        ]
        where = Passage(
            id="p1", source="made-1", text=rng.choice(["\n", "\n\n"]).join(lines),
            title=_title(rng, language),
        )  # fmt: skip
        quote = lines[1] if rng.random() < 0.4 else text
        yield Made(text, (Cited(where, quote),), language)


def _linking(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    """A leading word that only links, which the claim leaves out."""
    for language, text in _sentences(rng):
        link = rng.choice(read("whole")[language]["links"])
        rest = text if link.endswith((": ", "! ")) or language in _CASELESS else small(text)
        yield _kept(rng, link + rest, text, language)


def _pairs(
    name: str, edit: Callable[[random.Random, dict[str, str]], Passage], rng: random.Random
) -> Iterator[Made]:
    for row in rounds(rng, read("licensed")[name]["pairs"]):
        where = edit(rng, row)
        yield Made(row["claim"], (Cited(where, row["source"]),), row.get("language", "en"))


def _in_title(rng: random.Random, row: dict[str, str]) -> Passage:
    code = row.get("language", "en")
    return passage(rng, row["source"], language=code, title=row["title"])


def _in_front(rng: random.Random, row: dict[str, str]) -> Passage:
    """Put the name right in front: in the sentence before, or in the heading above."""
    if "before" in row:
        text = f"{row['before']} {row['source']}"
        return Passage(id="p1", source="made-1", text=text)
    after = rng.choice(fillers("en"))
    if rng.random() < 0.5:
        text = f"{row['source']} {after}"
        return Passage(id="p1", source="made-1", text=text, headings=(row["heading"],))
    text = f"## {row['heading']}\n\n{row['source']}\n\n{after}"
    return Passage(id="p1", source="made-1", text=text)


def _plain(rng: random.Random, row: dict[str, str]) -> Passage:
    return passage(rng, row["source"], language=row.get("language", "en"))


def _organisations(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("organisation", _in_title, rng)


def _pronouns(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("pronoun", _in_front, rng)


def _notations(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("notation", _plain, rng)


def _contractions(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("contraction", _plain, rng)


def _articles(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    yield from _pairs("article", _plain, rng)


def _cells(rng: random.Random) -> Iterator[tuple[dict[str, Any], int, int]]:
    yield from rounds(
        rng,
        [
            (table, line, column)
            for table in read("tables")["tables"]
            for line in range(len(table["rows"]))
            for column in range(1, len(table["header"]))
        ],
    )


def _in_table(rng: random.Random, form: str, table: dict[str, Any], line: int, at: int) -> Made:
    text, lines = table_of(table)
    where = passage(rng, text, language=table["language"], block=True, title=table["title"])
    column = table["header"][at]
    if form.startswith(("The", "For")) and rng.random() < 0.5:
        column = small(column)
    row = table["rows"][line]
    claim = form.format(row=row[0], column=column, cell=row[at])
    return Made(claim, (Cited(where, lines[line]),), table["language"])


def _cell_labels(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for table, line, column in _cells(rng):
        yield _in_table(rng, "{row}, {column}: {cell}", table, line, column)


def _cell_sentences(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for table, line, column in _cells(rng):
        forms = read("tables")["sentences"].get(table["language"], ())
        spoken = forms and table.get("spoken", True)
        if spoken and any(letter.isdigit() for letter in table["rows"][line][column]):
            yield _in_table(rng, rng.choice(forms), table, line, column)


def _items(rng: random.Random, _pools: Pools) -> Iterator[Made]:
    for row in rounds(rng, read("lists")["true"] * 3):
        item = rng.choice(row["items"])
        text = listed(rng, row["lead"], row["items"])
        where = passage(rng, text, language=row["language"], block=True)
        quote = list_quote(rng, text, item)
        yield Made(row["claim"].format(item=item), (Cited(where, quote),), row["language"])


KINDS: tuple[ClaimKind, ...] = (
    ClaimKind("whole", True, "a whole sentence as it stands", _wholes),
    ClaimKind("whole_in_layout", True, "the same in lists, under headings, by tables", _headed),
    ClaimKind("whole_tricky", True, "whole sentences that are hard to cut", _tricky),
    ClaimKind("whole_frame", True, "the whole of a framed or restricted sentence", _framed),
    ClaimKind("whole_two", True, "two whole sentences", _twos),
    ClaimKind("faq", True, "the answer to a question of the source", _answers),
    ClaimKind("presentation", True, "quotation marks, spaces, wraps, emphasis", _presented),
    ClaimKind("citation_mark", True, "marks such as [3] dropped", _cited),
    ClaimKind("numbering", True, "a paragraph or list number dropped", _numbered),
    ClaimKind("linking_word", True, "a leading word that links dropped", _linking),
    ClaimKind("organisation", True, "the name for we and our", _organisations),
    ClaimKind("pronoun", True, "the name for a leading pronoun", _pronouns),
    ClaimKind("notation_own", True, "the same value in another notation", _notations),
    ClaimKind("contraction", True, "does not for doesn't", _contractions),
    ClaimKind("article", True, "an article comes or goes", _articles),
    ClaimKind("table_cell", True, "a cell as row, column: cell", _cell_labels),
    ClaimKind("table_sentence", True, "a sentence of row, column and cell", _cell_sentences),
    ClaimKind("list_item", True, "an item with its lead-in, as one sentence", _items),
)
"""Classes whose claims are whole statements of the source."""
