"""Reading the material of the generator of claims: TOML files beside this module."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

from grounded_rag.testing.tamper.values import Pools

_OWN = re.compile(r"(?:The|An?|You|Your|Customers|Members) [^\"“”()?!:;\n\u00ad]{20,150}\.")
_LEANS = re.compile(
    r"\b(?:this|that|these|those|they|them|it|its|their|he|she|his|her)\b", re.IGNORECASE
)


@cache
def read(name: str) -> dict[str, Any]:
    """Return the content of one file of material; nobody may change it."""
    file = resources.files("grounded_rag.testing.tamper") / "data" / f"{name}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


class Statement(NamedTuple):
    """A plain statement as a clause, with its relatives where they are known.

    Attributes:
        clause: The statement with a small first letter and without a full stop.
        past: The same for an earlier time, or "".
        later: The same for a coming time, or "".
        denied: Its opposite, or "".
        asks: The question whether it is so, or "".
        amount: Whether it names a price or a quantity.
        language: Its language.
    """

    clause: str
    past: str = ""
    later: str = ""
    denied: str = ""
    asks: str = ""
    amount: bool = False
    language: str = "en"

    @property
    def sentence(self) -> str:
        """The statement as a sentence."""
        return capital(self.clause) + stop(self.language)


def stop(language: str) -> str:
    """Return the full stop of a language."""
    return "。" if language in ("ja", "zh") else "."


def gap(language: str) -> str:
    """Return what stands between two sentences of a language."""
    return "" if language in ("ja", "zh") else " "


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def small(text: str) -> str:
    """Return a text with a small first letter."""
    return text[:1].lower() + text[1:]


def own_statements() -> tuple[Statement, ...]:
    """Return the English statements of the generator's own."""
    return tuple(
        Statement(
            clause=row["is"], past=row["past"], later=row["later"], denied=row["not"],
            asks=row["asks"], amount=row.get("amount", False),
        )
        for row in read("statements")["statements"]
    )  # fmt: skip


def foreign_statements(language: str) -> tuple[Statement, ...]:
    """Return the statements of another language."""
    clauses = read("clauses")[language]["clauses"]
    return tuple(Statement(clause=clause, language=language) for clause in clauses)


def corpus_statements(pools: Pools) -> tuple[Statement, ...]:
    """Return the sentences of a corpus that can stand alone and inside a longer sentence."""
    texts = {s.text for s in pools.sentences if _OWN.fullmatch(s.text) and s.whole}
    return tuple(
        Statement(clause=small(text[:-1])) for text in sorted(texts) if not _LEANS.search(text)
    )


def fillers(language: str) -> tuple[str, ...]:
    """Return sentences that may stand beside others in a passage; none for some languages."""
    return tuple(read("whole").get(language, {}).get("sentences", ()))


def languages() -> tuple[str, ...]:
    """Return the languages that have whole sentences."""
    return tuple(read("whole"))
