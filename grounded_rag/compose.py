"""Composes an answer's text: only from supported claims, with numbered marks."""

from __future__ import annotations

from collections.abc import Sequence

from grounded_rag.types import ClaimVerdict, number_references


def compose(claims: Sequence[ClaimVerdict]) -> str:
    """Return the text of supported claims, each followed by the marks of its citations.

    Args:
        claims: Claims in reading order.

    Raises:
        ValueError: A claim is not supported or has no located citation; nothing unverified may
            be composed, whoever calls.
    """
    for verdict in claims:
        if not verdict.supported or not verdict.located:
            raise ValueError("only supported claims with a located citation can be composed")
    marks: list[list[str]] = [[] for _ in claims]
    for reference in number_references(claims):
        for index in reference.claims:
            marks[index].append(f"[{reference.number}]")
    return " ".join(
        f"{verdict.text.strip()} {''.join(numbers)}"
        for verdict, numbers in zip(claims, marks, strict=True)
    )
