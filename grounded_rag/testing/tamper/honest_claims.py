"""Honest claims: whole statements of their source, as they stand or with one harmless edit."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Iterator
from functools import partial
from typing import Any

from grounded_rag.testing.tamper.cases import Cited, Draw, Kind, Passage, Pools, read
from grounded_rag.testing.tamper.claims import (
    Cell,
    capital,
    cells,
    each,
    fillers,
    gap,
    honest,
    languages,
    list_quote,
    listed,
    made_passage,
    pairs,
    passage,
    rounds,
    small,
    statements,
    stop,
    table_of,
)
from grounded_rag.testing.tamper.quotes import one_of, put

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


def _sentences(rng: random.Random, _pools: Pools) -> Iterator[tuple[str, str]]:
    """Yield whole sentences with their language, all languages evenly."""
    yield from rounds(rng, [(text, code) for code in languages() for text in fillers(code)])


def _kept(rng: random.Random, source: str, claim: str, language: str, **where: Any) -> Draw:
    found = passage(rng, source, language=language, **where)
    return Draw((Cited(found, source),), claim, language)


def _others(rng: random.Random, language: str, text: str, count: int) -> list[str]:
    return rng.sample([other for other in fillers(language) if other != text], count)


def _title(rng: random.Random, language: str) -> str:
    titles: list[str] = read("whole")[language]["titles"]
    return rng.choice(titles)


def _whole(rng: random.Random, text: str, language: str) -> Draw:
    return _kept(rng, text, text, language, title=_title(rng, language))


def _tricky(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    """Sentences with abbreviations, direct speech and stops that end nothing."""
    known = read("tricky")
    for language, text in rounds(rng, [(c, t) for c in known for t in known[c]["sentences"]]):
        yield _kept(rng, text, text, language)


def _framed(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    """The whole of a sentence that reports, restricts or supposes something."""
    known = read("frames")["en"]
    frames = [f for kind, group in known.items() for f in group if kind not in _ASKING]
    endings = [e for group in read("endings")["en"].values() for e in group if "?" not in e]
    for template in rounds(rng, [*frames, *endings]):
        clause = rng.choice(statements()).clause
        text = capital(template.format(S=capital(clause), s=clause))
        yield _kept(rng, text, text, "en")


def _two(rng: random.Random, text: str, language: str) -> Draw:
    """Two whole sentences that stand beside each other, in one quote or in two."""
    other = rng.choice([filler for filler in fillers(language) if filler != text])
    both = gap(language).join([text, other])
    where = passage(rng, both, language=language)
    quotes = rng.choice([(both,), (text, other)])
    return Draw(tuple(Cited(where, quote) for quote in quotes), both, language)


def _in_layout(rng: random.Random, text: str, language: str) -> Draw:
    """Under a plain heading, among the items of a list, or beside a table."""
    heading = rng.choice(read("headings")["plain"][language])
    others = _others(rng, language, text, 2)
    match rng.randrange(4):
        case 0:
            body = f"## {heading}\n\n{gap(language).join([text, *others])}"
        case 1:
            body = "\n".join(f"- {t}" for t in rng.sample([text, *others], 3))
        case 2:
            body = f"{heading}\n\n{text}\n\n{others[0]}"
        case _:
            table = rng.choice(read("tables")["tables"])
            body = f"{others[0]}\n\n{table_of(table)[0]}\n\n{text}"
    where = made_passage(body, title=_title(rng, language))
    return Draw((Cited(where, text),), text, language)


def _answers(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    """A plain statement behind the question that it answers."""
    forms = ("{q}\n{a}", "**{q}**\n\n{a}", "### {q}\n\n{a}", "Q: {q}\nA: {a}", "{q} Yes. {a}")
    for statement in rounds(rng, statements()):
        answer = statement.sentence
        text = rng.choice(forms).format(q=capital(statement.asks), a=answer)
        yield Draw((Cited(passage(rng, text, block=True), answer),), answer)


def _presented(rng: random.Random, pools: Pools) -> Iterator[Draw]:
    edits = (
        _spaced, _wrapped, partial(_cut, "\u00ad"), partial(_cut, "-\n"), _decomposed,
        _emphasised, _linked, _curled,
    )  # fmt: skip
    for turn, (text, language) in enumerate(_sentences(rng, pools)):
        source, claim = edits[turn % len(edits)](rng, text, language), text
        if source == text:
            continue
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


def _cut(mark: str, rng: random.Random, text: str, language: str) -> str:
    words = [m for m in _LONG_WORD.finditer(text) if m.start() > 0]
    if not words or language in _CASELESS:
        return text
    at = rng.choice(words).start() + rng.randint(3, 5)
    return text[:at] + mark + text[at:]


def _decomposed(_rng: random.Random, text: str, _language: str) -> str:
    return unicodedata.normalize("NFD", text)


def _emphasised(rng: random.Random, text: str, _language: str) -> str:
    mark = rng.choice(["**", "*", "_", "__"])
    words = list(_INNER_WORD.finditer(text))
    if not words or rng.random() < 0.3:
        return f"**{text}**"
    found = rng.choice(words)
    return put(text, found, mark + found.group() + mark)


def _linked(rng: random.Random, text: str, _language: str) -> str:
    found = one_of(rng, _INNER_WORD, text)
    if found is None:
        return text
    return put(text, found, f"[{found.group()}](https://town.example/page)")


def _curled(_rng: random.Random, text: str, _language: str) -> str:
    curled = re.sub(r'"([^"]*)"', r"“\1”", text)
    return curled.replace("'", "’") if curled == text else curled


def _cited(rng: random.Random, text: str, language: str) -> Draw:
    """Citation marks in the source, or in the claim, that the other lacks."""
    mark = rng.choice(_MARKS)
    end = stop(language)
    marked = rng.choice(
        [f"{text} {mark}", f"{text}{mark}", f"{text.removesuffix(end)} {mark}{end}"]
    )
    source, claim = rng.choice([(marked, text), (marked, text), (text, marked)])
    return _kept(rng, source, claim, language, block=True)


def _numbered(rng: random.Random, text: str, language: str) -> Draw:
    """A paragraph or list number in front, which the claim leaves out."""
    form = rng.choice(_NUMBERS)
    before, after = _others(rng, language, text, 2)
    first = rng.randint(1, 6)
    lines = [
        form.format(n=number, a="abcdefghi"[number], r=_ROMAN[number]) + line
        for number, line in enumerate([before, text, after], start=first)
    ]
    body = rng.choice(["\n", "\n\n"]).join(lines)
    where = made_passage(body, title=_title(rng, language))
    quote = lines[1] if rng.random() < 0.4 else text
    return Draw((Cited(where, quote),), text, language)


def _linking(rng: random.Random, text: str, language: str) -> Draw:
    """A leading word that only links, which the claim leaves out."""
    link = rng.choice(read("whole")[language]["links"])
    rest = text if link.endswith((": ", "! ")) or language in _CASELESS else small(text)
    return _kept(rng, link + rest, text, language)


def _pronouns(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for row in rounds(rng, read("licensed")["pronoun"]["pairs"]):
        where = _named_in_front(rng, row)
        language = row.get("language", "en")
        yield Draw((Cited(where, row["source"]),), row["claim"], language)


def _named_in_front(rng: random.Random, row: dict[str, str]) -> Passage:
    """Put the name right in front: in the sentence before, or in the heading above."""
    if "before" in row:
        return made_passage(f"{row['before']} {row['source']}")
    after = rng.choice(fillers("en"))
    if rng.random() < 0.5:
        return made_passage(f"{row['source']} {after}", headings=(row["heading"],))
    return made_passage(f"## {row['heading']}\n\n{row['source']}\n\n{after}")


def _cell_labels(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for cell in cells(rng):
        yield _stated(rng, cell, "{row}, {column}: {cell}")


def _cell_sentences(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for cell in cells(rng):
        forms = read("tables")["sentences"].get(cell.table["language"], ())
        spoken = forms and cell.table.get("spoken", True)
        if spoken and any(letter.isdigit() for letter in cell.row[cell.column]):
            yield _stated(rng, cell, rng.choice(forms))


def _stated(rng: random.Random, cell: Cell, form: str) -> Draw:
    where, column = cell.passage(rng), cell.heading
    if form.startswith(("The", "For")) and rng.random() < 0.5:
        column = small(column)
    return cell.stated(where, form, column=column, content=cell.row[cell.column])


def _items(rng: random.Random, _pools: Pools) -> Iterator[Draw]:
    for row in rounds(rng, read("lists")["true"] * 3):
        item = rng.choice(row["items"])
        text = listed(rng, row["lead"], row["items"])
        where = passage(rng, text, language=row["language"], block=True)
        quote = list_quote(rng, text, item)
        yield Draw((Cited(where, quote),), row["claim"].format(item=item), row["language"])


HONEST_MADE: tuple[Kind, ...] = (
    honest("whole", "a whole sentence as it stands", each(_sentences, _whole)),
    honest("whole_in_layout", "the same in lists, under headings, by tables",
           each(_sentences, _in_layout)),
    honest("whole_tricky", "whole sentences that are hard to cut", _tricky),
    honest("whole_frame", "the whole of a framed or restricted sentence", _framed),
    honest("whole_two", "two whole sentences", each(_sentences, _two)),
    honest("faq", "the answer to a question of the source", _answers),
    honest("presentation", "quotation marks, spaces, wraps, emphasis", _presented),
    honest("citation_mark", "marks such as [3] dropped", each(_sentences, _cited)),
    honest("numbering", "a paragraph or list number dropped", each(_sentences, _numbered)),
    honest("linking_word", "a leading word that links dropped", each(_sentences, _linking)),
    honest("organisation", "the name for we and our", pairs("licensed", "organisation", "pairs")),
    honest("pronoun", "the name for a leading pronoun", _pronouns),
    honest("notation_own", "the same value in another notation",
           pairs("licensed", "notation", "pairs")),
    honest("contraction", "does not for doesn't", pairs("licensed", "contraction", "pairs")),
    honest("article", "an article comes or goes", pairs("licensed", "article", "pairs")),
    honest("table_cell", "a cell as row, column: cell", _cell_labels),
    honest("table_sentence", "a sentence of row, column and cell", _cell_sentences),
    honest("list_item", "an item with its lead-in, as one sentence", _items),
)  # fmt: skip
"""Classes whose claims are whole statements of the source."""
