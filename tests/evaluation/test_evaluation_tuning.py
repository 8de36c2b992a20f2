"""Tuning: which threshold is chosen, what is promised of it, and where it is kept and used."""

import asyncio
import json
import random
import sqlite3

import pytest
from typer.testing import CliRunner

from grounded_rag import ExtractiveGenerator, GroundedRAG
from grounded_rag.cli.app import app
from grounded_rag.errors import ConfigError, IndexLockedError, InputError, StoreError
from grounded_rag.evaluation import reset_threshold, tune
from grounded_rag.evaluation.tuning import (
    Assessed,
    Bounds,
    Outcome,
    Performance,
    Share,
    choose,
    outcome_of,
    performance,
)
from grounded_rag.generate.extractive import DEFAULT_THRESHOLD
from grounded_rag.index.store import Index
from grounded_rag.protocols import GenerationRequest, Query
from grounded_rag.testing import StaticRetriever

THINGS = "badge bicycle printer window salary locker projector canteen garden kettle ladder desk"
PLACES = "cellar attic lobby garage kitchen studio corridor annexe library terrace yard hall"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("handbook")
    rows = []
    for thing, place in zip(THINGS.split(), PLACES.split(), strict=True):
        fact = f"The {thing} is kept in the {place}."
        (folder / f"{thing}.md").write_text(f"# {thing}\n\n{fact}\n", encoding="utf-8")
        gold = [{"any_of": [{"file": f"{thing}.md", "quote": fact}]}]
        rows.append({"question": f"Where is the {thing} kept?", "gold": gold})
        rows.append({"question": f"Who repaired the {place} in Lisbon?", "answerable": "no"})
    rows.append({"question": "Is there a sauna?"})
    lines = "\n".join(map(json.dumps, rows))
    (folder / "golden.jsonl").write_text(lines + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def golden(corpus):
    return corpus / "golden.jsonl"


@pytest.fixture
def index(corpus, tmp_path):
    with GroundedRAG.from_corpus(corpus, index=tmp_path / "index", embedding=None):
        return tmp_path / "index"


def opened(index, **options):
    return GroundedRAG.open(index, embedding=None, **options)


def tuned(index, golden, **options):
    with opened(index) as rag:
        return tune(rag, golden, **options)


def at(threshold, *, answered=0, refused=20, right=0, wrong=0):
    return Performance(
        threshold=threshold,
        answered=Share(hits=answered, trials=100),
        right=Share(hits=right, trials=100),
        wrong=Share(hits=wrong, trials=right + wrong),
        refused=Share(hits=refused, trials=20),
    )


def test_the_laxest_threshold_before_the_first_that_may_be_too_bad_is_chosen():
    grid = [at(3), at(2, answered=30), at(1, answered=50, refused=19), at(0, refused=17), at(-1)]
    assert choose(grid, Bounds()).threshold == 1
    assert choose(grid, Bounds(alpha=0.1)) is None
    assert choose(grid, Bounds(alpha=0.4)).threshold == -1


def test_wrong_answers_end_the_test_as_well_and_no_answer_proves_nothing():
    grid = [
        at(3),
        at(2, right=1),
        at(1, right=20, wrong=1),
        at(0, right=40, wrong=3),
        at(-1, right=50, wrong=40),
    ]
    assert choose(grid, Bounds(beta=0.2)).threshold == 0
    assert choose(grid, Bounds()).threshold == -1
    assert choose(grid, Bounds(beta=0.05)) is None
    assert choose([at(3), at(2)], Bounds(beta=0.2)) is None


def test_the_bound_is_kept_as_often_as_promised():
    draw = random.Random(3)
    thresholds = [step / 10 for step in range(20, -21, -1)]
    bounds = Bounds(alpha=0.3, delta=0.2)
    over = 0
    for _ in range(200):
        asked = [Outcome(False, (), Assessed(draw.uniform(-2, 2), None)) for _ in range(40)]
        chosen = choose([performance(asked, each) for each in thresholds], bounds)
        # Of confidences between -2 and 2, this share is answered in truth.
        over += (2 - chosen.threshold) / 4 > bounds.alpha
    # 20 % at most, and 28 % with a probability below 1 in 200.
    assert over / 200 < 0.28


@pytest.mark.parametrize("threshold", [-9.0, -0.5, -0.3, 0.0, 0.7, 9.0])
@pytest.mark.parametrize(
    "question",
    [
        "What does the saver pay?",
        "What does the saver pay, and when does the branch open?",
        # Its parts are less sure than the whole of it.
        "Who repairs the saver, and what does the branch pay on Monday?",
    ],
)
def test_an_outcome_says_what_the_generator_says(question, threshold):
    texts = {
        "c1": "The saver pays 2%.",
        "c2": "The branch opens at 9:30 on Monday.",
        "c3": "A saver with a card pays 3% when the branch is open.",
    }
    chunks = asyncio.run(StaticRetriever(texts).retrieve(Query(text=question, k=3)))
    request = GenerationRequest(question=question, chunks=tuple(chunks), refusal="No.")
    generator = ExtractiveGenerator(threshold=threshold)
    outcome = outcome_of(generator, request, answerable=True, is_right=lambda one: one.text == "x")
    assert bool(outcome.said(threshold)) == bool(generator.draft(request).claims)


def test_the_chosen_threshold_is_stored_shown_and_used(index, golden):
    before = opened(index)
    found = tune(before, golden)
    assert found.stored
    assert found.unlabelled == 1
    assert found.chosen.right.trials == found.chosen.answered.trials == 12
    assert found.chosen.right.hits == found.chosen.answered.hits > 0
    assert found.current.threshold == before.generator.threshold == DEFAULT_THRESHOLD
    # One that is open already shows it too.
    assert before.status().threshold.threshold == found.chosen.threshold
    with opened(index) as after:
        stored = after.status().threshold
        assert stored.threshold == after.generator.threshold == found.chosen.threshold
        assert (stored.golden, stored.unanswerable) == ("golden.jsonl", 12)
        assert stored.generation == after.status().generation
        question = "Where is the badge kept?"
        assert after.query(question).fingerprint != before.query(question).fingerprint
    before.close()


def test_it_survives_ingestion_and_reset_takes_it_away(index, golden, corpus):
    found = tuned(index, golden)
    with opened(index) as rag:
        untouched = rag.query("Where is the badge kept?").fingerprint
    (corpus / "new.md").write_text("The tent is kept in the barn.\n", encoding="utf-8")
    with GroundedRAG.from_corpus(corpus, index=index, embedding=None) as rag:
        assert rag.generator.threshold == found.chosen.threshold
        assert rag.status().threshold.generation < rag.status().generation
        assert rag.query("Where is the badge kept?").fingerprint == untouched
    (corpus / "new.md").unlink()
    reset_threshold(index)
    with opened(index) as rag:
        assert rag.status().threshold is None
        assert rag.generator.threshold == DEFAULT_THRESHOLD


def test_what_the_user_passes_comes_before_what_is_stored(index, golden):
    tuned(index, golden)
    with opened(index, threshold=1.5) as rag:
        assert rag.generator.threshold == 1.5
    own = ExtractiveGenerator(threshold=0.25)
    with opened(index, generator=own) as rag:
        assert rag.generator is own
    with pytest.raises(ConfigError, match="threshold"):
        opened(index, generator=own, threshold=1.5)
    with GroundedRAG(StaticRetriever({}), threshold=1.5) as rag:
        assert rag.generator.threshold == 1.5


def test_a_threshold_for_other_weights_is_not_used_and_that_is_said(index, golden):
    found = tuned(index, golden)
    other = found.tuned.model_copy(update={"weights": "other"})
    with Index.open(index, write=True) as writer:
        writer.put_threshold(other)
    with pytest.warns(UserWarning, match="other weights"):
        rag = opened(index)
    assert rag.generator.threshold == DEFAULT_THRESHOLD
    rag.close()


def test_an_unreadable_threshold_can_be_taken_away(index):
    with sqlite3.connect(index / "ledger.sqlite3") as ledger:
        ledger.execute("INSERT INTO meta VALUES ('threshold', '{}')")
    with pytest.raises(StoreError) as error:
        opened(index)
    assert "--reset" in error.value.hint
    reset_threshold(index)
    opened(index).close()


def test_an_index_that_another_process_writes_can_be_tuned_but_not_changed(index, golden):
    asked = []
    with Index.open(index, write=True), opened(index) as rag:
        assert tune(rag, golden, store=False).chosen is not None
        with pytest.raises(IndexLockedError):
            tune(rag, golden, progress=asked.append)
    assert asked == []
    with opened(index) as rag:
        assert rag.status().threshold is None


@pytest.mark.parametrize(
    ("keep", "options", "message"),
    [
        (lambda row: row.get("answerable") != "no", {}, "no unanswerable questions; at least 11"),
        (lambda row: "gold" not in row, {}, "no answerable questions"),
        (lambda _: True, {"alpha": 0.1}, "12 unanswerable questions; at least 22"),
        (lambda _: True, {"beta": 0.1}, "12 answerable questions with gold quotes; at least 22"),
        (lambda _: True, {"delta": 0.7}, "delta"),
    ],
)
def test_too_small_a_set_is_told_before_anything_is_asked(
    index, golden, tmp_path, keep, options, message
):
    rows = [line for line in golden.read_text().splitlines() if keep(json.loads(line))]
    (tmp_path / "part.jsonl").write_text("\n".join(rows))
    asked = []
    with pytest.raises(InputError, match=message) as error:
        tuned(index, tmp_path / "part.jsonl", progress=asked.append, **options)
    assert error.value.hint
    assert asked == []


def test_gold_that_stands_nowhere_is_told_and_judges_nothing(index, golden, tmp_path):
    path = tmp_path / "elsewhere.jsonl"
    path.write_text(golden.read_text().replace(".md", ".txt"))
    found = tuned(index, path)
    assert found.misplaced == 12
    assert found.current.right.trials == 0
    assert "no threshold" not in found.reason
    assert "too few answers have a gold place" in tuned(index, path, beta=0.3).reason


def test_only_the_built_in_generator_and_an_index_can_be_tuned(index, golden):
    with (
        GroundedRAG(StaticRetriever({})) as rag,
        pytest.raises(ConfigError, match="needs an index"),
    ):
        tune(rag, golden)


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def words(corpus, tmp_path):
    run("ingest", corpus, "--index", tmp_path / "cli", "--words-only", "--json")
    return tmp_path / "cli"


def test_the_command_shows_stores_and_resets(words, golden):
    dry = run("tune", "--golden", golden, "--index", words, "--dry-run")
    assert "unanswerable questions refused" in dry.stdout
    assert "at most 20% of unanswerable questions are answered, at 90% confidence" in " ".join(
        dry.stdout.split()
    )
    assert "threshold           built in" in run("status", "--index", words).stdout
    found = json.loads(run("tune", "--golden", golden, "--index", words, "--json").stdout)
    assert found["stored"]
    assert found["chosen"]["answered"]["interval"]["low"] > 0
    assert "on golden.jsonl" in run("status", "--index", words).stdout
    run("tune", "--reset", "--index", words)
    assert json.loads(run("status", "--index", words, "--json").stdout)["threshold"] is None


def test_the_command_exits_three_where_nothing_can_be_certified(words, tmp_path):
    # What nobody can answer is worded as what is answered.
    path = tmp_path / "same.jsonl"
    same = {"question": "Where is the badge kept?", "answerable": "no"}
    rows = [{**same, "id": str(number)} for number in range(15)]
    rows.append({"question": "Where is the desk kept?", "answerable": "yes"})
    path.write_text("\n".join(map(json.dumps, rows)))
    result = run("tune", "--golden", path, "--index", words, code=3)
    assert "no threshold can be certified" in result.stdout


def test_the_command_tells_what_is_missing(words, golden, tmp_path):
    run("tune", "--index", words, code=2)
    run("tune", "--golden", golden, "--reset", "--index", words, code=2)
    assert "next:" in run("tune", "--golden", golden, "--index", tmp_path / "no", code=1).stderr
    assert "cannot be read" in run("tune", "--golden", "no", "--index", words, code=1).stderr
