"""Reading a draft from what users and models hand over.

A model's output that has the wrong shape is a value (`invalid_output`); a Python object that can
be no draft at all is the caller's error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from grounded_rag.errors import DraftError
from grounded_rag.types import Citation, Claim, Draft, Problem

_FENCES = ("```json", "```JSON", "```")
_HINT = (
    'Pass a Draft, a mapping {"claims": [{"text", "chunk_id", "quote"}]}, the same as JSON, '
    "or the model's raw text."
)


class ParsedDraft(NamedTuple):
    """A draft, or what kept it from being read."""

    draft: Draft | None
    problems: tuple[Problem, ...] = ()


class _ShapeError(Exception):
    """The output has no shape that means something; holds where and what."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(detail)
        self.problem = Problem(reason="invalid_output", path=path, detail=detail)


def parse_draft(value: object) -> ParsedDraft:
    """Read a draft.

    Args:
        value: A `Draft`; a mapping with "claims" (each with "text" and either "chunk_id" and
            "quote" or "citations", and optionally "arithmetic") and optionally "answer" and
            "unanswered"; a list of claims;
            any pydantic model of that shape; the same as a JSON string; or raw text.

    Raises:
        DraftError: The value is of another Python type.
    """
    if isinstance(value, Draft):
        return _without_surrogates(value)
    if isinstance(value, BaseModel):
        value = value.model_dump()
    try:
        if isinstance(value, str):
            draft = _from_text(value)
        elif isinstance(value, Mapping | list | tuple):
            draft = _from_shape(value, repaired=False)
        else:
            raise DraftError(f"A {type(value).__name__} is no draft.", hint=_HINT)
    except _ShapeError as error:
        return ParsedDraft(None, (error.problem,))
    return _without_surrogates(draft)


def _from_text(text: str) -> Draft:
    body = text.strip().removeprefix("\ufeff")
    fenced = False
    for fence in _FENCES:
        if body.startswith(fence) and body.endswith("```") and len(body) > len(fence) + 3:
            body, fenced = body[len(fence) : -3].strip(), True
            break
    if not body.startswith(("{", "[")):
        return Draft(prose=text)
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        if body.startswith(("{", "[{", "[\n", "[ {")):
            detail = "The output is cut off or no JSON."
            raise _ShapeError("", detail) from error
        return Draft(prose=text)
    if body.startswith("[") and not all(isinstance(item, dict) for item in decoded):
        return Draft(prose=text)
    return _from_shape(decoded, repaired=fenced)


def _from_shape(value: object, *, repaired: bool) -> Draft:
    prose = ""
    unanswered: tuple[str, ...] = ()
    claims: object = value
    if isinstance(value, Mapping):
        claims = value.get("claims")
        prose = _string(_first(value, "answer", "prose"), "answer")
        unanswered = tuple(
            _string(part, "unanswered") for part in _sequence(value.get("unanswered"), "unanswered")
        )
        repaired = repaired or value.get("repaired") is True
        if claims is None and not prose and not unanswered and value:
            raise _ShapeError("claims", "The output has neither claims nor an answer.")
    if isinstance(claims, str):
        claims, repaired = _decode(claims, "claims"), True
    parsed: list[Claim] = []
    for index, item in enumerate(_sequence(claims, "claims")):
        path = f"claims[{index}]"
        if isinstance(item, str):
            item, repaired = _decode(item, path), True
        claim, mended = _claim(item, path)
        parsed.append(claim)
        repaired = repaired or mended
    return Draft(claims=tuple(parsed), unanswered=unanswered, prose=prose, repaired=repaired)


def _claim(item: object, path: str) -> tuple[Claim, bool]:
    """Return one claim, and whether its citations came as a string."""
    if isinstance(item, Claim):
        return item, False
    if not isinstance(item, Mapping):
        raise _ShapeError(path, "A claim is no object.")
    text = _string(_first(item, "text", "claim"), f"{path}.text")
    cited = item.get("citations")
    repaired = isinstance(cited, str)
    if isinstance(cited, str):
        cited = _decode(cited, f"{path}.citations")
    if cited is None:
        flat = "chunk_id" in item or "quote" in item
        cited = [item] if flat else []
    citations = tuple(
        _citation(entry, f"{path}.citations[{index}]")
        for index, entry in enumerate(_sequence(cited, f"{path}.citations"))
    )
    arithmetic = _string(item.get("arithmetic"), f"{path}.arithmetic").strip() or None
    return Claim(text=text, citations=citations, arithmetic=arithmetic), repaired


def _citation(entry: object, path: str) -> Citation:
    if isinstance(entry, Citation):
        return entry
    if not isinstance(entry, Mapping):
        raise _ShapeError(path, "A citation is no object.")
    chunk_id = entry.get("chunk_id")
    if isinstance(chunk_id, int) and not isinstance(chunk_id, bool):
        chunk_id = str(chunk_id)
    return Citation(
        chunk_id=_string(chunk_id, f"{path}.chunk_id"),
        quote=_string(entry.get("quote"), f"{path}.quote"),
    )


def _first(item: Mapping[object, object], *keys: str) -> object:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _string(value: object, path: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise _ShapeError(path, f"A text is a {type(value).__name__}.")


def _sequence(value: object, path: str) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, list | tuple):
        return value
    raise _ShapeError(path, f"A list is a {type(value).__name__}.")


def _decode(text: str, path: str) -> object:
    """Decode a value that came as a JSON string; once, never again."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _ShapeError(path, "A string stands where a list should, and is no JSON.") from error


def _without_surrogates(draft: Draft) -> ParsedDraft:
    """Refuse text that cannot be stored: half of a surrogate pair is no character."""
    texts = [("answer", draft.prose), *(("unanswered", part) for part in draft.unanswered)]
    for index, claim in enumerate(draft.claims):
        path = f"claims[{index}]"
        texts.append((f"{path}.text", claim.text))
        texts.append((f"{path}.arithmetic", claim.arithmetic or ""))
        for citation in claim.citations:
            texts += [(f"{path}.chunk_id", citation.chunk_id), (f"{path}.quote", citation.quote)]
    for path, text in texts:
        if not text.isascii() and not encodable(text):
            detail = "The text holds half of a surrogate pair, which is no character."
            return ParsedDraft(None, (Problem(reason="invalid_output", path=path, detail=detail),))
    return ParsedDraft(draft)


def encodable(text: str) -> bool:
    """Whether `text` can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
