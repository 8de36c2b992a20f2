"""`audit_receipts`: which answers that were given are now wrong or stale, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from grounded_rag.errors import ReceiptError
from grounded_rag.protocols import Reader
from grounded_rag.receipts.check import ReceiptChecker
from grounded_rag.receipts.findings import ReceiptCheck
from grounded_rag.receipts.library import open_library
from grounded_rag.receipts.make import load_receipt, receipt_files
from grounded_rag.types import Frozen, Instant
from grounded_rag.validity import parse_instant, today_utc
from grounded_rag.verification.rules import Rules


class AuditFinding(Frozen):
    """A receipt that does not stand any more, and the file it is in."""

    file: str
    check: ReceiptCheck


class UnreadableReceipt(Frozen):
    """A file in the folder that is no receipt, and why."""

    file: str
    message: str


class AuditReport(Frozen):
    """What an audit of a folder of receipts found.

    Attributes:
        as_of: Moment for which the documents were read and judged.
        against: What the receipts were compared with.
        receipts: Number of receipts that were read.
        refusals: Those among them that answered nothing and so claim nothing.
        statuses: Number of claims by status of their text.
        findings: Receipts that are altered, wrong or stale, by file name.
        unreadable: Files that are no receipt, by file name.
    """

    as_of: Instant
    against: Literal["index", "folder", "nothing"]
    receipts: int = 0
    refusals: int = 0
    statuses: dict[str, int] = Field(default_factory=dict)
    findings: tuple[AuditFinding, ...] = ()
    unreadable: tuple[UnreadableReceipt, ...] = ()

    @property
    def wrong(self) -> tuple[AuditFinding, ...]:
        """Receipts that were altered, or whose words do not stand any more."""
        return tuple(finding for finding in self.findings if finding.check.wrong)

    @property
    def stale(self) -> tuple[AuditFinding, ...]:
        """Receipts of which a source is superseded, expired or otherwise outdated now."""
        return tuple(finding for finding in self.findings if finding.check.stale)

    @property
    def clean(self) -> bool:
        """Whether every file is a receipt that stands."""
        return not self.findings and not self.unreadable


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
        rules: Checks of one's own that gave the answers, and deciders to ask again; see
            `verify_receipt`.
        public_key: Raw Ed25519 public key that must have signed every receipt, or None.
        readers: Readers of one's own by suffix that the folder was ingested with.
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
    tell = progress or (lambda _done: None)
    statuses: Counter[str] = Counter()
    findings: list[AuditFinding] = []
    unreadable: list[UnreadableReceipt] = []
    refusals = 0
    with (
        open_library(index=index, folder=folder, as_of=moment, readers=readers) as library,
        ReceiptChecker(library, rules=rules, public_key=public_key) as checker,
    ):
        for done, file in enumerate(files, start=1):
            tell(done)
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
        against = library.kind
    return AuditReport(
        as_of=moment,
        against=against,
        receipts=len(files) - len(unreadable),
        refusals=refusals,
        statuses=dict(sorted(statuses.items())),
        findings=tuple(findings),
        unreadable=tuple(unreadable),
    )
