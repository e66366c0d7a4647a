"""What is written down on the way, while a roundtable is paid, and what is not."""

import asyncio

import pytest
from redis import Redis

from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import Commit, Post, React, Rewrite
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import Attempted
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import now
from bot.engine.roundtables import REACTIONS_WAITING
from bot.errors import SlackError
from bot.server.metrics import Metrics
from tests.domain.table import shipped
from tests.durability.world import World
from tests.engine.replica import Replica, Watched, discussing, holding, said
from tests.patience import wait_until


def a_post(number: int) -> Post:
    return Post(id=f"post.{number}", message=Message(text=f"Post {number}"))


def an_edit(number: int) -> Rewrite:
    return Rewrite(id=f"edit.{number}", ts=f"1.{number}", message=Message(text=f"{number}"), pressed=True)


def a_reaction(number: int) -> React:
    return React(id=f"react.{number}", ts=f"1.{number}", emoji="eyes")


async def begun(one: Replica, rt: Roundtable, effect: str) -> tuple[str, int, int]:
    """How often *effect* was attempted, and in which version that stands."""
    stored = await one.stored(rt)
    return effect, next(due.attempts for due in stored.outbox if due.id == effect), stored.version


async def test_a_post_is_begun_in_the_store_before_it_reaches_slack(redis_url: str) -> None:
    seen = []

    async def look(_kind: str, key: str) -> None:
        seen.append(await begun(one, rt, key))

    rt = discussing().rt.but(outbox=(a_post(1), a_post(2), a_post(3)), version=1)
    async with holding(redis_url, rt, chat=Watched(look)) as one:
        await one.engine.pay(rt.slug)

        assert seen == [("post.1", 1, 2), ("post.2", 1, 4), ("post.3", 1, 6)]
        ended = await one.stored(rt)
        assert (ended.outbox, ended.version) == ((), 7)


class Slow(Watched):
    """An edit lasts until the test ends it."""

    def __init__(self) -> None:
        super().__init__(self._wait)
        self.edits: list[str] = []
        self.may_end = asyncio.Event()

    async def _wait(self, kind: str, ts: str) -> None:
        if kind == "rewrite":
            self.edits.append(ts)
            await self.may_end.wait()


async def test_what_is_said_during_a_payment_is_paid_with_it(redis_url: str) -> None:
    """Nobody has to be woken for that; nothing is lost, and nothing is done twice."""
    chat = Slow()
    rt = discussing().rt.but(outbox=(an_edit(1),), version=1)
    async with holding(redis_url, rt, chat=chat) as one:
        paying = asyncio.create_task(one.engine.pay(rt.slug))
        await wait_until(lambda: chat.edits)
        for number in (2, 3):
            await one.engine.hear(rt.place, said(rt, f"word {number}", f"1.{number}"))
        chat.may_end.set()
        await paying

        assert one.woken.slugs == []
        assert (await one.stored(rt)).outbox == ()
        assert chat.edits.count("1.1") == 1


async def test_what_is_said_when_a_payment_cannot_go_on_wakes_somebody(redis_url: str) -> None:
    """The process is about to end: another one pays."""
    chat = Slow()
    rt = discussing().rt.but(outbox=(an_edit(1), a_post(2)), version=1)
    async with holding(redis_url, rt, chat=chat) as one:
        paying = asyncio.create_task(one.engine.pay(rt.slug))
        await wait_until(lambda: chat.edits)
        await one.engine.hear(rt.place, said(rt, "meanwhile", "1.2"))
        one.engine.leave()
        chat.may_end.set()
        await asyncio.wait({paying})

        assert paying.cancelled()
        assert one.woken.slugs == [rt.slug]
        left = await one.stored(rt)
        assert left.next_effect == a_post(2)


async def test_nothing_waits_for_reactions_and_too_many_are_dropped(redis_url: str) -> None:
    """Thirty answers while Slack takes no reaction: the post behind them comes at once, and ten are never shown."""
    asked, world = [], World()

    async def hang(kind: str, ts: str) -> None:
        if kind == "react":
            asked.append(ts)
            await asyncio.Event().wait()

    reactions = [a_reaction(number) for number in range(1, 31)]
    rt = discussing().rt.but(outbox=(*reactions, a_post(31)), version=1)
    async with holding(redis_url, rt, chat=Watched(hang, world)) as one:
        await one.engine.pay(rt.slug)

        assert (await one.stored(rt)).outbox == ()
        assert [post.key for post in world.thread] == ["post.31"]
        await wait_until(lambda: len(asked) == REACTIONS_WAITING)
        one.engine.leave()


async def test_a_reaction_that_is_refused_tells_that_the_bot_was_removed(redis_url: str) -> None:
    """In an open step nothing is posted: perhaps for days nothing else would be refused."""

    async def refuse(_kind: str, _ts: str) -> None:
        raise SlackError("No.", reason="not_in_channel")

    rt = discussing().rt.but(outbox=(), version=1)
    async with holding(redis_url, rt, chat=Watched(refuse)) as one:
        await one.engine.hear(rt.place, said(rt, "Edits get lost.", "1.1"))
        await wait_until(lambda: one.engine._memory[rt.slug].stage is Stage.PAUSED)


async def test_every_attempt_at_a_post_is_written_down(redis_url: str) -> None:
    """Whoever dies in the second one leaves word of that, not of the first one long ago, which has ended."""
    seen = []

    async def hesitate(_kind: str, key: str) -> None:
        seen.append(await begun(one, rt, key))
        if len(seen) == 1:
            raise SlackError("Slack did not answer.", reason="timeout", again=True, after_seconds=0.01)

    rt = discussing().rt.but(outbox=(a_post(1),), version=1)
    async with holding(redis_url, rt, chat=Watched(hesitate)) as one:
        await one.engine.pay(rt.slug)

        assert seen == [("post.1", 1, 2), ("post.1", 2, 3)]
        assert (await one.stored(rt)).outbox == ()


async def test_whoever_goes_on_after_a_stop_waits_for_those_who_went_on_without_it(redis_url: str) -> None:
    """An attempt of somebody else's may still land: only our own are known to have ended."""
    waits: list[str] = []

    async def stop(_kind: str, key: str) -> None:
        """The first attempt is in a process that is stopped: another one begins meanwhile, and the first goes on."""
        found = await one.stored(rt)
        if waits:
            waits.extend(due.attempted_before for due in found.outbox if due.id == key)
            return
        begins = decide(found, Attempted(key=key, at=now(), effect=key), shipped())
        await one.store.put(begins.but(version=found.version + 1), expected=found.version)
        waits.append("stopped")
        raise SlackError("The bot was stopped.", reason="stopped", again=True, after_seconds=0.01)

    rt = discussing().rt.but(outbox=(a_post(1),), version=1)
    async with holding(redis_url, rt, chat=Watched(stop)) as one:
        await one.engine.pay(rt.slug)

    assert waits[0] == "stopped"
    assert waits[1], "when the other attempt was begun is known, so that it is waited for"


async def test_a_mistake_of_ours_in_one_effect_silences_nothing_else(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is in the log with a traceback, and counted; what follows it is paid."""

    async def mistake(kind: str, ts: str) -> None:
        if kind == "rewrite":
            raise KeyError(ts)

    metrics, world = Metrics("T1"), World()
    edit = Rewrite(id="rewrite.1", ts="1.1", message=Message(text="Used"))
    rt = discussing().rt.but(outbox=(edit, a_post(1)), version=1)
    async with holding(redis_url, rt, chat=Watched(mistake, world), meter=metrics) as one:
        await one.engine.pay(rt.slug)

        assert (await one.stored(rt)).outbox == ()
    assert [post.key for post in world.thread] == ["post.1"]
    assert "rewrite broke" in caplog.text
    assert "KeyError" in caplog.text
    assert b'roundtable_effects_total{kind="rewrite",outcome="broke",team="T1"} 1.0' in metrics.exposed()


async def test_what_could_not_be_saved_is_tried_again_after_a_while(redis_url: str) -> None:
    """The sweep finds it, and it is paid although nobody has said a word since."""
    rt = discussing().rt.but(
        outbox=(), unsaved=(Commit(subject="roundtable(offline-sync): late", late=True),), version=1
    )
    async with holding(redis_url, rt.but(now="2026-01-01T00:00:00.000Z")) as one:
        await one.engine.sweep()
        await one.engine.pay(rt.slug)

        assert one.woken.slugs[0] == rt.slug
        assert (await one.stored(rt)).unsaved == ()
        assert [made.subject for made in one.world.made] == ["roundtable(offline-sync): late"]


async def test_what_could_not_be_saved_just_now_is_left_in_peace(redis_url: str) -> None:
    """A full disk is not asked every few seconds."""
    late = Commit(subject="roundtable(offline-sync): late", late=True)
    rt = discussing().rt.but(outbox=(), unsaved=(late,), version=1, now=now())
    async with holding(redis_url, rt) as one:
        await one.engine.pay(rt.slug)

        assert (await one.stored(rt)).unsaved == (late,)


async def test_nobody_is_woken_for_what_is_not_due_yet(redis_url: str) -> None:
    """However often somebody looks; who owes something else as well is woken at once."""
    late = Commit(subject="roundtable(offline-sync): late", late=True)
    rt = discussing().rt.but(outbox=(), unsaved=(late,), version=1, now=now())
    async with holding(redis_url, rt) as one:
        await one.engine.sweep()
        assert one.woken.slugs == []

        await one.store.put(rt.but(version=2, outbox=(a_post(1),)), expected=1)
        await one.engine.sweep()
        assert one.woken.slugs == [rt.slug]


async def test_what_the_store_has_lost_is_taken_up_without_a_word(redis_url: str) -> None:
    """This process remembers that it was going on; what comes next is read from git and from the thread."""
    rt = discussing().rt.but(outbox=(), version=1)
    async with holding(redis_url, rt) as one:
        await one.engine.handle(rt.slug, said(rt, "For field work.", ts="9000000.1"))
        with Redis.from_url(redis_url) as client:
            client.flushall()
        await one.engine.sweep()

        lost = await one.stored(rt)
        assert lost.place == rt.place
        assert lost.incarnation != rt.incarnation
        assert [effect.kind for effect in lost.outbox][-1] == "read_item"


async def test_what_is_over_or_stopped_is_not_taken_up(redis_url: str) -> None:
    """Nobody waits for it; whoever does says so."""
    rt = discussing().stop().rt.but(outbox=(), version=1)
    async with holding(redis_url, rt) as one:
        await one.engine.handle(rt.slug, said(rt, "Thank you.", ts="9000000.1"))
        with Redis.from_url(redis_url) as client:
            client.flushall()
        await one.engine.sweep()

        assert await one.store.get(rt.slug) is None
