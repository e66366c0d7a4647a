"""Guests, people of other organisations, and everybody else, at the buttons."""

import pytest

from slack_sandbox import Fault
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import CHANNEL, Meeting

GUS = User("U0GUS", "gus", "Gus", is_guest=True)
EVA = User("U0EVA", "eva", "Eva", team_id="T0ELSEWHERE")
REFUSED = "people of other organisations can write here"


@pytest.fixture
def people() -> tuple[User, ...]:
    """With a guest and somebody of another organisation."""
    return (*PEOPLE, GUS, EVA)


async def asked_about(meeting: Meeting, who: str) -> None:
    """Slack was asked who that is."""
    person = meeting.slack.person(who).id
    await meeting.until(
        lambda: [call for call in meeting.slack.calls_of("users.info") if call.args["user"] == person]
    )


async def found_out(meeting: Meeting, who: str) -> None:
    """And has answered."""
    await asked_about(meeting, who)
    await meeting.slack.settled()


@pytest.mark.parametrize("who", ["gus", "eva"])
async def test_guests_talk_and_do_not_press(meeting: Meeting, who: str) -> None:
    """Their answer is in the file; their click, their `stop` and their verbs are answered, and change nothing."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small", who=who)
        await found_out(meeting, who)

        assert (await meeting.press("finish_step", who=who)).acked
        await meeting.told(REFUSED, who=who)
        seen = len(meeting.slack.person(who).ephemerals)
        await meeting.say("stop", who=who)
        await meeting.slack.person(who).mention(CHANNEL, "depth deep", thread_ts=meeting.root)
        await meeting.until(lambda: len(meeting.slack.person(who).ephemerals) == seen + 2)

        assert not meeting.menus("resume")
        await meeting.press("finish_step", who="ada")
        await meeting.menu("continue")
    assert "Edits get lost in tunnels" in (meeting.folder / "quick-scan.md").read_text()


async def test_somebody_elses_workspace_is_known_from_the_click(meeting: Meeting) -> None:
    """Before anything was asked or said: the payload names it. A start is such a click, too."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.press("finish_step", who="eva")
        await meeting.told(REFUSED, who="eva")

        delivery = await meeting.slack.person("eva").slash(CHANNEL, "/roundtable start Dark mode")
        assert REFUSED in delivery.response["text"]
        assert len(meeting.slack.messages(CHANNEL)) == 1


async def test_guests_press_where_they_may(meeting: Meeting) -> None:
    """`ROUNDTABLE_GUESTS_PRESS=yes`."""
    meeting.more = {"ROUNDTABLE_GUESTS_PRESS": "yes"}
    async with meeting.bot():
        await meeting.start("Offline sync", who="eva")
        await meeting.say("Edits get lost. Scope: small", who="gus")
        await meeting.slack.settled()
        await meeting.press("finish_step", who="gus")
        await meeting.menu("continue")


async def test_only_the_starter_presses(meeting: Meeting) -> None:
    """`ROUNDTABLE_PRESS=starter`: the others are told whose buttons these are."""
    meeting.more = {"ROUNDTABLE_PRESS": "starter"}
    async with meeting.bot():
        await meeting.start("Offline sync", who="ada")
        await meeting.press("finish_step", who="grace")
        await meeting.told("Ada started this roundtable", who="grace")
        await meeting.press("finish_step", who="ada")
        await meeting.menu("continue")


async def test_a_guest_is_known_before_that_is_saved(meeting: Meeting) -> None:
    """
    What Slack said of them is saved together with the next effect. Until then `stop` was obeyed, and only the answer
    to the mention came.
    """
    async with meeting.bot():
        await meeting.start("Offline sync")
        meeting.slack.faults.plan(Fault(method="reactions.add", delay=4))
        await meeting.say("Edits get lost in tunnels. Scope: small", who="gus")
        await asked_about(meeting, "gus")
        gus = meeting.slack.person("gus")
        await meeting.press("finish_step", who="gus")
        await meeting.told(REFUSED, who="gus")
        seen = len(gus.ephemerals)
        await meeting.say("stop", who="gus")
        await gus.mention(CHANNEL, "depth deep", thread_ts=meeting.root)

        await meeting.until(lambda: len(gus.ephemerals) >= seen + 2)
        assert not meeting.menus("resume")


async def test_the_settings_are_a_form(meeting: Meeting) -> None:
    """A typed word offers its button; what is saved there holds for the roundtable."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        ada = meeting.slack.person("ada")
        await ada.mention(CHANNEL, "settings", thread_ts=meeting.root)
        (offer,) = await meeting.until(
            lambda: [one for one in ada.ephemerals if "roundtable.settings" in one.actions]
        )
        await ada.press(offer, "roundtable.settings")
        await meeting.submit(voices="quiet", depth="deep")

        assert ada.view is None
        await meeting.seen("Ada muted the personas")
        await meeting.seen("Got it, switching to deep mode.")
