"""Where the fact stood, whether it was cited and said: what the diagnosis decides by."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from grounded_rag.evaluation.completeness import Completeness, completeness
from grounded_rag.evaluation.gold import of_chunk, of_citation, on_gold, on_piece, pieces_covered
from grounded_rag.evaluation.judged import Judged
from grounded_rag.evaluation.records import GoldenItem
from grounded_rag.text.numbers import Agreement, Quantity, compare, find_quantities
from grounded_rag.types import FlagKind, Located, RetrievedChunk
from grounded_rag.validity import current

_SAME = frozenset({Agreement.SAME, Agreement.WEAKER, Agreement.UNIT_ADDED})


class Facts:
    """What is known about one judged answer and the fact that it should give.

    The fact is the item's gold, or, without gold places, text that holds the expected values.
    """

    def __init__(self, judged: Judged) -> None:
        self._judged = judged
        self.item: GoldenItem = judged.item

    @cached_property
    def rank(self) -> int | None:
        """1-based rank of the first retrieved chunk with the fact, or None."""
        for rank, chunk in enumerate(self._judged.retrieved, start=1):
            if self._holds(chunk):
                return rank
        return None

    @cached_property
    def places(self) -> tuple[Located, ...]:
        """Usable places that the claims cite."""
        return tuple(
            check.located
            for claim in self._judged.claims
            for check in claim.citations
            if check.located is not None and check.problem is None
        )

    @cached_property
    def cited(self) -> bool:
        """Whether a claim cites the fact."""
        if self.item.gold:
            return any(on_gold(of_citation(place), self._judged.record) for place in self.places)
        holders = {chunk.chunk.id for chunk in self._judged.retrieved if self._holds(chunk)}
        return any(place.chunk_id in holders for place in self.places)

    @cached_property
    def best_cited_rank(self) -> int | None:
        """Rank of the first retrieved chunk that a claim cites."""
        ids = {place.chunk_id for place in self.places}
        for rank, chunk in enumerate(self._judged.retrieved, start=1):
            if chunk.chunk.id in ids:
                return rank
        return None

    @cached_property
    def compared(self) -> Completeness:
        """The answer, with what the reader was told beside it, against the expected one."""
        told = " ".join(f.detail for f in self._judged.flags if f.kind is FlagKind.CONFLICT)
        return completeness(
            self.item.expected, f"{self._judged.text} {told}", question=self.item.question
        )

    @property
    def complete(self) -> bool | None:
        """Whether every expected value was given; None where there is none to compare."""
        return not self.compared.missing if self.compared.wanted else None

    def cited_currently(self, outdated: Collection[str]) -> bool:
        """Whether a claim cites the fact in a document other than the outdated ones.

        Args:
            outdated: Ids of documents out of force.
        """
        return any(
            place.doc_id not in outdated and on_gold(of_citation(place), self._judged.record)
            for place in self.places
        )

    def why_missing(self) -> str:
        """Say in one sentence where the fact should have come from."""
        files = dict.fromkeys(option.file for piece in self.item.gold for option in piece.any_of)
        where = f" of {', '.join(list(files)[:3])}" if files else ""
        return f"None of the {len(self._judged.retrieved)} retrieved chunks holds the fact{where}."

    def piece_rank(self, piece: int) -> int | None:
        """Return the rank of the first retrieved chunk on one gold piece, or None.

        Args:
            piece: 0-based number of the piece.
        """
        for rank, chunk in enumerate(self._judged.retrieved, start=1):
            if on_piece(of_chunk(chunk), self._judged.record, piece):
                return rank
        return None

    def uncited_piece(self) -> int | None:
        """Return the 0-based number of the first needed piece that is not cited, or None."""
        covered = pieces_covered([of_citation(place) for place in self.places], self._judged.record)
        return next((number for number, have in enumerate(covered) if not have), None)

    def untold_conflict(self) -> str:
        """Say which current source disagrees without the reader having been told, or ""."""
        for flag in self._judged.found:
            if flag.kind is FlagKind.CONFLICT and flag not in self._judged.flags:
                return f"{flag.doc_id} disagrees, and the answer gives one side: {flag.detail}"
        return self._conflicting_gold()

    def _conflicting_gold(self) -> str:
        """Look for a value of the expected answer that only an uncited gold source has."""
        if any(flag.kind is FlagKind.CONFLICT for flag in self._judged.flags):
            return ""
        cited = {place.doc_id for place in self.places}
        missing = [q for q in find_quantities(self.item.expected) if not self._given(q)]
        for piece in self.item.gold:
            ours = [option.quote for option in piece.any_of if option.file in cited]
            for option in piece.any_of:
                if option.file in cited or not ours or not self._current(option.file):
                    continue
                for value in missing:
                    if _has(option.quote, value) and not any(_has(text, value) for text in ours):
                        return f"{option.file} says {value.text}, and the answer gives one side."
        return ""

    def values_missing(self) -> tuple[str, ...]:
        """Return numbers, dates and times of the expected answer that the answer lacks.

        Words are left out: another gold place may say the same with others.
        """
        missing = set(self.compared.missing)
        return tuple(
            q.text
            for q in find_quantities(self.item.expected)
            if q.text in missing and not _written(self._judged.text, q)
        )

    def contradicts_source(self) -> bool:
        """Whether no gold text in force holds what the answer lacks of the expected one."""
        missing = set(self.compared.missing)
        if not missing:
            return False
        options = [o for piece in self.item.gold for o in piece.any_of if self._current(o.file)]
        text = " ".join([*(o.quote for o in options), *(place.quote for place in self.places)])
        found = completeness(self.item.expected, text, question=self.item.question)
        absent = missing & set(found.missing)
        written = {q.text for q in find_quantities(self.item.expected) if _written(text, q)}
        return bool(absent - written)

    def _given(self, value: Quantity) -> bool:
        return _has(self._judged.text, value)

    def _current(self, doc_id: str) -> bool:
        as_of = self.item.as_of
        return as_of is None or all(
            current(chunk.validity, as_of=as_of)
            for chunk in self._judged.retrieved
            if chunk.chunk.doc_id == doc_id
        )

    def _holds(self, chunk: RetrievedChunk) -> bool:
        if self.item.gold:
            return on_gold(of_chunk(chunk), self._judged.record)
        found = completeness(self.item.expected, chunk.chunk.text, question=self.item.question)
        return bool(found.wanted) and not found.missing


def _written(text: str, value: Quantity) -> bool:
    """Whether the digits stand in the text, whatever unit a table's header gives them."""
    digits = re.findall(r"\d[\d.,:]*\d|\d", value.text)
    return bool(digits) and all(number in text for number in digits)


def _has(text: str, value: Quantity) -> bool:
    return any(compare(value, other) in _SAME for other in find_quantities(text))
