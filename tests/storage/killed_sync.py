"""
Kills a round with the remote before each of its steps in turn: `python -m tests.storage.killed_sync FOLDER COPIES`.

FOLDER holds `workspace` and `remote.git`. Every folder `COPIES/n` is a copy of it, in which the bot was killed before
its n-th call of something that changes a disk or starts git. The last one was not killed: it had no call left.

Without COPIES, one round in FOLDER, for others to kill: it says a word when it begins.
"""

import asyncio
import os
import shutil
import signal
import sys
import threading
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from bot.storage.remote import Sync
from tests.storage.killed import CALLS

CALLED = (CALLS - {"open"}) | {"create_reference_direct", "fork_exec", "set_target"}


def main(folder: Path, copies: Path) -> None:
    for number in count(1):
        copy = copies / str(number)
        shutil.copytree(folder, copy, symlinks=True)
        if not killed(copy, number):
            return


def killed(copy: Path, number: int) -> bool:
    child = os.fork()
    if child == 0:
        asyncio.run(sync(copy, number))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


async def sync(copy: Path, number: int) -> None:
    calls = count(1)

    def kill_at_last(_frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in CALLED and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    async def told(slug: str, paths: tuple[str, ...]) -> None:
        (copy / "told").write_text(f"{slug} {paths}")

    threading.setprofile(kill_at_last)
    sys.setprofile(kill_at_last)
    await Sync(copy / "workspace", remote=str(copy / "remote.git")).once(on_conflict=told)


if __name__ == "__main__":
    folder, *others = map(Path, sys.argv[1:])
    if others:
        main(folder, *others)
    else:
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        asyncio.run(sync(folder, 0))
