"""
The recipes of CONTRIBUTING.md, "To add …", carried out. What is code is added to a copy of it.

A button is in `tests/domain/test_actions.py`, a verb in `tests/slack/test_new_verb.py`; `tests/contracts/` runs on each
store.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.content.playbook import load
from bot.domain.messages.message import Action
from bot.shipped import personas_dir, steps_dir
from tests.domain.table import Table

ROOT = Path(__file__).parent.parent
Edit = Callable[[str, str, str], None]


def test_a_kind_is_data(tmp_path: Path) -> None:
    """What people label with its name is an entry of it, on the card and in the section of a file that shows it."""
    steps = tmp_path / "steps"
    shutil.copytree(steps_dir(), steps)
    (steps / "entries.yaml").write_text(
        """\
kinds:
  budget: {prefix: BUD, name: Budget, labels: [budget], text: text, fields: {text: {type: text, required: true}}}
views:
  - {file: quick-scan.md, section: Scope, show: [{kind: budget, as: bullets}]}
""",
        encoding="utf-8",
    )
    at = Table(load(personas_dir(), steps)).start().say("Budget: 20 days of two people", who="grace")

    assert at.rt.specification.entries["BUD-001"]["text"] == "20 days of two people"
    assert "20 days of two people" in str(at.menu.message)
    _, section = at.press(Action.FINISH_STEP).world.files["quick-scan.md"].split("Scope\n", 1)
    assert "20 days of two people" in section.split("\n## ", 1)[0]


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    """Puts text before the first place in a module of the copy where some other text stands."""
    shutil.copytree(ROOT / "bot", tmp_path / "bot")  # with what Python has compiled
    for content in ("personas", "analysis-steps"):
        (tmp_path / content).symlink_to(ROOT / content)

    def insert(module: str, place: str, text: str) -> None:
        path = tmp_path / "bot" / module
        before, found, after = path.read_text("utf-8").partition(place)
        assert found, f"CONTRIBUTING.md names a place that is not in {module} any more"
        path.write_text(before + text + found + after, encoding="utf-8")

    return insert


def run_on_copy(tmp_path: Path, script: str) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=env, check=False, capture_output=True, text=True
    )
    assert not done.returncode, done.stderr


def test_a_timer_is_a_name_and_a_transition(edit: Edit, tmp_path: Path) -> None:
    """It is set by a transition, saved with the roundtable, and followed when it is due."""
    domain = "domain/roundtable"
    edit(f"{domain}/timers.py", '    DEADLINE = "deadline"\n', '    TEA = "tea"\n')
    edit(f"{domain}/machine.py", "    TimerName.DEADLINE:", "    TimerName.TEA: silence.tea_due,\n")
    edit(
        f"{domain}/transitions/silence.py",
        "def feedback_due(",
        "def tea_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:\n"
        '    return rt.recording("Tea is ready.", part=rt.part)\n\n\n',
    )
    run_on_copy(
        tmp_path,
        """
from pathlib import Path
from bot.domain.roundtable import timers
from tests.domain.table import Table

assert Path(timers.__file__).is_relative_to(Path.cwd())
at = Table().start()
at.rt = timers.set_timer(at.rt, timers.TimerName.TEA, "2026-01-01T10:00:00.000Z")
(due,) = timers.due_at(at.rt, "2026-01-01T10:00:01.000Z")
at.hear(due)
assert at.lines[-1].content == "Tea is ready.", at.lines[-1]
assert "tea" not in at.rt.timers
""",
    )


def test_a_tool_of_personas_is_a_row(edit: Edit, tmp_path: Path) -> None:
    """Models are told of it, and what it finds is shown to them."""
    tools = "voices/tools/looking.py"
    edit(tools, '    _tool("history"', '    _tool("tell_time", "entries", "The time of day."),\n')
    edit(tools, '            "history": lambda', '            "tell_time": self._tell_time,\n')
    edit(
        tools,
        "    async def _entry(",
        "    async def _tell_time(self) -> Sequence[Passage]:\n"
        '        return [Passage("clock", "It is noon.")]\n\n',
    )
    run_on_copy(
        tmp_path,
        """
import asyncio
from tests.voices.test_looking import looker as begin_to_look

looker = begin_to_look()
assert "tell_time" in [tool.name for tool in looker.tools]
assert asyncio.run(looker.look("tell_time", {})) == "clock: It is noon."
""",
    )
