"""Files shipped with the package: prompts, the demo corpus and the tokenizer's table."""

from __future__ import annotations

import tomllib
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

_PACKAGE = Path(str(resources.files("grounded_rag")))


def _folder(shipped: str, checkout: str) -> Path:
    """Return the folder inside the wheel, or the one of the checkout beside the package."""
    inside = _PACKAGE / shipped
    return inside if inside.is_dir() else _PACKAGE.parent / checkout


def prompts_dir() -> Path:
    """Return the folder of the built-in prompts."""
    return _folder("_prompts", "prompts")


def demo_corpus_dir() -> Path:
    """Return the folder of the demo corpus, with `manifest.toml` and `golden.jsonl`."""
    return _folder("_corpora/demo", "corpora/demo")


def data_file(name: str) -> Path:
    """Return a data file of the package, such as a tokenizer table."""
    return _PACKAGE / "data" / name


@cache
def read_table(name: str) -> dict[str, Any]:
    """Return a TOML file of the package's data, such as a word list; read once."""
    return tomllib.loads(data_file(f"{name}.toml").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def default_refusal() -> str:
    """Return the built-in refusal string, without its final newline."""
    return (prompts_dir() / "refusal.txt").read_text(encoding="utf-8").rstrip("\n")
