"""The record as it is at this moment: what git has, and what no commit has yet."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.domain.transcript.lines import Line
from bot.errors import WorkspaceError
from bot.record.kept import KeptRecords
from tests.domain.table import Table
from tests.record.kept import ITEMS, an_evening, written

SLACK = "https://team.slack.com/archives/C1/p1700000000000100"


@pytest.fixture
def evening(tmp_path: Path) -> Table:
    """An evening that went on after its last commit."""
    table = an_evening().resume().say("Said after the last commit.", who="linus")
    written(table, tmp_path)
    return table


async def test_what_is_not_committed_yet_is_in_it(evening: Table, tmp_path: Path) -> None:
    """And the file in the workspace is left alone."""
    records = KeptRecords(tmp_path, ITEMS)
    kept = (tmp_path / ITEMS / "offline-sync" / "planning" / "meeting.jsonl").read_bytes()
    text, page = await records.sheets("offline-sync", evening.rt.lines, title="Offline sync", name="a-1")

    assert (text.name, page.name) == ("a-1.md", "a-1.html")
    assert text.content.decode().startswith("# Offline sync\n")
    assert "> Said after the last commit." in text.content.decode()
    assert "Said after the last commit." in page.content.decode()
    assert evening.rt.lines
    assert (tmp_path / ITEMS / "offline-sync" / "planning" / "meeting.jsonl").read_bytes() == kept


async def test_what_is_given_away_of_it_is_redacted(tmp_path: Path) -> None:
    """The file may hold what others wrote into it, which nobody redacted before."""
    table = Table().start().say("The key is hunter2.")
    records = KeptRecords(tmp_path, ITEMS, lambda text: text.replace("hunter2", "[redacted:key]"))
    sheets = await records.sheets("offline-sync", table.lines, title="T", name="t")

    assert all("hunter2" not in one.content.decode() for one in sheets)
    assert all("[redacted:key]" in one.content.decode() for one in sheets)


async def test_an_item_without_a_file_has_only_those_lines(tmp_path: Path) -> None:
    """Its folder is made with the first commit."""
    table = Table().start().say("The very first words.")
    text, _ = await KeptRecords(tmp_path, ITEMS).sheets("offline-sync", table.lines, title="T", name="t")

    assert "> The very first words." in text.content.decode()


async def test_it_knows_when_somebody_last_said_something_and_where(evening: Table, tmp_path: Path) -> None:
    """The state right after it, the state now, and the address in Slack."""
    records = KeptRecords(tmp_path, ITEMS)
    ask = {"person": "grace", "permalink": SLACK}
    (before, now, *_), left_off = await records.recall("offline-sync", evening.rt.lines, **ask)
    grace = next(one for one in now.people if one.key == "grace")

    assert before.line == grace.last < now.line
    assert now.line == len(evening.lines)
    said = evening.lines[grace.last - 1].meta["message_ts"]
    assert left_off == (
        f"https://team.slack.com/archives/C1/p{said.replace('.', '')}?thread_ts=1700000000.000100&cid=C1"
    )


async def test_of_somebody_who_never_spoke_it_knows_nothing(evening: Table, tmp_path: Path) -> None:
    """All of it is new to them."""
    found = await KeptRecords(tmp_path, ITEMS).recall(
        "offline-sync", evening.rt.lines, person="stranger", permalink=SLACK
    )

    assert (found.since.before.lines, found.left_off) == (0, "")


async def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """A folder where the file should be, say."""
    (tmp_path / ITEMS / "offline-sync" / "planning" / "meeting.jsonl").mkdir(parents=True)

    with pytest.raises(WorkspaceError, match="The record of offline-sync cannot be read"):
        await KeptRecords(tmp_path, ITEMS).sheets("offline-sync", Table().start().lines, title="T", name="t")


def elsewhere(tmp_path: Path) -> Path:
    """A whole item that is none of the workspace's."""
    written(Table().start().say("hunter2 is the password of the machine."), tmp_path / "elsewhere")
    return tmp_path / "elsewhere" / ITEMS / "offline-sync"


def linked_file(item: Path, outside: Path) -> None:
    (item / "planning").mkdir(parents=True)
    (item / "planning/meeting.jsonl").symlink_to(outside / "planning/meeting.jsonl")


def linked_folder(item: Path, outside: Path) -> None:
    item.mkdir(parents=True)
    (item / "planning").symlink_to(outside / "planning")


def linked_item(item: Path, outside: Path) -> None:
    item.parent.mkdir(parents=True)
    item.symlink_to(outside)


def linked_items(item: Path, outside: Path) -> None:
    item.parent.parent.mkdir(parents=True)
    item.parent.symlink_to(outside.parent)


def endless(item: Path, _outside: Path) -> None:
    (item / "planning").mkdir(parents=True)
    (item / "planning/meeting.jsonl").symlink_to("/dev/zero")


def pipe(item: Path, _outside: Path) -> None:
    (item / "planning").mkdir(parents=True)
    os.mkfifo(item / "planning/meeting.jsonl")


def huge(item: Path, _outside: Path) -> None:
    (item / "planning").mkdir(parents=True)
    with (item / "planning/meeting.jsonl").open("wb") as file:
        file.truncate(5 * 1024**3)


IN_THE_WAY = [
    (linked_file, "offline-sync/planning/meeting.jsonl is a symbolic link"),
    (linked_folder, "offline-sync/planning is a symbolic link"),
    (linked_item, "docs/requirements/offline-sync is a symbolic link"),
    (linked_items, "docs/requirements is a symbolic link"),
    (endless, "offline-sync/planning/meeting.jsonl is a symbolic link"),
    (pipe, "offline-sync/planning/meeting.jsonl is not a regular file"),
    (huge, "offline-sync/planning/meeting.jsonl is larger than 256 MiB"),
]


@pytest.mark.parametrize(("put", "why"), IN_THE_WAY)
@pytest.mark.parametrize("pending", [(), Table().start().say("Said just now.").lines])
async def test_nothing_outside_of_the_workspace_is_told(
    tmp_path: Path, put: Callable[[Path, Path], None], why: str, pending: tuple[Line, ...]
) -> None:
    """*Catch me up* and the export say in one sentence why there is nothing to read."""
    workspace = tmp_path / "workspace"
    put(workspace / ITEMS / "offline-sync", elsewhere(tmp_path))
    records = KeptRecords(workspace, ITEMS)

    with pytest.raises(WorkspaceError, match=why):
        await records.recall("offline-sync", pending, person="ada", permalink=SLACK)
    with pytest.raises(WorkspaceError, match=why):
        await records.sheets("offline-sync", pending, title="T", name="t")
