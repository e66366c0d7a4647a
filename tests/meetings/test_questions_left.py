"""24 steps of a medium item in which the thread and the code answer nearly everything: few questions are left."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from bot.domain.catalog.policy import Policy
from bot.domain.catalog.schema import NOTE, REMARK, FieldType, Kind, KindField
from bot.domain.messages.message import Action
from bot.domain.messages.step_scene import SuggestionState
from bot.domain.roundtable.cards import suggestions
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.stage import Stage
from bot.engine.ports import VoiceContext
from bot.voices.model import Prompt
from bot.voices.prompts.scene import Scene
from bot.voices.prompts.wanted import OpenPoint, open_points
from tests.domain.table import Table, shipped
from tests.voices.minds import ScriptedMind, thinking

MOST_QUESTIONS = 12
ASKS = "What about this?"
SAID = "Drivers lose edits in tunnels. Ada syncs src/sync.py within 60 s with sync() by Friday, 5 files of 5."
"""What Ada answers on every step; what the mind proposes is in these words."""
VALUES = {
    FieldType.AMOUNT: "60 s",
    FieldType.NUMBER: 5,
    FieldType.DATE: "Friday",
    FieldType.PERSON: "Ada",
    FieldType.PATH: "src/sync.py",
    FieldType.CODE: "sync()",
    FieldType.LINE: "Drivers lose edits",
    FieldType.TEXT: "Drivers lose edits in tunnels",
}


def scene_of(table: Table, persona: str) -> Scene:
    return Scene(table.rt, table.playbook, table.playbook.roster[persona], {})


def points(scene: Scene) -> Iterator[tuple[int, OpenPoint]]:
    """Those that coverage has found; the step's own questions are answered in the thread."""
    return ((n, one) for n, one in enumerate(open_points(scene), start=1) if one.gap)


def entries(scene: Scene) -> list[dict[str, Any]]:
    """One of each kind that the step collects and has none of, and what entries lack that are there already."""
    rt, schema = scene.rt, scene.playbook.schema
    line = rt.line_of(rt.answers[-1].ts)
    found: list[dict[str, Any]] = []
    for kind in schema.shown_in(rt.step_id):
        if kind.key == NOTE:
            continue
        owners = rt.specification.active(kind.part_of) if kind.part_of else ()
        there = rt.specification.active(kind.key)
        if not there and (owners or not kind.part_of):
            told = fields(kind, scene)
            new = {"kind": kind.key, "fields": told, "quotes": quotes(told, line)}
            found.append({**new, "part_of": owners[0].id} if owners else new)
        for entry in there:
            lacking = {name: one for name, one in fields(kind, scene).items() if entry[name] is None}
            if lacking:
                found.append({"id": entry.id, "fields": lacking, "quotes": quotes(lacking, line)})
    return found


def quotes(told: Iterable[str], line: str) -> list[dict[str, str]]:
    return [{"field": name, "line": line, "words": SAID} for name in told]


def fields(kind: Kind, scene: Scene) -> dict[str, Any]:
    told = {name: value(field, scene) for name, field in kind.fields.items() if name != REMARK}
    return {name: one for name, one in told.items() if one is not None}


def value(field: KindField, scene: Scene) -> Any:
    one: Any = field.of[0] if field.of else VALUES.get(field.type)
    if field.type is FieldType.REF:
        one = next((entry.id for entry in scene.rt.specification.active(field.to)), None)
    return one if one is None or not field.many else [one]


def look(table: Table) -> bool:
    """The persona reads what was said; whether a question to people came of it, or one was left out."""
    speak = table.speaking
    scene = scene_of(table, speak.persona)
    asks = next(points(scene), None)

    def answer(_: Prompt) -> str:
        asked = [{"text": ASKS, "about": asks[0]}] if asks else []
        return json.dumps({"say": "", "questions": asked, "entries": entries(scene)})

    mind = ScriptedMind(script=answer)
    speech = asyncio.run(thinking(mind).draft(VoiceContext(table.rt, table.playbook, speak.persona)))
    assert len(mind.asked) == 1
    read = tuple(one.ts for one in table.rt.unread)
    table.spoke(speak, read=read, **speech._asdict()).resume_paying()
    return asks is not None


def open_suggestions(table: Table) -> list[str]:
    step = table.playbook.agenda.get(table.rt.step_id)
    assert step
    found = suggestions(table.rt, step, table.playbook)
    return [str(one.number) for one in found if one.state is SuggestionState.OPEN]


def test_few_questions_are_left_for_people() -> None:
    """A mind that asks about every gap it is shown; what its own entries answer is not asked. Finish asks nobody."""
    table = Table(replace(shipped(), short_path=None, policy=Policy(thinks=True, draft_seconds=0))).start()
    wanted = 0
    while table.rt.stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY}:
        if table.rt.stage is Stage.AT_BOUNDARY:
            table.press(Action.CONTINUE)
            continue
        table.stop_paying().say(SAID).pay_up_to("speak")
        wanted += look(table)
        if numbers := open_suggestions(table):
            table.say(f"accept {', '.join(numbers)}")
        table.press(Action.FINISH_STEP)
    asked = [line for line in table.lines if line.content == ASKS]

    assert len(table.meta.steps_completed) == 24
    assert wanted > MOST_QUESTIONS >= len(asked)
    assert len([one for one in table.completing if isinstance(one, Speak)]) == 0
