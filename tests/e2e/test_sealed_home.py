"""Which thread is whose: what others pushed is never believed before people in that thread have said so."""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from bot.domain.item.meta import SlackPlace
from bot.storage.git.seal import Seal
from slack_sandbox import SandboxMessage
from tests.e2e.meeting import CHANNEL, Meeting
from tests.e2e.test_private import SECRET, private_channel
from tests.storage.checkout import Git, commit_all
from tests.storage.clones import a_remote

SLUG = "planted"
TITLE = "Board *plans* <!channel>\nSecond line"
TALK = ("We sell the company in May.", "Nobody may know of it.")
TAKE_UP = "roundtable.take_up"
READS = ("conversations.replies", "conversations.history")


@pytest.fixture
def remote(tmp_path: Path) -> Git:
    return a_remote(tmp_path / "remote.git")


async def a_private_thread(meeting: Meeting) -> str:
    """People talk in it; the bot is in the channel, and has no part in the thread. Returns the stamp of the root."""
    private_channel(meeting)
    ada, grace = meeting.slack.person("ada"), meeting.slack.person("grace")
    root = await ada.say(SECRET, TALK[0])
    await grace.say(SECRET, TALK[1], thread_ts=root)
    return root


def claim(meeting: Meeting, root: str, **more: Any) -> dict[str, Any]:
    channel = meeting.slack.workspace.channel(SECRET).id
    return {"team_id": meeting.slack.team_id, "channel_id": channel, "thread_ts": root, **more}


def pushed(tmp_path: Path, remote: Git, slack: dict[str, Any] | None, *, slug: str = SLUG) -> None:
    """Somebody with a clone of their own adds an item, or changes what its meta.json says about Slack."""
    clone = Git(tmp_path / "theirs")
    if not clone.root.exists():
        clone.root.mkdir()
        clone("init", "--quiet", "--initial-branch", "main")
        clone("remote", "add", "origin", str(remote.root))
    clone("fetch", "--quiet", "origin")
    if clone("ls-remote", "origin", "main").strip():
        clone("reset", "--quiet", "--hard", "origin/main")
    file = clone.root / "docs" / "requirements" / slug / "meta.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    fields = json.loads(file.read_text()) if file.exists() else {"slug": slug, "description": TITLE}
    fields = {**fields, **({"slack": slack} if slack else {})}
    file.write_text(json.dumps(fields))
    clone("add", "--all")
    clone("commit", "--quiet", "--message", "planted")
    clone("push", "--quiet", "origin", "HEAD:main")


def reads(meeting: Meeting) -> list[Any]:
    return [call for method in READS for call in meeting.slack.calls_of(method)]


def questions(meeting: Meeting, root: str, channel: str = SECRET) -> list[SandboxMessage]:
    return [one for one in meeting.slack.thread(channel, root) if TAKE_UP in one.actions]


def ours(meeting: Meeting, root: str) -> list[SandboxMessage]:
    return [one for one in meeting.slack.thread(SECRET, root) if one.by_bot]


def kept(meeting: Meeting) -> str:
    """Everything in every commit."""
    return meeting.git("log", "--all", "--patch") if (meeting.workspace / ".git").exists() else ""


async def test_a_pushed_home_makes_nobody_read_a_private_thread(
    meeting: Meeting, remote: Git, tmp_path: Path
) -> None:
    """Neither a sweep, a restart, words, verbs nor a review: there is one question in the thread, and no more."""
    meeting.more = {"ROUNDTABLE_REMOTE": str(remote.root)}
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        root = await a_private_thread(meeting)
        await meeting.slack.settled()
    pushed(tmp_path, remote, claim(meeting, root, private=False, started_by="U0ADA"))
    async with meeting.bot():
        await meeting.slack.settled()
        assert questions(meeting, root) == []
        assert SLUG not in await meeting.command("list")
        assert "No matching item" in await meeting.command(f"resume {SLUG}")
    rmtree(meeting.workspace / ".roundtable")
    async with meeting.bot():
        await ada.say(SECRET, "Is anybody here?", thread_ts=root)
        question = (await meeting.until(lambda: questions(meeting, root)))[0]
        await ada.say(SECRET, "Hello?", thread_ts=root)
        assert "did not write that myself" in await meeting.command(f"resume {SLUG}", channel=SECRET)
        assert "did not write that myself" in await meeting.command(f"start {SLUG}", channel=SECRET)
        assert "I show nothing of it" in await meeting.command(f"review {SLUG}", channel=SECRET)
        assert "I show nothing of it" in await meeting.command(f"catchup {SLUG}", channel=SECRET)
        await ada.say(SECRET, f"<@{meeting.slack.bot_user_id}> resume", thread_ts=root)
        await ada.say(SECRET, f"<@{meeting.slack.bot_user_id}> status", thread_ts=root)
        await meeting.slack.settled()
    async with meeting.bot():
        await ada.say(SECRET, "Still nobody?", thread_ts=root)
        await meeting.slack.settled()

        assert questions(meeting, root) == [question]
    assert ours(meeting, root) == [question]
    assert reads(meeting) == []
    assert not [words for words in (*TALK, "Hello?", "anybody") if words in kept(meeting)]
    assert "<!channel>" not in question.text
    assert "\nSecond line" not in question.text


async def test_after_a_press_in_the_thread_it_is_taken_up_with_all_that_was_said(meeting: Meeting) -> None:
    """What people wrote before the press is in the thread, and is read then; the next commit seals the home."""
    root = await a_private_thread(meeting)
    meeting.slug, meeting.root = SLUG, root
    meeting.plant(SLUG, slug=SLUG, description="Board plans", slack=claim(meeting, root), theirs=1)
    ada = meeting.slack.person("ada")
    async with meeting.bot():
        await ada.say(SECRET, "Edits get lost.", thread_ts=root)
        question = (await meeting.until(lambda: questions(meeting, root)))[0]
        await ada.say(SECRET, "In tunnels.", thread_ts=root)
        await meeting.slack.settled()
        assert reads(meeting) == []
        await ada.press(question, TAKE_UP)
        await meeting.until(lambda: "In tunnels." in recorded(meeting))
        await ada.press(question, TAKE_UP)
        await meeting.told("already")
    assert said(meeting).count("Edits get lost.") == 1
    assert meeting.meta["theirs"] == 1
    assert meeting.meta["slack"]["seal"]
    (answered,) = [one for one in meeting.slack.thread(SECRET, root) if one.ts == question.ts]
    assert answered.actions == ()
    assert "chosen by ada" in answered.words


@pytest.mark.usefixtures("patient")
async def test_two_processes_ask_once(meeting: Meeting, tmp_path: Path, redis_url: str) -> None:
    """Each with a clone of its own, and several people who write at the same time."""
    root = await a_private_thread(meeting)
    async with AsyncExitStack() as stack:
        for name in ("one", "two"):
            process = Meeting(meeting.slack, tmp_path / name, more={"REDIS_URL": redis_url})
            process.plant(SLUG, slug=SLUG, description="Board plans", slack=claim(meeting, root))
            await stack.enter_async_context(process.bot())
        for number in range(8):
            who = meeting.slack.person(("ada", "grace")[number % 2])
            await who.say(SECRET, f"Word {number}", thread_ts=root)
        await meeting.until(lambda: questions(meeting, root))
        await meeting.slack.settled()

    assert len(ours(meeting, root)) == 1
    assert reads(meeting) == []


def recorded(meeting: Meeting) -> str:
    file = meeting.folder / "planning" / "meeting.jsonl"
    return file.read_text() if file.exists() else ""


def said(meeting: Meeting) -> list[str]:
    """What people said, each line once; their entries repeat the words."""
    return [line.content for line in meeting.lines("User")]


async def lost(meeting: Meeting, change: Any = None) -> None:
    """The store is gone; *change* is made to the block `slack` of meta.json, and it is committed."""
    rmtree(meeting.workspace / ".roundtable")
    if change:
        fields = meeting.meta
        change(fields["slack"])
        (meeting.folder / "meta.json").write_text(json.dumps(fields))
        commit_all(meeting.workspace)


async def test_a_sealed_home_needs_no_question(meeting: Meeting) -> None:
    """As before: what was said while nothing was stored is read, and the meeting goes on."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    assert len(meeting.meta["slack"]["seal"]) == 64
    await lost(meeting)
    async with meeting.bot():
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.until(lambda: len(meeting.menus("finish_step")) > 1)
        await meeting.do_step()

    assert questions(meeting, meeting.root, CHANNEL) == []
    assert "Edits get lost in tunnels" in recorded(meeting)


async def test_a_key_of_before_still_counts(meeting: Meeting) -> None:
    """A new one is put before it; the next commit seals with that."""
    old, new = "an old key of ours", "a new key of ours, ok"
    meeting.more = {"ROUNDTABLE_SEAL_KEY": old.replace(" ", "-")}
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    sealed = meeting.meta["slack"]["seal"]
    await lost(meeting)
    meeting.more = {
        "ROUNDTABLE_SEAL_KEY": f"{new.replace(' ', '-').replace(',', '')}, {old.replace(' ', '-')}"
    }
    async with meeting.bot():
        await meeting.say("Edits get lost in tunnels. Scope: small")
        await meeting.until(lambda: len(meeting.menus("finish_step")) > 1)
        await meeting.do_step()

    assert questions(meeting, meeting.root, CHANNEL) == []
    assert meeting.meta["slack"]["seal"] not in {"", sealed}


def without_seal(slack: dict[str, Any]) -> None:
    del slack["seal"]


async def test_an_item_of_an_older_version_is_asked_about_once_and_only_without_the_store(
    meeting: Meeting,
) -> None:
    """With the store it goes on silently, and has its seal with the next commit."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    store = meeting.workspace / ".roundtable"
    store.rename(meeting.workspace / ".elsewhere")
    store.mkdir()
    await lost(meeting, without_seal)
    (meeting.workspace / ".elsewhere").rename(store)
    async with meeting.bot():
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        assert questions(meeting, meeting.root, CHANNEL) == []
        await meeting.slack.settled()
    assert meeting.meta["slack"]["seal"]

    await lost(meeting, without_seal)
    before = len(reads(meeting))
    async with meeting.bot():
        for words in ("We go on, don't we?", "Hello?"):
            await meeting.say(words)
        question = (await meeting.until(lambda: questions(meeting, meeting.root, CHANNEL)))[0]
        await meeting.slack.settled()
        assert len(reads(meeting)) == before
        assert questions(meeting, meeting.root, CHANNEL) == [question]
        await meeting.slack.person("grace").press(question, TAKE_UP)
        await meeting.until(lambda: "We go on, don't we?" in recorded(meeting))
    assert meeting.meta["slack"]["seal"]
    assert questions(meeting, meeting.root, CHANNEL) == []


async def test_a_thread_that_somebody_changed_counts_neither_with_the_store_nor_without(
    meeting: Meeting,
) -> None:
    """With it the store says where the item is held, and the next commit writes that; without it people are asked."""
    root = await a_private_thread(meeting)

    def stolen(slack: dict[str, Any]) -> None:
        slack |= claim(meeting, root)

    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
        fields = meeting.meta
        stolen(fields["slack"])
        (meeting.folder / "meta.json").write_text(json.dumps(fields))
        commit_all(meeting.workspace)
        ada = meeting.slack.person("ada")
        await ada.say(SECRET, "Only for the board.", thread_ts=root)
        await meeting.slack.settled()
        assert "Offline sync" not in await meeting.command("list", channel=SECRET)
        await meeting.do_step("Edits get lost in tunnels. Scope: small")
        await meeting.slack.settled()
    assert ours(meeting, root) == []
    assert meeting.meta["slack"]["thread_ts"] == meeting.root
    assert "Only for the board" not in kept(meeting)

    await lost(meeting, stolen)
    before = len(reads(meeting))
    async with meeting.bot():
        await meeting.slack.person("ada").say(SECRET, "Still only for the board.", thread_ts=root)
        await meeting.until(lambda: questions(meeting, root))
        await meeting.slack.settled()
    assert len(reads(meeting)) == before
    assert "for the board" not in kept(meeting)


async def test_a_seal_is_good_for_one_item_only(meeting: Meeting) -> None:
    """Copied into another one's meta.json, with its thread, it is worth nothing."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    other = meeting.folder.with_name("other")
    other.mkdir()
    fields = {"slug": "other", "description": "Other", "slack": meeting.meta["slack"]}
    (other / "meta.json").write_text(json.dumps(fields))
    rmtree(meeting.folder)
    commit_all(meeting.workspace)
    rmtree(meeting.workspace / ".roundtable")
    before = len(reads(meeting))
    async with meeting.bot():
        await meeting.say("What is this?")
        question = (await meeting.until(lambda: questions(meeting, meeting.root, CHANNEL)))[0]
        await meeting.slack.settled()
    assert "Other" in question.text
    assert len(reads(meeting)) == before


async def test_a_private_item_stays_hidden_when_somebody_says_that_it_is_public(meeting: Meeting) -> None:
    """The flipped word breaks the seal, and without one nobody is believed to be public."""
    private_channel(meeting)
    items = meeting.workspace / "docs" / "requirements"
    async with meeting.bot():
        await meeting.slack.person("ada").slash(SECRET, "/roundtable start Takeover")
        [found] = await meeting.until(lambda: [*items.glob("takeover-*/meta.json")])
        meeting.slug = found.parent.name
        await meeting.until(lambda: meeting.meta.get("slack"))
        await meeting.slack.settled()
    await lost(meeting, lambda slack: slack.update(private=False))
    async with meeting.bot():
        for verb in ("status", "resume", "catchup", "review"):
            assert "No matching item found" in await meeting.command(f"{verb} {meeting.slug}"), verb


async def test_an_item_that_another_tool_created_is_listed_and_taken_up_in_a_channel(
    meeting: Meeting,
) -> None:
    """It names no thread, so there is nothing to ask: where somebody types `resume` a thread is opened."""
    meeting.slug = SLUG
    meeting.plant(SLUG, slug=SLUG, description="Planted")
    async with meeting.bot():
        assert SLUG in await meeting.command(f"status {SLUG}")
        assert meeting.slack.messages(CHANNEL) == []
        await meeting.command(f"resume {SLUG}")
        await meeting.until(lambda: meeting.slack.messages(CHANNEL))
        await meeting.until(lambda: sealed(meeting))


def sealed(meeting: Meeting) -> str:
    """The thread that is sealed in meta.json, once there is one."""
    slack = meeting.meta.get("slack", {})
    return str(slack["thread_ts"]) if slack.get("seal") else ""


async def test_a_thread_that_does_not_exist_keeps_nobody_from_resuming(meeting: Meeting) -> None:
    """Nobody can be asked there, so a new thread is opened."""
    meeting.slug = SLUG
    place = SlackPlace(
        team_id=meeting.slack.team_id,
        channel_id=meeting.slack.workspace.channel(CHANNEL).id,
        thread_ts="1700000000.000100",
    )
    assert not Seal().is_valid(SLUG, place)
    meeting.plant(SLUG, slug=SLUG, description="Planted", slack=place.model_dump(mode="json"))
    async with meeting.bot():
        await meeting.command(f"resume {SLUG}")
        root = (await meeting.until(lambda: meeting.slack.messages(CHANNEL)))[-1]
        await meeting.until(lambda: sealed(meeting) == root.ts)
