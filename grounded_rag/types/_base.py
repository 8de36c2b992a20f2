"""The base class of every public value: immutable, closed, serialisable."""

from __future__ import annotations

from functools import cache
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
        """
        return cls._unchecked({**_defaults(cls), **values}, set(values))

    def trusted_copy(self, **values: Any) -> Self:
        """Return a copy with other values in some fields, which are known to be right."""
        return self._unchecked(
            {**self.__dict__, **values}, {*self.__pydantic_fields_set__, *values}
        )

    @classmethod
    def _unchecked(cls, fields: dict[str, Any], given: set[str]) -> Self:
        made = _new(cls)
        _set_field(made, "__dict__", fields)
        _set_field(made, "__pydantic_fields_set__", given)
        _set_field(made, "__pydantic_extra__", None)
        _set_field(made, "__pydantic_private__", None)
        return made


@cache
def _defaults(cls: type[Frozen]) -> dict[str, Any]:
    """Return the defaults of a class; those made by a factory must be given."""
    return {
        name: field.default
        for name, field in cls.model_fields.items()
        if not field.is_required() and field.default_factory is None
    }
