"""The files of a workshop in the workspace: written whole, taken away, and nothing else below `planning/`."""

import pytest

from bot.domain.item.artifacts import PlanEdit
from bot.domain.planning.workshop import BRIEF, PLAN, PLAN_FILES, PLAN_PAGE
from bot.domain.transcript.seal import OF_SEALING
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section

FOLDER = f"docs/requirements/{SLUG}"
ASIDE = "planning/versions/v1/plan.md"


async def put(workspace: GitWorkspace, number: int, **texts: str | None) -> list[str]:
    """The codes of what went wrong."""
    edits = tuple(PlanEdit(path=path, text=text) for path, text in texts.items())
    receipt = await workspace.commit(SLUG, a_commit(number, edits=edits), now=NOW)
    return [trouble.code for trouble in receipt.troubles if trouble.code != "ERR-ART-001"]


async def test_a_version_is_put_aside_in_one_commit(workspace: GitWorkspace, git: Git) -> None:
    """The file is gone from the folder, the index and the commit, and there under its new name."""
    await put(workspace, 1, **{PLAN_PAGE: "# Plan\n", PLAN: "{}\n"})
    await put(workspace, 2, **{ASIDE: "# Plan\n", PLAN_PAGE: None})

    tracked = git("ls-tree", "-r", "--name-only", "HEAD", FOLDER).splitlines()
    assert f"{FOLDER}/{PLAN_PAGE}" not in tracked
    assert f"{FOLDER}/{ASIDE}" in tracked
    assert git("ls-files").splitlines() == git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert git.status == []
    assert git("fsck", "--strict", "--no-dangling") == ""
    assert git("write-tree", "--missing-ok") == git("rev-parse", "HEAD^{tree}")


async def test_a_folder_that_holds_nothing_any_more_is_gone(workspace: GitWorkspace, git: Git) -> None:
    """As git would have it."""
    await put(workspace, 1, **{ASIDE: "# Plan\n"})
    await put(workspace, 2, **{ASIDE: None})

    assert "versions" not in git("ls-tree", "-r", "-t", "--name-only", "HEAD")
    assert git("fsck", "--strict", "--no-dangling") == ""
    assert git.status == []


async def test_a_version_is_put_aside_in_an_index_of_another_form(workspace: GitWorkspace, git: Git) -> None:
    """Which git's own library writes."""
    await put(workspace, 1, **{PLAN_PAGE: "# Plan\n"})
    git("update-index", "--index-version", "4")
    await put(workspace, 2, **{ASIDE: "# Plan\n", PLAN_PAGE: None})

    assert git("ls-files").splitlines() == git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert git.status == []


async def test_what_is_not_there_need_not_be_taken_away(workspace: GitWorkspace, git: Git) -> None:
    """A commit that is made again after a kill finds half of it done."""
    assert await put(workspace, 1, **{PLAN_PAGE: None, PLAN_FILES: "{}\n"}) == []
    assert git.status == []


async def test_the_workshop_finds_what_it_wrote(workspace: GitWorkspace, git: Git) -> None:
    """With earlier versions and the transcript's lines, and without whatever else somebody put there."""
    await put(workspace, 1, **{PLAN_PAGE: "# Plan\n", ASIDE: "# Old\n"})
    git.write(f"{FOLDER}/planning/notes.md", "Somebody's.\n")
    git.write(f"{FOLDER}/planning/versions/v1/deep/plan.md", "Somebody's.\n")
    found = await workspace.planning(SLUG)

    assert found.files == {PLAN_PAGE: "# Plan\n", ASIDE: "# Old\n"}
    (line,) = found.lines
    told = {name: fact for name, fact in line.meta.items() if name not in OF_SEALING}
    assert line.but(meta=told) == a_line("C1.1")
    assert await workspace.planning("nobody-s") == ({}, ())


@pytest.mark.parametrize(
    "path",
    [
        "planning/meeting.jsonl",
        "planning/Meeting.jsonl",
        "planning/../meta.json",
        "planning/notes.md",
        "planning/versions/v0/plan.md",
        "planning/versions/v1/../../plan.md",
        "planning/versions/v1/meeting.jsonl",
        "meta.json",
        "requirements-spec.md",
        "/planning/plan.md",
        "planning/plan.md\n",
    ],
)
async def test_nothing_else_can_be_written_as_a_plan(workspace: GitWorkspace, git: Git, path: str) -> None:
    """Neither the transcript nor any other file, whatever a voice calls it."""
    assert await put(workspace, 1, **{path: "mine"}) == ["ERR-ART-002"]
    assert "mine" not in git("grep", "--no-index", "-h", "", "--", FOLDER)


async def test_a_step_still_cannot_write_there(workspace: GitWorkspace, git: Git) -> None:
    """Only a workshop can."""
    edit = a_section("Mine.", path=BRIEF)
    receipt = await workspace.commit(SLUG, a_commit(edits=(edit,)), now=NOW)

    assert receipt.unwritten == (edit,)
    assert BRIEF not in git("ls-tree", "-r", "--name-only", "HEAD")


async def test_a_link_in_place_of_a_plan_is_not_followed(workspace: GitWorkspace, git: Git) -> None:
    """Whoever can push could otherwise write anywhere on this machine."""
    await put(workspace, 1, **{PLAN: "{}\n"})
    outside = git.root.parent / "outside.md"
    outside.write_text("Untouched.\n")
    (git.root / FOLDER / PLAN_PAGE).symlink_to(outside)
    git("add", "--", f"{FOLDER}/{PLAN_PAGE}")
    git("commit", "--quiet", "-m", "a link")

    assert await put(workspace, 2, **{PLAN_PAGE: "# Plan\n"}) == ["ERR-ART-003"]
    assert outside.read_text() == "Untouched.\n"
