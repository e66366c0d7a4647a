"""The scripts and the lock files they install from."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import settings
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
LOCKS = ("run", "image", "models", "try", "build", "dev")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def lock(name: str) -> str:
    return (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")


def pinned(name: str) -> dict[str, str]:
    found = re.findall(r"^([\w.-]+)(?:\[[\w, -]+\])?==(\S+)", lock(name), flags=re.MULTILINE)
    return {_normal(package): version for package, version in found}


def _normal(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def asked_for(name: str) -> list[Requirement]:
    groups = PROJECT["dependency-groups"]
    extras = PROJECT["project"]["optional-dependencies"]
    models = [
        text
        for extra in ("anthropic", "bedrock", "github", "google", "mcp", "openai")
        for text in extras[extra]
    ]
    image = [*PROJECT["project"]["dependencies"], *extras["otel"]]
    texts = {
        "run": PROJECT["project"]["dependencies"],
        "image": image,
        "models": [*image, *models],
        "try": [*PROJECT["project"]["dependencies"], *extras["mcp"]],
        "build": groups["build"],
        "dev": [*PROJECT["project"]["dependencies"], *groups["build"], *groups["dev"]],
    }
    return [Requirement(text) for text in texts[name] if isinstance(text, str)]


def fits(wanted: Requirement, versions: dict[str, str]) -> bool:
    version = versions.get(_normal(wanted.name))
    return version is not None and wanted.specifier.contains(version)


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_everything_that_is_asked_for(name: str) -> None:
    """After a change of pyproject.toml, `scripts/lock` has to be run."""
    stale = [str(wanted) for wanted in asked_for(name) if not fits(wanted, pinned(name))]

    assert not stale, f"run scripts/lock: requirements/{name}.txt does not fit {stale}"


def test_what_is_tested_is_what_is_run() -> None:
    """The same versions wherever the same package is."""
    for name in ("run", "image", "models", "try", "build"):
        assert pinned(name).items() <= pinned("dev").items()


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host_and_trusts_none(name: str) -> None:
    """Names, versions and hashes, and no option: whoever has an index of their own gets the same files."""
    assert "://" not in lock(name)
    for entry in re.split(r"\n(?=\S)", lock(name)):
        assert entry.startswith("#") or re.match(
            r"[a-z0-9][\w.-]*(\[[\w, -]+\])?==\S+ .*--hash=sha256:", entry, re.DOTALL
        )


SHEBANG = "#!/usr/bin/env bash"
SHELL_SCRIPTS = [
    path
    for folder in ("scripts", ".ci", "bench")
    for path in sorted((ROOT / folder).iterdir())
    if path.is_file() and path.read_bytes().startswith(SHEBANG.encode())
]


@pytest.mark.parametrize("path", SHELL_SCRIPTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_script_can_be_run(path: Path) -> None:
    """It is executable, says what it is for, and stops at the first thing that fails."""
    shebang, purpose, *_ = path.read_text(encoding="utf-8").splitlines()

    assert os.access(path, os.X_OK)
    assert shebang == SHEBANG
    assert purpose.startswith("# ")
    assert "\nset -euo pipefail\n" in path.read_text(encoding="utf-8")


PYTHON_SCRIPTS = [
    path for path in sorted((ROOT / "scripts").glob("*.py")) if "__main__" in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the scripts alone, which no test changes."""
    copy = tmp_path_factory.mktemp("clone")
    for name in ("scripts", ".ci", "bench"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.parametrize(
    ("path", "option"),
    [
        *((path, "--help") for path in (*SHELL_SCRIPTS, *PYTHON_SCRIPTS)),
        *((path, "-h") for path in SHELL_SCRIPTS),
    ],
    ids=lambda given: f"{given.parent.name}/{given.name}" if isinstance(given, Path) else given,
)
def test_help_is_all_that_help_does(path: Path, option: str, clone: Path, tmp_path: Path) -> None:
    """In a fresh clone it says what the script is for; it installs nothing and writes nothing."""
    before = everything_in(clone)

    ended = subprocess.run(
        [*((sys.executable,) if path.suffix else ()), clone / path.relative_to(ROOT), option],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(ended.stdout.split()) > 5
    assert "set -e" not in ended.stdout
    assert everything_in(clone) == before


def everything_in(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def test_ci_runs_the_long_tests_too() -> None:
    """`scripts/test` leaves them out; CI leaves out none."""
    assert "\nscripts/test --all -m thorough\n" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def test_every_change_runs_the_same_examples() -> None:
    """What hypothesis tries does not depend on the run; `scripts/test --search` looks for more."""
    assert settings.get_profile("every change").derandomize
    assert "--randomly-seed=1\n" in (ROOT / "scripts/test").read_text(encoding="utf-8")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of a fresh clone as a script looks at before it installs anything."""
    for name in ("scripts", "requirements"):
        (tmp_path / name).mkdir()
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "requirements/run.txt").touch()
    for name in ("_setup", "try"):
        (tmp_path / "scripts" / name).write_bytes((ROOT / "scripts" / name).read_bytes())
    return tmp_path


def run_try(checkout: Path, python: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", checkout / "scripts/try"],
        env={"PATH": os.environ["PATH"], "PYTHON": python},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_python_a_script_says_which_it_needs(checkout: Path) -> None:
    """In one sentence, and it leaves nothing behind."""
    ended = run_try(checkout, "/no/such/python")

    assert ended.returncode == 1
    assert ended.stderr.splitlines() == [
        "Roundtable needs Python 3.11 or newer: install it, or say where it is with PYTHON=/path/to/python3."
    ]
    assert not (checkout / ".venv").exists()


def test_without_venv_a_script_says_how_to_get_it(checkout: Path) -> None:
    """Debian and Ubuntu ship Python in parts."""
    python = checkout / "python3"
    python.write_text(f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)

    ended = run_try(checkout, str(python))

    assert ended.returncode == 1
    assert "comes without venv" in ended.stderr
    assert "python3-venv" in ended.stderr


def test_try_installs_what_connects_an_agent(checkout: Path) -> None:
    """Its page shows the line that connects one, which needs the extra mcp."""
    installed = checkout / "installed"
    for name, does in (("python", f'echo "$@" >>{installed}'), ("roundtable", "exit 0")):
        program = checkout / ".venv/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)

    ended = run_try(checkout, sys.executable)

    assert ended.returncode == 0, ended.stderr
    locks = re.findall(r"/requirements/(\w+)\.txt", installed.read_text())
    versions = {package: version for name in locks for package, version in pinned(name).items()}
    wanted = PROJECT["project"]["optional-dependencies"]["mcp"]
    assert all(fits(Requirement(text), versions) for text in (*PROJECT["project"]["dependencies"], *wanted))


# --- what is in the image -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["image", "models"])
def test_the_bill_of_materials_has_what_the_lock_has(name: str) -> None:
    """Every package once, with its version, the hashes of its files and its licence; the same file each time."""
    told, again = (
        subprocess.run(
            [sys.executable, ROOT / "scripts/sbom.py", name], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    )
    bill = json.loads(told)

    assert told == again
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bill["serialNumber"])
    assert bill["metadata"]["component"]["version"] == PROJECT["project"]["version"]
    assert {_normal(one["name"]): one["version"] for one in bill["components"]} == pinned(name)
    assert len(bill["components"]) == len(pinned(name)) == len({one["bom-ref"] for one in bill["components"]})
    for one in bill["components"]:
        assert one["purl"] == one["bom-ref"] == f"pkg:pypi/{one['name']}@{one['version']}"
        (source,) = one["externalReferences"]
        assert source["hashes"]
        assert all(f"sha256:{each['content']}" in lock(name) for each in source["hashes"])
    licensed = [one for one in bill["components"] if "licenses" in one]
    assert len(licensed) > len(bill["components"]) * 0.9
    assert all(set(each) <= {"expression", "license"} for one in licensed for each in one["licenses"])


@pytest.mark.parametrize(
    ("audit", "code", "says"),
    [
        ('echo \'{"dependencies": []}\' >"$out"', 0, "No known vulnerability"),
        ('echo \'{"dependencies": ["x"]}\' >"$out"; exit 1', 1, "dependencies"),
        ("exit 1", 2, "could not be done"),
    ],
)
def test_an_audit_that_could_not_be_done_says_so(checkout: Path, audit: str, code: int, says: str) -> None:
    """Without a network, nothing is known: that is neither good news nor bad."""
    (checkout / "scripts/audit").write_bytes((ROOT / "scripts/audit").read_bytes())
    python = checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        "#!/bin/bash\n"
        'case "$*" in *--version* | -c*) exit 0 ;; esac\n'
        'while [ "$1" != --output ]; do shift; done; out=$2\n' + audit + "\n"
    )
    python.chmod(0o755)
    ready = ["bash", "-c", f"source {checkout}/scripts/_setup && _fingerprint >{checkout}/.venv/ready-run"]
    subprocess.run(ready, check=True)

    ended = subprocess.run(["bash", checkout / "scripts/audit"], capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stderr
    assert says in ended.stdout + ended.stderr


def test_security_md_names_scripts_that_there_are() -> None:
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

    for script in re.findall(r"`(scripts/[\w-]+)`", text):
        assert os.access(ROOT / script, os.X_OK), script
