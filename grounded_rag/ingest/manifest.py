"""`manifest.toml`: what a corpus is, and what its documents do not say about themselves."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field, JsonValue

from grounded_rag.errors import ManifestError
from grounded_rag.ingest.metadata import DocumentMetadata, json_mapping, read_metadata
from grounded_rag.types import Frozen

MANIFEST_NAME = "manifest.toml"
"""Name of the manifest in the top folder of a corpus."""

_MAX_BYTES = 5_000_000
_ENTRY = re.compile(r"^[ \t]*\[\[[ \t]*document[ \t]*\]\]", re.MULTILINE)
_TABLES = frozenset({"corpus", "document"})


class CorpusInfo(Frozen):
    """What the manifest says about the corpus as a whole.

    `today` is the date for which the documents were written; further keys are `metadata`.
    """

    title: str = ""
    description: str = ""
    licence: str = ""
    today: dt.date | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)


class ManifestEntry(Frozen):
    """What the manifest says about one document; its path, with forward slashes, is its id."""

    path: str
    values: DocumentMetadata


class Manifest(Frozen):
    """A manifest that was read and checked."""

    corpus: CorpusInfo = CorpusInfo()
    entries: tuple[ManifestEntry, ...] = ()

    def entry(self, path: str) -> ManifestEntry | None:
        """Return the entry of a document, or None."""
        return next((entry for entry in self.entries if entry.path == path), None)


def load_manifest(path: Path) -> Manifest:
    """Read and check a manifest; the paths in it are relative to its folder.

    Raises:
        ManifestError: It is no TOML; a key has the wrong type; a date is ambiguous; a path is
            missing, there twice or leads out of the folder; a successor is unknown, or documents
            supersede each other in a circle. The message names line, document and key.
    """
    text = _read(path)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        detail = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "nested too deeply"
        raise ManifestError(f"{path.name} is no TOML: {detail}.", hint="Mend that line.") from error
    for key in data.keys() - _TABLES:
        raise ManifestError(
            f"{path.name}: unknown table {key!r:.60}.", hint="Use [corpus] and [[document]]."
        )
    listed = data.get("document", [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ManifestError(
            f"{path.name}: 'document' is no list.", hint="Write [[document]], in double brackets."
        )
    lines = _entry_lines(text, len(listed))
    entries = tuple(
        _read_entry(values, where=f"{path.name}, line {line}" if line else path.name)
        for values, line in zip(listed, lines, strict=True)
    )
    _check_entries(entries, lines, path)
    return Manifest(corpus=_read_corpus(data.get("corpus", {}), path.name), entries=entries)


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ManifestError(
                f"{path.name} is larger than {_MAX_BYTES:,} bytes.", hint="Split the corpus."
            )
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ManifestError(
            f"{path.name}: byte 0x{error.object[error.start]:02x} at offset {error.start} is no "
            "UTF-8.",
            hint="Save the manifest as UTF-8.",
        ) from error
    except OSError as error:
        raise ManifestError(
            f"{path} cannot be read: {error.strerror}.", hint="Check the file and its permissions."
        ) from error


def _entry_lines(text: str, count: int) -> list[int]:
    """Return the line of each entry, or 0 where the text does not show them for sure."""
    lines = [text.count("\n", 0, found.start()) + 1 for found in _ENTRY.finditer(text)]
    return lines if len(lines) == count else [0] * count


def _read_corpus(values: Any, name: str) -> CorpusInfo:
    if not isinstance(values, dict):
        raise ManifestError(f"{name}: 'corpus' is no table.", hint="Write [corpus].")
    left = dict(values)
    texts: dict[str, Any] = {}
    for key in ("title", "description", "licence"):
        texts[key] = left.pop(key, "")
        if not isinstance(texts[key], str):
            raise ManifestError(
                f"{name}, [corpus], key {key}: {texts[key]!r:.60} is no text.",
                hint="Put it in quotation marks.",
            )
    today = left.pop("today", None)
    if today is not None and (not isinstance(today, dt.date) or isinstance(today, dt.datetime)):
        raise ManifestError(
            f"{name}, [corpus], key today: {today!r:.60} is no date.",
            hint="Write it as 2026-04-30, without quotation marks.",
        )
    return CorpusInfo(today=today, metadata=json_mapping(left, source=name), **texts)


def _read_entry(values: Mapping[str, Any], *, where: str) -> ManifestEntry:
    path = values.get("path")
    if not isinstance(path, str) or not path.strip():
        raise ManifestError(
            f"{where}: a document without a path.", hint='Add path = "docs/…" to it.'
        )
    where = f"{where}, document {path!r:.120}"
    clean = _clean_path(path, key="path", where=where)
    left = {key: value for key, value in values.items() if key != "path"}
    if isinstance(left.get("superseded_by"), str) and left["superseded_by"].strip():
        left["superseded_by"] = _clean_path(left["superseded_by"], key="superseded_by", where=where)
    return ManifestEntry(path=clean, values=read_metadata(left, where=where))


def _clean_path(path: str, *, key: str, where: str) -> str:
    pure = PurePosixPath(path.strip())
    if "\\" in path or pure.is_absolute() or ".." in pure.parts or ":" in pure.parts[0]:
        raise ManifestError(
            f"{where}, key {key}: {path!r:.120} does not stay inside the folder.",
            hint="Use a path relative to the manifest, with forward slashes.",
        )
    return pure.as_posix()


def _check_entries(entries: tuple[ManifestEntry, ...], lines: list[int], path: Path) -> None:
    first: dict[str, int] = {}
    for entry, line in zip(entries, lines, strict=True):
        if entry.path in first:
            raise ManifestError(
                f"{path.name}, line {line}: document {entry.path!r} is there twice (first on line "
                f"{first[entry.path]}).",
                hint="Keep one of them.",
            )
        first[entry.path] = line
    successors = {entry.path: entry.values.validity.superseded_by for entry in entries}
    for name, successor in successors.items():
        if successor is None:
            continue
        if successor not in first and not (path.parent / successor).is_file():
            raise ManifestError(
                f"{path.name}, line {first[name]}, document {name!r}, key superseded_by: there is "
                f"no {successor!r}.",
                hint="Name the successor by its path relative to the manifest.",
            )
        seen = [name]
        while successor is not None and successor not in seen:
            seen.append(successor)
            successor = successors.get(successor)
        if successor is not None:
            raise ManifestError(
                f"{path.name}, line {first[name]}, key superseded_by: documents supersede each "
                f"other in a circle: {' → '.join([*seen, successor])}.",
                hint="Leave superseded_by out of the current one.",
            )
