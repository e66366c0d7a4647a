"""Forgetting a person or an item (ADR 58): what is left of them in git's tip, the store and Slack, and what holds."""

import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import redis

from bot import app
from bot.cli import forget as forgetting
from bot.cli import replay
from bot.domain.roundtable.stage import Stage
from bot.engine.ports import now
from bot.expiry import Expired
from tests.command_line import CommandLine, Ran
from tests.e2e.meeting import Meeting, settings
from tests.e2e.test_people import played
from tests.patience import wait_until
from tests.storage.checkout import Git
from tests.storage.clones import a_remote, pushed_by_hand
from tests.storage.samples import OWED, a_roundtable

LINUS = re.compile(r"\blinus\b", re.IGNORECASE)


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
            found += b"".join(client.dump(key) + whole(client, key) for key in client.scan_iter())
    return found


def whole(client: redis.Redis, key: bytes) -> bytes:
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
    assert "erased" not in (await run(loaded, kept, "replay", kept.slug, "--verify")).out
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
    checked = await run(loaded, kept, "replay", kept.slug, "--verify")
    erased = (
        f"The words of {len(spoken)} lines were erased: who spoke and when is checked, the words are not."
    )
    assert checked.code == 0, checked.out
    assert checked.out.splitlines()[-1] == erased

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


async def test_the_posts_of_the_bot_are_edited_where_that_is_asked_for(
    meeting: Meeting, loaded: CommandLine
) -> None:
    """Names, mentions and quotes in them; buttons stay, and so does what people wrote themselves."""
    async with meeting.bot():
        await played(meeting)
    grace, us = meeting.slack.person("grace"), "U0ROUNDTABLE"
    named = re.compile(rf"\bGrace\b|{grace.id}|edits in tunnels")

    def of_the_bot() -> list[str]:
        return [json.dumps([one.text, one.blocks]) for one in meeting.thread if one.user == us]

    before, theirs = of_the_bot(), [one.text for one in meeting.thread if one.user == grace.id]
    asked = await run(loaded, meeting, "forget", "person", grace.id, "--words", "--slack", "--dry-run")
    assert any(map(named.search, before))
    assert of_the_bot() == before
    done = await run(loaded, meeting, "forget", "person", grace.id, "--words", "--slack", "--yes")

    assert (asked.code, done.code) == (0, 0), asked.err + done.err
    assert re.search(r"[1-9]\d* posts of the bot in Slack edited\.", done.out)
    assert [one for one in of_the_bot() if named.search(one)] == []
    assert "Former member 1" in "".join(of_the_bot())
    assert [one.text for one in meeting.thread if one.user == grace.id] == theirs
    async with meeting.bot():
        await meeting.say("Linus goes on", who="linus")
        await meeting.finish_step()


async def test_a_bot_that_runs_with_redis_goes_on(
    meeting: Meeting, loaded: CommandLine, redis_url: str
) -> None:
    """In the middle of a discussion, with a position that nobody has seen yet: what it commits next has no old name."""
    meeting.more = {"REDIS_URL": redis_url}
    linus, user = meeting.person("linus"), meeting.slack.person("linus").id
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("Field workers lose their edits.", who="linus")
        await meeting.slack.settled()
        await meeting.finish_step()
        await meeting.press("elaborate", who="grace")
        await meeting.menu("end_elaboration")
        await meeting.say("Conflicts are shown to the clerk on duty.", who="linus")
        await meeting.slack.settled()
        done = await run(loaded, meeting, "forget", "person", user, "--words", "--typed", "--yes")
        assert done.code == 0, done.err
        await wait_until(lambda: linus in people_file(meeting))
        await meeting.say("We keep a queue.", who="grace")
        await meeting.slack.settled()
        await meeting.press("end_elaboration", who="grace")
        await meeting.menu("continue")
        await meeting.slack.settled()

    left = everything(meeting).decode(errors="replace")
    assert [one for one in ("clerk on duty", "Field workers", "Linus") if one in left] == []
    assert not re.search(rf"{user}\b", left)
    assert differences(meeting) == []


async def test_without_redis_the_bot_has_to_be_stopped(meeting: Meeting, loaded: CommandLine) -> None:
    """Otherwise nothing at all is done."""
    async with meeting.bot():
        await played(meeting)
        before = everything(meeting)
        ran = await run(loaded, meeting, "forget", "person", meeting.slack.person("ada").id, "--yes")

    assert (ran.code, ran.out) == (1, "")
    assert "Stop the bot, and run the command again." in ran.err
    assert b"Ada" in before
    assert {"name": "Ada"} in people_file(meeting).values()


async def test_who_is_not_known_is_named(meeting: Meeting, loaded: CommandLine) -> None:
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.slack.settled()
    unknown = await run(loaded, meeting, "forget", "person", "U0NOBODY", "--yes")
    wrong = await run(loaded, meeting, "forget", "person", "Ada", "--yes")
    no_item = await run(loaded, meeting, "forget", "item", "offline-snc", "--yes")

    assert [one.code for one in (unknown, wrong, no_item)] == [1, 1, 1]
    assert "No line of U0NOBODY in 1 item.\n" in unknown.err
    assert "'Ada' is no id of Slack" in wrong.err
    assert "Did you mean offline-sync?" in no_item.err


async def test_an_item_is_removed(kept: Meeting, loaded: CommandLine) -> None:
    """Its files, its part of what items share, its live state; and the bot's posts, where that is asked for."""
    async with kept.bot():
        await played(kept)
        await kept.slack.settled()
    before = everything(kept)
    refused = await run(loaded, kept, "forget", "item", kept.slug, "--yes")
    planned = await run(loaded, kept, "forget", "item", kept.slug, "--live", "--dry-run")
    assert everything(kept) == before
    done = await run(loaded, kept, "forget", "item", kept.slug, "--live", "--slack", "--yes")

    assert [one.code for one in (refused, planned, done)] == [1, 0, 0], refused.err + planned.err + done.err
    assert refused.err == "offline-sync is not finished. Stop it first, or add --live.\n"
    assert "people.json" in planned.out
    left = everything(kept)
    assert b"offline-sync" not in left
    assert b"Field workers" not in left
    assert not kept.folder.exists()
    people = {kept.slack.person(who).id for who in ("ada", "grace", "linus")}
    assert {one.user for one in kept.thread} <= {*people, "USLACKBOT"}, "which shows where a post was"
    assert kept.git("status", "--porcelain") == ""


async def test_what_is_known_of_a_person_is_handed_out(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    """Their words, presses and settings, and where others name them; of nobody else anything."""
    async with meeting.bot():
        await played(meeting)
        await meeting.say("Printers, too.", who="grace")
        await meeting.slack.settled()
    user, out = meeting.slack.person("grace").id, tmp_path / "grace.json"
    ran = await run(loaded, meeting, "export", "person", user, "--out", str(out))
    printed = await run(loaded, meeting, "export", "person", meeting.person("grace"))

    assert ran.code == 0, ran.err
    found = json.loads(out.read_text())
    assert printed.json == found
    assert (found["ids"], found["slack"], list(found["names"].values())) == (
        [meeting.person("grace")],
        user,
        ["Grace"],
    )
    said = [one["content"] for one in found["items"]["offline-sync"]["said"]]
    assert "conflicts: keep both edits" in said
    assert [one["content"] for one in found["unsaved"]["offline-sync"]] == ["Printers, too."]
    assert any(
        "ended" in one["content"].lower() or "end" in one["content"].lower()
        for one in found["items"]["offline-sync"]["pressed"]
    )
    assert "Who signs?" not in out.read_text()


@pytest.mark.skipif(which("git-filter-repo") is None, reason="git filter-repo is not installed")
async def test_the_history_can_be_taken_out_too(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    """By the program that the command names: then no object of git has a word, and the record still holds."""
    async with meeting.bot():
        await played(meeting)
    user, listed = meeting.slack.person("grace").id, tmp_path / "blobs.txt"
    ran = await run(
        loaded, meeting, "forget", "person", user, "--words", "--typed", "--yes", "--history", str(listed)
    )
    assert ran.code == 0, ran.err
    assert "edits in tunnels" in objects(meeting)
    fresh = tmp_path / "fresh"
    meeting.git("clone", "--quiet", "--mirror", str(meeting.workspace), str(fresh))
    meeting.workspace = fresh
    meeting.git("filter-repo", "--strip-blobs-with-ids", str(listed), "--force", "--quiet")
    meeting.git("clone", "--quiet", str(fresh), str(tmp_path / "clean"))
    meeting.workspace = tmp_path / "clean"

    assert [one for one in ("edits in tunnels", "keep both edits", "Grace") if one in objects(meeting)] == []
    assert differences(meeting) == []


def objects(meeting: Meeting) -> str:
    """The content of every object that git has."""
    said = subprocess.run(
        ["git", "cat-file", "--batch", "--batch-all-objects"],
        cwd=meeting.workspace,
        check=True,
        capture_output=True,
    )
    return said.stdout.decode(errors="replace")


def later(**ages: int) -> Callable[[], str]:
    """The clock, so many days later."""
    return lambda: (
        (datetime.now(UTC) + timedelta(**ages)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )


async def at_rest(meeting: Meeting) -> None:
    """With Redis a stop hands over what is left to do, and an item that waits for something is not expired."""
    await meeting.slack.settled()
    if "REDIS_URL" in meeting.more:
        async with forgetting.opened_store(
            settings(meeting.slack, meeting.workspace, **meeting.more)
        ) as store:
            assert store
            await wait_until(lambda: is_done(store, meeting.slug))


async def is_done(store: forgetting.AnyStore, slug: str) -> bool:
    rt = await store.get(slug)
    return rt is not None and not rt.pending


async def expired(meeting: Meeting, kept: str, days: int) -> Expired:
    """What is taken out so many days later by a command, while no bot runs."""
    own = settings(meeting.slack, meeting.workspace, ROUNDTABLE_RETENTION=kept, **meeting.more)
    async with forgetting.opened_store(own) as store:
        return await app.expiry(own, store, app.playbook(own), later(days=days)).run()


async def test_words_and_items_are_kept_as_long_as_the_setting_says(kept: Meeting) -> None:
    """First words go, and what was agreed stays with who said it; then the item. What is newer stays."""
    async with kept.bot():
        await played(kept)
        await kept.press("finish_step", who="ada")
        await kept.menu("continue")
        await at_rest(kept)
    decided = len(kept.made("decision"))
    assert decided
    assert await expired(kept, "words:9d,item:30d", 8) == Expired()
    assert b"conflicts: keep both edits" in everything(kept)

    assert await expired(kept, "words:9d,item:30d", 10) == Expired(words=(kept.slug,))
    assert b"conflicts: keep both edits" not in everything(kept)
    assert b"a queue keeps them" in everything(kept)
    assert len(kept.made("decision")) == decided
    assert "Grace" in "".join(one.read_text() for one in kept.folder.glob("*.md"))
    assert differences(kept) == []
    assert await expired(kept, "words:9d,item:30d", 11) == Expired()

    assert await expired(kept, "words:9d,item:30d", 31) == Expired(items=(kept.slug,))
    assert b"offline-sync" not in everything(kept)


async def test_what_is_not_in_git_yet_is_newer_than_any_age(meeting: Meeting) -> None:
    async with meeting.bot():
        await played(meeting)
        await meeting.say("Printers, too.", who="grace")
        await meeting.slack.settled()

    assert await expired(meeting, "words:9d,item:30d", 400) == Expired()
    assert b"Printers, too." in everything(meeting)


@pytest.mark.parametrize(("kept", "days"), [("", 30), ("state:9d", 9), ("state:never", None)])
async def test_the_state_of_what_is_finished_is_kept_as_long_as_the_setting_says(
    meeting: Meeting, kept: str, days: int | None
) -> None:
    """Of one process; Redis does it by itself. What goes on stays, and so does what has something to do."""
    own = settings(meeting.slack, meeting.workspace, ROUNDTABLE_RETENTION=kept)
    over = {"stage": Stage.ANALYSED, "now": now()}
    async with app.store(own, "T0SANDBOX") as store:
        for rt in (
            a_roundtable("over", **over),
            a_roundtable("busy", outbox=OWED, **over),
            a_roundtable("open", now=now()),
        ):
            await store.put(rt, expected=0)
        for later_by in (29 if days is None else days - 1, 400 if days is None else days + 1):
            await app.expiry(own, store, app.playbook(own), later(days=later_by)).run()
            is_kept = days is None or later_by < days
            assert (await store.get("over") is not None) is is_kept
            assert await store.get("busy")
            assert await store.get("open")


async def test_the_bot_does_it_at_night(meeting: Meeting) -> None:
    """By itself; the clock of the test is just before three."""
    async with meeting.bot():
        await played(meeting)
        await meeting.press("finish_step", who="ada")
        await meeting.slack.settled()
    meeting.more = {"ROUNDTABLE_RETENTION": "item:7d"}
    meeting.clock = at_night
    meeting.was_last_heard(at_night())  # an item whose thread is read again is busy that night
    async with meeting.bot():
        await wait_until(lambda: not meeting.folder.exists())


def at_night() -> str:
    """The clock, just before three in twenty days."""
    night = (datetime.now(UTC) + timedelta(days=20)).replace(
        hour=2, minute=59, second=59, microsecond=900_000
    )
    return night.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.mark.usefixtures("patient")
async def test_of_two_processes_with_clones_one_does_it_at_night(
    meeting: Meeting, redis_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The seals of two would differ, and no clone could push any more."""
    caplog.set_level("INFO", logger="audit")
    remote = a_remote(tmp_path / "remote.git")
    meeting.more = {"REDIS_URL": redis_url, "ROUNDTABLE_REMOTE": str(remote.root)}
    other = Meeting(meeting.slack, tmp_path / "other", more=meeting.more)
    async with meeting.bot(), other.bot():
        await played(meeting)
        await meeting.press("finish_step", who="ada")
        await meeting.menu("continue")
        await at_rest(meeting)
        await wait_until(lambda: len({tip(meeting), tip(other), tip(remote)}) == 1)
    for one in (meeting, other):
        one.more = {**one.more, "ROUNDTABLE_RETENTION": "words:7d"}
        one.clock = at_night
    with redis.Redis.from_url(redis_url) as client:
        client.set("roundtable:{T0SANDBOX}:listened", at_night())
    async with meeting.bot(), other.bot():
        await wait_until(lambda: "Roundtable-Erased" in remote("log", "main"))
        await wait_until(lambda: len({tip(meeting), tip(other), tip(remote)}) == 1)

    assert [line.message for line in caplog.records if "forget.expired" in line.message] == ["forget.expired"]
    assert differences(meeting) == []


def tip(of: Meeting | Git) -> str:
    """Empty before the first commit."""
    git = Git(of.workspace) if isinstance(of, Meeting) else of
    return git("for-each-ref", "--format=%(objectname)", "refs/heads")


async def test_a_remote_gets_it_on_top_of_what_others_pushed(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    remote = a_remote(tmp_path / "remote.git")
    meeting.more = {"ROUNDTABLE_REMOTE": str(remote.root)}
    async with meeting.bot():
        await played(meeting)
        tip = ("for-each-ref", "--format=%(objectname)", "refs/heads/main")
        await wait_until(lambda: remote(*tip).strip() == meeting.git("rev-parse", "HEAD"))
    remote("clone", "--quiet", str(remote.root), str(tmp_path / "person"))
    pushed_by_hand(Git(tmp_path / "person"), {"src/limit.py": "LIMIT = 3\n"})
    user = meeting.slack.person("grace").id
    ran = await run(loaded, meeting, "forget", "person", user, "--words", "--typed", "--yes")
    assert ran.code == 0, ran.err
    async with meeting.bot():
        await wait_until(lambda: "forget a person" in remote("log", "--format=%s", "main"))

    assert "src/limit.py" in remote("ls-tree", "-r", "--name-only", "main")
    assert "edits in tunnels" not in remote(
        "show", f"main:docs/requirements/{meeting.slug}/planning/meeting.jsonl"
    )
    assert differences(meeting) == []
