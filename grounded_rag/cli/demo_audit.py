"""The last scene of the demo: which customers were told a rate that does not hold any more."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from grounded_rag import GroundedRAG, audit_receipts, save_receipt
from grounded_rag.cli.receipt_views import audit_view
from grounded_rag.validity import parse_instant

_THEN = "2024-06-01"
_ASKED = (
    ("What is the savings rate on the Everyday Saver?", _THEN),
    ("What is the savings rate of the Young Saver?", _THEN),
    ("How long do I have to dispute a card payment?", None),
)


def audit_scene(rag: GroundedRAG, *, documents: Path, today: str) -> RenderableType:
    """Answer three customers, keep the receipts, and audit them against today's documents.

    Args:
        rag: The demo bank.
        documents: Folder of its documents.
        today: Today in its world.
    """
    with tempfile.TemporaryDirectory(prefix="grounded-rag-") as folder:
        for question, as_of in _ASKED:
            answer = rag.query(question, as_of=parse_instant(as_of or today))
            save_receipt(answer.receipt(), folder)
        report = audit_receipts(folder, folder=documents, as_of=today)
    lines = [Text("\nThe bank learns which customers were told the old rate", style="bold cyan")]
    lines += [
        Text(
            f"Two customers asked as of {_THEN}, one today; each answer left a receipt. "
            "The audit runs the verifier on them again, against the documents of today:"
        ),
        Text("    grounded-rag receipt audit RECEIPTS --folder DOCUMENTS", style="dim"),
    ]
    return Group(*lines, audit_view(report))
