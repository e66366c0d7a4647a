"""The repository does not grow for ever, and nobody waits for that."""

import asyncio
from pathlib import Path

from bot.storage.git.maintenance import Maintenance
from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_line

COMMITS = 40


def size(git: Git) -> int:
    return sum(path.stat().st_size for path in (git.root / ".git").rglob("*") if path.is_file())


async def test_a_long_transcript_is_packed(workspace: GitWorkspace, git: Git) -> None:
    """Every commit kept a whole copy of it; packed, all of history is a small multiple of the file."""
    for number in range(COMMITS):
        lines = tuple(a_line(f"m{number}.{line}", f"line {line} of {number} " * 10) for line in range(10))
        await workspace.commit(SLUG, a_commit(number, lines=lines), now=NOW)
    before = size(git)

    await Maintenance(git.root).tidy(loose_objects=1)

    transcript = git.root / f"docs/requirements/{SLUG}/planning/meeting.jsonl"
    assert size(git) < before / 2
    assert size(git) < 10 * transcript.stat().st_size
    assert len(git.subjects) == COMMITS
    await workspace.commit(SLUG, a_commit(COMMITS), now=NOW)
    assert git.status == []
    git("fsck", "--strict")


async def test_commits_go_on_while_it_is_packed(workspace: GitWorkspace, git: Git) -> None:
    """And none of them is lost."""
    for number in range(COMMITS):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
    packing = asyncio.create_task(Maintenance(git.root).tidy(loose_objects=1))
    number = COMMITS
    while not packing.done():
        await workspace.commit(SLUG, a_commit(number), now=NOW)
        number += 1
    await packing

    assert len(git.subjects) == number
    assert git.status == []
    git("fsck", "--strict")


async def test_it_waits_for_a_quiet_moment(tmp_path: Path) -> None:
    """After some commits, when none came for a while."""
    packed: list[int] = []

    class Counted(Maintenance):
        async def tidy(self, **_: int) -> None:
            packed.append(len(packed))

    upkeep = Counted(tmp_path, commits=2, idle_seconds=0.05)
    running = asyncio.create_task(upkeep.run())
    await wait_until(lambda: len(packed) == 1)
    upkeep.wake()
    await asyncio.sleep(0)
    upkeep.wake()
    await wait_until(lambda: len(packed) == 2)
    running.cancel()
    await asyncio.wait({running})
