"""Reading a draft from what users and models hand over, and what its prose says.

A model's output that has the wrong shape is a value (`invalid_output`); a Python object that can
be no draft at all is the caller's error. What is read is cleaned: the claims of a draft are the
texts that are verified and shown. The refusal string is known by the whole text, never by a phrase
inside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from grounded_rag.errors import DraftError
from grounded_rag.text.sentences import question_parts, split_sentences
from grounded_rag.text.words import content_words
from grounded_rag.types import Citation, Claim, Draft, Problem
from grounded_rag.verification.cleaning import clean_text, is_clean, names_nothing, without_unseen
from grounded_rag.verification.folding import fold
from grounded_rag.verification.locate import edge_readings

# A text of more refusals' lengths (and a margin for a short one) is no refusal.
_LONGEST_REFUSAL = 4
# A claim says a sentence that shares most of its words.
_SAID = 0.6
_SHOWN = 120
_FENCES = ("```json", "```JSON", "```")
_DRAFT_WANTED = (
    'Pass a Draft, a mapping {"claims": [{"text", "chunk_id", "quote"}]}, the same as JSON, '
    "or the model's raw text."
)

_LABELS = frozenset({"name", "type", "id"})
"""What a call of a tool has beside its input."""

# A call in a list, as some providers return it, is two envelopes.
_ENVELOPES = 2
# Each brace that opens no object may be read to the end of the text.
_OBJECTS_TRIED = 20
# "Here is the answer:" in front of an object introduces it; a longer text says something.
_LONGEST_INTRODUCTION = 200


class ParsedDraft(NamedTuple):
    """A draft, or what kept it from being read."""

    draft: Draft | None
    problems: tuple[Problem, ...] = ()


class _ShapeError(Exception):
    """The output has no shape that means something; holds where and what."""

    def __init__(self, path: str, detail: str) -> None:
        super().__init__(detail)
        self.path = path
        self.detail = detail

    def inside(self, path: str) -> _ShapeError:
        """Return the error as seen from outside the part at `path`."""
        return _ShapeError(f"{path}.{self.path}" if self.path else path, self.detail)


def parse_draft(value: object) -> ParsedDraft:
    """Read a draft, and clean the texts of its claims.

    Args:
        value: A `Draft`; a mapping with "claims" (each with "text" and either "chunk_id" and
            "quote" or "citations", and optionally "arithmetic") and optionally "answer" and
            "unanswered"; a list of claims;
            any pydantic model of that shape; the same as a JSON string, or one such object in a
            text; the same as the input of a tool's call; or raw text.

    Raises:
        DraftError: The value is of another Python type.
    """
    try:
        if isinstance(value, Draft):
            return ParsedDraft(_cleaned(value))
        if isinstance(value, BaseModel):
            value = value.model_dump()
        if isinstance(value, str):
            return ParsedDraft(_from_text(value))
        if isinstance(value, Mapping | list | tuple):
            return ParsedDraft(_from_shape(value))
    except _ShapeError as error:
        problem = Problem(reason="invalid_output", path=error.path, detail=error.detail)
        return ParsedDraft(None, (problem,))
    raise DraftError(f"A {type(value).__name__} is no draft.", hint=_DRAFT_WANTED)


def _from_text(text: str) -> Draft:
    if not _encodable(text):
        raise _half_character("answer")
    body = text.strip().removeprefix("\ufeff")
    fenced = False
    for fence in _FENCES:
        if body.startswith(fence) and body.endswith("```") and len(body) > len(fence) + 3:
            body, fenced = body[len(fence) : -3].strip(), True
            break
    if not body.startswith(("{", "[")):
        return _from_inside(text) or Draft(prose=text)
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        inside = _from_inside(text)
        if inside is not None:
            return inside
        if body.startswith(("{", "[{", "[\n", "[ {")):
            detail = "The output is cut off or no JSON."
            raise _ShapeError("", detail) from error
        return Draft(prose=text)
    if body.startswith("[") and not all(isinstance(item, dict) for item in decoded):
        return Draft(prose=text)
    return _from_shape(decoded, repaired=fenced)


def _from_inside(text: str) -> Draft | None:
    """Return the draft of the one JSON object with claims in a text; None unless there is one."""
    found = [each for each in _objects(text) if _has_claims(_unwrapped(each[0])[0])]
    if len(found) != 1:
        return None
    decoded, start, end = found[0]
    before, after = text[:start].rstrip(), text[end:].lstrip()
    for fence in _FENCES:
        if before.endswith(fence) and after.startswith("```"):
            before, after = before.removesuffix(fence).rstrip(), after[3:].lstrip()
            break
    if len(before) <= _LONGEST_INTRODUCTION and before.endswith((":", "：")):
        before = ""
    draft = _from_shape(decoded, repaired=True)
    beside = "\n\n".join(part.strip() for part in (before, draft.prose, after) if part.strip())
    return draft if beside == draft.prose.strip() else draft.model_copy(update={"prose": beside})


def _objects(text: str) -> Iterator[tuple[dict[str, Any], int, int]]:
    """Yield the outermost JSON objects of a text with their places.

    Braces that open no object are tried a few times only: each try may read to the end.
    """
    if '"claims"' not in text:
        return
    decoder = json.JSONDecoder()
    failed = 0
    start = text.find("{")
    while start >= 0 and failed < _OBJECTS_TRIED:
        end = start + 1
        try:
            decoded, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            failed += 1
        else:
            yield decoded, start, end
        start = text.find("{", end)


def _has_claims(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    claims = value.get("claims")
    return isinstance(claims, list) and all(isinstance(claim, Mapping) for claim in claims)


def _unwrapped(value: object) -> tuple[object, bool]:
    """Return what a tool's call or another envelope holds, and whether there was one.

    An envelope has one member with a draft, and beside it at most what names the call.
    """
    inner = value
    for _ in range(_ENVELOPES):
        if isinstance(inner, list | tuple) and len(inner) == 1 and isinstance(inner[0], Mapping):
            members = [] if _is_claim(inner[0]) else list(inner)
        elif isinstance(inner, Mapping) and "claims" not in inner:
            members = [member for key, member in inner.items() if key not in _LABELS]
        else:
            break
        if len(members) != 1:
            break
        inner = members[0]
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            try:
                inner = json.loads(inner)
            except (ValueError, RecursionError):
                break
        if isinstance(inner, Mapping) and "claims" in inner:
            return inner, True
    return value, False


def _is_claim(item: Mapping[Any, Any]) -> bool:
    return any(key in item for key in ("text", "claim", "quote", "citations"))


def _from_shape(value: object, *, repaired: bool = False) -> Draft:
    if not isinstance(value, Mapping) or "claims" not in value:
        value, wrapped = _unwrapped(value)
        repaired = repaired or wrapped
    prose = ""
    unanswered: tuple[str, ...] = ()
    claims: object = value
    if isinstance(value, Mapping):
        claims = value.get("claims")
        prose = _string(_first(value, "answer", "prose"), "answer")
        unanswered, mended = _parts(value.get("unanswered"))
        repaired = repaired or mended or value.get("repaired") is True
        if claims is None and not prose and not unanswered and value:
            raise _ShapeError("claims", "The output has neither claims nor an answer.")
    if isinstance(claims, str):
        claims, repaired = _decode(claims, "claims"), True
    parsed: list[dict[str, object]] = []
    for index, item in enumerate(_sequence(claims, "claims")):
        try:
            if isinstance(item, str):
                item, repaired = _decode(item, ""), True
            claim, mended = _claim(item)
        except _ShapeError as error:
            raise error.inside(f"claims[{index}]") from error
        parsed.append(claim)
        repaired = repaired or mended
    # Validated once and as a whole, which takes half the time of doing so part by part.
    return Draft.model_validate(
        {"claims": parsed, "unanswered": unanswered, "prose": prose, "repaired": repaired}
    )


def _parts(value: object) -> tuple[tuple[str, ...], bool]:
    """Return the parts said to be open, and whether they came in another shape."""
    if value is None:
        return (), False
    lone = isinstance(value, str)
    given = [
        _string(part, "unanswered")
        for part in ([value] if lone else _sequence(value, "unanswered"))
    ]
    kept = tuple(part for part in given if part.strip() and not names_nothing(part))
    return kept, lone or len(kept) < len(given)


def _claim(item: object) -> tuple[dict[str, object], bool]:
    """Return one claim, and whether its shape or its text was mended."""
    # `dict` first: to ask whether something is a model or any mapping takes ten times as long.
    if not isinstance(item, (dict, Mapping)):
        if not isinstance(item, Claim):
            raise _ShapeError("", "A claim is no object.")
        item = item.model_dump()
    text = _string(_first(item, "text", "claim"), "text")
    cited = item.get("citations")
    repaired = isinstance(cited, str)
    if isinstance(cited, str):
        cited = _decode(cited, "citations")
    if cited is None:
        cited = [item] if "chunk_id" in item or "quote" in item else []
    citations: list[dict[str, str]] = []
    for index, entry in enumerate(_sequence(cited, "citations")):
        try:
            found, mended = _citations(entry)
        except _ShapeError as error:
            raise error.inside(f"citations[{index}]") from error
        citations += found
        repaired = repaired or mended
    cleaned = text
    if not is_clean(text):
        quotes = [citation["quote"] for citation in citations]
        ids = [citation["chunk_id"] for citation in citations]
        cleaned = clean_text(text, quotes=quotes, chunk_ids=ids)
        repaired = repaired or cleaned != text
    shape: dict[str, object] = {"text": cleaned, "citations": citations}
    arithmetic = _string(item.get("arithmetic"), "arithmetic").strip()
    if arithmetic:
        shape["arithmetic"] = plain = without_unseen(arithmetic)
        repaired = repaired or plain != arithmetic
    return shape, repaired


def _citations(entry: object) -> tuple[list[dict[str, str]], bool]:
    """Return the citations of one entry, and whether a list stood in place of a text.

    Several quotes under one id are several citations of it.
    """
    if not isinstance(entry, (dict, Mapping)):
        if not isinstance(entry, Citation):
            raise _ShapeError("", "A citation is no object.")
        entry = entry.model_dump()
    chunk_id, quote = entry.get("chunk_id"), entry.get("quote")
    listed = isinstance(quote, list) or isinstance(chunk_id, list)
    if isinstance(chunk_id, list) and len(chunk_id) == 1:
        chunk_id = chunk_id[0]
    if isinstance(chunk_id, int) and not isinstance(chunk_id, bool):
        chunk_id = str(chunk_id)
    named = _string(chunk_id, "chunk_id")
    quotes = (quote or [""]) if isinstance(quote, list) else [quote]
    return [{"chunk_id": named, "quote": _string(each, "quote")} for each in quotes], listed


def _first(item: Mapping[Any, Any], *keys: str) -> object:
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def _string(value: object, path: str) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isascii() else _checked(value, path)
    raise _ShapeError(path, f"A text is a {type(value).__name__}.")


def _sequence(value: object, path: str) -> Sequence[object]:
    if value is None:
        return ()
    if isinstance(value, (list, tuple)):
        return value
    raise _ShapeError(path, f"A list is a {type(value).__name__}.")


def _decode(text: str, path: str) -> object:
    """Decode a value that came as a JSON string; once, never again."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _ShapeError(path, "A string stands where a list should, and is no JSON.") from error


def clean_claim(claim: Claim) -> Claim:
    """Return a claim as it is verified and shown; itself where there is nothing to clean."""
    text, arithmetic = claim.text, claim.arithmetic
    if not is_clean(text):
        quotes = [citation.quote for citation in claim.citations]
        ids = [citation.chunk_id for citation in claim.citations]
        text = clean_text(text, quotes=quotes, chunk_ids=ids)
    if arithmetic:
        arithmetic = without_unseen(arithmetic)
    if text == claim.text and arithmetic == claim.arithmetic:
        return claim
    return claim.model_copy(update={"text": text, "arithmetic": arithmetic})


def _cleaned(draft: Draft) -> Draft:
    """Return a draft with its claims cleaned; itself where there is nothing to clean."""
    _checked(draft.prose, "answer")
    for index, claim in enumerate(draft.claims):
        _checked(claim.text, f"claims[{index}].text")
        _checked(claim.arithmetic or "", f"claims[{index}].arithmetic")
        for citation in claim.citations:
            _checked(citation.chunk_id, f"claims[{index}].chunk_id")
            _checked(citation.quote, f"claims[{index}].quote")
    claims = tuple(map(clean_claim, draft.claims))
    unanswered = tuple(
        part for part in draft.unanswered if not names_nothing(_checked(part, "unanswered"))
    )
    if claims == draft.claims and unanswered == draft.unanswered:
        return draft
    # A part that names nothing is left out, and says nothing about the claims.
    repaired = draft.repaired or claims != draft.claims
    return draft.model_copy(
        update={"claims": claims, "unanswered": unanswered, "repaired": repaired}
    )


def _checked(text: str, path: str) -> str:
    if not text.isascii() and not _encodable(text):
        raise _half_character(path)
    return text


def _half_character(path: str) -> _ShapeError:
    return _ShapeError(path, "The text holds half of a surrogate pair, which is no character.")


def _encodable(text: str) -> bool:
    """Whether `text` can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def open_parts(draft: Draft, question: str | None) -> tuple[tuple[str, ...], list[Problem]]:
    """Return the parts of the question that a draft leaves open, and a problem for each other.

    A part has to stand in the question; one in other words stands for the part of the question
    that shares most words with it. Beside claims, a part that is the whole question leaves nothing
    open: the claims answer it.
    """
    if not draft.unanswered:
        return (), []
    kept: list[str] = []
    problems: list[Problem] = []
    whole = _letters(question or "")
    for index, part in enumerate(draft.unanswered):
        if not part.strip() or (draft.claims and whole and _letters(part) == whole):
            continue
        if question is not None and part in question:
            kept.append(part)
            continue
        nearest = _nearest_part(part, question or "")
        if nearest is not None and nearest not in kept:
            kept.append(nearest)
        problems.append(
            Problem(
                reason="unanswered_not_in_question",
                path=f"unanswered[{index}]",
                detail="The part said to be open does not stand in the question.",
            )
        )
    return tuple(kept), problems


def _nearest_part(part: str, question: str) -> str | None:
    """Return the part of a question of several that shares most words with another wording."""
    words = {word.stem for word in content_words(part)}
    parts = [span.of(question) for span in question_parts(question)]
    shared = [len(words & {word.stem for word in content_words(each)}) for each in parts]
    most = max(shared)
    return parts[shared.index(most)] if len(parts) > 1 and most else None


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def is_refusal(text: str, refusal: str) -> bool:
    """Whether `text` is the refusal string and nothing else.

    Apostrophes, white space, emphasis, wrapping quotation marks and a final full stop may differ.
    """
    if not refusal.strip() or len(text) > _LONGEST_REFUSAL * len(refusal) + 200:
        return False
    return not set(_readings(text)).isdisjoint(_readings(refusal))


def _readings(text: str) -> Iterator[str]:
    folded = fold(text).text.strip()
    for reading in edge_readings(folded):
        if reading.text:
            yield reading.text


def uncited_sentences(prose: str, claims: Sequence[str]) -> tuple[Problem, ...]:
    """Return a problem for each sentence of `prose` that no claim says."""
    said = [{word.stem for word in content_words(claim)} for claim in claims]
    whole = [" ".join(claim.split()) for claim in claims]
    problems: list[Problem] = []
    for span in split_sentences(prose):
        sentence = span.of(prose)
        words = {word.stem for word in content_words(sentence)}
        plain = " ".join(sentence.split())
        if not words or any(plain in claim or claim in plain for claim in whole if claim):
            continue
        if all(len(words & claim) < _SAID * len(words) for claim in said):
            problems.append(
                Problem(
                    reason="uncited_prose",
                    path="answer",
                    detail=f'No claim carries "{plain[:_SHOWN]}"; it is left out.',
                )
            )
    return tuple(problems)
