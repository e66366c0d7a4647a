"""
Makes a release: `scripts/release X.Y.Z [--dry-run]`.

It refuses with one sentence, and changes nothing, when the tree is dirty, the tag exists, the version is not greater,
the changelog says nothing, or a schema in bot/schemas is not the one of the models. It pushes nothing.
"""

import argparse
import hashlib
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
HEADING = "## Unreleased"
SECTION = re.compile(r"^## Unreleased\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
REVISION = Path("bot/_content/revision.txt")
IMAGE = "roundtable-bot"
NEXT = """
{notes} has what changed. To publish:

    git push origin HEAD refs/tags/{tag}
    docker buildx build --push --tag REGISTRY/{image}:{version} --sbom=true --provenance=mode=max \\
        --build-arg VERSION={version} --build-arg REVISION={revision} --build-arg CREATED={created} .
"""


class Refused(Exception):
    """One sentence."""


class Release:
    def __init__(self, root: Path, version: str) -> None:
        self._root = root
        self._version = version
        self._tag = f"v{version}"
        self._dist = root / "dist"

    def check(self) -> None:
        if not VERSION.fullmatch(self._version):
            raise Refused(f"{self._version} is not a version such as 1.2.3.")
        if self._git("status", "--porcelain", "--untracked-files=no"):
            raise Refused("There are changes that are not committed.")
        if self._git("tag", "--list", self._tag):
            raise Refused(f"The tag {self._tag} exists.")
        released = [one for one in self._git("tag", "--list", "v*").split() if VERSION.fullmatch(one[1:])]
        newest = max(released, key=lambda tag: _numbers(tag[1:]), default="")
        if newest and _numbers(self._version) <= _numbers(newest[1:]):
            raise Refused(f"{self._version} is not greater than {newest}.")
        upstream = self._git("rev-list", "--count", "HEAD..@{upstream}", fails="0")
        if upstream != "0":
            raise Refused(f"The upstream branch has {upstream} commits that are not here.")
        if self._dist.exists() and any(self._dist.iterdir()):
            raise Refused("dist/ is not empty.")
        if not self.notes:
            raise Refused(f"CHANGELOG.md says nothing under {HEADING}.")
        ran = self._run(sys.executable, "scripts/schemas.py", "--check")
        if ran.returncode:
            raise Refused("bot/schemas is not what the models say: run scripts/schemas.")

    @property
    def notes(self) -> str:
        found = SECTION.search((self._root / "CHANGELOG.md").read_text("utf-8"))
        return found[1].strip() if found else ""

    def make(self) -> str:
        """What to do next."""
        now, notes = datetime.now(UTC), self.notes
        self._write_version(now)
        self._git("commit", "--quiet", "--all", "--message", f"Release {self._version}")
        sign = "--sign" if self._git("config", "user.signingkey", fails="") else "--annotate"
        self._git("tag", sign, self._tag, "--message", f"Roundtable {self._version}")
        revision = self._git("rev-parse", "HEAD")
        self._build(revision)
        (self._dist / "notes.md").write_text(f"{notes}\n", "utf-8")
        self._write_sums()
        return NEXT.format(
            notes="dist/notes.md", tag=self._tag, image=IMAGE, version=self._version, revision=revision,
            created=now.isoformat(timespec="seconds"),
        )  # fmt: skip

    def _write_version(self, now: datetime) -> None:
        project, changes = self._root / "pyproject.toml", self._root / "CHANGELOG.md"
        before = tomllib.loads(project.read_text("utf-8"))["project"]["version"]
        _replace(project, f'version = "{before}"', f'version = "{self._version}"')
        _replace(changes, HEADING, f"{HEADING}\n\n## {self._version} - {now:%Y-%m-%d}")

    def _build(self, revision: str) -> None:
        """With the commit in the wheel, for `roundtable --version`."""
        place = self._root / REVISION
        place.parent.mkdir(exist_ok=True)
        place.write_text(revision, "ascii")
        try:
            self._must_run(sys.executable, "-m", "hatchling", "build", "--directory", "dist")
        finally:
            place.unlink()
            place.parent.rmdir()
        for lock in ("run", "models"):
            bill = self._must_run(sys.executable, "scripts/sbom.py", lock)
            (self._dist / f"{IMAGE}-{self._version}-{lock}.cdx.json").write_text(bill, "utf-8")

    def _write_sums(self) -> None:
        files = sorted(path for path in self._dist.iterdir() if path.is_file())
        sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
        (self._dist / "SHA256SUMS").write_text("".join(sums), "ascii")

    def _git(self, *words: str, fails: str | None = None) -> str:
        ran = self._run("git", *words)
        if ran.returncode and fails is not None:
            return fails
        if ran.returncode:
            raise Refused(f"git {words[0]} failed: {ran.stderr.strip()}")
        return ran.stdout.strip()

    def _must_run(self, *words: str) -> str:
        ran = self._run(*words)
        if ran.returncode:
            raise Refused(f"{' '.join(words[1:])} failed: {ran.stderr.strip()}")
        return ran.stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=self._root, capture_output=True, text=True, check=False)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _replace(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    if text.count(before) < 1:
        raise Refused(f"{path.name} does not say {before!r}.")
    path.write_text(text.replace(before, after, 1), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    parser.add_argument("version", help="such as 1.2.3")
    parser.add_argument(
        "--dry-run", action="store_true", help="check, say what would be done, and change nothing"
    )
    asked = parser.parse_args()
    release = Release(Path(__file__).resolve().parents[1], asked.version)
    try:
        release.check()
        if asked.dry_run:
            print(f"Everything is ready for v{asked.version}. Its notes:\n\n{release.notes}")
        else:
            print(release.make())
    except Refused as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
