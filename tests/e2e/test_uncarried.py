"""What a synthesis left out stands on the card: taken over by a press or a word, across restarts."""

import json

from tests.e2e.meeting import Meeting
from tests.e2e.test_thinking import good
from tests.voices.minds import ScriptedMind, thinking

FACT = "Drivers lose 40 % of their edits in tunnels"
OTHER = "The pilot with 12 trucks begins on 4 May"
LEFT = "We will have 900 trucks one day"


def notes(meeting: Meeting) -> list[tuple[str, str]]:
    entries = json.loads((meeting.folder / "specification.json").read_text())["entries"]
    claims = [one["claims"]["text"][-1] for one in entries if one["kind"] == "note"]
    return [(claim["accepted"]["name"], claim["value"]) for claim in claims if "said: “" in claim["value"]]


async def test_what_a_synthesis_left_out_is_taken_over(meeting: Meeting) -> None:
    """One by a press, one by a word, and one is not needed; the files say whose words they are."""
    meeting.voices, meeting.more = thinking(ScriptedMind(script=good)), {"ROUNDTABLE_MODEL": "ollama:small"}
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        await meeting.press("elaborate")
        await meeting.seen("one of them made the case against it")
        for text in (FACT, OTHER, LEFT):
            await meeting.say(f"{text}.", who="grace")
            await meeting.slack.settled()
        await meeting.say("done", who="ada")
        await meeting.seen("3 remarks are in no entry")
        await meeting.slack.settled()
    async with meeting.bot():
        await meeting.press("carry", who="ada")
        await meeting.seen("2 remarks are in no entry")
    async with meeting.bot():
        await meeting.say("take over F2", who="linus")
        await meeting.seen("1 remark is in no entry")
        await meeting.say("not needed F3", who="linus")
        await meeting.until(lambda: not meeting.menus("carry"))
        await meeting.press("continue")
        await meeting.seen("Step 00-02:")

    assert notes(meeting) == [("Ada", f"Grace said: “{FACT}.”"), ("Linus", f"Grace said: “{OTHER}.”")]
    told = [line.meta["not_carried"] for line in meeting.transcript.lines if "not_carried" in line.meta]
    assert [[one["what"] for one in listed] for listed in told] == [[f"{FACT}.", f"{OTHER}.", f"{LEFT}."]]
    said = [line.content for line in meeting.lines("PlanningAgent")]
    assert f"Linus said that this is not needed: “{LEFT}.”." in said
