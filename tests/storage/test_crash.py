"""A kill at any moment: calling again finishes what was begun, and leaves no trace of it."""

import asyncio
import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bot.domain.catalog.schema import PLAN_PAGE
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git, unlike_each_other
from tests.storage.killed import OTHER, first_commit, round_of_commits
from tests.storage.samples import NOW, SLUG

FEWEST_MOMENTS = 30


def killed_anywhere(git: Git, copies: Path) -> list[Path]:
    """Copies of the workspace, each with a bot that was killed at another moment; the last was not killed."""
    subprocess.run([sys.executable, "-m", "tests.storage.killed", git.root, copies], check=True)
    moments = len(list(copies.iterdir()))
    assert moments > FEWEST_MOMENTS
    return [copies / str(number) for number in range(1, moments + 1)]


@contextmanager
def another_writes(root: Path) -> Iterator[None]:
    """Another bot has its turn in the workspace."""
    with (root / ".roundtable" / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


async def test_a_commit_killed_anywhere_is_finished_by_the_next(
    workspace: GitWorkspace, git: Git, tmp_path: Path
) -> None:
    """
    The bot that is started again leaves an index that says what the branch says. The same calls then give the same
    files, one commit each, and a clean checkout.
    """
    await workspace.commit(SLUG, first_commit(), now=NOW)
    *killed, last = await asyncio.to_thread(killed_anywhere, git, tmp_path / "copies")
    undisturbed = Git(last)
    tree, subjects = undisturbed("rev-parse", "HEAD^{tree}"), sorted(undisturbed.subjects)
    assert len(subjects) == 1 + len(list(round_of_commits()))

    for moment in unlike_each_other(killed):
        disturbed = Git(moment)
        async with GitWorkspace(disturbed.root, seal=SEAL) as successor:
            assert disturbed("diff", "--cached") == "", moment
            receipts = [await successor.commit(*due, now=NOW) for due in round_of_commits()]

        assert receipts[0].state.meta.steps_completed == ("01-01", "01-02"), moment
        assert sorted(disturbed("log", "--format=%s").splitlines()) == subjects, moment
        assert disturbed("rev-parse", "HEAD^{tree}") == tree, moment
        assert disturbed("status", "--porcelain", "--ignored") == "!! .roundtable/\n", moment
        assert disturbed("fsck", "--strict", "--no-dangling") == "", moment


async def test_a_commit_that_nobody_tries_again_is_all_there_or_not_at_all(
    workspace: GitWorkspace, git: Git, tmp_path: Path
) -> None:
    """
    The bot is killed, and the store is lost, too: no file says what the transcript does not, and none is torn or
    missing. A file that a person changed, and did not commit, is as the person left it. Another bot has its turn in the
    checkout meanwhile.
    """
    await workspace.commit(SLUG, first_commit(), now=NOW)
    item = "docs/requirements/bright-night"
    by_hand = git.shown(f"{item}/requirements-spec.md").replace("# Requirements", "# Ours")
    git.write(f"{item}/requirements-spec.md", by_hand)
    *killed, last = await asyncio.to_thread(killed_anywhere, git, tmp_path / "copies")
    seen = set()
    written = [f"{item}/{name}" for name in ("meta.json", "planning/meeting.jsonl")]
    whole = {path: ((git.root / path).read_bytes(), (last / path).read_bytes()) for path in written}

    for moment in unlike_each_other(killed):
        for path in written:
            assert (moment / path).read_bytes() in whole[path], moment
        with another_writes(moment):
            successor = await GitWorkspace(moment, lock_seconds=0.01, seal=SEAL).__aenter__()
        try:
            first, other = await successor.read(SLUG, now=NOW), await successor.read(OTHER, now=NOW)
        finally:
            await successor.__aexit__()

        killed_git = Git(moment)
        paths = [
            path for path in killed_git("ls-tree", "-r", "--name-only", "HEAD").split() if "jsonl" in path
        ]
        said = [killed_git.shown(path) for path in paths]
        is_there = '"C1.2"' in said[0]
        seen.add((is_there, len(said)))
        assert first.state, moment
        assert first.state.meta.steps_completed == (("01-01", "01-02") if is_there else ("01-01",)), moment
        assert (moment / item / "requirements-spec.md").read_text() == by_hand, moment
        assert ("More." in killed_git.shown(f"{item}/requirements-spec.md")) is is_there, moment
        assert ("More." in killed_git.shown(f"{item}/{PLAN_PAGE}")) is is_there, moment
        assert (other.state is not None) == (len(said) == 2), moment

    assert seen == {(False, 1), (True, 1), (True, 2)}
