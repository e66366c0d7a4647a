"""The record as it is at this moment: what git has, and what no commit has yet."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bot.errors import WorkspaceError
from bot.record.kept import KeptRecords
from tests.domain.table import Table
from tests.record.kept import ITEMS, an_evening, written

SLACK = "https://team.slack.com/archives/C1/p1700000000000100"


def transcripts_in(root: Path) -> Callable[[str], Awaitable[bytes]]:
    async def content(slug: str) -> bytes:
        path = root / ITEMS / slug / "planning" / "meeting.jsonl"
        return path.read_bytes() if path.exists() else b""

    return content


@pytest.fixture
def evening(tmp_path: Path) -> Table:
    """An evening that went on after its last commit."""
    table = an_evening().resume().say("Said after the last commit.", who="linus")
    written(table, tmp_path)
    return table


async def test_what_is_not_committed_yet_is_in_it(evening: Table, tmp_path: Path) -> None:
    """And the file in the workspace is left alone."""
    records = KeptRecords(transcripts_in(tmp_path))
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
    records = KeptRecords(transcripts_in(tmp_path), lambda text: text.replace("hunter2", "[redacted:key]"))
    sheets = await records.sheets("offline-sync", table.lines, title="T", name="t")

    assert all("hunter2" not in one.content.decode() for one in sheets)
    assert all("[redacted:key]" in one.content.decode() for one in sheets)


async def test_an_item_without_a_file_has_only_those_lines(tmp_path: Path) -> None:
    """Its folder is made with the first commit."""
    table = Table().start().say("The very first words.")
    text, _ = await KeptRecords(transcripts_in(tmp_path)).sheets(
        "offline-sync", table.lines, title="T", name="t"
    )

    assert "> The very first words." in text.content.decode()


async def test_it_knows_when_somebody_last_said_something_and_where(evening: Table, tmp_path: Path) -> None:
    """What was known then, what is now, and the address in Slack."""
    records = KeptRecords(transcripts_in(tmp_path))
    ask = {"person": "grace", "permalink": SLACK}
    since, left_off = await records.recall("offline-sync", evening.rt.lines, **ask)
    last = max(at for at, line in enumerate(evening.lines) if line.person == "grace")

    assert since.is_said
    assert since.away
    assert since.people["grace"] == "Grace"
    assert since.known != since.specification
    said = evening.lines[last].meta["message_ts"]
    assert left_off == (
        f"https://team.slack.com/archives/C1/p{said.replace('.', '')}?thread_ts=1700000000.000100&cid=C1"
    )


async def test_of_somebody_who_never_spoke_it_knows_nothing(evening: Table, tmp_path: Path) -> None:
    """All of it is new to them."""
    found = await KeptRecords(transcripts_in(tmp_path)).recall(
        "offline-sync", evening.rt.lines, person="stranger", permalink=SLACK
    )

    assert (found.since.away, found.left_off) == (False, "")


async def test_what_cannot_be_read_is_one_sentence() -> None:
    """The disk fails, say."""

    async def refuse(slug: str) -> bytes:
        raise WorkspaceError(f"The record of {slug} cannot be read.", reason="io")

    with pytest.raises(WorkspaceError, match="The record of offline-sync cannot be read"):
        await KeptRecords(refuse).sheets("offline-sync", Table().start().lines, title="T", name="t")
