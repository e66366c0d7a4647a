"""Direct messages, also of groups: the app hears nothing there, so nothing is held there."""

import pytest

from slack_sandbox.residents import Channel
from tests.e2e.meeting import CHANNEL, Meeting

REFUSED = "can't be held here"
GROUP = "mpdm-ada--grace--roundtable-1"


def group(meeting: Meeting) -> Channel:
    workspace = meeting.slack.workspace
    people = {workspace.user(name).id for name in ("ada", "grace")}
    return workspace.add_channel(GROUP, members={*people, meeting.slack.bot_user_id}, kind="mpim")


def refusals(meeting: Meeting) -> list[str]:
    return [one.text for one in meeting.slack.person("ada").ephemerals if REFUSED in one.text]


async def test_a_bare_call_shows_what_waits_and_what_can_be_pressed(meeting: Meeting) -> None:
    """In the channel, by the slash command alone; each button does what it says, also after a restart."""
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await ada.slash(CHANNEL, "/roundtable")
        assert ada.ephemerals[-1].text.startswith("I hold roundtables")
        await meeting.start("Offline sync")
        await meeting.say("decision: Keep both edits; because: nobody can choose in a tunnel", who="ada")
        await meeting.say("question: Who pays?", who="ada")
        await meeting.menu("finish_step")
        await ada.slash(CHANNEL, "/roundtable")
        shown = ada.ephemerals[-1]
        assert "Roundtables in this channel:\n• *Offline sync*" in shown.text
        assert "Nothing waits for you." in shown.text
    async with meeting.bot():
        await ada.press(shown, "roundtable.decisions")
        await meeting.told("Keep both edits")
        await ada.press(shown, "roundtable.help_more")
        await meeting.told("/roundtable catchup")
        await ada.press(shown, "roundtable.start_form")
        await meeting.until(lambda: ada.view is not None)


async def test_no_thread_is_opened_there(meeting: Meeting) -> None:
    """By no command, mention or shortcut; an item that only git knows is not taken up there, either."""
    meeting.plant("offline-sync", slug="offline-sync", description="Offline sync")
    group(meeting)
    async with meeting.bot():
        ada = meeting.slack.person("ada")
        for where in ("@roundtable", GROUP):
            for line in ("start Dark mode", "plan Dark mode for everybody", "resume offline-sync"):
                seen = len(refusals(meeting))
                await ada.slash(where, f"/roundtable {line}")
                await meeting.slack.settled()
                assert len(refusals(meeting)) == seen + 1, f"{line} in {where}"
        seen = len(refusals(meeting))
        ts = await ada.mention(GROUP, "start Dark mode")
        await meeting.until(lambda: len(refusals(meeting)) == seen + 1)
        await ada.shortcut(ts)
        await meeting.until(lambda: len(refusals(meeting)) == seen + 2)

        assert not meeting.slack.calls_of("chat.postMessage")


@pytest.mark.parametrize("scopes", [set(), {"channels:read", "groups:read"}, {"mpim:read", "channels:read"}])
async def test_whatever_the_app_may_ask(meeting: Meeting, scopes: set[str]) -> None:
    """By what Slack says of the channel, else by the scope it asks for, else by the name that the command came with."""
    meeting.slack.slack.scopes -= {"channels:read", "groups:read", "mpim:read"}
    meeting.slack.slack.scopes |= scopes
    group(meeting)
    async with meeting.bot():
        await meeting.slack.person("ada").slash(GROUP, "/roundtable start Dark mode")
        await meeting.slack.settled()
        assert len(refusals(meeting)) == 1


async def test_what_is_held_in_a_channel_can_be_asked_for(meeting: Meeting) -> None:
    """It goes on there; `status`, `list` and `help` are answered everywhere."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        ada = meeting.slack.person("ada")
        for line in ("status offline-sync", "resume offline-sync", "list", "help"):
            assert (await ada.slash("@roundtable", f"/roundtable {line}")).response["text"]
        assert not refusals(meeting)
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start Dark mode")
        await meeting.until(lambda: len(meeting.slack.messages(CHANNEL)) == 2)
