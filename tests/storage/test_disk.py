"""A disk that is full, or may only be read: said in a sentence, and saved later."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pygit2
import pytest

from bot import files
from bot.errors import WorkspaceError
from bot.storage.git.command import explained
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_section, fsync_failing

ROOT = Path(__file__).parents[2]
NOBODY = 65534
WITH_FEW_FILES = """
import asyncio, resource, sys
from pathlib import Path
from bot.storage.sqlite import SqliteStore
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.samples import NOW, a_commit, a_roundtable

async def held():
    root = Path(sys.argv[1])
    async with SqliteStore(root / ".roundtable") as store, GitWorkspace(root, seal=SEAL) as files:
        for number in range(60):
            slug = f"item-{number}"
            await store.put(a_roundtable(slug), expected=0)
            await files.commit(slug, a_commit(id=f"{slug}.i1.1"), now=NOW)
        print(len(await files.items()), sum((await store.stages()).values()))

resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
asyncio.run(held())
"""


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file of this process may grow beyond *size*: the nearest to a full disk that needs no disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@contextmanager
def only_for_reading(root: Path) -> Iterator[None]:
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    modes = {folder: folder.stat().st_mode for folder in folders}
    for folder in folders:
        folder.chmod(0o555)
    try:
        with as_nobody():
            yield
    finally:
        for folder, mode in modes.items():
            folder.chmod(mode)


async def test_a_full_disk_is_said_and_saved_later(workspace: GitWorkspace, git: Git) -> None:
    """Every file is whole, as it was before, and the same call succeeds when there is room again."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    before = {path: path.read_bytes() for path in (git.root / "docs").rglob("*") if path.is_file()}

    with room_for(100), pytest.raises(WorkspaceError, match="disk of the workspace is full") as refused:
        await workspace.commit(SLUG, a_commit(2, edits=(a_section("x" * 5000),)), now=NOW)

    assert (refused.value.reason, refused.value.again) == ("disk_full", True)
    assert {path: path.read_bytes() for path in before} == before
    assert git.status == []

    await workspace.commit(SLUG, a_commit(2), now=NOW)
    assert git.status == []


async def test_a_disk_that_fails_is_said_and_saved_later(
    workspace: GitWorkspace, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could not be flushed counts for nothing: all of it is written and flushed anew."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", fsync_failing(1))
        with pytest.raises(WorkspaceError) as refused:
            await workspace.commit(SLUG, a_commit(2), now=NOW)
    receipt = await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert (refused.value.reason, refused.value.again) == ("io", True)
    assert receipt.state.meta.steps_completed == ("01-01", "01-02")
    assert git.status == []
    git("fsck", "--strict")


async def test_a_workspace_whose_git_is_gone_is_said(workspace: GitWorkspace, git: Git) -> None:
    """It was deleted, or a volume is missing: nothing crashes, and what people wrote stays."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    (git.root / ".git").rename(git.root.parent / "away")
    with pytest.raises(WorkspaceError):
        await workspace.commit(SLUG, a_commit(2), now=NOW)
    (git.root.parent / "away").rename(git.root / ".git")
    receipt = await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert receipt.state.meta.steps_completed == ("01-01", "01-02")
    assert git.status == []


def test_few_files_may_be_open_at_once(tmp_path: Path) -> None:
    """However many items there are: every folder and file is let go of."""
    ran = subprocess.run(
        [sys.executable, "-c", WITH_FEW_FILES, str(tmp_path / "workspace")],
        cwd=ROOT, check=False, capture_output=True, text=True,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["60", "60"]


async def test_a_workspace_that_may_only_be_read_is_said(workspace: GitWorkspace, git: Git) -> None:
    """Waiting does not help: a person has to change something."""
    await workspace.commit(SLUG, a_commit(), now=NOW)

    with only_for_reading(git.root):
        with pytest.raises(WorkspaceError, match="cannot be written to") as refused:
            await workspace.commit(SLUG, a_commit(2), now=NOW)
        with pytest.raises(WorkspaceError):
            await workspace.ping()

    assert (refused.value.reason, refused.value.again) == ("read_only", False)
    await workspace.commit(SLUG, a_commit(2), now=NOW)
    assert git.status == []


@pytest.mark.parametrize(
    ("error", "reason", "again"),
    [
        (OSError(errno.ENOSPC, "x"), "disk_full", True),
        (OSError(errno.EDQUOT, "x"), "disk_full", True),
        (OSError(errno.EROFS, "x"), "read_only", False),
        (PermissionError(errno.EACCES, "x"), "read_only", False),
        (OSError(errno.EIO, "x"), "io", True),
        (pygit2.GitError("failed to write chunk: No space left on device"), "disk_full", True),
        (OSError("failed to create locked file 'a.lock': Permission denied"), "read_only", False),
        (OSError("failed to create locked file 'a.lock': Read-only file system"), "read_only", False),
        (OSError("failed to lock file 'main.lock' for writing: "), "locked", True),
        (pygit2.GitError("the index is locked; this might be due to a crashed process"), "locked", True),
        (pygit2.GitError("object not found"), "io", True),
    ],
    ids=str,
)
def test_every_error_has_a_reason(error: Exception, reason: str, *, again: bool) -> None:
    """From the system's number, or from its words where libgit2 gives no number."""
    with pytest.raises(WorkspaceError) as translated, explained():
        raise error

    assert (translated.value.reason, translated.value.again) == (reason, again)
    assert translated.value.__cause__ is error


@pytest.mark.parametrize("place", [".roundtable", ".git", ".git/objects"])
async def test_readiness_writes_wherever_a_commit_does(place: str) -> None:
    """`.git` may be on a disk of its own. Nothing is left behind."""
    with TemporaryDirectory() as made:
        root = Path(made)
        async with GitWorkspace(root, seal=SEAL) as workspace:
            await workspace.commit(SLUG, a_commit(), now=NOW)
            before = all_below(root)
            for path in before:
                path.chmod(0o777 if path.is_dir() else 0o666)
            with as_nobody():
                await workspace.ping()

            (root / place).chmod(0o555)
            with as_nobody(), pytest.raises(WorkspaceError, match="cannot be written to"):
                await workspace.ping()
            (root / place).chmod(0o777)
            with room_for(100), pytest.raises(WorkspaceError, match="disk of the workspace is full"):
                await workspace.ping()
            await workspace.ping()
            assert all_below(root) == before


async def test_a_disk_is_full_before_a_commit_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few bytes still fit, and 64 MiB do not."""
    real = os.fstatvfs
    free = files.FREE_BYTES - 1

    def measured(descriptor: int) -> os.statvfs_result:
        told = list(real(descriptor))
        told[1], told[4] = 1, free  # f_frsize, f_bavail
        return os.statvfs_result(told)

    async with GitWorkspace(tmp_path, seal=SEAL) as workspace:
        monkeypatch.setattr(os, "fstatvfs", measured)
        with pytest.raises(WorkspaceError, match="disk of the workspace is full"):
            await workspace.ping()
        free += 1
        await workspace.ping()


def all_below(root: Path) -> list[Path]:
    return sorted([root, *root.rglob("*")])


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write everywhere."""
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(os.getuid())
