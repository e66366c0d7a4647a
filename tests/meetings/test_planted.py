"""What is planted in a meeting: the record keeps what people said, and has nothing of what models made up."""

from pathlib import Path

import pytest

from bot import shipped
from bot.content.playbook import load
from tests.meetings.planted import PlantedStage, played, read_planted, wanted

PLAYBOOK = load(shipped.personas_dir(), shipped.steps_dir())
HERE = Path(__file__).parent
FILES = sorted([*(HERE / "known").glob("*.yaml"), *(HERE / "unseen").glob("*.yaml")])
"""The checks were written with those that are `known` in view. `unseen` ones were written before their author had read
the checks: at first 10 of their lies came through, in seven kinds, and one dissent and one collapse were lost."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_the_panel_keeps_what_is_planted_and_records_nothing_false(path: Path) -> None:
    """With models that lie as the file has it; only the checks stand between them and the record."""
    meeting = read_planted(path)

    assert await played(meeting, PLAYBOOK) == wanted(meeting.planted)


def test_there_are_two_dozen() -> None:
    """A folder that moved would leave nothing to check."""
    assert len(FILES) == 24


GIVING_IN = """
title: Offline edits
about: A persona gives in under another name of the issue and of the position.
thread:
  - Maya: {says: "Where do edits wait?"}
  - Alex: {says: Locally., stances: [{issue: Where edits wait, position: in a queue on the device}]}
  - Jordan: {says: Centrally., stances: [{issue: Storage of edits, position: one server for all}]}
  - Ada: "option: a bucket in Redis"
  - Ada: In 2024 we lost 310 edits in one night.
  - Jordan: {says: Fine., stances: [{issue: Waiting place, position: the device has a queue}]}
  - Maya: {says: Let us see., stances: [{issue: Cache, position: "I'm for the bucket in Redis"}]}
script: {panel: {}}
"""


async def test_positions_are_normalised_as_in_a_thread(tmp_path: Path) -> None:
    """What a person types is an option, and who is for it in other words holds it."""
    (tmp_path / "one.yaml").write_text(GIVING_IN)
    stage = PlantedStage(read_planted(tmp_path / "one.yaml"), PLAYBOOK)
    await stage.debate()
    debate = stage.rt.debate

    assert [one.text for one in debate.options][:1] == ["a bucket in Redis"]
    assert debate.turns[-1].stances[0].held == "a bucket in Redis"
