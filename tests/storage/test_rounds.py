"""Many items that finish together: each has its own commit."""

import asyncio

import pytest

from bot.domain.roundtable.outcomes import CommitResult
from bot.errors import WorkspaceError
from bot.storage.git.workspace import GitWorkspace
from tests.patience import wait_until
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section

ITEMS = tuple(f"item-{number:02}" for number in range(20))


async def committed(workspace: GitWorkspace, slug: str) -> CommitResult:
    work = a_commit(id=f"{slug}.i1.1", subject=slug, edits=(a_section(f"what {slug} is about"),))
    return await workspace.commit(slug, work, now=NOW)


async def test_each_item_has_its_own_commit_and_receipt(workspace: GitWorkspace, git: Git) -> None:
    """With nothing of the others in it."""
    receipts = await asyncio.gather(*(committed(workspace, slug) for slug in ITEMS))

    for slug, receipt in zip(ITEMS, receipts, strict=True):
        assert git("show", "--format=%s", "--name-only", receipt.sha).split() == [
            slug,
            f"docs/requirements/{slug}/meta.json",
            f"docs/requirements/{slug}/planning/meeting.jsonl",
            f"docs/requirements/{slug}/requirements-spec.md",
        ]
        assert receipt.state == (await workspace.read(slug, now=NOW)).state
        assert [touched.path for touched in receipt.touched] == ["requirements-spec.md"]
    assert git("log", "--merges", "--format=%H") == ""
    assert git.status == []
    assert git("fsck", "--strict") == ""


async def test_one_item_s_trouble_is_not_the_others_(workspace: GitWorkspace, git: Git) -> None:
    """They are committed, and only it is refused."""
    bad = ITEMS[7]
    git.commit("README.md", "ours\n")
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},docs/requirements/{bad}")
    git("commit", "--quiet", "-m", "a submodule")

    results = await asyncio.gather(*(committed(workspace, slug) for slug in ITEMS), return_exceptions=True)

    refused = [
        slug for slug, result in zip(ITEMS, results, strict=True) if isinstance(result, WorkspaceError)
    ]
    assert refused == [bad]
    assert sorted(git.subjects) == sorted({*ITEMS, "by hand", "a submodule"} - {bad})


async def test_commits_of_one_item_stay_in_order(workspace: GitWorkspace, git: Git) -> None:
    """Each adds to what the one before it left."""
    works = [a_commit(number, lines=(a_line(f"C1.{number}", round=number),)) for number in range(1, 6)]

    receipts = await asyncio.gather(*(workspace.commit(SLUG, work, now=NOW) for work in works))

    assert git.subjects[::-1] == [work.subject for work in works]
    assert receipts[-1].state.last_round == 5
    for number, receipt in enumerate(receipts, start=1):
        lines = git("show", f"{receipt.sha}:docs/requirements/{SLUG}/planning/meeting.jsonl").splitlines()
        assert len(lines) == number


async def test_the_same_commit_twice_is_one(workspace: GitWorkspace, git: Git) -> None:
    """Two who ask for the same get the same."""
    first, second = await asyncio.gather(committed(workspace, SLUG), committed(workspace, SLUG))

    assert first.sha == second.sha
    assert len(git.subjects) == 1


async def test_a_commit_whose_caller_was_cancelled_delays_no_other(git: Git) -> None:
    """The others are committed."""
    async with GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as workspace:
        lock = git.write(".git/refs/heads/main.lock", "")
        tasks = [asyncio.create_task(committed(workspace, slug)) for slug in ITEMS]
        await wait_until((git.root / ".roundtable/following").exists)
        tasks[3].cancel()
        lock.unlink()

        results = await asyncio.gather(*tasks, return_exceptions=True)

    assert [type(result) for result in results].count(asyncio.CancelledError) == 1
    assert len(git.subjects) >= len(ITEMS) - 1
    assert git.status == []


@pytest.mark.parametrize("lost", ["index", "branch"])
async def test_a_person_s_commit_in_between_is_built_upon(
    workspace: GitWorkspace, git: Git, lost: str
) -> None:
    """The index and the branch are read again."""
    await committed(workspace, SLUG)
    git.commit("src/app.py", f"{lost}\n")
    if lost == "index":
        git("rm", "--quiet", "--cached", "src/app.py")

    await asyncio.gather(*(committed(workspace, slug) for slug in ITEMS))

    assert git.subjects[-2:] == ["by hand", SLUG]
    assert git.shown("src/app.py") == f"{lost}\n"
    assert git.status == (["D  src/app.py", "?? src/"] if lost == "index" else [])
