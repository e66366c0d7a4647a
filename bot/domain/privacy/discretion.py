"""Redacts the secrets in all texts of an input."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from bot.domain.privacy.redaction import Redact
from bot.domain.roundtable.inputs import (
    IssueChanged,
    Mute,
    Press,
    Resume,
    Retract,
    SetDepth,
    Stop,
    TimeCame,
    TryAgain,
)
from bot.domain.roundtable.outcomes import Attempted, Committed, Done, PersonMet, Posted, ThreadOpened
from bot.domain.values.value import Value

T = TypeVar("T", bound=Value)

SAYS_NOTHING = frozenset({
    Attempted, Committed, Done, IssueChanged, Mute, PersonMet, Posted, Press, Resume, Retract, SetDepth, Stop,
    ThreadOpened, TimeCame, TryAgain,
})  # fmt: skip
"""Inputs that have only ids. All others are searched."""
NAMES_SOMETHING = frozenset({
    "about", "at", "chain", "codebase", "commit", "effect", "id", "incarnation", "key", "kind", "last",
    "marker", "path", "permalink", "person", "persona", "personas", "reply_url", "sha", "slug", "step_id", "thread",
    "token", "ts", "value",
})  # fmt: skip
"""Fields with keys, ids and addresses, in which nothing is redacted."""


def redacted_message(event: T, redact: Redact) -> T:
    return event if type(event) in SAYS_NOTHING else _value(event, redact)


def _value(value: T, redact: Redact) -> T:
    """The same object when there is nothing to hide."""
    searched = {
        name: getattr(value, name) for name in type(value).model_fields if name not in NAMES_SOMETHING
    }
    clean = {name: _clean(told, redact) for name, told in searched.items()}
    return value if clean == searched else value.but(**clean)


def _clean(told: Any, redact: Redact) -> Any:
    match told:
        case Enum():
            return told
        case str():
            return redact(told)
        case Value():
            return _value(told, redact)
        case Mapping():
            return {name: _clean(one, redact) for name, one in told.items()}
        case tuple() | list():
            return type(told)(_clean(one, redact) for one in told)
        case _:
            return told
