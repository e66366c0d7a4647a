"""A secret that somebody pastes: nobody reads it again, wherever it was pasted."""

import logging
import zlib
from pathlib import Path

import pytest

from bot.slack.manifest import SHORTCUT
from tests.e2e.meeting import CHANNEL, Meeting

TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5p" * 3
SHOWN = "[redacted:github-token]"
OURS = "a word we keep"


def everything_in(folder: Path) -> bytes:
    """All files, and in them what git packed."""
    found = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    objects = (path for path in folder.rglob(".git/objects/??/*") if path.is_file())
    return b"\n".join((*found, *(zlib.decompress(path.read_bytes()) for path in objects)))


async def test_a_secret_is_hidden_before_it_is_kept(
    meeting: Meeting, caplog: pytest.LogCaptureFixture
) -> None:
    """In an answer, an edit of one, and a title: no file, no object of git, no post and no log has it."""
    caplog.set_level(logging.DEBUG, "bot")
    async with meeting.bot():
        await meeting.start(f"Rotate {TOKEN} now", slug="rotate-redactedgithub-token-now")
        stamp = await meeting.say(f"It is {TOKEN}, and `password = hunter2`")
        await meeting.slack.settled()
        await meeting.slack.person("grace").edit(stamp, f"It was {TOKEN}. Scope: small")
        await meeting.slack.settled()
        await meeting.finish_step()
        posts = str([call.args for call in meeting.slack.calls_of("chat.postMessage")])

    heard = [line.content for line in meeting.lines("User")]
    assert heard == [f"It is {SHOWN}, and `password = [redacted:password]`", f"It was {SHOWN}. Scope: small"]
    assert meeting.meta["description"] == f"Rotate {SHOWN} now"
    kept = everything_in(meeting.workspace)
    assert SHOWN.encode() in kept
    told = [kept, posts.encode(), caplog.text.encode()]
    assert not [place for place in told if TOKEN.encode() in place or b"hunter2" in place]
    assert "redacted: 2 (1 github-token, 1 password)" in caplog.text


async def test_what_was_said_before_we_came_is_redacted_too(meeting: Meeting) -> None:
    """A thread that is adopted, and the message that it was started on."""
    async with meeting.bot():
        ada = meeting.slack.person("ada")
        meeting.root = await ada.say(CHANNEL, f"Offline sync {TOKEN}")
        await ada.say(CHANNEL, f"we use {TOKEN}", thread_ts=meeting.root)
        await meeting.slack.settled()
        await ada.shortcut(meeting.root, SHORTCUT)
        await meeting.menu("finish_step")

    (folder,) = (meeting.workspace / "docs" / "requirements").glob("*/")
    assert "redacted:github-token" in (folder / "draft.md").read_text()
    assert TOKEN.encode() not in everything_in(meeting.workspace)


async def test_the_bots_own_secrets_and_those_of_the_settings_are_hidden(meeting: Meeting) -> None:
    """Whatever they look like: the token it works with, and `ROUNDTABLE_REDACT`."""
    meeting.more = {"ROUNDTABLE_REDACT": f"{OURS}, customer = CUST-####"}
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say(f"{meeting.slack.bot_token} is {OURS.title()} for CUST-1234, not CUST-12")
        await meeting.slack.settled()
        await meeting.finish_step()

    (heard,) = meeting.lines("User")
    assert heard.content == (
        "[redacted:configured] is [redacted:custom] for [redacted:customer], not CUST-12"
    )
