"""What holds when: which version of which document answers for a given moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grounded_rag.index.ledger import LedgerReader, VersionRow
from grounded_rag.index.records import DocumentEntry
from grounded_rag.types import Instant, Validity
from grounded_rag.validity import current, resolve


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All documents of one generation of the ledger, without their texts.

    Attributes:
        entries: Live documents by id.
        versions: Their retrievable versions by document id, newest first.
    """

    entries: Mapping[str, DocumentEntry]
    versions: Mapping[str, tuple[VersionRow, ...]]

    @classmethod
    def load(cls, ledger: LedgerReader) -> Catalogue:
        """Read it from the ledger."""
        versions: dict[str, list[VersionRow]] = {}
        for row in ledger.versions():
            versions.setdefault(row.doc_id, []).append(row)
        return cls(ledger.entries(), {key: tuple(rows) for key, rows in versions.items()})

    def version_at(self, doc_id: str, as_of: Instant | None) -> VersionRow:
        """Return the version that answers for a moment: the newest that has taken effect.

        Where none has, and where no moment is given, it is the live one.
        """
        rows = self.versions[doc_id]
        if len(rows) == 1:
            return rows[0]
        if as_of is not None:
            for row in rows:
                if current(Validity(effective_from=row.validity.effective_from), as_of=as_of):
                    return row
        return next(row for row in rows if row.live)

    def validity_at(self, doc_id: str, as_of: Instant | None) -> Validity:
        """Return the validity of that version, with the moment filled in at which it ends.

        A version that gave way to a later one of the same document ends when that took effect; a
        superseded document ends when its successor does, unless the metadata says otherwise.
        """
        row = self.version_at(doc_id, as_of)
        if not row.live:
            rows = self.versions[doc_id]
            later = rows[rows.index(row) - 1]
            return row.validity.model_copy(
                update={
                    "superseded_by": doc_id,
                    "superseded_on": later.validity.effective_from,
                }
            )
        successor = self.entries.get(row.validity.superseded_by or "")
        return resolve(row.validity, successor=successor.validity if successor else None)

    def is_current(self, doc_id: str, as_of: Instant | None) -> bool:
        """Whether a document holds at a moment; without a moment, everything does."""
        return as_of is None or current(self.validity_at(doc_id, as_of), as_of=as_of)

    def successor(self, doc_id: str, as_of: Instant) -> str | None:
        """Return the document that holds instead of a superseded one at `as_of`, or None.

        A chain of successors is followed to its end; one that closes upon itself has no end.
        """
        seen = {doc_id}
        found: str | None = None
        while True:
            validity = self.validity_at(doc_id, as_of)
            following = validity.superseded_by
            ended = validity.model_copy(update={"effective_from": None, "valid_until": None})
            if following is None or current(ended, as_of=as_of):
                return found
            if following in seen or following not in self.entries:
                return found
            seen.add(following)
            doc_id = found = following
