"""Processes with different steps or personas: who works on a roundtable, who leaves it alone, and when that ends."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.content.watch import ContentWatch
from bot.engine.shared_content import SharedContent
from bot.errors import OtherContent, Unavailable
from bot.shipped import personas_dir, steps_dir
from bot.slack.reception import OTHER_CONTENT, sentence_for
from bot.storage.redis import RedisStore
from bot.storage.sqlite import SqliteStore
from tests.engine.replica import Replica, discussing, replica, said
from tests.redis_server import RedisServer


@asynccontextmanager
async def process(redis_url: str, own: str) -> AsyncIterator[tuple[Replica, SharedContent]]:
    """One with the content *own*."""
    async with RedisStore(redis_url, team="T1") as contents:
        shared = SharedContent(contents, lambda: own)
        await shared.beat()
        async with replica(redis_url, content=shared) as one:
            yield one, shared


async def test_a_roundtable_of_a_living_process_is_left_alone(redis_url: str) -> None:
    """Nothing is saved and nothing performed; when that process has ended, it goes on with the files that are here."""
    rt = discussing().rt.but(version=1)
    async with process(redis_url, "bbbb") as (new, newly):
        async with process(redis_url, "aaaa") as (old, _):
            await newly.beat()
            await old.store.put(rt, expected=0)
            changed = await old.engine.hear(rt.place, said(rt, "first", "1.1"))
            assert changed
            assert changed.content == "aaaa"

            with pytest.raises(OtherContent) as refused:
                await new.engine.hear(rt.place, said(rt, "second", "1.2"))
            await new.engine.pay(rt.slug)

            differs = newly.differs
            assert differs
            assert sentence_for(refused.value) == OTHER_CONTENT
            stored = await old.stored(rt)
            assert stored == changed
            assert stored.outbox

        await newly.beat()
        assert not newly.differs
        taken = await new.engine.hear(rt.place, said(rt, "second", "1.2"))
        assert taken
        assert taken.content == "bbbb"


async def test_processes_with_the_same_files_share(redis_url: str) -> None:
    """As before: either may take any word."""
    rt = discussing().rt.but(version=1)
    async with process(redis_url, "aaaa") as (one, shared), process(redis_url, "aaaa") as (other, _):
        await one.store.put(rt, expected=0)
        await one.engine.hear(rt.place, said(rt, "first", "1.1"))
        assert await other.engine.hear(rt.place, said(rt, "second", "1.2"))
        await shared.beat()
        assert not shared.differs


async def test_files_that_are_read_again_keep_nobody_out(redis_url: str) -> None:
    """A process does not wait for what it had itself before."""
    own = "aaaa"
    async with RedisStore(redis_url, team="T1") as contents:
        shared = SharedContent(contents, lambda: own)
        await shared.beat()
        rt = shared.mark(discussing().rt)
        own = "bbbb"
        shared.check(rt)
        await shared.beat()
        shared.check(rt)
        assert not shared.differs


async def test_while_it_is_not_known_who_lives_only_what_is_ours_is_touched(
    redis_url: str, redis_server: RedisServer
) -> None:
    """A process that starts without its Redis may not be alone."""
    redis_server.stop()
    async with RedisStore(redis_url, team="T1") as contents:
        shared = SharedContent(contents, lambda: "aaaa")
        with pytest.raises(Unavailable):
            await shared.beat()
        shared.check(discussing().rt)
        shared.check(discussing().rt.but(content="aaaa"))
        with pytest.raises(OtherContent):
            shared.check(discussing().rt.but(content="bbbb"))


async def test_without_redis_there_is_no_other_process(tmp_path: Path) -> None:
    """A store in a file is one process's alone."""
    async with SqliteStore(tmp_path) as store:
        shared = SharedContent(store, lambda: "aaaa")
        await shared.beat()

    shared.check(discussing().rt.but(content="bbbb"))
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
