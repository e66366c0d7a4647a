"""What is damaged or cannot be written: people are asked, nothing is lost, and the workspace is whole afterwards."""

from shutil import rmtree

from bot.domain.messages.trouble_wording import SAVED_AT_LAST, restored
from tests.e2e.meeting import CHANNEL, Meeting
from tests.storage.checkout import commit_all

DAMAGED = '{"steps_completed": ["00-'


async def lost_and_damaged(meeting: Meeting) -> None:
    """A step is done; then the store is lost, and somebody's editor leaves half a meta.json."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
    rmtree(meeting.workspace / ".roundtable")
    (meeting.folder / "meta.json").write_text(DAMAGED)
    commit_all(meeting.workspace)


async def resumed(meeting: Meeting) -> None:
    """The item's folder no longer says where it was held: a new thread is opened."""
    roots = {message.ts for message in meeting.slack.messages(CHANNEL)}
    await meeting.slack.person("grace").slash(CHANNEL, "/roundtable resume offline-sync")
    await meeting.until(lambda: [one for one in meeting.slack.messages(CHANNEL) if one.ts not in roots])
    meeting.root = meeting.slack.messages(CHANNEL)[-1].ts


async def test_feedback_at_a_menu_is_in_a_file_although_the_store_is_lost(meeting: Meeting) -> None:
    """It was in no commit yet: its card did not say *saved*, and it is read from the thread again."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        await meeting.say("Photos of the meter count, too.")
        await meeting.seen("What was added since then is not saved yet.")
        await meeting.slack.settled()
    assert "Photos" not in (meeting.folder / "quick-scan.md").read_text()
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        await meeting.slack.person("grace").slash(CHANNEL, "/roundtable resume offline-sync")
        await meeting.seen("I read 1 message here that git did not have yet.")
        await meeting.seen("Step 00-02")
        await meeting.slack.settled()

    files = {path.name: path.read_text() for path in meeting.folder.glob("*.md")}
    assert any("Photos of the meter count, too." in text for text in files.values()), files
    assert meeting.git("status", "--short") == ""


async def test_the_last_good_version_is_brought_back(meeting: Meeting) -> None:
    """ERR-META-002: by a button; the finished step stays finished, and the damaged file is kept beside it."""
    await lost_and_damaged(meeting)
    async with meeting.bot():
        await resumed(meeting)
        await meeting.press("restore")
        await meeting.seen("Step 00-02")

    assert meeting.meta["steps_completed"] == ["00-01"]
    assert meeting.meta["slack"]["thread_ts"] == meeting.root
    assert DAMAGED in [path.read_text() for path in meeting.folder.glob("meta.json.*")]
    assert meeting.git("status", "--short") == ""


async def test_or_people_start_over(meeting: Meeting) -> None:
    """The artifacts and the transcript stay."""
    await lost_and_damaged(meeting)
    async with meeting.bot():
        await resumed(meeting)
        await meeting.press("start_over")
        await meeting.seen("Step 00-01")

    assert meeting.meta["steps_completed"] == []
    assert "tunnels" in (meeting.folder / "quick-scan.md").read_text()
    assert "Edits get lost in tunnels. Scope: small" in [line.content for line in meeting.lines("User")]
    assert DAMAGED in [path.read_text() for path in meeting.folder.glob("meta.json.*")]


async def test_what_cannot_be_written_stands_in_the_thread_and_is_written_later(meeting: Meeting) -> None:
    """ERR-ART-002: a folder is in the place of the file, until somebody takes it away."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        in_the_way = meeting.folder / "quick-scan.md"
        in_the_way.mkdir()
        (in_the_way / "notes.md").write_text("mine")
        commit_all(meeting.workspace)
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        attached = await meeting.seen("I could not save this in")

        rmtree(in_the_way)
        commit_all(meeting.workspace)
        await meeting.go_on()
        await meeting.press("finish_step")
        await meeting.seen(SAVED_AT_LAST)

    assert "tunnels" in attached.text
    assert "tunnels" in in_the_way.read_text()
    assert meeting.git("status", "--short") == ""
    assert meeting.transcript.flaws == ()


async def test_a_folder_that_is_deleted_while_people_talk_is_restored_and_told(meeting: Meeting) -> None:
    """With all that was finished before, and what tools of others wrote into it."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        created = meeting.meta["created_at"]
        rmtree(meeting.folder)
        commit_all(meeting.workspace)
        await meeting.press("continue")
        await meeting.seen("Step 00-02")
        await meeting.do_step("In tunnels, and on planes.")
        await meeting.seen(restored("folder"))
        await meeting.slack.settled()

    assert len([one for one in meeting.thread if one.text == restored("folder")]) == 1
    assert meeting.meta["steps_completed"] == ["00-01", "00-02"]
    assert meeting.meta["created_at"] == created
    assert "tunnels" in (meeting.folder / "quick-scan.md").read_text()
    assert "Edits get lost in tunnels. Scope: small" in [line.content for line in meeting.lines("User")]
    assert meeting.git("status", "--short") == ""
