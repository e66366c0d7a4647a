"""What only the embedded store can show: files, one process, and a process that is killed."""

import asyncio
import json
import os
import stat
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from bot.errors import ConfigError, NewerVersion, Unavailable
from bot.storage.embedded import EmbeddedStore
from bot.storage.serialization import SHAPE
from tests.storage.samples import PLACE, SLUG, a_roundtable, fsync_failing


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the roundtable of the samples is stored."""
    return tmp_path / "roundtables" / f"{SLUG}.json"


def read(file: Path) -> Any:
    return json.loads(file.read_bytes())


def read_bytes(file: Path) -> bytes:
    return file.read_bytes()


def write(file: Path, content: bytes) -> None:
    file.write_bytes(content)


async def saved(folder: Path) -> None:
    async with EmbeddedStore(folder) as store:
        await store.put(a_roundtable(), expected=0)


async def test_a_roundtable_is_a_file_that_people_can_read(tmp_path: Path, file: Path) -> None:
    """JSON, and nothing beside it."""
    await saved(tmp_path)

    assert read(file)["title"] == "Too bright at night"
    assert list(file.parent.iterdir()) == [file]


async def test_a_second_process_is_told_what_to_do(tmp_path: Path) -> None:
    """One sentence, and nothing is changed."""
    async with EmbeddedStore(tmp_path):
        with pytest.raises(ConfigError) as refused:
            async with EmbeddedStore(tmp_path):
                pass

    assert str(refused.value) == (
        "another roundtable process uses this workspace; set REDIS_URL to run several"
    )
    async with EmbeddedStore(tmp_path):
        pass  # the lock goes with its process


async def test_a_folder_that_cannot_be_made_is_explained(tmp_path: Path) -> None:
    """In one sentence, before anything starts."""
    (tmp_path / "file").touch()

    with pytest.raises(ConfigError, match="cannot be used"):
        async with EmbeddedStore(tmp_path / "file"):
            pass


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"slug": "bright-night"}', b"\0" * 100])
async def test_a_file_that_cannot_be_read_is_kept_aside(
    tmp_path: Path, file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """The item is as good as new to the store, and somebody can still look at what was there."""
    await saved(tmp_path)
    write(file, content)

    async with EmbeddedStore(tmp_path) as store:
        assert await store.get(SLUG) is None
        assert await store.at(PLACE) is None
        await store.put(a_roundtable(), expected=0)
        assert await store.get(SLUG) == a_roundtable()

    assert file.with_name(f"{file.name}.corrupt-1").read_bytes() == content
    assert "cannot be read" in caplog.text


async def test_a_file_that_goes_bad_meanwhile_is_kept_aside(tmp_path: Path, file: Path) -> None:
    """Not only at the start."""
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        write(file, b"{")

        assert await store.get(SLUG) is None
        await store.put(a_roundtable(), expected=0)


async def test_what_a_later_version_wrote_is_not_touched(tmp_path: Path, file: Path) -> None:
    """Saving it again would forget what only that version knows: it is not ready, and says why."""
    await saved(tmp_path)
    later = read(file) | {"shape": SHAPE + 1}
    write(file, json.dumps(later).encode())

    async with EmbeddedStore(tmp_path) as store:
        with pytest.raises(NewerVersion, match="later version"):
            await store.ping()

    assert read(file) == later


async def test_fields_of_other_versions_do_no_harm(tmp_path: Path, file: Path) -> None:
    """What is missing has a default, and what is unknown is let through."""
    await saved(tmp_path)
    other = read(file) | {"mood": "bright"}
    del other["used"]
    write(file, json.dumps(other).encode())

    async with EmbeddedStore(tmp_path) as store:
        assert await store.get(SLUG) == a_roundtable()


async def test_a_disk_that_takes_nothing_is_unavailable(tmp_path: Path, file: Path) -> None:
    """Nothing is acknowledged, and what was saved before is still there."""
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        moved = file.parent.rename(tmp_path / "moved")

        with pytest.raises(Unavailable):
            await store.put(a_roundtable(version=2), expected=1)
        with pytest.raises(Unavailable):
            await store.ping()

        moved.rename(file.parent)
        assert await store.get(SLUG) == a_roundtable()
        await store.put(a_roundtable(version=2), expected=1)


async def test_nobody_is_told_before_it_is_on_the_disk(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stops may forget what was not flushed: first the whole file is, then the name that it has."""
    flushed: list[str] = []
    flush, rename = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        flushed.append("folder" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes")
        flush(descriptor)

    def replace(old: str, new: str, **where: int) -> None:
        flushed.append("name")
        rename(old, new, **where)

    async with EmbeddedStore(tmp_path) as store:
        monkeypatch.setattr(os, "fsync", fsync)
        monkeypatch.setattr(os, "replace", replace)
        await store.put(a_roundtable(), expected=0)
        told = list(flushed)

    assert told == [f"{len(read_bytes(file))} bytes", "name", "folder"]


@pytest.mark.parametrize("nth", [1, 2])
async def test_a_disk_that_fails_once_costs_one_save(
    tmp_path: Path, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever of it has reached the disk: what is there then is what people go on from."""
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        monkeypatch.setattr(os, "fsync", fsync_failing(nth))
        with pytest.raises(Unavailable, match="Input/output error"):
            await store.put(a_roundtable(version=2, title="Two"), expected=1)

        found = await store.get(SLUG)
        assert found is not None
        assert found in (a_roundtable(), a_roundtable(version=2, title="Two"))
        await store.put(found.but(version=found.version + 1, title="Three"), expected=found.version)
        assert await store.get(SLUG) == found.but(version=found.version + 1, title="Three")


@pytest.mark.parametrize("saves", [1, 3, 10])
async def test_a_kill_in_the_middle_of_saving_loses_nothing(tmp_path: Path, saves: int) -> None:
    """What was said to be saved is there, whole; at most the next save is there instead."""
    saver = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.saver", tmp_path, stdout=PIPE
    )
    assert saver.stdout
    for _ in range(saves):
        await saver.stdout.readline()
    saver.kill()
    rest, _ = await saver.communicate()
    heard = saves + rest.count(b"\n")

    async with EmbeddedStore(tmp_path) as store:
        found = await store.get(SLUG)
        assert found
        assert found.version in {heard, heard + 1}
        assert await store.unfinished() == (SLUG,)
