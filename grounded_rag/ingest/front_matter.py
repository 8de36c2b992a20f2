"""YAML front matter of Markdown files, read as hostile data."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic import Field, JsonValue

from grounded_rag.errors import ManifestError
from grounded_rag.types import Frozen

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


class FrontMatter(Frozen):
    """Values of the front matter and the text behind it."""

    values: dict[str, JsonValue] = Field(default_factory=dict)
    body: str


def split_front_matter(text: str, *, source: str) -> FrontMatter:
    """Take the YAML front matter off a text.

    Args:
        text: Decoded text of the file.
        source: Its name, for messages.

    Returns:
        The values and the rest. A leading `---` that opens no mapping is a ruled line and stays.
        Dates stay the text that was written, so that ambiguous ones can be told.

    Raises:
        ManifestError: It is no YAML, uses tags or many aliases, names a key twice, or is too big.
    """
    found = _BLOCK.match(text)
    if found is None:
        return FrontMatter(body=text)
    if len(found[1]) > _MAX_CHARACTERS:
        raise ManifestError(
            f"{source}: front matter of {len(found[1]):,} characters is too long.", hint=_HINT
        )
    loaded = _load(found[1], source)
    if loaded is None:
        return FrontMatter(body=text[found.end() :])
    if not isinstance(loaded, dict):
        return FrontMatter(body=text)
    values = json_mapping(loaded, source=source)
    return FrontMatter(values=values, body=text[found.end() :])


def json_mapping(values: Mapping[Any, Any], *, source: str) -> dict[str, JsonValue]:
    """Return `values` as JSON values: dates as ISO text, keys as text.

    Raises:
        ManifestError: They are too many, nested too deeply, or of a kind that JSON has not.
    """
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
