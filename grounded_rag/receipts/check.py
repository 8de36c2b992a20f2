"""`verify_receipt` and `audit_receipts`: receipts against themselves and the documents of today."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self

from grounded_rag._sync import BackgroundLoop
from grounded_rag.errors import ReceiptError
from grounded_rag.protocols import Reader
from grounded_rag.receipts.differences import CurrentDocument
from grounded_rag.receipts.findings import (
    UNCHANGED,
    AuditFinding,
    AuditReport,
    CitationStanding,
    ClaimCheck,
    IntegrityProblem,
    NearestPassage,
    ReceiptCheck,
    StaleSource,
    TextStatus,
    UnreadableReceipt,
    why_line,
)
from grounded_rag.receipts.integrity import (
    Recheck,
    check_form,
    check_signature,
    check_statements,
    on_trust,
    recheck,
    retrieved_chunk,
    rules_of,
    shown_verdict,
    signature_problems,
)
from grounded_rag.receipts.library import Library, open_library
from grounded_rag.receipts.make import load_receipt, receipt_files
from grounded_rag.receipts.standing import Placed, place
from grounded_rag.types import (
    Citation,
    Claim,
    ClaimVerdict,
    Draft,
    FlagKind,
    Instant,
    Receipt,
    ReceiptCitation,
    ReceiptClaim,
    ReceiptSource,
    RetrievedChunk,
    Tier,
)
from grounded_rag.validity import StalenessFinding, parse_instant, resolve, staleness, today_utc
from grounded_rag.verification.passages import Passage
from grounded_rag.verification.rules import Rules
from grounded_rag.verification.verifier import verify
from grounded_rag.version import __version__

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
        rules: Your own checks that gave the answer, and deciders to ask again; quote match,
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


def audit_receipts(
    receipts: Path | str,
    *,
    index: Path | str | None = None,
    folder: Path | str | None = None,
    as_of: Instant | str | None = None,
    rules: Rules | None = None,
    public_key: bytes | None = None,
    readers: Mapping[str, Reader] | None = None,
    progress: Callable[[int], object] | None = None,
) -> AuditReport:
    """Check every receipt of a folder against the documents as they are now.

    Args:
        receipts: Folder with receipts; files in folders below it are left alone.
        index: Folder of an index to compare with.
        folder: Folder of documents to compare with, in place of an index.
        as_of: Moment for which the documents are read and judged; today in UTC by default.
        rules: Your own checks that gave the answers, and deciders to ask again; see
            `verify_receipt`.
        public_key: Raw Ed25519 public key that must have signed every receipt, or None.
        readers: Your own file formats of a folder, as for `update_index`.
        progress: Called with the number of files done.

    Raises:
        ReceiptError: There is no folder of receipts.
        InputError: Index and folder are both named, or the folder cannot be used.
        StoreError: The index cannot be used.
        ManifestError: `as_of` or a date of the folder's manifest cannot be read.
        MissingExtraError: A public key is given and `cryptography` is not installed.
    """
    moment = parse_instant(as_of) or today_utc()
    files = list(receipt_files(receipts))
    statuses: Counter[str] = Counter()
    findings: list[AuditFinding] = []
    unreadable: list[UnreadableReceipt] = []
    refusals = 0
    with (
        open_library(index=index, folder=folder, as_of=moment, readers=readers) as library,
        ReceiptChecker(library, rules=rules, public_key=public_key) as checker,
    ):
        for done, file in enumerate(files, start=1):
            if progress is not None:
                progress(done)
            try:
                receipt = load_receipt(file)
            except ReceiptError as error:
                unreadable.append(UnreadableReceipt(file=file.name, message=error.message))
                continue
            check = checker.check(receipt)
            refusals += not check.claims
            statuses.update(str(claim.status) for claim in check.claims)
            if not check.stands:
                findings.append(AuditFinding(file=file.name, check=check))
    return AuditReport(
        as_of=moment,
        against=library.kind,
        receipts=len(files) - len(unreadable),
        refusals=refusals,
        statuses=dict(sorted(statuses.items())),
        findings=tuple(findings),
        unreadable=tuple(unreadable),
    )


class _Evidence(NamedTuple):
    """What a claim of a receipt is judged on."""

    question: str
    sources: tuple[ReceiptSource, ...]  # the chunks that the claim cites
    passages: Mapping[str, Passage]  # all chunks of the receipt by id, where their text is known
    rules: Rules  # that it was shipped under

    def key(self, claim: ReceiptClaim) -> Hashable:
        """Return what a claim's check depends on; rules differ only in the receipt's policy."""
        rules = self.rules
        policy = (rules.quote_match, rules.spans_only, rules.longest_restatement, rules.max_age)
        return claim, self.sources, self.question, policy


class ReceiptChecker:
    """Checks receipts against one state of the documents; what repeats is worked out once.

    Use it as a context manager: asking a model again needs a background loop, which is closed.
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
        self._loop = BackgroundLoop()
        self._verdicts: dict[Hashable, ClaimVerdict] = {}
        self._claims: dict[Hashable, ClaimCheck] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.close()

    def check(self, receipt: Receipt) -> ReceiptCheck:
        """Check one receipt; see `verify_receipt`."""
        passages = self._passages(receipt)
        rules = rules_of(receipt, self._rules)
        evidence = [
            _Evidence(receipt.question, _cited(receipt, claim), passages, rules)
            for claim in receipt.claims
        ]
        signature = check_signature(receipt, self._public_key)
        altered = [*check_form(receipt, passages), *signature_problems(signature)]
        unconfirmed: list[IntegrityProblem] = []
        if not altered:
            altered, unconfirmed = self._check_support(receipt, evidence, passages)
        if altered:
            claims = tuple(_altered(claim) for claim in receipt.claims)
        else:
            pairs = zip(receipt.claims, evidence, strict=True)
            claims = tuple(self._claim(receipt, claim, on) for claim, on in pairs)
        return ReceiptCheck(
            receipt_id=receipt.id,
            question=receipt.question,
            status=receipt.status,
            created_at=receipt.created_at,
            answered_as_of=receipt.as_of,
            as_of=self._library.as_of,
            against=self._library.kind,
            altered=tuple(altered),
            unconfirmed=tuple(unconfirmed),
            signature=signature,
            claims=claims,
        )

    def _passages(self, receipt: Receipt) -> dict[str, Passage]:
        """Return the chunks: with the texts that travel with the receipt, else the library's."""
        passages: dict[str, Passage] = {}
        for source in receipt.sources:
            text = source.text
            if text is None:
                text = self._library.chunk_text(source)
            if text is not None:
                passages[source.chunk_id] = Passage(retrieved_chunk(source, text))
        return passages

    def _check_support(
        self, receipt: Receipt, evidence: Sequence[_Evidence], passages: Mapping[str, Passage]
    ) -> tuple[list[IntegrityProblem], list[IntegrityProblem]]:
        """Return what proves an alteration, and what only is not confirmed, on its own texts.

        What rules alone decide shows an alteration, unless other rules than today's gave the
        answer: then nobody is accused.
        """
        ours = receipt.package_version == __version__
        altered: list[IntegrityProblem] = []
        unconfirmed: list[IntegrityProblem] = []
        for problem, literal in check_statements(receipt, passages):
            (altered if ours or literal else unconfirmed).append(problem)
        for index, (claim, on) in enumerate(zip(receipt.claims, evidence, strict=True)):
            again = self._recheck_then(claim, on)
            if again is None or not again.why:
                continue
            problem = IntegrityProblem(
                kind="unsupported",
                path=f"claims[{index}]",
                detail=f"The claim has not the support that the receipt states: {again.why}",
                reason=again.reason,
            )
            proven = ours and again.proves and not claim.is_old
            (altered if proven else unconfirmed).append(problem)
        return altered, unconfirmed

    def _claim(self, receipt: Receipt, claim: ReceiptClaim, on: _Evidence) -> ClaimCheck:
        key = on.key(claim)
        if key not in self._claims:
            self._claims[key] = self._check_claim(claim, on)
        check = self._claims[key]
        # Two receipts of one claim may have been flagged differently then.
        flagged = {(flag.kind, flag.doc_id) for flag in receipt.flags}
        stale = tuple(
            finding.model_copy(update={"known_then": (finding.kind, finding.doc_id) in flagged})
            for finding in check.stale
        )
        return check.model_copy(update={"stale": stale})

    def _check_claim(self, claim: ReceiptClaim, on: _Evidence) -> ClaimCheck:
        by_id = {source.chunk_id: source for source in on.sources}
        placed = [
            place(each, by_id[each.chunk_id], on.passages.get(each.chunk_id), self._library)
            for each in claim.citations
        ]
        standings = [each.standing for each in placed]
        again = self._recheck_then(claim, on)
        if again is None:
            again = on_trust(claim) if claim.rests_on is Tier.CONFIRMED else Recheck()
        rejected = ""
        # Today's text is judged only where it may take back a support that was there: a claim
        # that never had it is not confirmed, whatever the documents say now.
        if (
            any(each.passage is not None for each in placed)
            and all(standing.status in UNCHANGED for standing in standings)
            and not again.why
        ):
            again = self._recheck_today(claim, placed, on)
            rejected = again.why
            if rejected:
                standings = _changed(placed)
        stale: dict[StaleSource, None] = {}
        for citation, each, standing in zip(claim.citations, placed, standings, strict=True):
            found_in = standing.found_in or citation.doc_id
            for finding in self._staleness(found_in, by_id[citation.chunk_id], on.rules.max_age):
                related = finding.related
                successor_says = self._in_force(related, claim.text, citation, each.before.sentence)
                stale.setdefault(
                    StaleSource(
                        kind=finding.kind,
                        doc_id=citation.doc_id,
                        detail=finding.detail,
                        since=finding.since,
                        successor=next(iter(related), None),
                        successor_says=successor_says,
                    )
                )
        status = min((s.status for s in standings), key=_GRAVEST_FIRST.index)
        return ClaimCheck(
            claim=claim.text,
            status=status,
            why=why_line(status, standings, rejected),
            tier=claim.tier,
            restated=claim.restated,
            decided_by=claim.decided_by,
            note=again.note,
            citations=tuple(standings),
            stale=tuple(stale),
        )

    def _recheck_then(self, claim: ReceiptClaim, on: _Evidence) -> Recheck | None:
        """Return what the verifier says of a claim on its own texts; None where one is unknown."""
        if any(source.chunk_id not in on.passages for source in on.sources):
            return None
        key = on.key(claim)
        if key not in self._verdicts:
            chunks = [on.passages[source.chunk_id].retrieved for source in on.sources]
            self._verdicts[key] = self._verdict(shown_verdict(claim).claim, chunks, on)
        return recheck(claim, self._verdicts[key], on.rules)

    def _recheck_today(
        self, claim: ReceiptClaim, placed: Sequence[Placed], on: _Evidence
    ) -> Recheck:
        """Return what the verifier says of a claim on today's text."""
        chunks: list[RetrievedChunk] = []
        citations: list[Citation] = []
        for citation, each in zip(claim.citations, placed, strict=True):
            if each.passage is None:
                chunks.append(on.passages[citation.chunk_id].retrieved)
                citations.append(Citation(chunk_id=citation.chunk_id, quote=citation.quote))
            elif each.document is not None and each.standing.span is not None:
                # Today's own characters: that they stand is settled; their meaning is asked.
                quote = each.standing.span.of(each.document.text)
                chunks.append(each.passage.retrieved)
                citations.append(Citation(chunk_id=each.passage.id, quote=quote))
        asked = Claim(text=claim.text, citations=tuple(citations), arithmetic=claim.arithmetic)
        again = recheck(claim, self._verdict(asked, chunks, on), on.rules)
        if again.trusted and any(each.standing.sentence_changed for each in placed):
            return Recheck(why="What confirmed it saw other words, and was not asked again.")
        return again

    def _verdict(
        self, claim: Claim, chunks: Sequence[RetrievedChunk], on: _Evidence
    ) -> ClaimVerdict:
        """Return the public verifier's verdict on a claim; staleness is judged elsewhere."""
        draft, rules = Draft(claims=(claim,)), on.rules
        if rules.entailment is None and rules.judge is None:
            return verify(draft, chunks, question=on.question, rules=rules).claims[0]
        # Only who asks a model again loads what waits for models.
        from grounded_rag.verification.verifier import averify

        asked = partial(averify, draft, chunks, question=on.question, rules=rules)
        return self._loop.run(asked).claims[0]

    def _staleness(
        self, doc_id: str, source: ReceiptSource, max_age: dt.timedelta | None
    ) -> Iterator[StalenessFinding]:
        """Yield what speaks today against the document of a quote; unknown age is no finding."""
        document = self._library.get(doc_id)
        if document is not None:
            validity = document.validity
        else:
            # The document is gone: what the receipt says of its validity counts.
            following = self._library.get(source.validity.superseded_by or "")
            successor = None if following is None else following.validity
            validity = resolve(source.validity, successor=successor)
        for finding in staleness(validity, as_of=self._library.as_of, max_age=max_age):
            if finding.kind is not FlagKind.UNDATED:
                yield finding

    def _in_force(
        self, related: Sequence[str], claim: str, citation: ReceiptCitation, sentence: str
    ) -> NearestPassage | None:
        """Return what the document in force says instead, at the end of a line of successors."""
        following = next(iter(related), None)
        # Documents may name each other as successors.
        seen = {citation.doc_id}
        document: CurrentDocument | None = None
        while following is not None and following not in seen:
            seen.add(following)
            document = self._library.get(following)
            if document is None:
                return None
            following = next(
                (
                    finding.related[0]
                    for finding in staleness(document.validity, as_of=self._library.as_of)
                    if finding.kind is FlagKind.SUPERSEDED and finding.related
                ),
                None,
            )
        if document is None:
            return None
        return document.counterpart(claim, citation.quote, sentence)


def _cited(receipt: Receipt, claim: ReceiptClaim) -> tuple[ReceiptSource, ...]:
    cited = {citation.chunk_id for citation in claim.citations}
    return tuple(source for source in receipt.sources if source.chunk_id in cited)


def _altered(claim: ReceiptClaim) -> ClaimCheck:
    return ClaimCheck(
        claim=claim.text,
        status=TextStatus.ALTERED,
        why="The receipt was altered: it is no evidence of what was answered.",
    )


def _changed(placed: Sequence[Placed]) -> list[CitationStanding]:
    """Return the quotes of a claim that is rejected on today's text, those to blame as changed."""
    blamed = [each.standing.sentence_changed for each in placed]
    if not any(blamed):
        blamed = [each.passage is not None for each in placed]
    return [
        each.as_changed() if to_blame else each.standing
        for each, to_blame in zip(placed, blamed, strict=True)
    ]
