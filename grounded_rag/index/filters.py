"""Metadata filters: plain equality, decided in Python on what the ledger holds."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from grounded_rag.index.records import DocumentEntry


def matches(entry: DocumentEntry, filters: Mapping[str, JsonValue]) -> bool:
    """Whether a document carries everything that `filters` asks for.

    Args:
        entry: The document.
        filters: Wanted values by key: `doc_id`, `source`, `title`, `trust`, `media_type` or a key
            of the further metadata. A list means any of its values; a document whose own value is
            a list carries each of them. Numbers and their text are equal, as in `year=2026`.
    """
    fields: dict[str, JsonValue] = {
        **entry.metadata,
        "doc_id": entry.doc_id,
        "source": entry.source,
        "title": entry.title,
        "trust": entry.trust,
        "media_type": entry.media_type,
    }
    return carries(fields, filters)


def carries(fields: Mapping[str, JsonValue], filters: Mapping[str, JsonValue]) -> bool:
    """Whether `fields` has, for each key of `filters`, one of the wanted values."""
    return all(
        key in fields and not _values(fields[key]).isdisjoint(_values(wanted))
        for key, wanted in filters.items()
    )


def _values(value: JsonValue) -> set[str]:
    if isinstance(value, list):
        return {_plain(item) for item in value}
    return {_plain(value)}


def _plain(value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
