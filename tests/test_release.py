"""`scripts/release`, in a repository of its own: what it makes, when it refuses. And what our pages tell to install."""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MADE_OF = (
    "bot", "roundtable_eval", "slack_sandbox", "personas", "analysis-steps", "meetings", "requirements", "scripts",
    "deploy", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "Dockerfile",
)  # fmt: skip
LABELLED = set(re.findall(r'="\$([A-Z_]+)"', (ROOT / "Dockerfile").read_text("utf-8")))
"""What a build is told for the labels of the image."""
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


class Clone:
    def __init__(self, root: Path) -> None:
        self.root = root
        for name in MADE_OF:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / name, root / name)
        self.git("init", "--quiet", "--initial-branch", "main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.com")
        self.commit()

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "Work")

    def git(self, *words: str) -> str:
        ran = subprocess.run(["git", *words], cwd=self.root, capture_output=True, text=True, check=True)
        return ran.stdout.strip()

    def release(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(self.root / "scripts/release.py"), *words]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)

    @property
    def state(self) -> tuple[str, str, str]:
        return (
            self.git("rev-parse", "HEAD"),
            self.git("tag"),
            self.git("status", "--porcelain", "--ignored=no"),
        )


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_a_release_is_a_commit_a_tag_and_files(clone: Clone) -> None:
    """The wheel knows its version and commit; each file has a checksum; nothing is pushed."""
    dry = clone.state
    rehearsed = clone.release("7.8.9", "--dry-run")
    assert (rehearsed.returncode, rehearsed.stderr, clone.state) == (0, "", dry)
    assert not (clone.root / "dist").exists()

    made = clone.release("7.8.9")
    assert made.returncode == 0, made.stderr

    head = clone.git("rev-parse", "HEAD")
    assert clone.git("rev-parse", "v7.8.9^{commit}") == head
    assert clone.git("cat-file", "-t", "v7.8.9") == "tag"
    assert clone.git("status", "--porcelain") == ""
    changes = (clone.root / "CHANGELOG.md").read_text("utf-8")
    assert re.search(r"^## Unreleased\n\n## 7\.8\.9 - \d{4}-\d\d-\d\d\n\n### ", changes, re.MULTILINE)
    dist = clone.root / "dist"
    with zipfile.ZipFile(dist / "roundtable_bot-7.8.9-py3-none-any.whl") as wheel:
        assert wheel.read("bot/_content/revision.txt").decode() == head
        assert "bot/_content/personas/business-analyst.md" in wheel.namelist()
    for lock in ("image", "models"):
        bill = json.loads((dist / f"roundtable-bot-7.8.9-{lock}.cdx.json").read_text("utf-8"))
        assert bill["metadata"]["component"]["version"] == "7.8.9"
    rows = [line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in rows}
    assert sums == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in dist.iterdir()
        if path.name != "SHA256SUMS"
    }
    assert len(sums) == 5
    assert "git push origin HEAD refs/tags/v7.8.9" in made.stdout
    assert f"--build-arg REVISION={head}" in made.stdout
    given = set(re.findall(r"--build-arg (\w+)=\S", made.stdout))
    assert given == LABELLED
    assert "--platform linux/amd64,linux/arm64" in made.stdout
    assert "newTag: 7.8.9\n" in (clone.root / "deploy/kubernetes/kustomization.yaml").read_text("utf-8")

    again = clone.release("7.9.0")
    assert again.stderr == "dist/ is not empty.\n"
    shutil.rmtree(dist)
    refused = [clone.release(version).stderr for version in ("7.8.9", "7.8.8", "7.9.0")]
    assert refused == [
        "The tag v7.8.9 exists.\n",
        "7.8.8 is not greater than v7.8.9.\n",
        "CHANGELOG.md says nothing under ## Unreleased.\n",
    ]


def test_a_release_is_refused_in_one_sentence_and_changes_nothing(clone: Clone) -> None:
    """Each of these would be found by people who install it."""
    assert clone.release("v1").stderr == "v1 is not a version such as 1.2.3.\n"

    for name, pinned, sentence in (
        (
            "deploy/kubernetes/kustomization.yaml",
            f"newTag: {PROJECT['version']}",
            f"deploy/kubernetes/kustomization.yaml does not say 'newTag: {PROJECT['version']}'.\n",
        ),
        ("Dockerfile", "@sha256:", "Dockerfile does not pin its last image by a digest.\n"),
    ):
        told = clone.root / name
        kept = told.read_text("utf-8")
        told.write_text(kept.replace(pinned, "elsewhere"), "utf-8")
        clone.commit()
        assert clone.release("7.8.9", "--dry-run").stderr == sentence
        told.write_text(kept, "utf-8")
        clone.commit()
    clone.git("tag", "v0.0.9")
    assert clone.release("7.8.9", "--dry-run").stderr == "CHANGELOG.md says nothing under ## 0.0.9.\n"
    clone.git("tag", "--delete", "v0.0.9")

    schema = next((clone.root / "bot/schemas").glob("*.json"))
    schema.write_text("{}", "utf-8")
    before = clone.state
    assert clone.release("7.8.9").stderr == "There are changes that are not committed.\n"
    assert clone.state == before
    clone.commit()
    before = clone.state
    refused = clone.release("7.8.9")
    assert refused.stderr == "bot/schemas is not what the models say: run scripts/schemas.\n"
    assert (refused.returncode, clone.state) == (1, before)


def test_ci_builds_the_image_that_a_release_names() -> None:
    """With every label of the Dockerfile, after all that a change must pass."""
    text = (ROOT / ".ci/github.yaml.example").read_text("utf-8")
    check, image = yaml.safe_load(text)["jobs"].values()
    scripts = [step["run"] for job in (check, image) for step in job["steps"] if "run" in step]

    assert scripts[0] == ".ci/run"
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
    assert set(re.findall(r"--build-arg (\w+)=", text)) == LABELLED
    for script in scripts:
        plain = re.sub(r"\$\{\{.*?\}\}", "x", script)
        assert subprocess.run(["bash", "-n"], input=plain, text=True, check=False).returncode == 0
    assert "latest" not in text.replace("ubuntu-latest", "")


# --- names ------------------------------------------------------------------------------------------------------------

INSTALLS = re.compile(r"(?:pip|pipx|uv pip|uv tool) install|uvx|pipx run")
FROM_HERE = re.compile(
    r"""install\ '?\.(?:/roundtable_bot-[\w.-]+\.whl)?(?:\[[\w,{}.]+\])?'?(?=$|[\s`'")*,])  # pip install '.[otel]'
      | uvx\ --from\ (?:'?\.(?:\[[\w,]+\])?'?(?=\s)|['"]?(?:PATH|\$FROM))
      | -m\ pip\ install\ --quiet
    """,
    re.VERBOSE,
)
PAGES = [
    path
    for pattern in ("*.md", "docs/*.md", "deploy/**/*", "bot/**/*.py", "action.yml", "Dockerfile")
    for path in sorted(ROOT.glob(pattern))
    if path.is_file() and path.suffix in {".md", ".py", ".yaml", ".yml", ".example", ""}
]
TELLS_OF_IT = re.compile(r"what `?uvx`? installs")


def test_every_line_that_installs_installs_from_a_clone() -> None:
    """The name belongs to nobody on any index: whoever registers it there would be run by our operators."""
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in PAGES
        if path.name != "Dockerfile"  # it installs lock files, by their hashes
        for line in path.read_text("utf-8").splitlines()
        if INSTALLS.search(line) and not FROM_HERE.search(line) and not TELLS_OF_IT.search(line.lower())
    ]

    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "pip install roundtable-bot",
        "uvx roundtable-bot try",
        "pipx install 'roundtable-bot[otel]'",
        "uvx roundtable",
    ],
)
def test_a_line_that_installs_from_an_index_is_found(line: str) -> None:
    """Or the test above could not fail."""
    assert INSTALLS.search(line)
    assert not FROM_HERE.search(line)


def test_there_is_one_version() -> None:
    """In pyproject.toml, and nowhere else in the code."""
    assert re.fullmatch(r"\d+\.\d+\.\d+", PROJECT["version"])
    assert "Unreleased" in (ROOT / "CHANGELOG.md").read_text("utf-8")
