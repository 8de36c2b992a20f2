"""What is known about a document besides its text, and whose word counts.

Arguments win over the manifest, the manifest over front matter, front matter over the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from pydantic import Field, JsonValue

from grounded_rag.errors import ManifestError
from grounded_rag.ingest.front_matter import json_mapping
from grounded_rag.ingest.structure import LONGEST_TITLE
from grounded_rag.protocols import ParsedDocument
from grounded_rag.types import Document, Frozen, Validity
from grounded_rag.validity import parse_instant

Trust = Literal["official", "internal", "untrusted"]
"""How far a document is trusted; "official" where nobody says."""

DATE_KEYS = ("effective_from", "valid_until", "superseded_on", "reviewed_on", "updated_at")
"""Keys of metadata that hold a date."""

_TRUST = get_args(Trust)


class DocumentMetadata(Frozen):
    """What one place says about a document.

    Attributes:
        title: Title for people, or None where it says none.
        trust: How far it is trusted, or None.
        validity: When it holds, as far as it says.
        further: All other keys.
    """

    title: str | None = None
    trust: Trust | None = None
    validity: Validity = Validity()
    further: dict[str, JsonValue] = Field(default_factory=dict)


class ReadDocument(Frozen):
    """A document that was read.

    Attributes:
        document: The document.
        trust: How far it is trusted.
        warnings: What a person should look at in it.
    """

    document: Document
    trust: Trust = "official"
    warnings: tuple[str, ...] = ()


def read_metadata(values: Mapping[str, Any], *, where: str) -> DocumentMetadata:
    """Read metadata as written by a person.

    Args:
        values: Keys and values.
        where: File and place, to begin messages with.

    Raises:
        ManifestError: A value is of the wrong type, or a date can be read in two ways.
    """
    left = dict(values)
    dates: dict[str, Any] = {key: _date(left.pop(key, None), key, where) for key in DATE_KEYS}
    successor = _text(left.pop("superseded_by", None), "superseded_by", where)
    title = left.pop("title", None)
    if isinstance(title, int) and not isinstance(title, bool):
        # `title: 2026` is a number to YAML and a title to its author.
        title = str(title)
    trust = _text(left.pop("trust", None), "trust", where)
    if trust is not None and trust not in _TRUST:
        raise ManifestError(
            f"{where}, key trust: {trust[:60]!r} is unknown.",
            hint=f"Use one of {', '.join(_TRUST)}.",
        )
    return DocumentMetadata.model_validate(
        {
            "title": _text(title, "title", where),
            "trust": trust,
            "validity": Validity(superseded_by=successor, **dates),
            "further": json_mapping(left, source=where),
        }
    )


def build_document(
    parsed: ParsedDocument,
    *,
    doc_id: str,
    source: str,
    manifest: DocumentMetadata | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> ReadDocument:
    """Make the document of what was read and of what is known about it.

    Args:
        parsed: What a reader returned; its metadata counts least.
        doc_id: Stable id, usually the path relative to the corpus folder.
        source: Where it came from, for people.
        manifest: What the manifest says.
        overrides: What the caller says, under the keys of the manifest; it counts most.

    Raises:
        ManifestError: Front matter or overrides cannot be read.
    """
    told = [
        read_metadata(overrides or {}, where=f"{source}, arguments"),
        manifest or DocumentMetadata(),
        read_metadata(parsed.metadata, where=f"{source}, front matter"),
    ]
    validity = {
        name: next(
            (value for one in told if (value := getattr(one.validity, name)) is not None), None
        )
        for name in Validity.model_fields
    }
    if validity["superseded_by"] == doc_id:
        raise ManifestError(
            f"{source}: the document names itself as its successor.",
            hint="Name the document that replaces it, or leave superseded_by out.",
        )
    metadata: dict[str, JsonValue] = {}
    for one in reversed(told):
        metadata.update(one.further)
    title = next((one.title for one in told if one.title), parsed.title)
    document = Document(
        id=doc_id,
        source=source,
        title=(title or _title_of(source))[:LONGEST_TITLE],
        text=parsed.text,
        media_type=parsed.media_type,
        content_hash=hashlib.sha256(parsed.text.encode()).hexdigest(),
        validity=Validity(**validity),
        sections=parsed.sections,
        pages=parsed.pages,
        headings=parsed.headings,
        metadata=metadata,
    )
    trust = next((one.trust for one in told if one.trust is not None), "official")
    return ReadDocument(document=document, trust=trust, warnings=parsed.warnings)


def _date(value: Any, key: str, where: str) -> Any:
    try:
        return parse_instant(value)
    except ManifestError as error:
        raise ManifestError(f"{where}, key {key}: {error.message}", hint=error.hint) from error


def _text(value: Any, key: str, where: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ManifestError(
            f"{where}, key {key}: {value!r:.60} is no text.", hint="Put it in quotation marks."
        )
    return value.strip() or None


def _title_of(source: str) -> str:
    """Return a title made of a file name."""
    name = PurePosixPath(source.replace("\\", "/"))
    return name.stem.replace("-", " ").replace("_", " ").strip() or source
