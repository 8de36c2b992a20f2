"""Objects of other frameworks, classes and functions are refused with the way to wrap them."""

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.retrievers import BaseRetriever as LangChainRetriever
from langchain_core.runnables import RunnableLambda
from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.retrievers import BaseRetriever

from grounded_rag import ExtractiveGenerator, LlamaIndexRetriever, default_checks, role
from grounded_rag.errors import ConfigError
from grounded_rag.plugins import check_parts, must_have
from grounded_rag.testing import HashEmbedding, ScriptedGenerator, StaticRetriever

FOUND = StaticRetriever({"a": "Text."})


class FromLangChain(LangChainRetriever):
    def _get_relevant_documents(self, query, *, run_manager=None):
        return []


class FromLlamaIndex(BaseRetriever):
    def _retrieve(self, query_bundle):
        return []


class Both(BaseRetriever):
    def _retrieve(self, query_bundle):
        return []

    async def retrieve(self, query):
        return []


class Predicting:
    def predict(self, pairs):
        return []


INDEX = VectorStoreIndex.from_documents([], embed_model=HashEmbedding())


@pytest.mark.parametrize(
    ("retriever", "message", "hint"),
    [
        (FromLangChain(), "object of LangChain and no Retriever", "examples/with_langchain.py"),
        (RunnableLambda(len), "LangChain", "examples/with_langchain.py"),
        (FromLlamaIndex(), "object of LlamaIndex", "LlamaIndexRetriever(index.as_retriever())"),
        (INDEX, "object of LlamaIndex", "LlamaIndexRetriever(index.as_retriever())"),
        (StaticRetriever, "The class StaticRetriever", "StaticRetriever(…)"),
        (FromLlamaIndex, "LlamaIndex", "LlamaIndexRetriever"),
        (lambda query: [], "The function <lambda> is no Retriever", "async retrieve(query)"),
        ("my-index", "str is no Retriever", "docs/extending.md"),
        (None, "NoneType is no Retriever", "docs/extending.md"),
    ],
)
def test_what_is_no_retriever(retriever, message, hint):
    with pytest.raises(ConfigError) as caught:
        check_parts(retriever, {})
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"generator": FakeListChatModel(responses=["x"])}, "no Generator", "with_langchain.py"),
        ({"generator": MockLLM()}, "object of LlamaIndex and no Generator", '"openai/MODEL"'),
        ({"generator": ScriptedGenerator}, "The class ScriptedGenerator", "ScriptedGenerator(…)"),
        ({"generator": object()}, "no Generator: it has no `generate`", "generate(request)"),
        ({"judge": MockLLM()}, "no Judge", 'judge="anthropic"'),
        ({"judge": lambda request: None}, "no Judge", "async judge(request)"),
        ({"entailment": Predicting()}, "no EntailmentModel", "score(pairs)"),
        ({"checks": [*default_checks(), Predicting()]}, "no SupportCheck", "check(case)"),
        ({"checks": [Predicting]}, "The class Predicting", "Predicting(…)"),
        ({"checks": [RunnableLambda(len)]}, "LangChain and no SupportCheck", "one function"),
        ({"checks": len}, "must be a list", "checks=[*default_checks(), my_check]"),
    ],
)
def test_what_is_no_other_part(options, message, hint):
    with pytest.raises(ConfigError) as caught:
        check_parts(FOUND, options)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_what_fits_is_let_through(tmp_path):
    for retriever in (FOUND, LlamaIndexRetriever(FromLlamaIndex()), Both()):
        check_parts(retriever, {})
    check_parts(
        FOUND,
        {
            "generator": ExtractiveGenerator(),
            "judge": "anthropic",
            "entailment": tmp_path,
            "checks": (*default_checks(), role(default_checks()[0], "info")),
            "refusal": "No.",
        },
    )


def test_an_adapter_around_something_else_is_refused_too():
    with pytest.raises(ConfigError, match="as_retriever"):
        LlamaIndexRetriever(INDEX)


def test_one_function_serves_any_protocol():
    must_have(FOUND, "Retriever", "retrieve", "hint")
    with pytest.raises(ConfigError, match=r"builtins\.int is no Metric: it has no `score`\. Do so"):
        must_have(7, "Metric", "score", "Do so.")
