"""
The same decisions, made once: many scenarios go through the same states, and everything here is pure.

Log lines and traces are left out, too. Nothing else about the engine is changed by this.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from typing import Any
from unittest.mock import patch

from opentelemetry.trace import INVALID_SPAN

from bot import telemetry
from bot.domain.catalog.agenda import Playbook
from bot.domain.item import meta
from bot.domain.roundtable import machine
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.state import Roundtable
from bot.domain.transcript import lines
from bot.engine import engine, roundtables
from tests.durability import world

STATES_KEPT = 200_000
FILES_READ = 2_000
FIELDS = tuple(Roundtable.model_fields)
DECIDED_ON = tuple(name for name in FIELDS if name != "version")


class Memory:
    """A state is known by the identities of its fields, so equal ones have to be one object: `one` sees to that."""

    def __init__(self) -> None:
        self._decided: dict[tuple[tuple[int, ...], type, str], tuple[Roundtable, Roundtable]] = {}
        self._ones: dict[tuple[int, ...], Roundtable] = {}

    def decide(self, rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        """No decision depends on how often a state was saved."""
        key = _identities(rt, DECIDED_ON), type(event), event.model_dump_json()
        if known := self._decided.get(key):
            before, after = known
            return rt if after is before else after.but(version=rt.version)
        after = machine.decide(rt, event, playbook)
        if len(self._decided) > STATES_KEPT:
            self._decided.clear()
            self._ones.clear()
        self._decided[key] = rt, after
        return after

    def one(self, rt: Roundtable) -> Roundtable:
        """Fields are shared with the state that was decided, and so are their identities."""
        return self._ones.setdefault(_identities(rt, FIELDS), rt)


def _identities(rt: Roundtable, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple([id(rt.__dict__[name]) for name in names])


@contextmanager
def quickly() -> Iterator[None]:
    memory = Memory()

    def unsaid(*_: Any, **__: Any) -> AbstractContextManager[None]:
        return nullcontext()

    with (
        patch.object(roundtables, "decide", memory.decide),
        patch.object(telemetry, "span", lambda *_, **__: nullcontext(INVALID_SPAN)),
        patch.object(engine, "span", unsaid),
        patch.object(engine, "about", unsaid),
        patch.object(world, "one", memory.one),
        patch.object(lines, "read", lru_cache(FILES_READ)(lines.read)),
        patch.object(meta, "read", lru_cache(FILES_READ)(meta.read)),
    ):
        yield
