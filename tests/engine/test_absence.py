"""When nobody heard Slack for longer than it repeats, every open thread is read once, whoever comes back first."""

from collections.abc import Awaitable, Callable

import pytest

from bot.domain.roundtable.effects import ReadThread
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import now
from bot.engine.roundtables import Absence
from bot.errors import NotOwner, Unavailable
from tests.engine.replica import Replica

LONG_AGO = "2026-11-21T10:00:00.000Z"


def of(one: Replica) -> Absence:
    async def hears() -> bool:
        return True

    return Absence(one.engine, one.store, now, hears=hears)


async def reads(one: Replica, slug: str) -> int:
    """How many times the thread is about to be read."""
    rt = await one.store.get(slug)
    assert rt
    return sum(isinstance(pending, ReadThread) for pending in rt.outbox)


async def test_after_a_long_silence_the_thread_is_read(one: Replica, other: Replica, rt: Roundtable) -> None:
    """And whoever pays is woken for it."""
    await one.store.note("listened", LONG_AGO)

    await of(one).ended()
    await of(other).ended()

    assert await reads(one, rt.slug) == 1
    assert one.woken.slugs == [rt.slug]
    assert not other.woken.slugs


async def test_a_short_silence_slack_bridges_itself(one: Replica, rt: Roundtable) -> None:
    """It repeats for five minutes; a rolling update disturbs nobody."""
    await one.store.note("listened", now())

    await of(one).ended()

    assert not await reads(one, rt.slug)


async def test_a_process_that_loses_the_team_meanwhile_leaves_it_to_the_next_owner(
    one: Replica, other: Replica, rt: Roundtable, monkeypatch: pytest.MonkeyPatch
) -> None:
    await one.store.note("listened", LONG_AGO)

    async def refused(*_: object, **__: object) -> None:
        raise NotOwner("another process has taken the team")

    monkeypatch.setattr(one.store, "put", refused)
    with pytest.raises(NotOwner):
        await of(one).ended()
    await of(other).ended()

    assert await reads(other, rt.slug) == 1


@pytest.mark.parametrize("noted", ["", "the other day"])
async def test_where_nobody_knows_nothing_is_read(one: Replica, rt: Roundtable, noted: str) -> None:
    """The first start; a store that was emptied, whose roundtables are gone as well; somebody wrote there by hand."""
    await one.store.note("listened", noted)

    await of(one).ended()

    assert not await reads(one, rt.slug)
    assert await one.store.noted("listened") > LONG_AGO


async def test_whoever_dies_on_the_way_is_succeeded(
    one: Replica, other: Replica, rt: Roundtable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of a silence is noted when every thread is about to be read: until then, anybody begins again."""
    second = rt.but(slug="another")
    await one.store.put(second, expected=0)
    await one.store.note("listened", LONG_AGO)
    monkeypatch.setattr(one.engine, "handle", _once(one.engine.handle))

    with pytest.raises(Unavailable):
        await of(one).ended()
    await of(other).ended()

    assert [await reads(one, each.slug) for each in (rt, second)] == [1, 1]


def _once(handle: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
    """*handle*, and after that the store is away."""
    calls: list[tuple[object, ...]] = []

    async def once(*arguments: object) -> object:
        if calls:
            raise Unavailable("Redis did not answer")
        calls.append(arguments)
        return await handle(*arguments)

    return once
