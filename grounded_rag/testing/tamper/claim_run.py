"""Running labelled claims through a verifier and counting how each of them ships."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from pydantic import computed_field

from grounded_rag.statistics import Interval, clopper_pearson
from grounded_rag.testing.tamper import altered, claims, joined, whole
from grounded_rag.testing.tamper.claim_values import ClaimKind, LabelledClaim
from grounded_rag.testing.tamper.corpora import Corpus, pools_of
from grounded_rag.testing.tamper.run import Verifier, default_verifier
from grounded_rag.testing.tamper.values import Passage, Pools
from grounded_rag.types import (
    Chunk,
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    Frozen,
    RetrievedChunk,
    Span,
)

FALSE_CLAIMS: tuple[ClaimKind, ...] = (
    claims.FALSE
    + joined.TORN_KINDS
    + joined.JOINED_KINDS
    + altered.ALTERED_KINDS
    + altered.MIRROR_KINDS
)
"""Classes whose claims their sources do not assert."""

TRUE_CLAIMS: tuple[ClaimKind, ...] = claims.TRUE + whole.KINDS
"""Classes whose claims say what their sources say."""

CLAIM_KINDS: tuple[ClaimKind, ...] = FALSE_CLAIMS + TRUE_CLAIMS
"""Every class, in the order of the report."""


def draw_claims(
    kind: ClaimKind, pools: Pools, *, count: int, seed: int
) -> tuple[LabelledClaim, ...]:
    """Return up to `count` different claims of one class; the same seed gives the same claims.

    Args:
        kind: The class.
        pools: Material of the corpus; classes with material of their own make little use of it.
        count: How many; fewer where there is too little material.
        seed: Seed of the randomness.
    """
    rng = random.Random(f"{seed}:claim:{kind.name}")  # noqa: S311 - no secret depends on it
    found: dict[tuple[object, ...], LabelledClaim] = {}
    for made in kind.stream(rng, pools):
        if len(found) == count:
            break
        key = (made.claim, made.cited)
        found.setdefault(key, LabelledClaim(kind.name, kind.true, *made))
    return tuple(found.values())


Fate: TypeAlias = Literal["verbatim", "confirmed", "restated", "refused"]
"""How a claim ships: in its own words by one of two tiers, as its source's words, or not at all."""

MIN_HONEST = 0.97
"""Smallest share of honest claims that must ship in their own words."""

_EXAMPLES = 5


class JudgedClaim(Frozen):
    """One labelled claim and what became of it.

    Attributes:
        kind: Its class.
        true: Whether its source asserts it.
        claim: The claim.
        quote: Its quotes.
        language: Language of the source.
        fate: How it ships.
        why: What the verifier says about it.
    """

    kind: str
    true: bool
    claim: str
    quote: str
    language: str
    fate: Fate
    why: str = ""

    @property
    def own_words(self) -> bool:
        """Whether it ships in its own words."""
        return self.fate in ("verbatim", "confirmed")


class ClaimResult(Frozen):
    """Counts of one class.

    Attributes:
        kind: Its name.
        true: Whether the sources of its claims assert them.
        near: Whether its claims keep to the words of the source; only those must be verbatim.
        says: What the class does.
        made: Claims that were checked.
        verbatim: Claims that ship as they are, because the source says the same.
        confirmed: Claims that ship as they are, because a decider said yes.
        restated: Claims in whose place the source's own words ship.
        refused: Claims that do not ship.
        wrong: The first claims that were judged wrongly.
    """

    kind: str
    true: bool
    near: bool
    says: str
    made: int
    verbatim: int
    confirmed: int
    restated: int
    refused: int
    wrong: tuple[JudgedClaim, ...] = ()

    @property
    def own_words(self) -> int:
        """Claims that ship in their own words."""
        return self.verbatim + self.confirmed

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def interval(self) -> Interval:
        """Exact 95 % interval of the share that ships in its own words."""
        return clopper_pearson(self.own_words, self.made)


class ClaimReport(Frozen):
    """Counts of a whole run.

    Attributes:
        corpus: What the sentences of the corpus classes were drawn from.
        seed: Seed of the randomness.
        results: One entry a class.
    """

    corpus: str
    seed: int
    results: tuple[ClaimResult, ...]

    def total(self, *, true: bool) -> ClaimResult:
        """Return the sum over the false classes, or over the true ones that are near."""
        rows = [row for row in self.results if row.true is true and (row.near or not true)]
        return ClaimResult(
            kind="all honest" if true else "all false",
            true=true,
            near=True,
            says="",
            made=sum(row.made for row in rows),
            verbatim=sum(row.verbatim for row in rows),
            confirmed=sum(row.confirmed for row in rows),
            restated=sum(row.restated for row in rows),
            refused=sum(row.refused for row in rows),
        )

    @computed_field  # type: ignore[prop-decorator]  # mypy has no support for it
    @property
    def failed(self) -> bool:
        """Whether a false claim ships in its own words, or too many honest ones do not."""
        false, honest = self.total(true=False), self.total(true=True)
        return bool(false.own_words) or honest.own_words < MIN_HONEST * honest.made


def run_claims(
    corpus: Corpus,
    *,
    per_class: int,
    seed: int = 0,
    verify: Verifier | None = None,
    kinds: Iterable[ClaimKind] = CLAIM_KINDS,
    progress: Callable[[ClaimResult], None] | None = None,
) -> ClaimReport:
    """Draw labelled claims and count how the verifier ships them.

    Args:
        corpus: Where the classes without material of their own draw sentences.
        per_class: Claims a class, as far as there is material.
        seed: Seed of the randomness.
        verify: The verifier; by default `grounded_rag.verify`.
        kinds: The classes.
        progress: Called after each class.
    """
    check = verify if verify is not None else default_verifier()
    pools = pools_of(corpus)
    results = []
    for kind in kinds:
        drawn = draw_claims(kind, pools, count=per_class, seed=seed)
        results.append(result_of(kind, [judge_claim(item, check) for item in drawn]))
        if progress is not None:
            progress(results[-1])
    return ClaimReport(corpus=corpus.name, seed=seed, results=tuple(results))


def judge_claim(
    item: LabelledClaim, verify: Verifier, *, known: Mapping[str, RetrievedChunk] | None = None
) -> JudgedClaim:
    """Return what a verifier makes of one claim, at its defaults.

    Args:
        item: The claim.
        verify: The verifier.
        known: Chunks, by id, that stand for the passages of their ids with all that is known
            about them; other passages become chunks of their own.
    """
    citations = tuple(Citation(chunk_id=c.passage.id, quote=c.quote) for c in item.cited)
    chunks = [
        (known or {}).get(passage.id) or retrieved(passage, rank)
        for rank, passage in enumerate(item.passages, start=1)
    ]
    draft = Draft(claims=(Claim(text=item.claim, citations=citations),))
    found = verify(draft, chunks).claims
    verdict = found[0] if found else None
    fate: Fate = "refused" if verdict is None else fate_of(verdict, poison=item.poison)
    return JudgedClaim(
        kind=item.kind,
        true=item.true,
        claim=item.claim,
        quote=item.quote,
        language=item.language,
        fate=fate,
        why="" if verdict is None else f"{verdict.reason or ''} {verdict.why}".strip(),
    )


def fate_of(verdict: ClaimVerdict, *, poison: str = "") -> Fate:
    """Return how a claim ships.

    Args:
        verdict: Its verdict, from `verify` or of an answer.
        poison: Characters that must not ship; text that was cleaned of them counts as refused.
    """
    clean = bool(poison) and not set(poison) & set(verdict.text)
    if verdict.restated:
        return "restated"
    if verdict.supported and not clean:
        return "verbatim" if verdict.tier == "verbatim" else "confirmed"
    return "restated" if verdict.restatement is not None else "refused"


def result_of(kind: ClaimKind, judged: Sequence[JudgedClaim]) -> ClaimResult:
    """Return the counts of one class."""
    fates = [item.fate for item in judged]
    wrong = [item for item in judged if item.own_words is not item.true]
    return ClaimResult(
        kind=kind.name,
        true=kind.true,
        near=kind.near,
        says=kind.says,
        made=len(judged),
        verbatim=fates.count("verbatim"),
        confirmed=fates.count("confirmed"),
        restated=fates.count("restated"),
        refused=fates.count("refused"),
        wrong=tuple(wrong[:_EXAMPLES]),
    )


def retrieved(passage: Passage, rank: int = 1) -> RetrievedChunk:
    """Return a passage as a chunk that was found, with its title and headings."""
    return RetrievedChunk(
        chunk=Chunk(
            id=passage.id,
            doc_id=passage.source,
            span=Span(start=0, end=len(passage.text)),
            text=passage.text,
            content_hash=hashlib.sha256(passage.text.encode("utf-8")).hexdigest(),
            headings=passage.headings,
        ),
        title=passage.title,
        rank=rank,
    )
