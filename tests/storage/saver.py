"""A process that saves for ever, and prints each version once it is saved: `python -m tests.storage.saver FOLDER`."""

import asyncio
import sys
from itertools import count
from pathlib import Path

from bot.storage.sqlite import SqliteStore
from tests.storage.samples import OWED, a_line, a_roundtable


async def save(folder: Path) -> None:
    async with SqliteStore(folder) as store:
        rt = a_roundtable(version=0, title="x" * 20_000, outbox=OWED)
        for version in count(1):
            rt = rt.but(version=version, lines=(*rt.lines, a_line(f"C1.{version - 1}")))
            await store.put(rt, expected=version - 1)
            sys.stdout.write(f"{version}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(save(Path(sys.argv[1])))
