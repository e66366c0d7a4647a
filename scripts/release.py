"""
Makes a release: `scripts/release X.Y.Z [--dry-run]`.

It refuses with one sentence, and changes nothing, when the tree is dirty, the tag exists, the version is not greater,
the changelog says nothing of this release or of one before it, the version stands not where it is written, or a
schema in bot/schemas is not the one of the models. It pushes nothing.
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
KUSTOMIZATION = "deploy/kubernetes/kustomization.yaml"
BASE = re.compile(r"^FROM (\S+)@(sha256:[0-9a-f]{64})$", re.MULTILINE)
REVISION = Path("bot/_content/revision.txt")
IMAGE = "roundtable-bot"
NEXT = """
{notes} has what changed. To publish:

    git push origin HEAD refs/tags/{tag}
    docker buildx build --push --tag REGISTRY/{image}:{version} --platform linux/amd64,linux/arm64 \\
        --sbom=true --provenance=mode=max \\
        --build-arg VERSION={version} --build-arg REVISION={revision} --build-arg CREATED={created} \\
        --build-arg BASE_NAME={base} --build-arg BASE_DIGEST={digest} --build-arg SOURCE=REPOSITORY .
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
        for heading in (HEADING, *(f"## {tag[1:]} - " for tag in released)):
            if not self._section(heading):
                raise Refused(f"CHANGELOG.md says nothing under {heading.removesuffix(' - ')}.")
        _ = self._versioned(datetime.now(UTC)), self._base
        ran = self._run(sys.executable, "scripts/schemas.py", "--check")
        if ran.returncode:
            raise Refused("bot/schemas is not what the models say: run scripts/schemas.")

    @property
    def notes(self) -> str:
        return self._section(HEADING)

    def _section(self, heading: str) -> str:
        found = re.search(
            rf"^{re.escape(heading)}.*\n((?:(?!## ).*\n?)*)", self._text("CHANGELOG.md"), re.MULTILINE
        )
        return found[1].strip() if found else ""

    @property
    def _base(self) -> tuple[str, str]:
        """The image that ours is based on, and its digest."""
        found = BASE.findall(self._text("Dockerfile"))
        if not found:
            raise Refused("Dockerfile does not pin its last image by a digest.")
        name, digest = found[-1]
        return f"docker.io/library/{name}", digest

    def _text(self, name: str) -> str:
        return (self._root / name).read_text("utf-8")

    def make(self) -> str:
        """What to do next."""
        now, notes = datetime.now(UTC), self.notes
        for name, text in self._versioned(now).items():
            (self._root / name).write_text(text, "utf-8")
        self._git("commit", "--quiet", "--all", "--message", f"Release {self._version}")
        sign = "--sign" if self._git("config", "user.signingkey", fails="") else "--annotate"
        self._git("tag", sign, self._tag, "--message", f"Roundtable {self._version}")
        revision = self._git("rev-parse", "HEAD")
        self._build(revision)
        (self._dist / "notes.md").write_text(f"{notes}\n", "utf-8")
        self._write_sums()
        base, digest = self._base
        return NEXT.format(
            notes="dist/notes.md", tag=self._tag, image=IMAGE, version=self._version, revision=revision,
            created=now.isoformat(timespec="seconds"), base=base, digest=digest,
        )  # fmt: skip

    def _versioned(self, now: datetime) -> dict[str, str]:
        """The files that say the version, as they will be."""
        before = tomllib.loads(self._text("pyproject.toml"))["project"]["version"]
        changes = {
            "pyproject.toml": (f'version = "{before}"', f'version = "{self._version}"'),
            KUSTOMIZATION: (f"newTag: {before}", f"newTag: {self._version}"),
            "CHANGELOG.md": (HEADING, f"{HEADING}\n\n## {self._version} - {now:%Y-%m-%d}"),
        }
        return {name: _replaced(name, self._text(name), *change) for name, change in changes.items()}

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
        for lock in ("image", "models"):
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


def _replaced(name: str, text: str, before: str, after: str) -> str:
    if before not in text:
        raise Refused(f"{name} does not say {before!r}.")
    return text.replace(before, after, 1)


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
