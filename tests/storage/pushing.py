"""
A bot with a clone of its own, killed now and then: `python -m tests.storage.pushing WORKSPACE REMOTE COMMITS KILLS`.

Each life goes on after the last commit that the one before it said was made. Only the bot is killed: a git that it
runs lives on, as when a machine is short of memory.
"""

import asyncio
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.samples import NOW, a_commit
from tests.unflushed import flush_nothing

SHARED = "shared-item"
ROUNDS = 5
LIFE_SECONDS = (0.02, 0.4)


def main(root: Path, remote: str, commits: int, kills: int) -> None:
    flush_nothing()
    done = 0
    for life in range(kills + 1):
        seconds = random.uniform(*LIFE_SECONDS) if life < kills else None
        done = live(root, remote, range(done, commits), seconds=seconds)


def live(root: Path, remote: str, numbers: range, *, seconds: float | None) -> int:
    """The number of the first commit that is not known to be made."""
    said, saying = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(said)
        asyncio.run(work(root, remote, numbers, saying))
        os._exit(0)
    os.close(saying)
    done = numbers.start + heard(said, seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return done


def heard(said: int, seconds: float | None) -> int:
    """How many commits were said to be made within *seconds*, or until it ended."""
    until = None if seconds is None else time.monotonic() + seconds
    found = 0
    with os.fdopen(said, "rb", 0) as pipe:
        while True:
            left = None if until is None else max(until - time.monotonic(), 0)
            ready, _, _ = select.select([pipe], [], [], left)
            if not ready or not (word := pipe.read(1)):
                return found
            found += len(word)


async def work(root: Path, remote: str, numbers: range, saying: int) -> None:
    """Commits to an item of its own, and to one that all have, while the remote is kept up with."""
    name = root.name
    sync = Sync(root, remote=remote, every_seconds=0.1, seal=SEAL)
    async with GitWorkspace(root, lock_seconds=20, after_commit=sync.wake, seal=SEAL) as workspace:
        syncing = asyncio.create_task(sync.run())
        for number in numbers:
            slug = SHARED if number % 3 == 0 else f"item-of-{name}"
            made = a_commit(number, id=f"{slug}.{name}.{number}", subject=f"{name} {number}", edits=())
            lines = tuple(line.but(meta={"message_id": f"{name}.{number}"}) for line in made.lines)
            await workspace.commit(slug, made.but(lines=lines), now=NOW)
            os.write(saying, b".")
        syncing.cancel()
        await asyncio.wait({syncing})
        for _ in range(ROUNDS):
            if await sync.once() == SyncResult.NOTHING:
                return
        raise AssertionError("there is always something to push")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
