"""Messages marked by the shortcut and by reactions, with a restart in between."""

from bot.slack.manifest import MARK_SHORTCUT
from tests.e2e.meeting import CHANNEL, Meeting

WORDS = "600 requests a minute per key to start with"


async def test_a_reaction_asks_and_a_press_records(meeting: Meeting) -> None:
    """Removing it undoes the mark; another reaction, or one to our own card, means nothing."""
    ada, linus = meeting.slack.person("ada"), meeting.slack.person("linus")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        said = await meeting.say(WORDS, who="grace")
        await meeting.slack.settled()
        await ada.react(said, "tada")
        await ada.react((await meeting.card()).ts, "pushpin")
        await ada.react(said, "pushpin")
        await meeting.seen("Did we agree on this?")
        await ada.unreact(said, "pushpin")
        await meeting.until(lambda: "Did we agree" not in meeting.menus("finish_step")[-1].text)
        await linus.react(said, "pushpin")
        asked = await meeting.seen("Marked by Linus.")
        assert asked.text.count("Did we agree on this?") == 1
    async with meeting.bot():
        await meeting.press("agreed", who="linus")
        await meeting.until(lambda: "Did we agree" not in meeting.menus("finish_step")[-1].text)
        await meeting.finish_step()

    record = (meeting.folder / "specification.json").read_text()
    assert '"DEC-001"' in record
    (line,) = [
        one for one in meeting.lines("PlanningAgent") if "Linus recorded that you agreed" in one.content
    ]
    whose = "In the words of Grace, marked by Linus."
    assert line.meta["entries"][0]["set"] == {"text": WORDS, "context": whose}


async def test_the_shortcut_opens_a_form(meeting: Meeting) -> None:
    """An open question in words of one's own; then the words of another message are left out by their author."""
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        said = await meeting.say("can billing see this?", who="grace")
        secret = await meeting.say("The customer is Initech", who="grace")
        await meeting.slack.settled()
        await ada.shortcut(said, MARK_SHORTCUT)
        await meeting.until(lambda: ada.view is not None)
    async with meeting.bot():
        await ada.submit({"roundtable.mark": "question", "roundtable.words": "Can billing see the counters?"})
        await meeting.seen("Can billing see the counters?")
        await meeting.slack.settled()
        await grace.shortcut(secret, MARK_SHORTCUT)
        await meeting.submit(who="grace", mark="out")
        await meeting.told("Left out of the record.", who="grace")
        await meeting.finish_step()

    files = "".join(path.read_text() for path in meeting.folder.rglob("*") if path.is_file())
    assert "Can billing see the counters?" in files
    assert "Initech" not in files


async def test_a_message_of_another_thread_cannot_be_marked(meeting: Meeting) -> None:
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        elsewhere = await ada.say(CHANNEL, "Lunch?")
        await ada.shortcut(elsewhere, MARK_SHORTCUT)
        await meeting.told("don't know this roundtable")
        await ada.shortcut(await meeting.card(), MARK_SHORTCUT)
        await meeting.told("can't be marked")
        assert ada.view is None
