"""
All 25 + 12 codes of the taxonomy: for each, how it is reached in a meeting, or where else it is raised.

Whatever is reached is logged with its code; where the seed has a sentence for people, it stands in the thread.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

import bot
from bot.content.playbook import load
from bot.domain.catalog.phases import ANALYSIS_PHASES
from bot.domain.catalog.steps import Step, StepHeading
from bot.domain.catalog.taxonomy import TAXONOMY, trouble
from bot.domain.messages.message import Action
from bot.errors import ContentError
from tests.domain.books import book, few_steps, seats, step
from tests.domain.table import Contribution, Table

SOURCES = Path(bot.__file__).parent
SILENT_AT_START = "ERR-RT-001"  # raised as ContentError: without a single persona the bot does not start

# --- found while reading personas/ and analysis-steps/, told when the roundtable or the phase opens -----------------


def read(code: str, **facts: str) -> Callable[[], Table]:
    found = trouble(code, phase_key="00-quick-scan", **facts)
    return lambda: Table(few_steps(troubles=[found])).start()


# --- found in a meeting ---------------------------------------------------------------------------------------------


def begun(*steps: Step) -> Table:
    return Table(few_steps(*steps)).start()


def removed_meta() -> Table:
    table = begun()
    table.world.meta = None
    return table.do_step()


def corrupt_meta() -> Table:
    table = Table(few_steps())
    table.world.meta = b"["
    return table.start()


def written(code: str, **facts: str) -> Callable[[], Table]:
    def reach() -> Table:
        table = begun()
        table.world.troubles = (trouble(code, **facts),)
        return table.do_step()

    return reach


def unreadable_artifact() -> Table:
    table = begun(step("00-01", outputs=["user-stories.json"]))
    table.world.files["user-stories.json"] = "not json"
    return table.do_step("As a driver I want tunnels so that it works")


def unknown_phase() -> Table:
    return Table(book([step("02-01")], phases=ANALYSIS_PHASES[2:3], roster=seats("business-analyst"))).start()


def step_gone() -> Table:
    table = begun().do_step()
    table.playbook = few_steps(without="00-01")
    return table.press(Action.ELABORATE)


def speaking(said: str | Contribution) -> Table:
    table = begun().do_step()
    table.world.speech = lambda *_: said
    return table.press(Action.ELABORATE)


def lowered_limit() -> Table:
    table = begun().elaborate().say("Tunnels.").stop()
    return table.meta_says(elaboration_config={"max_turns": 3}).resume()


def file_gone() -> Table:
    table = begun().do_step()
    table.world.files.clear()
    return table.press(Action.ELABORATE).say("done")


REACHED: dict[str, Callable[[], Table]] = {
    "ERR-RT-002": read("ERR-RT-002"),
    "ERR-STEP-001": read("ERR-STEP-001"),
    "ERR-STEP-002": read("ERR-STEP-002"),
    "ERR-STEP-003": read("ERR-STEP-003", filename="01-a.md"),
    "ERR-STEP-004": read("ERR-STEP-004", filename="01-a.md"),
    "ERR-STEP-005": read("ERR-STEP-005", filename="01-a.md", field_name="title"),
    "ERR-STEP-006": read("ERR-STEP-006", filename="01-a.md", field_name="depth", value="abysmal"),
    "ERR-STEP-007": lambda: begun(step("00-01", sections={StepHeading.STANDARD: "What?"})).say("deep"),
    "ERR-STEP-008": lambda: begun(step("00-01", depends_on=["00-09"])),
    "ERR-STEP-009": lambda: begun(step("00-01", skip_if="scope =")),
    "ERR-META-001": removed_meta,
    "ERR-META-002": corrupt_meta,
    "ERR-META-003": lambda: begun().fail("commit").do_step(),
    "ERR-META-004": lambda: begun().meta_says(steps_completed="00-01").do_step(),
    "ERR-META-005": lambda: begun().meta_says(depth_overrides=["deep"]).do_step(),
    "ERR-ART-001": written("ERR-ART-001"),
    "ERR-ART-002": written("ERR-ART-002", artifact_name="quick-scan.md"),
    "ERR-ART-003": unreadable_artifact,
    "ERR-PERSONA-001": unknown_phase,
    "ERR-PERSONA-002": lambda: begun(step("00-01", persona="system-designer")),
    "ERR-DEPTH-001": lambda: begun().do_step().press_continue(),
    "ERR-DEPTH-002": lambda: begun().meta_says(depth_overrides={"00-quick-scan": "abysmal"}).forget(),
    "ERR-INT-001": lambda: begun().do_step().fail("speak", times=3).press(Action.ELABORATE),
    "ERR-INT-002": lambda: begun().meta_says(steps_completed=["02-01"]).do_step().press_continue(),
    "ERR-ELAB-001": step_gone,
    "ERR-ELAB-002": lambda: unknown_phase().elaborate(),
    "ERR-ELAB-003": lambda: begun().meta_says(elaboration_config={"max_turns": 2}).do_step(),
    "ERR-ELAB-004": lambda: speaking(Contribution("me", blends=True)),
    "ERR-ELAB-005": lambda: speaking("What of 02-01?"),
    "ERR-ELAB-006": lowered_limit,
    "ERR-ELAB-008": written("ERR-ELAB-008"),
    "ERR-ELAB-009": lambda: begun().elaborate().say("Tunnels.").fail("commit").say("done"),
    "ERR-ELAB-010": lambda: begun().meta_says(elaborations="none").do_step(),
    "ERR-ELAB-012": lambda: begun().elaborate().say("Architect, how?"),
    "ERR-ELAB-013": file_gone,
    "ERR-ELAB-014": lambda: begun().elaborate().fail("speak", "context").press(Action.GO_ON),
}


def test_every_code_has_its_way_to_be_reached() -> None:
    """25 of the seed, 12 of elaborations; one of them keeps the bot from starting."""
    assert set(REACHED) | {SILENT_AT_START} == set(TAXONOMY)
    assert len(TAXONOMY) == 37


@pytest.mark.parametrize("code", REACHED)
def test_a_code_is_logged_and_its_sentence_is_told(code: str) -> None:
    """To the letter, in the thread; people need not know of a code without one."""
    table = REACHED[code]()
    told = next(one for one in table.world.logged if one.code == code).sentence

    if TAXONOMY[code].sentence:
        assert any(told in text for text in table.texts)
    else:
        assert not any(code in said.message.text + said.message.note for said in table.world.thread)


def test_every_code_stands_where_it_is_raised() -> None:
    """Somewhere in the bot, and not only in the table of codes."""
    elsewhere = [path for path in SOURCES.rglob("*.py") if path.name != "taxonomy.py"]
    sources = "".join(path.read_text(encoding="utf-8") for path in elsewhere)

    assert [code for code in REACHED if f'"{code}"' not in sources] == []


def test_without_any_persona_the_bot_does_not_start(tmp_path: Path) -> None:
    """ERR-RT-001: there is nobody to fall back to, so it says what is missing instead."""
    with pytest.raises(ContentError, match="persona"):
        load(tmp_path, tmp_path)
