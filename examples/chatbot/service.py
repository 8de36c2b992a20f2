"""What the requests share, and how a request finds its session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chatbot.feedback import FeedbackFile
from chatbot.limits import Gate, RateLimiter
from chatbot.sessions import Kept, Session, Sessions
from chatbot.suggesting import Suggester

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

    from chatbot.corpora import Corpus
    from chatbot.settings import Settings


class SessionGoneError(Exception):
    """The request names no session, or one that has ended."""


class NotFoundError(Exception):
    """What was asked for is not there, or belongs to somebody else."""


@dataclass(frozen=True, kw_only=True)
class Service:
    """Everything that lives as long as the service.

    Attributes:
        settings: Limits and bounds.
        corpora: What everybody can ask, by id.
        embedding: Embedding for the indexes of uploads.
        sessions: Who is there.
        feedback: Where thumbs go.
        gate: How much is worked on at once.
        asks: How often a session may ask.
        asks_of_address: How often an address may ask.
        starts: How often an address may start a session.
        uploads: How often a session may upload.
        suggester: Makes the questions that are offered.
    """

    settings: Settings
    corpora: dict[str, Corpus]
    embedding: BaseEmbedding | None
    sessions: Sessions
    feedback: FeedbackFile
    gate: Gate
    asks: RateLimiter
    asks_of_address: RateLimiter
    starts: RateLimiter
    uploads: RateLimiter
    suggester: Suggester

    def session(self, token: str | None) -> Session:
        """Return the session of a cookie.

        Raises:
            SessionGoneError: There is none.
        """
        session = self.sessions.find(token)
        if session is None:
            raise SessionGoneError
        return session

    def corpus(self, session: Session, corpus_id: str) -> Corpus:
        """Return a common corpus, together with the session's own documents if it has any.

        Raises:
            NotFoundError: There is none of that id.
        """
        return session.corpus(self.common(corpus_id))

    def common(self, corpus_id: str) -> Corpus:
        """Return a corpus that everybody can ask.

        Raises:
            NotFoundError: There is none of that id.
        """
        found = self.corpora.get(corpus_id)
        if found is None:
            raise NotFoundError("There are no such documents.")
        return found

    @staticmethod
    def kept(session: Session, answer_id: str) -> Kept:
        """Return an answer of a session.

        Raises:
            NotFoundError: There is none, or it belongs to another session.
        """
        found = session.answers.get(answer_id)
        if found is None:
            raise NotFoundError("This answer is not there any more.")
        return found

    def close(self) -> None:
        """Close every session and corpus."""
        self.suggester.close()
        self.sessions.close()
        for corpus in self.corpora.values():
            corpus.close()
