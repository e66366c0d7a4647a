"""Forgetting a person or an item (ADR 58): what is left of them in git's tip, the store and Slack, and what holds."""

import json
import re
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from shutil import copy, which
from typing import Any

import pytest
import redis

from bot import app
from bot.cli import forget as forgetting
from bot.cli import replay
from bot.domain.messages import forget_wording
from bot.domain.messages.home_page import ReminderSettings
from bot.domain.roundtable.stage import Stage
from bot.engine.ports import now
from bot.expiry import Expired
from bot.storage.git.erasing import Forgetter
from bot.storage.git.sync import Sync
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.command_line import CommandLine, Ran
from tests.e2e.meeting import Meeting, environment, settings
from tests.e2e.test_people import played
from tests.patience import wait_until
from tests.storage.checkout import Git
from tests.storage.clones import a_remote, pushed_by_hand
from tests.storage.samples import OWED, a_line, a_roundtable
from tests.stored import whole

LINUS = re.compile(r"\blinus\b", re.IGNORECASE)
GRACE = re.compile(r"(?<!@)\b(grace|hopper)\b", re.IGNORECASE)
HERS = ("edits in tunnels", "keep both edits", "merge per field", "engineer is asked")
"""Words of Grace in a meeting that was `played`."""


@pytest.fixture
def people() -> tuple[User, ...]:
    """Grace has two names, and people type the first; Barbara says nothing at first."""
    ada, grace, linus = PEOPLE
    return ada, User(grace.id, grace.name, "Grace Hopper"), linus, User("U0BARBARA", "barbara", "Barbara")


@pytest.fixture
def meeting(meeting: Meeting) -> Meeting:
    """Its exports are in git."""
    meeting.more = {"ROUNDTABLE_EXPORTS": "openspec,kiro"}
    return meeting


@pytest.fixture
def kept(where: dict[str, str], meeting: Meeting) -> Meeting:
    """A meeting whose live state is in each kind of store."""
    meeting.more = {**meeting.more, **where}
    return meeting


def set_aside(meeting: Meeting) -> None:
    """Copies of what could not be read, as earlier damage leaves them."""
    names = meeting.folder.parent / "people.json"
    copy(names, names.with_name("people.json.corrupt-1"))
    meeting.git("add", "--all")
    meeting.git("commit", "--quiet", "-m", "a commit of the bot, as after damage")
    if url := meeting.more.get("REDIS_URL"):
        with redis.Redis.from_url(url) as client:
            for what in ("state", "parts"):
                key = f"roundtable:{{T0SANDBOX}}:{what}:{meeting.slug}"
                client.copy(key, key.replace(f"{what}:", f"unreadable:{what}:"))
    else:
        copy(
            meeting.workspace / ".roundtable/roundtable.db",
            meeting.workspace / ".roundtable/roundtable.db.corrupt-1",
        )


async def run(loaded: CommandLine, meeting: Meeting, *words: str) -> Ran:
    env = environment(meeting.slack, meeting.workspace, **meeting.more)
    return await loaded.run(meeting.workspace.parent, *words, **env)


async def forget(loaded: CommandLine, meeting: Meeting, who: str, *options: str) -> Ran:
    """A person, which succeeds."""
    user = meeting.slack.person(who).id
    done = await run(loaded, meeting, "forget", "person", user, *options, "--yes")
    assert done.code == 0, done.err
    return done


def everything(meeting: Meeting) -> bytes:
    """Every byte of the checkout, of the tip's files and their paths, and of the store."""
    tip = meeting.git("archive", "HEAD").encode()
    files = (one for one in meeting.workspace.rglob("*") if one.is_file() and ".git" not in one.parts)
    found = tip + b"".join(one.read_bytes() for one in files)
    if url := meeting.more.get("REDIS_URL"):
        with redis.Redis.from_url(url) as client:
            found += b"".join(client.dump(key) + whole(client, key) for key in client.scan_iter())
    return found


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
    set_aside(kept)
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
    set_aside(kept)
    words = (*HERS, "clerks sign in pencil")
    grace, user = kept.person("grace"), kept.slack.person("grace").id
    text = everything(kept).decode(errors="replace")
    assert [one for one in words if one not in text] == []
    await forget(loaded, kept, "grace", "--words", "--typed")
    left = everything(kept).decode(errors="replace")

    assert [one for one in words if one in left] == []
    assert GRACE.findall(left) == []
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
    assert people_file(kept)[back.person]["name"] == "Grace Hopper"
    assert [one.text for one in kept.thread if "in git" in one.text] == [], "its own exports are no changes"


async def test_the_posts_of_the_bot_are_edited_where_that_is_asked_for(
    meeting: Meeting, loaded: CommandLine
) -> None:
    """Names, mentions and quotes in them; buttons stay, and so does what people wrote themselves."""
    async with meeting.bot():
        await played(meeting)
    grace, us = meeting.slack.person("grace"), "U0ROUNDTABLE"
    named = re.compile(rf"\bGrace\b|Hopper|{grace.id}|edits in tunnels")

    def of_the_bot() -> list[str]:
        return [json.dumps([one.text, one.blocks]) for one in meeting.thread if one.user == us]

    before, theirs = of_the_bot(), [one.text for one in meeting.thread if one.user == grace.id]
    asked = await run(loaded, meeting, "forget", "person", grace.id, "--words", "--slack", "--dry-run")
    assert any(map(named.search, before))
    assert of_the_bot() == before
    done = await forget(loaded, meeting, "grace", "--words", "--slack")

    assert asked.code == 0, asked.err
    assert re.search(r"[1-9]\d* posts of the bot in Slack edited\.", done.out)
    assert [one for one in of_the_bot() if named.search(one)] == []
    assert "Former member 1" in "".join(of_the_bot())
    assert [one.text for one in meeting.thread if one.user == grace.id] == theirs
    async with meeting.bot():
        await meeting.say("Linus goes on", who="linus")
        await meeting.finish_step()


async def test_who_only_spoke_since_the_last_commit_is_forgotten(kept: Meeting, loaded: CommandLine) -> None:
    """What is in the store alone is handed out, and does not come into the next commit."""
    async with kept.bot():
        await played(kept)
        await kept.say("Printers jam on Mondays.", who="barbara")
        await kept.slack.settled()
    user, id = kept.slack.person("barbara").id, kept.person("barbara")
    assert id not in people_file(kept)
    known = await run(loaded, kept, "export", "person", user)
    await forget(loaded, kept, "barbara", "--words", "--typed")

    assert known.code == 0, known.err
    assert [one["content"] for one in known.json["unsaved"][kept.slug]] == ["Printers jam on Mondays."]
    assert known.json["names"] == {id: "Barbara"}
    async with kept.bot():
        await kept.finish_step()
        await kept.slack.settled()
    left = everything(kept).decode(errors="replace")
    assert [one for one in ("jam on Mondays", "Barbara", user) if one in left] == []
    assert [line.content for line in kept.lines("User") if line.person == id] == ["[redacted:on-request]"]
    assert differences(kept) == []


async def test_what_was_cut_off_between_the_store_and_git_is_finished(
    meeting: Meeting, loaded: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the person is called in live items then is not their name."""
    async with meeting.bot():
        await played(meeting)
    user, own = meeting.slack.person("grace").id, settings(meeting.slack, meeting.workspace, **meeting.more)
    with monkeypatch.context() as broken:
        broken.setattr(Forgetter, "person", lambda *_, **__: 1 / 0)
        async with forgetting.opened_store(own) as store:
            options = forgetting.PersonOptions(words=True, typed=True)
            with pytest.raises(ZeroDivisionError):
                await forgetting.PersonForgetting(own, store, options).run(user)
    await forget(loaded, meeting, "grace", "--words", "--typed")

    assert GRACE.findall(everything(meeting).decode(errors="replace")) == []
    assert people_file(meeting)[meeting.person("grace")]["name"] == "Former member 1"
    assert differences(meeting) == []


async def test_the_keys_of_their_agents_are_withdrawn(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    async with meeting.bot():
        await played(meeting)
    users = {who: meeting.slack.person(who).id for who in ("grace", "ada")}
    meeting.more = {**meeting.more, "ROUNDTABLE_AGENT_KEYS": str(tmp_path / "keys.json")}
    for who, user in users.items():
        assert (await run(loaded, meeting, "key", "create", f"agent-of-{who}", "--owner", user)).code == 0
    known = await run(loaded, meeting, "export", "person", users["grace"])
    done = await forget(loaded, meeting, "grace")

    assert known.json["keys"] == ["agent-of-grace"]
    assert "agent-of-grace: withdrawn" in done.out
    left = (tmp_path / "keys.json").read_text()
    assert users["ada"] in left
    assert users["grace"] not in left


async def test_who_only_wants_to_be_reminded_is_forgotten(kept: Meeting, loaded: CommandLine) -> None:
    async with kept.bot():
        await played(kept)
    async with forgetting.opened_store(settings(kept.slack, kept.workspace, **kept.more)) as store:
        assert store
        await store.keep_person(kept.person("barbara"), ReminderSettings())
    await forget(loaded, kept, "barbara")

    async with forgetting.opened_store(settings(kept.slack, kept.workspace, **kept.more)) as store:
        assert store
        assert await store.people() == {}


async def test_a_name_is_listed_however_people_type_it(kept: Meeting, loaded: CommandLine) -> None:
    """Also the first name alone, in small letters, and in an item that the person has no part in."""
    async with kept.bot():
        await kept.start("Printing")
        await kept.say("As grace said, it is late.", who="linus")
        await kept.finish_step()
        await played(kept)
        await kept.say("_Grace_ and GRACE  HOPPER know; a gracious offer, grace-notes.", who="linus")
        await kept.slack.settled()
    user = kept.slack.person("grace").id
    planned = await run(loaded, kept, "forget", "person", user, "--dry-run")
    await forget(loaded, kept, "grace", "--typed")

    assert planned.code == 0, planned.err
    listed = next(one for one in planned.out.splitlines() if "typed by others" in one)
    assert '"Grace Hopper" or "Grace"' in listed
    assert re.search(r"offline-sync: [0-9]+.*printing: [0-9]+", listed)
    left = everything(kept).decode(errors="replace")
    assert GRACE.findall(left.replace("grace-notes", "")) == []
    assert "a gracious offer, grace-notes" in left
    assert differences(kept) == []


async def test_a_store_that_is_restored_is_forgotten_again(kept: Meeting, loaded: CommandLine) -> None:
    """By the same command, although git knows no name any more."""
    async with kept.bot():
        await played(kept)
        await kept.say("The clerks sign in pencil on Tuesdays.", who="grace")
        await kept.slack.settled()
    restore = backup(kept)
    user = kept.slack.person("grace").id
    await forget(loaded, kept, "grace", "--words", "--typed")
    restore()
    assert GRACE.search(everything(kept).decode(errors="replace"))
    await forget(loaded, kept, "grace", "--words", "--typed")

    left = everything(kept).decode(errors="replace")
    assert [one for one in (*HERS, "clerks sign in pencil", user) if one in left] == []
    assert GRACE.findall(left) == []
    async with kept.bot():
        await kept.finish_step()
        await kept.slack.settled()
    assert differences(kept) == []


def backup(meeting: Meeting) -> Callable[[], None]:
    """Of the store; what it returns restores it."""
    if url := meeting.more.get("REDIS_URL"):
        client = redis.Redis.from_url(url)
        dumps = {key: client.dump(key) or b"" for key in client.scan_iter()}

        def restore() -> None:
            client.flushall()
            for key, content in dumps.items():
                client.restore(key, 0, content)
            client.close()

        return restore
    store = meeting.workspace / ".roundtable"
    files = {one: one.read_bytes() for one in store.iterdir() if one.name.startswith("roundtable.db")}

    def restore_files() -> None:
        for one, content in files.items():
            one.write_bytes(content)

    return restore_files


async def test_a_secret_goes_from_exports_too(meeting: Meeting, loaded: CommandLine) -> None:
    """And what is written there in its place is no change of others; what they changed beside it stays."""
    async with meeting.bot():
        await meeting.start("Offline sync")
        await meeting.say("requirement: Depots sign with KEY-4711-A\nAC: the engineer is asked")
        await meeting.finish_step()
        await meeting.slack.settled()
    assert b"KEY-4711-A" in (meeting.workspace / ".kiro/specs/offline-sync/requirements.md").read_bytes()
    spec = meeting.workspace / "openspec/changes/offline-sync/specs/offline-sync/spec.md"
    theirs = "\n### Requirement: Refusals are counted\nThey SHALL be.\n"
    Git(meeting.workspace).commit(spec.relative_to(meeting.workspace).as_posix(), spec.read_text() + theirs)
    meeting.more = {**meeting.more, "ROUNDTABLE_REDACT": "key = KEY-####-A"}
    ran = await run(loaded, meeting, "forget", "secrets", meeting.slug)

    assert ran.code == 1, "git still has it"
    assert ".kiro/specs/offline-sync/requirements.md" in ran.out
    assert b"KEY-4711-A" not in everything(meeting)
    async with meeting.bot():
        await meeting.press("continue")
        await meeting.do_step("Nothing more here.")
        await meeting.slack.settled()
    [told] = [one.text for one in meeting.thread if "in git" in one.text]
    assert "Proposed: FR-002." in told
    assert spec.read_text().endswith(theirs)
    assert differences(meeting) == []


async def test_what_others_changed_in_an_export_stays(meeting: Meeting, loaded: CommandLine) -> None:
    """And what takes the place of her words beside it is not taken for a change of theirs."""
    async with meeting.bot():
        await played(meeting)
    spec = meeting.workspace / "openspec/changes/offline-sync/specs/offline-sync/spec.md"
    theirs = "\n### Requirement: Refusals are counted\nThey SHALL be.\n"
    Git(meeting.workspace).commit(spec.relative_to(meeting.workspace).as_posix(), spec.read_text() + theirs)
    await forget(loaded, meeting, "grace", "--words", "--typed")

    assert [one for one in (*HERS, "Hopper") if one in everything(meeting).decode(errors="replace")] == []
    assert spec.read_text().endswith(theirs)
    async with meeting.bot():
        await meeting.finish_step()
        await meeting.slack.settled()
    [told] = [one.text for one in meeting.thread if "in git" in one.text]
    assert "Proposed: FR-002." in told


async def test_an_item_of_the_same_name_is_exported_again(meeting: Meeting, loaded: CommandLine) -> None:
    """The first one was forgotten, and not taken away by people."""
    spec = meeting.workspace / "openspec/changes/offline-sync/specs/offline-sync/spec.md"
    for words in ("Depots sync at night", "Depots sync at noon"):
        async with meeting.bot():
            await meeting.start("Offline sync")
            await meeting.say(f"requirement: {words}")
            await meeting.finish_step()
            await meeting.slack.settled()
        assert words in spec.read_text()
        done = await run(loaded, meeting, "forget", "item", meeting.slug, "--live", "--slack", "--yes")
        assert done.code == 0, done.err
        assert not spec.exists()


async def test_a_bot_that_runs_with_redis_goes_on(
    meeting: Meeting, loaded: CommandLine, redis_url: str
) -> None:
    """In the middle of a discussion, with a position that nobody has seen yet: what it commits next has no old name."""
    meeting.more = {**meeting.more, "REDIS_URL": redis_url}
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
        await forget(loaded, meeting, "linus", "--words", "--typed")
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
    set_aside(kept)
    before = everything(kept)
    assert "openspec/changes/offline-sync" in before.decode(errors="replace")
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
        ["Grace Hopper"],
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
    listed = tmp_path / "blobs.txt"
    await forget(loaded, meeting, "grace", "--words", "--typed", "--history", str(listed))
    assert "edits in tunnels" in objects(meeting)
    fresh = tmp_path / "fresh"
    meeting.git("clone", "--quiet", "--mirror", str(meeting.workspace), str(fresh))
    meeting.workspace = fresh
    meeting.git("filter-repo", "--strip-blobs-with-ids", str(listed), "--force", "--quiet")
    meeting.git("clone", "--quiet", str(fresh), str(tmp_path / "clean"))
    meeting.workspace = tmp_path / "clean"

    assert [one for one in (*HERS, "Grace", "Hopper") if one in objects(meeting)] == []
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


async def finished(meeting: Meeting) -> None:
    """A step is committed, and the bot has stopped."""
    async with meeting.bot():
        await played(meeting)
        await meeting.press("finish_step", who="ada")
        await meeting.menu("continue")
        await at_rest(meeting)


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
    await finished(kept)
    decided = len(kept.made("decision"))
    assert decided
    assert await expired(kept, "words:9d,item:30d", 8) == Expired()
    assert b"conflicts: keep both edits" in everything(kept)

    assert await expired(kept, "words:9d,item:30d", 10) == Expired(words=(kept.slug,))
    assert b"conflicts: keep both edits" not in everything(kept)
    assert b"merge per field" in everything(kept), "it is an entry"
    assert b"a queue keeps them" in everything(kept)
    assert len(kept.made("decision")) == decided
    assert "Grace" in "".join(one.read_text() for one in kept.folder.glob("*.md"))
    assert differences(kept) == []
    assert await expired(kept, "words:9d,item:30d", 11) == Expired()

    assert await expired(kept, "words:9d,item:30d", 31) == Expired(items=(kept.slug,))
    assert b"offline-sync" not in everything(kept)


async def test_a_word_that_comes_while_others_expire_is_kept(
    kept: Meeting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is saved after it was looked at what is old, and before the live state is deleted."""
    await finished(kept)
    own = settings(kept.slack, kept.workspace, **kept.more)
    async with forgetting.opened_store(own) as opened:
        assert opened
        forget_item, word = type(opened).forget_item, a_line("C1.9", "Printers, too.")

        async def late(store: forgetting.AnyStore, *words: Any, **options: Any) -> None:
            rt = await store.get(kept.slug)
            assert rt
            await store.put(rt.but(version=rt.version + 1, lines=(*rt.lines, word)), expected=rt.version)
            await forget_item(store, *words, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(type(opened), "forget_item", late)
    assert await expired(kept, "words:9d", 10) == Expired(busy=(kept.slug,))
    assert await expired(kept, "item:9d", 10) == Expired()
    assert b"Printers, too." in everything(kept)
    assert b"conflicts: keep both edits" in everything(kept)


async def test_what_is_not_in_git_yet_is_newer_than_any_age(meeting: Meeting) -> None:
    async with meeting.bot():
        await played(meeting)
        await meeting.say("Printers, too.", who="grace")
        await meeting.slack.settled()

    assert await expired(meeting, "words:9d,item:30d", 400) == Expired()
    assert b"Printers, too." in everything(meeting)


async def test_what_is_on_its_way_is_done_first(kept: Meeting) -> None:
    """What is older is then taken out."""
    await finished(kept)
    async with forgetting.opened_store(settings(kept.slack, kept.workspace, **kept.more)) as store:
        assert store
        rt = await store.get(kept.slug)
        assert rt
        busy, rest = rt.but(version=rt.version + 1, outbox=OWED), rt.but(version=rt.version + 2)
        await store.put(busy, expected=rt.version)
    found = await expired(kept, "words:9d", 10)
    assert found == Expired(busy=(kept.slug,))
    assert kept.slug in forget_wording.of_expired(*found, is_done=True)
    assert b"conflicts: keep both edits" in everything(kept)

    async with forgetting.opened_store(settings(kept.slack, kept.workspace, **kept.more)) as store:
        assert store
        await store.put(rest, expected=busy.version)
    assert await expired(kept, "words:9d", 10) == Expired(words=(kept.slug,))


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


async def test_the_bot_does_it_at_night(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself, when it has read the thread after so long; the clock of the test is just before three."""
    monkeypatch.setattr("bot.expiry.LOOK_SECONDS", 0.05)
    monkeypatch.setattr("bot.expiry.AGAIN_SECONDS", 0.05)
    async with meeting.bot():
        await played(meeting)
        await meeting.press("finish_step", who="ada")
        await meeting.slack.settled()
    meeting.more = {**meeting.more, "ROUNDTABLE_RETENTION": "item:7d"}
    meeting.clock = at_night
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
    meeting: Meeting,
    redis_url: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The seals of two would differ, and no clone could push any more."""
    monkeypatch.setattr(app, "Sync", partial(Sync, every_seconds=0.2))
    caplog.set_level("INFO", logger="audit")
    remote = a_remote(tmp_path / "remote.git")
    meeting.more = {**meeting.more, "REDIS_URL": redis_url, "ROUNDTABLE_REMOTE": str(remote.root)}
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
        await wait_until(lambda: "forget.expired" in caplog.messages)
        await wait_until(lambda: len({tip(meeting), tip(other), tip(remote)}) == 1)

    assert "Roundtable-Erased" in remote("log", "main")
    assert caplog.messages.count("forget.expired") == 1
    assert differences(meeting) == []


def tip(of: Meeting | Git) -> str:
    """Empty before the first commit."""
    git = Git(of.workspace) if isinstance(of, Meeting) else of
    return git("for-each-ref", "--format=%(objectname)", "refs/heads")


async def test_what_is_not_pushed_yet_does_not_bring_the_name_back(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    """It is applied again, because somebody else pushed first."""
    remote, away = a_remote(tmp_path / "remote.git"), tmp_path / "away"
    meeting.more = {**meeting.more, "ROUNDTABLE_REMOTE": str(remote.root)}
    async with meeting.bot():
        await played(meeting)
        await wait_until(lambda: tip(remote) == tip(meeting))
        remote.root.rename(away)
        await meeting.say("decision: photos are kept; decided by: Grace", who="linus")
        await meeting.finish_step()
        await meeting.slack.settled()
    away.rename(remote.root)
    remote("clone", "--quiet", str(remote.root), str(tmp_path / "person"))
    pushed_by_hand(Git(tmp_path / "person"), {"src/limit.py": "LIMIT = 3\n"})
    await forget(loaded, meeting, "grace")
    for kept in meeting.git("for-each-ref", "--format=%(refname)", "refs/roundtable/unpushed").splitlines():
        assert "Hopper" not in meeting.git("show", kept)
    async with meeting.bot():
        await wait_until(lambda: tip(remote) == tip(meeting))

    assert "src/limit.py" in meeting.git("ls-files")
    assert "photos are kept" in everything(meeting).decode(errors="replace")
    assert "Hopper" not in everything(meeting).decode(errors="replace")
    assert differences(meeting) == []


async def test_a_remote_gets_it_on_top_of_what_others_pushed(
    meeting: Meeting, loaded: CommandLine, tmp_path: Path
) -> None:
    remote = a_remote(tmp_path / "remote.git")
    meeting.more = {**meeting.more, "ROUNDTABLE_REMOTE": str(remote.root)}
    async with meeting.bot():
        await played(meeting)
        tip = ("for-each-ref", "--format=%(objectname)", "refs/heads/main")
        await wait_until(lambda: remote(*tip).strip() == meeting.git("rev-parse", "HEAD"))
    remote("clone", "--quiet", str(remote.root), str(tmp_path / "person"))
    pushed_by_hand(Git(tmp_path / "person"), {"src/limit.py": "LIMIT = 3\n"})
    await forget(loaded, meeting, "grace", "--words", "--typed")
    async with meeting.bot():
        await wait_until(lambda: "forget a person" in remote("log", "--format=%s", "main"))

    assert "src/limit.py" in remote("ls-tree", "-r", "--name-only", "main")
    assert "edits in tunnels" not in remote(
        "show", f"main:docs/requirements/{meeting.slug}/planning/meeting.jsonl"
    )
    assert differences(meeting) == []
