"""A thread that we began and that neither the store nor git knows any more: people's words there are not lost."""

from shutil import rmtree
from typing import Any

import pytest

from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_pressing import EVA
from tests.e2e.test_sealed_home import TAKE_UP, questions, recorded, said, sealed

WORDS = "Edits get lost in tunnels."


async def forgotten(meeting: Meeting) -> str:
    """A roundtable was begun; then the machine was lost, with all that was on it. The stamp of what was said."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        early = await meeting.say("It is slow.")
        await meeting.slack.settled()
    rmtree(meeting.workspace)
    return early


def looked(meeting: Meeting, method: str = "conversations.replies", limit: str = "1") -> list[Any]:
    return [call for call in meeting.slack.calls_of(method) if str(call.args.get("limit")) == limit]


async def test_the_first_word_takes_it_up_again_with_what_was_said_since(meeting: Meeting) -> None:
    """In the same thread, and in the record; nothing is asked of people."""
    early = await forgotten(meeting)
    async with meeting.bot():
        await meeting.slack.person("grace").edit(early, "It is very slow.")
        await meeting.slack.settled()
        await meeting.say(WORDS)
        await meeting.until(lambda: meeting.folder.exists() and WORDS in recorded(meeting))
        await meeting.until(lambda: sealed(meeting) == meeting.root)
        await meeting.until(lambda: len(meeting.menus("finish_step")) > 1)

    assert said(meeting).count(WORDS) == 1
    assert said(meeting).count("It is very slow.") == 1
    assert meeting.meta["description"] == "Offline sync"
    assert len(meeting.slack.messages(CHANNEL)) == 1


async def test_start_finds_the_thread(meeting: Meeting) -> None:
    """It goes on there; there is no second one in the channel."""
    await forgotten(meeting)
    async with meeting.bot():
        await meeting.command("start Offline sync")
        await meeting.until(lambda: (meeting.folder / "meta.json").exists() and sealed(meeting))

    assert meeting.meta["slack"]["thread_ts"] == meeting.root
    assert len(meeting.slack.messages(CHANNEL)) == 1


async def test_a_verb_in_the_thread_takes_it_up_too(meeting: Meeting) -> None:
    """`resume` says it plainly."""
    await forgotten(meeting)
    async with meeting.bot():
        await meeting.slack.person("ada").mention(CHANNEL, "resume", thread_ts=meeting.root)
        await meeting.until(
            lambda: (meeting.folder / "meta.json").exists() and sealed(meeting) == meeting.root
        )


@pytest.mark.parametrize("people", [(*PEOPLE, EVA)], ids=["with Eva"])
async def test_the_word_of_somebody_who_may_not_begin_asks_the_others(meeting: Meeting) -> None:
    """Eva is of another organisation: there is one question, and the press of a member answers it."""
    await forgotten(meeting)
    async with meeting.bot():
        await meeting.say(WORDS, who="eva")
        question = (await meeting.until(lambda: questions(meeting, meeting.root, CHANNEL)))[0]
        await meeting.say("Hello?", who="eva")
        await meeting.slack.settled()
        assert not meeting.folder.exists()
        assert questions(meeting, meeting.root, CHANNEL) == [question]
        await meeting.slack.person("ada").press(question, TAKE_UP)
        await meeting.until(lambda: meeting.folder.exists() and WORDS in recorded(meeting))
        await meeting.until(lambda: not questions(meeting, meeting.root, CHANNEL))
    assert "no longer have a record of it" in question.text


async def test_words_in_an_earlier_thread_of_an_item_are_answered(meeting: Meeting) -> None:
    """It is held in another one by now, and people are told so instead of being ignored."""
    await forgotten(meeting)
    old = meeting.root
    async with meeting.bot():
        ada = meeting.slack.person("ada")
        await ada.mention(CHANNEL, "start Offline sync")
        await meeting.until(lambda: (meeting.folder / "meta.json").exists() and sealed(meeting))
        await ada.say(CHANNEL, WORDS, thread_ts=old)
        await meeting.told("goes on in another thread")

    assert meeting.meta["slack"]["thread_ts"] != old
    assert WORDS not in recorded(meeting)


async def test_threads_of_people_are_not_looked_at(meeting: Meeting) -> None:
    """Slack says who began them, so no call is made; they are talked in all day."""
    async with meeting.bot():
        root = await meeting.slack.person("ada").say(CHANNEL, "Lunch?")
        for words in ("Yes", "Where?", "Here"):
            await meeting.slack.person("grace").say(CHANNEL, words, thread_ts=root)
        await meeting.slack.settled()

    assert meeting.slack.calls_of("conversations.replies") == []
    assert [one for one in meeting.slack.thread(CHANNEL, root) if one.by_bot] == []


async def test_another_post_of_ours_is_looked_at_once(meeting: Meeting) -> None:
    """Below the one message about an item's reviews people may talk; it is nobody's roundtable."""
    meeting.slack.add_channel("triage")
    meeting.more = {"ROUNDTABLE_TRIAGE_CHANNEL": "#triage"}
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.command("review offline-sync")
        notice = (await meeting.until(lambda: meeting.slack.messages("#triage")))[0]
        await meeting.slack.settled()
        before = len(looked(meeting))
        for words in ("Who looks at this?", "I do."):
            await meeting.slack.person("ada").say("#triage", words, thread_ts=notice.ts)
            await meeting.slack.settled()

    assert len(looked(meeting)) - before <= 1
    assert len(meeting.slack.thread("#triage", notice.ts)) == 3
