"""Classes about where a quote comes from: other sentences, rows, chunks and versions."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from typing import NamedTuple

from grounded_rag.testing.tamper.values import (
    WORD,
    Draw,
    Edit,
    Kind,
    Pools,
    Row,
    Sentence,
    benign,
    one_of,
    put,
    swap_listed,
    tamper,
)
from grounded_rag.testing.tamper.words import MODALS, NUMBER_KINDS
from grounded_rag.types import Span

_NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d(?![\w])")
_SIGNED = re.compile(r"(?<= )\d+(?:[.,]\d+)*(?= )")


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
    return Draw((sentence.passage.text,), quote, sentence.text)


def _skipped_sentence(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    later = [s for s in pools.neighbours[sentence.passage.id] if s.start > sentence.end + 20]
    if not later:
        return None
    quote = f"{sentence.text} {rng.choice(later).text}"
    return Draw((sentence.passage.text,), quote, sentence.text)


def _wrong_chunk(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    other = rng.choice(pools.sentences).passage
    if other.id == sentence.passage.id:
        return None
    return Draw((other.text, sentence.passage.text), sentence.text, sentence.text)


def _unknown_chunk(_rng: random.Random, sentence: Sentence, _pools: Pools) -> Draw | None:
    return Draw((sentence.passage.text,), sentence.text, sentence.text, cited=None)


def _other_version(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    makers = [kind.make for kind in NUMBER_KINDS if kind.name in ("digit", "date", "number_word")]
    rng.shuffle(makers)
    changed = next((d.quote for m in makers if (d := m(rng, sentence, pools)) is not None), None)
    if changed is None:
        edit = swap_listed(rng, sentence.text, MODALS)
        changed = edit.quote if edit is not None else None
    if changed is None:
        return None
    text = sentence.passage.text
    newer = text[: sentence.start] + changed + text[sentence.end :]
    chunks = [(text, sentence.text), (newer, changed)]
    rng.shuffle(chunks)
    (cited, original), (other, quote) = chunks
    return Draw((cited, other), quote, original)


class RowPair(NamedTuple):
    """Two rows of one table, one below the other."""

    upper: Row
    lower: Row


def neighbouring_rows(rng: random.Random, sentence: Sentence, pools: Pools) -> RowPair | None:
    """Return two neighbouring rows: of the sentence's passage, or of any table of the corpus."""
    rows = pools.rows.get(sentence.passage.id)
    if rows is None:
        if not pools.rows:
            return None
        rows = pools.rows[rng.choice(sorted(pools.rows))]
    place = rng.randrange(len(rows) - 1)
    return RowPair(rows[place], rows[place + 1])


def _two_cells(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    pair = neighbouring_rows(rng, sentence, pools)
    if pair is None:
        return None
    upper, lower = pair if rng.random() < 0.5 else pair[::-1]
    width = min(len(upper.cells), len(lower.cells))
    cut = rng.randrange(1, width)
    mark = rng.choice([" ", " | ", "\t"])
    quote = mark.join(upper.cells[:cut] + lower.cells[cut:width])
    return Draw((upper.passage.text,), quote, upper.text)


def _row_join(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    pair = neighbouring_rows(rng, sentence, pools)
    if pair is None:
        return None
    upper, lower = pair
    keep = rng.randrange(1, len(upper.cells) + 1)
    reach = rng.randrange(1, len(lower.cells) + 1)
    mark = rng.choice([" ", " | ", "\t", " || "])
    quote = mark.join(upper.cells[-keep:] + lower.cells[:reach])
    return Draw((upper.passage.text,), quote, upper.text)


def _skipped_cell(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    pair = neighbouring_rows(rng, sentence, pools)
    if pair is None or len(pair[0].cells) < 3:
        return None
    cells = list(pair[0].cells)
    del cells[rng.randrange(1, len(cells) - 1)]
    quote = rng.choice([" ", " | "]).join(cells)
    return Draw((pair[0].passage.text,), quote, pair[0].text)


def _cut_word(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    words = [m for m in WORD.finditer(text) if len(m.group()) > 4 and m.group().isascii()]
    if not words:
        return None
    word = rng.choice(words)
    place = word.start() + rng.randrange(2, len(word.group()) - 1)
    sides = [side for side in (text[:place], text[place:]) if len(side.split()) >= 4]
    return Edit(text, rng.choice(sides)) if sides else None


def _cut_number(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    found = one_of(rng, _NUMBER, text)
    if found is not None and rng.random() < 0.7:
        place = found.start() + rng.randrange(1, len(found.group()))
        sides = [side for side in (text[:place], text[place:]) if len(side.split()) >= 4]
        return Edit(text, rng.choice(sides)) if sides else None
    found = one_of(rng, _SIGNED, text)
    if found is None or len(text[found.start() :].split()) < 4:
        return None
    return Edit(put(text, found, f"-{found.group()}"), text[found.start() :])


PLACE_KINDS: tuple[Kind, ...] = (
    Kind(name="stitched", label="tamper", make=_stitched,
         says="the halves of two sentences of one chunk"),
    Kind(name="skipped_sentence", label="tamper", make=_skipped_sentence,
         says="two whole sentences, and what stands between them is left out"),
    Kind(name="wrong_chunk", label="tamper", make=_wrong_chunk,
         says="a true quote, but another chunk is cited"),
    Kind(name="unknown_chunk", label="tamper", make=_unknown_chunk,
         says="a true quote, but the cited chunk was never retrieved"),
    Kind(name="other_version", label="tamper", make=_other_version,
         says="a quote of another version of the cited document"),
    Kind(name="two_cells", label="tamper", make=_two_cells,
         says="the label of one table row with the value of another"),
    Kind(name="row_join", label="tamper", make=_row_join,
         says="the end of a table row and the beginning of the next, on one line"),
    Kind(name="skipped_cell", label="tamper", make=_skipped_cell,
         says="a table row without one of its inner cells"),
    tamper("truncated_word", "the quote begins or ends inside a word", _cut_word, literal=True),
    tamper("truncated_number", "the quote begins or ends inside a number, or behind its sign",
           _cut_number, literal=True),
)  # fmt: skip


_CLAUSE = re.compile(r"(?<= )[a-z]{2,} (?=\S+ \S+ \S)")
_QUOTATION_MARKS = "'\"‘’“”„«»"
_PLAIN_WORD = re.compile(r"[^\W\d_]+")


def _verbatim(_rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return Edit(text, text)


def _emphasis(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
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
    text, passage = sentence.text, sentence.passage.text
    around = passage[max(0, sentence.start - 1) : sentence.end + 1]
    if any(mark in around for mark in _QUOTATION_MARKS):
        return None
    left, right = rng.choice([('"', '"'), ("“", "”"), ("'", "'"), ("‘", "’"), ("«", "»")])
    span = Span(start=sentence.start, end=sentence.end)
    return Draw((passage,), f"{left}{text}{right}", text, span)


def _edge_space(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    return Edit(text, rng.choice([f" {text}", f"{text} ", f"\n{text}\n", f"{text}\n"]))


def _first_case(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
    clause = one_of(rng, _CLAUSE, text)
    if clause is not None and rng.random() < 0.7:
        quote = text[clause.start() :]
        if sum(len(word) > 4 for word in quote.split()) < 2:
            return None
        return Edit(text, quote[0].upper() + quote[1:], start=clause.start())
    if len(text) > 2 and text[0].isupper() and text[1].islower() and text[2].islower():
        return Edit(text, text[0].lower() + text[1:])
    return None


def _full_stop(rng: random.Random, text: str, _pools: Pools) -> Edit | None:
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
    return Draw((text,), quote, sentence.text, Span(start=sentence.start, end=later[0].end))


def _table_row(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    pair = neighbouring_rows(rng, sentence, pools)
    if pair is None:
        return None
    row = rng.choice(pair)
    first = row.start + row.text.index(row.cells[0])
    last = row.start + row.text.rindex(row.cells[-1]) + len(row.cells[-1])
    quote = rng.choice([" ", "\t", "  "]).join(row.cells)
    return Draw((row.passage.text,), quote, row.text, Span(start=first, end=last))


def _table_padding(rng: random.Random, sentence: Sentence, pools: Pools) -> Draw | None:
    pair = neighbouring_rows(rng, sentence, pools)
    if pair is None:
        return None
    row = rng.choice(pair)
    padded = "| " + " | ".join(c.ljust(len(c) + rng.randrange(1, 6)) for c in row.cells) + " |"
    text = row.passage.text
    chunk = text[: row.start] + padded + text[row.start + len(row.text) :]
    last = row.start + len(padded.removesuffix("|").rstrip())
    return Draw((chunk,), " | ".join(row.cells), padded, Span(start=row.start + 2, end=last))


FRAMING_KINDS: tuple[Kind, ...] = (
    benign("verbatim", "copied as it stands: the control", _verbatim),
    benign("emphasis", "Markdown emphasis in the source, or in the quote", _emphasis),
    Kind(
        name="wrapping_quotes",
        label="benign",
        says="quotation marks around the quote",
        make=_wrapped,
        literal=True,
    ),
    benign("edge_space", "white space around the quote", _edge_space),
    benign("first_case", "a clause that begins with a capital, or a sentence without", _first_case),
    benign("full_stop", "a clause that is given a full stop", _full_stop),
    Kind(name="two_sentences", label="benign", says="two sentences in a row, spaced otherwise",
         make=_two_sentences, literal=True),
    Kind(name="table_row", label="benign", says="a table row without its pipes",
         make=_table_row, literal=True),
    Kind(name="table_padding", label="benign", says="a table row without the padding of its cells",
         make=_table_padding, literal=True),
)  # fmt: skip
