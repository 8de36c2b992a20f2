"""What a customer writes, as a type checker sees it. Checked by `make lint`; never run."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import assert_type

from grounded_rag import (
    Answer,
    AnswerStatus,
    Claim,
    ClaimVerdict,
    Conversation,
    Draft,
    Flag,
    GroundedRAG,
    IngestReport,
    Outcome,
    Policy,
    Receipt,
    ReceiptCheck,
    Refusal,
    RetrievedChunk,
    Rules,
    Signal,
    Tier,
    Verification,
    Verifier,
    averify,
    default_checks,
    role,
    update_index,
    verify,
    verify_receipt,
)
from grounded_rag.errors import ConfigError, GroundedRAGError, ProviderError
from grounded_rag.events import ClaimVerified, Event, Final
from grounded_rag.protocols import (
    ClaimCase,
    Generation,
    GenerationRequest,
    Generator,
    Judge,
    Judgement,
    JudgeRequest,
    ParsedDocument,
    Query,
    Reader,
    Retriever,
    SupportCheck,
)


def ask(rag: GroundedRAG) -> str:
    answer = rag.query("How long is the notice period?", as_of="2026-01-01")
    assert_type(answer, Answer)
    assert_type(answer.text, str)
    assert_type(answer.status, AnswerStatus)
    assert_type(answer.claims, tuple[ClaimVerdict, ...])
    assert_type(answer.claims[0].tier, Tier)
    assert_type(answer.staleness, tuple[Flag, ...])
    assert_type(answer.refusal, Refusal | None)
    assert_type(answer.receipt(), Receipt)
    return answer.to_html()


def listen(rag: GroundedRAG) -> None:
    events = rag.stream("How long is the notice period?")
    assert_type(events, Iterator[Event])
    for event in events:
        if event.kind == "claim_verified":
            assert_type(event, ClaimVerified)
        elif event.kind == "final":
            assert_type(event, Final)
            assert_type(event.answer, Answer)


async def listen_without_blocking(rag: GroundedRAG) -> AsyncIterator[str]:
    async for event in rag.astream("How long is the notice period?"):
        if isinstance(event, ClaimVerified):
            yield event.verdict.text


def configure(judge: Judge) -> GroundedRAG:
    policy = Policy(unproven="reask", max_age=dt.timedelta(days=365))
    try:
        return GroundedRAG.open("my-index", generator="anthropic", policy=policy, judge=judge)
    except ConfigError as error:
        assert_type(error.hint, str)
        raise


def check(outputs: Sequence[str], chunks: Sequence[RetrievedChunk]) -> list[Outcome]:
    found = [verify(output, chunks) for output in outputs]
    assert_type(found, list[Verification])
    with Verifier(rules=Rules(quote_match="exact")) as verifier:
        assert_type(verifier.verify(outputs[0], chunks), Verification)
    return [each.outcome for each in found]


async def check_without_blocking(draft: Draft) -> Verification:
    return await averify(draft, [{"id": "c1", "text": "The fee is 5 EUR."}])


def receipts(answer: Answer) -> bool:
    check = verify_receipt(answer.receipt(), folder="handbook")
    assert_type(check, ReceiptCheck)
    return check.wrong or check.stale


def ingest() -> IngestReport:
    return update_index(["handbook"], index="my-index")


def converse(rag: GroundedRAG) -> None:
    Conversation(rag).ask("And for businesses?")


def dosage(case: ClaimCase) -> Signal | None:
    return Signal(check="dosage", passed=True) if "mg" in case.claim.text else None


CHECKS: list[SupportCheck] = [*default_checks(), role(dosage, "filter")]


class CsvReader:
    def read(self, data: bytes, *, source: str) -> ParsedDocument:
        return ParsedDocument(text=data.decode("utf-8"), title=source, media_type="text/csv")


class MyRetriever:
    async def retrieve(self, query: Query) -> Sequence[RetrievedChunk]:
        return ()


class MyGenerator:
    async def generate(self, request: GenerationRequest) -> Generation:
        return Generation(draft=Draft(claims=()))


class MyJudge:
    name = "mine"

    async def judge(self, request: JudgeRequest) -> Judgement:
        return Judgement(opinions=())


READER: Reader = CsvReader()
RETRIEVER: Retriever = MyRetriever()
GENERATOR: Generator = MyGenerator()
JUDGE: Judge = MyJudge()


def mistakes(rag: GroundedRAG, error: ProviderError) -> GroundedRAGError:
    """What must not type-check: each line needs its `ignore`, or the checker complains."""
    rag.query(7)  # type: ignore[arg-type]
    rag.query("Why?", asof="2026-01-01")  # type: ignore[call-arg]
    GroundedRAG.open("my-index", generater="anthropic")  # type: ignore[call-arg]
    Claim(text="The fee is 5 EUR.", colour="red")  # type: ignore[call-arg]
    return error
