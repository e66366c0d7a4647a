"""The first message of the thread as people see it, and the final brief, across restarts."""

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting, ways


def root(meeting: Meeting) -> SandboxMessage:
    return meeting.thread[0]


async def test_pausing_and_resuming_with_the_first_message(meeting: Meeting) -> None:
    """Its buttons work after restarts, and it says what is the case."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.until(lambda: "catch_up" in ways(root(meeting)))
        assert "Step 1 of 24, *Scope Estimation*" in root(meeting).words
        assert "Maya, Alex and Jordan follow rules, without a model." in root(meeting).words
        await meeting.do_step("Edits get lost in tunnels.")
        await meeting.until(lambda: "*Scope Estimation* (finished)" in root(meeting).words)

    async with meeting.bot():
        await meeting.press_in(root(meeting), "stop", who="grace")
        await meeting.until(lambda: "Paused by Grace." in root(meeting).words)

    async with meeting.bot():
        await meeting.press_in(root(meeting), "resume")
        await meeting.until(lambda: "Paused" not in root(meeting).words)
        assert "*Scope Estimation* (finished)" in root(meeting).words

    async with meeting.bot():
        await meeting.press_in(root(meeting), "export")
        await meeting.until(lambda: [one for one in meeting.thread if one.files])


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


async def test_a_finished_step_is_opened_again(meeting: Meeting) -> None:
    """From its collapsed card, after a restart, and by word; what is added is committed with the step's file."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels.")
        await meeting.press("continue")
        await meeting.seen("Step 00-02:")
        collapsed = await meeting.until(lambda: [one for one in meeting.thread if "is finished." in one.text])

    async with meeting.bot():
        await meeting.press_in(collapsed[0], "reopen", who="grace")
        await meeting.menu("finish_step")
        await meeting.until(lambda: "Step 00-01:" in meeting.thread[-1].text)

    async with meeting.bot():
        await meeting.do_step("decision: Keep them on the phone")
        assert meeting.subjects()[-1].startswith("roundtable(offline-sync): feedback 00-01")

    async with meeting.bot():
        await meeting.say("reopen")
        await meeting.menu("finish_step")
        assert "Grace chose: Open 00-01 Scope Estimation" in [
            line.content for line in meeting.transcript.lines
        ]
