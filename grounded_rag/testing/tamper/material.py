"""Cutting passages into sentences, table rows and names, without any code of the verifier."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from grounded_rag.testing.tamper.values import Passage, Pools, Row, Sentence
from grounded_rag.types import Frozen

_END = re.compile(r"(?<=[.!?])[\"”’)]*\s+(?=[\"“‘(]?[^\W_a-z])|(?<=[。！？])")
_MARKER = re.compile(r"\s*(?:[-*+>•]\s+|\d{1,3}[.)]\s+)*")
_MARKUP = re.compile(r"[*_`\[\]|<>#\\~{}^=�]|&\w+;|``|''|https?:|\.\.\.|…")
_NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})+\b")
_RULE = re.compile(r"[\s|:-]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS, _MAX_WORDS = 6, 45
_MIN_CHARS, _MAX_CHARS = 24, 400
_REST = 30
_HYPHENS = "-\u2010\u00ad"


class Corpus(Frozen):
    """Real text from which quotes are drawn.

    Attributes:
        name: What it is called in the report.
        passages: Its passages, in a fixed order.
    """

    name: str
    passages: tuple[Passage, ...]


def pools_of(corpus: Corpus) -> Pools:
    """Return everything the classes may draw from, in a fixed order."""
    neighbours = {passage.id: sentences_of(passage) for passage in corpus.passages}
    rows = {passage.id: rows_of(passage) for passage in corpus.passages}
    names = {name for passage in corpus.passages for name in _NAME.findall(passage.text)}
    return Pools(
        names=tuple(sorted(names)),
        sentences=tuple(s for group in neighbours.values() for s in group),
        neighbours=neighbours,
        rows={key: group for key, group in rows.items() if len(group) > 1},
    )


def sentences_of(passage: Passage) -> tuple[Sentence, ...]:
    """Return the sentences of a passage that make fair quotes.

    Headings, table rows and lines with markup are left out, and so is what stands twice in the
    passage, is nearly all of it, or begins or ends at a word divided between two lines: what a
    verifier should say to those is another question.
    """
    found = []
    for start, line in _lines(passage.text):
        if line.lstrip().startswith(("#", "|", "```", "~~~")):
            continue
        offset = _MARKER.match(line)
        place = offset.end() if offset else 0
        for begin, end in _cuts(line, place):
            text = line[begin:end]
            divided = passage.text[: start + begin].rstrip()[-1:] in tuple(_HYPHENS)
            if _fair(text, passage.text) and not divided:
                found.append(Sentence(text=text, passage=passage, start=start + begin))
    return tuple(found)


def _lines(text: str) -> Iterable[tuple[int, str]]:
    place = 0
    for line in text.splitlines(keepends=True):
        yield place, line
        place += len(line)


def _cuts(line: str, place: int) -> Iterable[tuple[int, int]]:
    edges = [place, *(m.start() for m in _END.finditer(line, place)), len(line.rstrip())]
    for left, right in pairwise(edges):
        begin = left + len(line[left:right]) - len(line[left:right].lstrip(' \t"”’)'))
        end = left + len(line[left:right].rstrip())
        if begin < end:
            yield begin, end


def _fair(text: str, passage: str) -> bool:
    words = len(text.split())
    enough = _MIN_WORDS <= words <= _MAX_WORDS or bool(words <= 3 and len(_CJK.findall(text)) > 12)
    return (
        enough
        and _MIN_CHARS * (words > 3) <= len(text) <= _MAX_CHARS
        and len(passage) >= len(text) + _REST
        and (words <= 3 or _telling(text))
        and not _MARKUP.search(text)
        and text[0].isalnum()
        and text[-1] not in _HYPHENS
        and passage.count(text) == 1
    )


def _telling(text: str) -> bool:
    """Whether a quote says enough: verifiers rightly refuse what is nearly all grammar."""
    return sum(len(word) > 4 for word in text.split()) > 1


def rows_of(passage: Passage) -> tuple[Row, ...]:
    """Return the body rows of the pipe tables of a passage whose cells are all filled."""
    found = []
    for start, line in _lines(passage.text):
        text = line.rstrip()
        if not (text.startswith("|") and text.endswith("|")) or _RULE.fullmatch(text):
            continue
        cells = tuple(cell.strip() for cell in text[1:-1].split("|"))
        fair = len(cells) > 1 and all(cells) and not any(_MARKUP.search(c) for c in cells)
        if fair and sum(c.isalpha() for c in cells[0]) >= 3 and passage.text.count(text) == 1:
            found.append(Row(cells=cells, passage=passage, start=start, text=text))
    return tuple(found)


def window(rng: random.Random, sentence: Sentence) -> Sentence:
    """Return a run of whole words of a sentence, or the sentence where it has too few.

    A run never begins or ends at a number, so that it cannot cut one that is written in parts.
    """
    words = list(re.finditer(r"\S+", sentence.text))
    if len(words) < _MIN_WORDS + 2:
        return sentence
    for _ in range(8):
        first = rng.randrange(len(words) - _MIN_WORDS)
        last = rng.randrange(first + _MIN_WORDS - 1, len(words))
        edges = words[max(0, first - 1) : first + 1] + words[last : last + 2]
        text = sentence.text[words[first].start() : words[last].end()]
        plain = all(match.group().strip(",;.").isalpha() for match in edges)
        if (
            plain
            and _telling(text)
            and text[0].isalnum()
            and sentence.passage.text.count(text) == 1
        ):
            return Sentence(
                text=text,
                passage=sentence.passage,
                start=sentence.start + words[first].start(),
                whole=False,
            )
    return sentence


def shuffled(rng: random.Random, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences in a random order."""
    order = list(sentences)
    rng.shuffle(order)
    return order
