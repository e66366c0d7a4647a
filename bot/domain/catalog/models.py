"""How models are named: by provider and name, and one after the other in the order in which they are asked."""

import re
from typing import NamedTuple, Self

OFFLINE = "offline"
"""The voice without a model. Nothing comes after it, because it never fails."""

_NAME = re.compile(r"(?P<provider>[a-z][a-z0-9-]*):(?P<name>[\w./:@+-]+)")


class ModelName(NamedTuple):
    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.name}"


class Chain(NamedTuple):
    """*offline* says that the voice without a model stands at its end, or is all there is."""

    names: tuple[ModelName, ...] = ()
    offline: bool = True

    @classmethod
    def read(cls, text: str) -> Self:
        """`anthropic:NAME,openai:NAME,offline`. Raises ValueError for anything else; empty is offline."""
        given = [one.strip() for one in text.split(",")] if text.strip() else [OFFLINE]
        *before, last = given
        offline = last == OFFLINE
        return cls(tuple(dict.fromkeys(map(_named, before if offline else given))), offline)

    def __str__(self) -> str:
        return ",".join((*map(str, self.names), *([OFFLINE] if self.offline else [])))


def _named(text: str) -> ModelName:
    if found := _NAME.fullmatch(text):
        return ModelName(found["provider"], found["name"])
    raise ValueError(f"{text!r} is no model, such as anthropic:NAME")
