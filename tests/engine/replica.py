"""One process of several: an engine on a real Redis, with a Slack and a workspace that are played."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.domain.messages.message import Message
from bot.domain.reviews.notice import AskReview
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person, Place
from bot.engine.commands import Commands
from bot.engine.engine import BeforeSave, nothing_before
from bot.engine.performers import Performers
from bot.engine.personal import Personal
from bot.engine.ports import NO_METER, Meter, Pay, Store, Sweep, Urgency, Voices, Wake, now
from bot.engine.roundtables import Roundtables
from bot.engine.viewing import Viewers
from bot.storage.redis import RedisStore
from tests.domain.table import Table, shipped
from tests.durability.sim_voices import SimVoices
from tests.durability.world import SimChat, SimRecords, SimWorkspace, World
from tests.sights import MEMBERS

ADA = Person(id="U1", name="Ada")


@dataclass
class Woken(Wake):
    """Who was woken; nobody pays by it."""

    slugs: list[str] = field(default_factory=list)

    async def wake(self, slug: str) -> None:
        self.slugs.append(slug)

    async def run(self, pay: Pay, sweep: Sweep | None = None) -> None:  # noqa: ARG002 -- as the port has it
        raise AssertionError("a test pays")


class Watched(SimChat):
    """*before* is told of each post, edit and reaction, with its key or time: it may wait, or refuse it."""

    def __init__(self, before: Callable[[str, str], Awaitable[None]], world: World | None = None) -> None:
        super().__init__(world or World())
        self._before = before

    async def post(
        self, place: Place, message: Message, *, key: str, again: bool, broadcast: bool = False
    ) -> str:
        await self._before("post", key)
        return await super().post(place, message, key=key, again=again, broadcast=broadcast)

    async def rewrite(
        self, place: Place, ts: str, message: Message, *, urgency: Urgency = Urgency.ANSWER
    ) -> None:
        await self._before("rewrite", ts)
        await super().rewrite(place, ts, message, urgency=urgency)

    async def react(self, place: Place, ts: str, emoji: str) -> None:
        await self._before("react", ts)
        await super().react(place, ts, emoji)


@dataclass
class Replica:
    engine: Roundtables
    store: RedisStore
    woken: Woken
    world: World

    async def stored(self, rt: Roundtable) -> Roundtable:
        found = await self.store.get(rt.slug)
        assert found
        return found


def engine_in(
    world: World,
    store: Store,
    wake: Wake,
    *,
    chat: SimChat | None = None,
    voices: Voices | None = None,
    **more: Any,
) -> Roundtables:
    """An engine whose Slack, workspace and voices are played."""
    chat, voices = chat or SimChat(world), voices or SimVoices(world)
    files, records = SimWorkspace(world), SimRecords(world)
    performers = Performers(chat, voices, files, shipped(), now, records, MEMBERS)
    return Roundtables(store=store, wake=wake, performers=performers, playbook=shipped(), clock=now, **more)


@asynccontextmanager
async def replica(
    redis_url: str,
    *,
    chat: SimChat | None = None,
    meter: Meter = NO_METER,
    voices: Voices | None = None,
    wake: Wake | None = None,
    before_save: BeforeSave = nothing_before,
) -> AsyncIterator[Replica]:
    """Replicas of one roundtable have one Redis; what Slack shows and what the workspace holds, each has of its own."""
    world, woken = World(), Woken()
    async with RedisStore(redis_url, team="T1") as store:
        engine = engine_in(
            world, store, wake or woken, chat=chat, voices=voices, meter=meter, before_save=before_save
        )
        yield Replica(engine, store, woken, world)


@asynccontextmanager
async def holding(redis_url: str, rt: Roundtable, **more: Any) -> AsyncIterator[Replica]:
    """A replica whose store has *rt*."""
    async with replica(redis_url, **more) as one:
        await one.store.put(rt, expected=0)
        yield one


def discussing() -> Table:
    """A step is open; nothing is owed."""
    return Table().start()


def said(rt: Roundtable, text: str, ts: str) -> Say:
    return Say(key=f"{rt.place.channel}.{ts}", at=now(), person=ADA, text=text, ts=ts)


def pressed(rt: Roundtable, action: str) -> Press:
    assert rt.menu, "there is a menu to press"
    return Press(
        key=f"press.{rt.menu.token}",
        at=now(),
        person=ADA,
        action=action,
        token=rt.menu.token,
        ts=rt.stands_at(rt.menu.token),
    )


def words(rt: Roundtable) -> list[str]:
    return [answer.text for answer in rt.answers]


def commands_of(one: Replica) -> Commands:
    async def no_review(_slug: str, _wish: AskReview) -> None:
        raise AssertionError("nothing is reviewed here")

    async def nothing_to_read(_slug: str, _title: str, _number: int) -> Message:
        raise AssertionError("no review is read here")

    return Commands(
        roundtables=one.engine,
        ask_review=no_review,
        read_review=nothing_to_read,
        store=one.store,
        workspace=SimWorkspace(one.world),
        records=SimRecords(one.world),
        chat=SimChat(one.world),
        playbook=shipped(),
        personal=Personal(store=one.store, chat=SimChat(one.world), playbook=shipped(), clock=now),
        viewers=Viewers(one.store, SimWorkspace(one.world), SimChat(one.world), lambda _: shipped().policy),
        secret=b"",
    )
