"""A meeting in the short path leaves a record that holds, whatever is said on its cards."""

from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.stage import Stage
from tests.domain.table import Table
from tests.record.kept import committed, found
from tests.specification.meeting import PLAYBOOK

WORDS = (
    "Wow. That is true, I forgot.", "1. The first answer\n2. The second answer",
    "- one of a list\n- another", "Scope: medium. Files: 8",
    "FR: It sorts by date; priority: must\nAC: The newest is on top",
    "story: As a lead I want a list so that I see who is late (FR-001)", "quality: fast; threshold: 5 s",
    "Risk: two people edit one record -> show both", "verdict: go with a condition; condition: tests first",
    "option A: a queue\noption B: a file", "decision: Use a queue; because: it is faster",
    "DEC-001: withdrawn", "objection: too slow in the evening", "technology: Redis; version: 7",
    "app -> server: orders", "question: Who pays? -> Grace",
)  # fmt: skip


def speak(table: Table, chance: Random) -> Table:
    for _ in range(chance.randrange(4)):
        table.say(chance.choice(WORDS), who=chance.choice(("ada", "grace")))
    return table


def go_deeper(table: Table) -> Table:
    """At the end, or from the card or menu that is open."""
    if table.rt.menu is None:
        return table.press_outside(Action.GO_DEEPER, who="grace")
    return table.say("go deeper", who="grace")


SEEDS = pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 12))]
)


class Deeper(NamedTuple):
    """A meeting that went deeper with its commit number *at*, which steps were missing then, and which were asked."""

    table: Table
    at: int
    missing: list[str]
    asked: list[str]


def play_deeper(chance: Random) -> Deeper:
    """Some cards, or all of them; from there on all that is missing, perhaps with pauses in other processes."""
    table = Table(PLAYBOOK).start("Offline sync", depth=None)
    for _ in range(chance.randrange(len(PLAYBOOK.agenda.phases) + 1)):
        speak(table, chance).press(Action.NEXT)
    if table.rt.stage is Stage.DISCUSSING and chance.random() < 0.5:
        speak(table, chance).press(Action.FINISH_STEP)
    done = table.rt.steps_completed
    missing = [step.step_id for step in PLAYBOOK.agenda.steps if step.step_id not in done]
    at = len(go_deeper(table).world.commits)
    asked: list[str] = []
    while table.rt.stage is not Stage.ANALYSED:
        if table.rt.stage is Stage.DISCUSSING:
            asked.append(table.rt.step_id)
            speak(table, chance).press(Action.FINISH_STEP)
        elif chance.random() < 0.2:
            table.stop().restart().resume()
        else:
            table.press_continue()
    return Deeper(table, at, missing, asked)


def play(chance: Random) -> Table:
    """Five cards; some are discussed, and on one they may ask for all steps."""
    table = Table(PLAYBOOK).start("Offline sync", depth=None)
    for _ in PLAYBOOK.agenda.phases:
        assert table.rt.stage is Stage.DISCUSSING
        speak(table, chance)
        match chance.choice(("go on", "go on", "discuss", "all steps")):
            case "go on":
                table.press(Action.NEXT)
            case "discuss":
                table.press(Action.FINISH_STEP).press(Action.ELABORATE)
                speak(table, chance).say("done").press_continue()
            case _:
                return table.say("standard").say("Words about that.").press(Action.FINISH_STEP)
    return table


@SEEDS
def test_the_files_are_what_the_lines_say(seed: int, tmp_path: Path) -> None:
    """The card of a phase shows more than its first step does, and the files are those of all steps."""
    item = committed(play(Random(seed)), tmp_path)

    assert found(item, PLAYBOOK) == []


@SEEDS
def test_going_deeper_asks_each_missing_step_once(seed: int, tmp_path: Path) -> None:
    """From wherever in the meeting. Then all of it is complete; the record holds then, and when steps are missing."""
    chance = Random(seed)
    table, at, missing, asked = play_deeper(chance)
    commits = table.world.commits

    assert asked == missing
    assert sorted(table.meta.steps_completed) == [step.step_id for step in PLAYBOOK.agenda.steps]
    assert table.meta.phases_completed[-1] == PLAYBOOK.agenda.phases[-1].key
    assert sorted(table.meta.phases_completed) == [phase.key for phase in PLAYBOOK.agenda.phases]
    for until in (at, len(commits)):
        table.world.commits = commits[:until]
        item = committed(table, tmp_path / str(until))
        assert found(item, PLAYBOOK) == []
