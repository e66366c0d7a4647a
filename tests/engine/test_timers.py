"""A process wakes a roundtable when its timer is due, also long after that."""

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Message
from bot.domain.roundtable import machine
from bot.domain.roundtable.inputs import TimeCame
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName, set_timer
from bot.domain.values.timestamps import before
from bot.engine.ports import now
from tests.engine.replica import Replica, discussing, holding, replica

DAYS = 3 * 24 * 3600.0


def told(rt: Roundtable, _event: TimeCame, _playbook: Playbook) -> Roundtable:
    return rt.telling(Message(text="It is due."), part=rt.part)


@pytest.fixture(autouse=True)
def telling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(machine.TIMED, TimerName.DEADLINE, told)


def due(seconds_ago: float) -> Roundtable:
    rt = discussing().rt.but(version=1)
    return set_timer(rt, TimerName.DEADLINE, before(now(), seconds_ago))


async def swept(one: Replica) -> None:
    """As the process does for as long as it lives."""
    await one.engine.sweep()
    while one.woken.slugs:
        await one.engine.pay(one.woken.slugs.pop())


def posts(here: Replica) -> list[str]:
    return [one.message.text for one in here.world.thread]


async def test_a_timer_that_was_due_days_ago_follows_once(redis_url: str) -> None:
    """Nothing ran meanwhile; and two processes start."""
    rt = due(DAYS)
    async with replica(redis_url) as one, replica(redis_url) as other:
        await one.store.put(rt, expected=0)
        await one.engine.sweep()
        await other.engine.sweep()
        assert one.woken.slugs == other.woken.slugs == [rt.slug]

        await one.engine.pay(rt.slug)
        await other.engine.pay(rt.slug)
        await swept(one)
        await swept(other)

        assert [*posts(one), *posts(other)].count("It is due.") == 1
        assert (await one.stored(rt)).timers == {}


async def test_a_timer_that_is_not_due_wakes_nobody(redis_url: str) -> None:
    """And is still there afterwards."""
    rt = due(-DAYS)
    async with holding(redis_url, rt) as one:
        await swept(one)

        assert posts(one) == []
        assert (await one.stored(rt)).timers == rt.timers
