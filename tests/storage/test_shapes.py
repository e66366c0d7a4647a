"""
What was stored is read by every version that follows: the samples in `shapes` are as each of them was once saved.

They are never changed. When the shape of what is stored is, another one is put beside them, and all of them are read.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from bot.domain.reviews.notice import Notice
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Person
from bot.storage.embedded import EmbeddedStore
from bot.storage.serialization import SHAPE, decoded, encoded
from tests.domain.table import shipped

SHAPES = Path(__file__).parent / "shapes"
ROUNDTABLES = sorted(SHAPES.glob("roundtable-*.json"))
NOTICES = sorted(SHAPES.glob("notice-*.json"))


def lost(before: Any, after: Any, where: str = "") -> list[str]:
    """The names of *before* that *after* does not know any more, or has another value for."""
    if isinstance(before, dict) and isinstance(after, dict):
        gone = [f"{where}.{name}" for name in before if name not in after]
        common = [name for name in before if name in after]
        return gone + [one for name in common for one in lost(before[name], after[name], f"{where}.{name}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [one for number, (old, new) in pairs for one in lost(old, new, f"{where}[{number}]")]
    return [] if before == after else [where]


def stored_in(root: Path, file: Path) -> Roundtable:
    """As an earlier version left it there."""
    content = file.read_bytes()
    (root / "roundtables").mkdir()
    (root / "roundtables" / "offline-sync.json").write_bytes(content)
    return decoded("offline-sync", content)


def test_there_are_samples() -> None:
    """Of the moments that have most to remember."""
    assert len(ROUNDTABLES) >= 3
    assert NOTICES


@pytest.mark.parametrize("file", ROUNDTABLES, ids=lambda file: file.stem)
def test_a_roundtable_of_any_day_is_read_whole(file: Path) -> None:
    """No field of it was renamed, dropped or understood otherwise; it is in today's shape from then on."""
    stored = json.loads(file.read_bytes())
    rt = decoded(stored["slug"], file.read_bytes())

    assert lost(stored | {"shape": SHAPE}, json.loads(encoded(rt))) == []


@pytest.mark.parametrize("file", ROUNDTABLES, ids=lambda file: file.stem)
async def test_a_roundtable_of_any_day_goes_on(file: Path, tmp_path: Path) -> None:
    """People are heard, and it is saved in today's shape."""
    rt = stored_in(tmp_path, file)
    said = Say(
        key="C1.9", at="2026-12-01T00:00:00.000Z", person=Person(id="ada"), text="And now?", ts="1900000000.1"
    )
    async with EmbeddedStore(tmp_path) as store:
        after = decide(rt, said, shipped()).but(version=rt.version + 1)
        await store.put(after, expected=rt.version)
        assert await store.get("offline-sync") == after

    waiting = [one.text for one in after.undecided if isinstance(one, Say)]
    assert any("And now?" in text for text in (*waiting, *(line.content for line in after.lines)))


@pytest.mark.parametrize("file", NOTICES, ids=lambda file: file.stem)
def test_a_notice_of_any_day_is_read_whole(file: Path) -> None:
    """And so is the notice of an item's reviews."""
    stored = json.loads(file.read_bytes())
    notice = Notice.model_validate_json(file.read_bytes())

    assert lost(stored, json.loads(notice.model_dump_json())) == []
