"""`roundtable eval`: the same meeting for three contenders, scored by what was planted in it."""

import json
from pathlib import Path

import pytest

from bot import shipped
from bot.content import load
from bot.domain.discussion.synthesis import Decision, Insight, Objection, Synthesis
from bot.errors import ConfigError
from bot.settings import Settings
from roundtable_eval import evaluation
from roundtable_eval.contending import ALONE, PANEL, PASTED, MeetingStage, contest, scripted
from roundtable_eval.files import read_meeting, read_meetings
from roundtable_eval.meeting import Meeting, Planted, PlantedDecision, PlantedDissent, score
from tests.command_line import command_line
from tests.voices.minds import ScriptedMind, whole

PLAYBOOK = load(shipped.personas_dir(), shipped.steps_dir())
UNSEEN = Path(__file__).parents[1] / "meetings" / "unseen"
"""Written before their author knew the checks, and harder; docs/eval.md says what the checks missed then."""
FOLDERS = (shipped.meetings_dir(), UNSEEN)
MEETINGS = {one.key: one for folder in FOLDERS for one in read_meetings(folder, PLAYBOOK.roster)}
OFFLINE = Settings.from_env({})


@pytest.mark.parametrize("key", MEETINGS)
async def test_the_panel_keeps_what_is_planted_and_records_nothing_false(key: str) -> None:
    """With models that lie as the file has it; only the checks stand between them and the record."""
    meeting = MEETINGS[key]
    (panel, *_) = await contest(meeting, PLAYBOOK, scripted(meeting, PLAYBOOK))
    found = panel.score

    assert panel.failed == ""
    assert (found.facts, found.dissent, found.collapses) == (
        found.of_facts,
        found.of_dissent,
        found.of_collapses,
    )
    assert (found.false_claims, found.invented, found.alarms) == (0, 0, 0)


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
planted: {facts: [[310 edits]], collapsed: [Where edits wait]}
script:
  panel: {insights: [{text: The device has a queue, turns: [t06]}], summary: Where edits wait}
  alone: {insights: [], summary: Nothing}
  pasted: {insights: [], summary: Nothing}
"""


def meeting_of(tmp_path: Path, text: str) -> Meeting:
    (tmp_path / "one.yaml").write_text(text)
    return read_meeting(tmp_path / "one.yaml", PLAYBOOK.roster)


async def test_positions_are_normalised_as_in_a_thread(tmp_path: Path) -> None:
    """What a person types is an option, and who is for it in other words holds it."""
    meeting = meeting_of(tmp_path, GIVING_IN)
    rt, _ = await MeetingStage(meeting, PLAYBOOK, scripted(meeting, PLAYBOOK)).debate()
    debate = rt.debate

    assert [one.text for one in debate.options][:1] == ["a bucket in Redis"]
    assert debate.turns[-1].stances[0].held == "a bucket in Redis"


async def test_what_is_not_checked_is_recorded() -> None:
    """The scores tell good from bad: the same lies, without the checks, are counted."""
    meeting = MEETINGS["07-fabrications"]
    _, alone, pasted = await contest(meeting, PLAYBOOK, scripted(meeting, PLAYBOOK))

    assert (alone.contender, pasted.contender) == (ALONE, PASTED)
    assert (alone.score.false_claims, pasted.score.false_claims) == (2, 1)
    assert alone.score.facts < alone.score.of_facts


async def test_who_is_shown_what() -> None:
    """A persona has its own evidence, one model has all of it, and the pasted thread has none."""
    meeting = MEETINGS["10-hidden-profile"]
    script = scripted(meeting, PLAYBOOK)
    minds = {
        key: ScriptedMind('Noted.\n\n```record\n{"stances": []}\n```')
        for key in (one.key for one in PLAYBOOK.roster)
    }
    alone, pasted = (ScriptedMind(json.dumps(dict(meeting.script.alone))) for _ in range(2))
    await contest(meeting, PLAYBOOK, script._replace(speaker=minds.__getitem__, alone=alone, pasted=pasted))
    asked = {PLAYBOOK.roster[key].first_name: whole(mind.asked[0]) for key, mind in minds.items()}

    for name, text in meeting.evidence.items():
        assert text in asked[name]
        assert all(text not in prompt for other, prompt in asked.items() if other != name)
        assert text in whole(alone.asked[0])
        assert text not in whole(pasted.asked[0])
    assert "We need an answer in 100 ms." in whole(pasted.asked[0])


RECORD = Synthesis(
    insights=(
        Insight(text="Edits wait 2 ms in Redis", turns=("t01",)),
        Insight(text="40% leave", turns=("t01",), unverified="the source does not say “40%”"),
        Insight(text="60% stay"),
    ),
    decisions=(Decision(text="Keep Redis", by="Ada"), Decision(text="Ship", by="Grace")),
    objections=(Objection(text="storage: SQLite (“In a tunnel there is no server.”)"),),
    summary="Redis",
)


@pytest.mark.parametrize(
    ("planted", "changes"),
    [
        (Planted(), {"invented": 2}),
        (Planted(decisions=(PlantedDecision(by="Ada", words=("redis",)),)), {"invented": 1}),
        (Planted(facts=(("2 ms", "redis"), ("3 ms",))), {"facts": 1, "of_facts": 2, "invented": 2}),
        (Planted(lies=(("2 ms",),)), {"false_claims": 1, "invented": 2}),
        (Planted(lies=(("40%",), ("60%",))), {"invented": 2}),
        (
            Planted(
                dissent=(
                    PlantedDissent(by="Jordan", says="there is no server"),
                    PlantedDissent(by="Ada", says="no"),
                )
            ),
            {"dissent": 2, "of_dissent": 2, "invented": 2},
        ),
        (
            Planted(dissent=(PlantedDissent(by="Jordan", says="no servers"),)),
            {"of_dissent": 1, "invented": 2},
        ),
        (
            Planted(collapsed=("storage", "names")),
            {"collapses": 1, "of_collapses": 2, "alarms": 1, "invented": 2},
        ),
    ],
)
def test_a_record_is_scored_by_words(planted: Planted, changes: dict[str, int]) -> None:
    """What is marked, or called an assumption, is not recorded as fact."""
    collapsed = ("Storage", "limits") if planted.collapsed else ()

    assert score(planted, RECORD, collapsed).model_dump(exclude_defaults=True) == changes


async def test_without_a_model_it_says_what_to_set() -> None:
    """Nothing is played by accident without one."""
    with pytest.raises(ConfigError, match=r"set ROUNDTABLE_MODEL, or add --scripted"):
        await evaluation.evaluate([], settings=OFFLINE, redact=str, use_scripts=False)


BAD = """
title: A lie
about: The panel records what its script says, and the threshold is missed.
thread:
  - Maya: Why?
  - Ada: Because.
planted: {facts: [[nothing of it]], lies: [[because]]}
script:
  panel: {insights: [{text: Because, turns: [t02]}], summary: Because}
  alone: {insights: [{text: Because, turns: [t01]}], summary: Because}
  pasted: {insights: [{text: Because, turns: [t01]}], summary: Because}
"""


async def test_the_command_prints_a_table_and_exits_by_the_thresholds(tmp_path: Path) -> None:
    """0 for the meetings that ship; 1 for a file whose panel records a lie; one sentence for a bad file."""
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "broken.yaml").write_text("title: x")
    with command_line(tmp_path) as commands:
        good = await commands.run(tmp_path, "eval", "--scripted")
        bad = await commands.run(tmp_path, "eval", "--scripted", "--json", "bad.yaml")
        broken = await commands.run(tmp_path, "eval", "--scripted", "broken.yaml")

    assert good.code == 0
    assert [row.split()[0] for row in good.out.splitlines()[3:6]] == [PANEL, ALONE, PASTED]
    assert bad.code == 1
    assert bad.json["below"] == [
        "facts kept: at least 90 % wanted",
        "false claims: 0 wanted",
    ]
    assert [one["contender"] for one in bad.json["contests"]] == [PANEL, ALONE, PASTED]
    assert broken.code == 1
    assert len(broken.err.strip().splitlines()) == 1
    assert broken.err.startswith("broken.yaml is not a meeting: ")
