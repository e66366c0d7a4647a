"""A person at work in the workspace, with git's own command line."""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

PERSON = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}

SETTINGS = ("-c", "core.quotePath=false", "-c", "core.fsync=none")


class Git:
    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, *words: str) -> str:
        """What git prints; a failure is the test's."""
        ran = subprocess.run(
            ["git", *SETTINGS, *words],
            cwd=self.root,
            env=os.environ | PERSON,
            check=False,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, f"git {words}: {ran.stderr}"
        return ran.stdout

    def begin(self) -> None:
        """A repository of the person's own, with nothing in it."""
        self.root.mkdir(parents=True, exist_ok=True)
        self("init", "--initial-branch=main")

    def write(self, path: str, content: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8", newline="")
        return file

    def commit(self, path: str, content: str, *, message: str = "by hand") -> str:
        """A person's commit of one file."""
        self.write(path, content)
        self("add", "--", path)
        self("commit", "--quiet", "-m", message, "--", path)
        return self("rev-parse", "HEAD").strip()

    def commit_all(self, message: str) -> None:
        """A person's commit of all that is there."""
        self("add", "--all")
        self("commit", "--quiet", "--allow-empty", "-m", message)

    def push(self, path: str, content: str, *, message: str = "by hand") -> None:
        """A person's commit of one file, and what was committed before it."""
        self.commit(path, content, message=message)
        self("push", "--quiet")

    @property
    def status(self) -> list[str]:
        return self("status", "--porcelain").splitlines()

    @property
    def subjects(self) -> list[str]:
        """Of all commits, the newest first."""
        return self("log", "--format=%s").splitlines()

    def shown(self, path: str) -> str:
        """What HEAD holds at *path*."""
        return self("show", f"HEAD:{path}")


def commit_all(root: Path) -> None:
    """A person commits what is there, in a repository that may be new."""
    git = Git(root)
    if not (root / ".git").exists():
        git.begin()
    git.commit_all("theirs")


def unlike_each_other(folders: Iterable[Path]) -> Iterable[Path]:
    """One of those that hold the same: many calls change nothing, or only in memory."""
    return {_content(folder): folder for folder in folders}.values()


def _content(folder: Path) -> frozenset[tuple[str, bytes | None]]:
    """Of every file and every folder in it."""
    found = ((str(path.relative_to(folder)), path) for path in folder.rglob("*"))
    return frozenset((name, path.read_bytes() if path.is_file() else None) for name, path in found)
