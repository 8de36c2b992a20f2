"""One browser: its uploads and its answers, and nobody else's."""

from __future__ import annotations

import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from chatbot.corpora import Corpus, Documents
from grounded_rag import Answer, GroundedRAG
from grounded_rag.conversation import Conversation

_MOST_ANSWERS = 20
_MOST_TURNS = 8
_KEPT_TURNS = 4


@dataclass(frozen=True)
class Kept:
    """An answer that a session may come back to, with the corpus that it came from."""

    answer: Answer
    corpus: Corpus


@dataclass(kw_only=True)
class Session:
    """What belongs to one browser.

    Attributes:
        folder: Holds its uploads and their index; nothing in it carries a name it was given.
        answers: Its latest answers by id.
        conversations: What was asked before, by corpus, with what answered it.
        uploads: Names for people of its documents, by document id.
        own: Its documents, once there are some.
        joined: The common corpora together with them, by id.
        busy: Held while its uploads change.
        asking: Questions and uploads of it that are worked on.
        seen: When it was last heard of.
    """

    folder: Path
    answers: OrderedDict[str, Kept] = field(default_factory=OrderedDict)
    conversations: dict[str, tuple[GroundedRAG, Conversation]] = field(default_factory=dict)
    uploads: dict[str, str] = field(default_factory=dict)
    own: Documents | None = None
    joined: dict[str, Corpus] = field(default_factory=dict)
    busy: anyio.Lock = field(default_factory=anyio.Lock)
    asking: int = 0
    seen: float = 0.0

    def conversation(self, corpus: Corpus) -> Conversation:
        """Return the conversation over a corpus; its oldest turns are forgotten in time.

        Each question checks the earlier answers again, so a long conversation would grow slow.
        """
        rag, found = self.conversations.get(corpus.id, (corpus.rag, None))
        if found is None or rag is not corpus.rag or len(found.turns) > _MOST_TURNS:
            turns = found.turns[-_KEPT_TURNS:] if found is not None else ()
            found = Conversation(corpus.rag, turns=turns)
            self.conversations[corpus.id] = corpus.rag, found
        return found

    def corpus(self, common: Corpus) -> Corpus:
        """Return a common corpus together with the session's own documents, if it has any."""
        if self.own is None:
            return common
        if common.id not in self.joined:
            self.joined[common.id] = common.with_documents(self.own)
        return self.joined[common.id]

    def forget_uploads(self) -> None:
        """Delete the session's own documents, and every answer: some may rest on them."""
        self.begin_again()
        for corpus in self.joined.values():
            corpus.rag.close()
        self.joined.clear()
        if self.own is not None:
            self.own.close()
            self.own = None
        self.uploads.clear()
        for left in self.folder.glob("*"):
            shutil.rmtree(left, ignore_errors=True)

    def begin_again(self) -> None:
        """Forget what was asked."""
        self.answers.clear()
        self.conversations.clear()

    def keep(self, answer: Answer, corpus: Corpus) -> str:
        """Remember an answer, and return the name to ask for it by."""
        answer_id = secrets.token_urlsafe(12)
        self.answers[answer_id] = Kept(answer, corpus)
        while len(self.answers) > _MOST_ANSWERS:
            self.answers.popitem(last=False)
        return answer_id

    def close(self) -> None:
        """Forget everything, files included."""
        self.forget_uploads()
        shutil.rmtree(self.folder, ignore_errors=True)


class Sessions:
    """All sessions, in memory and in a folder that does not outlive the service."""

    def __init__(
        self, *, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._root = tempfile.TemporaryDirectory(prefix="grounded-rag-chatbot-")
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        return len(self._sessions)

    def find(self, token: str | None) -> Session | None:
        """Return the session of a cookie, or None where there is none any more."""
        self._expire()
        session = self._sessions.get(token or "")
        if token is not None and session is not None:
            session.seen = self._clock()
            self._sessions.move_to_end(token)
        return session

    def start(self) -> tuple[str, Session]:
        """Start a session; the one idle longest makes room."""
        self._expire()
        token = secrets.token_urlsafe(32)
        folder = Path(tempfile.mkdtemp(dir=self._root.name))
        session = Session(folder=folder, seen=self._clock())
        self._sessions[token] = session
        while len(self._sessions) > self._most:
            idle = next((key for key, one in self._sessions.items() if not one.asking), token)
            if idle == token:
                break
            self._sessions.pop(idle).close()
        return token, session

    def close(self) -> None:
        """Close every session and delete their files."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()
        self._root.cleanup()

    def _expire(self) -> None:
        oldest = self._clock() - self._seconds
        for token, session in list(self._sessions.items()):
            if session.seen > oldest:
                break
            if not session.asking:
                self._sessions.pop(token).close()
