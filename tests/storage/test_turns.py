"""How bots queue for the workspace: in the system's own queue, each in its turn."""

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from threading import enumerate as threads

import pytest

from bot.errors import WorkspaceError
from bot.storage.git.lock import WorkspaceLock
from tests.patience import PATIENCE_SECONDS, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who waits for a lock")

WAITERS = 3
HOLD_AND_SAY_SO = """
import pathlib, sys, time
from bot.storage.git.lock import WorkspaceLock
with WorkspaceLock(pathlib.Path(sys.argv[1])).taken("an item", locks=()):
    print("mine", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / ".roundtable"


def queued(state: Path) -> int:
    """How many wait for a lock in *state*, as the kernel tells it."""
    inodes = {file.stat().st_ino for file in state.iterdir()}
    rows = (row.split() for row in Path("/proc/locks").read_text().splitlines())
    return sum(row[1] == "->" and int(row[6].split(":")[2]) in inodes for row in rows)


def helpers() -> int:
    return sum(thread.name == "workspace lock" for thread in threads())


def a_turn(state: Path, name: str, order: list[str]) -> None:
    with WorkspaceLock(state, seconds=PATIENCE_SECONDS).taken(name, locks=()):
        order.append(name)


def a_flush(state: Path) -> None:
    with (state / "written").open("wb") as file:
        file.write(b"x")
        os.fsync(file.fileno())


@contextmanager
def held_by_a_thread(state: Path, pool: ThreadPoolExecutor) -> Iterator[Event]:
    """Until the event is set, or at the end."""
    holds, may_go = Event(), Event()

    def hold() -> None:
        with WorkspaceLock(state).taken("held", locks=()):
            holds.set()
            may_go.wait(PATIENCE_SECONDS)

    holding = pool.submit(hold)
    try:
        assert holds.wait(PATIENCE_SECONDS)
        yield may_go
    finally:
        may_go.set()
        holding.result()


@contextmanager
def another_bot(state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Takes the lock and keeps it until it is killed."""
    with subprocess.Popen([sys.executable, "-c", HOLD_AND_SAY_SO, state], stdout=subprocess.PIPE) as bot:
        try:
            yield bot
        finally:
            bot.kill()


async def test_the_first_that_waits_is_the_next(state: Path) -> None:
    """
    Also when the bot that lets go asks again at once, while the others have not even woken up. It may be quicker than
    the second one to the gate, once.
    """
    order: list[str] = []
    waiting: list[Future[None]] = []
    with ThreadPoolExecutor(WAITERS) as pool:
        again = WorkspaceLock(state, seconds=PATIENCE_SECONDS)
        with again.taken("first", locks=()):
            for number in range(WAITERS):
                waiting.append(pool.submit(a_turn, state, f"waiter {number}", order))
                await wait_until(lambda: queued(state) == len(waiting))
        with again.taken("again", locks=()):
            order.append("again")
        for one in waiting:
            one.result()

    assert order[0] == "waiter 0"
    assert [one for one in order if one != "again"] == [f"waiter {number}" for number in range(WAITERS)]


async def test_who_gives_up_leaves_nothing_behind(state: Path) -> None:
    """However often it asked; and when the lock is let go, it goes to those who still want it."""
    with ThreadPoolExecutor(2) as pool:
        with held_by_a_thread(state, pool) as may_go:
            impatient = WorkspaceLock(state, seconds=0.01)
            for _ in range(5):
                with (
                    pytest.raises(WorkspaceError, match="does not let go") as refused,
                    impatient.taken("x", locks=()),
                ):
                    pass
            assert (refused.value.reason, refused.value.again) == ("locked", True)
            assert helpers() == queued(state) == 1
            order: list[str] = []
            patient = pool.submit(a_turn, state, "patient", order)
            await wait_until(lambda: queued(state) == 2)
            may_go.set()
            patient.result()
        await wait_until(lambda: helpers() == 0)

        with WorkspaceLock(state, seconds=0).taken("free at once", locks=()):
            assert queued(state) == 0


async def test_who_gave_up_and_asks_again_has_kept_its_place(state: Path) -> None:
    with ThreadPoolExecutor(3) as pool, held_by_a_thread(state, pool) as may_go:
        lock = WorkspaceLock(state, seconds=0.01)
        with pytest.raises(WorkspaceError), lock.taken("gives up", locks=()):
            pass
        lock._seconds = PATIENCE_SECONDS
        order: list[str] = []

        def ask_again() -> None:
            with lock.taken("again", locks=()):
                order.append("first")

        second = pool.submit(a_turn, state, "second", order)
        await wait_until(lambda: queued(state) == 2)
        first = pool.submit(ask_again)
        await wait_until(lambda: lock._queue._is_wanted)
        may_go.set()
        first.result()
        second.result()

    assert order == ["first", "second"]


async def test_a_kill_of_the_one_that_holds_it_lets_go(state: Path) -> None:
    """The next one gets the turn, and is told what was being written."""

    def left_behind() -> str:
        with WorkspaceLock(state, seconds=PATIENCE_SECONDS).taken("next", locks=()) as left:
            return left

    with another_bot(state) as holder, ThreadPoolExecutor(1) as pool:
        assert holder.stdout
        assert holder.stdout.readline() == b"mine\n"
        waiting = pool.submit(left_behind)
        await wait_until(lambda: queued(state) == 1)
        holder.kill()

        assert waiting.result() == "an item"


async def test_a_kill_of_one_that_waits_holds_up_no_other(state: Path) -> None:
    """It was the next one, so the others wait behind it."""
    order: list[str] = []
    with ThreadPoolExecutor(2) as pool, held_by_a_thread(state, pool) as may_go:
        with another_bot(state) as next_one:
            await wait_until(lambda: queued(state) == 1)
            behind = pool.submit(a_turn, state, "behind it", order)
            await wait_until(lambda: queued(state) == 2)
            next_one.kill()
        await wait_until(lambda: queued(state) == 1)
        may_go.set()
        behind.result()

    assert order == ["behind it"]


async def test_of_those_who_want_it_all_the_time_none_is_overtaken_many_times(state: Path) -> None:
    """Between asking and getting it, no other gets many turns. When it was polled, one got all of its turns first."""
    bots, turns = 4, 40
    got: list[int] = []
    overtaken: list[int] = []

    def want(who: int) -> None:
        lock = WorkspaceLock(state, seconds=PATIENCE_SECONDS)
        for _ in range(turns):
            asked = len(got)
            with lock.taken(str(who), locks=()):
                since = got[asked:]
                got.append(who)
                overtaken.append(max((since.count(other) for other in set(since)), default=0))
                a_flush(state)

    with ThreadPoolExecutor(bots) as pool:
        for one in [pool.submit(want, who) for who in range(bots)]:
            one.result()

    assert len(got) == bots * turns
    assert max(overtaken) < turns // 2, sorted(overtaken)
