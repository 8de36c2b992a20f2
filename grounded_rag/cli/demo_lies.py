"""A scene of the demo: quotes that stand in the source, under claims that say something else."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grounded_rag import Citation, Claim, ClaimVerdict, Draft, GroundedRAG, RetrievedChunk, verify
from grounded_rag.render.support import IN_SOURCE_WORDS
from grounded_rag.text.display import one_line
from grounded_rag.validity import parse_instant

_QUESTION = "Can a card payment still be disputed after two years?"
_SENTENCE = "In no case can we dispute a payment that is more than 540 days old."
_DRAFTED = (
    (
        "We can dispute a payment that is more than 540 days old.",
        "can we dispute a payment that is more than 540 days old",
    ),
    (_SENTENCE.replace("540", "730"), _SENTENCE),
    ("A payment from over 540 days ago cannot be disputed.", _SENTENCE),
    (_SENTENCE, _SENTENCE),
)


def lies_scene(rag: GroundedRAG, *, today: str) -> RenderableType:
    """Verify what a model might draft over literal quotes: two false claims and two true ones.

    Args:
        rag: The demo bank.
        today: Today in its world.
    """
    retrieved = rag.query(_QUESTION, as_of=parse_instant(today)).trace.retrieved
    verdicts = verify_drafted(retrieved, today=today)
    lines: list[RenderableType] = [
        Text("\nA literal quote is not enough: what a model might draft", style="bold cyan"),
        Text(f"Q: {_QUESTION}"),
    ]
    for verdict in verdicts:
        passed = verdict.supported
        lines += [
            Text("passes: " if passed else "not shown: ", "green" if passed else "yellow")
            + Text(one_line(verdict.text), "default"),
            _indented(f"quoted, character for character: “{one_line(_quote(verdict))}”", "dim"),
            _indented(one_line(verdict.why), "dim"),
        ]
        if verdict.restatement is not None:
            told = f"the reader gets, {IN_SOURCE_WORDS}: {one_line(verdict.restatement)}"
            lines.append(_indented(told, "cyan"))
    lines.append(
        Text(
            "The third draft is true, and nothing here can tell: an entailment model or a judge "
            "may confirm it (--entailment, --judge). Whichever of the four a model drafts, the "
            "reader gets the same sentence."
        )
    )
    return Group(*lines)


def _indented(text: str, style: str) -> Padding:
    return Padding(Text(text, style), (0, 0, 0, 4))


def verify_drafted(retrieved: Sequence[RetrievedChunk], *, today: str) -> tuple[ClaimVerdict, ...]:
    """Return the verdicts on the drafted claims, from the first passage that holds the sentence."""
    source = next(each.chunk for each in retrieved if _SENTENCE in each.chunk.text)
    draft = Draft(
        claims=tuple(
            Claim(text=text, citations=(Citation(chunk_id=source.id, quote=quote),))
            for text, quote in _DRAFTED
        )
    )
    return verify(draft, retrieved, question=_QUESTION, as_of=today).claims


def _quote(verdict: ClaimVerdict) -> str:
    return verdict.located[0].quote
