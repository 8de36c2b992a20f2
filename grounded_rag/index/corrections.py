"""Writing the ledger without new text: corrected metadata, removal, and tidying up."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from grounded_rag.index import lexical
from grounded_rag.index.ledger import RETRIEVABLE, spans_json, to_json
from grounded_rag.index.records import IndexItem
from grounded_rag.index.schema import transaction
from grounded_rag.index.writing import bump, put_document
from grounded_rag.types import Document


def unchanged(connection: sqlite3.Connection, item: IndexItem) -> bool:
    """Whether the live version has this very text, cut and laid out in this very way."""
    document = item.document
    live = connection.execute(
        "SELECT v.version, v.content_hash, v.sections, v.pages, v.headings "
        "FROM documents d JOIN versions v ON v.version = d.live WHERE d.doc_id = ?",
        (document.id,),
    ).fetchone()
    layout = (
        document.content_hash,
        to_json([section.model_dump(mode="json") for section in document.sections]),
        spans_json(document.pages),
        spans_json(document.headings),
    )
    if live is None or live[1:] != layout:
        return False
    placed = connection.execute(
        "SELECT c.chunk_id, p.start_at, p.end_at, p.page, p.headings, p.heading_spans "
        "FROM placements p JOIN chunks c ON c.key = p.key WHERE p.version = ? ORDER BY p.ordinal",
        (live[0],),
    ).fetchall()
    return placed == [
        (
            chunk.id,
            chunk.span.start,
            chunk.span.end,
            chunk.page,
            to_json(chunk.headings),
            spans_json(chunk.heading_spans),
        )
        for chunk in item.chunks
    ]


def correct(
    connection: sqlite3.Connection, document: Document, *, trust: str, recipe: str | None = None
) -> None:
    """Replace the metadata of a live document whose text stays; a missing value is cleared.

    Args:
        connection: The ledger.
        document: The document with its new metadata.
        trust: Its trust.
        recipe: New name of chunking and text view, or None to keep it.
    """
    with transaction(connection):
        version, title = connection.execute(
            "SELECT live, title FROM documents WHERE doc_id = ?", (document.id,)
        ).fetchone()
        put_document(connection, document, trust=trust, version=version)
        connection.execute(
            "UPDATE versions SET validity = ?, recipe = coalesce(?, recipe) WHERE version = ?",
            (document.validity.model_dump_json(), recipe, version),
        )
        if title != document.title:
            rows = connection.execute(
                "SELECT c.key, c.text, p.headings FROM placements p "
                "JOIN chunks c ON c.key = p.key WHERE p.version = ?",
                (version,),
            ).fetchall()
            lexical.update_contexts(
                connection,
                (
                    lexical.LexicalRow(
                        key, text, lexical.context_of(document.title, json.loads(headings))
                    )
                    for key, text, headings in rows
                ),
            )
        bump(connection)


def remove(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> tuple[str, ...]:
    """Take documents out of retrieval; their versions stay for receipts.

    Returns:
        Ids of chunks that no retrievable version holds any more.
    """
    wanted = to_json(list(doc_ids))
    with transaction(connection):
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'dirty'")
        rows = connection.execute(
            "SELECT DISTINCT c.key, c.chunk_id FROM versions v "  # noqa: S608
            "JOIN placements p ON p.version = v.version JOIN chunks c ON c.key = p.key "
            "WHERE v.doc_id IN (SELECT value FROM json_each(?)) "
            f"AND v.state IN {RETRIEVABLE}",
            (wanted,),
        ).fetchall()
        lexical.delete_rows(connection, (key for key, _ in rows))
        connection.execute(
            "UPDATE versions SET state = 'stored' "  # noqa: S608
            "WHERE doc_id IN (SELECT value FROM json_each(?)) "
            f"AND state IN {RETRIEVABLE}",
            (wanted,),
        )
        connection.execute(
            "UPDATE documents SET live = NULL WHERE doc_id IN (SELECT value FROM json_each(?))",
            (wanted,),
        )
        bump(connection)
    return tuple(chunk_id for _, chunk_id in rows)


def discard_pending(connection: sqlite3.Connection) -> int:
    """Delete versions that never became visible, and chunks that only they hold.

    Returns:
        Number of deleted versions.
    """
    with transaction(connection):
        count = connection.execute(
            "SELECT count(*) FROM versions WHERE state = 'pending'"
        ).fetchone()[0]
        if count:
            connection.execute(
                "DELETE FROM placements WHERE version IN "
                "(SELECT version FROM versions WHERE state = 'pending')"
            )
            connection.execute("DELETE FROM versions WHERE state = 'pending'")
            orphans = "(SELECT key FROM chunks EXCEPT SELECT key FROM placements)"
            connection.execute(f"DELETE FROM vectors WHERE key IN {orphans}")  # noqa: S608
            connection.execute(f"DELETE FROM chunks WHERE key IN {orphans}")  # noqa: S608
    return int(count)


def settle(connection: sqlite3.Connection) -> None:
    """Record that ledger and vector index agree again."""
    with transaction(connection):
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'dirty'")
