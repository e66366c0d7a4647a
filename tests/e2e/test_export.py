"""The record in people's hands: `/roundtable export`, a mention or a button puts it into the item's thread."""

from shutil import rmtree

import aiohttp

from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting

FILES = 2


async def exported(meeting: Meeting, *, times: int = 1) -> SandboxMessage:
    """The newest message with files, once there are so many."""
    await meeting.until(lambda: len(with_files(meeting)) == times)
    return with_files(meeting)[-1]


def with_files(meeting: Meeting) -> list[SandboxMessage]:
    return [one for one in meeting.thread if one.files]


async def contents(message: SandboxMessage) -> list[str]:
    async with aiohttp.ClientSession() as session:
        answers = [await session.get(one["url_private"]) for one in message.files]
        return [await answer.text() for answer in answers]


async def test_the_record_comes_into_the_thread(meeting: Meeting) -> None:
    """To read as text and as a page that needs nothing else, with what no commit has yet."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Field workers lose their edits.")
        await meeting.go_on()
        await meeting.say("Said just now, and not committed.")
        await meeting.slack.settled()
        delivery = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable export")
        message = await exported(meeting)
        text, page = await contents(message)

    assert "on its way into the thread" in delivery.response["text"]
    assert [one["name"].rpartition(".")[2] for one in message.files] == ["md", "html"]
    assert all(one["name"] in message.text for one in message.files)
    assert text.startswith("# Offline sync\n")
    assert "> Field workers lose their edits." in text
    assert "> Said just now, and not committed." in text
    assert page.startswith("<!doctype html>")
    assert page.endswith("</html>\n")
    assert "Said just now, and not committed." in page


async def test_a_mention_a_button_and_another_channel_do_it(meeting: Meeting) -> None:
    """
    Slack has no commands in a thread; the meeting goes on as if nobody had asked. Whoever looks where an item stands
    may want to keep it. Nobody gets to see what was said in a channel that they are not in. A resume comes first where
    only git has the item.
    """
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.person("grace").mention(CHANNEL, "export", thread_ts=meeting.root)
        await exported(meeting)

        ada = meeting.slack.person("ada")
        await ada.slash(CHANNEL, "/roundtable status offline-sync")
        status = (await meeting.until(lambda: ada.ephemerals))[-1]
        assert (await ada.press(status, "roundtable.export")).acked
        assert len((await exported(meeting, times=2)).files) == FILES

        elsewhere = meeting.slack.add_channel("elsewhere")
        await ada.slash(elsewhere.id, "/roundtable export offline-sync")
        await exported(meeting, times=3)
        assert meeting.slack.messages(elsewhere.id) == []
        await meeting.do_step("Edits get lost.")

    assert meeting.meta["steps_completed"] == ["00-01"]
    assert not [line for line in meeting.lines("User") if "export" in line.content]
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        delivery = await ada.slash(CHANNEL, "/roundtable export offline-sync")

    assert "is only in the workspace" in delivery.response["text"]
    assert len(with_files(meeting)) == 3


async def test_without_the_permission_people_hear_where_it_is(meeting: Meeting) -> None:
    """One sentence, to whoever asked alone; nothing is in the thread, and the meeting goes on."""
    async with meeting.bot():
        meeting.slack.scopes.remove("files:write")
        await meeting.start("Offline sync")
        ada = meeting.slack.person("ada")
        await ada.slash(CHANNEL, "/roundtable export offline-sync")
        told = await meeting.told("could not put")
        await meeting.do_step("Edits get lost.")

    assert "`files:write`" in told.text
    assert "`planning/meeting.jsonl` in the folder of `offline-sync`" in told.text
    assert with_files(meeting) == []
