"""Benign classes of markup and of a quote's edges, and verbatim quotes as the control."""

from __future__ import annotations

import random
import re
from itertools import pairwise

from grounded_rag.testing.tamper.pick import one_of
from grounded_rag.testing.tamper.places import neighbouring_rows
from grounded_rag.testing.tamper.values import Draw, Edit, Kind, Pools, Sentence, benign
from grounded_rag.types import Span

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


KINDS: tuple[Kind, ...] = (
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
