"""A bot's one round with a remote, for others to kill: `python -m tests.storage.one_round WORKSPACE REMOTE`."""

import asyncio
import sys
from pathlib import Path

from bot.storage.git.sync import Sync
from tests.sealing import SEAL

if __name__ == "__main__":
    asyncio.run(Sync(Path(sys.argv[1]), remote=sys.argv[2], seal=SEAL).once())
