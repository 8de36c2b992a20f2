"""Starts a golden set from a corpus: places worth a question, for a person to ask it.

Nothing is invented: a template names a passage, literally, and leaves question, answer and labels
blank. What nobody fills in stays an error of `check_golden`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from grounded_rag.errors import InputError
from grounded_rag.text.sentences import split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Document, Frozen, Span

_LEAST_WORDS = 6
_LONGEST = 400


class GoldenTemplates(Frozen):
    """What was written for a person to fill in.

    Attributes:
        path: The file.
        answerable: Templates with a passage to ask about.
        unanswerable: Blank templates for questions that the documents do not answer.
        documents: Documents that passages were taken from.
    """

    path: Path
    answerable: int
    unanswerable: int
    documents: int


class _Passage(Frozen):
    doc_id: str
    quote: str
    order: str


def new_golden(
    path: Path | str, documents: Iterable[Document], *, size: int = 150, seed: int = 0
) -> GoldenTemplates:
    """Write templates of a golden set; a third is for questions without an answer.

    Passages are drawn from all documents in turn, so that no long document fills the set.

    Args:
        path: File to write; it must not exist.
        documents: The corpus.
        size: Number of templates, at least 3.
        seed: The same seed draws the same passages.

    Raises:
        InputError: The file exists, or the documents hold no sentence to ask about.
    """
    path = Path(path)
    if size < 3:
        raise InputError(f"{size} templates are too few.", hint="Ask for 3 or more.")
    unanswerable = size // 3
    chosen = _drawn(list(documents), size - unanswerable, seed)
    if not chosen:
        raise InputError(
            "The documents hold no sentence to ask about.", hint="Name a folder with prose."
        )
    lines = [_template(f"t{number:03}", passage) for number, passage in enumerate(chosen, start=1)]
    first = len(lines) + 1
    lines += [_template(f"t{number:03}", None) for number in range(first, first + unanswerable)]
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    except FileExistsError as error:
        raise InputError(f"{path} exists.", hint="Name a new file.") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", hint="Name another file."
        ) from error
    return GoldenTemplates(
        path=path,
        answerable=len(chosen),
        unanswerable=unanswerable,
        documents=len({passage.doc_id for passage in chosen}),
    )


def _template(name: str, passage: _Passage | None) -> dict[str, object]:
    gold = (
        [] if passage is None else [{"any_of": [{"file": passage.doc_id, "quote": passage.quote}]}]
    )
    note = (
        "Ask what no document answers, near to what they do answer; set answerable to no."
        if passage is None
        else "Ask what this passage answers, in a user's words; set answerable and expected."
    )
    return {
        "id": name,
        "kind": "",
        "tags": [],
        "question": "",
        "as_of": None,
        "answerable": "",
        "expected": "",
        "gold": gold,
        "unanswered": "",
        "note": note,
        "split": "",
    }


def _drawn(documents: Sequence[Document], count: int, seed: int) -> list[_Passage]:
    """Return passages of all documents in turn, in an order that hangs on the seed alone."""
    queues = [sorted(_passages(document, seed), key=lambda p: p.order) for document in documents]
    queues = sorted((queue for queue in queues if queue), key=lambda queue: queue[0].order)
    drawn: list[_Passage] = []
    depth = 0
    while len(drawn) < count and any(depth < len(queue) for queue in queues):
        drawn += [queue[depth] for queue in queues if depth < len(queue)]
        depth += 1
    return drawn[:count]


def _passages(document: Document, seed: int) -> Iterable[_Passage]:
    for span in split_sentences(document.text):
        quote = span.of(document.text).strip()
        if len(quote) > _LONGEST or _in_heading(document, span):
            continue
        if len(content_words(quote)) >= _LEAST_WORDS:
            named = f"{seed}\x00{document.id}\x00{span.start}\x00{quote}"
            order = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
            yield _Passage(doc_id=document.id, quote=quote, order=order)


def _in_heading(document: Document, span: Span) -> bool:
    return any(heading.overlaps(span) for heading in document.headings)
