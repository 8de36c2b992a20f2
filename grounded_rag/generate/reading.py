"""From what a provider returned to a draft with real chunk ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grounded_rag.generate.messages import BuiltMessages
from grounded_rag.generate.responses import Ending, objects_in, without_surrogates
from grounded_rag.generate.schema import AnswerShape, LabelledShape, unwrapped
from grounded_rag.types import Citation, Claim, Draft, Frozen, Usage


class Reading(Frozen):
    """What one call gave: a draft, or how it ended without one.

    Attributes:
        draft: The draft, or None.
        ending: How the call ended.
        word: The provider's own word for it, or "".
        usage: Tokens of the call.
        written: What the model wrote, where no draft could be read from it.
    """

    draft: Draft | None = None
    ending: Ending = Ending.UNSTATED
    word: str = ""
    usage: Usage = Usage()
    written: str = ""


def read_draft(parsed: AnswerShape, messages: BuiltMessages) -> Draft:
    """Return the draft of a parsed answer; unknown labels stay as they are, for verification.

    Args:
        parsed: What the model returned.
        messages: What it was sent, with the labels.
    """
    claims = tuple(
        Claim(
            text=claim.text,
            citations=(
                _labelled(claim.sentences, messages)
                if isinstance(parsed, LabelledShape)
                else _copied(claim.citations, messages)
            ),
            arithmetic=claim.arithmetic.strip() or None,
        )
        for claim in parsed.claims
    )
    return Draft(claims=claims, unanswered=tuple(parsed.unanswered), repaired=parsed.repaired)


def read_text(text: str, shape: type[AnswerShape]) -> AnswerShape | None:
    """Return the answer that a model wrote as text instead of calling the tool, or None.

    Smaller models put the right JSON into their text. What stands around it is not read; nor is
    anything where several answers stand in the text.
    """
    found = [given for given in objects_in(text) if "claims" in (unwrapped(given) or ())]
    if len(found) != 1:
        return None
    try:
        answer = shape.model_validate(without_surrogates(found[0]))
    except ValueError:
        return None
    return answer.model_copy(update={"repaired": True})


def _labelled(sentences: Sequence[str], messages: BuiltMessages) -> tuple[Citation, ...]:
    return tuple(dict.fromkeys(messages.citation(label) for label in sentences))


def _copied(entries: Sequence[Any], messages: BuiltMessages) -> tuple[Citation, ...]:
    return tuple(
        Citation(chunk_id=messages.chunk_id(entry.chunk_id), quote=entry.quote) for entry in entries
    )
