"""What a generator returns: claims with citations, never free answer text."""

from __future__ import annotations

from grounded_rag.types._base import Frozen


class Citation(Frozen):
    """A pointer from a claim to its evidence.

    Attributes:
        chunk_id: Id of the cited chunk, exactly as it was retrieved.
        quote: Characters copied from that chunk.
    """

    chunk_id: str
    quote: str


class Claim(Frozen):
    """One statement of the answer and the citations that are meant to carry it.

    Attributes:
        text: The statement.
        citations: Its evidence; none means `uncited`. A shipped claim has at least one.
        arithmetic: How a number that no source states follows from quoted numbers, such as
            "(1,496.5 - 1,202.9) / 1,202.9"; it is worked out again. None for most claims.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    arithmetic: str | None = None

    @property
    def chunk_id(self) -> str | None:
        """Chunk id of the first citation, or None."""
        return self.citations[0].chunk_id if self.citations else None

    @property
    def quote(self) -> str | None:
        """Quote of the first citation, or None."""
        return self.citations[0].quote if self.citations else None


class Draft(Frozen):
    """The unverified output of a generator.

    Attributes:
        claims: Claims in reading order; none means "cannot answer".
        unanswered: Parts of the question left open, as literal spans of the question.
        prose: Free text beside the claims, where a foreign stack produced some; it is never shown.
        repaired: Whether the shape of the output was losslessly repaired (claims sent as a string).
    """

    claims: tuple[Claim, ...] = ()
    unanswered: tuple[str, ...] = ()
    prose: str = ""
    repaired: bool = False
