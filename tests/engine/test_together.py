"""Personas open a discussion at the same time, and are heard in order."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import ShareRecord, Speak
from bot.domain.roundtable.inputs import Export, Stop
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import TurnSpeech, VoiceContext, now
from bot.engine.roundtables import OPENING_SECONDS, Roundtables
from bot.errors import VoiceError
from tests.domain.table import Table, shipped
from tests.durability.sim_voices import SimVoices
from tests.durability.world import SimStore, SimWake, World
from tests.engine.replica import ADA, engine_in, pressed

CALL_SECONDS = 2.0


class ScriptedTime(selectors.DefaultSelector):
    """A loop that would wait goes on at once, and its clock has moved."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found and timeout:
            self.seconds += timeout
        return found


class ScriptedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._scripted = ScriptedTime()
        super().__init__(self._scripted)

    def time(self) -> float:
        return self._scripted.seconds


async def passed(seconds: float) -> None:
    """By the scripted clock: no real time."""
    over = asyncio.Event()
    asyncio.get_running_loop().call_later(seconds, over.set)
    await over.wait()


class SlowVoices(SimVoices):
    """Every call takes two seconds; *longer* ones more. What ended, and what did not, is remembered."""

    def __init__(self, world: World, *, longer: dict[str, float] | None = None, broken: str = "") -> None:
        super().__init__(world)
        self.longer = longer or {}
        self.broken = broken
        self.asked: list[str] = []
        self.left: list[str] = []

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        return await self._slow(cue, await super().turn(cue, asked))

    async def _slow(self, cue: VoiceContext, speech: TurnSpeech) -> TurnSpeech:
        self.asked.append(cue.persona)
        try:
            await passed(self.longer.get(cue.persona, CALL_SECONDS))
        except asyncio.CancelledError:
            self.left.append(cue.persona)
            raise
        if cue.persona == self.broken:
            raise VoiceError("It broke.", reason="refused")
        return speech._replace(facts={"provider": "scripted", "tokens_in": 10, "tokens_out": 1})


class Meeting:
    """A discussion on the real engine, in a world without waits but those of voices."""

    def __init__(self, **slow: Any) -> None:
        self.world = World()
        self.voices = SlowVoices(self.world, **slow)
        self.engine = self.process()

    def process(self) -> Roundtables:
        return engine_in(self.world, SimStore(self.world), SimWake(self.world), voices=self.voices)

    async def begin(self) -> Roundtable:
        return await self.held(Table().start().do_step().stop_paying().press(Action.ELABORATE), "speak")

    async def held(self, table: Table, before: str) -> Roundtable:
        rt = table.pay_up_to(before).rt
        await SimStore(self.world).put(rt.but(version=1), expected=0)
        return rt

    @property
    def rt(self) -> Roundtable:
        (found,) = self.world.store.values()
        return found

    async def pay(self) -> float:
        """How long it took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await self.engine.pay(self.rt.slug)
        return loop.time() - began


def scripted(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    """In which only the clock of the loop passes."""

    @wraps(test)
    def run() -> None:
        with asyncio.Runner(loop_factory=ScriptedLoop) as runner:
            runner.run(test())

    return run


def speakers(rt: Roundtable) -> list[str]:
    return [turn.by for turn in rt.debate.turns]


def posted(world: World) -> list[str]:
    return [post.message.speaker for post in world.thread if post.message.speaker]


@scripted
async def test_an_opening_takes_no_longer_than_one_call() -> None:
    """And so does an answer of everybody, which is one call."""
    held = Meeting()
    await held.begin()
    first = await held.pay()
    await held.engine.handle(held.rt.slug, pressed(held.rt, Action.ASK_ALL))
    second = await held.pay()

    size = len(shipped().roster)
    assert first == pytest.approx(CALL_SECONDS)
    assert second == pytest.approx(CALL_SECONDS)
    assert len(held.voices.asked) == size + 1
    assert held.rt.debate.turn_count == 2 * size


@scripted
async def test_who_is_slow_is_heard_in_turn() -> None:
    """Within 20 seconds: the order of turns, posts and lines is the lead's first, and costs are counted once each."""
    held = Meeting(longer={"business-analyst": 9.0})
    await held.begin()
    assert await held.pay() == pytest.approx(9.0)

    after = held.rt
    assert speakers(after) == held.voices.asked
    assert posted(held.world)[-3:] == held.voices.asked
    lines = [line for line in after.lines if "turn_id" in line.meta]
    assert [line.meta["tokens_in"] for line in lines] == [10, 10, 10]
    assert after.purse.spent.tokens_in == 30


@scripted
async def test_after_twenty_seconds_those_who_are_there_are_heard() -> None:
    """Nobody waits for the slow one, whose words come after theirs."""
    lead = "business-analyst"
    held = Meeting(longer={lead: 50.0})
    await held.begin()
    paying = asyncio.create_task(held.engine.pay(held.rt.slug))
    await passed(OPENING_SECONDS - 1)
    early = speakers(held.rt)
    await passed(2)
    heard = speakers(held.rt)
    await paying

    assert early == []
    assert heard == held.voices.asked[1:]
    assert speakers(held.rt) == [*heard, lead]


@scripted
async def test_who_asks_for_something_else_does_not_wait_for_models() -> None:
    """It is done a second later."""
    held = Meeting(longer={one.key: 50.0 for one in shipped().roster})
    await held.begin()
    paying = asyncio.create_task(held.engine.pay(held.rt.slug))
    await passed(1)
    await held.engine.handle(held.rt.slug, Export(key="wish", at=now(), person=ADA))
    assert held.rt.has_pending(ShareRecord)
    await passed(1)
    assert held.rt.has_pending(Speak)
    assert not held.rt.has_pending(ShareRecord)
    await paying


@scripted
async def test_one_who_fails_does_not_silence_the_others() -> None:
    """It is passed over."""
    held = Meeting(broken="solutions-architect")
    await held.begin()
    await held.pay()

    assert set(held.voices.asked) - set(speakers(held.rt)) == {"solutions-architect"}
    assert not held.rt.outbox


@scripted
async def test_a_stop_ends_all_of_them() -> None:
    """No call goes on for a thread that is stopped, and nothing of them is posted."""
    held = Meeting()
    await held.begin()
    paying = asyncio.create_task(held.engine.pay(held.rt.slug))
    await passed(CALL_SECONDS / 2)
    asked = held.voices.asked
    await held.engine.handle(held.rt.slug, Stop(key="wish", at=now(), person=ADA))
    await paying

    assert len(asked) > 1
    assert sorted(held.voices.left) == sorted(asked)
    assert held.rt.stage is Stage.PAUSED
    assert not held.rt.has_pending(Speak)
    assert held.rt.debate.turn_count == 0


@scripted
async def test_after_a_crash_only_what_is_not_saved_is_asked_again() -> None:
    """The process ends when one answer is saved and the other is not."""
    slow = shipped().roster.others(shipped().roster.lead_of("concept")[0].key)[-1].key
    held = Meeting(longer={slow: 60.0})
    await held.begin()
    paying = asyncio.create_task(held.engine.pay(held.rt.slug))
    await passed(OPENING_SECONDS + 1)
    paying.cancel()
    await asyncio.wait({paying})
    saved = speakers(held.rt)
    left = [one.persona for one in held.rt.outbox if isinstance(one, Speak)]
    held.voices.longer, held.voices.asked = {}, []
    held.engine = held.process()
    await held.pay()

    assert left == held.voices.asked == held.voices.left == [slow]
    assert speakers(held.rt) == [*saved, slow]
    assert posted(held.world)[-3:] == speakers(held.rt)
