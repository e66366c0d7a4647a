"""What only the embedded store can show: files, one process, and a process that is killed."""

import asyncio
import errno
import json
import os
import stat
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from bot.domain.roundtable.state import Roundtable
from bot.errors import ConfigError, NewerVersion, Unavailable
from bot.storage.embedded import EmbeddedStore, inspected
from bot.storage.journal import FEWEST_BYTES
from bot.storage.serialization import SHAPE
from tests.storage.killed_saves import saved as saved_as
from tests.storage.samples import OWED, PLACE, SLUG, a_roundtable, fsync_failing

FEWEST_MOMENTS = 30
HALF_BYTES = 100


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where the roundtable of the samples is stored."""
    return tmp_path / "roundtables" / f"{SLUG}.json"


def read(file: Path) -> Any:
    return json.loads(file.read_bytes())


def read_bytes(file: Path) -> bytes:
    return file.read_bytes()


def delete(file: Path) -> None:
    file.unlink()


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


# --- changes ----------------------------------------------------------------------------------------------------------


def changes_of(file: Path) -> Path:
    return file.with_suffix(".changes")


def later(version: int) -> Roundtable:
    return a_roundtable(version=version, title=f"Title {version}", outbox=OWED)


async def saves(folder: Path, *versions: int) -> None:
    async with EmbeddedStore(folder) as store:
        for version in versions:
            await store.put(later(version) if version > 1 else a_roundtable(), expected=version - 1)


async def stored(folder: Path) -> Roundtable | None:
    async with EmbeddedStore(folder) as store:
        found = await store.get(SLUG)
        assert await store.at(PLACE) == found
        assert await store.unfinished() == ((SLUG,) if found and found.outbox else ())
        return found


async def test_what_is_saved_next_is_a_line_of_its_own(tmp_path: Path, file: Path) -> None:
    """It says what differs; the whole value is saved when the process does not know the one before."""
    await saves(tmp_path, 1, 2, 3)
    before, lines = read_bytes(file), read_bytes(changes_of(file)).splitlines()

    assert read(file)["version"] == 1
    assert [set(json.loads(line[33:])["change"]["fields"]) for line in lines] == [
        {"version", "title", "outbox"},
        {"version", "title"},
    ]
    assert await stored(tmp_path) == later(3)
    assert inspected(tmp_path) == 1
    assert read_bytes(file) == before

    async with EmbeddedStore(tmp_path) as store:
        await store.put(later(4), expected=3)
    assert read(file)["version"] == 4
    assert not changes_of(file).exists()


async def test_changes_are_on_the_disk_before_it_is_told(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first also with the name of its file."""
    flushed: list[str] = []
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        status = os.fstat(descriptor)
        flushed.append("folder" if stat.S_ISDIR(status.st_mode) else f"{status.st_size} bytes")
        flush(descriptor)

    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        monkeypatch.setattr(os, "fsync", fsync)
        await store.put(later(2), expected=1)
        first = len(read_bytes(changes_of(file)))
        await store.put(later(3), expected=2)
        told = list(flushed)

    assert told == [f"{first} bytes", "folder", f"{len(read_bytes(changes_of(file)))} bytes"]


@pytest.mark.parametrize("nth", [1, 2])
async def test_after_a_change_that_failed_the_whole_value_is_saved(
    tmp_path: Path, file: Path, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a line may be there, and nothing is written behind it."""
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fsync_failing(nth))
            with pytest.raises(Unavailable, match="Input/output error"):
                await store.put(later(2), expected=1)
        found = await store.get(SLUG)
        assert found in (a_roundtable(), later(2))
        await store.put(later(found.version + 1), expected=found.version)

    assert read(file)["version"] == found.version + 1
    assert not changes_of(file).exists()


async def test_a_disk_that_is_full_leaves_half_of_a_line(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was not acknowledged: the value before counts, for this process and for the next one."""
    write_all = os.write

    def half(descriptor: int, content: bytes) -> int:
        if len(content) < HALF_BYTES:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_all(descriptor, content[: len(content) // 2])

    await saves(tmp_path, 1)
    async with EmbeddedStore(tmp_path) as store:
        await store.put(later(2), expected=1)
        await store.put(later(3), expected=2)
        with monkeypatch.context() as patched:
            patched.setattr(os, "write", half)
            with pytest.raises(Unavailable, match="No space left"):
                await store.put(later(4), expected=3)
        assert await store.get(SLUG) == later(3)
    assert not read_bytes(changes_of(file)).endswith(b"\n")
    assert await stored(tmp_path) == later(3)
    await saves(tmp_path, 4, 5)
    assert await stored(tmp_path) == later(5)


async def test_of_a_torn_line_nothing_is_read(tmp_path: Path, file: Path) -> None:
    """Wherever it ends, and where the file system has blocks of zeros in place of what it did not write."""
    await saves(tmp_path, 1, 2, 3, 4)
    content = read_bytes(changes_of(file))
    last = content.rindex(b"\n", 0, -1) + 1
    for cut in range(last, len(content)):
        for torn in (content[:cut], content[:cut] + bytes(len(content) - cut)):
            write(changes_of(file), torn)
            assert await stored(tmp_path) == later(3)
    write(changes_of(file), content[: last + 9] + bytes(20) + content[last + 29 :])
    assert await stored(tmp_path) == later(3)

    await saves(tmp_path, 4, 5)
    assert await stored(tmp_path) == later(5)


@pytest.mark.parametrize("damaged", ["whole", "changes"])
async def test_damage_never_becomes_an_older_state(tmp_path: Path, file: Path, damaged: str) -> None:
    """Of whatever byte: what is stored is kept aside, and the item is rebuilt from the workspace."""
    await saves(tmp_path, 1, 2, 3, 4)
    both = {"whole": file, "changes": changes_of(file)}
    good = {name: read_bytes(one) for name, one in both.items()}
    end = len(good[damaged]) - (1 if damaged == "changes" else 0)
    for position in range(0, end, 17):
        bad = bytearray(good[damaged])
        bad[position] ^= 1
        for name, one in both.items():
            write(one, bytes(bad) if name == damaged else good[name])

        assert await stored(tmp_path) is None
        assert not [one for one in both.values() if one.exists()]
        asides = {name: aside_of(one) for name, one in both.items()}
        assert asides[damaged].pop() == bytes(bad)
        assert all(name == damaged or good[name] in kept for name, kept in asides.items())


def aside_of(file: Path) -> list[bytes]:
    """In the order in which they were kept."""
    found = sorted(
        file.parent.glob(f"{file.name}.corrupt-*"), key=lambda one: int(one.name.rpartition("-")[2])
    )
    return [one.read_bytes() for one in found]


async def test_a_line_that_is_missing_is_damage(tmp_path: Path, file: Path) -> None:
    """What follows it does not follow the one before it."""
    await saves(tmp_path, 1, 2, 3, 4)
    first, _, third = read_bytes(changes_of(file)).splitlines(keepends=True)
    write(changes_of(file), first + third)

    assert await stored(tmp_path) is None


async def test_changes_of_an_older_whole_value_are_not_applied(tmp_path: Path, file: Path) -> None:
    """A kill between the two steps of a whole save leaves them; the next process removes them."""
    await saves(tmp_path, 1, 2, 3)
    old = read_bytes(changes_of(file))
    await saves(tmp_path, 4)
    write(changes_of(file), old)

    assert await stored(tmp_path) == later(4)
    assert not changes_of(file).exists()


async def test_a_new_roundtable_has_no_old_changes(tmp_path: Path, file: Path) -> None:
    """They are left when its file was deleted, or by a kill while both were moved aside."""
    await saves(tmp_path, 1, 2, 3)
    old = read_bytes(changes_of(file))
    delete(file)
    async with EmbeddedStore(tmp_path) as store:
        assert not changes_of(file).exists()
        write(changes_of(file), old)
        await store.put(a_roundtable(title="anew"), expected=0)
        assert not changes_of(file).exists()

    assert await stored(tmp_path) == a_roundtable(title="anew")


@pytest.mark.parametrize("how", ["deleted", "written"])
async def test_files_that_somebody_changed_are_saved_whole(tmp_path: Path, file: Path, how: str) -> None:
    """While the bot runs: a change would follow what is not there any more."""
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        await store.put(later(2), expected=1)
        if how == "deleted":
            delete(file)
        else:
            write(file, b"{}")
        await store.put(later(3), expected=2)

    assert read(file)["version"] == 3
    assert await stored(tmp_path) == later(3)


async def test_many_changes_become_a_whole_value(tmp_path: Path, file: Path) -> None:
    """So that a process reads no more at its start, however often it saved before."""
    limit, wholes = 2 * FEWEST_BYTES, set()
    async with EmbeddedStore(tmp_path) as store:
        await store.put(a_roundtable(), expected=0)
        for version in range(2, 300):
            await store.put(later(version).but(title=f"{version}" * 500), expected=version - 1)
            wholes.add(read(file)["version"])
            assert not changes_of(file).exists() or changes_of(file).stat().st_size < limit

    assert len(wholes) > 2
    assert await stored(tmp_path) == later(299).but(title="299" * 500)


async def test_a_state_of_an_earlier_version_is_set_aside(tmp_path: Path, file: Path) -> None:
    """It is not read with guesses: the item is rebuilt from git."""
    await saves(tmp_path, 1)
    write(file, json.dumps(read(file) | {"shape": SHAPE - 1}).encode())

    assert await stored(tmp_path) is None
    assert list(tmp_path.glob("**/*.corrupt-*"))  # noqa: ASYNC240 -- a few files


async def test_a_save_after_one_of_another_version_is_whole(tmp_path: Path, file: Path) -> None:
    """Its fields are unlike ours, so a change of ours may not fit them."""
    await saves(tmp_path, 1)
    other = read(file) | {"mood": "bright"}
    del other["manners"]
    write(file, json.dumps(other).encode())

    async with EmbeddedStore(tmp_path) as store:
        found = await store.get(SLUG)
        assert found
        await store.put(found.but(version=2, manners=found.manners.but(muted=True)), expected=1)
    assert read(file)["manners"]["muted"]
    assert "mood" not in read(file)


def copies_in(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if one.is_dir()]


async def test_a_kill_anywhere_leaves_what_was_acknowledged(tmp_path: Path) -> None:
    """Or the save after it; and the next process goes on from there."""
    killing = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.killed_saves", tmp_path
    )
    assert await killing.wait() == 0
    copies = copies_in(tmp_path)
    assert len(copies) > FEWEST_MOMENTS

    for copy in copies:
        acknowledged = int(copy.with_name(f"{copy.name}.acknowledged").read_bytes() or b"0")
        async with EmbeddedStore(copy) as store:
            found = await store.get(SLUG)
            version = found.version if found else 0
            assert version in {acknowledged, acknowledged + 1}, copy
            assert found == (saved_as(version) if version else None), copy
            for following in range(version + 1, version + 3):
                await store.put(saved_as(following), expected=following - 1)
        async with EmbeddedStore(copy) as store:
            assert await store.get(SLUG) == saved_as(version + 2), copy
