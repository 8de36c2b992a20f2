"""What a run is made with, read off the object that is measured."""

from __future__ import annotations

import datetime as dt
import hashlib
import types
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources

from grounded_rag.evaluation.records import CheckIdentity, IndexIdentity, Prices, RunMeta
from grounded_rag.protocols import ClaimCase, EntailmentModel, Judge, SupportCheck
from grounded_rag.rag import GroundedRAG
from grounded_rag.types import ClaimVerdict, Located, Signal
from grounded_rag.verification.deciders import Staged
from grounded_rag.version import __version__

_VERIFIER = ("verification", "text", "types", "data", "decision.py", "validity.py")
_BY_VERIFIER = frozenset({"asserted"})
"""Signals that no check gives: the verifier finds them again each time."""


@cache
def verifier_fingerprint() -> str:
    """Return the SHA-256, hexadecimal, over code and word lists that judge claims and decide."""
    digest = hashlib.sha256()
    package = resources.files("grounded_rag")
    for name in _VERIFIER:
        for path, data in sorted(_sources(package.joinpath(name), name)):
            digest.update(path.encode() + b"\x00" + data)
    return digest.hexdigest()


def _sources(node: resources.abc.Traversable, path: str) -> Iterable[tuple[str, bytes]]:
    if node.is_file():
        if path.endswith((".py", ".toml")):
            yield path, node.read_bytes()
        return
    for child in node.iterdir():
        yield from _sources(child, f"{path}/{child.name}")


def check_name(check: SupportCheck) -> str:
    """Return a check's `name`, or the name of its function or class.

    Its recorded signals are found by this name, so `Signal.check` should equal it.
    """
    name = getattr(check, "name", None) or getattr(check, "__name__", None)
    return name if isinstance(name, str) else type(check).__name__


def decider_identities(
    entailment: EntailmentModel | None, judge: Judge | None
) -> tuple[CheckIdentity, ...]:
    """Return what tells the models apart that confirm claims; their names carry their versions."""
    named = (("entailment", entailment), ("judge", judge))
    return tuple(
        CheckIdentity(name=name, fingerprint=model.name)
        for name, model in named
        if model is not None
    )


def check_identities(checks: Sequence[SupportCheck] | None) -> tuple[CheckIdentity, ...]:
    """Return what tells each check and its version apart; None means the built-in checks.

    A check may say so itself, by an attribute `fingerprint` or `version`. A function is told by
    its code. An object that says nothing is never taken for the same again.
    """
    if checks is None:
        from grounded_rag.verification.support import default_checks

        checks = default_checks()
    return tuple(CheckIdentity(name=check_name(c), fingerprint=_fingerprint(c)) for c in checks)


def _fingerprint(check: SupportCheck) -> str:
    for attribute in ("fingerprint", "version"):
        value = getattr(check, attribute, None)
        if isinstance(value, str) and value:
            return value
    if isinstance(check, Staged):
        inner = _fingerprint(check.check)
        return f"{check.role} {check.only_open} {inner}" if inner else ""
    if (getattr(check, "__module__", "") or "").startswith("grounded_rag.verification."):
        return verifier_fingerprint()
    code = getattr(check, "__code__", None)
    if isinstance(code, types.CodeType) and not getattr(check, "__closure__", None):
        return hashlib.sha256(_code(code)).hexdigest()
    return ""


def _code(code: types.CodeType) -> bytes:
    parts = [code.co_code, repr(code.co_names).encode(), repr(code.co_varnames).encode()]
    for constant in code.co_consts:
        nested = isinstance(constant, types.CodeType)
        parts.append(_code(constant) if nested else repr(constant).encode())
    return b"\x00".join(parts)


_Places = tuple[tuple[str, int, int], ...]
_Key = tuple[str, _Places]


def _key(text: str, located: Iterable[Located]) -> _Key:
    places = tuple((p.chunk_id, p.chunk_span.start, p.chunk_span.end) for p in located)
    return text, places


class RecordedSignals:
    """The signals of recorded verdicts, by claim and places of its quotes."""

    def __init__(self, verdicts: Iterable[ClaimVerdict]) -> None:
        self._by_case: dict[_Key, Mapping[str, Signal]] = {
            _key(verdict.text, verdict.located): {
                s.check: s for s in verdict.signals if s.check not in _BY_VERIFIER
            }
            for verdict in verdicts
            # Checks run only where every citation has its place.
            if verdict.citations and all(c.problem is None for c in verdict.citations)
        }
        self.names = frozenset(name for case in self._by_case.values() for name in case)

    def play(self, name: str, *, otherwise: SupportCheck | None) -> SupportCheck:
        """Return a check that answers from the record.

        Args:
            name: Name of the recorded check.
            otherwise: What to ask about a claim that is not on record; None leaves it unsaid.
        """

        def recorded(case: ClaimCase) -> Signal | None:
            known = self._by_case.get(_key(case.claim.text, (p.located for p in case.evidence)))
            if known is not None:
                return known.get(name)
            return otherwise(case) if otherwise is not None else None

        recorded.__name__ = name
        return recorded


def replayed_checks(
    checks: Sequence[SupportCheck] | None,
    recorded: RecordedSignals,
    *,
    before: Sequence[CheckIdentity],
    deciders: Sequence[CheckIdentity] = (),
    everything: bool = False,
) -> tuple[SupportCheck, ...]:
    """Return the checks to judge again with: those that did not change play their record back.

    A recorded signal of a check that is not among `checks`, such as a model's, is kept as well.

    Args:
        checks: The checks in force now; None means the built-in ones.
        recorded: What the record says.
        before: The checks that made the record.
        deciders: The models that confirmed claims in it.
        everything: Whether checks that did not change run as well.
    """
    if checks is None:
        from grounded_rag.verification.support import default_checks

        checks = default_checks()
    result: list[SupportCheck] = []
    unchanged: set[str] = set()
    present: set[str] = set()
    for check, identity in zip(checks, check_identities(checks), strict=True):
        same = bool(identity.fingerprint) and identity in before
        present.add(identity.name)
        if same:
            unchanged.add(identity.name)
        # A check without a recorded signal of its name runs: it may have signalled under another.
        plays = same and not everything and identity.name in recorded.names
        result.append(_played(check, identity.name, recorded) if plays else check)
    names_before = {identity.name for identity in before}
    extra = recorded.names - present - names_before
    if names_before - unchanged - recorded.names:
        # A check that changed or is gone may have signalled under another name than its own:
        # only what models said is kept then.
        extra &= {identity.name for identity in deciders}
    return (*result, *(recorded.play(name, otherwise=None) for name in sorted(extra)))


def _played(check: SupportCheck, name: str, recorded: RecordedSignals) -> SupportCheck:
    """Return a check that answers from the record, at the stage of the one it stands for."""
    if isinstance(check, Staged):
        played = recorded.play(name, otherwise=check.check)
        return Staged(played, role=check.role, name=name, only_open=check.only_open)
    return recorded.play(name, otherwise=check)


_TEXTS_KEPT = 256


def meta_of(
    rag: GroundedRAG,
    *,
    golden: str,
    golden_hash: str,
    items: int,
    split: str,
    prices: Prices | None,
    threshold: float | None,
) -> RunMeta:
    """Return what a run over `rag` is made with.

    Args:
        rag: What is measured.
        golden: Name of the golden set.
        golden_hash: Hash over its items.
        items: Number of items.
        split: Split chosen, or "".
        prices: Prices of tokens.
        threshold: Least relevance score, or None without relevance.
    """
    parts = rag._parts
    return RunMeta(
        id=new_id(),
        started=dt.datetime.now(dt.UTC),
        package_version=__version__,
        golden=golden,
        golden_hash=golden_hash,
        items=items,
        split=split,
        generator=generator_name(rag),
        policy=parts.policy.model_dump(mode="json"),
        fingerprint=parts.fingerprint,
        refusal=parts.refusal,
        verifier=verifier_fingerprint(),
        checks=check_identities(parts.rules.checks),
        deciders=decider_identities(parts.rules.entailment, parts.rules.judge),
        index=index_identity(rag),
        prices=prices,
        relevance_threshold=threshold,
    )


def generator_name(rag: GroundedRAG) -> str:
    """Return what the generator calls itself, or how it was named."""
    parts = rag._parts
    for attribute in ("name", "model"):
        value = getattr(parts.generator, attribute, None)
        if isinstance(value, str) and value:
            return value
    return parts.generator_name


def new_id() -> str:
    """Return a name for a run that sorts by time."""
    now = dt.datetime.now(dt.UTC)
    return f"{now:%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"


def index_identity(rag: GroundedRAG) -> IndexIdentity:
    """Return what is searched; an object made from a retriever alone does not say."""
    opened = rag._index
    if opened is None:
        return IndexIdentity(name=type(rag._parts.retriever).__name__)
    status = opened.index.status()
    digest = hashlib.sha256()
    for doc_id, state in sorted(opened.index.states().items()):
        digest.update(f"{doc_id}\x00{state.content_hash}\x00".encode("utf-8", "surrogatepass"))
    embedding = status.embedding
    return IndexIdentity(
        name=str(opened.path),
        documents=status.documents,
        chunks=status.chunks,
        embedding="" if embedding is None else embedding.name,
        content_hash=digest.hexdigest(),
    )


def text_reader(rag: GroundedRAG) -> Callable[[str], str | None] | None:
    """Return a function that gives the text of a document, or None without an index."""
    opened = rag._index
    if opened is None:
        return None

    @lru_cache(maxsize=_TEXTS_KEPT)
    def text_of(doc_id: str) -> str | None:
        document = opened.index.document(doc_id)
        return None if document is None else document.text

    return text_of
