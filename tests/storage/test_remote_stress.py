"""Two bots with two clones, and a person, all pushing to one remote as fast as they can."""

import asyncio
from pathlib import Path

from bot.storage.git import GitWorkspace
from bot.storage.remote import Sync
from tests.storage.checkout import Git
from tests.storage.samples import NOW, a_commit, wait_until

COMMITS = 12
SHARED = "shared-item"


async def work(name: str, root: Path, remote: Git) -> None:
    """Commits to an item of its own, and to one that both have, while the remote is kept up with."""
    sync = Sync(root, remote=str(remote.root), every_seconds=0.1)
    async with GitWorkspace(root, lock_seconds=20, after_commit=sync.wake) as workspace:
        syncing = asyncio.create_task(sync.run())
        for number in range(COMMITS):
            slug = SHARED if number % 3 == 0 else f"item-of-{name}"
            work = a_commit(number, id=f"{slug}.{name}.{number}", subject=f"{name} {number}", edits=())
            lines = tuple(line.but(meta={"message_id": f"{name}.{number}"}) for line in work.lines)
            await workspace.commit(slug, work.but(lines=lines), now=NOW)
            await asyncio.to_thread(Git(root), "status")
        await wait_until(lambda: f"{name} {COMMITS - 1}" in remote("log", "--format=%s", "main"), seconds=60)
        syncing.cancel()
        await asyncio.wait({syncing})


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


async def test_bots_and_a_person_lose_nothing_to_each_other(tmp_path: Path) -> None:
    """Every commit of all three is there once, in one line; both clones end as the remote is."""
    remote, person = Git(tmp_path / "remote.git"), Git(tmp_path / "person")
    remote.root.mkdir()
    remote("init", "--bare", "--initial-branch=main")
    person.begin()
    person("remote", "add", "origin", str(remote.root))
    person.commit("README.md", "ours\n", message="first")
    person("push", "--quiet", "origin", "main")
    roots = {name: tmp_path / name for name in ("one", "two")}
    for root in roots.values():
        async with GitWorkspace(root):
            await Sync(root, remote=str(remote.root)).once()

    await asyncio.gather(
        asyncio.to_thread(push_by_hand, person),
        *(work(name, root, remote) for name, root in roots.items()),
    )

    for root in roots.values():
        await Sync(root, remote=str(remote.root)).once()
    subjects = [f"{name} {number}" for name in ("one", "two", "person") for number in range(COMMITS)]
    assert sorted(remote("log", "--format=%s", "main").splitlines()) == sorted(["first", *subjects])
    assert remote("log", "--merges", "--format=%H", "main") == ""
    remote("fsck", "--strict")
    for root in roots.values():
        git = Git(root)
        assert git("rev-parse", "HEAD") == remote("rev-parse", "main")
        assert git.status == []
        git("fsck", "--strict")
        transcript = git.shown(f"docs/requirements/{SHARED}/planning/meeting.jsonl")
        assert len(transcript.splitlines()) == 2 * len(range(0, COMMITS, 3))
