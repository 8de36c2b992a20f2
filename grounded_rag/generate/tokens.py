"""Estimating tokens, without a download."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SAFETY_FACTOR = 1.3
"""tiktoken only approximates other vendors' tokenizers: estimates are raised by this factor."""

_ENCODING = "o200k_base"


def estimate_tokens(text: str) -> int:
    """Return a cautious estimate of the tokens of `text`, the safety factor included.

    Uses tiktoken with the vocabulary that llama-index-core ships, so nothing is downloaded;
    where `TIKTOKEN_CACHE_DIR` is set already, that folder is used instead.
    """
    return math.ceil(_counter()(text) * SAFETY_FACTOR)


@cache
def _counter() -> Callable[[str], int]:
    import tiktoken

    if "TIKTOKEN_CACHE_DIR" not in os.environ and (bundled := _bundled_cache()):
        os.environ["TIKTOKEN_CACHE_DIR"] = bundled
    encoding = tiktoken.get_encoding(_ENCODING)
    # Without disallowed_special=() a text that holds "<|endoftext|>" raises.
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def _bundled_cache() -> str | None:
    # The package is located, not imported: importing it takes seconds.
    spec = find_spec("llama_index")
    for root in spec.submodule_search_locations or () if spec else ():
        folder = Path(root) / "core" / "_static" / "tiktoken_cache"
        if folder.is_dir():
            return str(folder)
    return None
