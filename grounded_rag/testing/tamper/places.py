"""Classes about where a quote comes from, and about its edges.

The tampered ones join or confuse sentences, rows, chunks and versions, the benign ones frame a
quote as models do.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

from grounded_rag.testing.tamper.cases import Cited, Draw, Kind, Maker, Pools, Row, Sentence
from grounded_rag.testing.tamper.quotes import (
    Edit,
    benign,
    edit_of,
    long_word,
    one_of,
    presents,
    put,
    tamper,
    tampers,
)
from grounded_rag.testing.tamper.words import (
    change_date,
    change_digit,
    change_modality,
    change_number_word,
)
from grounded_rag.types import Span

_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d(?![\w])")
_SIGNED = re.compile(r"(?<= )\d+(?:[.,]\d+)*(?= )")


def _of(sentence: Sentence, quote: str, expected: Span | None = None) -> Draw:
    """Return a quote that cites the unchanged passage of a sentence."""
    cited = (Cited(sentence.passage, quote),)
    return Draw(cited, original=sentence.text, expected=expected)


def _stitched(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    others = [s for s in pools.neighbours[sentence.passage.id] if s.start != sentence.start]
    others = [s for s in others if s.end <= sentence.start or sentence.end <= s.start]
    if not others:
        return None
    other = rng.choice(others)
    head, tail = sentence.text.split(" "), other.text.split(" ")
    if len(head) < 6 or len(tail) < 6:
        return None
    quote = " ".join(head[: rng.randrange(3, len(head) - 1)] + tail[-rng.randrange(3, 6) :])
    return _of(sentence, quote)


def _skipped_sentence(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    later = [s for s in pools.neighbours[sentence.passage.id] if s.start > sentence.end + 20]
    if not later:
        return None
    return _of(sentence, f"{sentence.text} {rng.choice(later).text}")


def _wrong_chunk(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    other = rng.choice(pools.sentences).passage
    if other.id == sentence.passage.id:
        return None
    cited = (Cited(other, sentence.text),)
    return Draw(cited, original=sentence.text, beside=(sentence.passage,))


def _unknown_chunk(_rng: random.Random, sentence: Sentence, _pools: Pools) -> Draw | None:
    return _of(sentence, sentence.text)._replace(missing=True)


def _other_version(rng: random.Random, sentence: Sentence, _pools: Pools) -> Draw | None:
    edits = [change_digit, change_date, change_number_word]
    rng.shuffle(edits)
    made = (edit_of(edit, rng, sentence.text) for edit in (*edits, change_modality))
    changed = next((edit.quote for edit in made if edit is not None), None)
    if changed is None:
        return None
    versions = [(sentence.passage, sentence.text), (sentence.replaced(changed), changed)]
    rng.shuffle(versions)
    (cited, original), (other, quote) = versions
    return Draw((Cited(cited, quote),), original=original, beside=(other,))


RowMaker: TypeAlias = Callable[[random.Random, Row, Row], Draw | None]


def _in_table(make: RowMaker) -> Maker:
    """Return a maker of two neighbouring rows, of the passage or of any table of the corpus."""

    def quote(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
        rows = pools.rows.get(sentence.passage.id)
        if rows is None:
            if not pools.rows:
                return None
            rows = pools.rows[rng.choice(sorted(pools.rows))]
        place = rng.randrange(len(rows) - 1)
        return make(rng, rows[place], rows[place + 1])

    return quote


def _of_row(row: Row, quote: str, expected: Span | None = None) -> Draw:
    return Draw((Cited(row.passage, quote),), original=row.text, expected=expected)


def _two_cells(rng: random.Random, upper: Row, lower: Row) -> Draw:
    if rng.random() >= 0.5:
        upper, lower = lower, upper
    width = min(len(upper.cells), len(lower.cells))
    cut = rng.randrange(1, width)
    mark = rng.choice([" ", " | ", "\t"])
    return _of_row(upper, mark.join(upper.cells[:cut] + lower.cells[cut:width]))


def _row_join(rng: random.Random, upper: Row, lower: Row) -> Draw:
    keep = rng.randrange(1, len(upper.cells) + 1)
    reach = rng.randrange(1, len(lower.cells) + 1)
    mark = rng.choice([" ", " | ", "\t", " || "])
    return _of_row(upper, mark.join(upper.cells[-keep:] + lower.cells[:reach]))


def _skipped_cell(rng: random.Random, row: Row, _below: Row) -> Draw | None:
    if len(row.cells) < 3:
        return None
    cells = list(row.cells)
    del cells[rng.randrange(1, len(cells) - 1)]
    return _of_row(row, rng.choice([" ", " | "]).join(cells))


def _cut_word(rng: random.Random, text: str) -> str | None:
    word = long_word(rng, text, letters=5, plain=True)
    if word is None:
        return None
    return _side(rng, text, word.start() + rng.randrange(2, len(word.group()) - 1))


def _cut_number(rng: random.Random, text: str) -> Edit | str | None:
    found = one_of(rng, _NUMBER, text)
    if found is not None and rng.random() < 0.7:
        return _side(rng, text, found.start() + rng.randrange(1, len(found.group())))
    found = one_of(rng, _SIGNED, text)
    if found is None or len(text[found.start() :].split()) < 4:
        return None
    return Edit(put(text, found, f"-{found.group()}"), text[found.start() :])


def _side(rng: random.Random, text: str, place: int) -> str | None:
    """Return what stands on one side of a place, where that is long enough for a quote."""
    sides = [side for side in (text[:place], text[place:]) if len(side.split()) >= 4]
    return rng.choice(sides) if sides else None


PLACE_KINDS: tuple[Kind, ...] = (
    tampers("stitched", "the halves of two sentences of one chunk", _stitched),
    tampers("skipped_sentence", "two whole sentences, and what stands between them is left out",
            _skipped_sentence),
    tampers("wrong_chunk", "a true quote, but another chunk is cited", _wrong_chunk),
    tampers("unknown_chunk", "a true quote, but the cited chunk was never retrieved",
            _unknown_chunk),
    tampers("other_version", "a quote of another version of the cited document", _other_version),
    tampers("two_cells", "the label of one table row with the value of another",
            _in_table(_two_cells)),
    tampers("row_join", "the end of a table row and the beginning of the next, on one line",
            _in_table(_row_join)),
    tampers("skipped_cell", "a table row without one of its inner cells", _in_table(_skipped_cell)),
    tamper("truncated_word", "the quote begins or ends inside a word", _cut_word, literal=True),
    tamper("truncated_number", "the quote begins or ends inside a number, or behind its sign",
           _cut_number, literal=True),
)  # fmt: skip


_CLAUSE = re.compile(r"(?<= )[a-z]{2,} (?=\S+ \S+ \S)")
_QUOTATION_MARKS = "'\"‘’“”„«»"
_PLAIN_WORD = re.compile(r"[^\W\d_]+")


def _emphasis(rng: random.Random, text: str) -> Edit | None:
    words = text.split(" ")
    if len(words) < 5:
        return None
    first = rng.randrange(1, len(words) - 2)
    last = rng.randrange(first, min(first + 4, len(words) - 2)) + 1
    run = " ".join(words[first:last])
    if not all(part.isalnum() for part in run.split(" ")):
        return None
    mark = rng.choice(["**", "*", "_", "__", "***"])
    marked = " ".join([*words[:first], f"{mark}{run}{mark}", *words[last:]])
    return Edit(marked, text) if rng.random() < 0.7 else Edit(text, marked)


def _wrapped(rng: random.Random, sentence: Sentence, _pools: Pools) -> Draw | None:
    around = sentence.passage.text[max(0, sentence.start - 1) : sentence.end + 1]
    if any(mark in around for mark in _QUOTATION_MARKS):
        return None
    left, right = rng.choice([('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»")])
    span = Span(start=sentence.start, end=sentence.end)
    return _of(sentence, f"{left}{sentence.text}{right}", span)


def _edge_space(rng: random.Random, text: str) -> str:
    return rng.choice([f" {text}", f"{text} ", f"\n{text}\n", f"{text}\n"])


def _first_case(rng: random.Random, text: str) -> Edit | str | None:
    clause = one_of(rng, _CLAUSE, text)
    if clause is not None and rng.random() < 0.7:
        quote = text[clause.start() :]
        if sum(len(word) > 4 for word in quote.split()) < 2:
            return None
        return Edit(text, quote[0].upper() + quote[1:], start=clause.start())
    if len(text) > 2 and text[0].isupper() and text[1].islower() and text[2].islower():
        return text[0].lower() + text[1:]
    return None


def _full_stop(rng: random.Random, text: str) -> Edit | None:
    words = list(re.finditer(r"\S+", text))
    ends = [
        word.end()
        for word, after in pairwise(words[5:])
        if _PLAIN_WORD.fullmatch(word.group()) and not after.group()[0].isdigit()
    ]
    if not ends:
        return None
    end = rng.choice(ends)
    return Edit(text, f"{text[:end]}.", end=end)


def _two_sentences(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    text = sentence.passage.text
    later = [
        other
        for other in pools.neighbours[sentence.passage.id]
        if other.start >= sentence.end and not text[sentence.end : other.start].strip()
    ]
    if not later or not sentence.whole or "\n\n" in text[sentence.end : later[0].start]:
        return None
    quote = text[sentence.start : later[0].end]
    if text.count(quote) != 1 or len(text) < len(quote) + 30:
        return None
    quote = quote.replace(" ", rng.choice([" ", "  ", "\n"]), 1)
    return _of(sentence, quote, Span(start=sentence.start, end=later[0].end))


def _table_row(rng: random.Random, upper: Row, lower: Row) -> Draw:
    row = rng.choice((upper, lower))
    first = row.start + row.text.index(row.cells[0])
    last = row.start + row.text.rindex(row.cells[-1]) + len(row.cells[-1])
    quote = rng.choice([" ", "\t", "  "]).join(row.cells)
    return _of_row(row, quote, Span(start=first, end=last))


def _table_padding(rng: random.Random, upper: Row, lower: Row) -> Draw:
    row = rng.choice((upper, lower))
    padded = "| " + " | ".join(c.ljust(len(c) + rng.randrange(1, 6)) for c in row.cells) + " |"
    in_place = Sentence(text=row.text, passage=row.passage, start=row.start)
    last = row.start + len(padded.removesuffix("|").rstrip())
    return Draw(
        (Cited(in_place.replaced(padded), " | ".join(row.cells)),),
        original=padded,
        expected=Span(start=row.start + 2, end=last),
    )


FRAMING_KINDS: tuple[Kind, ...] = (
    benign("verbatim", "copied as it stands: the control", lambda _rng, text: text),
    benign("emphasis", "Markdown emphasis in the source, or in the quote", _emphasis),
    presents("wrapping_quotes", "quotation marks around the quote", _wrapped),
    benign("edge_space", "white space around the quote", _edge_space),
    benign("first_case", "a clause that begins with a capital, or a sentence without", _first_case),
    benign("full_stop", "a clause that is given a full stop", _full_stop),
    presents("two_sentences", "two sentences in a row, spaced otherwise", _two_sentences),
    presents("table_row", "a table row without its pipes", _in_table(_table_row)),
    presents("table_padding", "a table row without the padding of its cells",
             _in_table(_table_padding)),
)  # fmt: skip
