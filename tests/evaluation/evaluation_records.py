"""Records of every kind of outcome, built by hand for the tests of metrics and diagnosis."""

import datetime as dt

from grounded_rag.config import Policy
from grounded_rag.evaluation.gold import gold_places
from grounded_rag.evaluation.other_systems import RecordedAnswer, judge_other
from grounded_rag.evaluation.records import EvalRecord, GoldenItem, OtherAnswer, judged
from grounded_rag.testing import make_chunk, make_draft
from grounded_rag.types import Signal, Validity
from grounded_rag.verification import verify
from grounded_rag.verification.rules import Rules

TODAY = dt.date(2026, 11, 29)
FEE = "The account costs 2 euros a month."
CARD = "A new card costs 8 euros."
NOISE = "The branch opens at nine."
TEXTS = {"fees.md": FEE, "cards.md": CARD, "hours.md": NOISE}
QUESTION = "What does the account cost?"


def item(answerable="yes", **fields):
    """A golden item about the fee; unanswerable ones carry no gold."""
    given = {"id": "q1", "question": QUESTION, "as_of": "2026-11-29", "answerable": answerable}
    if answerable != "no":
        given |= {
            "expected": "2 euros a month",
            "gold": [{"any_of": [{"file": "fees.md", "quote": FEE}]}],
        }
    if answerable == "part":
        given |= {"question": f"{QUESTION} And who set it?", "unanswered": "who set it"}
    return GoldenItem.model_validate(given | fields)


def chunks(*names, validity=None):
    """Retrieved chunks by document, in rank order."""
    return tuple(
        make_chunk(
            TEXTS[name],
            id=f"{name}#1",
            doc_id=name,
            rank=rank,
            validity=(validity or {}).get(name, Validity(effective_from=dt.date(2026, 1, 1))),
        )
        for rank, name in enumerate(names, start=1)
    )


def could_not_check(case):
    """A check that always breaks down."""
    return Signal(check="judge", passed=None, role="veto", detail="The judge did not answer.")


def answered(
    *claims,
    of=None,
    retrieved=("fees.md", "cards.md", "hours.md"),
    checks=None,
    text=None,
    validity=None,
    unanswered=(),
    scores=None,
):
    """A record of an answer with `(text, document, quote)` claims, verified for real."""
    of = of or item()
    contexts = chunks(*retrieved, validity=validity)
    draft = make_draft(
        *((claim, f"{name}#1", quote) for claim, name, quote in claims), unanswered=unanswered
    )
    verification = verify(draft, contexts, question=of.question, as_of=of.as_of, checks=checks)
    return EvalRecord(
        item=of,
        other=OtherAnswer(
            text=" ".join(c.text for c in draft.claims) if text is None else text,
            contexts=contexts,
            draft=draft,
            own_citations=True,
            verification=verification,
        ),
        places=gold_places(of, TEXTS.get),
        scores=scores or {},
    )


def refused(*, of=None, retrieved=("fees.md", "cards.md", "hours.md")):
    """A record of a refusal."""
    of = of or item()
    other = OtherAnswer(text="", contexts=chunks(*retrieved), refused=True)
    return EvalRecord(item=of, other=other, places=gold_places(of, TEXTS.get))


def without_context(of=None):
    """What becomes of an answer that was recorded without its contexts."""
    content = RecordedAnswer(item=of or item(), text="It costs 2 euros.", contexts=())
    return judge_other(content, rules=Rules())


def empty_text(of=None):
    """What becomes of an answer without any text."""
    content = RecordedAnswer(item=of or item(), text=" ", contexts=chunks("fees.md"))
    return judge_other(content, rules=Rules())


LOOSE = ("Each month two euros are due for the account.", "fees.md", FEE)
RIGHT = (FEE, "fees.md", FEE)
WRONG = ("A new card costs 9 euros.", "cards.md", CARD)


def outcomes(of):
    """One record of every outcome that a metric has to bear, by name."""
    return {
        "empty answer": empty_text(of),
        "no claims": answered(of=of, text="It costs something."),
        "no context": without_context(of),
        "refusal": refused(of=of),
        "all wrong": answered(WRONG, of=of, scores={"relevance": 0.1}),
        "all right": answered(RIGHT, of=of, scores={"relevance": 0.9}),
        "judge failure": answered(
            RIGHT, of=of, checks=(could_not_check,), scores={"relevance": 0.9}
        ),
    }


def see(record):
    """The record as metrics see it, under the default policy."""
    return judged(record, Policy())
