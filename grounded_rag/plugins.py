"""Checks of the parts that a user plugs in: a wrong object is refused before the first question.

Objects of LangChain and LlamaIndex have methods of the same names with other arguments, so they
are known by the class that has the method, and the error says how to wrap them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from grounded_rag.errors import ConfigError

_LANGCHAIN = "Wrap it in a class of your own: examples/with_langchain.py does it in a few lines."
_GUIDE = "docs/extending.md has an example of ten lines."


class _Part(NamedTuple):
    """What a part must look like, and what to do about objects that do not."""

    protocol: str
    method: str
    call: str
    llama_index: str
    langchain: str = _LANGCHAIN


_PARTS = {
    "readers": _Part(
        "Reader",
        "read",
        "read(data, *, source) -> ParsedDocument",
        llama_index="Wrap it in a class with three lines: def read(self, data, *, source): "
        "path.write_bytes(data); return ParsedDocument(text='\\n\\n'.join(document.text for "
        "document in reader.load_data(path))).",
        langchain="Wrap it in a class with three lines: def read(self, data, *, source): "
        "path.write_bytes(data); return ParsedDocument(text='\\n\\n'.join("
        "document.page_content for document in Loader(path).load())).",
    ),
    "retriever": _Part(
        "Retriever",
        "retrieve",
        "async retrieve(query) -> list[RetrievedChunk]",
        llama_index="Wrap it: GroundedRAG(LlamaIndexRetriever(index.as_retriever())).",
    ),
    "reranker": _Part(
        "Reranker",
        "rerank",
        "async rerank(query, chunks) -> list[RetrievedChunk]",
        llama_index="Wrap it: PostprocessorReranker(postprocessor), from grounded_rag.llama.",
    ),
    "generator": _Part(
        "Generator",
        "generate",
        "async generate(request) -> Generation",
        llama_index='Name the model instead, as in generator="anthropic/MODEL" or '
        '"openai/MODEL", or wrap it in a class of your own.',
    ),
    "judge": _Part(
        "Judge",
        "judge",
        "async judge(request) -> Judgement",
        llama_index='Name the model instead, as in judge="anthropic", or wrap it in a class of '
        "your own.",
    ),
    "entailment": _Part(
        "EntailmentModel",
        "score",
        "score(pairs) -> list[EntailmentScores]",
        llama_index="Give the folder of an ONNX cross-encoder, or wrap it in a class of your own.",
    ),
    "checks": _Part(
        "SupportCheck",
        "__call__",
        "check(case) -> Signal | None",
        llama_index="Wrap it in one function from a ClaimCase to a Signal or None.",
        langchain="Wrap it in one function from a ClaimCase to a Signal or None.",
    ),
}


def check_parts(retriever: object, options: Mapping[str, object]) -> None:
    """Refuse a wrong retriever, or a wrong part among the keyword options of `GroundedRAG`.

    Options that are names or paths are checked where they are resolved.

    Raises:
        ConfigError: A part is of another kind; the hint says how to wrap it.
    """
    check_part(retriever, "retriever")
    for option in ("generator", "judge", "entailment"):
        given = options.get(option)
        if given is not None and not isinstance(given, str) and not hasattr(given, "__fspath__"):
            check_part(given, option)
    checks = options.get("checks") or ()
    if not isinstance(checks, Iterable) or isinstance(checks, str):
        raise ConfigError(
            f"`checks` must be a list of functions, not {_kind(checks)}.",
            hint="Write checks=[*default_checks(), my_check].",
        )
    for check in checks:
        check_part(check, "checks")


def check_part(given: object, option: str) -> None:
    """Refuse an object that cannot serve under an option such as "retriever" or "readers".

    Raises:
        ConfigError: It is of another kind; the hint says how to wrap it.
    """
    part = _PARTS[option]
    family = _foreign(given, part.method)
    if family:
        hint = part.llama_index if family == "LlamaIndex" else part.langchain
        raise ConfigError(
            f"{_kind(given)} is an object of {family} and no {part.protocol}, which has "
            f"`{part.call}`.",
            hint=f"{hint} {_GUIDE}",
        )
    must_have(given, part.protocol, part.method, f"It needs `{part.call}`. {_GUIDE}")


def must_have(given: object, protocol: str, method: str, hint: str) -> None:
    """Refuse an object without a method, and a class in the place of an object."""
    if isinstance(given, type):
        raise ConfigError(
            f"The class {given.__name__} was given where an object is needed as {protocol}.",
            hint=f"Make an object of it: {given.__name__}(…).",
        )
    if not callable(getattr(given, method, None)):
        raise ConfigError(f"{_kind(given)} is no {protocol}: it has no `{method}`.", hint=hint)


def _kind(given: object) -> str:
    if inspect.isroutine(given):
        return f"The function {given.__name__}"
    if isinstance(given, type):
        return f"The class {given.__name__}"
    return f"{type(given).__module__}.{type(given).__qualname__}"


def _foreign(given: object, method: str) -> str:
    """Return the framework that an object comes from, unless the user wrote `method` for it."""
    kinds = given.__mro__ if isinstance(given, type) else type(given).__mro__
    owner = next((kind for kind in kinds if method in vars(kind)), None)
    if owner not in (None, object, type) and not _framework(owner):
        return ""
    return next((family for kind in kinds if (family := _framework(kind))), "")


def _framework(kind: type) -> str:
    package = kind.__module__.partition(".")[0]
    if package.startswith("langchain"):
        return "LangChain"
    return "LlamaIndex" if package.startswith("llama_index") else ""
