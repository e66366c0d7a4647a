"""Guests and people of other organisations: no verb is a way around the buttons, and they see their own channel."""

from shutil import rmtree

import pytest

from bot.engine.verbs.table import VERBS
from bot.slack.manifest import SHORTCUT
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_pressing import EVA, REFUSED, found_out

ELSEWHERE = "#partners"
LOOKING = {"about", "status", "list", "catchup", "decisions", "read", "waiting", "snooze", "remind", "help"}
"""They show what can be read in the channel anyway, or are about the person's own reminders; nobody else sees it."""
ACTING = (
    "start Dark mode", "resume offline-sync", "plan offline-sync", "plan something quite new", "stop",
    "stop offline-sync", "depth deep", "mute", "unmute", "settings", "review offline-sync",
    "review for risks", "export offline-sync",
)  # fmt: skip


@pytest.fixture
def people() -> tuple[User, ...]:
    return (*PEOPLE, EVA)


def test_every_verb_either_looks_or_acts() -> None:
    """A new one has to be thought about here."""
    assert LOOKING | {line.partition(" ")[0] for line in ACTING} | {"position"} == set(VERBS)


async def test_no_verb_is_a_way_around(meeting: Meeting) -> None:
    """Typed as a command or said in the thread: they are told so, and nothing is posted, kept or begun."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
        for line in ACTING:
            before = (meeting.subjects(), len(meeting.thread))
            assert REFUSED in await meeting.command(line, who="eva"), line
            seen = len(meeting.slack.person("eva").ephemerals)
            await meeting.slack.person("eva").mention(CHANNEL, line, thread_ts=meeting.root)
            await meeting.until(lambda: len(meeting.slack.person("eva").ephemerals) > seen)  # noqa: B023
            await meeting.slack.settled()

            said_so = len(meeting.thread) - 1  # her own mention
            assert (meeting.subjects(), said_so) == before, line
            assert [one.ts for one in meeting.slack.messages(CHANNEL)] == [meeting.root], line


async def test_they_give_no_private_position(meeting: Meeting) -> None:
    """In a discussion; elsewhere nobody can."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.finish_step()
        await meeting.press("elaborate")
        await meeting.menu("ask_all")
        assert REFUSED in await meeting.command("position a queue", who="eva")
        await meeting.slack.settled()
        assert not meeting.menus("reveal")


async def test_what_only_git_knows_is_not_brought_back_by_them(meeting: Meeting) -> None:
    """That would begin a roundtable, or pay reviewers, as much as a start."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        before = len(meeting.thread)
        for line in ("resume offline-sync", "plan offline-sync", "review offline-sync"):
            assert REFUSED in await meeting.command(line, who="eva"), line
            assert len(meeting.thread) == before, line


async def test_the_shortcut_starts_nothing(meeting: Meeting) -> None:
    """Nor does it adopt a thread."""
    async with meeting.bot():
        ts = await meeting.slack.person("grace").say(CHANNEL, "Edits get lost")
        await meeting.slack.person("eva").shortcut(ts, SHORTCUT)
        await meeting.told(REFUSED, who="eva")
        assert meeting.slack.thread(CHANNEL, ts)[1:] == []


async def test_they_see_what_is_held_where_they_ask(meeting: Meeting) -> None:
    """A channel that is public for members is none of theirs, and its items have titles and links."""
    workspace = meeting.slack.workspace
    members = {workspace.user(name).id for name in ("ada", "eva")} | {meeting.slack.bot_user_id}
    workspace.add_channel(ELSEWHERE.strip("#"), members=members)
    async with meeting.bot():
        await meeting.start("Offline sync")
        for verb in ("status", "catchup", "export"):
            unknown = await meeting.command(f"{verb} offline-sync", who="eva", channel=ELSEWHERE)
            assert "No matching item found for `offline-sync`" in unknown, verb
        assert "Offline sync" in await meeting.command("status offline-sync", who="ada", channel=ELSEWHERE)
        assert "Offline sync" in await meeting.command("status offline-sync", who="eva")


async def test_a_word_that_was_edited_in_before_it_came_is_a_word_too(meeting: Meeting) -> None:
    """Who has been found out does not end a step by saying something else first."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        stamp = await meeting.say("Edits get lost. Scope: small", who="eva")
        await found_out(meeting, "eva")
        await meeting.slack.person("eva").edit(stamp, "finish")
        await meeting.slack.settled()

        assert not meeting.menus("continue")
