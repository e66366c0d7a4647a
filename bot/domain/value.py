"""What every value of the domain is: frozen, strict about unknown fields, changed only by making another."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def but(self, **changes: Any) -> Self:
        """The same value with *changes*; names are checked, contents are trusted."""
        assert not (unknown := changes.keys() - type(self).model_fields.keys()), f"no such fields: {unknown}"
        return self.model_copy(update=changes)


class Stored(Value):
    """A value that older or newer versions of this program may have written: strangers are let through."""

    model_config = ConfigDict(frozen=True, extra="ignore")
