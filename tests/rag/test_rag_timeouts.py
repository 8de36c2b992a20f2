"""One time limit for all models that are named, which agrees with the policy."""

import warnings

import pytest

from grounded_rag import GroundedRAG, Policy, StructuredGenerator
from grounded_rag.config import MODEL_TIMEOUT
from grounded_rag.conversation.conversation import _default_rewriter
from grounded_rag.errors import ConfigError
from grounded_rag.options import make_judge
from grounded_rag.testing import StaticRetriever

NAMED = {"generator": "openai/x", "judge": "openai/y", "relevance": True}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")


@pytest.fixture
def limits(monkeypatch):
    """Seconds that calls of models are given, by model."""
    from grounded_rag.generate.clients import ModelCalls

    given = {}
    make = ModelCalls.__init__

    def noted(self, model, client, *, timeout):
        make(self, model, client, timeout=timeout)
        given.setdefault(model, []).append(timeout)

    monkeypatch.setattr(ModelCalls, "__init__", noted)
    return given


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({}, MODEL_TIMEOUT),
        ({"policy": Policy(max_seconds=30)}, 30),
        ({"timeout": 20}, 20),
        ({"timeout": 600, "policy": Policy(max_seconds=1_800)}, 600),
    ],
)
def test_all_that_is_named_takes_one_limit(limits, options, seconds):
    with GroundedRAG(StaticRetriever({}), **NAMED, **options) as rag:
        _default_rewriter(rag)
    # Generator and rewriter, judge and relevance.
    assert limits == {"openai/x": [seconds] * 2, "openai/y": [seconds] * 2}


def test_the_generator_on_citations_takes_it_too(limits):
    with GroundedRAG(StaticRetriever({}), generator="anthropic-citations", timeout=7) as rag:
        assert rag.generator.timeout == 7
        _default_rewriter(rag)
    assert [seconds for each in limits.values() for seconds in each] == [7]


def test_an_object_keeps_its_own(limits):
    own = StructuredGenerator("openai/x", timeout=44)
    with GroundedRAG(StaticRetriever({}), generator=own, timeout=20) as rag:
        _default_rewriter(rag)
    assert limits == {"openai/x": [44, 44]}


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "soon"])
def test_what_is_no_time_is_refused(timeout):
    with pytest.raises(ConfigError, match="no time"):
        GroundedRAG(StaticRetriever({}), timeout=timeout)


def test_more_than_the_policy_gives_is_refused_with_the_way_out():
    with pytest.raises(ConfigError, match="120 seconds") as caught:
        GroundedRAG(StaticRetriever({}), timeout=300)
    assert "max_seconds" in caught.value.hint
    assert "300" in caught.value.hint


@pytest.mark.parametrize("name", ["openai/qwen2.5-coder:1.5b", "openai/org/Llama-3B-Instruct"])
def test_a_judge_that_is_small_by_its_name_is_warned_about(name):
    with pytest.warns(UserWarning, match="18 of 20"):
        make_judge(name)


@pytest.mark.parametrize(
    "name",
    [
        "anthropic",
        "openai/gpt-4.1",
        "openai/x-70b-4bit",
        "openai/mix-8x3b",
        "openai/x-70b-by-3b",
        "openai/q-30b-a3b",
    ],
)
def test_other_names_say_nothing_of_size(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_judge(name)
