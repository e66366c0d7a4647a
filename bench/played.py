"""
Plays an analysis through the whole bot, one input at a time, and counts what each takes; prints that as JSON.

13 steps of three people with two discussions, with a model that answers at once; then one step in which more and more
answers are given. `bench.saves` runs it, for this checkout or another one.

Counted are calls of the store that write, with the bytes of each save; calls of Slack; and copies of values
(`Value.but`). All that happens until everything is performed counts for the input.
"""

import argparse
import asyncio
import inspect
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from redis.asyncio import Redis

from bench import seeds
from bot import app
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.value import Value
from bot.engine.ports import Speech, VoiceContext
from bot.storage import redis as redis_store
from bot.storage import serialization, sqlite
from bot.voices.offline import OfflineVoices
from tests.e2e.meeting import Meeting, sandbox
from tests.redis_server import running_redis_server

STEPS = (
    "00-01", "00-02", "00-03", "01-01", "01-02", "01-03", "01-04", "01-05", "01-06", "01-07", "01-08", "02-01", "02-02",
)  # fmt: skip
DISCUSSED = ("01-05", "02-01")
WHO = ("ada", "grace", "linus")
READING = frozenset(
    {"get", "at", "in_channel", "unfinished", "missing", "stages", "held", "noted", "people", "ping"}
)
QUIET_SECONDS = 0.15
AT_ONCE = 2
"""Answers of a long step: more would mostly wait for each other."""
BATCH_SECONDS = 300.0
FACTS = {"provider": "openai", "model": "canned", "tokens_in": 900, "tokens_out": 60}


@dataclass
class Tally:
    """Of one input, or of all since the start."""

    kind: str = ""
    saves: int = 0
    sizes: list[int] = field(default_factory=list)
    writes: Counter[str] = field(default_factory=Counter)
    """Other calls of the store that write, by name."""
    calls: Counter[str] = field(default_factory=Counter)
    copies: int = 0


class Counting:
    """What is counted, and whether everything is performed."""

    def __init__(self) -> None:
        self.now = Tally()
        self.done: list[Tally] = []
        self.last: Roundtable | None = None

    @asynccontextmanager
    async def input(self, kind: str, meeting: Meeting) -> AsyncIterator[None]:
        await self.settled(meeting)
        calls, self.now = len(meeting.slack.calls), Tally(kind)
        yield
        await self.settled(meeting)
        self.now.calls = Counter(one.method for one in meeting.slack.calls[calls:])
        self.done.append(self.now)
        self.now = Tally()

    async def settled(self, meeting: Meeting) -> None:
        """Everything was delivered and performed, and for a moment nothing more comes."""
        while True:
            before = len(meeting.slack.calls), self.now.saves, self.now.copies
            await meeting.slack.settled()
            await asyncio.sleep(QUIET_SECONDS)
            is_idle = self.last is None or self.last.next_effect is None
            if is_idle and before == (len(meeting.slack.calls), self.now.saves, self.now.copies):
                return

    def written(self, name: str, arguments: tuple[Any, ...]) -> None:
        states = [one for one in arguments if isinstance(one, Roundtable)]
        if not states:
            self.now.writes[name] += 1
            return
        self.last = states[0]
        self.now.saves += 1


class CountedStore:
    """A store, with every call counted that writes."""

    def __init__(self, store: Any, counting: Counting) -> None:
        self._store = store
        self._counting = counting

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name in READING or not inspect.iscoroutinefunction(method):
            return method

        async def counted(*arguments: Any, **more: Any) -> Any:
            self._counting.written(name, (*arguments, *more.values()))
            return await method(*arguments, **more)

        return counted


class CannedVoices(OfflineVoices):
    """As a model that answers at once: the host has something to say on every first answer of a step."""

    async def draft(self, cue: VoiceContext) -> Speech:
        """One question for each step."""
        asked = len(cue.roundtable.answers) == 1
        return Speech("Who waits, and for how long?" if asked else "", facts=FACTS, patches=())


def count_copies(counting: Counting) -> None:
    change = Value.but

    def counted(value: Value, /, **changes: Any) -> Value:
        counting.now.copies += 1
        return change(value, **changes)

    Value.but = counted  # type: ignore[method-assign, assignment] # seen from outside


def count_saves(counting: Counting) -> None:
    opened = app.store

    @asynccontextmanager
    async def counted(*of: Any) -> AsyncIterator[Any]:  # an older checkout has a store without a team
        async with opened(*of) as store:
            yield CountedStore(store, counting)

    app.store = counted  # type: ignore[assignment] # older ones have fewer arguments


def count_bytes(counting: Counting) -> None:
    """Of what a save writes: the state, and the parts that are new."""
    make = serialization.saving

    def counted(*given: Any) -> serialization.Save:
        save = make(*given)
        counting.now.sizes.append(len(save.state) + sum(map(len, save.added.values())))
        return save

    for module in (redis_store, sqlite):
        module.saving = counted  # type: ignore[attr-defined] # it is imported there


async def analysis(counting: Counting, folder: Path) -> None:
    async with sandbox() as slack:
        meeting = Meeting(slack, folder / "workspace", voices=CannedVoices())
        async with meeting.bot():
            async with counting.input("start", meeting):
                await meeting.start("Offline sync")
            for step_id in STEPS:
                await _step(counting, meeting, step_id)
                if step_id in DISCUSSED:
                    await _discussed(counting, meeting, step_id)
                if step_id != STEPS[-1]:
                    await _onwards(counting, meeting)
    assert len(meeting.meta["steps_completed"]) == len(STEPS)


async def _step(counting: Counting, meeting: Meeting, step_id: str) -> None:
    await meeting.seen(f"Step {step_id}:")
    for who, answer in zip(WHO, seeds.ANSWERS, strict=True):
        async with counting.input("answer", meeting):
            await meeting.say(f"{answer} ({step_id})", who=who)
    async with counting.input("finish a step", meeting):
        await meeting.finish_step()


async def _onwards(counting: Counting, meeting: Meeting) -> None:
    """At the end of a phase through the phase's menu."""
    async with counting.input("next step", meeting):
        await meeting.press("continue")
    if not meeting.menus("finish_step"):
        async with counting.input("next phase", meeting):
            await meeting.press("continue")


async def _discussed(counting: Counting, meeting: Meeting, step_id: str) -> None:
    async def said(kind: str, text: str, who: str) -> None:
        async with counting.input(kind, meeting):
            await meeting.say(text, who=who)

    async with counting.input("open a discussion", meeting):
        await meeting.press("elaborate")
        await meeting.menu("end_elaboration")
    await said("option", f"option: one queue for {step_id}", "ada")
    await said("option", "option: two queues", "grace")
    await said("position", "for A", "linus")
    await said("word in a discussion", "One queue is easier to watch at night.", "linus")
    await said("word to a persona", seeds.TO_ONE_PERSONA, "grace")
    await said("objection", f"objection: one queue of {step_id} stops when it is full", "grace")
    await said("decision", f"decision: one queue for {step_id}", "ada")
    async with counting.input("end a discussion", meeting):
        await meeting.press("end_elaboration")
        await meeting.seen(f"Elaboration Insights (Step {step_id}")


async def long_step(counting: Counting, folder: Path, sizes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    """By the number of answers in the open step: what one answer more takes. The store is Redis, which counts bytes."""
    found: dict[int, dict[str, float]] = {}
    with running_redis_server() as redis:
        async with sandbox() as slack, Redis.from_url(redis.url) as asked:
            more = {"REDIS_URL": redis.url}
            meeting = Meeting(slack, folder / "workspace", more=more)
            async with meeting.bot():
                await meeting.start("Offline sync")
                given = 0
                for size in sizes:
                    while given < size:
                        number = min(AT_ONCE, size - given)
                        await asyncio.gather(*(_answer(meeting, given + each) for each in range(number)))
                        given += number
                        await meeting.until(partial(_are_heard, meeting, given), seconds=BATCH_SECONDS)
                    await counting.settled(meeting)
                    before = await _bytes_in(asked)
                    async with counting.input(f"answer {size + 1}", meeting):
                        await _answer(meeting, given)
                        given += 1
                    last = counting.done.pop()
                    found[size] = {
                        "save": max(last.sizes),
                        "all bytes": await _bytes_in(asked) - before,
                        "saves": last.saves,
                    }
    return found


async def _answer(meeting: Meeting, number: int) -> None:
    await meeting.say(f"{seeds.ANSWERS[number % 3]} ({number})", who=WHO[number % 3])


def _are_heard(meeting: Meeting, number: int) -> bool:
    """So many words have a reaction."""
    return len({one.args.get("timestamp") for one in meeting.slack.calls_of("reactions.add")}) >= number


async def _bytes_in(redis: Redis) -> int:
    return int((await redis.info("stats"))["total_net_input_bytes"])


async def _played(folder: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
    counting = Counting()
    count_copies(counting)
    count_saves(counting)
    count_bytes(counting)
    await analysis(counting, folder / "analysis")
    found = await long_step(counting, folder / "long", sizes)
    return {"inputs": [vars(one) for one in counting.done], "sizes": found}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.played")
    parser.add_argument("sizes", type=int, nargs="+", help="numbers of answers in one step, growing")
    given = parser.parse_args()
    with TemporaryDirectory(prefix="roundtable-bench-played-", ignore_cleanup_errors=True) as folder:
        json.dump(asyncio.run(_played(Path(folder), tuple(given.sizes))), sys.stdout)


if __name__ == "__main__":
    main()
