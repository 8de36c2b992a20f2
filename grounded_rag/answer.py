"""`Answer`: what a question gets, with its renderings and its receipt as methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grounded_rag.types import AnswerData, Receipt

_SHOWN = 80


class Answer(AnswerData):
    """An answer whose every sentence is a verified claim, or a refusal.

    All values are fields of `AnswerData`; this class adds what is made of them. `print(answer)`
    shows it with its sources, and so does a notebook.
    """

    def to_html(self, *, standalone: bool = False, id_prefix: str = "answer") -> str:
        """Return the answer as HTML, every value escaped; see `render.html.to_html`.

        Args:
            standalone: Whether to return a whole document instead of an `<article>`.
            id_prefix: Begins the ids of the article, so that several fit into one page.

        Raises:
            ValueError: `id_prefix` is no simple name.
        """
        from grounded_rag.render.html import to_html

        return to_html(self, standalone=standalone, id_prefix=id_prefix)

    def to_markdown(self) -> str:
        """Return the answer as Markdown, every value escaped; see `render.markdown.to_markdown`."""
        from grounded_rag.render.markdown import to_markdown

        return to_markdown(self)

    def to_terminal(self, *, color: bool = False, width: int = 80) -> str:
        """Return the answer as lines for a terminal, free of control characters.

        Args:
            color: Whether to colour the text.
            width: Columns to wrap at.
        """
        from grounded_rag.render.terminal import to_terminal

        return to_terminal(self, color=color, width=width)

    def receipt(self, *, include_text: bool = True) -> Receipt:
        """Return a receipt: all that anyone needs to check this answer again, offline.

        Args:
            include_text: Whether the texts of the cited chunks travel with it.

        Raises:
            ReceiptError: The answer holds text that JSON cannot carry.
        """
        from grounded_rag.receipts.make import make_receipt

        return make_receipt(self, include_text=include_text)

    def __str__(self) -> str:
        return self.to_terminal()

    def __repr_args__(self) -> Iterator[tuple[str, Any]]:
        # What tells answers apart in a log or a debugger; the evidence would fill pages.
        for name in ("question", "text"):
            value: str = getattr(self, name)
            yield name, value if len(value) <= _SHOWN else f"{value[: _SHOWN - 1]}…"
        yield "status", str(self.status)
        if self.refusal is not None:
            yield "refusal", str(self.refusal.reason)
        else:
            yield "claims", len(self.claims)
            yield "sources", len(self.references)

    def _repr_html_(self) -> str:
        from grounded_rag.render.html import to_notebook

        return to_notebook(self)
