"""A scene of the demo: quotes that stand in the source, under claims that they do not carry."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from grounded_rag import Citation, Claim, ClaimVerdict, Draft, GroundedRAG, RetrievedChunk, verify
from grounded_rag.text.display import one_line
from grounded_rag.validity import parse_instant

_QUESTION = "Is there an overdraft on savings accounts?"
_SENTENCE = (
    "There is no overdraft on savings accounts, on basic payment accounts, or for customers who "
    "are under 18."
)
_DRAFTED = (
    ("There is an overdraft on savings accounts.", "overdraft on savings accounts"),
    (_SENTENCE.replace("18", "21"), _SENTENCE),
    (_SENTENCE, _SENTENCE),
)


def lies_scene(rag: GroundedRAG, *, today: str) -> RenderableType:
    """Verify what a careless model might draft: each quote is literal, and two claims are false.

    Args:
        rag: The demo bank.
        today: Today in its world.
    """
    retrieved = rag.query(_QUESTION, as_of=parse_instant(today)).trace.retrieved
    verdicts = verify_drafted(retrieved, today=today)
    lines: list[RenderableType] = [
        Text(
            "\nA literal quote is not enough: what a careless model might draft", style="bold cyan"
        ),
        Text(f"Q: {_QUESTION}"),
    ]
    for verdict in verdicts:
        passed = verdict.supported
        lines += [
            Text("passes: " if passed else "refused: ", "green" if passed else "red")
            + Text(one_line(verdict.text), "default"),
            _indented(f"quoted, character for character: “{one_line(_quote(verdict))}”", "dim"),
            _indented(one_line(verdict.why), "dim" if passed else "yellow"),
        ]
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
