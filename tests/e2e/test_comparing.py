"""Scripted models in a discussion: three names of one issue, one option in three wordings, and a second model."""

import json

import pytest

from bot.voices.model import Prompt
from bot.voices.offline.offline import OfflineVoices
from bot.voices.thinking import ModelVoices
from bot.voices.verifying import Verifier
from tests.e2e.meeting import Meeting
from tests.e2e.test_thinking import good, task_of
from tests.voices.minds import Answer, ScriptedMind, lost, record

SAID = {
    "Alex Rivera, Solutions": ("Storage of edits", "the device keeps a queue"),
    "Jordan Park, System": ("Waiting place", "a queue in the phone"),
}
GROUPED = json.dumps({"issues": [["i1", "i2"]], "positions": [["p1", "p2"]]})


def speaking(prompt: Prompt) -> Answer:
    if task_of(prompt) != "respond" or "Make the strongest case against" in prompt.moving:
        return good(prompt)
    issue, position = next(held for name, held in SAID.items() if name in prompt.moving)
    return record(f"I am for this: {position}.", {"issue": issue, "position": position})


@pytest.mark.parametrize(
    ("answer", "is_challenged"),
    [(GROUPED, True), ('{"issues": [], "positions": []}', False), (lost("unavailable"), False)],
)
async def test_agreement_in_other_words(meeting: Meeting, answer: Answer, is_challenged: bool) -> None:  # noqa: FBT001
    """Challenged when the second model says that it is one; by rules alone it is not. A restart before the end."""
    second = ScriptedMind(answer)
    meeting.more = {"ROUNDTABLE_MODEL": "ollama:small"}
    meeting.voices = ModelVoices(lambda _: ScriptedMind(script=speaking), OfflineVoices(), Verifier(second))
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.press("finish_step")
        await meeting.menu("continue")
        await meeting.press("elaborate")
        await meeting.seen("6 of 10 turns left" if is_challenged else "7 of 10 turns left")
    async with meeting.bot():
        await meeting.press("end_elaboration")
        await meeting.seen("A queue keeps the order")
        await meeting.menu("continue")
        await meeting.slack.settled()

    lines = [line for line in meeting.transcript.lines if "same_positions" in line.meta]
    asked = [one for one in second.asked if "compare where the participants" in one.moving]
    assert len(lines) == len(asked) == 1 + is_challenged, "the challenge puts something new on record"
    challenges = [line for line in meeting.transcript.lines if line.meta.get("challenge")]
    assert len(challenges) == is_challenged
    assert bool(lines[0].meta["same_positions"]["positions"]) is is_challenged
    words = [made.get("words", made["option"]) for _, made in meeting.made("position")]
    assert {position for _, position in SAID.values()} <= set(words)
