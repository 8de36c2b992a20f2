"""What the page is told of an answer; its JSON is what the script reads."""

from __future__ import annotations

from typing import Literal

from chatbot.layout import Part
from chatbot.passages import Block
from grounded_rag.types import Frozen


class DateLine(Frozen):
    """A date of a document, told in words."""

    label: str
    date: str


class Badge(Frozen):
    """Something to know about a source at once.

    Attributes:
        kind: "current", or the kind of the flag.
        label: One or two words.
    """

    kind: str
    label: str


class SourceView(Frozen):
    """A source card.

    Attributes:
        number: Its mark in the answer; None for a passage that is no part of it.
        title: Title of the document.
        place: Headings that govern the quote, or stand above the passage.
        file: Id of the document.
        page: Page on which the quote starts, where known.
        badges: What to know at once.
        dates: When it holds.
        blocks: The passage, with the quote marked.
        quote: The quote: the source's own characters.
        exact: Whether the draft's quote was literal, or differed in presentation only.
        picture: Whether the page can be shown as a picture.
    """

    number: int | None = None
    title: str
    place: tuple[str, ...] = ()
    file: str
    page: int | None = None
    badges: tuple[Badge, ...] = ()
    dates: tuple[DateLine, ...] = ()
    blocks: tuple[Block, ...] = ()
    quote: str = ""
    exact: bool = True
    picture: bool = False


class ToldClaim(Frozen):
    """A verified claim that is told before the answer is whole; it is never taken back.

    Attributes:
        text: The claim, character by character.
        blocks: The claim as it is shown.
        restated: Whether it is the source's own sentence, in the place of one of the draft that
            nothing had shown.
    """

    text: str
    blocks: tuple[Block, ...]
    restated: bool = False


class ClaimView(ToldClaim):
    """A verified claim of an answer.

    Attributes:
        numbers: Marks of the sources that carry it.
        tier: On what its support rests: "verbatim" or "confirmed".
    """

    numbers: tuple[int, ...]
    tier: str


class Side(Frozen):
    """One side of a conflict.

    Attributes:
        number: Its mark, for the side that the answer cites.
        title: Title of the document.
        text: What it says, in its own words.
        dates: When it holds.
    """

    number: int | None
    title: str
    text: str
    dates: tuple[DateLine, ...] = ()


class Note(Frozen):
    """A remark on the answer.

    Attributes:
        kind: Kind of the flag.
        label: A few words.
        detail: One sentence.
        since: When the state began, where known.
        numbers: Marks that it is about.
        current: Title of the document in force, for an outdated source.
        sides: Both sides of a conflict.
    """

    kind: str
    label: str
    detail: str
    since: str | None = None
    numbers: tuple[int, ...] = ()
    current: str | None = None
    sides: tuple[Side, ...] = ()


class RefusalView(Frozen):
    """Why there is no answer, and what was found instead.

    Attributes:
        text: The one refusal sentence.
        detail: Why.
        next_step: What to do.
        nearest: Passages to read oneself. They are no answer.
    """

    text: str
    detail: str
    next_step: str
    nearest: tuple[SourceView, ...] = ()


class AnswerView(Frozen):
    """All that the page shows of an answer.

    Attributes:
        id: Name of the answer in later requests.
        question: The question.
        status: Answered, partial (a part of the question stays open) or refused.
        claims: The verified claims.
        parts: How they are shown together.
        support: On what they rest, in words.
        sources: The cards, by number.
        unanswered: Parts of the question that stay open.
        notes: Remarks: outdated, conflicting, and others.
        undated: What is said of sources without a date; "" where each has one.
        refusal: Set instead of claims.
        corpus: Title of the corpus.
        as_of: Date for which the answer holds.
        passages: Passages that it was checked against.
        documents: Documents that it cites.
    """

    id: str
    question: str
    status: Literal["answered", "partial", "refused"]
    claims: tuple[ClaimView, ...] = ()
    parts: tuple[Part, ...] = ()
    support: str = ""
    sources: tuple[SourceView, ...] = ()
    unanswered: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    undated: str = ""
    refusal: RefusalView | None = None
    corpus: str
    as_of: str
    passages: int
    documents: int
