"""How models are named: by provider and name, and one after the other in the order in which they are asked."""

import re
from collections.abc import Mapping
from enum import StrEnum
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

    def verifying(self, setting: str) -> str:
        """
        The models that check the claims of those in this chain: those of *setting*, else these, beginning with the
        next one. Empty where no model is to check anything.
        """
        if setting:
            return str(Chain(Chain.read(setting).names, offline=False))
        return str(Chain((*self.names[1:], *self.names[:1]), offline=False))

    def __str__(self) -> str:
        return ",".join((*map(str, self.names), *([OFFLINE] if self.offline else [])))


def _named(text: str) -> ModelName:
    if found := _NAME.fullmatch(text):
        return ModelName(found["provider"], found["name"])
    raise ValueError(f"{text!r} is no model, such as anthropic:NAME")


class ModelTask(StrEnum):
    """What a model is asked for; the names that the setting of efforts uses."""

    ACKNOWLEDGE = "acknowledge"
    FRAME = "frame"
    RESPOND = "respond"
    DRAFT = "draft"
    SYNTHESIZE = "synthesize"
    JUDGE = "judge"
    PLAN = "plan"
    REVIEW = "review"


class ThinkingEffort(StrEnum):
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


def efforts(text: str) -> Mapping[ModelTask, str]:
    """`draft:high,respond:low`. Raises ValueError."""
    found: dict[ModelTask, str] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        task, _, effort = one.partition(":")
        found[ModelTask(task.strip())] = ThinkingEffort(effort.strip()).value
    return found


def models_by_persona(text: str) -> Mapping[str, str]:
    """`maya=anthropic:NAME,alex=openai:NAME+offline`: a `+` stands between models of one persona. Raises ValueError."""
    found: dict[str, str] = {}
    for one in filter(None, (part.strip() for part in text.split(","))):
        who, equals, models = (part.strip() for part in one.partition("="))
        if not who or not equals or not models:
            raise ValueError(f"{one!r} is no model of a persona, such as maya=anthropic:NAME")
        found[who.casefold()] = str(Chain.read(models.replace("+", ",")))
    return found
