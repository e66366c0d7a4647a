"""Whoever stops does not wait for a model that nobody listens to any more."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Mute, Stop
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import TurnSpeech, VoiceContext, now
from bot.voices.offline import OfflineVoices
from tests.domain.table import Table
from tests.engine.replica import ADA, Replica, holding, replica, said
from tests.patience import PATIENCE_SECONDS


class Pondering(OfflineVoices):
    """Thinks until it is let go, and remembers whether it was left alone."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self.left = False

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        await self.ponder()
        return await super().turn(cue, asked)

    async def ponder(self) -> None:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.left = True
            raise


def about_to_answer() -> Roundtable:
    table = Table().start().elaborate().stop_paying().say("Alex, what about conflicts?")
    return table.pay_up_to("speak").rt.but(version=1)


async def while_it_thinks(one: Replica, voices: Pondering, act: Callable[[], Awaitable[object]]) -> None:
    """Somebody does something meanwhile, and everything is paid."""
    rt = about_to_answer()
    await one.store.put(rt, expected=0)
    paying = asyncio.create_task(one.engine.pay(rt.slug))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await voices.begun.wait()
        await act()
        await paying


@pytest.mark.parametrize("wish", ["stop", "mute"])
async def test_it_is_left_alone_at_once(redis_url: str, wish: str) -> None:
    """The thread says that it is stopped, or silent, as if nobody had been asked."""
    voices, rt = Pondering(), about_to_answer()
    commands: dict[str, Stop | Mute] = {
        "stop": Stop(key="wish", at=now(), person=ADA),
        "mute": Mute(key="wish", at=now(), person=ADA, muted=True),
    }
    async with replica(redis_url, voices=voices) as one:
        await while_it_thinks(one, voices, lambda: one.engine.handle(rt.slug, commands[wish]))
        after = await one.stored(rt)

    assert voices.left
    assert after.outbox == ()
    assert after.stage is (Stage.PAUSED if wish == "stop" else Stage.ELABORATING)
    assert after.debate.turn_count == rt.debate.turn_count


async def test_other_news_does_not_disturb_it(redis_url: str) -> None:
    """Its answer is heard, and what was said meanwhile is for the next round."""
    voices, rt = Pondering(), about_to_answer()
    async with replica(redis_url, voices=voices) as one:

        async def spoken() -> None:
            after = await one.engine.handle(rt.slug, said(rt, "And who pays?", "1767300000.000100"))
            assert after.has_pending(Speak)
            voices.go.set()

        await while_it_thinks(one, voices, spoken)
        after = await one.stored(rt)

    assert not voices.left
    assert not after.debate.turns[-1].human


async def test_leaving_ends_it_and_hands_it_over(redis_url: str) -> None:
    """A process that stops does not wait for it either; whoever goes on asks again."""
    voices, rt = Pondering(), about_to_answer()
    async with holding(redis_url, rt, voices=voices) as one:
        paying = asyncio.create_task(one.engine.pay(rt.slug))
        async with asyncio.timeout(PATIENCE_SECONDS):
            await voices.begun.wait()
            paying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await paying
        after = await one.stored(rt)

    assert voices.left
    assert after.has_pending(Speak)
