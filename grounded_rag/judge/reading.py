"""From a judge's answer to one opinion a claim, and from several answers to a majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from grounded_rag.judge.schema import Verdicts, WholeVerdict, grade_of
from grounded_rag.protocols import Grade, JudgeItem, Opinion
from grounded_rag.verification.confirm import unfounded

Ballot = tuple[Opinion, ...]
"""The opinions of one answer, one a claim, in order."""


def unsaid(items: Sequence[JudgeItem], detail: str) -> Ballot:
    """Return a ballot that says nothing about any claim, and why."""
    return (Opinion(grade=None, detail=detail),) * len(items)


def read_verdicts(items: Sequence[JudgeItem], answer: Verdicts) -> Ballot:
    """Return the opinion on each claim; two grades for one claim are none.

    Args:
        items: The claims, numbered from 1 in the request.
        answer: What the judge said.
    """
    return tuple(_opinion(number, answer) for number in range(1, len(items) + 1))


def _opinion(number: int, answer: Verdicts) -> Opinion:
    given = [item for item in answer.verdicts if item.number == number]
    grades = {grade_of(item.verdict) for item in given}
    if not given:
        return Opinion(grade=None, detail="The judge gave no verdict on this claim.")
    if len(grades) > 1 or None in grades:
        return Opinion(grade=None, detail="The judge gave no single verdict on this claim.")
    words = dict.fromkeys(text for item in given for text in item.rests_on)
    return Opinion(grade=grades.pop(), rests_on=tuple(words))


def read_whole(items: Sequence[JudgeItem], answer: WholeVerdict) -> Ballot:
    """Return what a verdict on the whole answer says about each claim.

    Support of the whole is support of every claim for which words of its own evidence were
    named. Where the whole is not supported, nobody was asked which claim fails: with several
    claims, none of them could be checked.

    Args:
        items: The claims.
        answer: What the judge said about all of them together.
    """
    grade = grade_of(answer.verdict)
    if grade is None:
        return unsaid(items, "The judge gave no verdict.")
    if len(items) == 1:
        return (Opinion(grade=grade, rests_on=tuple(answer.rests_on)),)
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
    return tuple(_share(item, answer.rests_on) for item in items)


def _share(item: JudgeItem, rests_on: Sequence[str]) -> Opinion:
    own = tuple(words for words in rests_on if unfounded(item.evidence, [words]) is None)
    if not own:
        return Opinion(grade=None, detail="The judge named no words of this claim's evidence.")
    return Opinion(grade=Grade.SUPPORTED, rests_on=own)


def majority(items: Sequence[JudgeItem], ballots: Sequence[Ballot]) -> Ballot:
    """Return the opinion of more than half of the ballots on each claim, or none.

    A vote that rests on words that are not there is no vote for anything.

    Args:
        items: The claims.
        ballots: The answers, at least one.
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
