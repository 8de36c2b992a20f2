"""The worked examples in the judge's prompts, checked by our own verifier."""

import json
import re

import pytest

from grounded_rag import ClaimStatus, Tier, verify
from grounded_rag.judge.verdicts import Verdicts, WholeVerdict, read_verdicts, read_whole
from grounded_rag.protocols import Grade, JudgeItem
from grounded_rag.resources import prompts_dir
from grounded_rag.verification.deciders import unfounded


def examples(name):
    text = (prompts_dir() / name).read_text(encoding="utf-8")
    asked, answered = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    items = [
        JudgeItem(claim=claim["claim"], evidence=tuple(claim["evidence"]))
        for claim in json.loads(asked)["claims"]
    ]
    assert [claim["number"] for claim in json.loads(asked)["claims"]] == list(
        range(1, len(items) + 1)
    )
    return items, json.loads(answered)


def judged():
    items, answer = examples("judge.md")
    return list(zip(items, read_verdicts(items, Verdicts(**answer)), strict=True))


@pytest.mark.parametrize(("item", "opinion"), judged())
def test_every_worked_verdict_rests_on_words_that_are_there(item, opinion):
    assert opinion.grade is not None
    assert unfounded(item.evidence, opinion.rests_on) is None


@pytest.mark.parametrize(("item", "opinion"), judged())
def test_our_verifier_contradicts_no_worked_verdict(item, opinion):
    chunks = [{"id": str(n), "text": text} for n, text in enumerate(item.evidence)]
    cited = [{"chunk_id": str(n), "quote": text} for n, text in enumerate(item.evidence)]
    (verdict,) = verify([{"text": item.claim, "citations": cited}], chunks).claims
    if opinion.grade is Grade.SUPPORTED:
        assert verdict.supported or verdict.status is ClaimStatus.OPEN
    else:
        assert verdict.tier is Tier.NONE


def test_the_examples_show_every_grade():
    assert {opinion.grade for _, opinion in judged()} == set(Grade)


def test_the_holistic_example_is_sound():
    items, answer = examples("judge_holistic.md")
    ballot = read_whole(items, WholeVerdict(**answer))
    assert [opinion.grade for opinion in ballot] == [Grade.SUPPORTED] * len(items)
