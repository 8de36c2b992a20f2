"""Questions that the page offers for documents of one's own: found in them, and tried first."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import threading
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from chatbot.corpora import Corpus, Documents, Suggestion
from chatbot.markup import plain
from chatbot.passages import MARKDOWN
from grounded_rag import Answer, FlagKind, GroundedRAG, GroundedRAGError
from grounded_rag.text.sentences import ends_with_stop
from grounded_rag.text.words import content_words
from grounded_rag.verification.cleaning import spoofs
from grounded_rag.verification.support.quoted import injected_spans

_OFFERED = 6
_MOST_TRIED = 24
_MOST_OF_A_DOCUMENT = 2
_MOST_DOCUMENTS = 200
_SHORTEST, _LONGEST = 4, 90
_NO_PROSE = frozenset("<>{}[]|\\`*_#=@")
# A line that a paragraph begins with and that asks, as in a list of questions and answers.
_PARAGRAPH_LINE = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*([^\n]{4,120}[?？؟][*_]{0,2})[ \t]*(?=\n|\Z)")
_NUMBER = re.compile(r"^(?:[-*•][ \t]+)?(?:\(?[0-9]{1,3}(?:\.[0-9]{1,3}){0,4}[.)]?|Q:)[ \t]+")
_KEEPS = TypeAdapter(tuple[Suggestion, ...])
_LOG = logging.getLogger("chatbot")


class Candidate(NamedTuple):
    """A question that a document may answer.

    Attributes:
        question: The question.
        doc_id: The document.
        topic: Heading or question that it was made of.
        title: Title of the document.
    """

    question: str
    doc_id: str
    topic: str
    title: str


def candidates(documents: Documents) -> Iterator[Candidate]:
    """Yield questions that documents may answer: their own first, then those about a heading.

    The documents take turns. Text that speaks to a model, hides something or is no prose gives no
    question, and neither does a document that is not trusted.
    """
    index = documents.opened.index
    asked: list[list[Candidate]] = []
    about: list[list[Candidate]] = []
    for doc_id in sorted(index.states())[:_MOST_DOCUMENTS]:
        entry, document = index.entry(doc_id), index.document(doc_id)
        if entry is None or document is None or entry.trust == "untrusted":
            continue
        title = documents.names.get(doc_id) or entry.title or doc_id
        markdown = document.media_type == MARKDOWN
        headings = [plain(section.title, markdown=markdown) for section in document.sections]
        lines = [plain(line, markdown=markdown) for line in _PARAGRAPH_LINE.findall(document.text)]
        topics = [_NUMBER.sub("", text) for text in dict.fromkeys((*headings, *lines))]
        asked.append(
            [
                Candidate(text, doc_id, text, title)
                for text in dict.fromkeys(topics)
                if _is_question(text) and may_be_offered(text)
            ]
        )
        about.append(
            [
                Candidate(f"What do the documents say about “{text}”?", doc_id, text, title)
                for text in dict.fromkeys(topics[: len(headings)])
                if not _is_question(text) and may_be_offered(text) and text != title
            ]
        )
    for turn in chain(zip_longest(*asked), zip_longest(*about)):
        yield from filter(None, turn)


def _is_question(text: str) -> bool:
    return text.endswith(("?", "？", "؟"))


def may_be_offered(text: str) -> bool:
    """Whether a text of a document may stand on a button: short prose that tricks nobody."""
    return (
        _SHORTEST <= len(text) <= _LONGEST
        and text.isprintable()
        and _NO_PROSE.isdisjoint(text)
        and "://" not in text
        and bool(content_words(text))
        and not spoofs(text)
        and not injected_spans(text)
    )


def is_answered(candidate: Candidate, answer: Answer) -> bool:
    """Whether an answer is whole, without a remark, and says something on the topic first."""
    remarked = any(flag.kind is not FlagKind.UNDATED for flag in answer.flags)
    if not answer.answered or answer.unanswered or remarked:
        return False
    first = answer.claims[0]
    topic, said = _words(candidate.topic), _words(first.text)
    return (
        ends_with_stop(first.text)
        and candidate.question not in first.text
        and 2 * len(topic & said) >= len(topic)
        and any(located.doc_id == candidate.doc_id for located in first.located)
    )


def _words(text: str) -> set[str]:
    return {word.stem for word in content_words(text)}


class Suggester:
    """Makes suggestions in the background, one corpus at a time, and keeps them beside its index.

    The built-in generator tries them, whatever generator answers: no provider is called.
    """

    def __init__(self) -> None:
        self._made: dict[str, list[Suggestion]] = {}
        self._ready: set[str] = set()
        self._threads: list[threading.Thread] = []
        self._turn = threading.Lock()
        self._stopped = threading.Event()

    def of(self, corpus: Corpus) -> tuple[tuple[Suggestion, ...], bool]:
        """Return the suggestions that there are, and whether these are all."""
        if corpus.suggestions:
            return corpus.suggestions, True
        if corpus.id not in self._made:
            self._made[corpus.id] = []
            thread = threading.Thread(target=self._work, args=(corpus,), daemon=True)
            self._threads.append(thread)
            thread.start()
        return tuple(self._made[corpus.id]), corpus.id in self._ready

    def close(self) -> None:
        """Stop, and wait for the question that is being tried."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _work(self, corpus: Corpus) -> None:
        made = self._made[corpus.id]
        documents = corpus.parts[0]
        try:
            with self._turn:
                path = _file(documents)
                kept = _load(path)
                for suggestion in kept if kept is not None else self._find(corpus):
                    made.append(suggestion)  # seen by the page at once
                if kept is None and not self._stopped.is_set():
                    path.write_bytes(_KEEPS.dump_json(tuple(made)))
        except (GroundedRAGError, OSError):
            # Nobody needs them: the page goes without.
            _LOG.warning("No questions could be suggested for %s.", corpus.id, exc_info=True)
        finally:
            self._ready.add(corpus.id)

    def _find(self, corpus: Corpus) -> Iterator[Suggestion]:
        documents = corpus.parts[0]
        found: Counter[str] = Counter()
        with GroundedRAG.open(
            documents.opened.path, embedding=documents.opened.embedding, policy=corpus.policy
        ) as rag:
            for candidate in islice(candidates(documents), _MOST_TRIED):
                if self._stopped.is_set() or found.total() == _OFFERED:
                    return
                if found[candidate.doc_id] < _MOST_OF_A_DOCUMENT and is_answered(
                    candidate, rag.query(candidate.question, as_of=corpus.today)
                ):
                    found[candidate.doc_id] += 1
                    yield Suggestion(label=candidate.title, question=candidate.question)


def _file(documents: Documents) -> Path:
    """Return the file that keeps the suggestions of an index in its present state."""
    index = documents.opened.index
    states = sorted((one.doc_id, one.content_hash) for one in index.states().values())
    digest = hashlib.sha256(json.dumps(states).encode()).hexdigest()[:16]
    path = documents.opened.path
    return path.with_name(f"{path.name}-suggestions-{digest}.json")


def _load(path: Path) -> tuple[Suggestion, ...] | None:
    try:
        return _KEEPS.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
