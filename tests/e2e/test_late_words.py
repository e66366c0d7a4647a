"""People's messages are delivered late and in any order, over real sockets: what they meant is what happens."""

from pathlib import Path

from tests.durability.checks import Item, in_thread_order
from tests.e2e.meeting import Meeting, sandbox


async def whisper(meeting: Meeting, who: str, words: str) -> str:
    person = meeting.slack.person(who)
    found = await meeting.until(lambda: [one.text for one in person.ephemerals if words in one.text])
    return found[-1]


async def test_words_that_are_delivered_backwards(tmp_path: Path) -> None:
    """Those of the step before belong to it, and those of this step stand in the order of the thread."""
    async with sandbox() as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        async with meeting.bot():
            await meeting.start("Offline sync")
            await meeting.say("Edits get lost in tunnels. Scope: small")
            await slack.settled()
            slack.hold_events()
            await meeting.say("And on planes.", who="linus")
            await meeting.press("finish_step")
            await meeting.press("continue")
            await meeting.seen("Step 00-02")
            for number in range(4):
                await meeting.say(f"Keyword{number} is where it is.", who=("grace", "linus")[number % 2])
            slack.release_events(backwards=True)
            assert "00-01" in await whisper(meeting, "linus", "I kept it with that step")
            await slack.settled()
            await meeting.press("finish_step")
            await meeting.menu("continue")

    lines = meeting.lines("User")
    assert [line.content for line in lines[1:]] == [
        "And on planes.",
        *(f"Keyword{number} is where it is." for number in range(4)),
    ]
    assert lines[1].meta["answers_step"] == "00-01"
    assert lines[1].meta["written_at"] < lines[1].ts
    assert list(in_thread_order(Item(meeting.workspace, meeting.slug))) == []
    assert meeting.transcript.flaws == ()
