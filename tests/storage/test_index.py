"""The index of the checkout, in every form that git keeps it in: our files in it, and the rest as it was."""

import os
from pathlib import Path

import pytest

from bot.errors import ConfigError, WorkspaceError
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit

ITEM = f"docs/requirements/{SLUG}"
DIGEST_BYTES = 20
EARLIER = 1_700_000_000


def staged(git: Git) -> list[str]:
    return git("ls-files", "--stage").splitlines()


def staged_anew(git: Git, scratch: Path) -> list[str]:
    """What git itself would put into an empty index."""
    with pytest.MonkeyPatch.context() as patching:
        patching.setenv("GIT_INDEX_FILE", str(scratch))
        git("read-tree", "HEAD")
        return staged(git)


async def test_it_is_what_git_would_have_made_of_it(
    workspace: GitWorkspace, git: Git, tmp_path: Path
) -> None:
    """Beside names of every kind, in git's order, and byte for byte what each entry says."""
    for name in (
        "a",
        "docs.md",
        "docs/requirements-old",
        "docs/zebra/ø",
        "größe/日本",
        f"{'long' * 60}/{'er' * 120}",
    ):
        git.commit(f"{name}/file.txt", f"{name}\n")

    for number in range(1, 4):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
        await workspace.commit(f"{SLUG}-{number}", a_commit(number, id=f"other.{number}"), now=NOW)

    assert staged(git) == staged_anew(git, tmp_path / "index")
    assert git.status == []


async def test_a_person_s_next_commit_is_what_the_files_say(workspace: GitWorkspace, git: Git) -> None:
    """Git notes in the index which folder is which tree; what we changed is taken out of that note, and no more."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git.commit("src/deep/app.py", "one\n")
    git("read-tree", "HEAD")

    for number in range(2, 5):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
        await workspace.commit("new-item", a_commit(number, id=f"other.{number}"), now=NOW)

        assert git("write-tree", "--missing-ok") == git("rev-parse", "HEAD^{tree}")
    git.commit("src/deep/app.py", "two\n")
    assert git.status == []
    assert git("fsck", "--strict") == ""


@pytest.mark.parametrize("version", ["2", "3", "4"])
async def test_every_version_of_it_is_written(workspace: GitWorkspace, git: Git, version: str) -> None:
    """The third appears with the first intent to add; the fourth shortens names."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git.write("src/new.py", "new\n")
    if version == "3":
        git("add", "--intent-to-add", "src/new.py")
    else:
        git("update-index", "--index-version", version)
    before = git("diff"), git.status

    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert (git("diff"), git.status) == before
    assert git("diff", "--cached", "--", "docs") == ""


async def test_what_git_only_remembers_to_save_work_may_go(workspace: GitWorkspace, git: Git) -> None:
    """The cache of untracked files would be wrong about ours."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git("config", "core.untrackedCache", "true")
    git("config", "index.threads", "2")
    git.write("mine.txt", "mine\n")
    assert git.status == ["?? mine.txt"]

    await workspace.commit("new-item", a_commit(2, id="other.2"), now=NOW)

    assert git.status == ["?? mine.txt"]


async def test_one_without_a_checksum_is_written(workspace: GitWorkspace, git: Git) -> None:
    """Newer versions of git leave it out when they are told to (`index.skipHash`)."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    index = git.root / ".git/index"
    index.write_bytes(index.read_bytes()[:-DIGEST_BYTES] + bytes(DIGEST_BYTES))

    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert git.status == []


async def test_both_sides_of_a_merge_stay_for_the_person_who_merges(
    workspace: GitWorkspace, git: Git
) -> None:
    """A person is in the middle of it: our commit does not choose for them."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git("switch", "--quiet", "--create", "theirs")
    git.commit(f"{ITEM}/requirements-spec.md", "theirs\n")
    git("switch", "--quiet", "main")
    git.commit(f"{ITEM}/requirements-spec.md", "ours\n")
    with pytest.raises(AssertionError):
        git("merge", "theirs")
    before = git("ls-files", "--unmerged")
    assert before

    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert git("ls-files", "--unmerged") == before
    assert git("diff", "--cached", "--name-only", "--diff-filter=u") == ""


async def test_a_file_where_the_item_s_folder_is_now_gives_way(workspace: GitWorkspace, git: Git) -> None:
    """A person had committed a file of that name, and made it a folder since; a path cannot be both."""
    git.commit(ITEM, "a file\n")
    (git.root / ITEM).unlink()
    git.write(f"{ITEM}/draft.md", "by hand\n")

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git.status == [f"?? {ITEM}/draft.md"]
    assert git("write-tree") == git("rev-parse", "HEAD^{tree}")


async def test_what_a_person_does_between_our_commits_is_seen(workspace: GitWorkspace, git: Git) -> None:
    """The index is read again for each commit."""
    for number in range(1, 6):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
        git.write(f"src/{number}.py", f"{number}\n")
        git("add", ".")

    await workspace.commit(SLUG, a_commit(6), now=NOW)

    assert git.status == [f"A  src/{number}.py" for number in range(1, 6)]


@pytest.mark.parametrize("begun", [True, False])
async def test_one_that_is_missing_is_made_of_the_newest_commit(
    workspace: GitWorkspace, git: Git, *, begun: bool
) -> None:
    """Otherwise our commit would look like the deletion of everything else, and the next person's would be one."""
    git.commit("src/app.py", "print()\n")
    git.commit("README.md", "Read me.\n")
    if begun:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    git.write("README.md", "Mine.\n")
    (git.root / ".git/index").unlink()

    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert git.status == [" M README.md"]
    assert git("write-tree") == git("rev-parse", "HEAD^{tree}")


async def test_a_checkout_without_files_stays_one(workspace: GitWorkspace, git: Git) -> None:
    """As `git clone --no-checkout` leaves it: the files are missing, and nothing is staged."""
    git.commit("src/app.py", "print()\n")
    (git.root / "src/app.py").unlink()
    (git.root / ".git/index").unlink()

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git.status == [" D src/app.py"]


async def test_an_edit_right_after_staging_is_still_seen(workspace: GitWorkspace, git: Git) -> None:
    """Of the same size, in the same second: git then compares the time of the file with that of the index."""
    git("config", "core.trustctime", "false")
    file = git.write("src/app.py", "one\n")
    os.utime(file, (EARLIER, EARLIER))
    git("add", "src/app.py")
    git.write("src/app.py", "two\n")
    for touched in (file, git.root / ".git/index"):
        os.utime(touched, (EARLIER, EARLIER))

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git.status == ["AM src/app.py"]


async def test_a_form_that_libgit2_does_not_know_is_refused(git: Git) -> None:
    """At the start, and when a person chooses it later; nothing of the repository changes."""
    git.begin()
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
        git("update-index", "--split-index")
        with pytest.raises(WorkspaceError, match="--no-split-index"):
            await workspace.commit(SLUG, a_commit(2), now=NOW)
        assert len(git.subjects) == 1
        assert not (git.root / ".git/index.lock").exists()

    with pytest.raises(ConfigError, match="cannot be used"):
        async with GitWorkspace(git.root):
            raise AssertionError("it must not be opened")

    git("update-index", "--no-split-index")
    async with GitWorkspace(git.root) as workspace:
        await workspace.commit(SLUG, a_commit(2), now=NOW)
    assert git.status == []
