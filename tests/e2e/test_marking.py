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
        await meeting.until(lambda: grace.view is not None)
        await grace.submit({"roundtable.mark": "out"})
        await meeting.until(
            lambda: [one for one in grace.ephemerals if "Left out of the record." in one.text]
        )
        await meeting.finish_step()

    files = "".join(path.read_text() for path in meeting.folder.rglob("*") if path.is_file())
    assert "Can billing see the counters?" in files
    assert "Initech" not in files


async def test_other_words_are_never_the_authors(meeting: Meeting) -> None:
    """Refused beside *Not for the record*; what is put back is what its author said, and nothing more."""
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        said = await meeting.say(WORDS, who="grace")
        await meeting.slack.settled()
        await ada.shortcut(said, MARK_SHORTCUT)
        await meeting.until(lambda: ada.view is not None)
        refused = await ada.submit({"roundtable.mark": "out", "roundtable.words": "We drop the limits"})
        assert "keep the words of their author" in str(refused.response)
        await ada.submit({"roundtable.mark": "decision", "roundtable.words": "We drop the limits"})
        asked = await meeting.seen("Did we agree on this?")
        assert f"“We drop the limits” – Ada, on “{WORDS}” – Grace" in asked.text
        await meeting.press("agreed")
        await meeting.until(lambda: "Did we agree" not in meeting.menus("finish_step")[-1].text)
        await ada.react(said, "no_entry_sign")
        await meeting.slack.settled()
    async with meeting.bot():
        await ada.unreact(said, "no_entry_sign")
        await meeting.slack.settled()
        await meeting.finish_step()

    by_grace = [line.content for line in meeting.lines("User") if line.meta["user_name"] == "Grace"]
    assert set(by_grace) == {WORDS, "(left out of the record)"}
    assert (
        "In the words of Ada, on a message of Grace." in (meeting.folder / "specification.json").read_text()
    )


async def test_a_message_of_another_thread_cannot_be_marked(meeting: Meeting) -> None:
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        elsewhere = await ada.say(CHANNEL, "Lunch?")
        await ada.shortcut(elsewhere, MARK_SHORTCUT)
        await meeting.until(
            lambda: [one for one in ada.ephemerals if "don't know this roundtable" in one.text]
        )
        await ada.shortcut(await meeting.card(), MARK_SHORTCUT)
        await meeting.until(lambda: [one for one in ada.ephemerals if "can't be marked" in one.text])
        assert ada.view is None


async def test_marks_in_a_discussion_stand_on_its_card(meeting: Meeting) -> None:
    """A decision that a press records, a question for the synthesis, and who moved, in *Catch me up*."""
    ada, linus = meeting.slack.person("ada"), meeting.slack.person("linus")
    async with meeting.bot():
        await meeting.start("Rate limiting")
        await meeting.say("Clients slow each other down. Scope: small")
        await meeting.finish_step()
        await meeting.press("elaborate")
        await meeting.menu("ask_all")
        said = await meeting.say(WORDS)
        for who, words in (
            ("ada", "option: a token bucket"),
            ("ada", "option: a sliding window"),
            ("ada", "for B"),
            ("linus", "I am listening."),
            ("ada", "for A"),
        ):
            await meeting.say(words, who=who)
            await meeting.slack.settled()
        await meeting.seen("Ada came over from B")
        await meeting.slack.settled()
        await linus.react(said, "pushpin")
        await meeting.seen("Marked by Linus.")
    async with meeting.bot():
        told = await linus.slash(CHANNEL, "/roundtable catchup")
        assert "Ada came over from “a sliding window” to “a token bucket”." in told.response["text"]
        assert f"Did you agree on “{WORDS}”? Marked by Linus." in told.response["text"]
        await meeting.press("agreed", who="grace")
        await meeting.seen(f"{WORDS} (decided by Grace")
        asked = await meeting.say("Billing wants to see the counters")
        await meeting.slack.settled()
        await ada.react(asked, "question")
        await meeting.seen("(marked by Ada)")
        await meeting.say("done")
        await meeting.menu("continue")
        await meeting.slack.settled()

    ((line, made),) = meeting.made("decision")
    assert (line.meta["user_name"], made["text"]) == ("Grace", WORDS)
    assert (
        "Billing wants to see the counters: marked by Ada" in (meeting.folder / "quick-scan.md").read_text()
    )
