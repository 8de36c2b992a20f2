"""A conversation over a `GroundedRAG`: self-standing questions, earlier answers checked again."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from anyio import to_thread
from pydantic import Field, JsonValue

from grounded_rag.answer import Answer
from grounded_rag.conversation.follow_ups import stand_alone, why_left
from grounded_rag.conversation.rewriting import PromptRewriter, RuleRewriter
from grounded_rag.errors import GroundedRAGError, QuestionError
from grounded_rag.events import Event, Final
from grounded_rag.types import Frozen, Instant

if TYPE_CHECKING:
    from grounded_rag.rag import GroundedRAG
    from grounded_rag.receipts.findings import ReceiptCheck


_NOTE = (
    "One sentence where the rewriter failed, or where a question that seems to go on from another "
    "was asked as it stands; empty otherwise."
)


class Outdated(Frozen):
    """An earlier answer that no longer holds against the index as it is now."""

    kind: Literal["outdated"] = "outdated"
    turn: int = Field(ge=1, description="1-based number of the turn.")
    question: str = Field(description="Its question.")
    reasons: tuple[str, ...] = Field(
        description="One sentence per claim that does not hold, or source that is outdated since."
    )


class Understood(Frozen):
    """How a question was understood."""

    kind: Literal["understood"] = "understood"
    asked: str = Field(description="The question as it was asked.")
    question: str = Field(
        description="The same made self-standing; equal to `asked` where it stood alone."
    )
    note: str = Field(default="", description=_NOTE)


class Turn(Frozen):
    """One question of a conversation and its answer."""

    asked: str = Field(description="The question as it was asked.")
    question: str = Field(description="The self-standing question that was answered.")
    answer: Answer = Field(
        description="The answer or the refusal; its `question` is the self-standing one."
    )
    note: str = Field(default="", description=_NOTE)
    outdated: tuple[Outdated, ...] = Field(
        default=(),
        description="Earlier answers that were found not to hold any more when this was asked.",
    )


ConversationEvent = Understood | Outdated | Event
"""Any event of a conversation; `kind` says which."""


@runtime_checkable
class Rewriter(Protocol):
    """Makes a follow-up question self-standing."""

    async def rewrite(self, question: str, *, earlier: Sequence[str]) -> str:
        """Return a question that can be understood without the conversation.

        Args:
            question: The question as it was asked.
            earlier: Earlier questions, self-standing, oldest first. Answers are never among them.
        """
        ...


class Conversation:
    """Asks one `GroundedRAG` follow-up questions.

    A follow-up is made self-standing from the earlier *questions* and then answered like any
    other question: from retrieved passages alone. No earlier answer is ever given to a generator,
    so that nothing said before can become evidence, whoever said it. Before each answer the
    earlier ones are checked against the index as it is now.
    """

    def __init__(
        self,
        rag: GroundedRAG,
        *,
        rewriter: Rewriter | None = None,
        turns: Sequence[Turn] = (),
    ) -> None:
        """Begin a conversation, or go on with one.

        Args:
            rag: Answers the questions; it stays open when the conversation ends.
            rewriter: Makes follow-ups self-standing. By default a model does where `rag` has a
                model write its claims, and rules do otherwise.
            turns: Earlier turns, as `turns` of a conversation held them. They may come from
                anywhere: nothing in them is believed.
        """
        self._rag = rag
        self._rewriter = rewriter or _default_rewriter(rag)
        self._turns = list(turns)
        self._told: set[int] = set()

    @property
    def turns(self) -> tuple[Turn, ...]:
        """What was asked and answered, oldest first."""
        return tuple(self._turns)

    def ask(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Turn:
        """Ask the next question; the blocking twin of `aask`."""
        return self._rag.loop.run(partial(self.aask, question, as_of=as_of, filters=filters))

    async def aask(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Turn:
        """Ask the next question.

        Args:
            question: The question; it may refer to earlier ones.
            as_of: Moment for which the answer should hold; today in UTC by default.
            filters: Metadata that documents must carry.

        Returns:
            The turn, with the earlier answers that were found not to hold any more.

        Raises:
            QuestionError: The question is empty.
            ProviderError: The named provider failed.
        """
        understood = await self._understood(question)
        outdated = await self._outdated(as_of)
        answer = await self._rag.aquery(understood.question, as_of=as_of, filters=filters)
        return self._took(understood, answer, outdated)

    def stream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> Iterator[ConversationEvent]:
        """Ask the next question and report what happens; the blocking twin of `astream`."""
        return self._rag.loop.iterate(partial(self.astream, question, as_of=as_of, filters=filters))

    async def astream(
        self,
        question: str,
        *,
        as_of: Instant | str | None = None,
        filters: Mapping[str, JsonValue] | None = None,
    ) -> AsyncGenerator[ConversationEvent]:
        """Ask the next question and report what happens; see `GroundedRAG.astream`.

        First comes `Understood`, then one `Outdated` per earlier answer that no longer holds, then
        the events of the question. The turn is added before the last event.
        """
        understood = await self._understood(question)
        yield understood
        outdated = await self._outdated(as_of)
        for each in outdated:
            self._told.add(each.turn)
            yield each
        stream = self._rag.astream(understood.question, as_of=as_of, filters=filters)
        async with aclosing(stream) as events:
            async for event in events:
                if isinstance(event, Final):
                    self._took(understood, event.answer, outdated)
                yield event

    async def _understood(self, question: str) -> Understood:
        if not question.strip():
            raise QuestionError("The question is empty.", hint="Ask something in plain words.")
        earlier = [turn.question for turn in self._turns]
        notes: list[str] = []
        by_rules = isinstance(self._rewriter, RuleRewriter)
        try:
            written = await self._rewriter.rewrite(question, earlier=earlier)
        except Exception as error:  # noqa: BLE001 - a rewriter may be foreign code
            notes.append(f"The rewriter failed, so rules were used: {_words(error)}")
            written, by_rules = stand_alone(question, earlier), True
        if not written.strip():
            written = question
        if by_rules and earlier and written == question:
            notes.append(why_left(question))
        return Understood(asked=question, question=written, note=" ".join(filter(None, notes)))

    async def _outdated(self, as_of: Instant | str | None) -> tuple[Outdated, ...]:
        """Return the earlier answers that no longer hold and were not reported yet."""
        index = self._rag.index_path
        open_turns = {
            number: turn
            for number, turn in enumerate(self._turns, start=1)
            if turn.answer.answered and number not in self._told
        }
        if index is None or not open_turns:
            return ()
        return await to_thread.run_sync(_check_again, open_turns, index, as_of)

    def _took(self, understood: Understood, answer: Answer, outdated: tuple[Outdated, ...]) -> Turn:
        turn = Turn(
            asked=understood.asked,
            question=understood.question,
            answer=answer,
            note=understood.note,
            outdated=outdated,
        )
        self._turns.append(turn)
        # Told with the turn: had the question failed, nobody would have heard of them.
        self._told.update(each.turn for each in outdated)
        return turn


def _default_rewriter(rag: GroundedRAG) -> Rewriter:
    from grounded_rag.generate.citations_api import CitationsGenerator
    from grounded_rag.generate.structured import StructuredGenerator

    generator = rag.generator
    if not isinstance(generator, StructuredGenerator | CitationsGenerator):
        return RuleRewriter()
    return PromptRewriter(generator.model, client=generator.client, timeout=generator.timeout)


def _words(error: Exception) -> str:
    # Our own errors say what happened; foreign messages may hold anything.
    return error.message if isinstance(error, GroundedRAGError) else f"{type(error).__name__}."


def _check_again(
    turns: Mapping[int, Turn], index: Path, as_of: Instant | str | None
) -> tuple[Outdated, ...]:
    from grounded_rag.receipts.check import verify_receipt

    found: list[Outdated] = []
    for number, turn in turns.items():
        try:
            receipt = turn.answer.receipt()
        except (GroundedRAGError, KeyError, ValueError):
            # A turn from elsewhere whose parts do not fit together, such as claims without places.
            reasons = ["The answer of this turn cannot be checked."]
        else:
            reasons = _against(verify_receipt(receipt, index=index, as_of=as_of))
        if reasons:
            once = tuple(dict.fromkeys(reasons))
            found.append(Outdated(turn=number, question=turn.question, reasons=once))
    return tuple(found)


def _against(check: ReceiptCheck) -> list[str]:
    """Return what speaks against an answer now; what it was flagged for then is no news."""
    from grounded_rag.receipts.findings import UNCHANGED

    reasons = [problem.detail for problem in (*check.altered, *check.unconfirmed)]
    for claim in check.claims:
        if claim.status not in UNCHANGED:
            reasons.append(claim.why)
        reasons.extend(stale.detail for stale in claim.stale if not stale.known_then)
    return reasons
