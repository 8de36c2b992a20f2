"""Support checks: the role of each, when it runs, and what becomes of one that fails.

A check is one function from a `ClaimCase` to a `Signal`, or to None where it has nothing to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from grounded_rag.protocols import ClaimCase, EntailmentModel, Judge, SupportCheck
from grounded_rag.types import Reason, Signal

Role = Literal["veto", "decider", "filter", "info"]
"""What a verdict makes of a check's signals; see `Signal.role`."""


class Staged:
    """A check with the role that all its signals get, whatever they say themselves.

    A decider runs in a second stage, for claims that the others left open, because deciders are
    what costs time or money; when it passes a claim, that is a confirmation under its name.
    """

    __slots__ = ("__name__", "check", "decided_by", "only_open", "role")

    def __init__(
        self,
        check: SupportCheck,
        *,
        role: Role,
        name: str | None = None,
        only_open: bool | None = None,
    ) -> None:
        """Give `check` a role.

        Args:
            check: One function from a `ClaimCase` to a `Signal`, or to None where it has nothing
                to say.
            role: `veto` can only reject, `decider` can also confirm, `filter` sends a claim on
                to the deciders, `info` is shown and decides nothing.
            name: What verdicts and fingerprints call it; by default the function's own name.
            only_open: Whether it runs only for claims that are still open; by default deciders.
        """
        self.check = check
        self.role = role
        self.__name__ = name or check_name(check)
        self.only_open = role == "decider" if only_open is None else only_open
        self.decided_by = self.__name__ if role == "decider" else ""

    def __call__(self, case: ClaimCase) -> Signal | None:
        """Run the check and put its role on what it found."""
        signal = self.check(case)
        if not isinstance(signal, Signal):
            return signal
        by = signal.decided_by or self.decided_by
        return signal.model_copy(update={"role": self.role, "decided_by": by})


def role(check: SupportCheck, plays: Role, *, name: str | None = None) -> Staged:
    """Give a check a role.

    Example: `checks=[*default_checks(), role(my_check, "filter")]`.

    Args:
        check: One function from a `ClaimCase` to a `Signal` or None.
        plays: See `role` of `Staged`.
        name: What verdicts and fingerprints call it.
    """
    return Staged(check, role=plays, name=name)


class Stages(NamedTuple):
    """Checks by when they run: at once, or only for claims that are still open."""

    first: tuple[SupportCheck, ...]
    later: tuple[SupportCheck, ...]


def stages(checks: Sequence[SupportCheck] | None) -> Stages:
    """Divide checks into their stages; None means the built-in ones, which all run at once."""
    if checks is None:
        # The built-in checks are the larger half of the verifier: only who uses them loads them.
        from grounded_rag.verification.support import BUILT_IN

        return Stages(BUILT_IN, ())
    later = tuple(check for check in checks if _waits(check))
    return Stages(tuple(check for check in checks if not _waits(check)), later)


def _waits(check: SupportCheck) -> bool:
    return bool(getattr(check, "only_open", False))


def check_name(check: Callable[..., object]) -> str:
    """Return the name of a check: its function's, or its class's."""
    return getattr(check, "__name__", None) or type(check).__name__


def stack_names(
    checks: Sequence[SupportCheck] | None,
    *,
    entailment: EntailmentModel | None = None,
    judge: Judge | None = None,
) -> tuple[str, ...]:
    """Return what a stack is made of, in order, for a fingerprint; () for the built-in one.

    Args:
        checks: Checks; None means the built-in ones.
        entailment: Entailment model, if any.
        judge: Judge, if any.
    """
    names = [] if checks is None else [f"checks:{len(checks)}", *map(_identity, checks)]
    if entailment is not None:
        names.append(f"entailment:{entailment.name}")
    if judge is not None:
        names.append(f"judge:{judge.name}")
    return tuple(names)


def _identity(check: SupportCheck) -> str:
    if isinstance(check, Staged):
        return f"{check.role}:{check.__name__}{_version(check.check)}"
    module = getattr(check, "__module__", "")
    return f"{module}.{getattr(check, '__qualname__', check_name(check))}{_version(check)}"


def _version(check: SupportCheck) -> str:
    """Return what a check says of its version, by `fingerprint` or `version`, if it does."""
    said = getattr(check, "fingerprint", None) or getattr(check, "version", None)
    return f"@{said}" if isinstance(said, str) else ""


def run_checks(case: ClaimCase, checks: Sequence[SupportCheck]) -> tuple[Signal, ...]:
    """Run every check; one that fails to work gives "could not check", never support."""
    signals = (_run(check, case) for check in checks)
    return tuple(signal for signal in signals if signal is not None)


def _run(check: SupportCheck, case: ClaimCase) -> Signal | None:
    try:
        signal = check(case)
    except Exception as error:  # noqa: BLE001 - a check is foreign code: whatever it raises
        return _could_not(
            check_name(check), f"The check failed: {type(error).__name__}.", _role(check)
        )
    if signal is None:
        return None
    if not isinstance(signal, Signal):
        return _could_not(check_name(check), "The check returned no signal.", _role(check))
    if signal.score is not None and not math.isfinite(signal.score):
        detail = "The check returned a score that is no number."
        return _could_not(signal.check, detail, _role(check))
    return signal


def _could_not(name: str, detail: str, role: Role) -> Signal:
    reason = Reason.COULD_NOT_CHECK
    return Signal(check=name, passed=None, reason=reason, detail=detail, role=role)


def _role(check: SupportCheck) -> Role:
    """A decider that failed may be made up for by another; whatever else failed, by nothing.

    What decides nothing when it works decides nothing when it fails.
    """
    named = getattr(check, "role", None)
    if named == "decider":
        return "decider"
    return "info" if named == "info" else "veto"
