"""Which files of a folder are documents, why the others are not, and how one is read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from grounded_rag.errors import InputError, ManifestError, ReadError, UnsupportedFormatError
from grounded_rag.ingest.decoding import MAX_BYTES, check_size
from grounded_rag.ingest.manifest import MANIFEST_NAME, Manifest, ManifestEntry, load_manifest
from grounded_rag.ingest.metadata import ReadDocument, build_document
from grounded_rag.ingest.readers import (
    SUPPORTED_SUFFIXES,
    check_readers,
    readable,
    reader_for,
)
from grounded_rag.protocols import Reader
from grounded_rag.types import Frozen

_DOCS = "docs"
# Files beside a manifest that belong to the corpus and are no documents.
_BESIDE = frozenset({MANIFEST_NAME, "golden.jsonl", "readme.md", "readme.txt", "license"})


class FileToRead(Frozen):
    """A file to read; its id is the path relative to the folder, with forward slashes."""

    doc_id: str
    path: Path
    size: int
    entry: ManifestEntry | None = None


class SkippedFile(Frozen):
    """A file that is not read, by its relative path, and why."""

    path: str
    reason: str


class Scan(Frozen):
    """What a folder holds: files to read and files that are not read; hidden ones are neither."""

    files: tuple[FileToRead, ...]
    skipped: tuple[SkippedFile, ...] = ()


def scan(
    source: Path | str, *, strict: bool = False, readers: Mapping[str, Reader] | None = None
) -> Scan:
    """List the documents of a folder, or take a single file.

    In a folder with a manifest and a `docs` folder, documents are the files below `docs` and those
    that the manifest lists; otherwise all readable files of the folder but the manifest, the golden
    questions and the README beside it. Hidden files are ignored, links out of the folder not
    followed.

    Args:
        source: The folder, or one file; a manifest beside that file is used if it lists it.
        strict: Whether files that cannot be read are an error instead of being skipped.
        readers: Further readers by suffix; see `grounded_rag.update_index`.

    Raises:
        ConfigError: `readers` holds something else than readers.
        InputError: It does not exist, or holds no readable file.
        ManifestError: The manifest cannot be used, or lists a file that is missing.
        UnsupportedFormatError: `strict`, and there is a file without a reader.
    """
    place = Path(source)
    own = check_readers(readers)
    hint = f"Readable are {' '.join(sorted({*SUPPORTED_SUFFIXES, *own}))}."
    if not place.exists():
        raise InputError(f"There is no {place}.", hint="Check the path.")
    found = _scan_file(place, own) if place.is_file() else _scan_folder(place, own)
    if strict and found.skipped:
        raise UnsupportedFormatError(
            f"{place}: {_reasons(found.skipped)}.", hint=f"{hint} Convert or move them."
        )
    if not found.files:
        what = _reasons(found.skipped) or "it is empty"
        raise InputError(f"There is nothing to read in {place}: {what}.", hint=hint)
    return found


def read_document(
    file: FileToRead,
    *,
    overrides: Mapping[str, Any] | None = None,
    max_bytes: int = MAX_BYTES,
    readers: Mapping[str, Reader] | None = None,
) -> ReadDocument:
    """Read one file that `scan` found; `overrides` count more than manifest and front matter.

    Raises:
        ReadError: The file cannot be read; the message names it.
        ManifestError: Its metadata cannot be read.
    """
    check_size(file.size, source=file.doc_id, max_bytes=max_bytes)
    reader = reader_for(file.path.suffix, max_bytes=max_bytes, readers=check_readers(readers))
    try:
        data = file.path.read_bytes()
    except OSError as error:
        raise ReadError(
            f"{file.doc_id} cannot be read: {error.strerror}.",
            hint="Check the file and its permissions.",
        ) from error
    parsed = reader.read(data, source=file.doc_id)
    return build_document(
        parsed,
        doc_id=file.doc_id,
        source=file.doc_id,
        manifest=file.entry.values if file.entry else None,
        overrides=overrides,
    )


def _scan_file(path: Path, readers: Mapping[str, Reader]) -> Scan:
    manifest = _manifest_of(path.parent)
    entry = manifest.entry(path.name) if manifest else None
    if not readable(path.suffix, readers):
        return Scan(files=(), skipped=(SkippedFile(path=path.name, reason=_no_reader(path)),))
    file = FileToRead(doc_id=path.name, path=path, size=path.stat().st_size, entry=entry)
    return Scan(files=(file,))


def _scan_folder(root: Path, readers: Mapping[str, Reader]) -> Scan:
    manifest = _manifest_of(root)
    listed = {entry.path: entry for entry in manifest.entries} if manifest else {}
    for name in listed:
        if not (root / name).is_file():
            raise ManifestError(
                f"{MANIFEST_NAME} lists {name!r}, which is not there.",
                hint="Add the file, or take its [[document]] out.",
            )
    only_docs = manifest is not None and (root / _DOCS).is_dir()
    home = root.resolve()
    files: list[FileToRead] = []
    skipped: list[SkippedFile] = []
    for path in _walk(root, skipped):
        doc_id = path.relative_to(root).as_posix()
        if doc_id not in listed and _is_beside(doc_id, only_docs, manifest is not None):
            continue
        reason = _obstacle(path, home, readers)
        if reason:
            skipped.append(SkippedFile(path=_printable(doc_id), reason=reason))
            continue
        files.append(
            FileToRead(doc_id=doc_id, path=path, size=path.stat().st_size, entry=listed.get(doc_id))
        )
    return Scan(
        files=tuple(sorted(files, key=lambda file: file.doc_id)),
        skipped=tuple(sorted(skipped, key=lambda file: file.path)),
    )


def _manifest_of(root: Path) -> Manifest | None:
    path = root / MANIFEST_NAME
    return load_manifest(path) if path.is_file() else None


def _walk(root: Path, skipped: list[SkippedFile]) -> Iterator[Path]:
    """Yield the files below a folder but hidden ones; linked folders are added to `skipped`."""
    for parent, folders, names in os.walk(root, onerror=_raise_unreadable):
        here = Path(parent)
        kept = []
        for name in sorted(folders):
            if name.startswith("."):
                continue
            if (here / name).is_symlink():
                shown = _printable((here / name).relative_to(root).as_posix())
                skipped.append(SkippedFile(path=shown, reason="links to folders are not followed"))
                continue
            kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            if not name.startswith("."):
                yield here / name


def _raise_unreadable(error: OSError) -> None:
    raise InputError(
        f"{error.filename} cannot be listed: {error.strerror}.", hint="Check its permissions."
    ) from error


def _is_beside(doc_id: str, only_docs: bool, has_manifest: bool) -> bool:
    """Whether a file belongs to the corpus without being one of its documents."""
    if only_docs:
        return not doc_id.startswith(f"{_DOCS}/")
    return has_manifest and doc_id.lower() in _BESIDE


def _obstacle(path: Path, home: Path, readers: Mapping[str, Reader]) -> str:
    """Return why a file cannot be read, or ""."""
    if _printable(path.name) != path.name:
        return "its name is no Unicode"
    if path.is_symlink() and not path.resolve().is_relative_to(home):
        return "a link that leads out of the folder"
    if not path.is_file():
        return "no regular file, or a broken link"
    return "" if readable(path.suffix, readers) else _no_reader(path)


def _no_reader(path: Path) -> str:
    return f"no reader for {path.suffix.lower() or 'files without a suffix'}"


def _printable(name: str) -> str:
    """Return a file name, its bytes that are no Unicode replaced."""
    return name.encode("utf-8", "replace").decode("utf-8")


def _reasons(skipped: Iterable[SkippedFile]) -> str:
    reasons = Counter(file.reason for file in skipped)
    first = {file.reason: file.path for file in reversed(tuple(skipped))}
    return "; ".join(
        f"{count} files: {reason} ({first[reason]}, …)"
        if count > 1
        else f"{first[reason]}: {reason}"
        for reason, count in sorted(reasons.items())
    )
