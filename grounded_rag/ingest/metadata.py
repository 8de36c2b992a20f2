"""What is known about a document besides its text, and whose word counts.

Arguments win over the manifest, the manifest over front matter, front matter over the file.
"""

from __future__ import annotations

import functools
import hashlib
import math
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Literal, get_args

from pydantic import Field, JsonValue

from grounded_rag.errors import ManifestError
from grounded_rag.ingest.structure import LONGEST_TITLE
from grounded_rag.protocols import ParsedDocument
from grounded_rag.types import Document, Frozen, Validity
from grounded_rag.validity import parse_instant

_BLOCK = re.compile(
    r"---[ \t]*(?:\r\n|\n|\r)(.*?)(?:^)(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)",
    re.DOTALL | re.MULTILINE,
)
_MAX_CHARACTERS = 65_536
# Aliases multiply: twenty of them can make at most some thousand values out of one.
_MAX_ALIASES = 20
_MAX_VALUES = 10_000
_MAX_DEPTH = 32
_HINT = "Mend the front matter, or put a blank line before its first '---' if it is text."


def split_front_matter(text: str, *, source: str) -> tuple[dict[str, JsonValue], str]:
    """Return the values of the YAML front matter, and the text behind it.

    A leading `---` that opens no mapping is a ruled line and stays. Dates stay the text that was
    written, so that ambiguous ones can be reported.

    Raises:
        ManifestError: It is no YAML, uses tags or many aliases, names a key twice, or is too big.
    """
    found = _BLOCK.match(text)
    if found is None:
        return {}, text
    if len(found[1]) > _MAX_CHARACTERS:
        raise ManifestError(
            f"{source}: front matter of {len(found[1]):,} characters is too long.", hint=_HINT
        )
    loaded = _load(found[1], source)
    if loaded is not None and not isinstance(loaded, dict):
        return {}, text
    return json_mapping(loaded or {}, source=source), text[found.end() :]


def json_mapping(values: Mapping[Any, Any], *, source: str) -> dict[str, JsonValue]:
    """Return `values` as JSON values, dates and keys as text, unless they are too many or deep."""
    budget = [_MAX_VALUES]
    return {str(key): _json(value, source, budget, 1) for key, value in values.items()}


def _json(value: Any, source: str, budget: list[int], depth: int) -> JsonValue:
    budget[0] -= 1
    if budget[0] < 0 or depth > _MAX_DEPTH:
        raise ManifestError(f"{source}: the metadata is too large or nested too deeply.")
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): _json(item, source, budget, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json(item, source, budget, depth + 1) for item in value]
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise ManifestError(f"{source}: a value of type {type(value).__name__} is no metadata.")


def _load(block: str, source: str) -> Any:
    import yaml

    try:
        # S506: the loader is SafeLoader with less.
        return yaml.load(block, Loader=_loader())  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        # The block begins on the second line of the file, and marks count from 0.
        line = f" line {mark.line + 2}:" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it is no YAML"
        raise ManifestError(f"{source}: front matter{line} {problem}.", hint=_HINT) from error
    except (RecursionError, ValueError) as error:
        raise ManifestError(f"{source}: front matter cannot be read.", hint=_HINT) from error


@functools.cache
def _loader() -> type[Any]:
    """Return a SafeLoader that keeps dates as text, bounds aliases and refuses double keys."""
    import yaml

    class Loader(yaml.SafeLoader):
        aliases = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                self.aliases += 1
                if self.aliases > _MAX_ALIASES:
                    raise yaml.composer.ComposerError(problem="too many aliases")
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key.value, str):
                    continue
                if key.value in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f"key {key.value[:60]!r} is there twice", key.start_mark
                    )
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    timestamp = "tag:yaml.org,2002:timestamp"
    Loader.yaml_implicit_resolvers = {
        first: [pair for pair in pairs if pair[0] != timestamp]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return Loader


Trust = Literal["official", "internal", "untrusted"]
"""How far a document is trusted; "official" where nobody says."""

DATE_KEYS = ("effective_from", "valid_until", "superseded_on", "reviewed_on", "updated_at")
"""Keys of metadata that hold a date."""

TRUST_LEVELS = get_args(Trust)
"""The values of `Trust`."""


class DocumentMetadata(Frozen):
    """What one place says about a document: None where it says nothing, other keys `further`."""

    title: str | None = None
    trust: Trust | None = None
    validity: Validity = Validity()
    further: dict[str, JsonValue] = Field(default_factory=dict)


class ReadDocument(Frozen):
    """A document that was read, how far it is trusted, and what a person should look at."""

    document: Document
    trust: Trust = "official"
    warnings: tuple[str, ...] = ()


def read_metadata(values: Mapping[str, Any], *, where: str) -> DocumentMetadata:
    """Read metadata as written by a person; `where`, file and place, begins the messages.

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
    if trust is not None and trust not in TRUST_LEVELS:
        raise ManifestError(
            f"{where}, key trust: {trust[:60]!r} is unknown.",
            hint=f"Use one of {', '.join(TRUST_LEVELS)}.",
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
    sources = [
        read_metadata(overrides or {}, where=f"{source}, arguments"),
        manifest or DocumentMetadata(),
        read_metadata(parsed.metadata, where=f"{source}, front matter"),
    ]
    validity = {
        name: next(
            (value for one in sources if (value := getattr(one.validity, name)) is not None), None
        )
        for name in Validity.model_fields
    }
    if validity["superseded_by"] == doc_id:
        raise ManifestError(
            f"{source}: the document names itself as its successor.",
            hint="Name the document that replaces it, or leave superseded_by out.",
        )
    metadata: dict[str, JsonValue] = {}
    for one in reversed(sources):
        metadata.update(one.further)
    title = next((one.title for one in sources if one.title), parsed.title)
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
    trust = next((one.trust for one in sources if one.trust is not None), "official")
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
    name = PurePosixPath(source.replace("\\", "/"))
    return name.stem.replace("-", " ").replace("_", " ").strip() or source
