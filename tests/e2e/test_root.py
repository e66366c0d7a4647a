"""The first message of the thread as people see it, and the final brief, across restarts."""

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting, ways


def root(meeting: Meeting) -> SandboxMessage:
    return meeting.thread[0]


async def skip_the_rest(meeting: Meeting) -> None:
    """Each phase by its button, until the brief is there."""

    def offered() -> list[SandboxMessage]:
        return [*meeting.menus("finish_step"), *meeting.menus("continue")]

    def is_ended() -> bool:
        return any("Analysis complete" in one.text for one in meeting.thread)

    while not is_ended():
        card = max(offered(), key=lambda one: float(one.ts))
        action = "skip" if "skip" in ways(card) else "continue"
        await meeting.press_in(card, action)
        await meeting.until(lambda: card not in meeting.thread and (is_ended() or offered()))  # noqa: B023


async def test_the_brief_ends_the_analysis_in_the_channel(meeting: Meeting) -> None:
    """It says who decided, is edited after a restart, and is never posted twice."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.until(lambda: "catch_up" in ways(root(meeting)))
        assert "Step 1 of 24, *Scope Estimation*" in root(meeting).words
        assert "Maya, Alex and Jordan follow rules, without a model." in root(meeting).words
        await meeting.say("decision: Keep edits on the phone")
        await meeting.do_step("Edits get lost in tunnels.")
        await skip_the_rest(meeting)
        brief = await meeting.seen("Analysis complete")

    assert brief.subtype == "thread_broadcast"
    assert "Keep edits on the phone. Decided by Grace." in brief.words
    assert brief.ts in {one.ts for one in meeting.slack.messages(CHANNEL)}

    async with meeting.bot():
        await meeting.say("DEC-001: Keep edits on the server")
        changed = await meeting.seen("Keep edits on the server. Decided by Grace.")
        await meeting.until(lambda: "Keep edits on the server" in root(meeting).words)
        assert changed.ts in {brief.ts, meeting.root}
        assert len([one for one in meeting.thread if one.subtype == "thread_broadcast"]) == 1
        await meeting.press_in(root(meeting), "plan")
        await meeting.seen("Step 05-01: Plan")
