"""Reading corpora: the demo, a folder of documents, or public data sets laid out in folders."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from grounded_rag.errors import InputError
from grounded_rag.resources import demo_corpus_dir
from grounded_rag.testing.tamper.material import Corpus
from grounded_rag.testing.tamper.values import Passage

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
