"""Where the bots of an ordeal keep the record: in one workspace, or in a clone each, with a remote between them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.durability import checks
from tests.durability.checks import git

BRANCH = "main"


class Places:
    """A bot is known by its host; *hosts* are all that there will be."""

    def __init__(self, folder: Path, hosts: Iterable[str], *, remote: bool) -> None:
        self._folder = folder
        self._remote = folder / "remote.git" if remote else None
        names = {host: f"workspace-{number}" for number, host in enumerate(hosts, start=1)}
        self._roots = {host: folder / (name if remote else "workspace") for host, name in names.items()}
        if self._remote:
            git(folder, "init", "--quiet", "--bare", f"--initial-branch={BRANCH}", str(self._remote))

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys(self._roots.values()))

    def of(self, host: str) -> Path:
        return self._roots[host]

    def env(self, host: str) -> Mapping[str, str]:
        remote = {"ROUNDTABLE_REMOTE": str(self._remote)} if self._remote else {}
        return {"ROUNDTABLE_WORKSPACE": str(self.of(host)), **remote}

    def writing(self) -> list[str]:
        """The hosts whose workspace somebody has his turn in just now."""
        return [host for host, root in self._roots.items() if (root / ".roundtable" / "turn").exists()]

    def moves(self) -> Mapping[str, int]:
        """For each host something that changes with every commit there; under "", with every push."""
        logs = {host: root / ".git" / "logs" / "HEAD" for host, root in self._roots.items()}
        if self._remote:
            logs[""] = self._remote / "refs" / "heads" / BRANCH
        return {host: log.stat().st_mtime_ns for host, log in logs.items() if log.exists()}

    def unpushed(self) -> list[str]:
        """The workspaces that have something which is nowhere else."""
        return [root.name for root in self.roots if self._remote and not self._has(_head(root))]

    def record(self) -> Path:
        """What people keep: a new clone of the remote, or the one workspace."""
        if self._remote is None:
            return self.roots[0]
        record = self._folder / "record"
        if not record.exists():
            git(self._folder, "clone", "--quiet", str(self._remote), str(record))
        return record

    def wrong(self, *, store_lost: bool) -> Iterator[str]:
        """With every repository by itself."""
        for root in dict.fromkeys((self.record(), *self.roots)):
            if (root / ".git").exists():
                found = checks.of_workspace(root, store_lost=store_lost or not self._is_abreast(root))
                yield from (f"{root.name}: {sentence}" for sentence in found)

    def _is_abreast(self, root: Path) -> bool:
        """Until its next look at the remote, a clone may have what a kill left there, and another has committed."""
        return _head(root) == _head(self.record())

    def _has(self, sha: str) -> bool:
        assert self._remote
        return not sha or not git(self._remote, "merge-base", "--is-ancestor", sha, BRANCH).returncode


def _head(root: Path) -> str:
    return git(root, "rev-parse", "--verify", "--quiet", "HEAD").stdout.strip()
