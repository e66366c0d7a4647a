"""What a save writes does not grow with what was said before."""

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from bot.cli.scrub import scrub_state
from bot.domain.privacy.redaction import Redactor
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.state import Answer, Roundtable
from bot.storage.serialization import saving
from tests.contracts.conftest import AnyStore, Opening
from tests.contracts.test_state_scrub import TOKEN, leaky
from tests.domain.table import Table, shipped
from tests.storage.samples import a_line

FEW, SOME, ENOUGH, MANY = 30, 30, 120, 250
"""Answers."""
SAVES = 3
"""Of an answer."""
MOST_STATE_BYTES, MOST_BYTES_OF_AN_ANSWER = 40_000, 30
MOST_TIMES = 1.2


@pytest.fixture
def written(request: pytest.FixtureRequest) -> Iterator[Callable[[], int]]:
    """How many bytes were written so far: to files, or to Redis, with its commands."""
    if request.node.callspec.params["open_store"] == "redis":
        with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
            yield lambda: int(client.info("stats")["total_net_input_bytes"])
        return
    yield written_by_this_process


def written_by_this_process() -> int:
    facts = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return next(int(fact.split()[1]) for fact in facts if fact.startswith("wchar"))


def answered(rt: Roundtable, number: int) -> Iterator[Roundtable]:
    """What an answer adds to a step, and a post that says so: it is queued, attempted, and posted."""
    ts = f"{number}.1"
    words = f"Answer {number}: edits get lost when the network is away for an hour."
    rt = rt.but(
        answers=(*rt.answers, Answer(person="ada", text=words, ts=ts)),
        lines=(*rt.lines, a_line(f"C1.{ts}", words)),
        seen=(*rt.seen, f"C1.{ts}")[-FEW:],
    )
    assert rt.card
    queued = rt.queueing(Post(message=rt.card.message))
    yield queued
    yield queued.but(outbox=tuple(one.but(attempts=1) for one in queued.outbox if isinstance(one, Post)))
    yield queued.but(outbox=())


async def saved_step(store: AnyStore, answers: int, written: Callable[[], int]) -> list[int]:
    """The bytes of each save in a step with so many answers."""
    rt = Table(shipped()).start().say("Edits get lost.").rt.but(slug=f"step-of-{answers}", version=1)
    await store.put(rt, expected=0)
    sizes = []
    for number in range(answers):
        for after in answered(rt, number):
            before, rt = written(), after.but(version=rt.version + 1)
            await store.put(rt, expected=rt.version - 1)
            sizes.append(written() - before)
    assert await store.get(rt.slug) == rt
    return sizes


async def test_a_save_in_a_long_step_writes_as_much_as_in_a_short_one(
    store: AnyStore, written: Callable[[], int]
) -> None:
    """As soon as it remembers as many keys as it ever does: of this roundtable, those of few answers."""
    sizes = await saved_step(store, MANY, written)
    short, long = sizes[FEW * SAVES : (FEW + SOME) * SAVES], sizes[-SOME * SAVES :]

    assert statistics.median(long) <= MOST_TIMES * statistics.median(short)
    assert statistics.mean(long) <= MOST_TIMES * statistics.mean(short)


@pytest.mark.parametrize("words", ["", "decision: "])
def test_the_state_of_a_long_step_is_small(words: str) -> None:
    """What was said, the entries and the effects are parts, which are written once; of an answer it has the key."""
    table, sizes = Table(shipped()).start(), []
    for number in range(ENOUGH):
        table.say(f"{words}use queue {number} for edits that wait longer than an hour")
        if number + 1 in {FEW, ENOUGH}:
            save = saving(table.rt, None)
            sizes.append(len(save.state))
            assert len(save.added) > 3 * number

    assert sizes[1] - sizes[0] < (ENOUGH - FEW) * MOST_BYTES_OF_AN_ANSWER
    assert sizes[1] < MOST_STATE_BYTES


async def test_a_meeting_is_read_as_it_was_saved_by_a_process_that_starts(open_store: Opening) -> None:
    """After any number of its saves."""
    table = Table(shipped()).start()
    states = [table.rt.but(version=1)]
    for words in ("Edits get lost.", "decision: use a queue", "It is offline for hours."):
        for rt in (table.say(words).rt, table.do_step(words).rt, table.press_continue().rt):
            states.append(rt.but(version=len(states) + 1))
    for last in range(0, len(states), 3):
        async with open_store() as store:
            for rt in states[last : last + 3]:
                await store.put(rt, expected=rt.version - 1)
        async with open_store() as store:
            assert await store.get(rt.slug) == rt
            assert await store.at(rt.place) == rt


async def test_a_scrubbed_secret_is_nowhere(open_store: Opening, left: Callable[[], bytes]) -> None:
    """Neither in the state nor in its parts, nor in what was stored before."""
    rt = leaky().rt.but(version=1)
    async with open_store() as store:
        await store.put(rt, expected=0)
        for version in (2, 3):
            rt = rt.but(version=version, title=f"Sync {TOKEN} {version}")
            await store.put(rt, expected=version - 1)
    assert TOKEN.encode() in left()
    async with open_store() as store:
        assert await scrub_state(store, rt.slug, Redactor())
    assert TOKEN.encode() not in left()


async def test_what_the_newest_value_has_no_more_is_gone(
    open_store: Opening, left: Callable[[], bytes]
) -> None:
    """It was committed, or taken back."""
    leaking = leaky().rt.but(version=1)
    clean = Table(shipped()).start().rt.but(version=2, slug=leaking.slug, incarnation=leaking.incarnation)
    async with open_store() as store:
        await store.put(leaking, expected=0)
    assert TOKEN.encode() in left()
    async with open_store() as store:
        assert await store.get(leaking.slug) == leaking
        await store.put(clean, expected=1)
    assert TOKEN.encode() not in left()
