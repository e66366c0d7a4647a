"""The workspace as people see it with git: what we commit, and that what is theirs stays theirs."""

import json
import stat
from typing import Any

import pytest

from bot.domain.item.artifacts import FileEdit
from bot.domain.item.meta import MetaChange
from bot.domain.roundtable.effects import Commit
from bot.domain.transcript.last_line import LastLine
from bot.errors import ConfigError
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, SPEC, TRANSCRIPT
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section

LATER = "2026-11-21T11:00:00.000Z"


def delete(git: Git, path: str) -> None:
    git("rm", "-r", "--quiet", "--", path)
    git("commit", "--quiet", "-m", "delete")


# --- what a commit is ---------------------------------------------------------------------------------------------


async def test_a_finished_step_is_one_commit(workspace: GitWorkspace, git: Git) -> None:
    """Its artifacts, meta.json and transcript together, and its item, step and effect in the trailers."""
    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git("log", "--format=%H %an <%ae> %aI%n%B") == (
        f"{receipt.sha} Roundtable <roundtable@localhost> 2026-11-21T10:00:00+00:00\n"
        f"roundtable({SLUG}): step 01-01 Needs\n"
        "\n"
        f"Roundtable-Item: {SLUG}\n"
        "Roundtable-Step: 01-01\n"
        f"Roundtable-Effect: {SLUG}.i1.1\n"
        "\n"
    )
    assert git("show", "--format=", "--name-only").splitlines() == [
        f"{ITEM}/meta.json",
        TRANSCRIPT,
        SPEC,
    ]


async def test_what_is_no_step_has_no_step_in_its_trailers(workspace: GitWorkspace, git: Git) -> None:
    """A new item, a phase, or what a stop saved."""
    await workspace.commit(SLUG, a_commit(step=""), now=NOW)

    assert "Roundtable-Step" not in git("log", "--format=%B")


@pytest.mark.parametrize(
    "first", [a_commit(subject=f"x\n\nRoundtable-Effect: {SLUG}.i1.2"), a_commit(21)], ids=["title", "id"]
)
async def test_an_effect_is_known_by_its_whole_trailer(
    workspace: GitWorkspace, git: Git, first: Commit
) -> None:
    """A subject is one line, also when the name of an item is not; and the second is not taken for the twenty-first."""
    await workspace.commit(SLUG, first, now=NOW)
    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert len(git.subjects) == 2


async def test_nothing_of_ours_but_the_items_is_committed(workspace: GitWorkspace, git: Git) -> None:
    """Git ignores our own folder without a .gitignore that a person would have to commit."""
    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert (git.root / ".roundtable").is_dir()
    assert not (git.root / ".gitignore").exists()
    assert git.status == []


async def test_opening_again_adds_nothing_to_the_exclusions(git: Git) -> None:
    """Each is there once, however often the bot starts."""
    for _ in range(2):
        async with GitWorkspace(git.root, seal=SEAL):
            pass

    exclusions = (git.root / ".git/info/exclude").read_text().splitlines()
    assert exclusions.count("/.roundtable/") == 1


async def test_names_in_every_script(workspace: GitWorkspace, git: Git) -> None:
    """Beside ours, and in what we write."""
    git.commit("документы/日本語 ø.md", "été\n", message="über")

    await workspace.commit(SLUG, a_commit(lines=(a_line("m1", "ẞ 🌙"),), subject="Größe"), now=NOW)

    assert git.subjects == ["Größe", "über"]
    assert git.status == []
    assert "ẞ 🌙" in git.shown(TRANSCRIPT)


# --- repositories as they are found -------------------------------------------------------------------------------


async def test_a_file_in_its_place_is_refused(git: Git) -> None:
    """In one sentence."""
    git.root.write_text("not a folder")

    with pytest.raises(ConfigError, match="cannot be used"):
        async with GitWorkspace(git.root, seal=SEAL):
            pass


@pytest.mark.parametrize("setting", ["true", "input", "false"])
async def test_line_ends_are_never_converted(workspace: GitWorkspace, git: Git, setting: str) -> None:
    """What is on the disk is what is committed, and git agrees that nothing changed."""
    git("config", "core.autocrlf", setting)
    await workspace.commit(SLUG, a_commit(edits=(FileEdit(path="draft.md", text="a\r\nb\r\n"),)), now=NOW)

    assert (git.root / ITEM / "draft.md").read_bytes() == b"a\r\nb\r\n"
    assert git.status == []


async def test_an_executable_stays_one(workspace: GitWorkspace, git: Git) -> None:
    """Its mode is not ours to change, neither on the disk nor in git."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    (git.root / SPEC).chmod(0o755)
    git("commit", "--quiet", "-am", "executable")

    await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert stat.S_IMODE((git.root / SPEC).stat().st_mode) == 0o755
    assert git("ls-tree", "HEAD", SPEC).startswith("100755")
    assert git.status == []


# --- people at work in the same checkout --------------------------------------------------------------------------


async def test_what_a_person_committed_for_us_is_not_committed_again(
    workspace: GitWorkspace, git: Git
) -> None:
    """A person's `git add .` may be quicker: then there is nothing left to say."""
    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)
    git("update-ref", "-d", "HEAD")
    git("commit", "--quiet", "-m", "all of it")

    again = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git.subjects == ["all of it"]
    assert again.state == receipt.state


# --- what cannot be read or written -------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["{ torn", "", "[]", "\ufeff", "\x00"])
async def test_a_corrupt_meta_json_is_begun_anew_and_kept(
    workspace: GitWorkspace, git: Git, bad: str
) -> None:
    """ERR-META-002: the artifacts stay, and so does what was in the file."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    git.commit(f"{ITEM}/meta.json", bad)
    assert [one.code for one in (await workspace.read(SLUG, now=NOW)).troubles] == ["ERR-META-002"]

    receipt = await workspace.commit(SLUG, a_commit(2), now=NOW)

    assert [one.code for one in receipt.troubles] == ["ERR-META-002"]
    assert receipt.state.meta.steps_completed == ("01-02",)
    assert git.shown(f"{ITEM}/meta.json.corrupt-1") == bad
    assert receipt.state.artifacts == ("requirements-spec.md",)
    assert git.status == []


@pytest.mark.parametrize("bad", ["{ torn", None])
async def test_what_others_wrote_into_a_meta_json_survives_its_loss(
    workspace: GitWorkspace, git: Git, bad: str | None
) -> None:
    """In the middle of a meeting it is written anew from what git had, and not from what we know alone."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    theirs = {**json.loads(git.shown(f"{ITEM}/meta.json")), "estimate": {"points": 8}}
    git.commit(f"{ITEM}/meta.json", json.dumps(theirs))
    delete(git, f"{ITEM}/meta.json") if bad is None else git.commit(f"{ITEM}/meta.json", bad)

    receipt = await workspace.commit(SLUG, a_commit(2, change=MetaChange(steps=("01-02",))), now=NOW)

    assert {one.code for one in receipt.troubles} <= {"ERR-META-001", "ERR-META-002"}
    assert json.loads(git.shown(f"{ITEM}/meta.json"))["estimate"] == {"points": 8}
    assert receipt.state.meta.steps_completed == ("01-01", "01-02")


@pytest.mark.parametrize("bad", ["{ torn", None])
async def test_a_lost_meta_json_comes_back_from_history(
    workspace: GitWorkspace, git: Git, bad: str | None
) -> None:
    """The newest that can be read, in a commit of its own; what stood in its place is kept."""
    for number in (1, 2):
        await workspace.commit(SLUG, a_commit(number), now=NOW)
    delete(git, f"{ITEM}/meta.json") if bad is None else git.commit(f"{ITEM}/meta.json", bad)
    assert (await workspace.read(SLUG, now=NOW)).restorable

    reading = await workspace.restore(SLUG, now=NOW)

    assert reading.state
    assert reading.state.meta.steps_completed == ("01-01", "01-02")
    assert (reading.troubles, reading.restorable) == ((), False)
    assert (git.root / ITEM / "meta.json.corrupt-1").exists() == (bad is not None)
    assert git.subjects[0] == f"roundtable({SLUG}): meta.json restored"
    if bad:
        assert git.shown(f"{ITEM}/meta.json.corrupt-1") == bad
    assert git.status == []


async def test_every_meta_json_that_is_replaced_is_kept(workspace: GitWorkspace, git: Git) -> None:
    """Also when it is damaged a second time."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    for number in (1, 2):
        git.commit(f"{ITEM}/meta.json", "{ torn" * number)
        await workspace.restore(SLUG, now=NOW)

    assert [git.shown(f"{ITEM}/meta.json.corrupt-{number}") for number in (1, 2)] == [
        "{ torn",
        "{ torn{ torn",
    ]


LIVE = LastLine(id="C1.1")


def live_commit(number: int = 2, **fields: Any) -> Commit:
    """As a roundtable makes it after its first."""
    return a_commit(number, **{"change": MetaChange(steps=(f"01-{number:02}",)), **fields})


@pytest.mark.parametrize(
    ("deleted", "what"),
    [(".", "folder"), ("meta.json", "meta.json"), ("planning/meeting.jsonl", "transcript")],
)
async def test_what_is_deleted_while_the_item_is_live_comes_back(
    workspace: GitWorkspace, git: Git, deleted: str, what: str
) -> None:
    """As the newest commit has it that has it; the receipt says so once."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    theirs = {**json.loads(git.shown(f"{ITEM}/meta.json")), "estimate": {"points": 8}}
    git.commit(f"{ITEM}/meta.json", json.dumps(theirs))
    before = {path: git.shown(path) for path in git("ls-files", "--", ITEM).split()}
    delete(git, f"{ITEM}/{deleted}")

    receipts = [
        await workspace.commit(SLUG, live_commit(number, edits=()), now=LATER, after=LIVE)
        for number in (2, 2, 3)
    ]

    assert [one.restored for one in receipts] == [what, what, ""]  # the second receipt is of the same commit
    meta_json, transcript = (f"{ITEM}/{name}" for name in ("meta.json", "planning/meeting.jsonl"))
    assert git.shown(f"{ITEM}/requirements-spec.md") == before[f"{ITEM}/requirements-spec.md"]
    assert git.shown(transcript).startswith(before[transcript])
    after = json.loads(git.shown(meta_json))
    assert (after["estimate"], after["created_at"]) == ({"points": 8}, NOW)
    assert after["steps_completed"] == ["01-01", "01-02", "01-03"]
    assert git.status == []


@pytest.mark.parametrize("bad", ["{ torn", None])
@pytest.mark.parametrize("restart", [True, False])
async def test_the_time_of_creation_survives_every_rewrite(
    workspace: GitWorkspace, git: Git, bad: str | None, *, restart: bool
) -> None:
    """Also where people start over, and where somebody committed the damage."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    delete(git, f"{ITEM}/meta.json") if bad is None else git.commit(f"{ITEM}/meta.json", bad)
    created = {"description": "Offline sync", "slug": SLUG, "created_at": LATER}

    change = MetaChange(created=created, restart=restart, steps=("01-02",))
    await workspace.commit(SLUG, a_commit(2, change=change), now=LATER)

    assert json.loads(git.shown(f"{ITEM}/meta.json"))["created_at"] == NOW


async def test_what_history_never_had_cannot_be_restored(workspace: GitWorkspace, git: Git) -> None:
    """People are not offered what would not work."""
    git.commit(f"{ITEM}/meta.json", "{ torn")

    assert not (await workspace.read(SLUG, now=NOW)).restorable
    assert (await workspace.restore(SLUG, now=NOW)).state is None


async def test_a_folder_without_meta_json_gets_one(workspace: GitWorkspace, git: Git) -> None:
    """ERR-META-001: other tools make folders too."""
    git.commit(f"{ITEM}/draft.md", "by another tool\n")
    assert (await workspace.read(SLUG, now=NOW)).state is None

    receipt = await workspace.commit(SLUG, a_commit(change=MetaChange(steps=("01-01",))), now=NOW)

    assert [one.code for one in receipt.troubles] == ["ERR-META-001"]
    assert (receipt.state.meta.slug, receipt.state.meta.created_at) == (SLUG, NOW)
    assert receipt.state.meta.steps_completed == ("01-01",)


async def test_unknown_fields_of_meta_json_survive(workspace: GitWorkspace, git: Git) -> None:
    """Other tools keep their facts in it."""
    git.commit(f"{ITEM}/meta.json", '{"steps_completed": "none", "ours": {"deep": [1]}}')

    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert '"ours": {\n    "deep": [' in git.shown(f"{ITEM}/meta.json")
    assert [one.code for one in receipt.troubles] == ["ERR-META-004"]


async def test_the_last_line_is_found_in_a_long_transcript(workspace: GitWorkspace) -> None:
    """Even when that line alone is longer than what is read at first."""
    lines = (
        *(a_line(f"m{n}", "x" * 500, round=n) for n in range(1, 300)),
        a_line("end", "y" * 99_999, round=301),
    )

    receipt = await workspace.commit(SLUG, a_commit(lines=lines), now=NOW)

    assert receipt.state.last_round == 301


async def test_one_bad_artifact_does_not_stop_the_others(workspace: GitWorkspace, git: Git) -> None:
    """A folder stands where the file should be."""
    git.commit(f"{SPEC}/notes.txt", "mine")
    edits = (a_section("lost"), a_section("saved", path="other.md"))

    receipt = await workspace.commit(SLUG, a_commit(edits=edits), now=NOW)

    assert [touched.path for touched in receipt.touched] == ["other.md"]
    assert (await workspace.commit(SLUG, a_commit(2, edits=edits), now=LATER)).state.artifacts == (
        "other.md",
    )


# --- other questions ----------------------------------------------------------------------------------------------


async def test_the_backlog_is_at_the_top(workspace: GitWorkspace, git: Git) -> None:
    """Empty when there is none."""
    assert await workspace.backlog() == ""

    git.commit("BACKLOG.md", "- 1.1 [ ] Too bright\n")

    assert await workspace.backlog() == "- 1.1 [ ] Too bright\n"
