"""What somebody pushes that no tool of ours would write: the sync ends, and the items of others are read."""

from pathlib import Path

import pygit2
import pytest
from pygit2.enums import FileMode

from bot.errors import ConfigError
from bot.storage.git.history import versions
from bot.storage.git.sync import SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import Replica
from tests.storage.conftest import open_replica, person, remote, replica
from tests.storage.samples import SLUG

__all__ = ["open_replica", "person", "remote", "replica"]
ITEMS = "docs/requirements"
DEPTH = 1_100


def raw(repository: pygit2.Repository, *entries: tuple[int, bytes, pygit2.Oid]) -> pygit2.Oid:
    """A tree of any names, which git's own commands would refuse to make."""
    rows = (b"%o %b\0%b" % (mode, name, oid.raw) for mode, name, oid in entries)
    return repository.write(pygit2.enums.ObjectType.TREE, b"".join(rows))


def pushed(person: Git, *entries: tuple[int, bytes, pygit2.Oid]) -> None:
    """A commit on top in which the folder of items holds *entries* alone."""
    repository = pygit2.Repository(str(person.root))
    tree = raw(repository, *entries)
    for name in reversed(ITEMS.split("/")):
        tree = raw(repository, (FileMode.TREE, name.encode(), tree))
    who = pygit2.Signature("Mallory", "mallory@example.org")
    repository.create_commit("refs/heads/main", who, who, "odd", tree, [repository.head.target])
    person("push", "--quiet", "origin", "main")


def deep(repository: pygit2.Repository) -> pygit2.Oid:
    tree = raw(repository, (FileMode.BLOB, b"plan.md", repository.create_blob(b"x")))
    for _ in range(DEPTH):
        tree = raw(repository, (FileMode.TREE, b"a", tree))
    return tree


ODD = {
    "a folder that is no text": b"\xff\xfe",
    "a folder of many lines": b"a\nb",
    "a folder of code": b"`<!here>`",
}


@pytest.fixture
async def clone(replica: Replica, person: Git) -> pygit2.Repository:
    """The person's, with an item that the bot has begun."""
    await replica.commit()
    assert await replica.sync.once() == SyncResult.PUSHED
    person("pull", "--quiet", "--rebase", "origin", "main")
    return pygit2.Repository(str(person.root))


def an_item(repository: pygit2.Repository) -> tuple[int, bytes, pygit2.Oid]:
    found = repository.head.peel(pygit2.Tree)[f"{ITEMS}/{SLUG}"]
    return FileMode.TREE, SLUG.encode(), found.id


@pytest.mark.parametrize("name", ODD.values(), ids=ODD.keys())
async def test_a_folder_of_any_name_may_come(
    replica: Replica, person: Git, clone: pygit2.Repository, name: bytes
) -> None:
    """The items beside it are listed and worked on, and everything that is listed can be stored."""
    meta = raw(clone, (FileMode.BLOB, b"meta.json", clone.create_blob(b"{}")))
    pushed(person, *sorted([(FileMode.TREE, name, meta), an_item(clone)], key=lambda one: one[1]))

    assert await replica.sync.once() == SyncResult.NOTHING
    listed = await replica.workspace.items()
    await replica.commit(2)

    assert await replica.sync.once() == SyncResult.PUSHED
    assert SLUG in [one.known.slug for one in listed]
    assert all(one.known.model_dump_json() for one in listed)


async def test_folders_below_folders_end_no_sync(
    replica: Replica, person: Git, clone: pygit2.Repository, caplog: pytest.LogCaptureFixture
) -> None:
    """It says why it takes nothing over, goes on asking, and takes what comes when they are gone."""
    item = an_item(clone)
    pushed(person, (FileMode.TREE, b"aa", deep(clone)), item)

    assert await replica.sync.once() == SyncResult.DIVERGED
    assert "more than 100 folders below each other" in caplog.text
    await replica.commit(2)
    assert [one.known.slug for one in await replica.workspace.items()] == [SLUG]

    person("push", "--quiet", "--force", "origin", "HEAD~1:main")
    assert await replica.sync.once() == SyncResult.PUSHED


def test_folders_below_folders_are_no_end_of_a_record(person: Git) -> None:
    """What git has of them is looked at as deep as the workspace is."""
    clone = pygit2.Repository(str(person.root))
    pushed(person, (FileMode.TREE, b"aa", deep(clone)))
    (person.root / ITEMS).mkdir(parents=True)

    assert [dict(one.files) for one in versions(person.root / ITEMS)][-1] == {}


async def test_a_clone_that_came_with_state_of_ours_is_refused(tmp_path: Path) -> None:
    """Whoever made it could have written anything there."""
    clone = Git(tmp_path / "clone")
    clone.begin()
    path = clone.write(".roundtable/roundtable.db", "{}")
    clone("add", "--force", str(path))
    clone("commit", "--quiet", "-m", "ours")

    with pytest.raises(
        ConfigError, match=r"has \.roundtable/ in git: that is the bot's own state; take it out"
    ):
        await GitWorkspace(clone.root, seal=SEAL).__aenter__()


@pytest.mark.parametrize("name", [".roundtable", ".Roundtable"])
async def test_state_of_ours_is_never_taken_from_a_push(replica: Replica, person: Git, name: str) -> None:
    """It names files to put back, and in a bot without Redis it says what was said. People are told what to remove."""
    await replica.commit()
    assert await replica.sync.once() == SyncResult.PUSHED
    person("pull", "--quiet", "--rebase", "origin", "main")
    path = person.write(f"{name}/unfinished.json", '[[".git/config", null, null], ["x", null, null]]')
    person("add", "--force", str(path))
    person("commit", "--quiet", "-m", "ours")
    person("push", "--quiet", "origin", "main")

    assert await replica.sync.once() == SyncResult.DIVERGED
    assert not (replica.git.root / name / "unfinished.json").exists()
    await replica.commit(2)
    assert replica.git.status == []

    person("rm", "--quiet", "-r", "--cached", name)
    person("commit", "--quiet", "-m", "theirs")
    person("push", "--quiet", "origin", "main")
    assert await replica.sync.once() == SyncResult.PUSHED
