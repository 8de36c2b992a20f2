"""`verify_receipt`: a receipt against itself and against the documents as they are now."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path

from grounded_rag.protocols import SupportCheck
from grounded_rag.receipts.findings import (
    UNCHANGED,
    CitationStanding,
    ClaimCheck,
    IntegrityProblem,
    ReceiptCheck,
    StaleSource,
    TextStatus,
)
from grounded_rag.receipts.integrity import (
    Rules,
    check_form,
    retrieved_chunk,
    rules_of,
    run_verifier,
    shown_verdict,
)
from grounded_rag.receipts.library import Library, open_library
from grounded_rag.receipts.signing import signature_problems, signature_state
from grounded_rag.receipts.standing import Placed, changed_around, place
from grounded_rag.receipts.validity_now import known_then, stale_source
from grounded_rag.receipts.wording import why_changed
from grounded_rag.types import (
    Citation,
    Claim,
    ClaimVerdict,
    Instant,
    Receipt,
    ReceiptClaim,
    ReceiptSource,
)
from grounded_rag.validity import parse_instant, today_utc
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
    checks: Sequence[SupportCheck] | None = None,
    public_key: bytes | None = None,
) -> ReceiptCheck:
    """Check a receipt again, offline: the verifier runs on its claims, then today's text counts.

    Args:
        receipt: The receipt.
        index: Folder of an index to compare with.
        folder: Folder of documents to compare with, in place of an index. With neither, only the
            receipt itself is checked.
        as_of: Moment for which the documents are read and their validity is judged; today in UTC
            by default.
        checks: Support checks that gave the answer, where they were not the built-in ones.
        public_key: Raw Ed25519 public key that must have signed the receipt, or None.

    Returns:
        For each claim what became of its text, and what no longer holds about its sources.

    Raises:
        InputError: Index and folder are both named, or the folder cannot be used.
        StoreError: The index cannot be used.
        ManifestError: `as_of` or a date of the folder's manifest cannot be read.
        MissingExtraError: A public key is given and `cryptography` is not installed.
    """
    moment = parse_instant(as_of) or today_utc()
    with open_library(index=index, folder=folder, as_of=moment) as library:
        return ReceiptChecker(library, checks=checks, public_key=public_key).check(receipt)


class ReceiptChecker:
    """Checks receipts against one state of the documents; what repeats is worked out once."""

    def __init__(
        self,
        library: Library,
        *,
        checks: Sequence[SupportCheck] | None = None,
        public_key: bytes | None = None,
    ) -> None:
        self._library = library
        self._checks = checks
        self._public_key = public_key
        self._verdicts: dict[Hashable, ClaimVerdict] = {}
        self._claims: dict[Hashable, ClaimCheck] = {}

    def check(self, receipt: Receipt) -> ReceiptCheck:
        """Check one receipt; see `verify_receipt`."""
        texts = self._texts(receipt)
        rules = rules_of(receipt, self._checks)
        signed = signature_state(receipt, self._public_key)
        problems = [*check_form(receipt, texts), *signature_problems(signed)]
        unsupported = () if problems else self._unsupported(receipt, texts, rules)
        # Another version of the verifier may judge otherwise; then that alone accuses nobody.
        if receipt.package_version == __version__:
            problems += unsupported
            unsupported = ()
        return ReceiptCheck(
            receipt_id=receipt.id,
            question=receipt.question,
            status=receipt.status,
            created_at=receipt.created_at,
            answered_as_of=receipt.as_of,
            as_of=self._library.as_of,
            against=self._library.kind,
            altered=tuple(problems),
            unconfirmed=tuple(unsupported),
            signature=signed,
            claims=tuple(
                _altered(claim) if problems else self._claim(receipt, claim, texts, rules)
                for claim in receipt.claims
            ),
        )

    def _texts(self, receipt: Receipt) -> dict[str, str]:
        """Return the chunks' texts: those that travel with the receipt, else the index's."""
        texts: dict[str, str] = {}
        for source in receipt.sources:
            text = source.text
            if text is None:
                text = self._library.chunk_text(source)
            if text is not None:
                texts[source.chunk_id] = text
        return texts

    def _unsupported(
        self, receipt: Receipt, texts: Mapping[str, str], rules: Rules
    ) -> tuple[IntegrityProblem, ...]:
        """Run the verifier on the texts that the claims were made on."""
        found: list[IntegrityProblem] = []
        for index, claim in enumerate(receipt.claims):
            sources = _sources(receipt, claim)
            if any(source.chunk_id not in texts for source in sources):
                continue
            verdict = self._verdict(claim, sources, texts, receipt.question, rules)
            if not verdict.supported:
                found.append(
                    IntegrityProblem(
                        kind="unsupported",
                        path=f"claims[{index}]",
                        detail=f"The verifier rejects the claim on its own text: {verdict.why}",
                        reason=verdict.reason,
                    )
                )
        return tuple(found)

    def _verdict(
        self,
        claim: ReceiptClaim,
        sources: tuple[ReceiptSource, ...],
        texts: Mapping[str, str],
        question: str,
        rules: Rules,
    ) -> ClaimVerdict:
        key = (claim, sources, question, rules.quote_match, rules.checks is None)
        if key not in self._verdicts:
            chunks = [retrieved_chunk(source, texts[source.chunk_id]) for source in sources]
            result = run_verifier([shown_verdict(claim).claim], chunks, question, rules)
            self._verdicts[key] = result.claims[0]
        return self._verdicts[key]

    def _claim(
        self, receipt: Receipt, claim: ReceiptClaim, texts: Mapping[str, str], rules: Rules
    ) -> ClaimCheck:
        sources = _sources(receipt, claim)
        key = (claim, sources, receipt.question, rules.quote_match, rules.checks is None,
               rules.max_age)  # fmt: skip
        if key not in self._claims:
            self._claims[key] = self._check_claim(receipt, claim, sources, texts, rules)
        check = self._claims[key]
        return check.model_copy(
            update={"stale": tuple(known_then(stale, receipt) for stale in check.stale)}
        )

    def _check_claim(
        self,
        receipt: Receipt,
        claim: ReceiptClaim,
        sources: tuple[ReceiptSource, ...],
        texts: Mapping[str, str],
        rules: Rules,
    ) -> ClaimCheck:
        by_id = {source.chunk_id: source for source in sources}
        placed = [
            place(citation, by_id[citation.chunk_id], texts.get(citation.chunk_id), self._library)
            for citation in claim.citations
        ]
        standings = [each.standing for each in placed]
        rejected = ""
        if (
            any(each.passage is not None for each in placed)
            and all(standing.status in UNCHANGED for standing in standings)
            and self._was_supported(claim, sources, texts, receipt.question, rules)
        ):
            rejected = self._rejected(claim, placed, by_id, texts, receipt.question, rules)
            if rejected:
                standings = _marked(claim, placed)
        stale: dict[StaleSource, None] = {}
        for citation, standing in zip(claim.citations, standings, strict=True):
            source = by_id[citation.chunk_id]
            for finding in stale_source(
                claim.text, citation, source, standing, self._library, max_age=rules.max_age
            ):
                stale.setdefault(finding)
        status = min((s.status for s in standings), key=_GRAVEST_FIRST.index)
        return ClaimCheck(
            claim=claim.text,
            status=status,
            why=why_changed(status, standings, rejected),
            citations=tuple(standings),
            stale=tuple(stale),
        )

    def _was_supported(
        self,
        claim: ReceiptClaim,
        sources: tuple[ReceiptSource, ...],
        texts: Mapping[str, str],
        question: str,
        rules: Rules,
    ) -> bool:
        """Whether this verifier accepts the claim on its own text; unknown texts count as yes."""
        if any(source.chunk_id not in texts for source in sources):
            return True
        return self._verdict(claim, sources, texts, question, rules).supported

    def _rejected(
        self,
        claim: ReceiptClaim,
        placed: Sequence[Placed],
        sources: Mapping[str, ReceiptSource],
        texts: Mapping[str, str],
        question: str,
        rules: Rules,
    ) -> str:
        """Return why the verifier rejects the claim on today's text, or "" where it does not."""
        chunks = []
        citations = []
        for citation, each in zip(claim.citations, placed, strict=True):
            if each.passage is None:
                source = sources[citation.chunk_id]
                chunks.append(retrieved_chunk(source, texts[citation.chunk_id]))
                citations.append(Citation(chunk_id=citation.chunk_id, quote=citation.quote))
            elif each.held is not None and each.standing.span is not None:
                # Today's own characters: that they stand is settled; their meaning is asked.
                quote = each.standing.span.of(each.held.text)
                chunks.append(each.passage)
                citations.append(Citation(chunk_id=each.passage.chunk.id, quote=quote))
        asked = Claim(text=claim.text, citations=tuple(citations), arithmetic=claim.arithmetic)
        (verdict,) = run_verifier([asked], chunks, question, rules).claims
        return "" if verdict.supported else verdict.why


def _sources(receipt: Receipt, claim: ReceiptClaim) -> tuple[ReceiptSource, ...]:
    cited = {citation.chunk_id for citation in claim.citations}
    return tuple(source for source in receipt.sources if source.chunk_id in cited)


def _altered(claim: ReceiptClaim) -> ClaimCheck:
    return ClaimCheck(
        claim=claim.text,
        status=TextStatus.ALTERED,
        why="The receipt was altered: it is no evidence of what was answered.",
    )


def _marked(claim: ReceiptClaim, placed: Sequence[Placed]) -> list[CitationStanding]:
    """Return the quotes of a claim that is rejected on today's text, those to blame as changed."""
    blamed = [each.standing.sentence_changed for each in placed]
    if not any(blamed):
        blamed = [each.passage is not None for each in placed]
    return [
        changed_around(each, citation) if to_blame else each.standing
        for each, citation, to_blame in zip(placed, claim.citations, blamed, strict=True)
    ]
