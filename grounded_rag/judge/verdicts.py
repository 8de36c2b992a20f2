"""What a judge reads and may answer, and what its answers say about each claim."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from grounded_rag.errors import PromptError
from grounded_rag.generate.prompts import versioned_prompt
from grounded_rag.generate.schema import decoded
from grounded_rag.protocols import Grade, JudgeItem, Opinion
from grounded_rag.resources import prompts_dir, read_table
from grounded_rag.text.words import guess_language, tokenize
from grounded_rag.types import Frozen
from grounded_rag.verification.deciders import unfounded

Mode = Literal["per_claim", "holistic"]
"""One verdict per claim, or one cheap question about the answer as a whole."""

Task = Literal["per_claim", "holistic", "relevance"]

Ballot = tuple[Opinion, ...]
"""The opinions of one answer, one per claim, in order."""

_GRADES = {grade.name: grade for grade in Grade}
_SAID = {"RELEVANT": True, "BESIDE_THE_QUESTION": False}
_FILES: dict[Task, str] = {
    "per_claim": "judge.md",
    "holistic": "judge_holistic.md",
    "relevance": "relevance.md",
}
_WORDS: dict[Task, tuple[str, ...]] = {
    "per_claim": ("rests_on", *_GRADES),
    "holistic": ("rests_on", *_GRADES),
    "relevance": tuple(_SAID),
}


class JudgePrompt(Frozen):
    """The system prompt of a judge. It is sent as it is: nothing is ever filled into it."""

    text: str  # Without its version line
    digest: str  # First digits of the SHA-256 of the whole file, for names and fingerprints

    @classmethod
    def load(cls, task: Task, folder: Path | None = None) -> JudgePrompt:
        """Read `judge.md`, `judge_holistic.md` or `relevance.md`.

        None, or a folder without that file, takes the built-in one.

        Raises:
            PromptError: The file cannot be read, or lacks its version line or the grades.
        """
        name = _FILES[task]
        root = folder if folder is not None and (folder / name).exists() else prompts_dir()
        whole = versioned_prompt(root, name)
        body = whole.partition("\n")[2]
        if missing := [word for word in _WORDS[task] if word not in body]:
            raise PromptError(
                f"{root / name} does not mention {', '.join(missing)}.",
                hint="The judge answers with these words; say what each of them means.",
            )
        digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:8]
        return cls(text=body.strip(), digest=digest)


def _texts(value: Any) -> list[str]:
    """Return the texts of a list, or of a lone text; what is no text stands for no words."""
    value = decoded(value)
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
    value = decoded(value)
    entries = [value] if isinstance(value, Mapping) else value
    if not isinstance(entries, list):
        raise ValueError("verdicts are a list")  # noqa: TRY004 - pydantic collects ValueErrors
    return [entry for entry in map(decoded, entries) if isinstance(entry, Mapping)]


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
        Field(json_schema_extra={"enum": list(_SAID)}),
    ] = ""

    @property
    def relevant(self) -> bool | None:
        """What the word says, or None where it is none of the two."""
        return _SAID.get(self.verdict)


def unsaid(items: Sequence[JudgeItem], detail: str) -> Ballot:
    """Return a ballot that says nothing about any claim, and why."""
    return (Opinion(grade=None, detail=detail),) * len(items)


def read_verdicts(
    items: Sequence[JudgeItem], answer: Verdicts, *, context: Sequence[str] = ()
) -> Ballot:
    """Return the opinion on each claim, numbered from 1; two grades for one claim are none.

    Args:
        items: The claims.
        answer: What the judge answered.
        context: The cited passages with title and headings, where a name of a claim may stand.
    """
    return tuple(
        _grounded(item, _opinion(number, answer), context)
        for number, item in enumerate(items, start=1)
    )


def _opinion(number: int, answer: Verdicts) -> Opinion:
    given = [item for item in answer.verdicts if item.number == number]
    grades = {_GRADES.get(item.verdict) for item in given}
    if not given:
        return Opinion(grade=None, detail="The judge gave no verdict on this claim.")
    if len(grades) > 1 or None in grades:
        return Opinion(grade=None, detail="The judge gave no single verdict on this claim.")
    words = dict.fromkeys(text for item in given for text in item.rests_on)
    return Opinion(grade=grades.pop(), rests_on=tuple(words))


def read_whole(
    items: Sequence[JudgeItem], answer: WholeVerdict, *, context: Sequence[str] = ()
) -> Ballot:
    """Return what a verdict on the whole answer says about each claim.

    Support of the whole is support of every claim for which words of its own evidence were
    named. Where the whole is not supported, nobody was asked which claim fails: with several
    claims, none of them could be checked.
    """
    grade = _GRADES.get(answer.verdict)
    if grade is None:
        return unsaid(items, "The judge gave no verdict.")
    if len(items) == 1:
        opinion = Opinion(grade=grade, rests_on=tuple(answer.rests_on))
        return (_grounded(items[0], opinion, context),)
    if grade is not Grade.SUPPORTED:
        detail = (
            "The judge does not find the answer as a whole supported, and was not asked which "
            "claim fails."
        )
        return unsaid(items, detail)
    everything = [text for item in items for text in item.evidence]
    missing = unfounded(everything, answer.rests_on)
    if missing is not None:
        return unsaid(items, f"The judge's verdict is void: {missing}.")
    return tuple(_grounded(item, _share(item, answer.rests_on), context) for item in items)


def _share(item: JudgeItem, rests_on: Sequence[str]) -> Opinion:
    own = tuple(words for words in rests_on if unfounded(item.evidence, [words]) is None)
    if not own:
        return Opinion(grade=None, detail="The judge named no words of this claim's evidence.")
    return Opinion(grade=Grade.SUPPORTED, rests_on=own)


def _grounded(item: JudgeItem, opinion: Opinion, context: Sequence[str]) -> Opinion:
    """Void support for a claim with a day or a name that its source does not have.

    A weak judge says "supported" about whatever is like its evidence: another day or place. A day
    must stand where the grade rests, a name there or in the passage, whose title may have it
    alone. Numbers have a check of their own, which no judge can overrule.
    """
    if opinion.grade is not Grade.SUPPORTED:
        return opinion
    ground = [
        text
        for text in item.evidence
        if any(unfounded([text], [words]) is None for words in opinion.rests_on)
    ]
    missing = _missing(item.claim, ground, context)
    if not ground or missing is None:
        return opinion
    detail = f"The judge's verdict is void: what it rests on does not say “{missing}”."
    return Opinion(grade=None, detail=detail)


def _missing(claim: str, ground: Sequence[str], context: Sequence[str]) -> str | None:
    """Return the first day, month or name of a claim that its source lacks, or None."""
    days = frozenset(read_table("questions")["days_and_months"])
    held = {word.stem for text in ground for word in tokenize(text)}
    named = held | {word.stem for text in context for word in tokenize(text)}
    # German writes every noun with a capital.
    cased = guess_language(claim) != "de"
    for number, word in enumerate(tokenize(claim)):
        opens = number == 0 or claim[: word.start].rstrip(" \"'“‘(")[-1:] in ".!?:"
        name = cased and not opens and word.text[:1].isupper() and word.text != "I"
        if (word.lower in days and word.stem not in held) or (name and word.stem not in named):
            return word.text
    return None


def majority(items: Sequence[JudgeItem], ballots: Sequence[Ballot]) -> Ballot:
    """Return the opinion of more than half of the ballots on each claim, or none.

    A vote that rests on words that are not there is no vote for anything.
    """
    if len(ballots) == 1:
        return ballots[0]
    return tuple(
        _elected(item, [ballot[number] for ballot in ballots]) for number, item in enumerate(items)
    )


def _elected(item: JudgeItem, votes: Sequence[Opinion]) -> Opinion:
    valid = [vote for vote in votes if _counts(item, vote)]
    tally = Counter(vote.grade for vote in valid).most_common(1)
    if not tally or tally[0][1] * 2 <= len(votes):
        said = ", ".join(vote.grade.value if vote.grade else "nothing" for vote in votes)
        return Opinion(grade=None, detail=f"The judge's votes have no majority: {said}.")
    return next(vote for vote in valid if vote.grade is tally[0][0])


def _counts(item: JudgeItem, vote: Opinion) -> bool:
    if vote.grade is None or vote.grade is Grade.NOT_MENTIONED:
        return vote.grade is not None
    return unfounded(item.evidence, vote.rests_on) is None
