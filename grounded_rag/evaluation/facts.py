"""Where the fact stood, whether it was cited and said: what the diagnosis decides by."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cached_property

from grounded_rag.evaluation.gold import (
    Completeness,
    completeness,
    of_chunk,
    of_citation,
    on_gold,
    on_piece,
    pieces_covered,
)
from grounded_rag.evaluation.observed import Judged, is_open
from grounded_rag.evaluation.records import GoldenItem
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Agreement, Quantity, compare
from grounded_rag.types import (
    ClaimStatus,
    ClaimVerdict,
    FlagKind,
    Located,
    RetrievedChunk,
)
from grounded_rag.validity import current

_SAME = frozenset({Agreement.SAME, Agreement.WEAKER, Agreement.UNIT_ADDED})


class Facts:
    """What is known about one judged answer and the fact that it should give.

    The fact is the item's gold, or, without gold places, text that holds the expected values.
    """

    def __init__(self, judged: Judged) -> None:
        self._judged = judged
        self.item: GoldenItem = judged.item

    @property
    def known(self) -> bool:
        """Whether anybody has said what the fact is."""
        return bool(self.item.gold) or bool(self.item.expected.strip())

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

    def cited_in_force(self, outdated: Collection[str]) -> bool:
        """Whether every needed piece is cited in a document other than the outdated ones.

        Args:
            outdated: Ids of documents out of force.
        """
        kept = [of_citation(place) for place in self.places if place.doc_id not in outdated]
        return all(pieces_covered(kept, self._judged.record)) if self.item.gold else bool(kept)

    def beside(self) -> ClaimVerdict | None:
        """Return a claim that cites no gold place at all, or None."""
        for claim in self._judged.claims:
            places = [check.located for check in claim.citations if check.located is not None]
            if not any(on_gold(of_citation(place), self._judged.record) for place in places):
                return claim
        return None

    def unconfirmed(self) -> ClaimVerdict | None:
        """Return a claim that nothing has shown, or None."""
        return next(
            (c for c in self._judged.claims if is_open(c) or c.status is ClaimStatus.UNCHECKED),
            None,
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
        """Say which current gold source disagrees without the reader having been told, or ""."""
        told = {flag.doc_id for flag in self._judged.flags if flag.kind is FlagKind.CONFLICT}
        files = {option.file for piece in self.item.gold for option in piece.any_of}
        for flag in self._judged.found:
            if flag.kind is FlagKind.CONFLICT and flag not in self._judged.flags:
                rivals = {
                    c.chunk.doc_id for c in self._judged.retrieved if c.chunk.id in flag.related
                }
                if rivals & files:
                    return f"{', '.join(sorted(rivals))} disagrees: {flag.detail}"
        return "" if told else self._conflicting_gold()

    def _conflicting_gold(self) -> str:
        """Look for gold places in force that give two values where one can be right.

        Only a value of the expected answer that the answer lacks counts: what it gives as well
        is no hidden side.
        """
        cited = {place.doc_id for place in self.places}
        wanted = [q for q in find_quantities(self.item.expected) if not self._given(q)]
        for piece in self.item.gold:
            ours = [o.quote for o in piece.any_of if o.file in cited]
            for option in piece.any_of:
                if option.file in cited or not ours or not self._current(option.file):
                    continue
                for value in wanted:
                    if _has(option.quote, value) and all(
                        _rivals(text, option.quote, value) for text in ours
                    ):
                        return f"{option.file} says {value.text}; the answer gives one side."
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
        """Whether the answer gives nothing of what is expected, and no gold text in force does."""
        missing = set(self.compared.missing)
        if not missing or missing != set(self.compared.wanted):
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


def _rivals(ours: str, theirs: str, value: Quantity) -> bool:
    """Whether `ours` has another value of the kind of `value`, and neither text has both."""
    if _has(ours, value):
        return False
    return any(
        (other.kind, other.unit) == (value.kind, value.unit) and not _has(theirs, other)
        for other in find_quantities(ours)
    )


def _written(text: str, value: Quantity) -> bool:
    """Whether the digits stand in the text, whatever unit a table's header gives them."""
    digits = re.findall(r"\d[\d.,:]*\d|\d", value.text)
    return bool(digits) and all(number in text for number in digits)


def _has(text: str, value: Quantity) -> bool:
    return any(compare(value, other) in _SAME for other in find_quantities(text))
