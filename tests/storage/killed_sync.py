"""
Kills rounds with the remote: `python -m tests.storage.killed_sync FOLDER COPIES`, or with a number after it.

FOLDER holds `workspace` and `remote.git`. Every folder `COPIES/n` is a copy of it, in which the bot was killed before
its n-th call of something that changes a disk or starts git. The last one was not killed: it had no call left.

With a number, so many copies, each killed at a moment that chance chose; every other time together with what git does
at that moment in the files.
"""

import asyncio
import os
import random
import select
import shutil
import signal
import sys
import threading
import time
from itertools import count
from pathlib import Path

from bot.storage.git.sync import Sync
from tests.sealing import SEAL
from tests.storage.killed import CALLS, kill_before
from tests.unflushed import flush_nothing


def at_every_call(folder: Path, copies: Path) -> None:
    for number in count(1):
        if not killed(folder, copies / str(number), call=number):
            return


def at_random(folder: Path, copies: Path, times: int) -> None:
    began = time.monotonic()
    assert not killed(folder, copies.with_name("undisturbed"))
    longest = time.monotonic() - began
    for number in range(times):
        killed(folder, copies / str(number), seconds=random.uniform(0, longest), with_git=number % 2 == 0)


def killed(
    folder: Path, copy: Path, *, call: int = 0, seconds: float | None = None, with_git: bool = False
) -> bool:
    """In a process of its own, which is a fork so that a hundred of them take seconds."""
    shutil.copytree(folder, copy, symlinks=True)
    ended, ending = os.pipe()
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        asyncio.run(sync(copy, call))
        os._exit(0)
    os.setpgid(child, child)  # either may be first, and both mean the same
    os.close(ending)
    select.select([ended], [], [], seconds)
    os.close(ended)
    if seconds is not None:
        (os.killpg if with_git else os.kill)(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


async def sync(copy: Path, last: int) -> None:
    if last:
        killer = kill_before(last, CALLS | {"fork_exec"})
        threading.setprofile(killer)
        sys.setprofile(killer)
    await Sync(copy / "workspace", remote=str(copy / "remote.git"), seal=SEAL).once()


if __name__ == "__main__":
    flush_nothing()
    given, into, *rest = sys.argv[1:]
    if rest:
        at_random(Path(given), Path(into), int(rest[0]))
    else:
        at_every_call(Path(given), Path(into))
