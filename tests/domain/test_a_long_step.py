"""A word costs about as much after hundreds of others in its step as after few: people keep writing in one thread."""

import sys
from types import FrameType

from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.state import Roundtable
from tests.domain.books import few_steps
from tests.domain.table import Table, person

FEW, MANY = 40, 240
MOST_CALLS = 2
"""Of Python's functions, by which each word of a step makes the next one longer; the first needs 5,000."""


def word(rt: Roundtable, number: int) -> Say:
    ts = f"{2_000_000_000 + number}.000100"
    return Say(
        key=f"{rt.place.channel}.{ts}",
        at="2026-01-01T01:00:00.000Z",
        person=person(("ada", "grace", "linus")[number % 3]),
        text=f"word {number} is about the network in trains and tunnels",
        ts=ts,
    )


def test_a_word_of_a_long_step_needs_hardly_more_calls() -> None:
    table = Table(few_steps()).start()
    rt, needed = table.rt, {}
    for number in range(MANY + 1):
        needed[number] = 0

        def count(_frame: FrameType, event: str, _: object, now: int = number) -> None:
            needed[now] += event == "call"

        sys.setprofile(count)
        try:
            after = decide(rt, word(rt, number), table.playbook)
        finally:
            sys.setprofile(None)
        rt = after.but(outbox=())
    assert needed[MANY] - needed[FEW] <= MOST_CALLS * (MANY - FEW), needed[MANY]
