"""Exports under the peers' own commands: OpenSpec's strict validation, and the scripts that spec-kit's agents run."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from bot.integrations.agreed import AgreedItem
from bot.integrations.committed_exports import in_the_way
from bot.integrations.exported_edits import read_back
from bot.integrations.exports import Agreed, exported
from tests.integrations.published import NPM, fetch
from tests.integrations.test_exports import HOSTILE, agreed, everything, hostile, item, played, unsettled
from tests.specification.meeting import Meeting, make_entry

OPENSPEC = "@fission-ai/openspec@1.13.2"
SPECKIT = "specify-cli==1.2.3"


def large() -> AgreedItem:
    """90 entries: stories, requirements with their criteria, and decisions."""
    meeting = Meeting()
    for number in range(1, 11):
        for at in (2 * number - 1, 2 * number):
            words = f"Limit {at} holds for each client\nAC: when call {at} comes, then it is counted\nAC: it is logged"
            meeting.say("Ada", "01-06", f"requirement: {words}")
        story = {"want": f"limit {number}", "role": "operator", "traces": [f"FR-{2 * number:03}"]}
        meeting.press("Linus", make_entry(f"US-{number:03}", story))
        meeting.say(
            "Grace",
            "03-02",
            f"decision: Count {number} in Redis; because: it is there\ndecision: Keep {number}",
        )
    return item(meeting, slug="large", title="Limits of everything")


ITEMS: tuple[Callable[[], AgreedItem], ...] = (
    played,
    lambda: item(agreed()),
    large,
    hostile,
    lambda: everything("everything"),
    lambda: item(agreed(), slug="gh-acme_api-42"),
    lambda: item(agreed(), slug="42-limits"),
    lambda: item(agreed(), slug="REQ-0027_Offline"),
    unsettled,
    lambda: item(Meeting(), slug="nothing"),
)


@pytest.fixture(scope="module")
def openspec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command."""
    folder = tmp_path_factory.mktemp("openspec")
    fetch("npm", "install", "--engine-strict", *NPM, "--prefix", str(folder), OPENSPEC)
    return folder / "node_modules" / ".bin" / "openspec"


@pytest.fixture(scope="module")
def speckit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with its scripts and templates."""
    folder = tmp_path_factory.mktemp("speckit")
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--retries=0", "--timeout=60")
    fetch(sys.executable, "-m", "pip", "download", *quiet, "--dest", str(folder), SPECKIT)
    with ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / "specify_cli" / "core_pack"


def in_folder(folder: Path, *command: str, fails: bool = False, **env: str) -> str:
    """What a command says that has to succeed, or to fail."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert bool(done.returncode) == fails, done.stdout + done.stderr
    return done.stdout


def write(root: Path, found: AgreedItem, target: str) -> dict[str, str]:
    files = exported(found, target)
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")
    return files


def proposals(root: Path) -> Iterator[object]:
    for path in root.rglob("*.md"):
        yield from read_back(path.read_text("utf-8"))


def test_the_items_are_as_large_and_as_hostile_as_they_say() -> None:
    assert len(tuple(large().shown.entries())) == 90
    assert len(HOSTILE) >= 30


def test_openspec_accepts_each_export_and_archives_it(openspec: Path, tmp_path: Path) -> None:
    """
    Nothing is proposed before, nor of the specification that it makes of an archived change. It archives nothing that
    has no requirement.
    """

    def run(*words: str, fails: bool = False) -> str:
        return in_folder(tmp_path, str(openspec), *words, OPENSPEC_TELEMETRY="0", CI="1", fails=fails)

    made = [one() for one in ITEMS]
    for one in made:
        write(tmp_path, one, "openspec")
    assert not list(proposals(tmp_path))

    checked = json.loads(run("validate", "--all", "--strict", "--json"))
    assert {one["id"]: one["valid"] for one in checked["items"]} == {one.slug: True for one in made}
    empty = {one.slug for one in made if not Agreed(one).requirements()}
    assert empty == {"unsettled", "nothing"}
    for one in made:
        run("archive", one.slug, "--yes", fails=one.slug in empty)
    archived = list((tmp_path / "openspec" / "specs").rglob("spec.md"))
    assert {one.parent.name for one in archived} == {one.slug for one in made} - empty
    assert not list(proposals(tmp_path / "openspec" / "specs"))


def test_speckit_plans_and_builds_from_each_export(speckit: Path, tmp_path: Path) -> None:
    """Its scripts find our file, and set up the plan and the tasks beside it; these are not in the way of ours."""
    for name in ("scripts", "templates"):
        shutil.copytree(speckit / name, tmp_path / ".specify" / name)
    mandatory = mandatory_sections((speckit / "templates" / "spec-template.md").read_text("utf-8"))
    assert mandatory

    for made in ITEMS:
        files = write(tmp_path, made(), "speckit")
        ((path, text),) = files.items()
        folder = Path(path).parent
        assert mandatory_sections(text) == mandatory

        assert ran(tmp_path, folder, "setup-plan")["FEATURE_SPEC"] == str(tmp_path / path)
        ran(tmp_path, folder, "setup-tasks")
        (tmp_path / folder / "tasks.md").write_text("- [ ] T001 Count calls\n", "utf-8")
        options = ("--require-spec", "--require-tasks", "--include-tasks")
        assert ran(tmp_path, folder, "check-prerequisites", *options)["AVAILABLE_DOCS"] == ["tasks.md"]

        there = {str(folder / one.name): one.read_text("utf-8") for one in (tmp_path / folder).iterdir()}
        assert {Path(one).name for one in there} == {"spec.md", "plan.md", "tasks.md"}
        assert in_the_way(files, there) == ""
        assert read_back(there[path]) == ()


def mandatory_sections(text: str) -> list[str]:
    return re.findall(r"^## .+ \*\(mandatory\)\*$", text, re.MULTILINE)


def ran(root: Path, folder: Path, script: str, *words: str) -> Any:
    """What a script of spec-kit says of the feature in *folder*."""
    command = ("bash", f".specify/scripts/bash/{script}.sh", "--json", *words)
    return json.loads(in_folder(root, *command, SPECIFY_FEATURE_DIRECTORY=str(folder)))
