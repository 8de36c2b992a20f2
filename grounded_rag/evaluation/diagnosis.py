"""Why was this answer wrong? One verdict for each record, with its evidence and the fix to try."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable
from enum import StrEnum
from functools import cache, cached_property
from importlib import resources
from typing import Any, NamedTuple

from pydantic import Field

from grounded_rag.evaluation.catalogue import unflagged_outdated
from grounded_rag.evaluation.datasets import Answerable, GoldenItem
from grounded_rag.evaluation.gold import (
    Completeness,
    answer_completeness,
    completeness,
    first_rank,
    has_value,
    of_chunk,
    of_citation,
    on_gold,
    on_piece,
    pieces_covered,
)
from grounded_rag.evaluation.records import JudgedRecord, is_open, is_rejected
from grounded_rag.text.numbers import find_quantities
from grounded_rag.text.quantities import Quantity
from grounded_rag.types import (
    ClaimStatus,
    ClaimVerdict,
    FlagKind,
    Frozen,
    Located,
    Reason,
    RetrievedChunk,
)
from grounded_rag.validity import current

BURIED_RANK = 5
"""From this rank on, a retrieved fact counts as buried behind others."""


class Area(StrEnum):
    """Where a fix belongs."""

    NOWHERE = "nowhere"
    RETRIEVAL = "retrieval"
    PROMPT = "prompt"
    VERIFICATION = "verification"
    DATA = "data pipeline"
    GOLDEN = "golden set"
    OPERATION = "operation"


class FailureKind(StrEnum):
    """What went wrong with an answer. Each calls for a different fix."""

    NONE = "none"
    ERROR = "error"
    RETRIEVAL_MISS = "retrieval_miss"
    BURIED = "buried"
    UNFAITHFUL = "unfaithful"
    STALE = "stale"
    CONFLICT = "conflict"
    IRRELEVANT = "irrelevant"
    WRONG_REFUSAL = "wrong_refusal"
    MISSED_REFUSAL = "missed_refusal"
    SOURCE_DISAGREES = "source_disagrees"


class Diagnosis(Frozen):
    """The verdict on one record."""

    kind: FailureKind
    why: str = Field(description="The evidence for it, in one sentence.")
    area: Area = Field(description="Where the fix belongs.")
    fix: str = Field(description="What to try.")
    reason: Reason | None = Field(default=None, description="Why a refused draft was withheld.")


def diagnose(judged: JudgedRecord) -> Diagnosis:
    """Return what went wrong with one record, if anything.

    The order of the rules is the order of causes: an answer from a source out of force, or from
    text in which the fact was not, is not the fault of its wording.
    """
    # Corrected on the even ids of corpora/demo/failures.jsonl alone: the odd ones measure it.
    kind, why = _verdict(judged)
    entry = _fixes()["kinds"][kind]
    area, fix = Area(entry["area"]), entry["fix"]
    reason = _main_reason(judged.withheld) if kind is FailureKind.WRONG_REFUSAL else None
    if reason is not None:
        area, what, fix = cause_of(reason)
        why = f"{why} Its draft was withheld: {what} ({reason})."
    return Diagnosis(kind=kind, why=why, area=area, fix=fix, reason=reason)


class Cause(NamedTuple):
    """Why nothing of a draft was shown: where a fix belongs, what happened, what to try."""

    area: Area
    what: str
    fix: str


def cause_of(reason: Reason) -> Cause:
    """Return what a reason to withhold means."""
    fixes = _fixes()
    known = (entry for entry in fixes["withheld"] if reason in entry["reasons"])
    entry = next(known, fixes["cited_badly"])
    return Cause(Area(entry["area"]), entry["what"], entry["fix"])


@cache
def _fixes() -> dict[str, Any]:
    file = resources.files("grounded_rag.evaluation").joinpath("assets/diagnosis.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _main_reason(claims: Iterable[ClaimVerdict]) -> Reason | None:
    """Return the commonest reason for which nothing of drafted claims was shown, or None.

    Claims whose statement could have been shown count only where there are no others: the answer
    was refused because of those. Why a statement may not stand in counts before why a claim is not
    supported.
    """
    failed = [claim for claim in claims if not claim.supported]
    lost = [claim for claim in failed if not claim.restatements] or failed
    reasons = [reason for claim in lost if (reason := claim.withheld or claim.reason) is not None]
    return Counter(reasons).most_common(1)[0][0] if reasons else None


_Verdict = tuple[FailureKind, str]


def _verdict(judged: JudgedRecord) -> _Verdict:
    if judged.state == "failed":
        return FailureKind.ERROR, judged.failure
    if judged.answerable is False:
        return _unanswerable(judged)
    if judged.answerable is None:
        return _unlabelled(judged)
    if judged.state == "refused" and judged.record.other is not None and not judged.retrieved:
        return (
            FailureKind.WRONG_REFUSAL,
            "It was refused, and what had been retrieved is not on record.",
        )
    if not is_known(judged.item):
        if judged.answered:
            return _unlabelled(judged)
        return (
            FailureKind.WRONG_REFUSAL,
            "The documents answer it, and it was refused; nobody has said what the answer is.",
        )
    facts = _Facts(judged)
    return _refused(facts) if judged.state == "refused" else _answered(judged, facts)


def is_known(item: GoldenItem) -> bool:
    """Whether the golden item says what the answer is."""
    return bool(item.gold) or bool(item.expected.strip())


def _unanswerable(judged: JudgedRecord) -> _Verdict:
    if judged.state == "refused":
        return FailureKind.NONE, "The documents do not answer it, and it was refused."
    how = "every claim only quotes"
    if bad := _rejected(judged):
        how = f"“{_cut(bad.text)}” is rejected by a check as well"
    elif unsure := next(filter(is_open, judged.claims), None):
        how = f"nothing has shown “{_cut(unsure.text)}”"
    return FailureKind.MISSED_REFUSAL, f"The documents do not answer it; {how}."


def _unlabelled(judged: JudgedRecord) -> _Verdict:
    if bad := _rejected(judged):
        return FailureKind.UNFAITHFUL, _why_rejected(bad)
    outdated = unflagged_outdated(judged)
    if outdated:
        return FailureKind.STALE, f"It rests on {', '.join(sorted(outdated))}, out of force."
    return FailureKind.NONE, f"Nobody has said what the right answer is.{_left_open(judged)}"


def _refused(facts: _Facts) -> _Verdict:
    rank = facts.rank
    if rank is None:
        return FailureKind.RETRIEVAL_MISS, facts.why_missing()
    kind = FailureKind.BURIED if rank >= BURIED_RANK else FailureKind.WRONG_REFUSAL
    return kind, f"The fact stands at rank {rank}, and it was refused."


def _answered(judged: JudgedRecord, facts: _Facts) -> _Verdict:
    outdated = unflagged_outdated(judged)
    if outdated and not facts.cited_in_force(outdated):
        return (
            FailureKind.STALE,
            f"It rests on {', '.join(sorted(outdated))}, out of force at the time asked for.",
        )
    if facts.rank is None:
        return FailureKind.RETRIEVAL_MISS, facts.why_missing()
    if not judged.claims:
        return FailureKind.UNFAITHFUL, "The answer makes no claim that could be checked."
    if facts.cited:
        return _on_gold(judged, facts)
    return _beside_gold(judged, facts, facts.rank)


def _on_gold(judged: JudgedRecord, facts: _Facts) -> _Verdict:
    """The claims cite the fact, from documents in force."""
    if rival := facts.unflagged_conflict():
        return FailureKind.CONFLICT, rival
    beside = facts.claim_beside_gold()
    if judged.item.answerable is Answerable.PART and beside and not judged.unanswered:
        return (
            FailureKind.MISSED_REFUSAL,
            f"The documents leave a part open, and “{_cut(beside.text)}” answers it.",
        )
    if bad := _rejected(judged):
        return FailureKind.UNFAITHFUL, _why_rejected(bad)
    return _short_of_expected(judged, facts)


def _beside_gold(judged: JudgedRecord, facts: _Facts, rank: int) -> _Verdict:
    """The claims cite documents in force, and no place of the fact."""
    if bad := _rejected(judged):
        return FailureKind.UNFAITHFUL, _why_rejected(bad)
    if rank >= BURIED_RANK:
        return (
            FailureKind.BURIED,
            f"The fact stands at rank {rank}; the answer rests on rank {facts.best_cited_rank()}.",
        )
    if facts.compared.wanted and not facts.compared.missing:
        return FailureKind.NONE, "It gives the expected answer from another place."
    if rival := facts.unflagged_conflict():
        return FailureKind.CONFLICT, rival
    return (
        FailureKind.IRRELEVANT,
        f"The fact stands at rank {rank}, and the claims rest on something else.",
    )


def _short_of_expected(judged: JudgedRecord, facts: _Facts) -> _Verdict:
    """The claims are on the fact and nothing rejects them; what they say may still differ."""
    right = FailureKind.NONE, f"It cites the fact.{_left_open(judged)}"
    if not facts.compared.missing:
        return right
    piece = facts.uncited_piece()
    if piece is not None:
        return _uncited_piece(facts, piece)
    if facts.contradicts_source():
        return (
            FailureKind.SOURCE_DISAGREES,
            f"The cited source does not say what is expected: “{_cut(judged.item.expected)}”.",
        )
    values = ", ".join(facts.values_missing())
    if not values:
        return right
    unsure = facts.unconfirmed()
    if unsure is None:
        return FailureKind.IRRELEVANT, f"The source says {values}, and the answer does not."
    return (
        FailureKind.UNFAITHFUL,
        f"The source says {values}, and “{_cut(unsure.text)}” does not.",
    )


def _uncited_piece(facts: _Facts, piece: int) -> _Verdict:
    rank = facts.piece_rank(piece)
    which = f"Piece {piece + 1} of the needed evidence"
    if rank is None:
        return FailureKind.RETRIEVAL_MISS, f"{which} was not retrieved."
    kind = FailureKind.BURIED if rank >= BURIED_RANK else FailureKind.IRRELEVANT
    return kind, f"{which} stands at rank {rank} and is not cited."


def _rejected(judged: JudgedRecord) -> ClaimVerdict | None:
    return next(filter(is_rejected, judged.claims), None)


def _why_rejected(verdict: ClaimVerdict) -> str:
    return f"“{_cut(verdict.text)}”: {verdict.why} ({verdict.reason or verdict.status})"


def _left_open(judged: JudgedRecord) -> str:
    """Say what nothing has shown, as a sentence to follow another; "" where all is shown."""
    unsure = next(filter(is_open, judged.claims), None)
    return "" if unsure is None else f" Nothing has shown “{_cut(unsure.text)}”."


def _cut(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 120 else f"{plain[:119]}…"


class _Facts:
    """Where the fact stood that an answer should give, and whether it was cited and said.

    The fact is the item's gold, or, without gold places, text that holds the expected values.
    """

    def __init__(self, judged: JudgedRecord) -> None:
        self._judged = judged
        self._item = judged.item
        self._gold_options = [option for piece in judged.item.gold for option in piece.any_of]

    @cached_property
    def rank(self) -> int | None:
        return first_rank(self._judged.retrieved, self._holds)

    @cached_property
    def places(self) -> tuple[Located, ...]:
        return tuple(
            check.located
            for claim in self._judged.claims
            for check in claim.citations
            if check.located is not None and check.problem is None
        )

    @cached_property
    def cited(self) -> bool:
        if self._item.gold:
            return any(on_gold(of_citation(place), self._judged.record) for place in self.places)
        holders = {chunk.chunk.id for chunk in self._judged.retrieved if self._holds(chunk)}
        return any(place.chunk_id in holders for place in self.places)

    @cached_property
    def compared(self) -> Completeness:
        return answer_completeness(self._judged)

    def best_cited_rank(self) -> int | None:
        ids = {place.chunk_id for place in self.places}
        return first_rank(self._judged.retrieved, lambda chunk: chunk.chunk.id in ids)

    def cited_in_force(self, outdated: Collection[str]) -> bool:
        """Whether every needed piece is cited in a document other than the outdated ones."""
        kept = [of_citation(place) for place in self.places if place.doc_id not in outdated]
        return all(pieces_covered(kept, self._judged.record)) if self._item.gold else bool(kept)

    def claim_beside_gold(self) -> ClaimVerdict | None:
        for claim in self._judged.claims:
            places = [check.located for check in claim.citations if check.located is not None]
            if not any(on_gold(of_citation(place), self._judged.record) for place in places):
                return claim
        return None

    def unconfirmed(self) -> ClaimVerdict | None:
        return next(
            (c for c in self._judged.claims if is_open(c) or c.status is ClaimStatus.UNCHECKED),
            None,
        )

    def why_missing(self) -> str:
        files = dict.fromkeys(option.file for option in self._gold_options)
        where = f" of {', '.join(list(files)[:3])}" if files else ""
        return f"None of the {len(self._judged.retrieved)} retrieved chunks holds the fact{where}."

    def piece_rank(self, piece: int) -> int | None:
        record = self._judged.record
        return first_rank(
            self._judged.retrieved, lambda chunk: on_piece(of_chunk(chunk), record, piece)
        )

    def uncited_piece(self) -> int | None:
        covered = pieces_covered(map(of_citation, self.places), self._judged.record)
        return next((number for number, have in enumerate(covered) if not have), None)

    def unflagged_conflict(self) -> str:
        """Say which current gold source disagrees without a remark for the reader, or ""."""
        shown = [flag for flag in self._judged.flags if flag.kind is FlagKind.CONFLICT]
        files = {option.file for option in self._gold_options}
        for flag in self._judged.found:
            if flag.kind is FlagKind.CONFLICT and flag not in shown:
                rivals = {
                    c.chunk.doc_id for c in self._judged.retrieved if c.chunk.id in flag.related
                }
                if rivals & files:
                    return f"{', '.join(sorted(rivals))} disagrees: {flag.detail}"
        return "" if shown else self._conflicting_gold()

    def _conflicting_gold(self) -> str:
        """Look for gold places in force that give two values where one can be right.

        Only a value of the expected answer that the answer lacks counts: what it gives as well
        is no hidden side.
        """
        cited = {place.doc_id for place in self.places}
        expected = find_quantities(self._item.expected)
        wanted = [value for value in expected if not has_value(self._judged.text, value)]
        for piece in self._item.gold:
            ours = [o.quote for o in piece.any_of if o.file in cited]
            for option in piece.any_of:
                if option.file in cited or not ours or not self._in_force(option.file):
                    continue
                for value in wanted:
                    if has_value(option.quote, value) and all(
                        _gives_another(text, option.quote, value) for text in ours
                    ):
                        return f"{option.file} says {value.text}; the answer gives one side."
        return ""

    def values_missing(self) -> tuple[str, ...]:
        """Return numbers, dates and times of the expected answer that the answer lacks.

        Words are left out: another gold place may say the same with others.
        """
        missing = set(self.compared.missing)
        return tuple(
            value.text
            for value in find_quantities(self._item.expected)
            if value.text in missing and not _digits_stand_in(self._judged.text, value)
        )

    def contradicts_source(self) -> bool:
        """Whether the answer gives nothing of what is expected, and no gold text in force does."""
        missing = set(self.compared.missing)
        if not missing or missing != set(self.compared.wanted):
            return False
        quotes = [o.quote for o in self._gold_options if self._in_force(o.file)]
        text = " ".join([*quotes, *(place.quote for place in self.places)])
        found = completeness(self._item.expected, text, question=self._item.question)
        expected = find_quantities(self._item.expected)
        written = {value.text for value in expected if _digits_stand_in(text, value)}
        return bool((missing & set(found.missing)) - written)

    def _in_force(self, doc_id: str) -> bool:
        as_of = self._item.as_of
        return as_of is None or all(
            current(chunk.validity, as_of=as_of)
            for chunk in self._judged.retrieved
            if chunk.chunk.doc_id == doc_id
        )

    def _holds(self, chunk: RetrievedChunk) -> bool:
        if self._item.gold:
            return on_gold(of_chunk(chunk), self._judged.record)
        found = completeness(self._item.expected, chunk.chunk.text, question=self._item.question)
        return bool(found.wanted) and not found.missing


def _gives_another(ours: str, theirs: str, value: Quantity) -> bool:
    """Whether `ours` has another value of the kind of `value`, and neither text has both."""
    if has_value(ours, value):
        return False
    return any(
        (other.kind, other.unit) == (value.kind, value.unit) and not has_value(theirs, other)
        for other in find_quantities(ours)
    )


def _digits_stand_in(text: str, value: Quantity) -> bool:
    """Whether the digits stand in the text, whatever unit a table's header gives them."""
    digits = re.findall(r"\d[\d.,:]*\d|\d", value.text)
    return bool(digits) and all(number in text for number in digits)
