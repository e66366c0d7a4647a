"""A disk that is full, or may only be read: said in a sentence, and saved later."""

import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pygit2
import pytest

from bot.errors import WorkspaceError
from bot.storage.explain import explained
from bot.storage.git import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_section

NOBODY = 65534


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
    """For root nothing is, so it becomes nobody for a while."""
    folders = [root, *(path for path in root.rglob("*") if path.is_dir())]
    modes = {folder: folder.stat().st_mode for folder in folders}
    for folder in folders:
        folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(os.getuid())
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


async def test_one_artifact_too_large_does_not_stop_the_others(workspace: GitWorkspace, git: Git) -> None:
    """ERR-ART-002: its text is still in the transcript."""
    edits = (a_section("x" * 50_000, path="large.md"), a_section("small"))

    with room_for(20_000):
        receipt = await workspace.commit(SLUG, a_commit(edits=edits), now=NOW)

    assert [dict(one.facts) for one in receipt.troubles if one.code == "ERR-ART-002"] == [
        {"artifact_name": "large.md"}
    ]
    assert [touched.path for touched in receipt.touched] == ["requirements-spec.md"]
    assert git.status == []


async def test_a_workspace_that_may_only_be_read_is_said(workspace: GitWorkspace, git: Git) -> None:
    """Waiting does not help: somebody has to do something."""
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
