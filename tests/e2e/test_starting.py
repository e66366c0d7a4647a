"""The form that starts a roundtable, from a command, a mention, a shortcut; and channels with rules of their own."""

import time

from bot.slack.manifest import START_SHORTCUT
from tests.e2e.meeting import CHANNEL, Meeting

TOMORROW = int(time.time()) + 86_400


async def opened(meeting: Meeting, slug: str) -> None:
    """The first question of the roundtable that was started is there."""
    roots = await meeting.until(lambda: meeting.slack.messages(CHANNEL))
    meeting.root, meeting.slug = meeting.root or roots[-1].ts, slug
    await meeting.menu("finish_step")


async def test_a_command_without_words_opens_the_form(meeting: Meeting) -> None:
    """What is chosen there is in the record; the bot is restarted between opening the form and sending it."""
    ada, linus = meeting.slack.person("ada"), meeting.slack.person("linus")
    async with meeting.bot():
        await ada.slash(CHANNEL, "/roundtable start")
        await meeting.until(lambda: ada.view is not None)
    async with meeting.bot():
        await meeting.submit(
            title="Rate limiting",
            source="#42",
            notes="A key may send 600 requests a minute.",
            people=[linus.id],
            cast=["solutions-architect", "system-designer"],
            depth="brief",
            until=TOMORROW,
        )
        assert ada.view is None
        await opened(meeting, "rate-limiting")
        question = await meeting.menu("finish_step")
        assert "Alex leads this step, because Maya does not take part." in question.text

    assert meeting.meta["source_id"] == "GH-42"
    seats = meeting.meta["roundtable"]
    assert seats["personas_active"] == ["solutions-architect", "system-designer"]
    assert seats["participants"] == [meeting.person("ada"), meeting.person("linus")]
    assert seats["due"].endswith("Z")
    assert set(meeting.meta["depth_overrides"].values()) == {"brief"}
    assert "600 requests a minute" in (meeting.folder / "draft.md").read_text()


async def test_a_mention_without_words_offers_the_form(meeting: Meeting) -> None:
    """In a thread, which the roundtable then takes over."""
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        meeting.root = await meeting.slack.person("grace").say(CHANNEL, "Edits get lost in tunnels.")
        await ada.mention(CHANNEL, "start", thread_ts=meeting.root)
        (offer,) = await meeting.until(
            lambda: [one for one in ada.ephemerals if "roundtable.start_form" in one.actions]
        )
        await ada.press(offer, "roundtable.start_form")
        await meeting.submit(title="Offline sync")
        await opened(meeting, "offline-sync")

    assert len(meeting.slack.messages(CHANNEL)) == 1
    assert "Edits get lost in tunnels." in (meeting.folder / "draft.md").read_text()


async def test_the_shortcut_asks_for_the_channel(meeting: Meeting) -> None:
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await ada.global_shortcut(START_SHORTCUT)
        await meeting.until(lambda: ada.view is not None)
        refused = await meeting.submit(
            title="Offline sync",
            channel=meeting.slack.channel(CHANNEL).id,
            until=TOMORROW - 2 * 86_400,
        )
        assert refused.response["errors"] == {"until.0": "That time is over. Choose a later one, or none."}
        await meeting.submit(title="Offline sync", channel=meeting.slack.channel(CHANNEL).id)
        await opened(meeting, "offline-sync")


async def test_a_form_that_is_sent_twice_starts_one_roundtable(meeting: Meeting) -> None:
    """A second one with the same title is told where the first is held."""
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    async with meeting.bot():
        for person in (ada, grace):
            await person.slash(CHANNEL, "/roundtable start")
        await meeting.until(lambda: ada.view is not None and grace.view is not None)
        await meeting.submit(title="Offline sync")
        await opened(meeting, "offline-sync")
        await meeting.submit(who="grace", title="Offline sync")
        await meeting.told("already", who="grace")

    assert len(meeting.slack.messages(CHANNEL)) == 1


async def test_a_channel_may_refuse_and_may_choose(meeting: Meeting) -> None:
    """One sentence says so, at the command and in the form."""
    ada = meeting.slack.person("ada")
    rules = meeting.workspace.parent / "policies.yaml"
    channel = meeting.slack.channel(CHANNEL).id
    meeting.more = {"ROUNDTABLE_POLICIES": str(rules)}
    rules.write_text(f"channels:\n  {channel}:\n    start: no\n")
    sentence = "Roundtables can't be started in this channel. Start it in another one."
    async with meeting.bot():
        typed = await ada.slash(CHANNEL, "/roundtable start Offline sync")
        assert typed.response["text"] == sentence
        await ada.slash(CHANNEL, "/roundtable start")
        sent = await meeting.submit(title="Offline sync")
        assert list(sent.response["errors"].values()) == [sentence]
        assert not meeting.slack.messages(CHANNEL)
        await ada.dismiss()

    rules.write_text(f"channels:\n  {channel}:\n    cast: [system-designer]\n    depth: deep\n")
    async with meeting.bot():
        await meeting.start("Offline sync")
        assert "Jordan leads this step" in (await meeting.menu("finish_step")).text

    assert meeting.meta["roundtable"]["personas_active"] == ["system-designer"]
