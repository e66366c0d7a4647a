"""Every store keeps the same promises: the embedded one, and Redis on a real server."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.effects import Commit
from bot.domain.roundtable.stage import Stage
from bot.domain.values.places import Place
from bot.engine.ports import Store
from bot.errors import Conflict, NewerVersion
from bot.storage import serialization
from bot.storage.redis import RedisStore
from bot.storage.serialization import SHAPE
from tests.contracts.conftest import AnyStore, Opening, Rewrite
from tests.patience import PATIENCE_SECONDS
from tests.storage.samples import OWED, PLACE, SLUG, a_roundtable

LATER = "2026-12-24T10:00:00.000Z"
ELSEWHERE = Place(team="T1", channel="C2", thread="2.2")


async def test_an_empty_store_is_healthy_and_has_nothing(store: Store) -> None:
    """Nothing saved is no error; somebody who remembers what the store has lost has a conflict."""
    assert await store.get("unknown") is None

    with pytest.raises(Conflict):
        await store.put(a_roundtable(version=8), expected=7)

    await store.ping()


async def test_what_is_saved_comes_back_whole(store: Store) -> None:
    """With its outbox and the discussion that is going on."""
    debate = Elaboration(step_id="01-01", lead="business-analyst", topic="light", max_turns=10)
    saved = a_roundtable(outbox=OWED, elaboration=debate.heard(by="U1", name="Ada", text="ẞ 🌙\0", ts="1.1"))

    assert await store.get(saved.slug) is None
    await store.put(saved, expected=0)

    assert await store.get(saved.slug) == saved


async def test_what_is_known_already_is_not_read_again(store: Store) -> None:
    """Whoever saved it last gets the very same one, until it is begun anew."""
    saved = a_roundtable(outbox=OWED)
    await store.put(saved, expected=0)
    assert await store.get(saved.slug) is saved

    await store.put(a_roundtable(version=2, incarnation="anew"), expected=1)
    assert await store.get("bright-night") == a_roundtable(version=2, incarnation="anew")


NEWER: list[tuple[str, dict[str, Any]]] = [
    ("shape", {"shape": SHAPE + 1}),
    ("stage", {"stage": "dreaming"}),
    ("outbox", {"outbox": [{"kind": "send_a_postcard", "id": "x"}]}),
    ("place", {"incarnation": {"number": 1}}),
]


@pytest.mark.parametrize("changes", [one for _, one in NEWER], ids=[name for name, _ in NEWER])
async def test_what_a_newer_version_saved_is_neither_read_nor_changed(
    open_store: Opening, rewrite: Rewrite, changes: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """
    An unknown kind of effect, an unknown stage, another shape of a field. It is not taken for damage: everything about
    it is Unavailable with a sentence, everything else works, and readiness says so until it is gone.
    """
    other = a_roundtable("other", place=ELSEWHERE, outbox=OWED)
    async with open_store() as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)
        await store.put(other, expected=0)
    saved = rewrite(SLUG, changes)

    async with open_store() as store:
        for refused in (store.get(SLUG), store.at(PLACE), store.ping()):
            with pytest.raises(NewerVersion, match=f"'{SLUG}' was saved by a later version"):
                await refused
        with pytest.raises((Conflict, NewerVersion)):
            await store.put(a_roundtable(), expected=0)
        assert await store.missing([SLUG, "other"]) == ()
        with pytest.raises(NewerVersion):
            await store.several([SLUG, "other"])
        assert await store.several(["other"]) == {"other": other}
        assert "other" in await store.unfinished()
        assert await store.get("other") == other
        assert await store.in_channel(ELSEWHERE.team, ELSEWHERE.channel) == (other,)
        assert await store.in_channel(PLACE.team, PLACE.channel) == ()
        await store.put(other.but(version=2), expected=1)
        with pytest.raises(NewerVersion):
            await store.ping()
        assert rewrite(SLUG, {}) == saved
        assert caplog.text.count("later version of this program") == 1

        rewrite(SLUG, json.loads(a_roundtable(outbox=OWED).model_dump_json()))
        assert await store.get(SLUG) == a_roundtable(outbox=OWED)
        await store.ping()


async def test_a_state_of_an_earlier_version_is_set_aside(
    open_store: Opening, rewrite: Rewrite, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not read with guesses: the item is rebuilt from git."""
    async with open_store() as store:
        await store.put(a_roundtable(), expected=0)
    rewrite(SLUG, {"shape": SHAPE - 1})

    async with open_store() as store:
        assert await store.get(SLUG) is None
        await store.put(a_roundtable(), expected=0)
    assert "an earlier version saved it" in caplog.text


async def test_a_new_roundtable_is_saved_once_and_found_by_its_thread(store: Store) -> None:
    """The second of two people who start it has to look again. A save that was refused moves and takes nothing."""
    await store.put(a_roundtable(), expected=0)

    with pytest.raises(Conflict):
        await store.put(a_roundtable(title="another"), expected=0)

    assert await store.get("bright-night") == a_roundtable()

    assert await store.at(PLACE) == a_roundtable()
    assert await store.at(ELSEWHERE) is None
    assert await store.at(PLACE.but(thread="")) is None

    assert await store.missing([a_roundtable().slug, "never-begun"]) == ("never-begun",)
    assert await store.missing([]) == ()
    many = [*(f"never-{number}" for number in range(50)), a_roundtable().slug, "never-begun"]
    assert await store.several(many) == {a_roundtable().slug: a_roundtable()}
    assert await store.several([]) == {}

    await store.put(a_roundtable("another", place=ELSEWHERE), expected=0)
    with pytest.raises(Conflict):
        await store.put(a_roundtable("another"), expected=0)

    assert await store.at(PLACE) == a_roundtable()


@pytest.mark.parametrize("version", [2, 6])
async def test_a_save_that_is_refused_changes_nothing(store: Store, version: int) -> None:
    """The stored version decides, not who comes last and believes that all is done."""
    due, other = "2026-11-21T10:00:00.000Z", "2026-11-22T10:00:00.000Z"
    stored = a_roundtable(version=2, outbox=OWED, timers={"deadline": due})
    await store.put(a_roundtable(), expected=0)
    await store.put(stored, expected=1)
    for timers in ({}, {"deadline": other}):
        refused = a_roundtable(version=version, place=ELSEWHERE, timers=timers)
        with pytest.raises(Conflict):
            await store.put(refused, expected=version - 1)

    assert await store.get("bright-night") == await store.at(PLACE) == stored
    assert await store.at(ELSEWHERE) is None
    assert await store.in_channel("T1", "C2") == ()
    assert await store.unfinished() == await store.unfinished(now=due) == ("bright-night",)


async def test_of_many_at_once_exactly_one_saves(store: Store) -> None:
    """Whatever races: one of them wins, and the stored roundtable is the winner's."""
    await store.put(a_roundtable(), expected=0)
    rivals = [a_roundtable(version=2, title=f"rival {n}") for n in range(20)]

    outcomes = await asyncio.gather(
        *(store.put(rival, expected=1) for rival in rivals), return_exceptions=True
    )

    winners = [rival for rival, outcome in zip(rivals, outcomes, strict=True) if outcome is None]
    assert [await store.get("bright-night")] == winners
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == len(rivals) - 1


async def test_a_roundtable_without_a_thread_gets_one_later(store: Store) -> None:
    """It is saved before its first message stands in the channel."""
    await store.put(a_roundtable(place=PLACE.but(thread="")), expected=0)
    assert await store.at(PLACE) is None

    await store.put(a_roundtable(version=2), expected=1)

    assert await store.at(PLACE) == a_roundtable(version=2)


async def test_a_roundtable_that_moved_is_found_where_it_is(store: Store) -> None:
    """The thread it was in before belongs to nobody."""
    await store.put(a_roundtable(), expected=0)
    await store.put(a_roundtable(version=2, place=ELSEWHERE), expected=1)

    assert await store.at(ELSEWHERE) == a_roundtable(version=2, place=ELSEWHERE)
    assert await store.at(PLACE) is None
    assert await store.in_channel("T1", "C1") == ()


async def test_a_channel_lists_the_latest_first(store: Store) -> None:
    """Only its own roundtables, in the order in which something last happened."""
    for number, (slug, minute) in enumerate([("first", "05"), ("second", "09"), ("third", "01")]):
        place = PLACE.but(thread=f"{number}.1")
        await store.put(a_roundtable(slug, place=place, now=f"2026-11-21T10:{minute}:00.000Z"), expected=0)
    await store.put(a_roundtable("elsewhere", place=ELSEWHERE), expected=0)

    listed = await store.in_channel("T1", "C1")

    assert [one.slug for one in listed] == ["second", "first", "third"]


async def test_a_channel_may_have_more_than_a_store_remembers(
    open_store: Opening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was read before is listed with the rest."""
    monkeypatch.setattr(serialization, "REMEMBERED", 1)
    slugs = {"first", "second", "third"}
    async with open_store() as store:
        for number, slug in enumerate(slugs):
            await store.put(a_roundtable(slug, place=PLACE.but(thread=f"{number}.1")), expected=0)

        for slug in slugs:
            await store.get(slug)
            assert {one.slug for one in await store.in_channel(PLACE.team, PLACE.channel)} == slugs


async def test_who_owes_something_is_known(store: Store) -> None:
    """So that a process which starts can go on with what another one left. Paying and owing take turns."""
    await store.put(a_roundtable("owing", outbox=OWED), expected=0)
    await store.put(a_roundtable("settled"), expected=0)

    assert await store.unfinished() == ("owing",)

    for version in range(2, 6):
        outbox = OWED if version % 2 else ()
        await store.put(a_roundtable("owing", version=version, outbox=outbox), expected=version - 1)

        assert await store.unfinished() == (("owing",) if outbox else ())


async def test_the_stages_are_counted(store: Store) -> None:
    """For those who watch: how many roundtables stand where."""
    assert await store.stages() == {}
    await store.put(a_roundtable("one", stage=Stage.DISCUSSING), expected=0)
    await store.put(a_roundtable("two", stage=Stage.OPENING), expected=0)
    await store.put(a_roundtable("two", version=2, stage=Stage.DISCUSSING), expected=1)
    await store.put(a_roundtable("three", stage=Stage.PAUSED), expected=0)

    assert await store.stages() == {"discussing": 2, "paused": 1}


async def test_everything_is_found_after_a_restart(open_store: Opening) -> None:
    """What was saved survives its process, and so do the ways to find it."""
    async with open_store() as store:
        await store.put(a_roundtable(outbox=OWED), expected=0)

    async with open_store() as store:
        assert await store.get("bright-night") == a_roundtable(outbox=OWED)
        assert await store.at(PLACE) == a_roundtable(outbox=OWED)
        assert await store.unfinished() == ("bright-night",)
        assert [one.slug for one in await store.in_channel("T1", "C1")] == ["bright-night"]
        await store.put(a_roundtable(version=2), expected=1)


@given(text=st.text(), title=st.text(min_size=1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
def test_any_words_survive(open_store: Opening, text: str, title: str) -> None:
    """People write in every script, and paste anything."""

    async def there_and_back() -> None:
        async with open_store() as store:
            before = await store.get("words")
            version = before.version if before else 0
            saved = a_roundtable("words", version=version + 1, title=title, people={"U1": text})
            await store.put(saved, expected=version)
            assert await store.get("words") == saved

    asyncio.run(there_and_back())


async def test_what_is_only_tried_again_can_be_left_in_peace(store: Store) -> None:
    """It is owed, until nothing has happened for a while; what is owed besides is never left."""
    late = Commit(subject="late", late=True)
    quiet, later = "2026-11-21T10:00:00.000Z", "2026-11-21T10:00:00.001Z"
    await store.put(a_roundtable("quiet", unsaved=(late,), now=quiet), expected=0)
    await store.put(a_roundtable("lively", unsaved=(late,), now=later), expected=0)
    await store.put(a_roundtable("busy", unsaved=(late,), outbox=OWED, now=later), expected=0)

    assert sorted(await store.unfinished(quiet_since=quiet)) == ["busy", "quiet"]
    assert sorted(await store.unfinished(quiet_since=later)) == ["busy", "lively", "quiet"]
    assert sorted(await store.unfinished()) == ["busy", "lively", "quiet"]


async def test_what_is_held_in_a_thread_and_not_over_is_known(store: Store) -> None:
    """Whose threads are read when nobody listened for long."""
    await store.put(a_roundtable("going-on", stage=Stage.DISCUSSING), expected=0)
    await store.put(a_roundtable("paused", place=ELSEWHERE, stage=Stage.PAUSED), expected=0)
    await store.put(a_roundtable("over", place=PLACE.but(thread="3.3"), stage=Stage.ANALYSED), expected=0)
    await store.put(a_roundtable("nowhere-yet", place=PLACE.but(thread="")), expected=0)

    assert sorted(await store.held()) == ["going-on", "paused"]


async def test_when_something_was_last_done_is_known(open_store: Opening) -> None:
    """That a process listened, and that old things were taken out: also to the process that comes next."""
    async with open_store() as store:
        assert not await store.noted("listened")
        assert not await store.noted("expired")
        await store.note("listened", "2026-11-21T10:00:00.000Z")
        await store.note("listened", "2026-11-21T10:00:30.000Z")
        await store.note("expired", "2026-11-21T03:00:00.000Z")
        await store.note("expired", "2026-11-22T03:00:00.000Z")

    async with open_store() as store:
        assert await store.noted("listened") == "2026-11-21T10:00:30.000Z"
        assert await store.noted("expired") == "2026-11-22T03:00:00.000Z"


async def test_what_models_took_is_added_up_by_month(open_store: Opening) -> None:
    """Of all calls, also at once, and for the process that comes next."""
    async with open_store() as store:
        await asyncio.gather(*(store.month("2026-11", tokens=100, micros=7) for _ in range(10)))

    async with open_store() as store:
        assert await store.month("2026-11") == (1000, 70)
        assert await store.month("2026-12") == (0, 0)


async def test_a_key_is_first_once(open_store: Opening) -> None:
    """Also for the process that comes next, and whatever is in the key."""
    async with open_store() as store:
        assert await store.first("answered.C1.1.1", seconds=60)
        assert not await store.first("answered.C1.1.1", seconds=60)
        assert await store.first("ẞ \n:{}*", seconds=60)

    async with open_store() as store:
        assert not await store.first("answered.C1.1.1", seconds=60)
        assert await store.first("answered.C1.1.2", seconds=60)


async def test_of_many_at_once_exactly_one_is_first(store: Store) -> None:
    """Slack delivers again while the first delivery is still being worked on."""
    outcomes = await asyncio.gather(*(store.first("once", seconds=60) for _ in range(20)))

    assert outcomes.count(True) == 1


async def test_a_key_is_forgotten_in_time(store: Store) -> None:
    """It is kept for as long as somebody may come again, and no longer."""
    assert await store.first("short", seconds=0.01)
    assert await store.first("long", seconds=60)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await store.first("short", seconds=60):
            pass
    assert not await store.first("long", seconds=60)


async def test_a_key_may_be_kept_anew(store: Store) -> None:
    """It is kept for as long as was said last."""
    assert await store.first("asked", seconds=60)
    assert await store.first("asked", seconds=0.01, renew=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await store.first("asked", seconds=60):
            pass


async def test_a_timer_that_is_due_is_known(open_store: Opening) -> None:
    """Also to a process that starts days later; and nothing has to be performed before that."""
    early, late = "2026-11-21T10:00:00.000Z", "2026-11-21T10:00:00.001Z"
    async with open_store() as store:
        await store.put(a_roundtable("early", timers={"deadline": early, "roll_call": late}), expected=0)
        await store.put(a_roundtable("late", timers={"deadline": late}), expected=0)
        await store.put(a_roundtable("never"), expected=0)

        assert await store.unfinished() == ()
        assert await store.unfinished(now=early) == ("early",)

    async with open_store() as store:
        assert sorted(await store.unfinished(now=late)) == ["early", "late"]
        await store.put(a_roundtable("early", version=2), expected=1)
        await store.put(a_roundtable("late", version=2, timers={"deadline": late}, outbox=OWED), expected=1)

        assert await store.unfinished(now=late) == ("late",)


@pytest.mark.parametrize("age", ["live", "expired"])
async def test_an_item_is_forgotten_wherever_it_is_named(
    open_store: Opening, left: Callable[[], bytes], age: str
) -> None:
    """Also long after its live state has expired: where it was held is known from git."""
    over = {"stage": Stage.ANALYSED} if age == "expired" else {"outbox": OWED, "timers": {"deadline": LATER}}
    async with open_store() as store:
        await store.put(a_roundtable(**over), expected=0)
        await store.put(a_roundtable("other", place=ELSEWHERE), expected=0)
        for slug in (SLUG, "other"):
            assert await store.first(f"asked.{PLACE.key}.{slug}", seconds=60)
        if age == "expired":
            await expire(store)
        assert SLUG.encode() in left()
        await store.forget_item(SLUG, PLACE)
        assert not await store.first(f"asked.{PLACE.key}.other", seconds=60)
        assert await store.slugs() == ("other",)

    assert SLUG.encode() not in left()


async def expire(store: AnyStore) -> None:
    """As in a month."""
    if isinstance(store, RedisStore):
        await store._redis.delete(*store._keys(SLUG))
    else:
        await store.forget_finished(LATER)


async def test_an_item_is_forgotten_as_it_was_seen(store: AnyStore) -> None:
    """What somebody saved since stays."""
    await store.put(a_roundtable(), expected=0)
    await store.put(a_roundtable(version=2), expected=1)
    for seen in (0, 1, 3):
        with pytest.raises(Conflict):
            await store.forget_item(SLUG, PLACE, expected=seen)
    assert await store.get(SLUG) == a_roundtable(version=2)

    await store.forget_item(SLUG, PLACE, expected=2)
    assert await store.get(SLUG) is None
    await store.forget_item(SLUG, PLACE, expected=0)


async def test_who_people_are_in_slack_is_kept(open_store: Opening) -> None:
    """Whom one process learned of, another knows after its start."""
    async with open_store() as store:
        assert await store.users() == {}
        await store.keep_users({"p-7hq3kq2m4a": "U0ADA"})
        await store.keep_users({"p-4xk2m7qza3": "U0GRACE", "p-7hq3kq2m4a": "U0ADA"})
        await store.keep_users({})

    async with open_store() as store:
        assert await store.users() == {"p-7hq3kq2m4a": "U0ADA", "p-4xk2m7qza3": "U0GRACE"}


async def test_how_people_want_to_be_reminded_is_kept(open_store: Opening) -> None:
    """The last that they said, also for a process that starts later."""
    async with open_store() as store:
        assert await store.people() == {}
        await store.keep_person("U0ADA", ReminderSettings(time="08:00"))
        await store.keep_person("U0ADA", ReminderSettings(time="10:00", off=True))
        await store.keep_person("U0GRACE", ReminderSettings(not_before="2026-12-08"))

    async with open_store() as store:
        assert await store.people() == {
            "U0ADA": ReminderSettings(time="10:00", off=True),
            "U0GRACE": ReminderSettings(not_before="2026-12-08"),
        }
