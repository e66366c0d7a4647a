"""Bots with clones of their own, and a remote between them."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bot import app
from bot.parts import seal
from bot.storage.git.sync import Sync
from bot.storage.git.workspace import GitWorkspace
from tests.e2e.meeting import CHANNEL, Meeting, settings
from tests.patience import wait_until
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import a_remote
from tests.storage.samples import NOW, SLUG, a_commit
from tests.transcripts import read

STEPS = ("00-01", "00-02", "00-03")


@pytest.fixture
def remote(tmp_path: Path) -> Git:
    return a_remote(tmp_path / "remote.git")


async def test_a_new_workspace_begins_where_the_remote_is(
    meeting: Meeting, remote: Git, tmp_path: Path
) -> None:
    """As soon as the bot is up: nobody is asked to begin anew what another machine has begun."""
    async with GitWorkspace(tmp_path / "other", seal=SEAL) as other:
        await other.commit(SLUG, a_commit(), now=NOW)
        await Sync(tmp_path / "other", remote=str(remote.root), seal=SEAL).once()
    meeting.more = {"ROUNDTABLE_REMOTE": str(remote.root)}

    async with meeting.bot():
        meeting.slug = SLUG
        assert meeting.meta["steps_completed"] == ["01-01"]
        assert meeting.git("rev-parse", "HEAD") == remote("rev-parse", "main").strip()
        assert meeting.git("status", "--porcelain") == ""


async def test_a_remote_that_is_away_keeps_nobody_from_starting(
    meeting: Meeting, remote: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """It is said once, and what was committed meanwhile is pushed when it is back."""
    away = remote.root.rename(remote.root.with_name("away.git"))
    meeting.more = {"ROUNDTABLE_REMOTE": str(remote.root)}

    async with meeting.bot():
        await meeting.start("Offline sync")
        assert caplog.text.count("what is committed is not pushed") == 1
        away.rename(remote.root)
        await wait_until(lambda: "start" in remote("log", "--all", "--format=%s"))


@pytest.mark.usefixtures("patient")
async def test_two_bots_with_two_clones_hold_one_meeting(
    meeting: Meeting, remote: Git, tmp_path: Path, redis_url: str
) -> None:
    """Whoever of them takes an event, no step is asked again, and all of it is at the remote, once and in order."""
    more = {"REDIS_URL": redis_url, "ROUNDTABLE_REMOTE": str(remote.root)}
    async with AsyncExitStack() as stack:
        for name in ("one", "two"):
            bot = app.bot(settings(meeting.slack, tmp_path / name, **more), web=False)
            await stack.enter_async_context(bot)
        await meeting.start("Offline sync")
        for step_id in STEPS:
            await meeting.seen(f"Step {step_id}:")
            await meeting.do_step(f"What we know about {step_id}: it has to be simple.")
            await meeting.press("continue")
        await meeting.seen("Step 01-01:")
        await wait_until(lambda: "01-requirements" in shown(remote, "meta.json") or steps(remote) == STEPS)

    assert steps(remote) == STEPS
    subjects = remote("log", "--reverse", "--format=%s", "main").splitlines()
    assert len(subjects) == len(set(subjects))
    written = read(shown(remote, "planning/meeting.jsonl").encode())
    assert written.flaws == ()
    ids = [line.message_id for line in written.lines]
    assert len(ids) == len(set(ids))
    assert remote("log", "--merges", "--format=%H", "main") == ""


def shown(remote: Git, name: str) -> str:
    return remote("show", f"main:docs/requirements/offline-sync/{name}")


def steps(remote: Git) -> tuple[str, ...]:
    return tuple(json.loads(shown(remote, "meta.json"))["steps_completed"])


@pytest.mark.parametrize("first", ["one", "two"])
async def test_a_remote_that_is_away_lets_no_step_be_asked_again(
    meeting: Meeting, remote: Git, tmp_path: Path, redis_url: str, first: str
) -> None:
    """
    The next step is another clone's, which has not heard of the last one; when the remote is back, it has both,
    whichever of them is the *first* to push.
    """
    more = {"REDIS_URL": redis_url, "ROUNDTABLE_REMOTE": str(remote.root)}
    made = settings(meeting.slack, tmp_path / "one", **more)
    async with app.bot(made, web=False):
        await meeting.start("Offline sync")
        async with app.bot(settings(meeting.slack, tmp_path / "two", **more), web=False):
            away = remote.root.rename(remote.root.with_name("away.git"))
    async with app.bot(settings(meeting.slack, tmp_path / "one", **more), web=False):
        await meeting.do_step("Edits get lost in tunnels.")
    async with app.bot(settings(meeting.slack, tmp_path / "two", **more), web=False):
        await meeting.press("continue")
        await meeting.seen("Step 00-02:")
        await meeting.do_step("Two people may edit one form.")
        await meeting.press("continue")
        await meeting.seen("Step 00-03:")
        await meeting.slack.person("ada").slash(CHANNEL, "/roundtable resume offline-sync")
        await meeting.slack.settled()
        away.rename(remote.root)
        await Sync(tmp_path / first, remote=str(remote.root), seal=seal(made)).once()
        async with app.bot(settings(meeting.slack, tmp_path / "one", **more), web=False):
            await wait_until(lambda: "offline-sync" in remote("log", "--all", "--format=%s") and both(remote))

    for name in ("one", "two"):  # the one that pushed first has not fetched again yet
        await Sync(tmp_path / name, remote=str(remote.root), seal=seal(made)).once()
    posts = [str(call.args) for call in meeting.slack.calls_of("chat.postMessage")]
    assert len([text for text in posts if "Step 00-01:" in text]) == 1


def both(remote: Git) -> bool:
    """In the order in which they came to the remote."""
    return set(STEPS[:2]) <= set(steps(remote))
