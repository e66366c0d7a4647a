"""The ways in: commands, mentions, shortcuts and buttons, and what is answered when there is no way."""

from shutil import rmtree

import pytest

from bot.slack.manifest import SHORTCUT
from tests.e2e.meeting import CHANNEL, Meeting

BEFORE_AND_AFTER = 2
"""The menu from before the store was lost still stands there; the one we wait for is the second."""


async def test_a_second_start_links_to_the_thread_there_is(meeting: Meeting) -> None:
    """
    One item has one thread: whoever starts it again is shown the way, and nobody else is told. A list says in words
    where items stand, also where there is nothing yet. Resuming without a name offers what is in the channel.
    """
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        nothing = [await ada.slash(CHANNEL, f"/roundtable {verb}") for verb in ("list", "catchup", "export")]
        await meeting.start("Offline sync")
        delivery = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable start offline sync")

        assert "There is a roundtable on *Offline sync*" in delivery.response["text"]
        assert f"p{meeting.root.replace('.', '')}" in str(delivery.response["blocks"])
        assert len(meeting.slack.messages(CHANNEL)) == 1
        await meeting.do_step("Edits get lost. Scope: small")
        listed = await ada.slash(CHANNEL, "/roundtable list")
        await meeting.press("stop")
        await meeting.menu("resume")
        await ada.slash(CHANNEL, "/roundtable resume")
        picker = (await meeting.until(lambda: ada.ephemerals))[-1]
        await ada.press(picker, picker.actions[0])
        await meeting.seen("Welcome back.")
        await meeting.menu("continue")

    assert all("no roundtables in this channel yet" in told.response["text"] for told in nothing)
    assert "1 step done, at a menu" in listed.response["text"]


@pytest.mark.parametrize(
    ("asked", "slug", "source_id"),
    [
        ("https://github.com/acme/api/issues/42", "gh-acme_api-42", "acme/api#42"),
        ("PROJ-12", "proj-12", "PROJ-12"),
    ],
)
async def test_an_item_can_be_a_reference(meeting: Meeting, asked: str, slug: str, source_id: str) -> None:
    """A number or an address names an issue, a key a ticket; meta.json says which."""
    async with meeting.bot():
        await meeting.start(asked, slug=slug)

    assert meeting.meta["source_id"] == source_id
    if "//" in asked:
        assert f"{source_id}, <{asked}>" in (meeting.folder / "draft.md").read_text()


@pytest.mark.parametrize(
    ("folder", "typed"),
    [
        ("GH-21_Something", "#21"),
        pytest.param("Rate-Limiting", "rate limiting", marks=pytest.mark.thorough),
        pytest.param("A_B", "a_b", marks=pytest.mark.thorough),
    ],
)
async def test_start_takes_up_a_folder_in_any_case(meeting: Meeting, folder: str, typed: str) -> None:
    """Other tools name folders with capitals and suffixes: tests/domain/test_item.py. A second is never made."""
    meeting.plant(folder, description="As it is called", steps_completed=["00-01"])
    items = meeting.workspace / "docs" / "requirements"
    async with meeting.bot():
        await meeting.start(typed, slug=folder)
        assert "As it is called" in meeting.thread[0].text
        await meeting.do_step("Edits get lost. Scope: small")
        again = await meeting.slack.person("grace").slash(CHANNEL, f"/roundtable start {typed.upper()}")

    assert "There is a roundtable on *As it is called*" in again.response["text"]
    assert [one.name for one in items.glob("*/")] == [folder]
    assert meeting.meta["steps_completed"][:2] == ["00-01", "00-02"]


async def test_start_asks_which_of_several_folders_is_meant(meeting: Meeting) -> None:
    """And makes nothing."""
    for name in ("GH-1-Dark-Mode", "GH-2-Dark-Mode"):
        meeting.plant(name)
    async with meeting.bot():
        asked = await meeting.slack.person("ada").slash(CHANNEL, "/roundtable start dark mode")

    assert "could be `GH-1-Dark-Mode` and `GH-2-Dark-Mode`" in str(asked.response)
    assert len([*meeting.workspace.glob("docs/requirements/*/")]) == 2


async def test_a_mention_adopts_the_thread_and_what_was_said_in_it(meeting: Meeting) -> None:
    """What people said before is in draft.md and in the transcript, with their names."""
    async with meeting.bot():
        ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
        meeting.root = await ada.say(CHANNEL, "Edits get lost in tunnels")
        await grace.say(CHANNEL, "Every week, I have *proof*", thread_ts=meeting.root)
        await meeting.slack.settled()
        await ada.mention(CHANNEL, "start Offline sync", thread_ts=meeting.root)
        await meeting.menu("finish_step")
        await meeting.finish_step()

    meeting.slug = "offline-sync"
    draft = (meeting.folder / "draft.md").read_text()
    assert "**Ada**:\n\n> Edits get lost in tunnels" in draft
    assert "**Grace**:\n\n> Every week, I have *proof*" in draft
    said = [line.content for line in meeting.lines("User")]
    assert said[:2] == ["Edits get lost in tunnels", "Every week, I have *proof*"]
    assert meeting.meta["slack"]["thread_ts"] == meeting.root


async def test_the_shortcut_starts_on_a_message(meeting: Meeting) -> None:
    """*Start a roundtable* takes the message for the title and its thread for the place."""
    async with meeting.bot():
        ada = meeting.slack.person("ada")
        meeting.root = await ada.say(CHANNEL, "Edits get lost in tunnels")
        await meeting.slack.settled()
        delivery = await ada.shortcut(meeting.root, SHORTCUT)
        await meeting.menu("finish_step")

        assert delivery.acked
        assert "Edits get lost in tunnels" in (await meeting.seen("Maya Chen, Alex Rivera")).text


async def test_a_channel_we_are_not_in_is_explained(meeting: Meeting) -> None:
    """Only the person who asked is told, with what to do; after the invitation the same command works."""
    async with meeting.bot():
        meeting.slack.remove_bot(CHANNEL)
        ada = meeting.slack.person("ada")
        await ada.slash(CHANNEL, "/roundtable start Offline sync")
        told = await meeting.until(lambda: ada.ephemerals)
        assert "/invite @roundtable" in told[-1].text

        meeting.slack.invite_bot(CHANNEL)
        await meeting.start("Offline sync")
        assert "Roundtable: Offline sync" in meeting.thread[0].text


async def test_resume_brings_back_an_item_that_only_git_knows(meeting: Meeting) -> None:
    """The store is lost: folder and thread are enough, and nothing that was done is asked again."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost. Scope: small")
    rmtree(meeting.workspace / ".roundtable")

    async with meeting.bot():
        delivery = await meeting.slack.person("grace").slash(CHANNEL, "/roundtable resume offline-sync")
        greeting = await meeting.seen("Welcome back. Last time we completed Scope Estimation.")
        await meeting.seen("Step 00-02")
        await meeting.do_step("sync queue")
        await meeting.until(lambda: len(meeting.menus("continue")) == BEFORE_AND_AFTER)

    assert delivery.acked
    assert "Let's pick up from Keyword Search." in greeting.text
    assert meeting.meta["steps_completed"] == ["00-01", "00-02"]
    assert meeting.transcript.flaws == ()


async def test_hostile_words_ping_nobody_and_stay_text(meeting: Meeting) -> None:
    """Mentions, links and markup of people come back as plain text, in Slack and in the files."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say(
            "<!channel> <@U0ADA> <https://evil.test|bank> # Heading <!-- Elaboration: step 00-01, x -->"
        )
        await meeting.slack.settled()
        await meeting.finish_step()
        posts = [call.args for call in meeting.slack.calls_of("chat.postMessage")]

    shown = str(posts)
    assert not [token for token in ("<!channel", "<@U", "<https://evil") if token in shown]
    quick_scan = (meeting.folder / "quick-scan.md").read_text()
    assert quick_scan.count("\n# ") == 0
    assert "<!-- Elaboration" not in quick_scan
