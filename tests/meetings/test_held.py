"""The same scripts in the real engine: a store on a disk, an item in git, and a record that can be replayed."""

from pathlib import Path

import pytest

from bot.domain.messages.message import Action
from bot.record.brief import RecordResults, read_record
from bot.record.verify import RecordedItem, differences
from bot.storage.git.history import versions
from tests.meetings.held import held
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    Played,
    Pressed,
    Said,
    Script,
    played,
    says,
)
from tests.meetings.test_block import HOLDOUT, POSITIONS

AN_ECHO = HOLDOUT[ALEX][0]._replace(quotes=())
DECIDED = Pressed(Action.DECIDE, "0", "grace")
JORDAN_MOVES = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], says("Then Redis.", "Redis")]}
SCRIPTS = {
    "a good one": Script(HOLDOUT, [DECIDED, DONE]),
    "a dropped objection": Script(HOLDOUT, [Said("I see."), DONE]),
    "a collapse": Script(JORDAN_MOVES, [Said("Jordan, really?", "grace"), DONE]),
    "nothing new": Script(
        {MAYA: HOLDOUT[MAYA], ALEX: [*HOLDOUT[ALEX], AN_ECHO], JORDAN: [*HOLDOUT[JORDAN], AN_ECHO]},
        [GO_ON, GO_ON, DONE],
    ),
    "silence": Script({MAYA: HOLDOUT[MAYA]}, [Said("Anybody?"), DONE]),
}


def item(root: Path) -> RecordedItem:
    folder = root / "docs" / "requirements" / "offline-sync"
    return RecordedItem(folder, folder / "planning" / "meeting.jsonl")


def told(meeting: Played) -> list[tuple[str, str]]:
    return [(line.actor, line.content) for line in meeting.turns()]


@pytest.mark.parametrize("name", SCRIPTS)
async def test_what_it_came_to_is_the_same_in_the_real_engine(name: str, tmp_path: Path) -> None:
    """Turn by turn, and in the block."""
    real, pure = await held(SCRIPTS[name], tmp_path), played(SCRIPTS[name])

    assert told(real) == told(pure)
    assert real.shown.text == pure.shown.text


@pytest.mark.parametrize("name", SCRIPTS)
async def test_the_record_of_it_holds(name: str, tmp_path: Path) -> None:
    """Lines, meta.json, artifacts and git say the same, whatever was put on record."""
    await held(SCRIPTS[name], tmp_path)
    kept = item(tmp_path)

    assert list(differences(kept, list(versions(kept.folder)))) == []


async def test_what_was_put_back_is_in_git(tmp_path: Path) -> None:
    """In the artifact of the step, for whoever reads it in a year."""
    await held(SCRIPTS["a dropped objection"], tmp_path)
    kept = (item(tmp_path).folder / "quick-scan.md").read_text()

    assert POSITIONS in kept


async def brief_told(tmp_path: Path, name: str) -> RecordResults:
    await held(SCRIPTS[name], tmp_path)
    return read_record(item(tmp_path).record).brief


async def test_replay_knows_who_stands_where(tmp_path: Path) -> None:
    """And what was decided, by whom, once; and who objects."""
    brief = await brief_told(tmp_path, "a good one")

    assert [(one.text, one.by) for one in brief.decisions] == [("storage: Redis", "Grace")]
    (issue,) = brief.issues
    assert {stand: [one.name for one in held] for stand, held in issue.positions.items()} == {
        "Redis": ["BusinessAnalyst", "SolutionsArchitect"],
        "SQLite": ["InterfaceDesigner"],
    }
    assert brief.objections == ()


async def test_replay_knows_who_moved(tmp_path: Path) -> None:
    """From where to where, by the issue."""
    (issue,) = (await brief_told(tmp_path, "a collapse")).issues

    assert (issue.moves[-1].by, issue.moves[-1].was, issue.moves[-1].position) == (
        "InterfaceDesigner",
        "SQLite",
        "Redis",
    )
