"""The prompt of every task of every shipped step, for a full, large item: what the step refers to is in it."""

import re
from collections.abc import Callable, Mapping
from functools import cache

import pytest

from bot.domain.catalog.schema import NOTE
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.specification import LEFT_OUT, OF_THE_STEP, ids_left_out, lines_of, nearness
from bot.voices.prompts.texts import part_of
from tests.specification.meeting import SCHEMA, Meeting
from tests.voices.minds import whole
from tests.voices.prompts.kept import ALL, ROUND, ROUNDTABLE, SHIPPED, asking, debate, scene
from tests.voices.prompts.large_item import BY_HAND, SECTIONS_BYTES, large

STEPS = SHIPPED.agenda.steps
LONG_ANSWER = "A van stays in a tunnel for 40 minutes. " * 100
"""4,000 characters in one message."""


TASKS: Mapping[str, Callable[[Scene, Elaboration], Prompt]] = {
    "draft": lambda scene, _: tasks.draft(scene),
    "turn": lambda scene, debate: tasks.turn(scene, debate, ROUND),
}


def at(step: Step) -> Roundtable:
    rt, _ = large()
    said = Answer(person="U1", text=LONG_ANSWER, ts="1")
    return rt.but(phase_key=step.phase_key, step_id=step.step_id, answers=(said,))


@cache
def prompt_of(task: str, step_id: str) -> Prompt:
    _, files = large()
    step, discussed = SHIPPED.agenda.step(step_id), debate(4).but(step_id=step_id)
    rt = at(step).but(elaboration=discussed)
    return TASKS[task](Scene(rt, SHIPPED, SHIPPED.roster[step.persona], files), discussed)


def test_the_item_is_large() -> None:
    """Of all 24 steps, and more than any prompt holds."""
    _, files = large()

    assert len(STEPS) == 24
    assert sum(len(text.encode()) for text in files.values()) >= SECTIONS_BYTES


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.step_id)
@pytest.mark.parametrize("task", TASKS)
def test_what_the_step_refers_to_is_in_its_prompt(task: str, step: Step) -> None:
    """Each entry of what it collects and needs, with its words; what people said and wrote by hand, whole."""
    prompt = whole(prompt_of(task, step.step_id))
    rt, _ = large()
    wanted = [kind for kind, near in nearness(SCHEMA, step.step_id).items() if near == OF_THE_STEP]
    entries = [entry for kind in wanted for entry in rt.specification.active(kind)]

    assert entries or not SCHEMA.shown_in(step.step_id)
    for entry in entries:
        assert f"{entry.id} {entry.kind} [accepted, Ada " in prompt, entry.id
    for entry in (
        one for kind in ("requirement", "risk", "module", "decision") for one in rt.specification.active(kind)
    ):
        assert f"\n{entry.id} {entry.kind} [accepted" in prompt, entry.id
    assert f"> {LONG_ANSWER.strip()}" in prompt
    assert "[C.1] Ada" in prompt
    assert BY_HAND in prompt
    assert "src/queue.py: imports src/sync.py" in prompt
    assert "[cut]" not in prompt


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.step_id)
@pytest.mark.parametrize("task", TASKS)
def test_no_placeholder_of_ours_is_left(task: str, step: Step) -> None:
    """Neither of the step's texts nor of ours; JSON is no placeholder."""
    prompt = whole(prompt_of(task, step.step_id))

    assert not re.findall(r"\{[a-z_]+\}", prompt)
    assert not re.findall(r"\$[a-z_{]", prompt)
    assert "\x00" not in prompt


DATA_FORM = " ".join(part_of("schemas", "data").split())


@pytest.mark.parametrize("name", [*ALL, *(f"{task} {step.step_id}" for task in TASKS for step in STEPS)])
def test_no_two_rules_exclude_each_other(name: str) -> None:
    """One limit of words, silence allowed or forbidden, and one form of answer."""
    task, _, step = name.partition(" ")
    made = prompt_of(task, step) if step else ALL[name]()
    words = " ".join(whole(made).split())
    is_json = DATA_FORM in words

    assert len(set(re.findall(r"[Aa]t most \d+ words", words))) <= 1
    assert ("Do not stay silent" in words) + ("stay silent: silence" in words) <= 1
    assert not ("Do not stay silent" in words and '"pass"' in words)
    assert ("Ask nothing in your words" in words) + ("At most one question" in words) <= 1
    assert is_json != ("Plain chat Markdown" in words)
    assert not (is_json and "No headings, tables" in words)


def test_personas_in_a_discussion_share_all_but_the_end() -> None:
    """A provider reads the same beginning for each of them."""
    _, files = large()
    discussed = debate(4)
    made = [
        tasks.turn(Scene(at(STEPS[8]), SHIPPED, one, files), discussed, asking(one.key))
        for one in SHIPPED.roster
    ]

    assert len({prompt.stable for prompt in made}) == 1
    assert all(one.looks_for[0] in prompt.moving for one, prompt in zip(SHIPPED.roster, made, strict=True))


def test_drafts_of_a_persona_share_all_but_the_step() -> None:
    """Also who drafts, and what the task is: from step to step only the record grows."""
    _, files = large()
    one = SHIPPED.roster[STEPS[8].persona]
    rules = {tasks.draft(Scene(at(step), SHIPPED, one, files)).stable[0] for step in STEPS}

    assert len(rules) == 1
    assert all(part in "".join(rules) for part in (one.looks_for[0], "## The form of your answer"))


@pytest.mark.parametrize("room", [500, 3_000, 12_000])
def test_where_there_is_little_room_the_step_comes_first(room: int) -> None:
    """Whole lines of what it collects; the ids of what was left out, and how to see it."""
    rt, _ = large()
    shown = lines_of(SCHEMA, rt.specification, step_id="01-06", room=room)
    *lines, left = shown.split("\n")
    every = lines_of(SCHEMA, rt.specification, room=10**6).split("\n")

    assert left.startswith(LEFT_OUT)
    assert "read_entry" in left
    assert sum(len(line) + 1 for line in lines) <= room
    assert all(any(full.startswith(line) for full in every) for line in lines)
    assert lines[0].startswith("FR-001 ") or room > 500


def test_a_plan_has_room_for_more_entries_and_what_is_left_out_is_told() -> None:
    meeting = Meeting()
    for number in range(350):
        meeting.say("Ada", "01-06", f"requirement: The service answers request {number} {'soon ' * 20}")
    rt = ROUNDTABLE.but(specification=meeting.specification)
    steps = ("01-06", SHIPPED.agenda.plan.step_id)
    step, plan = (tasks.draft(scene(rt=rt.but(step_id=one))).stable[2] for one in steps)

    assert 40_000 < len(step) < 42_000
    assert ids_left_out(step).endswith("to FR-350")
    assert len(plan) > 50_000
    assert ids_left_out(plan) == ""


def test_remarks_are_the_first_to_go() -> None:
    """What was said and is sorted counts for more."""
    assert max(nearness(SCHEMA, "01-06").values()) == nearness(SCHEMA, "01-06")[NOTE]
