"""
The whole bot while Slack has a bad day: what people see, and what is kept.

Whatever goes wrong, every post of a persona stands in the thread once and in order, nothing that people said is lost,
and where somebody has to act, a sentence says so.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.domain.transcript.lines import Source
from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME
from slack_sandbox import App, Sandbox, SandboxMessage, Timing
from tests.durability.checks import Item, in_thread_order
from tests.e2e.meeting import CHANNEL, Meeting
from tests.patience import PATIENCE_SECONDS

TIMING = Timing(ack_seconds=1, retry_seconds=(0.1, 1, 8, 8, 8))
ANSWER = "Field workers lose their edits. Scope: small"
CALL_SECONDS = 2.0
"""How long a call of Slack may take here: what waits for one that was lost waits so long."""


@pytest.fixture
async def slack() -> AsyncIterator[Sandbox]:
    async with Sandbox(app=App(shortcuts={SHORTCUT: SHORTCUT_NAME}), timing=TIMING) as slack:
        yield slack


@pytest.fixture
def meeting(slack: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meeting:
    monkeypatch.setattr("bot.slack.client.CALL_SECONDS_HERE", CALL_SECONDS)
    return Meeting(slack, tmp_path / "workspace")


def posts(meeting: Meeting) -> list[SandboxMessage]:
    return [message for message in meeting.thread if message.by_bot]


def check(meeting: Meeting) -> None:
    """What must be true after whatever happened, once a step has been finished."""
    keys = [message.metadata["event_payload"]["key"] for message in posts(meeting)]
    assert len(keys) == len(set(keys)), "every post stands there once"
    numbers = [int(key.rpartition(".")[2]) for key in keys]
    assert numbers == sorted(numbers), "and in the order in which it was owed"

    transcript = meeting.transcript
    assert transcript.flaws == ()
    said = [message.ts for message in meeting.thread if not message.by_bot and not message.subtype]
    heard = [line.meta["message_ts"] for line in transcript.lines if line.source is Source.USER]
    assert len(heard) == len(set(heard)), "nothing is written down twice"
    assert list(in_thread_order(Item(meeting.workspace, meeting.slug))) == [], "nor in another order"
    assert set(said) <= set(heard), "nothing is lost"
    spoken = [line.message_id for line in transcript.lines if line.message_id in keys]
    assert spoken == [key for key in keys if key in spoken], "the record has the order of the thread"
    assert meeting.git("fsck") == ""


async def finished(meeting: Meeting, *answers: str) -> None:
    """A step, with more patience than people have."""
    for answer in answers or (ANSWER,):
        await meeting.say(answer)
    await meeting.slack.settled()
    press = (await meeting.until(lambda: meeting.menus("finish_step")))[-1]
    await meeting.slack.person("ada").press(press, "roundtable.finish_step")
    await meeting.until(lambda: meeting.menus("continue"))


# --- calls that fail ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"error": "ratelimited", "status": 429, "retry_after": 0.2, "times": 3}, id="429"),
        pytest.param({"status": 503}, id="503", marks=pytest.mark.thorough),
        pytest.param({"status": 502, "after": True}, id="502-posted"),
        pytest.param(
            {"error": "internal_error", "after": True}, id="error-posted", marks=pytest.mark.thorough
        ),
        pytest.param({"hang_up": True, "after": True}, id="cut-posted"),
        pytest.param({"delay": 30, "after": True}, id="timeout-posted"),
        pytest.param({"delay": 30}, id="timeout", marks=pytest.mark.thorough),
        pytest.param({"status": 503, "late": CALL_SECONDS / 3}, id="late"),
    ],
)
async def test_a_post_that_fails_stands_there_once_in_the_end(
    meeting: Meeting, fault: dict[str, Any]
) -> None:
    """Not posted, posted unheard, or posted late: people see nothing of it but a pause."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        meeting.slack.fail_next("chat.postMessage", **fault)
        await finished(meeting)

    check(meeting)


@pytest.mark.parametrize("method", ["chat.update", "reactions.add", "users.info", "conversations.replies"])
@pytest.mark.parametrize(
    "fault",
    [
        {"hang_up": True},
        pytest.param({"status": 503}, marks=pytest.mark.thorough),
        pytest.param({"retry_after": 0.1}, marks=pytest.mark.thorough),
    ],
    ids=str,
)
async def test_other_calls_may_fail_as_well(meeting: Meeting, method: str, fault: dict[str, Any]) -> None:
    """Twice in a row; the meeting goes on, and used menus have lost their buttons in the end."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        meeting.slack.fail_next(method, times=2, **fault)
        await finished(meeting)
        await meeting.until(lambda: not meeting.menus("finish_step"))

    check(meeting)


async def test_a_slack_that_counts_every_call(tmp_path: Path) -> None:
    """With Slack's own limits and people in a hurry: all of it, in order, and to the last word."""
    timing = Timing(ack_seconds=1, retry_seconds=(0.1, 1, 8, 8, 8), limits_speed=1)
    async with Sandbox(timing=timing, rate_limits=True) as slack:
        meeting = Meeting(slack, tmp_path / "workspace")
        async with meeting.bot():
            await meeting.start("Offline sync")
            await finished(meeting, *(f"{ANSWER} {number}" for number in range(12)))
            await meeting.press("elaborate")
            await meeting.menu("end_elaboration")
            for number in range(9):
                await meeting.say(f"Maya, Alex, Jordan, what about conflict {number}?")
            await meeting.slack.settled()
            await meeting.press("end_elaboration")
            await meeting.until(
                lambda: [one for one in meeting.thread if "Elaboration Insights" in one.text],
            )
            await meeting.until(lambda: meeting.menus("continue"))

        check(meeting)
        refused = [call for call in slack.calls if call.error == "ratelimited"]
        assert len(refused) < len(meeting.thread), "cards are edited, so that few calls come too fast"


# --- deliveries that go wrong ---------------------------------------------------------------------------------------


async def test_everything_delivered_three_times(meeting: Meeting) -> None:
    """Each event counts once."""
    meeting.slack.faults.copies = 2
    async with meeting.bot():
        await meeting.start("Offline sync")
        await finished(meeting, ANSWER, "Complexity: high")

    check(meeting)
    assert len(meeting.lines("User")) == 2


async def test_answers_that_come_in_the_wrong_order(meeting: Meeting) -> None:
    """Slack promises no order; all of them are kept, each once, as they stand in the thread."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        meeting.slack.hold_events()
        for number in range(5):
            await meeting.say(f"Answer {number}. Scope: small")
        meeting.slack.release_events(backwards=True)
        await meeting.slack.settled()
        await finished(meeting)

    check(meeting)
    answers = [line.content for line in meeting.lines("User")]
    assert answers == [*(f"Answer {number}. Scope: small" for number in range(5)), ANSWER]


async def test_acknowledgements_that_get_lost(meeting: Meeting) -> None:
    """What was saved is delivered again, and changes nothing."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        meeting.slack.faults.drop_acks = 2
        await finished(meeting, ANSWER, "Complexity: high")

    check(meeting)
    assert len(meeting.lines("User")) == 2


async def test_words_said_while_nobody_listened(meeting: Meeting) -> None:
    """The bot was away; Slack kept them, and delivers them as retries."""
    async with meeting.bot():
        await meeting.start("Offline sync")
    await meeting.say(ANSWER)
    press = await meeting.slack.person("ada").press(
        meeting.menus("finish_step")[-1], "roundtable.finish_step"
    )
    assert press.error == "dispatch_failed"

    async with meeting.bot():
        await meeting.slack.settled()
        await finished(meeting, "And photos")

    check(meeting)
    assert [line.content for line in meeting.lines("User")] == [ANSWER, "And photos"]


@pytest.mark.parametrize(
    "how",
    ["refresh", "cut", *(pytest.param(how, marks=pytest.mark.thorough) for how in ("warning", "half-open"))],
)
async def test_connections_that_go_away(meeting: Meeting, how: str) -> None:
    """Renewed, cut, or dead without a word: what is said meanwhile arrives, a little later."""
    slack = meeting.slack
    async with meeting.bot():
        await meeting.start("Offline sync")
        if how == "cut":
            slack.drop_sockets()
        elif how == "half-open":
            slack.freeze_sockets()
        else:
            await slack.disconnect_sockets("refresh_requested" if how == "refresh" else how)
        await meeting.say(ANSWER)
        await slack.settled()
        await slack.until(lambda: slack.connections == 2)
        await finished(meeting, "Complexity: high")

    check(meeting)
    assert [line.content for line in meeting.lines("User")] == [ANSWER, "Complexity: high"]


# --- what people have to put right ----------------------------------------------------------------------------------


async def test_a_token_that_is_revoked(meeting: Meeting) -> None:
    """Nothing can be posted, but commands are answered, and nothing is lost until somebody installs us again."""
    slack = meeting.slack
    async with meeting.bot():
        await meeting.start("Offline sync")
        slack.revoke_token()
        await meeting.say(ANSWER)
        await slack.settled()
        await slack.until(lambda: [one for one in slack.calls if one.error == "token_revoked"])
        status = await _status(meeting, "stopped")
        assert "Offline sync" in status

        slack.revoke_token("")
        await _resumed(meeting)
        await finished(meeting, "Complexity: high")

    check(meeting)
    assert ANSWER in [line.content for line in meeting.lines("User")]


async def test_a_root_that_is_deleted(meeting: Meeting) -> None:
    """The thread goes on under the grave that Slack puts there."""
    slack = meeting.slack
    async with meeting.bot():
        await meeting.start("Offline sync")
        slack.workspace.delete(slack.message(meeting.root))
        await finished(meeting)

    assert meeting.thread[0].subtype == "tombstone"
    check(meeting)


@pytest.mark.thorough
async def test_a_thread_that_is_gone_altogether(meeting: Meeting) -> None:
    """Nothing of it comes out into the channel; whoever started hears of it, and finds the menu in a new thread."""
    slack, ada = meeting.slack, meeting.slack.person("ada")
    async with meeting.bot():
        await meeting.start("Offline sync")
        menu = meeting.menus("finish_step")[-1]
        for message in reversed(meeting.thread):
            slack.workspace.delete(message)
        await ada.press(menu, "roundtable.finish_step")
        await slack.until(lambda: [one for one in ada.ephemerals if "was deleted" in one.text])
        assert slack.messages() == []

        await ada.slash(CHANNEL, "/roundtable resume offline-sync")
        await slack.until(slack.messages)
        meeting.root = slack.messages()[0].ts
        await meeting.press("continue")
        await meeting.seen("Step 00-02")

    keys = [message.metadata["event_payload"]["key"] for message in posts(meeting)]
    assert len(keys) == len(set(keys))
    assert [one.ts for one in slack.messages()] == [meeting.root]
    assert meeting.meta["steps_completed"] == ["00-01"]


async def test_a_menu_that_is_deleted(meeting: Meeting) -> None:
    """Its rewriting has nothing left to change; typing does what the buttons did."""
    slack = meeting.slack
    async with meeting.bot():
        await meeting.start("Offline sync")
        await finished(meeting)
        slack.workspace.delete(meeting.menus("continue")[-1])
        await meeting.say("C")
        await meeting.until(lambda: meeting.menus("finish_step"))
        await finished(meeting, "sync queue")

    check(meeting)


async def _resumed(meeting: Meeting) -> None:
    """By command; it asks its question again."""
    seen = len(meeting.thread)
    await meeting.slack.person("ada").slash(CHANNEL, "/roundtable resume offline-sync")
    await meeting.until(
        lambda: [one for one in meeting.thread[seen:] if "roundtable.finish_step" in one.actions],
    )


async def _status(meeting: Meeting, words: str) -> str:
    """What /roundtable status says, asked until it has *words* in it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            delivery = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable status offline-sync")
            if words in (text := str(delivery.response.get("text"))):
                return text
