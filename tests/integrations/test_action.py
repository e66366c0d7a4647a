"""What `action.yml` does in a pull request: its scripts, with `uvx` and `gh` replaced. GitHub itself is not tried."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from bot.integrations.trace_reports import COMMENT
from tests.command_line import ROOT
from tests.integrations.traced import LimitsMeeting, TracedCode

ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS = ACTION["runs"]["steps"]
UVX = f"""#!{sys.executable}
import os, subprocess, sys
assert sys.argv[1:4] == ["--from", os.environ["FROM"], "roundtable"], sys.argv
sys.exit(subprocess.call([sys.executable, "-m", "bot", *sys.argv[4:]]))
"""
GH = f"""#!{sys.executable}
import json, os, sys
with open(os.environ["CALLS"], "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if os.environ.get("REFUSES"):
    sys.exit("HTTP 403: Resource not accessible by integration")
if "--paginate" in sys.argv:
    print(os.environ.get("COMMENTS", ""), end="")
"""


class Job(NamedTuple):
    """Of a runner, in a checkout."""

    code: TracedCode
    folder: Path

    def run(self, step: Any, **env: str) -> "subprocess.CompletedProcess[str]":
        given = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ROUNDTABLE_")},
            "PATH": f"{self.folder}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_ACTIONS": "true",
            "CALLS": str(self.folder / "calls"),
            **dict.fromkeys(step["env"], ""),
            **env,
        }
        script = self.folder / "script"
        script.write_text(step["run"], "utf-8")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.code.git.root,
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )

    def text(self, name: str) -> str:
        return (self.folder / name).read_text("utf-8")

    def calls(self) -> list[list[str]]:
        path = self.folder / "calls"
        return [json.loads(row) for row in path.read_text("utf-8").splitlines()] if path.exists() else []


@pytest.fixture
def job(code: TracedCode, tmp_path: Path) -> Job:
    folder = tmp_path / "runner"
    folder.mkdir()
    for name, text in (("uvx", UVX), ("gh", GH)):
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o755)
    return Job(code, folder)


TRACE, COMMENTING = STEPS[1], STEPS[3]
PINNED = re.compile(r"[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
OURS = "OWNER/roundtable@VERSION"


def test_every_action_is_pinned_by_its_commit() -> None:
    """Also in what people copy. A tag can be moved, and `v8` of setup-uv never was one."""
    pages = [
        path
        for pattern in ("*.yml", "*.md", ".ci/*", ".github/**/*", "docs/**/*.md", "deploy/**/*")
        for path in ROOT.glob(pattern)
        if path.is_file()
    ]
    uses = [
        found
        for path in pages
        for found in re.findall(r"^\s*(?:- )?uses: (.+)$", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(uses) > len([step for step in STEPS if "uses" in step])
    assert [one for one in uses if not PINNED.fullmatch(one) and not one.startswith(OURS)] == []


def test_inputs_reach_scripts_through_the_environment_alone() -> None:
    """In a script they would be a part of it."""
    assert [step["run"] for step in STEPS if "${{" in step.get("run", "")] == []
    assert set(ACTION["inputs"]) == {"record", "items", "from", "comment"}


def test_a_pull_request_with_a_gap_fails_after_it_was_told(job: Job) -> None:
    """The log has the findings, beside the code too, and the summary what the comment says."""
    job.code.record(LimitsMeeting())
    base = job.code.git("rev-parse", "HEAD").strip()
    job.code.commit({"src/limit.py": "# limits/DEC-001 limits/FR-099\n"})

    ran = job.run(TRACE, FROM="roundtable-bot", BASE=base)
    assert ran.returncode == 0, ran.stderr
    assert job.text("output") == "code=1\n"
    assert "limits has no FR-099." in ran.stdout
    assert "::error file=src/limit.py,line=1," in ran.stderr
    assert "- `limits/DEC-001` (cited)" in job.text("summary")
    assert json.loads(job.text("roundtable.sarif"))["version"] == "2.1.0"
    assert job.run(STEPS[-1], CODE="1").returncode == 1


def test_wrong_usage_ends_at_once_with_its_sentence(job: Job) -> None:
    job.code.record(LimitsMeeting())

    ran = job.run(TRACE, FROM="roundtable-bot", ITEMS="$(touch owned); limts", RECORD=".")
    assert ran.returncode == 2
    assert ran.stderr.startswith("There is no item '$(touch owned); limts'.")
    assert not (job.code.git.root / "owned").exists()


@pytest.mark.parametrize(
    ("comments", "told"), [("", "issues/7/comments"), ("41\n42\n", "issues/comments/41")]
)
def test_one_comment_is_written_and_then_changed(job: Job, comments: str, told: str) -> None:
    """Found again by its first line and its author."""
    (job.folder / "roundtable.md").write_text(f"{COMMENT}\n- a row\n", "utf-8")

    ran = job.run(COMMENTING, REPO="acme/api", PULL="7", COMMENTS=comments)
    assert ran.returncode == 0, ran.stderr
    looked, wrote = job.calls()
    assert COMMENT in looked[-1]
    assert any(word.endswith(told) for word in wrote)
    assert f"body=@{job.folder}/roundtable.md" in wrote


def test_there_is_no_comment_about_nothing(job: Job) -> None:
    (job.folder / "roundtable.md").write_text(f"{COMMENT}\nNone.\n", "utf-8")

    assert job.run(COMMENTING, REPO="acme/api", PULL="7").returncode == 0
    assert len(job.calls()) == 1


def test_a_token_that_only_reads_fails_nothing(job: Job) -> None:
    """As in a pull request of a fork."""
    (job.folder / "roundtable.md").write_text(f"{COMMENT}\n- a row\n", "utf-8")

    assert job.run(COMMENTING, REPO="acme/api", PULL="7", REFUSES="yes").returncode == 0


def test_the_hook_of_pre_commit_runs_a_command_that_there_is(job: Job) -> None:
    """pre-commit puts the file with the message behind it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    job.code.record(LimitsMeeting())
    job.code.git.write("message", "Work\n\nRefs: limits/FR-099\n")

    assert hook["stages"] == ["commit-msg"]
    program, *words = hook["entry"].split()
    assert program == "roundtable"
    ran = subprocess.run(
        [sys.executable, "-m", "bot", *words, "message"],
        cwd=job.code.git.root,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "error: limits has no FR-099. [unknown-id]\n")
