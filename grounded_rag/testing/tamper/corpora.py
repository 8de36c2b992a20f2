"""Labelled quotes from a file, one JSON object a line: the fuzzer's own cases, or hand-made ones.

A hand-made record has `chunks` ({"id", "text"}), `model_output.claims` ({"chunk_id", "quote"}) and
`expected.claims` ({"verdict", "literal", "start", "end"}). Of those, the claims that are about the
place of a quote become cases: one that is verified, repaired or flagged at a span is benign, one
that is rejected although or because the chunk does not hold its quote is a tamper. Claims whose
literal quote is rejected for another reason are left out: that is a matter of support.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from grounded_rag.errors import InputError
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.testing.tamper.cases import FuzzCase, Passage, Pools, Row, Sentence
from grounded_rag.types import Frozen, Span

_END = re.compile(r"(?<=[.!?])[\"”’)]*\s+(?=[\"“‘(]?[^\W_a-z])|(?<=[。！？])")
_MARKER = re.compile(r"\s*(?:[-*+>•]\s+|\d{1,3}[.)]\s+)*")
_MARKUP = re.compile(r"[*_`\[\]|<>#\\~{}^=�]|&\w+;|``|''|https?:|\.\.\.|…")
NAME = re.compile(r"\b[A-Z][a-zà-ÿ]{2,}(?: [A-Z][a-zà-ÿ]{2,})+\b")
_RULE = re.compile(r"[\s|:-]+")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_MIN_WORDS, _MAX_WORDS = 6, 45
_MIN_CHARS, _MAX_CHARS = 24, 400
_REST = 30
_HYPHENS = "-\u2010\u00ad"


class Corpus(Frozen):
    """Real text from which quotes are drawn: passages in a fixed order, named in the report."""

    name: str
    passages: tuple[Passage, ...]


def pools_of(corpus: Corpus) -> Pools:
    """Return everything the classes may draw from, in a fixed order."""
    neighbours = {passage.id: sentences_of(passage) for passage in corpus.passages}
    rows = {passage.id: rows_of(passage) for passage in corpus.passages}
    names = {name for passage in corpus.passages for name in NAME.findall(passage.text)}
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


MAX_CHARS = 1900
"""Longest passage, in code points: about the size of a chunk."""

_SUFFIXES = frozenset({".md", ".txt", ".eml", ".html", ".htm", ".rst"})
_BLOCKS = frozenset("p div li h1 h2 h3 h4 h5 h6 td th tr pre dt dd table br ul ol section".split())
_HIDDEN = frozenset({"script", "style"})


def load_corpus(name: str) -> Corpus:
    """Return the demo corpus ("demo") or the text files of a folder.

    Markdown and plain text are taken as they stand; of HTML the text alone.

    Raises:
        InputError: The folder is not there or holds no text files.
    """
    folder = demo_corpus_dir() / "docs" if name == "demo" else Path(name)
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", hint="Name a folder of text files, or demo.")
    passages = tuple(_passages_of(folder, prefix=""))
    if not passages:
        raise InputError(
            f"{folder} holds no text.", hint=f"It reads {', '.join(sorted(_SUFFIXES))}."
        )
    return Corpus(name=name, passages=passages)


def load_data(folder: Path) -> Corpus:
    """Return the passages of the known data sets in `folder`; those not there are left out.

    Raises:
        InputError: None of them is there.
    """
    passages: list[Passage] = []
    for item in DATA_SETS:
        path = folder / item.path
        if path.is_dir():
            passages.extend(_passages_of(path, prefix=f"{item.path}/"))
        elif path.is_file():
            passages.extend(_records(path, item))
    if not passages:
        known = ", ".join(item.path for item in DATA_SETS)
        raise InputError(f"{folder} holds none of the data sets.", hint=f"It reads {known}.")
    return Corpus(name=str(folder), passages=tuple(passages))


class DataSet(NamedTuple):
    """Where a data set lies and how a record of it gives a source and its texts."""

    path: str
    texts: Callable[[dict[str, Any]], tuple[str, list[str]]]


def _wice(record: dict[str, Any]) -> tuple[str, list[str]]:
    return record["id"], [" ".join(record["evidence_sentences"])]


def _tatqa(record: dict[str, Any]) -> tuple[str, list[str]]:
    rows = ["| " + " | ".join(str(c).strip() for c in row) + " |" for row in record["table"]]
    return record["id"], ["\n".join(rows), *(p["text"] for p in record["paragraphs"])]


DATA_SETS = (
    DataSet("wice/oracle_chunks.dev.jsonl", _wice),
    DataSet("squad2/passages.jsonl", lambda r: (r["title"], [r["text"]])),
    DataSet("policyqa/passages.jsonl", lambda r: (r["site"], [r["text"]])),
    DataSet("clapnq/dev.jsonl", lambda r: (r["id"], [r["passage"]])),
    DataSet("tatqa/dev.jsonl", _tatqa),
    DataSet("docs_corpus", lambda _r: ("", [])),
)


def _records(path: Path, item: DataSet) -> Iterator[Passage]:
    grouped: dict[str, list[str]] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            source, texts = item.texts(json.loads(line))
            known = grouped.setdefault(source, [])
            known.extend(text for text in texts if text.strip() and text not in known)
    for source, texts in grouped.items():
        yield from _cut(f"{item.path.partition('/')[0]}/{source}", texts)


def _passages_of(folder: Path, *, prefix: str) -> Iterator[Passage]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in _SUFFIXES or not path.is_file():
            continue
        try:
            # Newlines stay as they are stored: CR LF is material, not noise.
            with path.open(encoding="utf-8", newline="") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            continue
        if path.suffix.lower() in (".html", ".htm"):
            text = _html_text(text)
        yield from _cut(f"{prefix}{path.relative_to(folder).as_posix()}", text.split("\n\n"))


def _cut(source: str, blocks: Iterable[str]) -> Iterator[Passage]:
    """Pack blocks of text into passages; a block that is too long is cut at a space."""
    held: list[str] = []
    number = 0
    for piece in (piece for block in blocks for piece in _pieces(block)):
        if held and sum(map(len, held)) + 2 * len(held) + len(piece) > MAX_CHARS:
            yield Passage(id=f"{source}#{number}", source=source, text="\n\n".join(held))
            held, number = [], number + 1
        held.append(piece)
    if held:
        yield Passage(id=f"{source}#{number}", source=source, text="\n\n".join(held))


def _pieces(block: str) -> Iterator[str]:
    block = block.strip("\r\n")
    while len(block) > MAX_CHARS:
        stop = max(block.rfind("\n", 1, MAX_CHARS), block.rfind(". ", 1, MAX_CHARS) + 1)
        stop = stop if stop > 0 else MAX_CHARS
        yield block[:stop]
        block = block[stop:].lstrip()
    if block.strip():
        yield block


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._hidden += tag in _HIDDEN
        if tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))
        if tag in _BLOCKS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _html_text(text: str) -> str:
    parser = _Text()
    parser.feed(text)
    parser.close()
    blocks = ("".join(parser.parts)).split("\n\n")
    return "\n\n".join(" ".join(block.split()) for block in blocks if block.strip())


_BENIGN = frozenset({"verified", "repaired", "flagged"})


def read_cases(path: Path) -> tuple[FuzzCase, ...]:
    """Return the labelled quotes of a file.

    Raises:
        InputError: The file cannot be read, or a line of it is no case.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", hint="Give a UTF-8 file.") from error
    cases: list[FuzzCase] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            cases.extend(_hand_made(record) if "model_output" in record else [FuzzCase(**record)])
        except (ValueError, TypeError, KeyError, ValidationError) as error:
            reason = str(error).splitlines()[0]
            raise InputError(
                f"{path}, line {number}, is no case: {reason}.",
                hint="Give the JSON of FuzzCase, or chunks, model_output and expected.",
            ) from error
    return tuple(cases)


def _hand_made(record: dict[str, Any]) -> Iterator[FuzzCase]:
    output = record["model_output"]
    claims = output.get("claims") if isinstance(output, dict) else None
    if not isinstance(claims, list):
        return
    chunks = tuple(Passage(id=c["id"], text=c["text"]) for c in record["chunks"])
    known = {chunk.id for chunk in chunks}
    for number, (claim, expected) in enumerate(
        zip(claims, record["expected"]["claims"], strict=False)
    ):
        cited = claim["chunk_id"]
        located = expected["verdict"] in _BENIGN and "start" in expected and cited in known
        if not located and not _misplaced(expected):
            continue
        yield FuzzCase(
            id=f"{record['id']}-{number}",
            kind=record["kind"],
            label="benign" if located else "tamper",
            chunks=chunks,
            cited=cited,
            quote=claim["quote"],
            original=expected.get("exact_quote", claim["quote"]),
            expected=Span(start=expected["start"], end=expected["end"]) if located else None,
            claim=claim["text"],
        )


def _misplaced(expected: dict[str, Any]) -> bool:
    return expected["verdict"] == "rejected" and expected.get("literal") is False
