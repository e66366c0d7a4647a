"""The same scripts in the real engine: a store on a disk, an item in git, and a record that can be replayed."""

import asyncio
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bot.domain.messages.message import Action
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


Held = Callable[[str], tuple[Played, RecordedItem]]


@pytest.fixture(scope="module")
def meeting(tmp_path_factory: pytest.TempPathFactory) -> Held:
    """Each script is played once for all that is to be seen of it."""

    @cache
    def played_as(name: str) -> tuple[Played, RecordedItem]:
        root = tmp_path_factory.mktemp("held")
        return asyncio.run(held(SCRIPTS[name], root)), item(root)

    return played_as


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_it_came_to_is_the_same_in_the_real_engine(name: str, meeting: Held) -> None:
    """Turn by turn, and in the block. Lines, meta.json, artifacts and git say the same, whatever was put on record."""
    (real, kept), pure = meeting(name), played(SCRIPTS[name])

    assert told(real) == told(pure)
    assert real.shown.text == pure.shown.text
    assert list(differences(kept, list(versions(kept.folder)))) == []


def test_what_was_put_back_is_in_git(meeting: Held) -> None:
    """In the artifact of the step, for whoever reads it in a year."""
    _, kept = meeting("a dropped objection")

    assert POSITIONS in (kept.folder / "quick-scan.md").read_text()
