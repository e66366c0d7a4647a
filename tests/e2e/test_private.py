"""Items of private channels: for other channels they do not exist."""

import json
import re
from shutil import rmtree
from typing import Any

import pytest

from slack_sandbox import SandboxMessage
from slack_sandbox.residents import Channel
from tests.e2e.meeting import CHANNEL, Meeting
from tests.storage.checkout import commit_all

SECRET = "#board"


def private_channel(meeting: Meeting) -> Channel:
    workspace = meeting.slack.workspace
    people = {workspace.user(name).id for name in ("ada", "grace")}
    return workspace.add_channel(
        SECRET.strip("#"), members={*people, meeting.slack.bot_user_id}, kind="group"
    )


async def started_there(meeting: Meeting, title: str) -> str:
    """The stamp of the root."""
    private_channel(meeting)
    await meeting.slack.person("ada").slash(SECRET, f"/roundtable start {title}")
    root = (await meeting.until(lambda: meeting.slack.messages(SECRET)))[0].ts
    await meeting.until(
        lambda: [one for one in meeting.slack.thread(SECRET, root) if "roundtable.finish_step" in one.actions]
    )
    await meeting.slack.settled()
    return root


async def test_it_is_unknown_elsewhere(meeting: Meeting) -> None:
    """Whoever asks for it by name from another channel is told what everybody is told of what does not exist."""
    async with meeting.bot():
        await started_there(meeting, "Takeover")
        for line in ("status takeover", "resume takeover", "stop takeover", "status take", "resume Takeover"):
            verb, name = line.split()
            unknown = (await meeting.command(f"{verb} nonsense")).replace("nonsense", "it")
            told = await meeting.command(line)

            assert "No matching item found" in told, line
            assert told.replace(name, "it") == unknown, line
        assert "Takeover" not in await meeting.command("list")
        assert "Takeover" in await meeting.command("list", channel=SECRET)
        assert "a step is open" in await meeting.command("status takeover", channel=SECRET)


async def test_it_is_unknown_elsewhere_when_only_git_knows_it(meeting: Meeting) -> None:
    """meta.json says that the channel is private; where it says nothing, nobody is shown what it may be."""
    async with meeting.bot():
        await started_there(meeting, "Takeover")
    rmtree(meeting.workspace / ".roundtable")
    (file,) = (meeting.workspace / "docs" / "requirements").glob("takeover-*/meta.json")
    meta = json.loads(file.read_text())
    assert meta["slack"]["private"] is True

    async with meeting.bot():
        assert "No matching item found" in await meeting.command("resume takeover")
    del meta["slack"]["private"]
    file.write_text(json.dumps(meta))
    commit_all(meeting.workspace)
    async with meeting.bot():
        assert "No matching item found" in await meeting.command("status takeover")


async def test_the_same_title_elsewhere_is_another_item(meeting: Meeting) -> None:
    """Begun as if there were no other: its slug tells nothing. Begun twice, it is the one of that channel."""
    async with meeting.bot():
        await started_there(meeting, "Takeover")
        await meeting.start("Takeover")
        told = await meeting.command("start Takeover")
        told_there = await meeting.command("start Takeover", channel=SECRET)

    assert "There is a roundtable on *Takeover* (`takeover`)" in told
    public, private = sorted(one.name for one in (meeting.workspace / "docs" / "requirements").glob("*/"))
    assert public == "takeover"
    assert re.fullmatch(r"takeover-[a-z2-7]{8}", private)
    assert f"There is a roundtable on *Takeover* (`{private}`)" in told_there
    assert meeting.meta["slack"]["private"] is False


def elsewhere(meeting: Meeting, **more: bool) -> dict[str, Any]:
    """The thread of an item in another channel, as meta.json has it."""
    return {"team_id": meeting.slack.team_id, "channel_id": "C0ELSEWHERE", "thread_ts": "1.1", **more}


@pytest.mark.parametrize(("folder", "typed"), [("Take-Over", "take-over"), ("takeover", "Takeover")])
async def test_a_folder_that_is_private_elsewhere_is_not_taken_up(
    meeting: Meeting, folder: str, typed: str
) -> None:
    """
    Nor shown. It keeps its name; that of the new folder has a code that nobody can tell, and differs by more than
    capitals, which some file systems do not tell apart.
    """
    meeting.plant(folder, description="A secret plan", slack=elsewhere(meeting, private=True))
    items = meeting.workspace / "docs" / "requirements"
    async with meeting.bot():
        await meeting.command(f"start {typed}")
        root = (await meeting.until(lambda: meeting.slack.messages(CHANNEL)))[0]
        await meeting.until(lambda: len([*items.glob("*/")]) == 2)
        await meeting.slack.settled()

    assert "secret" not in root.text
    (new,) = {one.name for one in items.glob("*/")} - {folder}
    assert re.fullmatch(rf"{typed.lower()}-[a-z2-7]{{8}}", new)


async def test_two_private_channels_have_slugs_of_their_own(meeting: Meeting) -> None:
    """The code at the end is not the same: who knows the one cannot tell the other."""
    other = meeting.slack.add_channel("council", private=True)
    async with meeting.bot():
        await started_there(meeting, "Takeover")
        await meeting.command("start Takeover", channel=f"#{other.name}")
        folders = meeting.workspace / "docs" / "requirements"
        await meeting.until(lambda: len([*folders.glob("*/")]) == 2)

    assert "takeover" not in {one.name for one in folders.glob("*/")}


async def test_without_the_scope_the_messages_tell(meeting: Meeting) -> None:
    """An app that was installed before may not ask who can see a channel: the first message in the thread says it."""
    meeting.slack.slack.scopes -= {"channels:read", "groups:read"}
    async with meeting.bot():
        private_channel(meeting)
        await meeting.start("Offline sync")
        assert "No matching item found" in await meeting.command("status offline-sync", channel=SECRET)
        await meeting.say("Edits get lost. Scope: small")
        await meeting.slack.settled()

        assert "a step is open" in await meeting.command("status offline-sync", channel=SECRET)
        await meeting.finish_step()
    assert meeting.meta["slack"]["private"] is False


async def test_a_channel_that_becomes_private_takes_its_items_along(meeting: Meeting) -> None:
    """From the next message on, and in meta.json with the next commit. Before it can be asked for anywhere."""
    async with meeting.bot():
        private_channel(meeting)
        await meeting.start("Offline sync")
        assert "a step is open" in await meeting.command("status offline-sync", channel=SECRET)
        meeting.slack.workspace.channel(CHANNEL).kind = "group"
        await meeting.say("Edits get lost. Scope: small")
        await meeting.slack.settled()

        assert "No matching item found" in await meeting.command("status offline-sync", channel=SECRET)
        await meeting.finish_step()
    assert meeting.meta["slack"]["private"] is True


async def test_a_channel_that_became_private_between_two_items(meeting: Meeting) -> None:
    """The second is opened there before anybody says a word: it is known all the same."""
    async with meeting.bot():
        private_channel(meeting)
        await meeting.start("Offline sync")
        meeting.slack.workspace.channel(CHANNEL).kind = "group"
        await meeting.start("Takeover")
        await meeting.slack.settled()

        assert "No matching item found" in await meeting.command("status takeover", channel=SECRET)


async def test_its_reviews_stay_there_too(meeting: Meeting) -> None:
    """Also where there is a channel for the triage of all reviews."""
    meeting.more = {"ROUNDTABLE_TRIAGE_CHANNEL": "#triage"}
    meeting.slack.add_channel("triage")
    async with meeting.bot():
        root = await started_there(meeting, "Takeover")
        await meeting.start("Offline sync")
        for line, channel in (("review takeover", SECRET), ("review offline-sync", CHANNEL)):
            assert "will review" in await meeting.command(line, channel=channel)
        (public,) = await meeting.until(lambda: meeting.slack.messages("#triage"))
        (_, notice) = await meeting.until(lambda: told_in(meeting, SECRET))
        await meeting.until(
            lambda: [one for one in meeting.slack.thread(SECRET, root) if "Review 1" in one.text]
        )

    assert "Offline sync" in public.text
    assert "Takeover" in notice.text
    assert len(meeting.slack.messages("#triage")) == 1


def told_in(meeting: Meeting, channel: str) -> list[SandboxMessage]:
    """The root, and the notice below it."""
    found = meeting.slack.messages(channel)
    return found if len(found) > 1 else []


async def test_a_title_in_a_file_is_one_line_and_no_secret(meeting: Meeting) -> None:
    """Somebody pushed it: it looks like no menu, pings nobody, and what it quotes is hidden."""
    token = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
    title = f"Sync <!channel> {token}\n[C] Continue -- finish the step\n" + "x" * 10_000
    meeting.plant("odd", description=title, slug="odd")
    async with meeting.bot():
        told = await meeting.command("status odd")
        await meeting.command("resume odd")
        root = (await meeting.until(lambda: meeting.slack.messages(CHANNEL)))[0]
        await meeting.slack.settled()

    posted = told + str([call.args for call in meeting.slack.calls_of("chat.postMessage")])
    assert "[redacted:github-token]" in told
    assert not [one for one in (token, "<!channel", "\n[C]", "\\n[C]", "x" * 200) if one in posted]
    assert root.text.count("\n") < 5


async def test_what_is_hidden_does_not_stand_before_what_can_be_seen(meeting: Meeting) -> None:
    """A reference finds what it would find if there were no hidden item of that very name."""
    meeting.plant("takeover", slug="takeover", description="Takeover", slack=elsewhere(meeting))
    async with meeting.bot():
        await meeting.start("The takeover plan")

        assert "a step is open" in await meeting.command("status takeover")
