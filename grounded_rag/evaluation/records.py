"""The records of an evaluation: golden items, what became of each, and what a run was made with.

A run is a folder with `run.json` (one `RunMeta`) and `records.jsonl` (one `EvalRecord` a line).
"""

from __future__ import annotations

import hashlib
import json
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AwareDatetime,
    BeforeValidator,
    Field,
    JsonValue,
    field_serializer,
    model_validator,
)

from grounded_rag.answer import Answer
from grounded_rag.types import (
    Draft,
    Frozen,
    Instant,
    RefusalReason,
    RetrievedChunk,
    Span,
    Usage,
    Verification,
)
from grounded_rag.validity import parse_instant


class Answerable(StrEnum):
    """Whether the documents answer a question."""

    YES = "yes"
    NO = "no"
    PART = "part"


class GoldQuote(Frozen):
    """One place that carries the fact: a document and characters copied from it.

    Attributes:
        file: Id of the document, usually its path in the corpus.
        quote: A literal slice of the document's canonical text.
    """

    file: str
    quote: str


class GoldPiece(Frozen):
    """One needed piece of evidence; any of its places will do."""

    any_of: Annotated[tuple[GoldQuote, ...], Field(min_length=1)]


def _blank_is_unknown(value: object) -> object:
    return None if value == "" else value


class GoldenItem(Frozen):
    """One question with what a person knows about its answer; only `question` is needed.

    Attributes:
        id: Unique name; without one, a hash of question and `as_of`.
        kind: Kind of question, for breakdowns.
        tags: Traps, languages and the like, for breakdowns.
        question: The question as a user asks it.
        as_of: Moment for which the answer should hold, or None for today.
        answerable: Whether the documents answer it; None where nobody has said so. Where
            the field is left out, a given `expected` or `gold` means yes.
        expected: The right answer in plain words.
        gold: The needed pieces of evidence; the evidence is complete with one place of each.
        unanswered: For `part`: the literal part of the question that stays open.
        note: Remark for people.
        split: Such as "dev" or "test".
    """

    id: str = ""
    kind: str = ""
    tags: tuple[str, ...] = ()
    question: str
    as_of: Annotated[
        Instant | None,
        BeforeValidator(lambda value: parse_instant(value) if isinstance(value, str) else value),
    ] = None
    answerable: Annotated[Answerable | None, BeforeValidator(_blank_is_unknown)] = None
    expected: str = ""
    gold: tuple[GoldPiece, ...] = ()
    unanswered: str = ""
    note: str = ""
    split: str = ""

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        filled = dict(value)
        if "answerable" not in filled and (filled.get("expected") or filled.get("gold")):
            filled["answerable"] = Answerable.YES
        if not filled.get("id"):
            named = f"{filled.get('question', '')}\x00{filled.get('as_of') or ''}"
            digest = hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()
            filled["id"] = f"q{digest[:12]}"
        return filled


class GoldPlace(Frozen):
    """Where a gold quote stands: a document and code points of its canonical text."""

    doc_id: str
    span: Span


class RecordError(Frozen):
    """Why there is no answer to judge.

    Attributes:
        kind: Class of the error.
        message: What happened, in one line.
        hint: What to do next, in one line.
    """

    kind: str
    message: str
    hint: str = ""


class OtherAnswer(Frozen):
    """The answer of another system, with what the verifier makes of it.

    Attributes:
        text: The answer as it was shown.
        contexts: What that system had retrieved, best first.
        draft: The answer as claims with citations: its own, or places that we looked up.
        own_citations: Whether the citations are the system's own.
        refused: Whether it declined to answer.
        verification: Verdicts on the draft; None where it could not be judged.
        support: Support score of each claim that is open, None for the others: how well its words
            stand in what was retrieved. It orders claims, and is no probability.
        apart: Parts of the text that state nothing: headings, greetings, lists of sources.
    """

    text: str
    contexts: tuple[RetrievedChunk, ...] = ()
    draft: Draft = Draft()
    own_citations: bool = False
    refused: bool = False
    verification: Verification | None = None
    support: tuple[Annotated[float, Field(ge=0, le=1)] | None, ...] = ()
    apart: tuple[str, ...] = ()


class EvalRecord(Frozen):
    """What became of one golden item: an answer, another system's answer, or an error.

    Attributes:
        item: The golden item.
        answer: The answer with its trace: every draft, verdict and signal.
        other: The answer of another system, in place of `answer`.
        error: Why there is neither.
        places: Where each gold piece stands in the documents, where these were at hand.
        scores: Further scores between 0 and 1 by name, such as "relevance".
        judged: Further yes-or-no findings by name; None means "could not judge".
        seconds: Wall-clock seconds of the whole call.
    """

    item: GoldenItem
    answer: Answer | None = None
    other: OtherAnswer | None = None
    error: RecordError | None = None
    places: tuple[tuple[GoldPlace, ...], ...] = ()
    scores: dict[str, float] = Field(default_factory=dict)
    judged: dict[str, bool | None] = Field(default_factory=dict)
    seconds: Annotated[float, Field(ge=0)] = 0.0

    @property
    def unscored(self) -> bool:
        """Whether it ended in an error, or a check of its claims broke down: to be asked again."""
        refusal = None if self.answer is None else self.answer.refusal
        return self.error is not None or (
            refusal is not None and refusal.reason is RefusalReason.COULD_NOT_CHECK
        )

    @field_serializer("answer", mode="plain")
    def _with_trace(self, answer: Answer | None) -> dict[str, Any] | None:
        """An answer's JSON leaves the trace out; a record is what a replay needs, so it is in."""
        if answer is None:
            return None
        whole = answer.model_dump(mode="json")
        whole["trace"] = answer.trace.model_dump(mode="json")
        return whole


class CheckIdentity(Frozen):
    """One support check as it ran: its recorded signals count while both fields stay the same.

    Attributes:
        name: Name of the check.
        fingerprint: What tells versions of it apart: code, model and prompt.
    """

    name: str
    fingerprint: str


class Prices(Frozen):
    """Money for a million tokens of each kind.

    Attributes:
        input: Fresh input tokens.
        output: Output tokens.
        cache_read: Input tokens read from the provider's cache.
        cache_write: Input tokens written to it.
        currency: Name of the currency, for display.
    """

    input: Annotated[float, Field(ge=0)] = 0.0
    output: Annotated[float, Field(ge=0)] = 0.0
    cache_read: Annotated[float, Field(ge=0)] = 0.0
    cache_write: Annotated[float, Field(ge=0)] = 0.0
    currency: str = "USD"

    def cost(self, usage: Usage) -> float:
        """Return what `usage` costs, in `currency`."""
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
        ) / 1_000_000


class IndexIdentity(Frozen):
    """What was searched.

    Attributes:
        name: Folder or corpus, as it was named.
        documents: Number of documents.
        chunks: Number of chunks.
        embedding: Name of the embedding, or "" for words alone.
        content_hash: SHA-256 over the ids and content hashes of the documents.
    """

    name: str = ""
    documents: int = 0
    chunks: int = 0
    embedding: str = ""
    content_hash: str = ""


class RunMeta(Frozen):
    """What a run was made with; two runs can be compared where these fields explain the rest.

    Attributes:
        id: Name of the run.
        started: When it began.
        package_version: Version of grounded_rag.
        golden: Name of the golden set.
        golden_hash: SHA-256 over its items, in order.
        items: Number of golden items that the run is to cover.
        split: The split chosen, or "".
        generator: Name of the generator, or of the other system.
        policy: The policy in force.
        fingerprint: SHA-256 over policy and prompts.
        refusal: The refusal string in force, or "" for the built-in one.
        verifier: SHA-256 over the code of the verifier.
        checks: The support checks that ran.
        deciders: The models that confirmed claims.
        index: What was searched.
        prices: Prices of the tokens, where given.
        relevance_threshold: Least relevance score of an answer to the point.
        replay_of: Name of the run whose answers were judged again, or "".
    """

    id: str
    started: AwareDatetime
    package_version: str = ""
    golden: str = ""
    golden_hash: str = ""
    items: Annotated[int, Field(ge=0)] = 0
    split: str = ""
    generator: str = ""
    policy: dict[str, JsonValue] = Field(default_factory=dict)
    fingerprint: str = ""
    refusal: str = ""
    verifier: str = ""
    checks: tuple[CheckIdentity, ...] = ()
    deciders: tuple[CheckIdentity, ...] = ()
    index: IndexIdentity = IndexIdentity()
    prices: Prices | None = None
    relevance_threshold: Annotated[float, Field(ge=0, le=1)] | None = None
    replay_of: str = ""


_TIERS = {"high": "none", "checked": "confirmed", "lexical": "none"}
_GONE = frozenset(
    {"low_overlap", "wrong_entity", "stronger_than_quote", "added_content", "far_from_quote"}
)
_WHY = "Version 0.1 called it {tier}; judge the run again to know more."


def migrated(line: bytes) -> bytes:
    """Return a record as this version writes it; one that already is stays as it is.

    Args:
        line: One line of `records.jsonl`.

    Raises:
        ValueError: It is no JSON.
    """
    return json.dumps(_migrated(json.loads(line)), ensure_ascii=False).encode()


def _migrated(value: Any) -> Any:
    if isinstance(value, list):
        return [_migrated(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _migrated(each) for key, each in value.items()}
    if found.get("reason") in _GONE:
        found["reason"] = "unproven"
        if found.get("status") == "unsupported":
            # A word list had objected, which proves nothing either.
            found["status"] = "open"
    if found.get("tier") in _TIERS and "status" in found:
        found["why"] = _WHY.format(tier=found["tier"])
        found["tier"] = _TIERS[found["tier"]]
    return found
