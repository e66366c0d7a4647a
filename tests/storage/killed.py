"""
Kills a commit before each of its steps in turn: `python -m tests.storage.killed WORKSPACE COPIES`.

Every folder `COPIES/n` is a copy of WORKSPACE in which the second commit of the item was killed before its n-th call
of something that changes a disk. The last one was not killed: it had no call left.
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

from bot.storage.git import GitWorkspace
from tests.storage.samples import NOW, SLUG, a_commit

CALLS = {
    "create_blob",
    "create_commit",
    "fsync",
    "git_index_write",
    "mkdir",
    "open",
    "replace",
    "unlink",
    "write",
}


def main(workspace: Path, copies: Path) -> None:
    for number in count(1):
        copy = copies / str(number)
        shutil.copytree(workspace, copy)
        if not killed(copy, number):
            return


def killed(copy: Path, number: int) -> bool:
    """In a process of its own, which is a fork so that a hundred of them take seconds."""
    child = os.fork()
    if child == 0:
        asyncio.run(commit(copy, number))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


async def commit(copy: Path, number: int) -> None:
    calls = count(1)
    opened = False

    def kill_at_last(_frame: FrameType, event: str, called: Any) -> None:
        if opened and event == "c_call" and called.__name__ in CALLS and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(kill_at_last)
    async with GitWorkspace(copy) as workspace:
        opened = True
        await workspace.commit(SLUG, a_commit(2), now=NOW)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
