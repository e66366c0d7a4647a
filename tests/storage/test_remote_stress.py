"""Bots with clones of their own that are killed again and again, and a person, all pushing to one remote."""

import asyncio
import sys
from pathlib import Path

from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests import transcripts
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import assert_at_one
from tests.storage.pushing import SHARED

COMMITS = 12
KILLS = 6
BOTS = ("one", "two")


async def keep_bot(root: Path, remote: Git) -> None:
    words = (str(root), str(remote.root), str(COMMITS), str(KILLS))
    bot = await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.storage.pushing", *words)
    assert await bot.wait() == 0


def push_by_hand(person: Git) -> None:
    for number in range(COMMITS):
        person.commit(f"src/{number}.py", "print()\n", message=f"person {number}")
        while True:
            try:
                person("pull", "--quiet", "--rebase", "origin", "main")
                person("push", "--quiet", "origin", "main")
            except AssertionError:
                continue
            break


async def test_bots_and_a_person_lose_nothing_to_each_other(remote: Git, person: Git, tmp_path: Path) -> None:
    """Every commit that was said to be made is there once, in one line; all clones end as the remote is."""
    await asyncio.gather(
        asyncio.to_thread(push_by_hand, person), *(keep_bot(tmp_path / name, remote) for name in BOTS)
    )

    for name in BOTS:
        async with GitWorkspace(tmp_path / name, seal=SEAL):
            assert (
                await Sync(tmp_path / name, remote=str(remote.root), seal=SEAL).once() == SyncResult.NOTHING
            )
    subjects = [f"{name} {number}" for name in (*BOTS, "person") for number in range(COMMITS)]
    assert sorted(remote("log", "--format=%s", "main").splitlines()) == sorted(["by hand", *subjects])
    assert_at_one(remote, *(Git(tmp_path / name) for name in BOTS))
    for slug, names in [(SHARED, BOTS), *((f"item-of-{name}", (name,)) for name in BOTS)]:
        written = transcripts.read(
            (tmp_path / f"one/docs/requirements/{slug}/planning/meeting.jsonl").read_bytes()
        )
        wanted = [f"{n}.{i}" for n in names for i in range(COMMITS) if (i % 3 == 0) == (slug == SHARED)]
        found = [line.message_id for line in written.lines if "merged" not in line.meta]
        assert sorted(found) == sorted(wanted)
        assert written.flaws == ()
