"""Forgetting a person or an item (ADR 64): what is left of them in git's tip, the store and Slack, and what holds."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import redis

from bot.cli import replay
from tests.command_line import CommandLine, Ran, command_line
from tests.e2e.meeting import Meeting, settings
from tests.e2e.test_people import played

LINUS = re.compile(r"\blinus\b", re.IGNORECASE)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    with command_line(tmp_path_factory.mktemp("printed")) as loaded:
        yield loaded


@pytest.fixture(params=["sqlite", "redis"])
def kept(request: pytest.FixtureRequest, meeting: Meeting) -> Meeting:
    """A meeting whose live state is in each kind of store."""
    if request.param == "redis":
        meeting.more = {"REDIS_URL": request.getfixturevalue("redis_url")}
    return meeting


def environment(meeting: Meeting) -> dict[str, str]:
    slack = meeting.slack
    return {
        "SLACK_API_URL": slack.api_url,
        "SLACK_BOT_TOKEN": slack.bot_token,
        "SLACK_APP_TOKEN": slack.app_token,
        "ROUNDTABLE_WORKSPACE": str(meeting.workspace),
        "ROUNDTABLE_STEPS": settings(slack, meeting.workspace).steps.as_posix(),  # type: ignore[union-attr]
        **meeting.more,
    }


async def run(loaded: CommandLine, meeting: Meeting, *words: str) -> Ran:
    return await partial(loaded.run, meeting.workspace.parent)(*words, **environment(meeting))


def everything(meeting: Meeting) -> bytes:
    """Every byte of the checkout, of the tip's files, and of the store."""
    tip = b"".join(
        meeting.git("show", f"HEAD:{path}").encode()
        for path in meeting.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    )
    files = (one for one in meeting.workspace.rglob("*") if one.is_file() and ".git" not in one.parts)
    found = tip + b"".join(one.read_bytes() for one in files)
    if url := meeting.more.get("REDIS_URL"):
        with redis.Redis.from_url(url) as client:
            found += b"".join(client.dump(key) + _whole(client, key) for key in client.scan_iter())
    return found


def _whole(client: redis.Redis, key: bytes) -> bytes:
    """A dump is compressed."""
    kinds: dict[bytes, Any] = {
        b"hash": lambda: [*client.hgetall(key).keys(), *client.hgetall(key).values()],
        b"set": lambda: [*client.smembers(key)],
        b"string": lambda: [client.get(key) or b""],
        b"list": lambda: client.lrange(key, 0, -1),
        b"zset": lambda: client.zrange(key, 0, -1),
        b"stream": lambda: [str(client.xrange(key)).encode()],
    }
    kind = client.type(key)
    assert isinstance(kind, bytes)
    return key + b"\n".join(kinds[kind]())


def differences(meeting: Meeting) -> list[str]:
    own = settings(meeting.slack, meeting.workspace)
    item = replay.item(own, meeting.slug)
    return [str(one) for one in replay.verified(item, replay.keys_for(item, own, ""), replay.playbook(own))]


def people_file(meeting: Meeting) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((meeting.folder.parent / "people.json").read_text())["people"]
    return found


async def test_a_name_is_forgotten_and_no_line_changes(kept: Meeting, loaded: CommandLine) -> None:
    """It is asked what happens where first; then every file has a number in place of the name, and the seals hold."""
    async with kept.bot():
        await played(kept)
    before = (kept.folder / "planning/meeting.jsonl").read_bytes()
    linus, user = kept.person("linus"), kept.slack.person("linus").id
    assert LINUS.search("\n".join(one.read_text() for one in kept.folder.glob("*.md")))
    planned = await run(loaded, kept, "forget", "person", user, "--dry-run")
    unchanged = everything(kept)
    done = await run(loaded, kept, "forget", "person", user, "--yes")
    again = await run(loaded, kept, "forget", "person", user, "--yes")

    assert [one.code for one in (planned, done, again)] == [0, 0, 0], planned.err + done.err + again.err
    assert b"Linus" in unchanged
    for place in (
        "people.json",
        "transcripts",
        "store",
        "Slack",
        "git history",
        "remote, clones",
        "backups",
        "logs",
    ):
        assert f"\n  {place}" in f"\n{planned.out}"
    assert people_file(kept)[linus] == {
        "forgotten": people_file(kept)[linus]["forgotten"],
        "name": "Former member 1",
    }
    after = (kept.folder / "planning/meeting.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == before.count(b"\n") + 1
    assert [one for one in kept.folder.rglob("*") if one.is_file() and LINUS.search(one.read_text())] == []
    left = everything(kept)
    assert b"Linus" not in left
    assert not re.search(rf"{user}\b".encode(), left)
    assert differences(kept) == []
    assert "nothing left to forget" in again.out


async def test_words_are_taken_out_and_the_record_holds(kept: Meeting, loaded: CommandLine) -> None:
    """Grace's words, and all that was made of them; who spoke when stays. She is a new person when she speaks again."""
    async with kept.bot():
        await played(kept)
        await kept.say("The clerks sign in pencil on Tuesdays.", who="grace")
        await kept.slack.settled()
    words = ("edits in tunnels", "keep both edits", "clerks sign in pencil")
    grace, user = kept.person("grace"), kept.slack.person("grace").id
    text = everything(kept).decode(errors="replace")
    assert [one for one in words if one not in text] == []
    done = await run(loaded, kept, "forget", "person", user, "--words", "--typed", "--yes")
    left = everything(kept).decode(errors="replace")

    assert done.code == 0, done.err
    assert [one for one in words if one in left] == []
    assert "Grace" not in left
    assert user not in left
    assert differences(kept) == []
    spoken = [line for line in kept.lines("User") if line.person == grace]
    assert len(spoken) > 2
    assert {line.content for line in spoken} == {"[redacted:on-request]"}

    async with kept.bot():
        await kept.say("I am back, and want offline drafts.", who="grace")
        await kept.slack.settled()
        await kept.finish_step()
        await kept.slack.settled()
    assert differences(kept) == []
    [back] = [line for line in kept.lines("User") if "offline drafts" in line.content]
    assert back.person not in {grace, ""}
    assert people_file(kept)[grace]["name"] == "Former member 1"
    assert people_file(kept)[back.person]["name"] == "Grace"
