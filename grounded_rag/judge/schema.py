"""What a judge answers: narrow for the model that writes it, lenient for the reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grounded_rag.protocols import Grade

_GRADES = {grade.name: grade for grade in Grade}


def _decoded(value: Any) -> Any:
    """Decode JSON that arrived as a string, once; leave everything else alone."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _texts(value: Any) -> list[str]:
    """Return the texts of a list, or of a lone text; what is no text stands for no words."""
    value = _decoded(value)
    entries = value if isinstance(value, list) else [value]
    return [entry for entry in entries if isinstance(entry, str) and entry.strip()]


def _number(value: Any) -> int:
    """Return the number of a claim, or 0, which no claim has."""
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value.strip())
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _word(value: Any) -> str:
    return value.strip().upper().replace(" ", "_") if isinstance(value, str) else ""


def _items(value: Any) -> list[Any]:
    value = _decoded(value)
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, list):
        raise ValueError("verdicts are a list")  # noqa: TRY004 - pydantic collects ValueErrors
    return [entry for entry in map(_decoded, entries) if isinstance(entry, Mapping)]


Words = Annotated[
    list[str],
    BeforeValidator(_texts),
    Field(description="Words copied from the evidence without any change."),
]
# The enum is for the model that writes; an unknown word must not lose the verdicts beside it.
Verdict = Annotated[str, BeforeValidator(_word), Field(json_schema_extra={"enum": list(_GRADES)})]


class VerdictItem(BaseModel):
    """The verdict on one claim."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["number", "rests_on", "verdict"]}
    )

    number: Annotated[int, BeforeValidator(_number), Field(description="Number of the claim.")] = 0
    rests_on: Words = []
    verdict: Verdict = ""


class JudgeAnswer(BaseModel):
    """What a judge may answer with."""

    model_config = ConfigDict(extra="ignore")


class Verdicts(JudgeAnswer):
    """One verdict for each claim, with the words of its evidence that the verdict rests on."""

    verdicts: Annotated[list[VerdictItem], BeforeValidator(_items)]


class WholeVerdict(JudgeAnswer):
    """One verdict for the answer as a whole, with words of the evidence of every claim."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"required": ["rests_on", "verdict"]}
    )

    rests_on: Words = []
    verdict: Verdict = ""


class RelevanceVerdict(JudgeAnswer):
    """Whether the answer is to the point of the question."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["verdict"]})

    verdict: Annotated[
        str,
        BeforeValidator(_word),
        Field(json_schema_extra={"enum": ["RELEVANT", "BESIDE_THE_QUESTION"]}),
    ] = ""


def grade_of(word: str) -> Grade | None:
    """Return the grade that a model's word stands for, or None."""
    return _GRADES.get(word)
