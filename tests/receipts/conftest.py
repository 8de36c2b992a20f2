"""A small bank: a folder of documents, an index of it, and receipts of answers from it."""

import pytest

from grounded_rag import GroundedRAG, Policy, update_index
from grounded_rag.protocols import EntailmentScores
from grounded_rag.testing import HashEmbedding, ScriptedGenerator
from grounded_rag.types import Citation, Claim, Draft

RATES = """# Savings rates

The Everyday Saver pays 1.85% gross a year. Interest is credited on the last day of each month.

Guests of the bank are permitted to park in the courtyard for two hours.

A withdrawal takes three working days. Read the [price list](https://bank.example/prices-1) first.
"""
FEES = """# Fees

A replacement card costs €12. The fee is waived for customers under 18 years of age.
"""
MANIFEST = """[corpus]
title = "Bank"

[[document]]
path = "rates.md"
effective_from = 2024-01-01

[[document]]
path = "fees.md"
effective_from = 2024-01-01
"""


class Bank:
    """Documents that change, and the answers that were given before they did."""

    def __init__(self, root):
        self.folder, self.index, self.receipts = root / "bank", root / "index", root / "receipts"
        self.folder.mkdir()
        self.write("rates.md", RATES)
        self.write("fees.md", FEES)
        self.write("manifest.toml", MANIFEST)
        self.sync()

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def edit(self, name, old, new):
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def sync(self):
        update_index([self.folder], index=self.index, embedding=HashEmbedding())

    def answer(
        self,
        quote,
        *,
        claim=None,
        question="What holds?",
        as_of="2025-01-01",
        arithmetic=None,
        policy=None,
        **options,
    ):
        """Answer with `quote` from whichever chunk holds it."""
        with GroundedRAG.open(
            self.index,
            embedding=HashEmbedding(),
            generator=_Quoting(quote, claim or quote, arithmetic),
            receipts=self.receipts,
            policy=policy or Policy(),
            **options,
        ) as rag:
            answer = rag.query(question, as_of=as_of)
        assert answer.answered, answer.trace
        return answer


class _Quoting(ScriptedGenerator):
    def __init__(self, quote, claim, arithmetic):
        super().__init__()
        self.quote, self.claim, self.arithmetic = quote, claim, arithmetic

    async def generate(self, request):
        (chunk_id,) = [c.chunk.id for c in request.chunks if self.quote in c.chunk.text]
        citation = Citation(chunk_id=chunk_id, quote=self.quote)
        claim = Claim(text=self.claim, citations=(citation,), arithmetic=self.arithmetic)
        self._script.append(Draft(claims=(claim,)))
        return await super().generate(request)


class Model:
    """An entailment model that says the same of everything, and counts how often it is asked."""

    def __init__(self, says=0.9):
        self.name, self.says, self.asked = "test-nli", says, 0

    def score(self, pairs):
        self.asked += 1
        rest = 1 - self.says
        scores = EntailmentScores(entailment=self.says, neutral=rest, contradiction=0.0)
        return [scores for _ in pairs]


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def bank(tmp_path):
    return Bank(tmp_path)


@pytest.fixture(params=["index", "folder"])
def place(request, bank):
    """Where to compare: an index brought up to date, or the folder itself."""

    def now():
        if request.param == "index":
            bank.sync()
            return {"index": bank.index, "as_of": "2025-01-02"}
        return {"folder": bank.folder, "as_of": "2025-01-02"}

    return now
