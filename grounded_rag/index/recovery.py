"""Bringing the derived indexes into line with the ledger: after a crash, and when asked to."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence

from grounded_rag.errors import IndexMismatchError, StoreError
from grounded_rag.index import lexical
from grounded_rag.index.corrections import discard_pending, settle
from grounded_rag.index.ledger import RETRIEVABLE, LedgerReader
from grounded_rag.index.records import AuditReport
from grounded_rag.index.schema import transaction
from grounded_rag.index.vectors import VectorIndex

_SLICE = 1_000
_PROBE = 10
_SAME = 1e-4


def recover(connection: sqlite3.Connection, vectors: VectorIndex | None) -> None:
    """Finish or undo what an interrupted writer left behind; cheap when there is nothing.

    Args:
        connection: The ledger, open for writing.
        vectors: The vector index, or None where the index has no vectors.
    """
    ledger = LedgerReader(connection)
    dirty = ledger.meta("dirty") == "1"
    if dirty:
        discard_pending(connection)
    if vectors is not None:
        try:
            count = vectors.count()
        except IndexMismatchError:
            raise
        except StoreError:
            # Whatever became of its files, all vectors are in the ledger.
            vectors.destroy()
            count = vectors.count()
        if dirty or count != len(ledger.retrievable()):
            _mend_vectors(ledger, vectors)
    if dirty:
        settle(connection)


def audit(
    connection: sqlite3.Connection, vectors: VectorIndex | None, *, mend: bool
) -> AuditReport:
    """Compare the lexical and the vector index with the ledger.

    Args:
        connection: The ledger.
        vectors: The vector index, or None where the index has no vectors.
        mend: Whether to put right what is found; the caller may write then.
    """
    ledger = LedgerReader(connection)
    unfinished = ledger.count("SELECT count(*) FROM versions WHERE state = 'pending'")
    wanted = ledger.retrievable()
    names = {key: chunk_id for chunk_id, key in wanted.items()}
    indexed = {key for (key,) in connection.execute("SELECT rowid FROM lexical")}
    mismatch = indexed ^ names.keys()
    report = AuditReport(
        lexical_mismatch=tuple(sorted(names.get(key, f"key {key}") for key in mismatch)),
        unfinished_versions=unfinished,
    )
    if vectors is not None:
        present = vectors.ids()
        report = report.model_copy(
            update={
                "orphan_vectors": tuple(sorted(present - wanted.keys())),
                "missing_vectors": tuple(sorted(wanted.keys() - present)),
                "unreachable_vectors": _unreachable(ledger, vectors, names, present),
            }
        )
    if not mend:
        return report
    discard_pending(connection)
    with transaction(connection):
        lexical.delete_rows(connection, indexed - names.keys())
        lexical.insert_rows(connection, _lexical_rows(connection, sorted(names.keys() - indexed)))
    if vectors is not None:
        if report.unreachable_vectors:
            # The graph itself is damaged; writing rows again would not relink it.
            vectors.destroy()
        _mend_vectors(ledger, vectors)
    settle(connection)
    return report.model_copy(update={"mended": True})


def _mend_vectors(ledger: LedgerReader, vectors: VectorIndex) -> None:
    wanted = ledger.retrievable()
    present = vectors.ids()
    vectors.delete(sorted(present - wanted.keys()))
    keys = sorted(key for chunk_id, key in wanted.items() if chunk_id not in present)
    for batch in _slices(keys):
        found, rows = ledger.vectors(batch)
        if rows is None:
            continue
        owners = ledger.owners(found)
        vectors.upsert([owner.chunk_id for owner in owners], [o.doc_id for o in owners], rows)


def _unreachable(
    ledger: LedgerReader, vectors: VectorIndex, names: dict[int, str], present: set[str]
) -> tuple[str, ...]:
    """Return chunks that a search for their own vector does not find."""
    lost: list[str] = []
    keys = sorted(key for key, chunk_id in names.items() if chunk_id in present)
    for batch in _slices(keys):
        found, rows = ledger.vectors(batch)
        if rows is None:
            continue
        answers = vectors.query(rows, limit=_PROBE)
        if answers is None:
            lost += [names[key] for key in found]
            continue
        for key, hits in zip(found, answers, strict=True):
            # Many chunks with one text have one vector: any of them may stand for the others.
            reached = names[key] in {hit.chunk_id for hit in hits} or (
                len(hits) == _PROBE and hits[-1].similarity > 1.0 - _SAME
            )
            if not reached:
                lost.append(names[key])
    return tuple(sorted(lost))


def _lexical_rows(
    connection: sqlite3.Connection, keys: Sequence[int]
) -> Iterator[lexical.LexicalRow]:
    rows = connection.execute(
        "SELECT c.key, c.text, d.title, max(p.version), p.headings FROM chunks c "  # noqa: S608
        "JOIN placements p ON p.key = c.key JOIN versions v ON v.version = p.version "
        "JOIN documents d ON d.doc_id = c.doc_id "
        f"WHERE v.state IN {RETRIEVABLE} AND c.key IN (SELECT value FROM json_each(?)) "
        "GROUP BY c.key",
        (lexical.json_keys(keys),),
    ).fetchall()
    for key, text, title, _, headings in rows:
        yield lexical.LexicalRow(key, text, lexical.context_of(title, json.loads(headings)))


def _slices(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), _SLICE):
        yield keys[start : start + _SLICE]
