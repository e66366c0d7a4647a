"""A workspace that goes back in the middle of a meeting: everything is there again, or people are told what is not."""

from pathlib import Path
from shutil import copytree, rmtree
from subprocess import run

from bot.cli import replay
from bot.record.verify import RecordedItem
from bot.slack.render import MORE
from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting, settings
from tests.patience import wait_until

WORDS = ("Edits get lost in tunnels. Scope: small", "Tunnels, sync, edits", "About twenty files")


def git(meeting: Meeting, *words: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    run(["git", "-C", str(meeting.workspace), *who, *words], check=True, capture_output=True)


def said(meeting: Meeting) -> list[str]:
    return [line.content for line in meeting.lines("User")]


def about_going_back(meeting: Meeting) -> list[str]:
    return [message.text for message in meeting.thread if "went back" in message.text]


async def step(meeting: Meeting, words: str) -> None:
    await meeting.do_step(words)
    await meeting.go_on()


async def stopped(meeting: Meeting, card: SandboxMessage) -> None:
    """Stop stands behind the card's ⋯."""
    (more,) = [one for one in card.elements if one["action_id"] == MORE]
    (stop,) = [one["value"] for one in more["options"] if one["value"].endswith("/stop")]
    await meeting.slack.person("ada").press(card, MORE, stop)


def verified(meeting: Meeting) -> list[str]:
    item = RecordedItem(meeting.folder, meeting.folder / "planning/meeting.jsonl")
    return [str(one) for one in replay.verified(item)]


async def test_a_reset_in_the_middle_of_a_meeting_loses_nothing(meeting: Meeting) -> None:
    """It is back with the next finished step, and nothing is asked again."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        for words in WORDS[:2]:
            await step(meeting, words)
        before = meeting.transcript.lines
        git(meeting, "reset", "--quiet", "--hard", "HEAD~2")
        assert any("went back by 2 commits" in one for one in verified(meeting))
        await meeting.do_step(WORDS[2])
        await meeting.slack.settled()

    assert [one.as_json() for one in meeting.transcript.lines[: len(before)]] == [
        one.as_json() for one in before
    ]
    assert said(meeting) == list(WORDS)
    assert meeting.meta["steps_completed"] == ["00-01", "00-02", "00-03"]
    assert "tunnels" in (meeting.folder / "quick-scan.md").read_text()
    assert about_going_back(meeting) == []
    assert meeting.git("status", "--short") == ""
    assert verified(meeting) == []


async def test_a_reset_while_nobody_was_there_is_seen_by_who_resumes(meeting: Meeting) -> None:
    """Before anything is asked."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await step(meeting, WORDS[0])
        await stopped(meeting, await meeting.do_step(WORDS[1]))
        await meeting.menu("resume")
    git(meeting, "reset", "--quiet", "--hard", "HEAD~2")
    async with meeting.bot():
        await meeting.press("resume")
        await meeting.seen("Welcome back")
        await meeting.press("continue")
        await meeting.seen("Step 00-03")

    assert meeting.meta["steps_completed"] == ["00-01", "00-02"]
    assert said(meeting) == list(WORDS[:2])


async def test_lines_of_a_revert_are_put_back_and_it_is_named_once(meeting: Meeting) -> None:
    """And so are the progress and the sections that they tell of."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        for words in WORDS[:2]:
            await step(meeting, words)
        git(meeting, "revert", "--no-edit", "HEAD")
        await meeting.do_step(WORDS[2])
        await meeting.seen("To remove words, use `roundtable scrub`.")
        await meeting.slack.settled()

    assert said(meeting) == list(WORDS)
    assert meeting.meta["steps_completed"] == ["00-01", "00-02", "00-03"]
    assert len([one for one in meeting.thread if "roundtable scrub" in one.text]) == 1
    item = RecordedItem(meeting.folder, meeting.folder / "planning/meeting.jsonl")
    assert replay.verified(item) == []


async def test_a_lost_node_gets_what_the_store_and_the_thread_have(meeting: Meeting, redis_url: str) -> None:
    """The progress and people's words; what the personas wrote is said to be gone."""
    meeting.more = {"REDIS_URL": redis_url}
    async with meeting.bot():
        await meeting.start("Offline sync")
        for words in WORDS[:2]:
            await step(meeting, words)
    rmtree(meeting.workspace)
    async with meeting.bot():
        await meeting.do_step(WORDS[2])
        await meeting.seen("git no longer has the later commits of this item (steps 00-01 and 00-02)")
        await wait_until(lambda: len(said(meeting)) == len(WORDS))
        await meeting.slack.settled()

    assert sorted(said(meeting)) == sorted(WORDS)
    assert meeting.meta["steps_completed"] == ["00-01", "00-02", "00-03"]
    assert meeting.meta["slack"]["thread_ts"] == meeting.root
    assert len(about_going_back(meeting)) == 1
    assert verified(meeting) == []


async def test_a_backup_of_everything_is_found_out_by_the_thread(meeting: Meeting, tmp_path: Path) -> None:
    """The store lies in the workspace, and went back with it: but the thread says what was committed since."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await step(meeting, WORDS[0])
    copytree(meeting.workspace, tmp_path / "backup")
    async with meeting.bot():
        await step(meeting, WORDS[1])
    rmtree(meeting.workspace)
    copytree(tmp_path / "backup", meeting.workspace)
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable resume offline-sync")
        await meeting.seen("went back")
        await wait_until(lambda: WORDS[1] in said(meeting))
        await meeting.slack.settled()

    assert said(meeting) == list(WORDS[:2])
    assert len(about_going_back(meeting)) == 1


async def against_slack(meeting: Meeting) -> tuple[list[str], int]:
    item = RecordedItem(meeting.folder, meeting.folder / "planning/meeting.jsonl")
    found, waiting = await replay.against_thread(settings(meeting.slack, meeting.workspace), item)
    return [str(one) for one in found], waiting


async def test_a_record_is_held_against_its_thread(meeting: Meeting) -> None:
    """Asides, wishes, edits and what was deleted are no differences; what is not committed yet waits."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("aside: lunch?")
        bot = f"<@{meeting.slack.bot_user_id}>"
        await meeting.say(f"{bot} what if we don't agree?", who="grace")
        named = await meeting.say("Who decides that?", who="grace")
        await meeting.slack.settled()
        await meeting.slack.person("grace").edit(named, f"{bot} Who decides that?")
        await meeting.say("Ask <@U0ADA> about tokens such as xoxb-1234567890-abcdefghijklmnop.")
        changed = await meeting.say("Edits get lost in tunels.")
        gone = await meeting.say("Never mind this one.")
        await meeting.slack.settled()
        await meeting.slack.person("grace").edit(changed, "Edits get lost in tunnels.")
        await meeting.slack.person("grace").delete(gone)
        await meeting.slack.settled()
        await step(meeting, WORDS[0])
        card = await meeting.menu("finish_step")
        await meeting.say("finish")
        await meeting.press_in(await meeting.menu("continue", since=card.ts), "continue")
        await meeting.seen("Step 00-03:")
        await meeting.say("Not committed yet.")
        await meeting.slack.settled()

        assert await against_slack(meeting) == ([], 1)
        assert verified(meeting) == []


async def test_what_only_one_of_them_has_is_named(meeting: Meeting) -> None:
    """Whoever went back, and whatever was deleted while nobody looked."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        for words in WORDS:
            await step(meeting, words)
    ada, grace = meeting.person("ada"), meeting.person("grace")
    written = meeting.folder / "planning/meeting.jsonl"
    rows = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join(row for row in rows if WORDS[1].encode() not in row))
    found, _ = await against_slack(meeting)
    assert len(found) == 1
    assert f"{grace} wrote '{WORDS[1]}'" in found[0]

    git(meeting, "checkout", "--quiet", "--", ".")
    about_ada = written.read_text().replace(f'"person": "{grace}"', f'"person": "{ada}"', 1)
    written.write_text(about_ada.replace(WORDS[1], "Something else."))
    found, _ = await against_slack(meeting)
    assert f"names {ada} for the message" in found[0]
    assert "has other words than the message" in found[1]
    assert f"{grace} wrote '{WORDS[1]}'" in found[1]

    git(meeting, "checkout", "--quiet", "--", ".")
    (said,) = [message for message in meeting.thread if message.text == WORDS[1]]
    await meeting.slack.person("grace").delete(said.ts)
    found, _ = await against_slack(meeting)
    assert [one.split(": ", 1)[1] for one in found] == [
        f"is the message {said.ts}, which is not in the thread"
    ]

    git(meeting, "reset", "--quiet", "--hard", "HEAD~2")
    found, _ = await against_slack(meeting)
    assert any("lines were committed" in one for one in found)
    git(meeting, "reset", "--quiet", "--hard", "ORIG_HEAD")
