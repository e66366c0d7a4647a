"""
Kills a commit before each of its steps in turn: `python -m tests.storage.killed WORKSPACE COPIES`.

Every folder `COPIES/n` is a copy of WORKSPACE in which a round of commits (the second of the item, and the first of
another) was killed before its n-th call of something that changes a disk. The last one was not killed: it had no call
left.
"""

import asyncio
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from collections.abc import Set as AbstractSet
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.item.artifacts import DerivedEdit
from bot.domain.roundtable.effects import Commit
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section
from tests.unflushed import flush_nothing

OTHER = "other-item"
PLAN = "# Plan\n"
CALLS = {
    "create_blob",
    "create_commit",
    "create_reference_direct",
    "git_index_write",
    "mkdir",
    "replace",
    "sendfile",
    "set_target",
    "truncate",
    "unlink",
    "utime",
    "write",
}
"""What the next process can see; a file that was only opened, or only flushed, is as it is before the next of these."""


def main(workspace: Path, copies: Path) -> None:
    flush_nothing()
    for number in count(1):
        copy = copies / str(number)
        shutil.copytree(workspace, copy)
        if not killed(commit(copy, number)):
            return


def first_commit() -> Commit:
    return a_commit(edits=(a_section("What we know."), DerivedEdit(path=PLAN_PAGE, text=PLAN)))


def round_of_commits() -> Iterator[tuple[str, Commit]]:
    yield SLUG, a_commit(2, edits=(a_section("More."), DerivedEdit(path=PLAN_PAGE, text=f"{PLAN}More.\n")))
    yield OTHER, a_commit(id=f"{OTHER}.i1.1", subject=OTHER, lines=(a_line("C2.1"),))


def killed(work: Coroutine[Any, Any, None]) -> bool:
    """In a process of its own, which is a fork so that a hundred of them take seconds."""
    child = os.fork()
    if child == 0:
        asyncio.run(work)
        os._exit(0)
    work.close()
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def kill_before(last: int, calls: AbstractSet[str] = CALLS) -> Callable[[FrameType, str, Any], None]:
    """A profiler that kills the process before the *last* of *calls*."""
    seen = count(1)

    def look(_frame: FrameType, event: str, called: Any) -> None:
        if event == "c_call" and called.__name__ in calls and next(seen) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    return look


async def commit(copy: Path, number: int) -> None:
    killer, opened = kill_before(number), False
    threading.setprofile(lambda *about: killer(*about) if opened else None)
    async with GitWorkspace(copy, seal=SEAL) as workspace:
        opened = True
        await asyncio.gather(*(workspace.commit(slug, work, now=NOW) for slug, work in round_of_commits()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
