"""A decision that changes what is written: asked about at the bottom, contradicted everywhere until it is settled."""

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import Meeting

LIST = "roundtable.changes"


def files_saying(meeting: Meeting, text: str) -> set[str]:
    return {path.name for path in meeting.folder.rglob("*.md") if text in path.read_text("utf-8")}


def offered(message: SandboxMessage) -> list[str]:
    (select,) = [one for one in message.elements if one["action_id"] == LIST]
    return [option["value"] for group in select["option_groups"] for option in group["options"]]


async def decided(meeting: Meeting) -> SandboxMessage:
    await meeting.start("Offline sync")
    await meeting.say("requirement: Changes merge per field\nAC: the engineer is asked")
    await meeting.slack.settled()
    await meeting.say("decision: Conflicts go to the back office", who="linus")
    return await meeting.seen("DEC-001 is recorded")


async def test_what_a_decision_changes_is_contradicted_until_it_is_settled(meeting: Meeting) -> None:
    async with meeting.bot():
        prompt = await decided(meeting)
        (criterion,) = [value for value in offered(prompt) if "AC-001-01" in value]
        await meeting.slack.person("grace").press(prompt, LIST, [criterion])
        asked = await meeting.seen("*AC-001-01* says")
        assert asked.ts == prompt.ts, "the same post asks on"
        await meeting.finish_step()
        await meeting.slack.settled()
        assert files_saying(meeting, "contradicted by DEC-001") == {
            "architecture-overview.md", "brief.md", "requirements-spec.md",
        }  # fmt: skip
        assert "Contradicted by DEC-001" in str((await meeting.card()).blocks)

        await meeting.press("holds", who="grace")
        await meeting.press("continue")
        await meeting.until(lambda: not files_saying(meeting, "contradicted by DEC-001"))


async def test_a_decision_is_reversed_in_a_window(meeting: Meeting) -> None:
    async with meeting.bot():
        await decided(meeting)
        grace = meeting.slack.person("grace")
        await meeting.press("reverse", who="grace")
        await meeting.until(lambda: grace.view)
        await grace.submit(
            {"roundtable.new": "Conflicts go to dispatch", "roundtable.because": "they see both"}
        )
        await meeting.seen("DEC-002 is recorded: Conflicts go to dispatch")
        await meeting.finish_step()
        await meeting.slack.settled()

    assert files_saying(meeting, "Conflicts go to dispatch")
