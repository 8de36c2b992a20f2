"""The base class of every public value, and the way in which such a value prints text."""

from __future__ import annotations

import unicodedata
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

_new = object.__new__
_set_field = object.__setattr__


class Frozen(BaseModel):
    """An immutable value whose JSON is a public format; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def trusted(cls, **values: Any) -> Self:
        """Return a value made of parts that are known to be right, without looking at them again.

        For values that this package makes itself, by the thousand; what comes from outside goes
        through the constructor. Fields that are not given have their defaults.

        Args:
            values: Fields by name, each of its declared type.
        """
        made = _new(cls)
        defaults = _DEFAULTS.get(cls)
        if defaults is None:
            defaults = _DEFAULTS[cls] = _defaults(cls)
        set_field = _set_field
        set_field(made, "__dict__", {**defaults, **values})
        set_field(made, "__pydantic_fields_set__", set(values))
        set_field(made, "__pydantic_extra__", None)
        set_field(made, "__pydantic_private__", None)
        return made

    def trusted_copy(self, **values: Any) -> Self:
        """Return a copy with other values in some fields, which are known to be right.

        Args:
            values: Fields by name, each of its declared type.
        """
        made = _new(type(self))
        set_field = _set_field
        set_field(made, "__dict__", {**self.__dict__, **values})
        set_field(made, "__pydantic_fields_set__", {*self.__pydantic_fields_set__, *values})
        set_field(made, "__pydantic_extra__", None)
        set_field(made, "__pydantic_private__", None)
        return made


_DEFAULTS: dict[type[Frozen], dict[str, Any]] = {}


def _defaults(cls: type[Frozen]) -> dict[str, Any]:
    """Return the defaults of a class; those made by a factory must be given."""
    return {
        name: field.default
        for name, field in cls.model_fields.items()
        if not field.is_required() and field.default_factory is None
    }


_REORDERING = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069"


def safe(text: str) -> str:
    """Return `text` without characters that could steer a terminal or reorder its line."""
    return "".join(
        c if c in "\n\t" or not _steers(c) else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def one_line(text: str) -> str:
    """Return `text` on one line, safe for a terminal."""
    return " ".join(safe(text).split())


def _steers(character: str) -> bool:
    return character in _REORDERING or unicodedata.category(character) in ("Cc", "Cs")
