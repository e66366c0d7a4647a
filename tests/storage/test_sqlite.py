"""What only the SQLite store can show: its file, one process, and a process that is killed."""

import asyncio
import json
import resource
import sqlite3
import sys
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.domain.roundtable.state import Roundtable
from bot.errors import ConfigError, NewerVersion, Unavailable
from bot.storage.serialization import SHAPE
from bot.storage.sqlite import FILE, SqliteStore, inspected
from tests import stored
from tests.storage.samples import OWED, PLACE, SLUG, a_line, a_roundtable

LINES = tuple(a_line(f"C1.{number}", f"Line {number}") for number in range(1, 10))


def later(version: int, **fields: Any) -> Roundtable:
    """Each version has a line more."""
    return a_roundtable(version=version, outbox=OWED, **({"lines": LINES[:version]} | fields))


async def saved(folder: Path, *versions: int) -> None:
    async with SqliteStore(folder) as store:
        for version in versions:
            await store.put(later(version), expected=version - 1)


async def read_again(folder: Path) -> Roundtable | None:
    async with SqliteStore(folder) as store:
        found = await store.get(SLUG)
        assert await store.at(PLACE) == found
        assert await store.unfinished() == ((SLUG,) if found else ())
        return found


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def run(folder: Path, statement: str, *given: Any) -> list[Any]:
    """What a person does with the file by hand."""
    with closing(sqlite3.connect(folder / FILE)) as sql, sql:
        return sql.execute(statement, given).fetchall()


async def test_people_can_read_the_file_while_a_bot_runs(tmp_path: Path) -> None:
    """With the program `sqlite3`: where a roundtable stands, its state as JSON, and its lines."""
    async with SqliteStore(tmp_path) as store:
        await store.put(later(1), expected=0)
        await store.put(later(2), expected=1)
        ((stage, pending, state),) = run(tmp_path, "SELECT stage, pending, state FROM roundtables")
        parts = dict(run(tmp_path, "SELECT name, content FROM parts ORDER BY name"))

    assert (stage, pending) == ("opening", "react")
    assert json.loads(state)["title"] == "Too bright at night"
    assert list(parts) == ["effect 1", "line 1", "line 2"]
    assert json.loads(parts["line 2"])["content"] == "Line 2"


async def test_a_second_process_is_told_what_to_do(tmp_path: Path) -> None:
    """One sentence, and nothing is changed."""
    async with SqliteStore(tmp_path):
        with pytest.raises(ConfigError) as refused:
            async with SqliteStore(tmp_path):
                pass
        with pytest.raises(ConfigError, match="another roundtable process"):
            inspected(tmp_path)

    assert str(refused.value) == (
        "another roundtable process uses this workspace; set REDIS_URL to run several"
    )
    async with SqliteStore(tmp_path):
        pass  # the lock goes with its process


async def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    """In one sentence, before anything starts."""
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="cannot be used"):
        async with SqliteStore(tmp_path / "file"):
            pass


async def test_a_link_in_place_of_a_file_of_the_store_is_refused(tmp_path: Path) -> None:
    """It could name any file of this machine."""
    (tmp_path / f"{FILE}-wal").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(ConfigError, match=r"roundtable\.db-wal is a link"):
        async with SqliteStore(tmp_path):
            pass
    assert not (tmp_path / "elsewhere").exists()


async def test_what_is_left_to_do_is_counted_without_a_bot(tmp_path: Path) -> None:
    """And nothing is changed: also no file is made."""
    assert inspected(tmp_path) == 0
    assert files_in(tmp_path) == []
    await saved(tmp_path, 1, 2)
    before = (tmp_path / FILE).read_bytes()

    assert inspected(tmp_path) == 1
    assert (tmp_path / FILE).read_bytes() == before


@pytest.mark.parametrize("state", ["", "{", b"\xff\xfe", "[]", '{"slug": "bright-night"}'])
async def test_a_state_that_cannot_be_read_is_kept_aside(
    tmp_path: Path, state: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The item is as good as new to the store, and an operator can still look at what was there."""
    async with SqliteStore(tmp_path) as store:
        await store.put(later(1), expected=0)
        run(tmp_path, "UPDATE roundtables SET state = ?, link = 'other'", state)

        assert await store.get(SLUG) is None
        assert await store.at(PLACE) is None
        await store.put(later(1), expected=0)
        assert await store.get(SLUG) == later(1)

    ((kept,),) = run(tmp_path, "SELECT content FROM notes WHERE name = ?", f"unreadable {SLUG}")
    assert json.loads(kept)["parts"]["line 1"]
    assert "cannot be read" in caplog.text


@pytest.mark.parametrize(
    "damage",
    ["DELETE FROM parts WHERE name = 'line 2'", "UPDATE parts SET content = '{' WHERE name = 'line 2'"],
)
async def test_a_part_that_cannot_be_read_is_never_left_out(tmp_path: Path, damage: str) -> None:
    """Nobody would know that a line is lost. All of it is set aside, and the item is rebuilt from the workspace."""
    await saved(tmp_path, 1, 2, 3)
    run(tmp_path, damage)

    assert await read_again(tmp_path) is None
    await saved(tmp_path, 1, 2)
    assert await read_again(tmp_path) == later(2)


@pytest.mark.parametrize("where", [0, 100, 4096])
async def test_a_damaged_file_is_kept_aside(
    tmp_path: Path, where: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Wherever the damage is: the bot starts, and rebuilds the items from the workspace."""
    await saved(tmp_path, 1, 2)
    content = bytearray((tmp_path / FILE).read_bytes())
    content[where : where + 100] = b"\xaa" * 100
    (tmp_path / FILE).write_bytes(content)

    assert await read_again(tmp_path) is None
    assert (tmp_path / f"{FILE}.corrupt-1").read_bytes() == content
    assert "the store is damaged" in caplog.text
    await saved(tmp_path, 1, 2)
    assert await read_again(tmp_path) == later(2)


async def test_what_a_later_version_wrote_is_said_without_a_bot(tmp_path: Path) -> None:
    """Nothing is changed."""
    await saved(tmp_path / ".roundtable", 1)
    whole = {**stored.in_file(tmp_path, SLUG), "shape": SHAPE + 1}
    stored.rewrite_file(tmp_path, SLUG, whole)

    with pytest.raises(NewerVersion, match="later version"):
        inspected(tmp_path / ".roundtable")
    assert stored.in_file(tmp_path, SLUG) == whole


async def test_fields_of_other_versions_do_no_harm(tmp_path: Path) -> None:
    """What is missing has a default, and what is unknown is let through."""
    await saved(tmp_path / ".roundtable", 1)
    other = {**stored.in_file(tmp_path, SLUG), "mood": "bright"}
    del other["used"]
    stored.rewrite_file(tmp_path, SLUG, other)

    assert await read_again(tmp_path / ".roundtable") == later(1)
    await saved(tmp_path / ".roundtable", 2)
    assert "mood" not in stored.in_file(tmp_path, SLUG)


async def test_a_file_that_is_moved_away_is_unavailable(tmp_path: Path) -> None:
    """SQLite would go on writing to it. Nothing is acknowledged, and what was saved before is still there."""
    async with SqliteStore(tmp_path) as store:
        await store.put(later(1), expected=0)
        moved = (tmp_path / FILE).rename(tmp_path / "moved")

        with pytest.raises(Unavailable, match="moved or replaced"):
            await store.put(later(2), expected=1)
        with pytest.raises(Unavailable):
            await store.ping()

        moved.rename(tmp_path / FILE)
        assert await store.get(SLUG) == later(1)
        await store.put(later(2), expected=1)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process may become longer."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


async def test_a_full_disk_costs_one_save(tmp_path: Path) -> None:
    """It is not acknowledged, and nothing of it is there; with room again, everything goes on."""
    async with SqliteStore(tmp_path) as store:
        await store.put(later(1), expected=0)
        with full_disk():
            with pytest.raises(Unavailable):
                await store.put(later(2, permalink="x" * 100_000), expected=1)
            with pytest.raises(Unavailable):
                await store.ping()
            assert await store.get(SLUG) == later(1)
        await store.put(later(2), expected=1)
        await store.ping()
    assert await read_again(tmp_path) == later(2)


async def test_a_save_is_flushed_before_it_is_acknowledged(tmp_path: Path) -> None:
    """FULL (2): SQLite flushes its log at the end of every transaction."""
    async with SqliteStore(tmp_path) as store:
        assert await store.rows("PRAGMA journal_mode") == [("wal",)]
        assert await store.rows("PRAGMA synchronous") == [(2,)]


@pytest.mark.parametrize("saves", [1, 3, 10, 40])
async def test_a_kill_in_the_middle_of_saving_loses_nothing(tmp_path: Path, saves: int) -> None:
    """What was said to be saved is there, with its lines; at most the next save is there instead."""
    saver = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.saver", tmp_path, stdout=PIPE
    )
    assert saver.stdout
    for _ in range(saves):
        await saver.stdout.readline()
    saver.kill()
    rest, _ = await saver.communicate()
    heard = saves + rest.count(b"\n")

    async with SqliteStore(tmp_path) as store:
        found = await store.get(SLUG)
        assert found
        assert found.version in {heard, heard + 1}
        assert [line.message_id for line in found.lines] == [f"C1.{n}" for n in range(found.version)]
        assert await store.unfinished() == (SLUG,)
