"""Writing the ledger: stage new versions, make them visible at once, remove, correct metadata.

Each public function is one SQLite transaction and touches no vector in Chroma: between `stage` and
`flip` the caller (`store`) writes them, after `flip` and `remove` it deletes those of the returned
chunks, and `settle` notes that all of it is done.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from grounded_rag.errors import StoreError
from grounded_rag.index import lexical
from grounded_rag.index.ledger import (
    RETRIEVABLE,
    LedgerReader,
    metadata_hash,
    spans_json,
    to_json,
    transaction,
)
from grounded_rag.index.records import EmbeddingIdentity, IndexItem, TunedThreshold, Vector, as_rows
from grounded_rag.types import Chunk, Document, Validity
from grounded_rag.validity import current


def check_items(items: Sequence[IndexItem]) -> None:
    """Refuse a batch that would break what the index promises, before anything is written."""
    seen: set[str] = set()
    for item in items:
        if item.document.id in seen:
            raise StoreError(
                f"{item.document.id} is there twice in one batch.",
                hint="Give every document an id of its own.",
            )
        seen.add(item.document.id)
        _check_item(item)


def _check_item(item: IndexItem) -> None:
    document = item.document
    try:
        document.text.encode()
    except UnicodeEncodeError as error:
        raise StoreError(
            f"{document.id} holds a lone surrogate at code point {error.start}.",
            hint="Decode the file strictly before it is indexed.",
        ) from error
    seen: set[str] = set()
    for chunk in item.chunks:
        if chunk.doc_id != document.id or chunk.span.of(document.text) != chunk.text:
            raise StoreError(
                f"Chunk {chunk.id} of {document.id} is not what stands at its place.",
                hint="Cut chunks as slices of the document's text.",
            )
        if chunk.id in seen:
            raise StoreError(
                f"Chunk id {chunk.id} is there twice in {document.id}.",
                hint="Count repeated texts in the id.",
            )
        seen.add(chunk.id)


@dataclass(frozen=True, slots=True)
class StagedVersions:
    """What `stage` wrote, each item with its version, and what the vector index still lacks."""

    items: tuple[tuple[IndexItem, int], ...]
    chunk_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    vectors: Vector | None


def stage(
    connection: sqlite3.Connection, items: Sequence[IndexItem], *, model: EmbeddingIdentity | None
) -> StagedVersions:
    """Write new versions as pending, with their chunks and, where there is a model, vectors."""
    with transaction(connection):
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'dirty'")
        # Keys of deleted rows may come back: nothing refers to them any more.
        top = connection.execute("SELECT coalesce(max(key), 0) FROM chunks").fetchone()[0]
        versions: list[tuple[IndexItem, int]] = []
        for item in items:
            version = _insert_version(connection, item)
            keys = _insert_chunks(connection, item, first_key=top + 1)
            top = max(top, *keys.values(), 0)
            connection.executemany(
                "INSERT INTO placements VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (version, ordinal, keys[chunk.id], *_layout_of_chunk(chunk))
                    for ordinal, chunk in enumerate(item.chunks)
                ),
            )
            versions.append((item, version))
        if model is None:
            return StagedVersions(tuple(versions), (), (), None)
        _insert_vectors(connection, versions, model)
    return _to_write(connection, versions)


def _insert_version(connection: sqlite3.Connection, item: IndexItem) -> int:
    document = item.document
    cursor = connection.execute(
        "INSERT INTO versions (doc_id, state, content_hash, recipe, validity, sections, pages, "
        "headings, text) VALUES (?, 'pending', ?, ?, ?, ?, ?, ?, ?)",
        (
            document.id,
            document.content_hash,
            item.recipe,
            document.validity.model_dump_json(),
            *_layout_of_document(document),
            document.text,
        ),
    )
    return int(cursor.lastrowid or 0)


def _layout_of_document(document: Document) -> tuple[str, str, str]:
    """Return the columns sections, pages and headings of a version."""
    return (
        to_json([section.model_dump(mode="json") for section in document.sections]),
        spans_json(document.pages),
        spans_json(document.headings),
    )


def _layout_of_chunk(chunk: Chunk) -> tuple[int, int, int | None, str, str]:
    """Return the columns start_at, end_at, page, headings and heading_spans of a placement."""
    return (
        chunk.span.start,
        chunk.span.end,
        chunk.page,
        to_json(chunk.headings),
        spans_json(chunk.heading_spans),
    )


def _insert_chunks(
    connection: sqlite3.Connection, item: IndexItem, *, first_key: int
) -> dict[str, int]:
    rows = connection.execute(
        "SELECT chunk_id, key, doc_id, content_hash FROM chunks "
        "WHERE chunk_id IN (SELECT value FROM json_each(?))",
        (to_json([chunk.id for chunk in item.chunks]),),
    )
    known = {chunk_id: (key, doc_id, digest) for chunk_id, key, doc_id, digest in rows}
    keys: dict[str, int] = {}
    new: list[tuple[int, Chunk]] = []
    for chunk in item.chunks:
        if chunk.id not in known:
            keys[chunk.id] = first_key + len(new)
            new.append((keys[chunk.id], chunk))
            continue
        keys[chunk.id], doc_id, digest = known[chunk.id]
        if (doc_id, digest) != (chunk.doc_id, chunk.content_hash):
            raise StoreError(
                f"Chunk id {chunk.id} already names another text, in {doc_id}.",
                hint="Make chunk ids from the document id and the chunk's text.",
            )
    connection.executemany(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)",
        ((key, chunk.id, chunk.doc_id, chunk.content_hash, chunk.text) for key, chunk in new),
    )
    return keys


def _insert_vectors(
    connection: sqlite3.Connection,
    versions: Sequence[tuple[IndexItem, int]],
    model: EmbeddingIdentity,
) -> None:
    given = {key: vector for item, _ in versions for key, vector in item.vectors.items()}
    pieces = {key: signs for item, _ in versions for key, signs in item.pieces.items()}
    lacking = connection.execute(
        "SELECT c.chunk_id, c.key FROM placements p JOIN chunks c ON c.key = p.key "
        "WHERE p.version BETWEEN ? AND ? "
        "AND NOT EXISTS (SELECT 1 FROM vectors x WHERE x.key = c.key)",
        (versions[0][1], versions[-1][1]),
    ).fetchall()
    if not lacking:
        return
    without = [chunk_id for chunk_id, _ in lacking if chunk_id not in given]
    if without:
        raise StoreError(
            f"There is no vector for chunk {without[0]} and {len(without) - 1} more.",
            hint="Embed what `missing_vectors` names; nothing was written.",
        )
    rows = as_rows([given[chunk_id] for chunk_id, _ in lacking], dimension=model.dimension)
    little_endian = rows.astype("<f4", copy=False)
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?)",
        (
            (key, row.tobytes(), pieces.get(chunk_id, b""))
            for (chunk_id, key), row in zip(lacking, little_endian, strict=True)
        ),
    )
    if model.dimension is None:
        known = model.model_copy(update={"dimension": rows.shape[1]})
        connection.execute(
            "UPDATE meta SET value = ? WHERE key = 'embedding'", (known.model_dump_json(),)
        )


def _to_write(
    connection: sqlite3.Connection, versions: Sequence[tuple[IndexItem, int]]
) -> StagedVersions:
    """Chunks that a retrievable version holds already have their vector in the vector index."""
    rows = connection.execute(
        "SELECT c.key, c.chunk_id, c.doc_id FROM placements p "  # noqa: S608
        "JOIN chunks c ON c.key = p.key WHERE p.version BETWEEN ? AND ? AND NOT EXISTS "
        "(SELECT 1 FROM placements q JOIN versions v ON v.version = q.version "
        f"WHERE q.key = p.key AND v.state IN {RETRIEVABLE}) ORDER BY c.key",
        (versions[0][1], versions[-1][1]),
    ).fetchall()
    _, vectors = LedgerReader(connection).vectors([key for key, _, _ in rows])
    return StagedVersions(
        items=tuple(versions),
        chunk_ids=tuple(chunk_id for _, chunk_id, _ in rows),
        doc_ids=tuple(doc_id for _, _, doc_id in rows),
        vectors=vectors,
    )


def flip(connection: sqlite3.Connection, staged: StagedVersions) -> tuple[str, ...]:
    """Make staged versions live; return ids of chunks that no retrievable version holds now."""
    with transaction(connection):
        gone: list[str] = []
        for item, version in staged.items:
            gone += _flip_one(connection, item, version)
        bump(connection)
    return tuple(gone)


def _flip_one(connection: sqlite3.Connection, item: IndexItem, version: int) -> list[str]:
    document = item.document
    before = _retrievable_keys(connection, document.id)
    live = connection.execute(
        "SELECT v.version, v.validity FROM documents d JOIN versions v ON v.version = d.live "
        "WHERE d.doc_id = ?",
        (document.id,),
    ).fetchone()
    if live is not None:
        old = Validity.model_validate_json(live[1])
        state = "past" if _holds_before(old, document.validity) else "stored"
        connection.execute("UPDATE versions SET state = ? WHERE version = ?", (state, live[0]))
    connection.execute("UPDATE versions SET state = 'live' WHERE version = ?", (version,))
    put_document(connection, document, trust=item.trust, version=version)
    after = _retrievable_keys(connection, document.id)
    leaving = before.keys() - after.keys()
    lexical.delete_rows(connection, leaving)
    keys = {chunk_id: key for key, chunk_id in after.items()}
    placed = {keys[chunk.id] for chunk in item.chunks}
    lexical.insert_rows(connection, lexical_rows(connection, placed - before.keys()))
    lexical.update_contexts(connection, lexical_rows(connection, placed & before.keys()))
    return [before[key] for key in leaving]


def _holds_before(old: Validity, new: Validity) -> bool:
    """Whether the old text still answers for moments before the new one takes effect."""
    if new.effective_from is None:
        return False
    if old.effective_from is None:
        return True
    start = Validity(effective_from=new.effective_from)
    return not current(start, as_of=old.effective_from)


def _retrievable_keys(connection: sqlite3.Connection, doc_id: str) -> dict[int, str]:
    rows = connection.execute(
        "SELECT DISTINCT c.key, c.chunk_id FROM versions v "  # noqa: S608
        "JOIN placements p ON p.version = v.version JOIN chunks c ON c.key = p.key "
        f"WHERE v.doc_id = ? AND v.state IN {RETRIEVABLE}",
        (doc_id,),
    )
    return dict(rows.fetchall())


def put_document(
    connection: sqlite3.Connection, document: Document, *, trust: str, version: int
) -> None:
    """Write what can change about a document without a new version of its text."""
    connection.execute(
        "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (doc_id) DO UPDATE SET "
        "live = excluded.live, source = excluded.source, title = excluded.title, "
        "media_type = excluded.media_type, trust = excluded.trust, "
        "metadata = excluded.metadata, metadata_hash = excluded.metadata_hash",
        (
            document.id,
            version,
            document.source,
            document.title,
            document.media_type,
            trust,
            to_json(document.metadata),
            metadata_hash(document, trust=trust),
        ),
    )


def bump(connection: sqlite3.Connection) -> None:
    """Let readers know that something visible changed."""
    connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'generation'")


def unchanged(connection: sqlite3.Connection, item: IndexItem) -> bool:
    """Whether the live version has this very text, cut and laid out in this very way."""
    document = item.document
    live = connection.execute(
        "SELECT v.version, v.content_hash, v.sections, v.pages, v.headings "
        "FROM documents d JOIN versions v ON v.version = d.live WHERE d.doc_id = ?",
        (document.id,),
    ).fetchone()
    if live is None or live[1:] != (document.content_hash, *_layout_of_document(document)):
        return False
    placed = connection.execute(
        "SELECT c.chunk_id, p.start_at, p.end_at, p.page, p.headings, p.heading_spans "
        "FROM placements p JOIN chunks c ON c.key = p.key WHERE p.version = ? ORDER BY p.ordinal",
        (live[0],),
    ).fetchall()
    return placed == [(chunk.id, *_layout_of_chunk(chunk)) for chunk in item.chunks]


def correct(connection: sqlite3.Connection, document: Document, *, trust: str, recipe: str) -> None:
    """Replace the metadata of a live document whose text stays; a missing value is cleared."""
    with transaction(connection):
        version, title = connection.execute(
            "SELECT live, title FROM documents WHERE doc_id = ?", (document.id,)
        ).fetchone()
        put_document(connection, document, trust=trust, version=version)
        connection.execute(
            "UPDATE versions SET validity = ?, recipe = ? WHERE version = ?",
            (document.validity.model_dump_json(), recipe, version),
        )
        if title != document.title:
            keys = connection.execute("SELECT key FROM placements WHERE version = ?", (version,))
            lexical.update_contexts(connection, lexical_rows(connection, [key for (key,) in keys]))
        bump(connection)


def remove(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> tuple[str, ...]:
    """Take documents out of retrieval, and return the ids of their chunks; versions stay."""
    gone: dict[int, str] = {}
    with transaction(connection):
        connection.execute("UPDATE meta SET value = '1' WHERE key = 'dirty'")
        for doc_id in doc_ids:
            gone.update(_retrievable_keys(connection, doc_id))
            connection.execute(
                "UPDATE versions SET state = 'stored' "  # noqa: S608
                f"WHERE doc_id = ? AND state IN {RETRIEVABLE}",
                (doc_id,),
            )
            connection.execute("UPDATE documents SET live = NULL WHERE doc_id = ?", (doc_id,))
        lexical.delete_rows(connection, gone)
        bump(connection)
    return tuple(gone.values())


def put_threshold(connection: sqlite3.Connection, tuned: TunedThreshold | None) -> None:
    """Store the refusal threshold, with the generation that it makes; None takes it away."""
    with transaction(connection):
        bump(connection)
        connection.execute("DELETE FROM meta WHERE key = 'threshold'")
        if tuned is not None:
            stored = tuned.model_copy(update={"generation": LedgerReader(connection).generation})
            connection.execute(
                "INSERT INTO meta VALUES ('threshold', ?)", (stored.model_dump_json(),)
            )


def lexical_rows(
    connection: sqlite3.Connection, keys: Iterable[int]
) -> Iterator[lexical.LexicalRow]:
    """Yield the rows of retrievable chunks, with the headings of their newest version."""
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


def discard_pending(connection: sqlite3.Connection) -> None:
    """Delete versions that never became visible, and chunks that only they hold."""
    with transaction(connection):
        connection.execute(
            "DELETE FROM placements WHERE version IN "
            "(SELECT version FROM versions WHERE state = 'pending')"
        )
        gone = connection.execute("DELETE FROM versions WHERE state = 'pending'").rowcount
        if gone:
            orphans = "(SELECT key FROM chunks EXCEPT SELECT key FROM placements)"
            connection.execute(f"DELETE FROM vectors WHERE key IN {orphans}")  # noqa: S608
            connection.execute(f"DELETE FROM chunks WHERE key IN {orphans}")  # noqa: S608


def settle(connection: sqlite3.Connection) -> None:
    """Record that ledger and vector index agree again."""
    with transaction(connection):
        connection.execute("UPDATE meta SET value = '0' WHERE key = 'dirty'")
