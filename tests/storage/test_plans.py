"""The files of a plan in the workspace: written whole, and nothing else below `planning/`."""

from bot.domain.catalog.schema import PLAN_PAGE
from bot.domain.item.artifacts import DerivedEdit
from bot.domain.planning.projections import PLAN
from bot.domain.transcript.seal import OF_SEALING
from bot.storage.git.workspace import GitWorkspace
from tests.storage.checkout import Git
from tests.storage.clones import ITEM
from tests.storage.samples import NOW, SLUG, a_commit, a_line


async def put(workspace: GitWorkspace, number: int, **texts: str) -> list[str]:
    """The codes of what went wrong."""
    edits = tuple(DerivedEdit(path=path, text=text) for path, text in texts.items())
    receipt = await workspace.commit(SLUG, a_commit(number, edits=edits), now=NOW)
    return [trouble.code for trouble in receipt.troubles if trouble.code != "ERR-ART-001"]


async def test_the_plan_is_found_as_it_was_written(workspace: GitWorkspace, git: Git) -> None:
    """With the transcript's lines, and without whatever else somebody put there."""
    await put(workspace, 1, **{PLAN_PAGE: "# Plan\n", PLAN: "{}\n"})
    git.write(f"{ITEM}/planning/notes.md", "Somebody's.\n")
    found = await workspace.planning(SLUG)

    assert found.files == {PLAN_PAGE: "# Plan\n", PLAN: "{}\n"}
    (line,) = found.lines
    told = {name: fact for name, fact in line.meta.items() if name not in OF_SEALING}
    assert line.but(meta=told) == a_line("C1.1")
    assert await workspace.planning("nobody-s") == ({}, ())


NO_PLAN = (
    "planning/meeting.jsonl", "planning/Meeting.jsonl", "planning/../meta.json", "planning/notes.md",
    "planning/versions/v1/plan.md", "planning/versions/v1/../../plan.md", "planning/versions/v1/meeting.jsonl",
    "meta.json", "requirements-spec.md", "/planning/plan.md", "planning/plan.md\n",
)  # fmt: skip


async def test_nothing_else_can_be_written_as_a_plan(workspace: GitWorkspace, git: Git) -> None:
    """Neither the transcript nor any other file, whatever a voice calls it."""
    assert await put(workspace, 1, **dict.fromkeys(NO_PLAN, "mine")) == ["ERR-ART-002"] * len(NO_PLAN)
    assert "mine" not in git("grep", "--no-index", "-h", "", "--", ITEM)


async def test_a_link_in_place_of_a_plan_is_not_followed(workspace: GitWorkspace, git: Git) -> None:
    """Whoever can push could otherwise write anywhere on this machine."""
    await put(workspace, 1, **{PLAN: "{}\n"})
    outside = git.root.parent / "outside.md"
    outside.write_text("Untouched.\n")
    (git.root / ITEM / PLAN_PAGE).symlink_to(outside)
    git("add", "--", f"{ITEM}/{PLAN_PAGE}")
    git("commit", "--quiet", "-m", "a link")

    assert await put(workspace, 2, **{PLAN_PAGE: "# Plan\n"}) == ["ERR-ART-003"]
    assert outside.read_text() == "Untouched.\n"
