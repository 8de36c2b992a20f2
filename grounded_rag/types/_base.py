"""The one base class of every public value: immutable, closed, serialisable."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable value whose JSON is a public format; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
