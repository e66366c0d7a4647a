"""
Kills a process before each step of its saves in turn: `python -m tests.storage.killed_saves COPIES`.

Every folder `COPIES/n` is a store whose process was killed before its n-th call of something that changes a file. The
file `COPIES/n.acknowledged` has the last version that was saved. The last process was not killed: it had no call left.
"""

import os
import signal
import sys
import threading
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from bot.domain.roundtable.state import Roundtable
from bot.storage.embedded import EmbeddedStore
from tests.storage.killed import killed
from tests.storage.samples import a_roundtable

CALLS = {"open", "replace", "unlink", "write"}
SAVES = 12
WHOLE = {6, 10}
"""Saved whole, between changes. The first save is whole, too, and so is the one after a restart, which is this one:"""
RESTARTED = 8


def main(copies: Path) -> None:
    for number in count(1):
        if not killed(save(copies / str(number), number)):
            return


def saved(version: int) -> Roundtable:
    seen = tuple(f"key {one}" for one in range(version))
    return a_roundtable(version=version, title=f"Title {version}", seen=seen[-5:])


async def save(folder: Path, number: int) -> None:
    calls = count(1)
    opened = False

    def kill_at_last(_frame: FrameType, event: str, called: Any) -> None:
        if opened and event == "c_call" and called.__name__ in CALLS and next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    acknowledged = os.open(f"{folder}.acknowledged", os.O_WRONLY | os.O_CREAT)
    threading.setprofile(kill_at_last)
    for first, last in ((1, RESTARTED), (RESTARTED, SAVES + 1)):
        opened = False
        async with EmbeddedStore(folder) as store:
            opened = True
            for version in range(first, last):
                put = store.put_whole if version in WHOLE else store.put
                await put(saved(version), expected=version - 1)
                os.pwrite(acknowledged, f"{version:04}".encode(), 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
