"""The oracle that other tests rely on sees what it is there to see."""

from pathlib import Path

from tests.oracle import apart, items, unlike
from tests.record.kept import evening_in


def test_it_finds_every_item_of_every_workspace(tmp_path: Path) -> None:
    """Wherever a test has put them; and they hold."""
    found = [evening_in(tmp_path / name) for name in ("one", "other")]

    assert [one.folder for one in items(tmp_path)] == [one.folder for one in found]
    assert unlike(tmp_path) == []


def test_it_sees_one_byte(tmp_path: Path) -> None:
    """And says of which item."""
    item = evening_in(tmp_path)
    item.transcript.write_bytes(item.transcript.read_bytes().replace(b"Photos", b"photos"))

    assert unlike(tmp_path)[0].startswith("offline-sync: planning/meeting.jsonl:")


def test_it_sees_it_in_memory(tmp_path: Path) -> None:
    """For a simulator that has no disk."""
    item = evening_in(tmp_path)
    names = ("meta.json", "planning/meeting.jsonl", "quick-scan.md")
    files = {name: (item.folder / name).read_bytes() for name in names}
    assert list(apart(files)) == []

    assert list(apart({**files, "meta.json": files["meta.json"].replace(b'"00-02",', b"", 1)}))
    assert list(
        apart({**files, "quick-scan.md": files["quick-scan.md"].replace(b"user-initiated", b"turn-limit")})
    )
