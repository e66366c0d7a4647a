"""People of whom Slack was never asked: what they want is decided once it has said who they are."""

from collections.abc import Callable

import pytest

from bot.slack import reception
from bot.slack.reception import MOMENT
from slack_sandbox import Fault
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_pressing import GUS, REFUSED

LOBBY = "#lobby"
SLOW_SECONDS = 0.5  # that Slack takes, for which no click waits here


@pytest.fixture
def people() -> tuple[User, ...]:
    return (*PEOPLE, GUS)


@pytest.fixture
def slow(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From this call on no click waits, and Slack takes a while to say who somebody is."""

    def begin() -> None:
        monkeypatch.setattr(reception, "IDENTIFY_SECONDS", 0.0)
        meeting.slack.faults.plan(Fault(method="users.info", delay=SLOW_SECONDS))

    return begin


@pytest.mark.parametrize("line", ["start Dark mode", "plan Dark mode for everybody"])
async def test_a_guest_opens_no_thread(meeting: Meeting, line: str) -> None:
    """Their first command is refused, and nothing is made."""
    async with meeting.bot():
        delivery = await meeting.slack.person("gus").slash(CHANNEL, f"/roundtable {line}")

        assert REFUSED in delivery.response["text"]
        assert not meeting.slack.messages(CHANNEL)


async def test_a_guest_sees_nothing_of_other_channels(meeting: Meeting) -> None:
    """
    Their first question is answered as every later one. A member is answered at once: Slack says who they are in the
    time of one call, and is not asked any more.
    """
    meeting.slack.add_channel(LOBBY.strip("#"))
    async with meeting.bot():
        await meeting.start("Offline sync")
        gus, linus = meeting.slack.person("gus"), meeting.slack.person("linus")

        assert "No matching item" in str((await gus.slash(LOBBY, "/roundtable status offline-sync")).response)
        for _ in range(2):
            told = await linus.slash(LOBBY, "/roundtable status offline-sync")
            assert "a step is open" in str(told.response)

    assert [call.args["user"] for call in meeting.slack.calls_of("users.info")].count(linus.id) == 1


async def test_a_guests_first_click_changes_nothing(meeting: Meeting) -> None:
    """Whichever button it is."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost. Scope: small")
        await meeting.press("finish_step", who="gus")

        await meeting.told(REFUSED, who="gus")
        assert not meeting.menus("continue")


@pytest.mark.parametrize("words", ["stop", "finish"])
async def test_a_guests_first_words_do_not_act(meeting: Meeting, words: str) -> None:
    """They are recorded, and the guest is told why nothing follows."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say(words, who="gus")

        await meeting.told(REFUSED, who="gus")
        assert not meeting.menus("resume")
        assert not meeting.menus("continue")


async def test_a_command_follows_when_slack_is_slow(meeting: Meeting, slow: Callable[[], None]) -> None:
    """It is acknowledged in time, and its result comes by itself: a member's thread, a guest's refusal."""
    async with meeting.bot():
        slow()
        delivery = await meeting.slack.person("gus").slash(CHANNEL, "/roundtable start Dark mode")
        assert MOMENT in delivery.response["text"]
        await meeting.told(REFUSED, who="gus")
        assert not meeting.slack.messages(CHANNEL)

        slow()
        delivery = await meeting.slack.person("linus").slash(CHANNEL, "/roundtable start Dark mode")
        assert MOMENT in delivery.response["text"]
        assert await meeting.until(lambda: meeting.slack.messages(CHANNEL))


async def test_a_click_follows_when_slack_is_slow(meeting: Meeting, slow: Callable[[], None]) -> None:
    """As a command does."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost. Scope: small", who="ada")
        await meeting.slack.settled()
        slow()
        delivery = await meeting.press("finish_step", who="linus")
        assert delivery.acked
        await meeting.told(MOMENT, who="linus")
        await meeting.menu("continue")


async def test_a_mention_follows_when_slack_is_slow(meeting: Meeting, slow: Callable[[], None]) -> None:
    """It is not delivered twice for that."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        slow()
        linus = meeting.slack.person("linus")
        await linus.mention(CHANNEL, "status", thread_ts=meeting.root)
        await meeting.told("Offline sync", who="linus")
        await meeting.slack.settled()

        assert [one.text for one in linus.ephemerals if MOMENT in one.text] == [MOMENT]
        assert len(linus.ephemerals) == 2


async def test_when_slack_does_not_say_who_it_is(meeting: Meeting) -> None:
    """Nobody is taken for a member unseen: they may write, look around their channel, and are told why."""
    meeting.slack.faults.plan(Fault(method="users.info", error="user_not_found", times=100))
    async with meeting.bot():
        linus = meeting.slack.person("linus")
        delivery = await linus.slash(CHANNEL, "/roundtable start Dark mode")
        assert "Slack has not told me who you are" in delivery.response["text"]
        delivery = await linus.slash(CHANNEL, "/roundtable list")
        assert "treat you as a guest for now" in str(delivery.response)


async def test_words_that_nobody_can_be_asked_about_are_recorded(
    meeting: Meeting, slow: Callable[[], None]
) -> None:
    """`stop` does not act while Slack takes too long, and whoever said it is told."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        slow()
        await meeting.say("stop", who="linus")
        await meeting.told("Slack has not told me who you are", who="linus")
        assert not meeting.menus("resume")

        await meeting.say("stop", who="linus")
        await meeting.menu("resume")
