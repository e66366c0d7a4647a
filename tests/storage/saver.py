"""A process that saves for ever, and prints each version once it is saved: `python -m tests.storage.saver FOLDER`."""

import asyncio
import sys
from itertools import count
from pathlib import Path

from bot.storage.embedded import EmbeddedStore
from tests.storage.samples import OWED, a_roundtable


async def save(folder: Path) -> None:
    async with EmbeddedStore(folder) as store:
        for version in count(1):
            await store.put(
                a_roundtable(version=version, title="x" * 20_000, outbox=OWED), expected=version - 1
            )
            sys.stdout.write(f"{version}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(save(Path(sys.argv[1])))
