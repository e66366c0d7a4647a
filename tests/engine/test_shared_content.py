"""Processes with different steps or personas are seen, whoever owns the team."""

from pathlib import Path

from bot.content.playbook import load
from bot.content.watch import ContentWatch
from bot.engine.shared_content import SharedContent
from bot.shipped import personas_dir, steps_dir
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore


async def test_processes_differ_for_as_long_as_both_live(redis_url: str) -> None:
    """What a process had itself, before files were read again, counts as little as one that has ended."""
    own = "aaaa"
    async with RedisStore(redis_url, team="T1") as here:
        one = SharedContent(here, lambda: own)
        await one.beat()
        async with RedisStore(redis_url, team="T1") as there:
            other = SharedContent(there, lambda: "bbbb")
            await other.beat()
            await one.beat()
            assert (one.differs, other.differs) == (True, True)
            own = "bbbb"
            await one.beat()
            await other.beat()
            assert (one.differs, other.differs) == (False, False)
            own = "aaaa"
        await one.beat()
        assert not one.differs


async def test_without_redis_there_is_no_other_process(tmp_path: Path) -> None:
    """A store in a file is one process's alone."""
    async with SqliteStore(tmp_path) as store:
        shared = SharedContent(store, lambda: "aaaa")
        await shared.beat()

    assert not shared.differs


async def test_the_fingerprint_is_that_of_the_files_in_use(tmp_path: Path) -> None:
    """The same wherever they are; another one after a change, and not after one that cannot be used."""
    watches = []
    for name in ("one", "other"):
        personas = tmp_path / name / "personas"
        personas.mkdir(parents=True)
        for file in personas_dir().glob("*.md"):
            (personas / file.name).write_bytes(file.read_bytes())
        folders = personas, steps_dir()
        watches.append(ContentWatch(lambda folders=folders: load(*folders), folders))  # type: ignore[misc]
    one, other = watches
    assert one.fingerprint == other.fingerprint

    maya = tmp_path / "other/personas/business-analyst.md"
    maya.write_text(maya.read_text("utf-8") + "\nAsk twice.\n", "utf-8")
    assert await other.changed()
    changed = other.fingerprint
    assert changed != one.fingerprint

    for file in (tmp_path / "other/personas").glob("*.md"):
        file.write_text("no front matter", "utf-8")
    assert await other.changed() is None
    assert other.fingerprint == changed
