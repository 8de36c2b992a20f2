"""The shape of a structured answer: narrow for the model that writes it, lenient for the reader.

The JSON schema lists the labels as an enum and demands a citation for each claim. Pydantic
itself accepts what departs from it: one unknown label or one missing quote must reach the
verifier as one bad claim, not lose the good claims beside it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import GenericAlias
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema

_AS_IT_STANDS = "The whole sentence that answers, as it stands in the passage."
_IN_OWN_WORDS = "One fact, as a plain whole sentence in the language of the question."
_DEEPEST_WRAPPER = 4
_DESCRIPTION = "The claims that answer the question, each with literal quotes from the passages."


class AnswerShape(BaseModel):
    """What the reader of an answer relies on; the generated models are subclasses."""

    model_config = ConfigDict(extra="ignore")

    claims: list[Any]
    unanswered: list[str]
    # Something had to be decoded or wrapped to get this shape.
    repaired: SkipJsonSchema[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _decode(cls, raw: Any) -> Any:
        return normalise(raw)


class LabelledShape(AnswerShape):
    """The same with `text` and the labels of `sentences` for each claim."""

    @model_validator(mode="before")
    @classmethod
    def _decode(cls, raw: Any) -> Any:
        return normalise(raw, claim=_labelled_claim)


def response_model(labels: Sequence[str], *, own_words: bool = False) -> type[AnswerShape]:
    """Return the response model of a request that shows passages under these labels, in order.

    `own_words` says that something can confirm claims in the model's own words.
    """
    citation = create_model(
        "CitationItem",
        chunk_id=(
            str,
            Field(
                description="Label of the passage that is quoted.",
                json_schema_extra={"enum": list(labels)},
            ),
        ),
        quote=(
            str,
            Field(description="Copied character by character from that passage's text."),
        ),
    )
    cited = Field(
        description="Where the claim stands in the passages.", json_schema_extra={"minItems": 1}
    )
    return _answer_model(AnswerShape, own_words, citations=(_list_of(citation), cited))


def labelled_model(*, own_words: bool = False) -> type[AnswerShape]:
    """Return the response model of a request whose sentences stand under labels.

    The labels are not listed: they differ from request to request, and a provider caches a tool
    only as long as it stays equal. An unknown label reaches verification as an unknown chunk.
    """
    cited = Field(
        description="Labels of the sentences that carry the claim, without brackets.",
        json_schema_extra={"minItems": 1},
    )
    return _answer_model(LabelledShape, own_words, sentences=(list[str], cited))


def _answer_model(base: type[AnswerShape], own_words: bool, **evidence: Any) -> type[AnswerShape]:
    # The evidence comes before the claim: what is chosen first is easier to stay close to.
    claim = create_model(
        "ClaimItem",
        **evidence,
        text=(str, Field(description=_IN_OWN_WORDS if own_words else _AS_IT_STANDS)),
        arithmetic=(
            str,
            Field(
                default="",
                description="Only if the question asks for a number that is computed from quoted "
                "numbers: the expression, such as (120 - 96) / 96. Otherwise empty.",
            ),
        ),
    )
    return create_model(
        "GroundedAnswer",
        __base__=base,
        __doc__=_DESCRIPTION,
        claims=(
            _list_of(claim),
            Field(description="Empty if the passages do not answer the question."),
        ),
        unanswered=(
            list[str],
            Field(
                description="Parts of the question that stay open, copied from the question; never "
                "the whole question beside claims."
            ),
        ),
    )


def _list_of(model: type[BaseModel]) -> Any:
    return GenericAlias(list, (model,))


def normalise(raw: Any, *, claim: Callable[[Any], dict[str, Any]] | None = None) -> Any:
    """Bring a decoded answer into the nested form, whatever can be read of it.

    A list or object that arrives as a JSON string is decoded once; an answer inside a wrapper, such
    as the call of a tool, is taken out; a lone object becomes a list of one; `chunk_id` and `quote`
    beside `text` become a citation. What cannot be read as a claim becomes an uncited one, which
    verification rejects, so that it costs no good claim beside it. Without a readable list of
    claims `raw` is returned for pydantic to refuse.
    """
    value = unwrapped(raw)
    if not isinstance(value, Mapping):
        return value
    claims = _listed(value.get("claims"))
    if "claims" not in value or not isinstance(claims, list):
        return value
    unanswered = _list_only(value.get("unanswered"))
    shaped: dict[str, Any] = {
        "claims": [(claim or _claim)(item) for item in claims],
        "unanswered": [_text(part) for part in unanswered if part],
    }
    given = {"claims": value["claims"], "unanswered": value.get("unanswered", [])}
    whole = isinstance(raw, Mapping) and "claims" in raw
    return {**shaped, "repaired": not whole or shaped != given}


def unwrapped(value: Any) -> Any:
    """Return the one object with `claims` inside `value`; without one, `value` itself, decoded.

    Models put an answer into `{"input": …}`, `{"name": …, "arguments": …}`, the tool's own name
    or a list of calls. Where two objects could be meant, none is taken.
    """
    value = decoded(value)
    if isinstance(value, Mapping) and "claims" in value:
        return value
    found = _answers(value, _DEEPEST_WRAPPER)
    if len(found) != 1:
        return value
    if isinstance(value, Mapping) and "unanswered" in value:
        return {"unanswered": value["unanswered"], **found[0]}
    return found[0]


def _answers(value: Any, depth: int) -> list[Mapping[str, Any]]:
    """Return the objects with `claims` in `value`, outermost only."""
    value = decoded(value)
    if isinstance(value, Mapping) and "claims" in value:
        return [value]
    if depth == 0 or not isinstance(value, Mapping | list):
        return []
    inner = value.values() if isinstance(value, Mapping) else value
    return [answer for each in inner for answer in _answers(each, depth - 1)]


def _labelled_claim(item: Any) -> dict[str, Any]:
    item = decoded(item)
    if not isinstance(item, Mapping):
        return {"sentences": [], "text": _text(item)}
    return {
        "sentences": [_text(label) for label in _list_only(item.get("sentences"))],
        "text": _text(item.get("text")),
        **({"arithmetic": _text(item["arithmetic"])} if "arithmetic" in item else {}),
    }


def _claim(item: Any) -> dict[str, Any]:
    item = decoded(item)
    if not isinstance(item, Mapping):
        return {"citations": [], "text": _text(item)}
    citations = _list_only(item.get("citations"))
    if not citations and ("chunk_id" in item or "quote" in item):
        citations = [{"chunk_id": item.get("chunk_id"), "quote": item.get("quote")}]
    return {
        "citations": [_citation(entry) for entry in citations],
        "text": _text(item.get("text")),
        **({"arithmetic": _text(item["arithmetic"])} if "arithmetic" in item else {}),
    }


def _citation(entry: Any) -> dict[str, str]:
    entry = decoded(entry)
    if not isinstance(entry, Mapping):
        # A bare label: the verifier says that the quote is missing.
        return {"chunk_id": _text(entry), "quote": ""}
    return {"chunk_id": _text(entry.get("chunk_id")), "quote": _text(entry.get("quote"))}


def _listed(value: Any) -> Any:
    """Return a list for a list, a lone object or nothing, in JSON text too; else the value."""
    value = decoded(value)
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [value]
    return value


def _list_only(value: Any) -> list[Any]:
    """Like `_listed`, with anything else as the only entry."""
    value = _listed(value)
    return value if isinstance(value, list) else [value]


def decoded(value: Any) -> Any:
    """Decode a JSON array or object that arrived as a string, once; leave other strings alone."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
