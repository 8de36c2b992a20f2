"""The artefact: it holds for one policy and one set of scorers, and answers can be scored by it."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from typer.testing import CliRunner

from grounded_rag import GroundedRAG, Policy
from grounded_rag.cli.app import app
from grounded_rag.errors import ConfigError, InputError
from grounded_rag.evaluation.factuality import (
    ClaimInput,
    FactualityModel,
    LabelledClaim,
    LexicalSupport,
    Scorers,
    Variant,
    builtin_scorers,
    claims_of,
    fit,
    label_scores,
    read_labelled,
    score_run,
)
from grounded_rag.evaluation.factuality.fit import calibrate_claims
from grounded_rag.evaluation.records import EvalRecord, GoldenItem, RunMeta
from grounded_rag.evaluation.runs import Run, fingerprint_of, policy_fingerprint
from grounded_rag.testing import ScriptedGenerator, StaticRetriever, make_draft
from grounded_rag.types import Claim

FACTS = [f"Account {number} pays {number}.5 % interest a year." for number in range(1, 31)]


class EvenChance:
    """Says 0.5 of every claim."""

    name = "even-chance"

    def score(self, claims):
        return [0.5 for _ in claims]


WORDS = Scorers(faithful=LexicalSupport(), if_faithful=LexicalSupport(), if_unfaithful=EvenChance())


def labelled_lines() -> list[str]:
    rows = []
    for number, fact in enumerate(FACTS):
        rows.append({"claim": fact, "evidence": [fact], "true": number % 10 != 0})
        wrong = f"Account {number + 1} is closed to customers living in Brazil."
        rows.append({"claim": wrong, "evidence": fact, "true": number % 10 == 0})
    return [json.dumps(row) for row in rows]


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "labelled.jsonl"
    path.write_text("\n".join(labelled_lines()) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def model(labelled):
    found = calibrate_claims(
        read_labelled(labelled), fingerprint=policy_fingerprint(), scorers=WORDS, resamples=20
    )
    return found.model


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def answer_under(policy: Policy):
    quote = "The fee is 4 euros."
    with GroundedRAG(
        StaticRetriever({"c1": quote}),
        generator=ScriptedGenerator(make_draft((quote, "c1", quote))),
        policy=policy,
    ) as rag:
        return rag.query("What is the fee?")


def test_an_artefact_survives_the_disk(model, tmp_path):
    path = model.save(tmp_path / "model.json")
    assert FactualityModel.load(path, fingerprint=policy_fingerprint()) == model
    assert {figure.name for figure in model.held_out} == {
        "roc_auc", "pr_auc", "prr", "ece", "brier",
    }  # fmt: skip
    assert model.fitted_on == 60
    assert len(model.labels_hash) == 64


def test_one_made_under_another_policy_is_refused(model, tmp_path):
    path = model.save(tmp_path / "model.json")
    other = policy_fingerprint(policy=Policy(support="spans-only"))
    with pytest.raises(ConfigError, match="fitted under the policy"):
        FactualityModel.load(path, fingerprint=other)
    with pytest.raises(ConfigError, match="fitted under the policy"):
        model.score_answer(answer_under(Policy(k=3)), scorers=WORDS)


def test_other_scorers_are_refused(model):
    with pytest.raises(ConfigError, match="fitted with the scorers"):
        model.score([ClaimInput(claim="a", evidence=("a",))])


def test_each_shipped_claim_gets_its_probability(model):
    answer = answer_under(Policy())
    (found,) = model.score_answer(answer, scorers=WORDS)
    assert found.claim == answer.claims[0].text
    (alone,) = model.score(claims_of(answer), scorers=WORDS)
    assert found.factuality == alone
    assert 0.5 < alone.p_true <= 1
    (wrong,) = model.score(
        [ClaimInput(claim="Parrots live in Brazil.", evidence=("The fee is 4 euros.",))],
        scorers=WORDS,
    )
    assert wrong.p_true < alone.p_true


def test_a_refusal_claims_nothing(model):
    answer = answer_under(Policy())
    refused = answer.model_copy(update={"claims": (), "evidence": ()})
    assert model.score_answer(refused, scorers=WORDS) == ()


def test_claims_without_a_score_are_left_out_of_a_fit(labelled):
    class Picky(EvenChance):
        name = "picky"

        def score(self, claims):
            return [None if "closed" in claim.claim else 0.5 for claim in claims]

    scorers = Scorers(
        faithful=LexicalSupport(), if_faithful=LexicalSupport(), if_unfaithful=Picky()
    )
    rows = label_scores(read_labelled(labelled), scorers=scorers)
    assert len(rows) == 30
    fitted = fit(rows, variant=Variant.CALIBRATED, scorers=scorers.names, fingerprint="p")
    assert fitted.fitted_on == 30
    assert fitted.base_rate == 0.9


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "Line 2 of .* is no JSON"),
        ('{"claim": "a", "evidence": ["b"]}', "Line 2 of .*: true"),
        ('{"claim": "", "evidence": ["b"], "true": true}', "Line 2 of .*: claim"),
        ('{"claim": "a", "evidence": [], "true": true}', "Line 2 of .*: evidence"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, words):
    path = tmp_path / "bad.jsonl"
    good = '{"claim": "a", "evidence": "b", "true": true}'
    path.write_text(f"{good}\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_labelled(path)


def test_files_that_are_no_model_are_refused(tmp_path, model):
    with pytest.raises(InputError, match="cannot be read"):
        FactualityModel.load(tmp_path / "none.json")
    other = tmp_path / "other.json"
    other.write_text('{"kind": "something"}', encoding="utf-8")
    with pytest.raises(InputError, match="no factuality model"):
        FactualityModel.load(other)
    whole = json.loads(model.model_dump_json())
    other.write_text(json.dumps({**whole, "if_faithful": None}), encoding="utf-8")
    with pytest.raises(InputError, match="does not go with"):
        FactualityModel.load(other)
    with pytest.raises(InputError, match="cannot be written"):
        model.save(tmp_path / "nowhere" / "model.json")


def test_one_label_alone_cannot_be_fitted(labelled):
    claims = [claim for claim in read_labelled(labelled) if claim.true]
    with pytest.raises(InputError, match="all true or all false"):
        calibrate_claims(claims, fingerprint="p", scorers=WORDS)


def test_calibrate_writes_a_model_and_shows_both_sides(labelled, tmp_path):
    out = tmp_path / "model.json"
    result = run("calibrate", labelled, "--out", out, "--folds", 3)
    assert result.exit_code == 0, result.output
    for word in ("ROC-AUC", "ECE", "raw", "condition-calibrated", "60 claims, 50.0% of them true"):
        assert word in result.output
    assert "60 labelled claims are few" in result.output
    assert "next: grounded-rag factuality" in result.output
    assert FactualityModel.load(out).fingerprint == policy_fingerprint()


def test_the_policy_can_be_that_of_an_answer(labelled, tmp_path):
    answer = tmp_path / "answer.json"
    answer.write_text(answer_under(Policy(k=3)).to_json(), encoding="utf-8")
    out = tmp_path / "model.json"
    result = run("calibrate", labelled, "-o", out, "--policy-of", answer, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["model"]["fingerprint"] == fingerprint_of(answer)

    shown = run("factuality", answer, "--model", out)
    assert shown.exit_code == 0, shown.output
    assert "P(true) 0." in shown.output or "P(true) 1." in shown.output
    (entry,) = json.loads(run("factuality", answer, "--model", out, "--json").output)
    assert 0 <= entry["factuality"]["p_true"] <= 1

    answer.write_text(answer_under(Policy(k=4)).to_json(), encoding="utf-8")
    refused = run("factuality", answer, "--model", out)
    assert refused.exit_code == 1
    assert "fitted under the policy" in refused.output


def test_wrong_use_is_said(labelled, tmp_path):
    out = tmp_path / "model.json"
    assert run("calibrate", labelled, "-o", out, "--variant", "magic").exit_code == 2
    result = run("calibrate", labelled, "-o", out, "--policy-of", labelled)
    assert result.exit_code == 1
    assert run("factuality", labelled, "--model", out).exit_code == 1
    nowhere = run("calibrate", labelled, "-o", out, "--entailment", out.with_name("none"))
    assert nowhere.exit_code == 1
    assert "none" in nowhere.output
    assert not out.exists()


def test_a_run_is_shown_the_least_probable_first(model, tmp_path):
    answers = [answer_under(Policy()) for _ in range(2)]
    weaker = answers[1].model_copy(
        update={
            "claims": (
                answers[1].claims[0].model_copy(update={"claim": Claim(text="Parrots fly.")}),
            )
        }
    )
    refused = answers[0].model_copy(update={"claims": (), "evidence": ()})
    meta = RunMeta(
        id="r",
        started=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        items=3,
        fingerprint=policy_fingerprint(),
    )
    with Run.create(tmp_path / "run", meta) as made:
        for name, answer in (("strong", answers[0]), ("weak", weaker), ("none", refused)):
            item = GoldenItem(id=name, question="What is the fee?")
            made.append(EvalRecord(item=item, answer=answer))
    found = score_run(Run.open(tmp_path / "run"), model, scorers=WORDS)
    assert [item.item for item in found] == ["weak", "strong"]
    assert found[0].lowest == found[0].claims[0].factuality.p_true < found[1].lowest

    path = model.model_copy(update={"scorers": builtin_scorers().names}).save(tmp_path / "m.json")
    shown = run("factuality", tmp_path / "run", "--model", path)
    assert shown.exit_code == 0, shown.output
    assert shown.output.index("weak") < shown.output.index("strong")
    assert len(json.loads(run("factuality", tmp_path / "run", "-m", path, "--json").output)) == 2
    other = meta.model_copy(update={"fingerprint": "other"})
    with Run.create(tmp_path / "other", other), pytest.raises(ConfigError):
        score_run(Run.open(tmp_path / "other"), model, scorers=WORDS)


def test_what_the_figures_say_against_a_model_is_said():
    rows = [
        LabelledClaim(
            claim=f"Item {at} costs 4.", evidence=(f"Item {at} costs 4.",), true=at % 2 == 0
        )
        for at in range(40)
    ]
    found = calibrate_claims(rows, fingerprint="p", variant=Variant.CALIBRATED, scorers=WORDS)
    assert "no better than the base rate" in " ".join(found.notes)
