"""A kill at any moment: calling again finishes what was begun, and leaves no trace of it."""

import asyncio
import sys
from pathlib import Path

from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git, unlike_each_other
from tests.storage.killed import first_commit, round_of_commits
from tests.storage.samples import NOW, SLUG

FEWEST_MOMENTS = 30


async def test_a_commit_killed_anywhere_is_finished_by_the_next(
    workspace: GitWorkspace, git: Git, tmp_path: Path
) -> None:
    """
    The bot that is started again leaves an index that says what the branch says. The same calls then give the same
    files, one commit each, and a clean checkout.
    """
    await workspace.commit(SLUG, first_commit(), now=NOW)
    copies = tmp_path / "copies"
    killing = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.storage.killed", git.root, copies
    )
    assert await killing.wait() == 0
    moments = len(list(copies.iterdir()))
    assert moments > FEWEST_MOMENTS
    undisturbed = Git(copies / str(moments))
    tree, subjects = undisturbed("rev-parse", "HEAD^{tree}"), sorted(undisturbed.subjects)
    assert len(subjects) == 1 + len(list(round_of_commits()))

    for moment in unlike_each_other(copies / str(number) for number in range(1, moments)):
        disturbed = Git(moment)
        async with GitWorkspace(disturbed.root) as successor:
            assert disturbed("diff", "--cached") == "", moment
            receipts = [await successor.commit(*due, now=NOW) for due in round_of_commits()]

        assert receipts[0].state.meta.steps_completed == ("01-01", "01-02"), moment
        assert sorted(disturbed("log", "--format=%s").splitlines()) == subjects, moment
        assert disturbed("rev-parse", "HEAD^{tree}") == tree, moment
        assert disturbed("status", "--porcelain", "--ignored") == "!! .roundtable/\n", moment
        assert disturbed("fsck", "--strict", "--no-dangling") == "", moment
