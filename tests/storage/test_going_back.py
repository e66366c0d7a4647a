"""
A workspace that goes back: what was committed and is lost comes again from git, or people are told what is gone.

The store remembers what was committed last. It is given to the workspace here as the engine gives it.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from bot.cli import replay
from bot.domain.transcript import lines
from bot.domain.transcript.seal import read_chain
from bot.domain.transcript.witness import Witness
from bot.engine.ports import NOTHING, CommitResult
from bot.record.verify import RecordedItem
from bot.storage.git.sync import Sync
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, TRANSCRIPT, at_work, pushed_by_hand
from tests.storage.samples import NOW, SLUG, a_commit, a_section

LATER = "2026-11-21T13:00:00.000Z"


class Meeting:
    """An item at work, and what its store knows of what was committed."""

    def __init__(self) -> None:
        self.witness: Witness = NOTHING

    async def steps(self, workspace: GitWorkspace, *numbers: int, now: str = NOW) -> list[CommitResult]:
        return [await self.step(workspace, number, now=now) for number in numbers]

    async def step(self, workspace: GitWorkspace, number: int, *, now: str = NOW) -> CommitResult:
        edit = a_section(f"Step {number}.", heading=f"{number}. Part", path=f"part-{number}.md")
        receipt = await workspace.commit(SLUG, a_commit(number, edits=(edit,)), now=now, after=self.witness)
        self.witness = receipt.witness
        return receipt


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()


def ids(git: Git) -> list[str]:
    """Of the lines that HEAD holds."""
    return [line.message_id for line in lines.read(git.shown(TRANSCRIPT).encode()).lines]


def steps(git: Git) -> int:
    return len(
        [line for line in git("log", "--format=%B").splitlines() if line.startswith("Roundtable-Step")]
    )


# --- a reset ------------------------------------------------------------------------------------------------------


async def test_what_a_reset_took_away_comes_back_with_the_next_commit(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Lines, progress and artifacts, each commit with its own message; and people hear of it."""
    await meeting.steps(workspace, 1, 2, 3, 4)
    git("reset", "--quiet", "--hard", "HEAD~3")

    receipt = await meeting.step(workspace, 5)

    assert ids(git) == ["C1.1", "C1.2", "C1.3", "C1.4", "C1.5"]
    assert receipt.state.meta.steps_completed == ("01-01", "01-02", "01-03", "01-04", "01-05")
    assert [git.shown(f"{ITEM}/part-{n}.md")[-8:] for n in range(1, 6)] == [
        f"Step {n}.\n" for n in range(1, 6)
    ]
    assert receipt.back
    assert receipt.back.whole
    assert (receipt.back.commits, receipt.back.steps) == (3, ("01-02", "01-03", "01-04"))
    assert not receipt.state.behind
    assert git.status == []
    git("fsck", "--strict")


async def test_it_comes_back_once(workspace: GitWorkspace, git: Git, meeting: Meeting) -> None:
    """And people hear of it once."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--hard", "HEAD~2")

    backs = [receipt.back for receipt in await meeting.steps(workspace, 4, 5)]

    assert [back is not None for back in backs] == [True, False]
    assert steps(git) == 5


async def test_it_comes_back_before_anything_is_taken_up_again(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Whoever resumes is not asked again what is done."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--hard", "HEAD~2")

    reading = await workspace.read(SLUG, now=NOW, after=meeting.witness)

    assert reading.state
    assert reading.state.meta.steps_completed == ("01-01", "01-02", "01-03")
    assert reading.back
    assert reading.back.commits == 2
    assert (await workspace.read(SLUG, now=NOW, after=reading.back.now)).back is None


async def test_a_death_before_anybody_heard_of_it_is_made_up_for(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Nothing is put back twice, and people still hear of it."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--hard", "HEAD~2")
    before = meeting.witness
    await meeting.step(workspace, 4)
    head = git("rev-parse", "HEAD")

    meeting.witness = before
    again = await meeting.step(workspace, 4)

    assert git("rev-parse", "HEAD") == head
    assert again.back
    assert again.back.commits == 2


async def test_a_branch_that_was_reset_under_the_files_gets_its_commits_back(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """`git reset --soft` and `--mixed` leave the files."""
    for how in ("--soft", "--mixed"):
        await meeting.steps(workspace, *((1, 2, 3) if how == "--soft" else (5, 6)))
        git("reset", "--quiet", how, "HEAD~2")
        await meeting.step(workspace, 4 if how == "--soft" else 7)

    assert ids(git) == [f"C1.{n}" for n in (1, 2, 3, 4, 5, 6, 7)]
    assert git.status == []


async def test_what_was_committed_since_the_reset_stays(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Also code of people's, and what they wrote into the item."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--hard", "HEAD~2")
    git.commit("src/app.py", "print()\n")
    git.commit(f"{ITEM}/notes.md", "mine\n")

    await meeting.step(workspace, 4)

    assert git.shown("src/app.py") == "print()\n"
    assert git.shown(f"{ITEM}/notes.md") == "mine\n"
    assert ids(git) == ["C1.1", "C1.2", "C1.3", "C1.4"]


async def test_only_what_is_the_items_own_comes_back(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Whoever resets away a commit of their own wanted that; and another item sees to itself."""
    await meeting.step(workspace, 1)
    other = await workspace.commit("quiet-morning", a_commit(1, id="quiet-morning.i1.1"), now=NOW)
    git.commit("src/app.py", "print()\n", message="theirs")
    await meeting.step(workspace, 2)
    git("reset", "--quiet", "--hard", "HEAD~3")

    await meeting.step(workspace, 3)
    assert "theirs" not in git.subjects
    assert not (git.root / "docs/requirements/quiet-morning").exists()

    reading = await workspace.read("quiet-morning", now=NOW, after=other.witness)
    assert reading.back
    assert reading.back.whole
    assert (git.root / "docs/requirements/quiet-morning/meta.json").exists()


async def test_what_somebody_has_not_committed_is_not_overwritten(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """What is in the way stays; what is lost waits until it is not."""
    await meeting.steps(workspace, 1, 2)
    git("reset", "--quiet", "--hard", "HEAD~1")
    mine = git.write(f"{ITEM}/part-2.md", "mine\n")

    waiting = await meeting.step(workspace, 3)
    assert mine.read_text() == "mine\n"
    assert waiting.state.behind
    assert waiting.back is None


# --- edits stand --------------------------------------------------------------------------------------------------


async def test_lines_that_a_revert_removed_are_put_back(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Its commit is named once. What it did to meta.json stands."""
    await meeting.steps(workspace, 1, 2)
    git("revert", "--no-edit", "HEAD")
    head = git("rev-parse", "HEAD").strip()

    first, second = await meeting.steps(workspace, 3, 4)

    assert ids(git) == ["C1.1", "C1.2", "C1.3", "C1.4"]
    assert first.back
    assert (first.back.whole, first.back.lines) == (True, 1)
    assert head.startswith(first.back.edit)
    assert not first.state.behind
    assert first.state.meta.steps_completed == ("01-01", "01-03")
    assert second.back is None


async def test_a_line_that_was_edited_is_put_back(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Also one in the middle of the file, and in its place."""
    await meeting.steps(workspace, 1, 2)
    git.commit(TRANSCRIPT, git.shown(TRANSCRIPT).replace("too bright", "too dark", 1))

    first = await meeting.step(workspace, 3)

    assert first.back
    assert first.back.lines == 1
    assert "too dark" not in git.shown(TRANSCRIPT)
    assert ids(git) == ["C1.1", "C1.2", "C1.3"]


async def test_lines_that_others_add_are_no_edit(workspace: GitWorkspace, git: Git, meeting: Meeting) -> None:
    """The transcript may be added to by other tools."""
    await meeting.step(workspace, 1)
    more = git.shown(TRANSCRIPT).replace("C1.1", "X1.1")
    git.commit(TRANSCRIPT, git.shown(TRANSCRIPT) + more)

    assert (await meeting.step(workspace, 2)).back is None


async def test_a_history_that_was_squashed_lost_nothing(
    workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """The lines are all there."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--soft", "HEAD~2")
    git("commit", "--quiet", "-m", "squashed")

    assert (await meeting.step(workspace, 4)).back is None
    assert ids(git) == ["C1.1", "C1.2", "C1.3", "C1.4"]


# --- what git does not have any more ------------------------------------------------------------------------------


async def test_a_backup_says_that_it_is_one(tmp_path: Path, meeting: Meeting) -> None:
    """Git has nothing of what came after it, so people have to be told."""
    git = Git(tmp_path / "workspace")
    async with GitWorkspace(git.root, seal=SEAL) as workspace:
        await meeting.step(workspace, 1)
        shutil.copytree(git.root, tmp_path / "backup")
        await meeting.steps(workspace, 2, 3)
    shutil.rmtree(git.root)
    shutil.move(tmp_path / "backup", git.root)

    async with GitWorkspace(git.root, seal=SEAL) as workspace:
        first, second = await meeting.steps(workspace, 4, 5)

    assert first.back
    assert not first.back.whole
    assert first.state.behind
    assert second.back is None
    assert not second.state.behind
    assert ids(git) == ["C1.1", "C1.4", "C1.5"]


async def test_a_new_workspace_says_so_too(tmp_path: Path, meeting: Meeting) -> None:
    """The node is lost, the store is not."""
    async with GitWorkspace(tmp_path / "one", seal=SEAL) as workspace:
        await meeting.steps(workspace, 1, 2)

    async with GitWorkspace(tmp_path / "two", seal=SEAL) as workspace:
        reading = await workspace.read(SLUG, now=NOW, after=meeting.witness)
        assert reading.state is None
        assert reading.back
        assert not reading.back.whole
        assert (await meeting.step(workspace, 3)).back == reading.back.but(now=meeting.witness)


# --- with a remote ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def beside(root: Path, remote: str) -> AsyncIterator[GitWorkspace]:
    async with at_work(root, remote) as replica:
        yield replica.workspace


@pytest.mark.usefixtures("person")
async def test_a_clone_that_is_merely_older_is_first_brought_up_to_date(
    remote: Git, tmp_path: Path, meeting: Meeting
) -> None:
    """Nobody is told anything."""
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.step(one, 1)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.steps(one, 2, 3)
    async with beside(tmp_path / "two", str(remote.root)) as two:
        receipt = await meeting.step(two, 4)

    assert receipt.back is None
    assert ids(Git(tmp_path / "two")) == ["C1.1", "C1.2", "C1.3", "C1.4"]


@pytest.mark.usefixtures("person")
async def test_a_clone_whose_remote_is_away_waits(remote: Git, tmp_path: Path, meeting: Meeting) -> None:
    """What it lacks may be there: nothing is said to be lost, and later all of it is one line of commits."""
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.step(one, 1)
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.steps(one, 2, 3)
    gone = remote.root.rename(tmp_path / "gone.git")
    known = meeting.witness
    async with beside(tmp_path / "two", str(remote.root)) as two:
        receipt = await meeting.step(two, 4)
        assert receipt.back is None
        assert receipt.state.behind
    gone.rename(remote.root)
    meeting.witness = known
    async with beside(tmp_path / "two", str(remote.root)) as two:
        assert (await meeting.step(two, 5)).back is None

    found = [one for one in ids(Git(tmp_path / "two")) if not one.startswith("merge-")]
    assert sorted(found) == ["C1.1", "C1.2", "C1.3", "C1.4", "C1.5"]


@pytest.mark.usefixtures("person")
async def test_a_remote_that_was_forced_back_is_told_of_by_a_new_clone(
    remote: Git, tmp_path: Path, meeting: Meeting
) -> None:
    """The clone has nothing of what is gone, and can say that it is gone."""
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.steps(one, 1, 2, 3)
    remote("update-ref", "refs/heads/main", remote("rev-parse", "main~2").strip())
    async with beside(tmp_path / "two", str(remote.root)) as two:
        receipt = await meeting.step(two, 4)

    assert receipt.back
    assert not receipt.back.whole
    assert receipt.state.behind


async def test_what_a_reset_took_away_here_is_still_at_the_remote(
    remote: Git, person: Git, tmp_path: Path, meeting: Meeting
) -> None:
    """It is fetched, not made again."""
    async with beside(tmp_path / "one", str(remote.root)) as one:
        await meeting.steps(one, 1, 2, 3)
    Git(tmp_path / "one")("reset", "--quiet", "--hard", "HEAD~2")
    async with beside(tmp_path / "one", str(remote.root)) as one:
        assert (await meeting.step(one, 4)).back is None
    pushed_by_hand(person, {"README.md": "hello\n"})

    assert "Roundtable-Again" not in remote("log", "--format=%B", "main")
    assert steps(person) == 4


# --- the end of the chain -----------------------------------------------------------------------------------------


async def test_the_store_keeps_the_newest_seal(workspace: GitWorkspace, git: Git, meeting: Meeting) -> None:
    """The chain, the number and the digest of the last line that was committed."""
    await meeting.steps(workspace, 1, 2)
    chain = read_chain(git.shown(TRANSCRIPT).encode(), TRUSTED)

    assert (meeting.witness.chain, meeting.witness.n) == (chain.chain, 2)
    assert meeting.witness.fits(git.shown(TRANSCRIPT).encode(), TRUSTED)
    assert not meeting.witness.fits(git("show", f"HEAD~1:{TRANSCRIPT}").encode(), TRUSTED)


@pytest.mark.usefixtures("person")
async def test_two_clones_put_together_have_one_chain(remote: Git, tmp_path: Path) -> None:
    """A commit that is put on top of others' goes on with their chain."""
    one, two = Meeting(), Meeting()
    for name, meeting, number in (("one", one, 1), ("two", two, 2)):
        async with GitWorkspace(tmp_path / name, seal=SEAL) as workspace:
            sync = Sync(tmp_path / name, remote=str(remote.root), seal=SEAL)
            await meeting.step(workspace, number)
            if name == "two":
                await sync.once()
    await Sync(tmp_path / "one", remote=str(remote.root), seal=SEAL).once()

    chain = read_chain(Git(tmp_path / "one").shown(TRANSCRIPT).encode(), TRUSTED)
    assert [row.n for row in chain.rows] == [1, 2, 3]
    assert chain.flaws == ()


# --- at the same time ---------------------------------------------------------------------------------------------


async def test_two_processes_put_it_back_once(workspace: GitWorkspace, git: Git, meeting: Meeting) -> None:
    """Whoever comes second finds it there, and knows what to tell all the same: the store lets one of them."""
    await meeting.steps(workspace, 1, 2, 3)
    git("reset", "--quiet", "--hard", "HEAD~2")
    async with GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as other:
        readings = await asyncio.gather(
            *(one.read(SLUG, now=NOW, after=meeting.witness) for one in (workspace, other))
        )

    assert steps(git) == 3
    assert [reading.back and reading.back.commits for reading in readings] == [2, 2]
    assert git.status == []


@pytest.mark.parametrize("seed", range(12))
async def test_whatever_happens_to_the_branch_no_line_is_lost(
    seed: int, workspace: GitWorkspace, git: Git, meeting: Meeting
) -> None:
    """Steps, resets, commits of people and of other items, in any order: every line is there once, in order."""
    luck = Random(seed)
    number = 0
    for _ in range(12):
        match luck.choice(("step", "step", "step", "reset", "person", "other")):
            case "step":
                number += 1
                await meeting.step(workspace, number)
            case "person":
                git.commit("src/app.py", f"print({luck.random()})\n")
            case "other":
                work = a_commit(number, id=f"other.i1.{luck.random()}")
                await workspace.commit("quiet-morning", work, now=NOW)
            case "reset" if number:
                back = luck.randrange(len(git.subjects))
                git("reset", "--quiet", "--hard", f"HEAD~{back}")
    number += 1
    await meeting.step(workspace, number)

    assert ids(git) == [f"C1.{one}" for one in range(1, number + 1)]
    assert git.status == []
    assert replay.verified(RecordedItem(git.root / ITEM, git.root / TRANSCRIPT)) == []
