"""`verify_receipt`: a receipt against itself and against the documents as they are now."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from grounded_rag.protocols import Reader
from grounded_rag.receipts.findings import (
    UNCHANGED,
    CitationStanding,
    ClaimCheck,
    IntegrityProblem,
    NearestPassage,
    ReceiptCheck,
    StaleSource,
    TextStatus,
    why_changed,
)
from grounded_rag.receipts.integrity import (
    check_form,
    check_statements,
    retrieved_chunk,
    shown_verdict,
)
from grounded_rag.receipts.library import Held, Library, open_library
from grounded_rag.receipts.signing import signature_problems, signature_state
from grounded_rag.receipts.standing import Placed, changed_around, place
from grounded_rag.receipts.support import Again, Asking, look_again, on_trust, rules_of
from grounded_rag.types import (
    Citation,
    Claim,
    ClaimVerdict,
    FlagKind,
    Instant,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Tier,
    Validity,
)
from grounded_rag.validity import parse_instant, resolve, staleness, today_utc
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.rules import Rules
from grounded_rag.version import __version__


def stale_source(
    claim: str,
    citation: ReceiptCitation,
    source: ReceiptSource,
    standing: CitationStanding,
    library: Library,
    *,
    before: str,
    max_age: dt.timedelta | None,
) -> tuple[StaleSource, ...]:
    """Return what speaks today against the document of a quote; unknown age is no finding.

    Args:
        claim: Text of the claim.
        citation: The quote.
        source: Its chunk; its validity counts where the document is gone.
        standing: Where the quote stands now.
        library: Today's documents.
        before: The sentence(s) around the quote, as its source wrote them then.
        max_age: Oldest acceptable age, or None.
    """
    validity = library.validity(standing.found_in or citation.doc_id) or _recorded(source, library)
    return tuple(
        StaleSource(
            kind=finding.kind,
            doc_id=citation.doc_id,
            detail=finding.detail,
            since=finding.since,
            successor=next(iter(finding.related), None),
            successor_says=_in_force(finding.related, claim, citation, before, library),
        )
        for finding in staleness(validity, as_of=library.as_of, max_age=max_age)
        if finding.kind is not FlagKind.UNDATED
    )


def known_then(stale: StaleSource, receipt: Receipt) -> StaleSource:
    """Return a finding with whether the answer already carried a flag of its kind."""
    known = any(flag.kind is stale.kind and flag.doc_id == stale.doc_id for flag in receipt.flags)
    return stale.model_copy(update={"known_then": known})


def _recorded(source: ReceiptSource, library: Library) -> Validity:
    following = source.validity.superseded_by
    successor = None if following is None else library.validity(following)
    return resolve(source.validity, successor=successor)


def _in_force(
    related: tuple[str, ...],
    claim: str,
    citation: ReceiptCitation,
    before: str,
    library: Library,
) -> NearestPassage | None:
    """Return what the document in force says instead: successors are followed to the last one."""
    following = next(iter(related), None)
    seen = {citation.doc_id}
    held: Held | None = None
    while following is not None and following not in seen:
        seen.add(following)
        found = library.get(following)
        if not isinstance(found, Held):
            return None
        held = found
        following = next(
            (
                finding.related[0]
                for finding in staleness(found.validity, as_of=library.as_of)
                if finding.kind is FlagKind.SUPERSEDED and finding.related
            ),
            None,
        )
    if held is None:
        return None
    return held.counterpart(claim, citation.quote, before)


_GRAVEST_FIRST = (
    TextStatus.ALTERED,
    TextStatus.COULD_NOT_CHECK,
    TextStatus.DOCUMENT_GONE,
    TextStatus.REMOVED,
    TextStatus.TEXT_CHANGED,
    TextStatus.LINK_CHANGED,
    TextStatus.REFORMATTED,
    TextStatus.TEXT_MOVED,
    TextStatus.STILL_TRUE,
    TextStatus.NOT_COMPARED,
)


def verify_receipt(
    receipt: Receipt,
    *,
    index: Path | str | None = None,
    folder: Path | str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules | None = None,
    public_key: bytes | None = None,
    readers: Mapping[str, Reader] | None = None,
) -> ReceiptCheck:
    """Check a receipt again, offline: the verifier runs on its claims, then today's text counts.

    A claim that is called verbatim must be verbatim again. One that a decider confirmed must pass
    every rule; whether the decider would say so again is known only where `rules` name one, which
    is then asked.

    Args:
        receipt: The receipt.
        index: Folder of an index to compare with.
        folder: Folder of documents to compare with, in place of an index. With neither, only the
            receipt itself is checked.
        as_of: Moment for which the documents are read and their validity is judged; today in UTC
            by default.
        rules: Checks of one's own that gave the answer, and deciders to ask again; quote match,
            spans-only and age come from the receipt's own policy.
        public_key: Raw Ed25519 public key that must have signed the receipt, or None.
        readers: Readers of one's own by suffix that the folder was ingested with.

    Returns:
        For each claim what became of its text, and what no longer holds about its sources.

    Raises:
        InputError: Index and folder are both named, or the folder cannot be used.
        StoreError: The index cannot be used.
        ManifestError: `as_of` or a date of the folder's manifest cannot be read.
        MissingExtraError: A public key is given and `cryptography` is not installed.
    """
    moment = parse_instant(as_of) or today_utc()
    with (
        open_library(index=index, folder=folder, as_of=moment, readers=readers) as library,
        ReceiptChecker(library, rules=rules, public_key=public_key) as checker,
    ):
        return checker.check(receipt)


class ReceiptChecker:
    """Checks receipts against one state of the documents; what repeats is worked out once.

    Use it as a context manager, or call `close()`.
    """

    def __init__(
        self,
        library: Library,
        *,
        rules: Rules | None = None,
        public_key: bytes | None = None,
    ) -> None:
        self._library = library
        self._rules = rules
        self._public_key = public_key
        self._ask = Asking()
        self._verdicts: dict[Hashable, ClaimVerdict] = {}
        self._claims: dict[Hashable, ClaimCheck] = {}

    def check(self, receipt: Receipt) -> ReceiptCheck:
        """Check one receipt; see `verify_receipt`."""
        passages = self._passages(receipt)
        rules = rules_of(receipt, self._rules)
        signed = signature_state(receipt, self._public_key)
        problems = [*check_form(receipt, passages), *signature_problems(signed)]
        doubts: list[IntegrityProblem] = []
        if not problems:
            problems, doubts = self._judged(receipt, passages, rules)
        return ReceiptCheck(
            receipt_id=receipt.id,
            question=receipt.question,
            status=receipt.status,
            created_at=receipt.created_at,
            answered_as_of=receipt.as_of,
            as_of=self._library.as_of,
            against=self._library.kind,
            altered=tuple(problems),
            unconfirmed=tuple(doubts),
            signature=signed,
            claims=tuple(
                _altered(claim) if problems else self._claim(receipt, claim, passages, rules)
                for claim in receipt.claims
            ),
        )

    def close(self) -> None:
        """Stop what asking a model again has started."""
        self._ask.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _passages(self, receipt: Receipt) -> dict[str, Passage]:
        """Return the chunks: with the texts that travel with the receipt, else the index's."""
        passages: dict[str, Passage] = {}
        for source in receipt.sources:
            text = source.text
            if text is None:
                text = self._library.chunk_text(source)
            if text is not None:
                passages[source.chunk_id] = Passage(retrieved_chunk(source, text))
        return passages

    def _judged(
        self, receipt: Receipt, passages: Mapping[str, Passage], rules: Rules
    ) -> tuple[list[IntegrityProblem], list[IntegrityProblem]]:
        """Judge what a receipt says of its statements and its support on its own texts.

        What rules alone decide shows an alteration, unless other rules than today's gave the
        answer: then nobody is accused.
        """
        ours = receipt.package_version == __version__
        altered: list[IntegrityProblem] = []
        doubts: list[IntegrityProblem] = []
        for problem in check_statements(receipt, passages):
            (altered if ours else doubts).append(problem)
        for index, claim in enumerate(receipt.claims):
            again = self._again(receipt, claim, passages, rules)
            if again is None or not again.why:
                continue
            problem = IntegrityProblem(
                kind="unsupported",
                path=f"claims[{index}]",
                detail=f"The claim has not the support that the receipt states: {again.why}",
                reason=again.reason,
            )
            proven = ours and again.proves and not claim.is_old
            (altered if proven else doubts).append(problem)
        return altered, doubts

    def _again(
        self,
        receipt: Receipt,
        claim: ReceiptClaim,
        passages: Mapping[str, Passage],
        rules: Rules,
    ) -> Again | None:
        """Return what the verifier says of a claim on its own texts; None where one is unknown."""
        sources = _sources(receipt, claim)
        if any(source.chunk_id not in passages for source in sources):
            return None
        key = (claim, sources, receipt.question, _policy_key(rules))
        if key not in self._verdicts:
            chunks = [passages[source.chunk_id].retrieved for source in sources]
            asked = shown_verdict(claim).claim
            self._verdicts[key] = self._ask(asked, chunks, receipt.question, rules)
        return look_again(claim, self._verdicts[key], rules)

    def _claim(
        self,
        receipt: Receipt,
        claim: ReceiptClaim,
        passages: Mapping[str, Passage],
        rules: Rules,
    ) -> ClaimCheck:
        sources = _sources(receipt, claim)
        key = (claim, sources, receipt.question, _policy_key(rules))
        if key not in self._claims:
            self._claims[key] = self._check_claim(receipt, claim, sources, passages, rules)
        check = self._claims[key]
        return check.model_copy(
            update={"stale": tuple(known_then(stale, receipt) for stale in check.stale)}
        )

    def _check_claim(
        self,
        receipt: Receipt,
        claim: ReceiptClaim,
        sources: tuple[ReceiptSource, ...],
        passages: Mapping[str, Passage],
        rules: Rules,
    ) -> ClaimCheck:
        by_id = {source.chunk_id: source for source in sources}
        placed = [
            place(
                citation, by_id[citation.chunk_id], passages.get(citation.chunk_id), self._library
            )
            for citation in claim.citations
        ]
        standings = [each.standing for each in placed]
        again = self._again(receipt, claim, passages, rules)
        if again is None:
            again = on_trust(claim) if claim.rests_on is Tier.CONFIRMED else Again()
        rejected = ""
        if (
            any(each.passage is not None for each in placed)
            and all(standing.status in UNCHANGED for standing in standings)
            and not again.why
        ):
            again = self._today(claim, placed, passages, receipt.question, rules)
            rejected = again.why
            if rejected:
                standings = _marked(placed)
        stale: dict[StaleSource, None] = {}
        for citation, each, standing in zip(claim.citations, placed, standings, strict=True):
            source = by_id[citation.chunk_id]
            for finding in stale_source(
                claim.text,
                citation,
                source,
                standing,
                self._library,
                before=each.before.sentence,
                max_age=rules.max_age,
            ):
                stale.setdefault(finding)
        status = min((s.status for s in standings), key=_GRAVEST_FIRST.index)
        return ClaimCheck(
            claim=claim.text,
            status=status,
            why=why_changed(status, standings, rejected),
            tier=claim.tier,
            restated=claim.restated,
            decided_by=claim.decided_by,
            note=again.note,
            citations=tuple(standings),
            stale=tuple(stale),
        )

    def _today(
        self,
        claim: ReceiptClaim,
        placed: Sequence[Placed],
        passages: Mapping[str, Passage],
        question: str,
        rules: Rules,
    ) -> Again:
        """Return what the verifier says of a claim on today's text."""
        chunks: list[RetrievedChunk] = []
        citations = []
        for citation, each in zip(claim.citations, placed, strict=True):
            if each.passage is None:
                chunks.append(passages[citation.chunk_id].retrieved)
                citations.append(Citation(chunk_id=citation.chunk_id, quote=citation.quote))
            elif each.held is not None and each.standing.span is not None:
                # Today's own characters: that they stand is settled; their meaning is asked.
                quote = each.standing.span.of(each.held.text)
                chunks.append(each.passage.retrieved)
                citations.append(Citation(chunk_id=each.passage.id, quote=quote))
        asked = Claim(text=claim.text, citations=tuple(citations), arithmetic=claim.arithmetic)
        again = look_again(claim, self._ask(asked, chunks, question, rules), rules)
        if again.trusted and any(each.standing.sentence_changed for each in placed):
            return Again(why="What confirmed it saw other words, and was not asked again.")
        return again


def _sources(receipt: Receipt, claim: ReceiptClaim) -> tuple[ReceiptSource, ...]:
    cited = {citation.chunk_id for citation in claim.citations}
    return tuple(source for source in receipt.sources if source.chunk_id in cited)


def _policy_key(rules: Rules) -> Hashable:
    """Return what of the rules a receipt's own policy decides; the rest stays the same."""
    return rules.quote_match, rules.spans_only, rules.longest_restatement, rules.max_age


def _altered(claim: ReceiptClaim) -> ClaimCheck:
    return ClaimCheck(
        claim=claim.text,
        status=TextStatus.ALTERED,
        why="The receipt was altered: it is no evidence of what was answered.",
    )


def _marked(placed: Sequence[Placed]) -> list[CitationStanding]:
    """Return the quotes of a claim that is rejected on today's text, those to blame as changed."""
    blamed = [each.standing.sentence_changed for each in placed]
    if not any(blamed):
        blamed = [each.passage is not None for each in placed]
    return [
        changed_around(each) if to_blame else each.standing
        for each, to_blame in zip(placed, blamed, strict=True)
    ]
