"""The stage that confirms: deciders that cost time or money look at the claims still open."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, TypeVar

import anyio
from anyio import to_thread

from grounded_rag.errors import GroundedRAGError
from grounded_rag.protocols import EntailmentModel, Judge, SupportCheck, TokenLogprob
from grounded_rag.types import Instant, Usage, Verification
from grounded_rag.verification.confidence import confidence_signals
from grounded_rag.verification.confirm import (
    Added,
    OpenClaim,
    check_open,
    could_not,
    entailment_pairs,
    entailment_signals,
    judge_request,
    judge_signals,
    open_claims,
)
from grounded_rag.verification.examination import Examination, examine
from grounded_rag.verification.rules import Rules, rules_from
from grounded_rag.verification.stack import stages

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Deciders:
    """What looks at open claims, in this order; each sees what those before it left open.

    Attributes:
        checks: Checks that wait for open claims; they run in a worker thread.
        entailment: Entailment model, or None; one batch for all claims, in a worker thread.
        judge: Judge, or None; one request for all claims.
    """

    checks: tuple[SupportCheck, ...] = ()
    entailment: EntailmentModel | None = None
    judge: Judge | None = None


class Confirmed(NamedTuple):
    """What the stage found, and what it cost."""

    verification: Verification
    usage: Usage


async def confirm(
    examination: Examination,
    deciders: Deciders,
    *,
    question: str | None = None,
    timeout: float | None = None,
    may_judge: bool = True,
) -> Confirmed:
    """Let the configured deciders speak on open claims, and settle the verdicts again.

    Whatever a decider raises, and whatever does not end in time, is "could not check": it never
    supports a claim and never raises here.

    Args:
        examination: What `verify` and the checks that run at once have found.
        deciders: What looks at open claims.
        question: The question; background for a judge.
        timeout: Most seconds for the whole stage; None sets no limit.
        may_judge: Whether tokens are left for the judge.
    """
    ends = None if timeout is None else anyio.current_time() + timeout
    usage = Usage()
    if deciders.checks and (claims := open_claims(examination)):
        added = await _checks(claims, deciders.checks, ends)
        examination = examination.with_signals(added)
    if deciders.entailment is not None and (claims := open_claims(examination)):
        added = await _entailment(claims, deciders.entailment, deciders.judge is not None, ends)
        examination = examination.with_signals(added)
    if deciders.judge is not None and (claims := open_claims(examination)):
        spoken = await _judge(claims, deciders.judge, question, ends, may_judge)
        examination = examination.with_signals(spoken.added)
        usage = spoken.usage
    return Confirmed(examination.verification, usage)


async def averify(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules | None = None,
    entailment: EntailmentModel | None = None,
    judge: Judge | None = None,
    refusal: str | None = None,
    quote_match: Literal["repair", "exact"] | None = None,
    checks: Sequence[SupportCheck] | None = None,
    max_age: dt.timedelta | None = None,
    timeout: float | None = None,
) -> Verification:
    """Verify a draft of any stack, with an entailment model or a judge for what stays open.

    Args:
        draft: See `verify`.
        chunks: See `verify`.
        question: See `verify`; a judge sees it as background.
        as_of: See `verify`.
        rules: All rules in one; or, for a quick call, the single keywords below.
        entailment: Model that says whether a claim follows from the statements it cites.
        judge: Judge that grades the claims that are still open.
        refusal: See `verify`.
        quote_match: See `verify`.
        checks: See `verify`; those that wait for open claims run in a worker thread.
        max_age: See `verify`.
        timeout: Most seconds for the deciders; what does not end in time could not be checked.

    Raises:
        ConfigError: Rules and single keywords were given.
        DraftError: `draft` or `chunks` is of a Python type that can be neither.
        ManifestError: `as_of` is text that is no date.
    """
    rules = rules_from(
        rules,
        refusal=refusal,
        quote_match=quote_match,
        checks=checks,
        max_age=max_age,
        entailment=entailment,
        judge=judge,
        timeout=timeout,
    )
    confirmed = await verify_and_confirm(draft, chunks, question=question, as_of=as_of, rules=rules)
    return confirmed.verification


async def verify_and_confirm(
    draft: object,
    chunks: Iterable[object],
    *,
    question: str | None,
    as_of: Instant | str | None,
    rules: Rules,
    may_judge: bool = True,
    tokens: Sequence[TokenLogprob] = (),
) -> Confirmed:
    """Do what `averify` does, and say what the judge cost.

    Args:
        draft: See `verify`.
        chunks: See `verify`.
        question: See `averify`.
        as_of: See `verify`.
        rules: The rules in force.
        may_judge: Whether the judge may be asked; what it would have been asked about could not be
            checked otherwise.
        tokens: Tokens of the output, where the provider tells how sure it was of each.
    """
    first, later = stages(() if rules.spans_only else rules.checks)
    examination = examine(draft, chunks, question=question, as_of=as_of, rules=rules, checks=first)
    if rules.spans_only:
        return Confirmed(examination.verification, Usage())
    if tokens:
        examination = examination.with_signals(confidence_signals(examination, tokens))
    deciders = Deciders(checks=later, entailment=rules.entailment, judge=rules.judge)
    return await confirm(
        examination, deciders, question=question, timeout=rules.timeout, may_judge=may_judge
    )


class _Spoken(NamedTuple):
    added: Added
    usage: Usage = Usage()


async def _checks(
    claims: Sequence[OpenClaim], checks: Sequence[SupportCheck], ends: float | None
) -> Added:
    names = ", ".join(getattr(check, "__name__", type(check).__name__) for check in checks)
    added = await _in_thread(partial(check_open, claims, checks), ends)
    if isinstance(added, _Failure):
        return could_not(claims, check=names, by="", detail=f"The check {names} {added.why}")
    return added


async def _entailment(
    claims: Sequence[OpenClaim], model: EntailmentModel, judge_follows: bool, ends: float | None
) -> Added:
    def decide(some: Sequence[OpenClaim]) -> Added:
        scores = model.score(entailment_pairs(some))
        return entailment_signals(some, scores, model=model.name, judge_follows=judge_follows)

    added = await _in_thread(partial(decide, claims), ends)
    if not isinstance(added, _Failure):
        return added
    if len(claims) == 1:
        detail = f"The entailment model {added.why}"
        return could_not(claims, check="entailment", by=_name(model), detail=detail)
    # One claim that the model cannot read must not cost the others their verdict.
    alone = [await _entailment([claim], model, judge_follows, ends) for claim in claims]
    return {position: signals for each in alone for position, signals in each.items()}


async def _judge(
    claims: Sequence[OpenClaim],
    judge: Judge,
    question: str | None,
    ends: float | None,
    may_judge: bool,
) -> _Spoken:
    if not may_judge:
        detail = "The budget of tokens is used up, so the judge was not asked."
        return _Spoken(could_not(claims, check="judge", by=_name(judge), detail=detail))

    async def decide() -> _Spoken:
        judgement = await judge.judge(judge_request(claims, question=question))
        try:
            added = judge_signals(claims, judgement.opinions, judge=judge.name)
        except ValueError as error:
            detail = f"The judge's answer cannot be used: {error}."
            added = could_not(claims, check="judge", by=_name(judge), detail=detail)
        return _Spoken(added, judgement.usage)

    spoken: _Spoken | _Failure = _Failure("did not answer in time.")
    try:
        with anyio.move_on_after(_left(ends)):
            spoken = await decide()
    except Exception as error:  # noqa: BLE001 - a judge is foreign code: whatever it raises
        spoken = _Failure(_words(error))
    if isinstance(spoken, _Failure):
        detail = f"The judge {spoken.why}"
        return _Spoken(could_not(claims, check="judge", by=_name(judge), detail=detail))
    return spoken


class _Failure(NamedTuple):
    """Why a decider gave nothing, as the end of a sentence."""

    why: str


async def _in_thread(work: Callable[[], _T], ends: float | None) -> _T | _Failure:
    try:
        with anyio.move_on_after(_left(ends)):
            return await to_thread.run_sync(work, abandon_on_cancel=True)
    except Exception as error:  # noqa: BLE001 - a model is foreign code: whatever it raises
        return _Failure(_words(error))
    return _Failure("did not answer in time.")


def _left(ends: float | None) -> float | None:
    return None if ends is None else max(0.0, ends - anyio.current_time())


def _words(error: Exception) -> str:
    if isinstance(error, GroundedRAGError):
        # Our own errors say what to do next; foreign messages may hold anything.
        return f"failed: {error}"
    return f"failed: {type(error).__name__}."


def _name(part: EntailmentModel | Judge) -> str:
    try:
        return str(part.name)
    except Exception:  # noqa: BLE001 - a broken name must not hide what went wrong
        return type(part).__name__
