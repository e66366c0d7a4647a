"""A remote that others push to: nothing is lost, history stays one line, and what is somebody's stays theirs."""

import asyncio
import logging
from pathlib import Path

import pytest

from bot.engine.ports import Meter
from bot.storage.git.sync import Sync, SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, SPEC, TRANSCRIPT, Opening, Replica, assert_at_one
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section, state_of

OTHER = "quiet-morning"
LATER = "2026-11-21T11:00:00.000Z"


# --- together -----------------------------------------------------------------------------------------------------


async def test_a_workspace_that_is_new_begins_where_the_remote_is(replica: Replica, person: Git) -> None:
    """As a clone would: same commits, same files."""
    assert replica.git("rev-parse", "HEAD") == person("rev-parse", "HEAD")
    assert (replica.git.root / "src/app.py").read_text() == "print()\n"
    assert replica.git.status == []


async def test_a_new_workspace_follows_the_remotes_own_branch(
    remote: Git, tmp_path: Path, open_replica: Opening
) -> None:
    """Whatever it is called there."""
    person = Git(tmp_path / "person")
    person.begin()
    person("switch", "--create", "trunk")
    person.commit("src/app.py", "print()\n")
    person("push", "--quiet", str(remote.root), "trunk")
    remote("symbolic-ref", "HEAD", "refs/heads/trunk")

    async with open_replica("one") as replica:
        await replica.sync.once()
        await replica.commit()
        assert await replica.sync.once() == SyncResult.PUSHED

    assert replica.git("branch", "--show-current") == "trunk\n"
    assert len(remote("log", "--format=%H", "trunk").split()) == 2


async def test_an_empty_remote_gets_what_there_is(remote: Git, open_replica: Opening) -> None:
    """And then there is nothing more to push."""
    async with open_replica("one") as replica:
        assert await replica.sync.once() == SyncResult.NOTHING
        await replica.commit()
        assert [await replica.sync.once() for _ in range(2)] == [SyncResult.PUSHED, SyncResult.NOTHING]

    assert_at_one(remote, replica.git)


async def test_a_push_in_between_is_built_upon(replica: Replica, person: Git, remote: Git) -> None:
    """The person's commit comes first, ours on top, with its own message, author and time."""
    person.push("src/app.py", "print(2)\n", message="theirs")
    await replica.commit()
    before = replica.git("log", "-1", "--format=%an %ae %aI %cn %cI%n%B")

    assert await replica.sync.once() == SyncResult.PUSHED

    assert remote("log", "--format=%s", "main").splitlines()[1:] == ["theirs", "by hand"]
    assert replica.git("log", "-1", "--format=%an %ae %aI %cn %cI%n%B") == before
    assert (replica.git.root / "src/app.py").read_text() == "print(2)\n"
    assert_at_one(remote, replica.git)


async def test_two_replicas_with_two_clones_lose_nothing(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """Each has commits that the other does not know."""
    async with open_replica("two") as other:
        await other.sync.once()
        await replica.commit(1)
        await other.commit(1, slug=OTHER)
        await replica.commit(2)
        for one in (replica, other, replica):
            await one.sync.once()

        assert len(remote("log", "--format=%s", "main").splitlines()) == 4
        assert_at_one(remote, replica.git, other.git)


async def test_replicas_that_begin_together_have_one_history(remote: Git, open_replica: Opening) -> None:
    """Each made a repository of its own, because the remote was still empty."""
    async with open_replica("one") as one, open_replica("two") as two:
        await one.commit(1)
        await two.commit(1, slug=OTHER)
        for replica in (one, two, one):
            await replica.sync.once()

        assert_at_one(remote, one.git, two.git)
        assert len(one.git.subjects) == 2


async def test_the_same_step_from_two_clones_is_one_commit(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """One of them died before it said that it was done, and the other did it again."""
    async with open_replica("two") as other:
        await other.sync.once()
        for one in (replica, other):
            await one.commit()
            await one.sync.once()
        await replica.sync.once()

        assert_at_one(remote, replica.git, other.git)
        assert len(replica.git.subjects) == 2


async def test_a_name_of_a_remote_does_as_well(replica: Replica, remote: Git) -> None:
    """As the repository knows it; a person's own view of it is not ours to move without a push."""
    replica.git("remote", "add", "hub", str(remote.root))
    await replica.commit()

    assert await Sync(replica.git.root, remote="hub", seal=SEAL).once() == SyncResult.PUSHED
    assert_at_one(remote, replica.git)


async def test_no_hook_of_anybody_runs(replica: Replica, person: Git) -> None:
    """A bot's commit, push and checkout set off nothing on this machine."""
    for name in (
        "pre-commit", "commit-msg", "post-commit", "pre-push", "post-checkout", "reference-transaction",
        "post-index-change", "post-merge",
    ):  # fmt: skip
        replica.git.write(f".git/hooks/{name}", f"#!/bin/sh\ntouch {replica.git.root}/ran\nexit 1\n").chmod(
            0o755
        )
    person.push("src/app.py", "print(2)\n")
    await replica.commit()

    assert await replica.sync.once() == SyncResult.PUSHED
    assert not (replica.git.root / "ran").exists()


async def test_a_persons_own_commits_in_the_workspace_go_along(
    replica: Replica, person: Git, remote: Git
) -> None:
    """With their name on them."""
    person.push("src/app.py", "print(2)\n", message="theirs")
    replica.git.commit("notes.txt", "mine\n", message="mine")
    await replica.commit()

    assert await replica.sync.once() == SyncResult.PUSHED
    assert remote("log", "--format=%an %s", "main").splitlines()[1:3] == ["Ada mine", "Ada theirs"]
    assert_at_one(remote, replica.git)


# --- the checkout of a person at work -----------------------------------------------------------------------------


async def test_what_somebody_staged_and_changed_survives(replica: Replica, person: Git, remote: Git) -> None:
    """Exactly: neither pushed, nor unstaged, nor lost."""
    git = replica.git
    person.commit("src/new.py", "new\n")
    person.push("src/gone.py", "one\n")
    await replica.sync.once()
    git.write("src/app.py", "two\n")
    git("add", "src/app.py")
    git.write("src/app.py", "three\n")
    git.write("src/mine.py", "new\n")
    git("add", "--intent-to-add", "src/mine.py")
    git("rm", "--quiet", "src/gone.py")
    git.write("untracked.txt", "mine\n")
    before = git.status, git("diff"), git("diff", "--cached")
    person.push("src/new.py", "newer\n")
    await replica.commit()

    assert await replica.sync.once() == SyncResult.PUSHED

    assert (git.status, git("diff"), git("diff", "--cached")) == before
    assert (git.root / "src/new.py").read_text() == "newer\n"
    assert git("rev-parse", "HEAD") == remote("rev-parse", "main")


@pytest.mark.parametrize("staged", [False, True])
async def test_what_would_be_overwritten_stays_in_the_checkout(
    replica: Replica, person: Git, remote: Git, caplog: pytest.LogCaptureFixture, *, staged: bool
) -> None:
    """A person pushed a change of a file that another has changed here: the branch goes on, the file stays."""
    person.push("src/app.py", "print(2)\n")
    replica.git.write("src/app.py", "mine\n")
    if staged:
        replica.git("add", "src/app.py")

    await replica.commit()
    assert [await replica.sync.once() for _ in range(2)] == [SyncResult.PUSHED, SyncResult.NOTHING]

    assert (replica.git.root / "src/app.py").read_text() == "mine\n"
    assert replica.git.status == ["M  src/app.py" if staged else " M src/app.py"]
    assert caplog.text.count("src/app.py") == 1
    replica.git("checkout", "HEAD", "--", "src/app.py")
    assert_at_one(remote, replica.git)


async def test_line_ends_of_the_items_stay_as_they_are(replica: Replica, person: Git) -> None:
    """Where git converts them for people, it does not for what we read and write."""
    replica.git("config", "core.autocrlf", "true")
    await replica.commit()
    await replica.sync.once()
    person("pull", "--quiet")
    person.push(SPEC, (person.root / SPEC).read_text() + "\n## 9. Notes\n\nby hand\n")

    await replica.sync.once()

    assert b"\r" not in (replica.git.root / SPEC).read_bytes()
    assert replica.git.status == []


# --- both changed the same ----------------------------------------------------------------------------------------


async def test_lines_that_are_apart_are_merged_as_git_does(
    replica: Replica, person: Git, remote: Git
) -> None:
    """A person improved one section of a Markdown file while we wrote another."""
    await replica.commit()
    await replica.commit(2, edits=(a_section("users", heading="2. Users"),))
    await replica.sync.once()
    person("pull", "--quiet")
    person.push(SPEC, (person.root / SPEC).read_text().replace("What we know after step 1.", "by hand"))
    await replica.commit(3, edits=(a_section("more users", heading="2. Users"),))

    assert await replica.sync.once() == SyncResult.PUSHED

    head, text = replica.git.shown(SPEC).split("\n\n", 1)
    assert (head, text) == ("# Requirements", "## 1. Scope\n\nby hand\n\n## 2. Users\n\nmore users\n")
    assert_at_one(remote, replica.git)


async def test_a_file_that_was_deleted_while_we_changed_it_is_kept(
    replica: Replica, person: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing that we wrote is lost; the log says which files somebody wanted to delete."""
    await replica.commit()
    await replica.sync.once()
    person("pull", "--quiet")
    person("rm", "--quiet", "-r", ITEM)
    person("commit", "--quiet", "-m", "away with it")
    person("push", "--quiet")
    await replica.commit(2)

    assert await replica.sync.once() == SyncResult.PUSHED

    names = sorted(path.name for path in (replica.git.root / ITEM).iterdir())
    assert names == ["meta.json", "planning", "requirements-spec.md"]
    assert f"the folder of {SLUG} was deleted; it is restored from git" in caplog.text


async def test_a_name_that_is_not_utf_8_is_for_people(
    replica: Replica, person: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """Libgit2 cannot put such a commit on top of another: it says so, and nothing is lost."""
    person.push("src/app.py", "print(2)\n")
    replica.git.commit("odd-\udcff.txt", "mine\n")

    assert await replica.sync.once() == SyncResult.DIVERGED
    assert "is not UTF-8" in caplog.text
    replica.git("pull", "--quiet", "--rebase", str(person.root), "main")
    assert await replica.sync.once() == SyncResult.PUSHED


async def test_progress_is_merged_field_by_field(replica: Replica, person: Git) -> None:
    """A person's limit of turns, and our step."""
    await replica.commit()
    await replica.sync.once()
    person("pull", "--quiet")
    meta = (person.root / ITEM / "meta.json").read_text()
    person.push(f"{ITEM}/meta.json", meta.replace("{", '{"elaboration_config": {"max_turns": 5},', 1))
    await replica.commit(2)

    await replica.sync.once()

    state = await state_of(replica.workspace)
    assert state.meta.max_turns == 5
    assert state.meta.steps_completed == ("01-01", "01-02")


async def test_no_line_of_a_transcript_is_lost(replica: Replica, remote: Git, open_replica: Opening) -> None:
    """
    Two clones went on with one item: every line is there once, those that came to the remote first before the others;
    time and rounds do not go back.
    """
    await replica.commit()
    await replica.sync.once()
    async with open_replica("two") as other:
        await other.sync.once()
        await replica.commit(
            2, lines=(a_line("a", ts=NOW[:-4] + "001Z", round=3), a_line("c", ts=LATER, round=4))
        )
        await other.commit(3, lines=(a_line("b", ts=NOW[:-4] + "500Z", round=2),))
        for one in (replica, other, replica):
            await one.sync.once()

        lines = (replica.git.root / TRANSCRIPT).read_text().splitlines()
        assert [line.partition('"message_id": "')[2][:2] for line in lines] == ["C1", 'a"', 'c"', 'b"']
        assert [line.partition('"round": ')[2][:1] for line in lines] == ["1", "3", "4", "4"]
        times = [line.partition('"ts": "')[2][: len(NOW)] for line in lines]
        assert times == sorted(times)
        state = await state_of(replica.workspace)
        assert state.meta.steps_completed == ("01-01", "01-02", "01-03")
        assert_at_one(remote, replica.git, other.git)


async def test_two_changes_of_a_persons_file_are_for_people(
    replica: Replica, person: Git, remote: Git
) -> None:
    """We put nothing together that is not ours; commits go on, and somebody sorts it out."""
    person.push("src/app.py", "print(2)\n")
    replica.git.commit("src/app.py", "print(3)\n")
    await replica.commit()

    assert await replica.sync.once() == SyncResult.DIVERGED
    await replica.commit(2)

    replica.git("pull", "--quiet", "--rebase", "-X", "ours", str(remote.root), "main")
    assert await replica.sync.once() == SyncResult.PUSHED
    assert_at_one(remote, replica.git)


async def test_a_stranger_is_not_built_upon(
    remote: Git, person: Git, open_replica: Opening, tmp_path: Path
) -> None:
    """The address of another project, by mistake."""
    own = Git(tmp_path / "one")
    own.begin()
    own.commit("src/other.py", "print()\n")

    async with open_replica("one") as replica:
        await replica.commit()
        assert await replica.sync.once() == SyncResult.DIVERGED

    assert remote("rev-parse", "main") == person("rev-parse", "HEAD")


async def test_after_a_push_with_force_ours_comes_back(
    replica: Replica, person: Git, remote: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody had not seen our commits; what they took away of their own stays away."""
    person.push("src/secret.py", "hidden\n", message="oops")
    await replica.commit()
    await replica.sync.once()
    person("reset", "--quiet", "--hard", "HEAD~1")
    person.commit("src/app.py", "print(2)\n", message="theirs")
    person("push", "--quiet", "--force")

    assert await replica.sync.once() == SyncResult.PUSHED

    assert remote("log", "--format=%s", "main").splitlines() == [
        f"roundtable({SLUG}): put back what the branch lost",
        "theirs",
        "by hand",
    ]
    assert "C1.1" in replica.git.shown(TRANSCRIPT)
    assert caplog.text.count("pushed to main with force: what is ours is put back on top") == 1
    assert not (replica.git.root / "src/secret.py").exists()
    assert_at_one(remote, replica.git)


# --- a remote that is away, or says no ----------------------------------------------------------------------------


async def test_a_remote_that_is_away_is_said_once(
    replica: Replica, remote: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """Commits go on, and all of them are pushed when it is back."""
    away = remote.root.rename(remote.root.with_name("away.git"))
    results = []
    for number in (1, 2):
        await replica.commit(number)
        results.append(await replica.sync.once())
    assert results == [SyncResult.UNREACHABLE] * 2
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 1

    away.rename(remote.root)
    assert await replica.sync.once() == SyncResult.PUSHED
    assert_at_one(remote, replica.git)


async def test_a_remote_that_does_not_answer_is_not_waited_for(
    replica: Replica, silent_redis_url: str
) -> None:
    """It accepts a connection, and says nothing."""
    url = silent_redis_url.replace("redis://", "git://")

    assert (
        await Sync(replica.git.root, remote=url, network_seconds=0.5, seal=SEAL).once()
        == SyncResult.UNREACHABLE
    )


FRAMED = ("", "=====", "", "error: GH006: Protected branch update failed.", "=====")


@pytest.mark.parametrize(
    ("when", "lines", "told"),
    [
        ("pre-receive", ("main is protected",), "main is protected"),
        ("update", FRAMED, "error: GH006: Protected branch update failed."),
    ],
)
async def test_a_remote_that_refuses_is_said(
    replica: Replica,
    remote: Git,
    caplog: pytest.LogCaptureFixture,
    when: str,
    lines: tuple[str, ...],
    told: str,
) -> None:
    """A protected branch, in one line with the words of the other side, also where it draws a frame around them."""
    hook = remote.root / "hooks" / when
    hook.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in lines) + "exit 1\n")
    hook.chmod(0o755)
    await replica.commit()

    assert await replica.sync.once() == SyncResult.REFUSED
    assert f"(refused): remote: {told}" in caplog.text
    hook.unlink()
    assert await replica.sync.once() == SyncResult.PUSHED


async def test_a_remote_that_wants_a_password_is_not_given_ours(
    replica: Replica, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody is asked: there is nobody at the keyboard. What stands in the address is not shown."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        for who in ("", "bot:secret@"):
            url = f"http://{who}127.0.0.1:{port}/x.git"
            assert await Sync(replica.git.root, remote=url, seal=SEAL).once() == SyncResult.REFUSED

    assert "secret" not in caplog.text


async def test_a_branch_that_is_gone_from_the_remote_comes_back(
    replica: Replica, remote: Git, caplog: pytest.LogCaptureFixture
) -> None:
    """With all that was on it; whoever deleted it can read why."""
    await replica.commit(1)
    await replica.sync.once()
    remote("update-ref", "-d", "refs/heads/main")
    await replica.commit(2)

    assert await replica.sync.once() == SyncResult.PUSHED

    assert "main was gone from the remote: all of it was pushed again" in caplog.text
    assert_at_one(remote, replica.git)


async def test_a_lock_that_is_stuck_at_the_remote_is_not_run_against(
    replica: Replica, remote: Git, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After some attempts the round is over, and the next one comes later."""
    monkeypatch.setattr("bot.storage.git.sync.RACES", 2)
    lock = remote.root / "refs/heads/main.lock"
    lock.touch()
    await replica.commit()

    assert await replica.sync.once() == SyncResult.UNREACHABLE
    assert "main.lock" in caplog.text
    lock.unlink()
    assert await replica.sync.once() == SyncResult.PUSHED
    assert_at_one(remote, replica.git)


async def test_rounds_and_probes_do_not_get_in_each_others_way(replica: Replica, person: Git) -> None:
    """Both write below `.roundtable`, each in a thread of its own."""
    done = asyncio.Event()

    async def probe() -> None:
        while not done.is_set():
            await replica.workspace.ping()

    probing = asyncio.create_task(probe())
    for number in range(12):
        person.push("src/app.py", f"print({number})\n")
        assert await replica.sync.once() == SyncResult.NOTHING
    done.set()
    await probing


async def test_an_address_that_runs_a_program_runs_nothing(replica: Replica) -> None:
    """Not even behind a name that somebody put into the repository's own settings."""
    replica.git("config", "remote.evil.url", f"ext::touch {replica.git.root}/ran")
    replica.git("config", "protocol.ext.allow", "always")

    assert await Sync(replica.git.root, remote="evil", seal=SEAL).once() == SyncResult.UNREACHABLE
    assert not (replica.git.root / "ran").exists()


# --- in the background --------------------------------------------------------------------------------------------


class Counted(Meter):
    def __init__(self) -> None:
        self.results: list[str] = []

    def pushed(self, *results: object, **_: object) -> None:
        self.results += map(str, results)


async def test_every_commit_is_pushed_soon(remote: Git, tmp_path: Path) -> None:
    """Nobody has to ask."""
    root = tmp_path / "one"
    sync, counted = Sync(root, remote=str(remote.root), seal=SEAL), Counted()
    async with GitWorkspace(root, after_commit=sync.wake, seal=SEAL) as workspace:
        running = asyncio.create_task(sync.run(meter=counted))
        await wait_until(lambda: counted.results)
        for number in range(1, 5):
            await workspace.commit(SLUG, a_commit(number), now=NOW)
        await wait_until(lambda: len(remote("log", "--all", "--format=%H").split()) == 4)
        await wait_until(lambda: "pushed" in counted.results)
        running.cancel()
        await asyncio.wait({running})

    assert counted.results[:2] == ["nothing", "pushed"]


async def test_a_stop_waits_for_no_remote(replica: Replica, silent_redis_url: str) -> None:
    """The process that talks to it is gone as well."""
    url = silent_redis_url.replace("redis://", "git://")
    running = asyncio.create_task(Sync(replica.git.root, remote=url, seal=SEAL).run())
    await wait_until(lambda: processes_with(url))

    running.cancel()
    await asyncio.wait({running}, timeout=5)

    assert running.done()
    assert not processes_with(url)


def processes_with(word: str) -> list[Path]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (process / "cmdline").read_bytes():
                found.append(process)
        except OSError:
            continue
    return found


async def test_commits_do_not_wait_for_a_round(replica: Replica, person: Git) -> None:
    """Both write to the checkout; a commit waits for as long as files are moved, and no longer."""
    person.push("src/app.py", "print(2)\n")
    syncing = asyncio.create_task(replica.sync.once())
    for number in range(1, 11):
        await replica.commit(number)

    assert await syncing in {SyncResult.NOTHING, SyncResult.PUSHED}
    await replica.sync.once()
    assert replica.git.status == []
    assert len(replica.git.subjects) == 12
