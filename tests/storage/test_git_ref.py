"""Git is a ref and not a folder: what people do with git beside the bot, case by case."""

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.domain.item.item_paths import SHARED
from bot.domain.item.meta import MetaChange
from bot.domain.roundtable.outcomes import PutBack
from bot.domain.transcript import lines
from bot.domain.transcript.last_line import LastLine
from bot.domain.transcript.seal import read_chain
from bot.errors import ConfigError, WorkspaceError
from bot.storage.git.reader import inspected
from bot.storage.git.sync import SyncResult
from bot.storage.git.workspace import GitWorkspace
from tests.sealing import SEAL, TRUSTED
from tests.storage.checkout import Git
from tests.storage.clones import ITEM, SPEC, TRANSCRIPT, Opening, Replica, assert_at_one
from tests.storage.samples import NOW, SLUG, a_commit, a_line, a_section, state_of

LONG_AGO = 1_000_000_000
ITEMS = "docs/requirements"
Change = Callable[[Git], object]


def ids(git: Git, branch: str = "HEAD") -> list[str]:
    """Of the lines at the tip."""
    return [line.message_id for line in lines.read(git("show", f"{branch}:{TRANSCRIPT}").encode())]


async def step(workspace: GitWorkspace, *numbers: int) -> None:
    for number in numbers:
        edit = a_section(f"Step {number}.", heading=f"{number}. Part", path=f"part-{number}.md")
        change = MetaChange(steps=(f"01-{number:02}",), created={"slug": SLUG} if number == 1 else None)
        await workspace.commit(SLUG, a_commit(number, edits=(edit,), change=change), now=NOW)


# --- where the bot starts ---------------------------------------------------------------------------------------------


def detached(git: Git) -> Path:
    git("switch", "--quiet", "--detach")
    return git.root


def subfolder(git: Git) -> Path:
    return git.root / "src"


def submodule(git: Git) -> Path:
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},docs")
    git("commit", "--quiet", "-m", "a submodule")
    return git.root


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (detached, "has no branch checked out"),
        (subfolder, "lies inside the repository"),
        (submodule, "docs is a submodule, which belongs to another repository"),
    ],
)
async def test_what_cannot_be_a_workspace_is_refused_at_the_start(
    git: Git, make: Callable[[Git], Path], sentence: str
) -> None:
    """In one sentence, and nothing is changed."""
    git.begin()
    git.commit("src/app.py", "print()\n")
    root, before = make(git), git("rev-parse", "HEAD")

    with pytest.raises(ConfigError, match=sentence):
        await GitWorkspace(root, seal=SEAL).__aenter__()

    assert git("rev-parse", "HEAD") == before


def bare(git: Git, folder: Path) -> Path:
    git("clone", "--quiet", "--bare", str(git.root), str(folder))
    return folder


def linked(git: Git, folder: Path) -> Path:
    git("worktree", "add", "--quiet", "-b", "items", str(folder))
    return folder


def shallow(git: Git, folder: Path) -> Path:
    git("clone", "--quiet", "--depth=1", f"file://{git.root}", str(folder))
    return folder


def split_index(git: Git, folder: Path) -> Path:
    git("clone", "--quiet", str(git.root), str(folder))
    Git(folder)("update-index", "--split-index")
    return folder


def sparse(git: Git, folder: Path) -> Path:
    git("clone", "--quiet", str(git.root), str(folder))
    Git(folder)("sparse-checkout", "set", "--no-cone", "/docs/")
    return folder


def on_a_branch(git: Git, _folder: Path) -> Path:
    git("switch", "--quiet", "--create", "feature/light")
    return git.root


def without_a_commit(_git: Git, folder: Path) -> Path:
    Git(folder).begin()
    Git(folder)("symbolic-ref", "HEAD", "refs/heads/trunk")
    return folder


def folder_with_files(_git: Git, folder: Path) -> Path:
    Git(folder).write("notes.txt", "mine")
    return folder


def ignored_by_the_one_around_it(git: Git, _folder: Path) -> Path:
    git.write(".gitignore", "/below/\n")
    return git.root / "below"


@pytest.mark.parametrize(
    ("make", "branch"),
    [
        (bare, "main"),
        (linked, "items"),
        (shallow, "main"),
        (split_index, "main"),
        (sparse, "main"),
        (on_a_branch, "feature/light"),
        (without_a_commit, "trunk"),
        (folder_with_files, "main"),
        (ignored_by_the_one_around_it, "main"),
    ],
)
async def test_any_form_of_a_repository_is_a_workspace(
    git: Git, tmp_path: Path, make: Callable[[Git, Path], Path], branch: str
) -> None:
    """Commits go on its branch, a checkout shows them, and git has nothing to say of files but a person's own."""
    git.begin()
    git.commit("src/app.py", "one\n")
    git.commit("src/app.py", "two\n")
    other = Git(make(git, tmp_path / "other"))

    async with GitWorkspace(other.root, seal=SEAL) as workspace:
        await step(workspace, 1, 2)
    async with GitWorkspace(other.root, seal=SEAL) as workspace:
        assert (await workspace.items())[0].steps_completed == 2
        assert await workspace.files(SLUG, ("part-2.md",))

    assert ids(other) == ["C1.1", "C1.2"]
    assert other("symbolic-ref", "--short", "HEAD").strip() == branch
    assert make is bare or other.status == (["?? notes.txt"] if make is folder_with_files else [])
    assert make is bare or (other.root / ITEM / "part-2.md").read_text().endswith("Step 2.\n")


# --- what people did not commit ---------------------------------------------------------------------------------------


def change(git: Git) -> None:
    git.write(SPEC, "mine\n")


def stage(git: Git) -> None:
    change(git)
    git("add", "--", SPEC)


def stage_and_change(git: Git) -> None:
    stage(git)
    git.write(SPEC, "more of mine\n")


def stage_a_deletion(git: Git) -> None:
    git("rm", "--quiet", "--cached", "--", SPEC)
    git.write(SPEC, "mine\n")


@pytest.mark.parametrize(
    ("do", "status"),
    [
        (change, [f" M {SPEC}"]),
        (stage, [f"M  {SPEC}"]),
        (stage_and_change, [f"MM {SPEC}"]),
        (stage_a_deletion, [f"D  {SPEC}", f"?? {SPEC}"]),
    ],
)
async def test_what_is_not_committed_is_neither_read_nor_overwritten_nor_committed(
    workspace: GitWorkspace, git: Git, do: Change, status: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The commit is made of what was committed; what is staged stays staged; one line of the log names the file."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    do(git)
    mine = (git.root / SPEC).read_text()

    for number in (2, 3):
        await workspace.commit(SLUG, a_commit(number), now=NOW)

    assert "What we know after step 3." in git.shown(SPEC)
    assert "mine" not in git.shown(SPEC)
    assert (git.root / SPEC).read_text() == mine
    assert git.status == status
    assert caplog.text.count("people changed these files") == 1
    assert SPEC in " ".join(inspected(git.root, ITEMS).notes)


async def test_a_name_is_one_line_for_an_operator(workspace: GitWorkspace, git: Git) -> None:
    """Whatever characters a person who pushes gives a file."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    path = f"docs/requirements/{SLUG}/a\n\x1b[2Jb.md"
    git.commit(path, "one\n")
    git.write(path, "two\n")

    (note,) = inspected(git.root, ITEMS).notes
    assert note.startswith(f"docs/requirements/{SLUG}/a [2Jb.md has changes")


async def test_a_new_file_of_a_person_stays(workspace: GitWorkspace, git: Git) -> None:
    """Where a commit brings a file, and somebody has written one there that git does not know."""
    git.write(SPEC, "mine\n")

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert (git.root / SPEC).read_text() == "mine\n"
    assert git.status == [f" M {SPEC}"]


async def test_the_checkout_shows_the_rest_meanwhile(workspace: GitWorkspace, git: Git) -> None:
    """One file in the way keeps no other from being shown, and it follows when the person is done."""
    await step(workspace, 1)
    git.write(f"{ITEM}/meta.json", "{}")
    await step(workspace, 2)
    assert (git.root / ITEM / "part-2.md").exists()
    assert git.status == [f" M {ITEM}/meta.json"]

    git("checkout", "--quiet", "--", ITEM)
    await step(workspace, 3)

    assert git.status == []
    assert '"01-03"' in (git.root / ITEM / "meta.json").read_text()


# --- lines ------------------------------------------------------------------------------------------------------------


DAMAGE: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
    "edited": (lambda rows: [rows[0].replace("bright", "dark"), *rows[1:]], 1),
    "removed": (lambda rows: [rows[0], rows[2]], 1),
    "removed at the end": (lambda rows: rows[:2], 1),
    "moved": (lambda rows: [rows[2], rows[0], rows[1]], 0),
    "torn": (lambda rows: [rows[0], rows[1][:-20] + "\n", rows[2]], 1),
    "torn at the beginning": (lambda rows: [rows[0][:-20] + "\n", *rows[1:]], 1),
    "torn at the end": (lambda rows: [*rows[:2], rows[2][:-20]], 1),
    "begun again": (lambda rows: [*rows, '{"ts": "2026-11-'], 0),
    "twice": (lambda rows: [*rows, *rows], 0),
    "other line ends": (lambda rows: [row.replace("\n", "\r\n") for row in rows], 0),
    "zeros": (lambda rows: [rows[0], "\0" * 50 + "\n", rows[2]], 1),
    "emptied": (lambda _: [""], 3),
}
"""And how many lines are lost by it."""


@pytest.mark.parametrize(("damage", "lost"), DAMAGE.values(), ids=DAMAGE.keys())
async def test_lines_of_ours_come_back(
    workspace: GitWorkspace, git: Git, damage: Callable[[list[str]], list[str]], lost: int
) -> None:
    """Where sealed ones of our last commit are missing, the next one has them; the receipt names the edit, once."""
    work = a_commit(lines=tuple(a_line(f"C1.{number}", round=number) for number in (1, 2, 3)))
    await workspace.commit(SLUG, work, now=NOW)
    rows = git.shown(TRANSCRIPT).splitlines(keepends=True)
    git.commit(TRANSCRIPT, "".join(damage(rows)))
    edit = git("rev-parse", "--short=7", "HEAD").strip()

    after = a_commit(4, lines=(a_line("C1.4", round=4),))
    receipts = [await workspace.commit(SLUG, after, now=NOW) for _ in range(2)]
    receipts.append(await workspace.commit(SLUG, a_commit(5), now=NOW))

    assert set(rows) <= set(git.shown(TRANSCRIPT).replace("\r", "").splitlines(keepends=True))
    chain = read_chain(git.shown(TRANSCRIPT).encode(), TRUSTED)
    assert [line.message_id for line in chain.sealed_lines] == ["C1.1", "C1.2", "C1.3", "C1.4", "C1.5"]
    assert chain.flaws == ()
    told = PutBack(lines=lost, commit=edit) if lost else None
    assert [receipt.put_back for receipt in receipts] == [told, told, None]
    assert git.status == []


async def test_lines_come_back_after_a_commit_of_another_item(workspace: GitWorkspace, git: Git) -> None:
    """That commit is built on the damage, too."""
    await workspace.commit(SLUG, a_commit(lines=(a_line("C1.1"), a_line("C1.2"))), now=NOW)
    first, second = git.shown(TRANSCRIPT).splitlines()
    git.commit(TRANSCRIPT, f"{first}\n")
    await workspace.commit("quiet-morning", a_commit(id="quiet-morning.i1.1"), now=NOW)

    receipt = await workspace.commit(SLUG, a_commit(3), now=NOW)

    assert git.shown(TRANSCRIPT).splitlines()[1] == second
    assert receipt.put_back


async def test_lines_and_notes_of_others_stay_where_they_are(workspace: GitWorkspace, git: Git) -> None:
    """Also where a line of ours before them comes back."""
    await workspace.commit(SLUG, a_commit(lines=(a_line("C1.1"), a_line("C1.2"))), now=NOW)
    first, second = git.shown(TRANSCRIPT).splitlines()
    theirs = first.replace("C1.1", "X1.1")
    git.commit(TRANSCRIPT, f"{theirs}\na note\n{second}\n")

    await workspace.commit(SLUG, a_commit(3), now=NOW)

    assert git.shown(TRANSCRIPT).splitlines()[:4] == [theirs, "a note", first, second]


# --- the branch -------------------------------------------------------------------------------------------------------


def moved_back(git: Git) -> None:
    git("reset", "--quiet", "--hard", "HEAD~3")


def moved_back_under_the_files(git: Git) -> None:
    git("reset", "--quiet", "--soft", "HEAD~3")


def moved_back_under_the_index(git: Git) -> None:
    git("reset", "--quiet", "--mixed", "HEAD~3")


def moved_back_and_on(git: Git) -> None:
    moved_back(git)
    git.commit("src/app.py", "print()\n")
    git.commit(f"{ITEM}/notes.md", "mine\n")


def squashed(git: Git) -> None:
    git("reset", "--quiet", "--soft", "HEAD~3")
    git("commit", "--quiet", "-m", "squashed")


def reverted(git: Git) -> None:
    git("revert", "--no-edit", "HEAD~2..HEAD")


def begun_anew(git: Git) -> None:
    git("checkout", "--quiet", "--orphan", "anew")
    git("rm", "--quiet", "-r", "-f", ".")
    git.commit("README.md", "anew\n")
    git("branch", "--quiet", "-M", "anew", "main")


MOVES = [
    moved_back,
    moved_back_under_the_files,
    moved_back_under_the_index,
    moved_back_and_on,
    squashed,
    begun_anew,
]


@pytest.mark.parametrize("move", [*MOVES, reverted])
async def test_the_branch_is_followed_and_what_we_wrote_comes_back(
    workspace: GitWorkspace, git: Git, move: Change
) -> None:
    """
    Whatever people did to it: the next commit is on top of theirs, and has every line once, in order. Progress and
    artifacts come back as well, but for those of a revert; what people committed since then stays.
    """
    await step(workspace, 1, 2, 3, 4)
    move(git)
    theirs = git("rev-parse", "HEAD").strip()

    await step(workspace, 5)

    assert ids(git) == ["C1.1", "C1.2", "C1.3", "C1.4", "C1.5"]
    assert git("merge-base", "HEAD", theirs).strip() == theirs
    assert git.status == []
    git("fsck", "--strict")
    if move is not reverted:
        texts = [git.shown(f"{ITEM}/part-{n}.md")[-8:] for n in range(1, 6)]
        assert texts == [f"Step {n}.\n" for n in range(1, 6)]
        done = (await state_of(workspace)).meta.steps_completed
        assert done == ("01-01", "01-02", "01-03", "01-04", "01-05")
    if move is moved_back:
        told = git(
            "log", "-1", "--skip=1", "--format=%(trailers:key=Roundtable-Step,valueonly,separator=%x2C)"
        )
        assert told.strip() == "01-02,01-03,01-04"
    if move is moved_back_and_on:
        assert git.shown("src/app.py") == "print()\n"
        assert git.shown(f"{ITEM}/notes.md") == "mine\n"


async def test_lines_of_a_revert_are_not_taken_for_lost(workspace: GitWorkspace, git: Git) -> None:
    """The branch still has our commit, so the receipt names the edit."""
    await step(workspace, 1)
    known = (await workspace.commit(SLUG, a_commit(2), now=NOW)).last_line
    git("revert", "--no-edit", "HEAD")
    edit = git("rev-parse", "HEAD").strip()

    reading = await workspace.read(SLUG, now=NOW, after=known)
    receipt = await workspace.commit(SLUG, a_commit(3), now=NOW, after=known)

    assert not reading.lost
    assert receipt.put_back == PutBack(lines=1, commit=edit[:7])
    assert ids(git) == ["C1.1", "C1.2", "C1.3"]


async def test_lines_that_come_back_beside_others_go_on_with_one_chain(
    workspace: GitWorkspace, git: Git
) -> None:
    """Another copy of the bot wrote on where ours had been."""
    await step(workspace, 1, 2)
    ours = git("rev-parse", "HEAD").strip()
    git("reset", "--quiet", "--hard", "HEAD~1")
    git("update-ref", "-d", "refs/roundtable/last/main")
    await step(workspace, 3)
    git("update-ref", "refs/roundtable/last/main", ours)

    await step(workspace, 4)

    chain = read_chain(git.shown(TRANSCRIPT).encode(), TRUSTED)
    assert [line.message_id for line in chain.sealed_lines] == ["C1.1", "C1.3", "C1.2", "C1.4"]
    assert chain.flaws == ()


async def test_every_item_comes_back_with_the_next_commit(workspace: GitWorkspace, git: Git) -> None:
    """Each in a commit of its own: our last commit had them all."""
    await step(workspace, 1)
    await workspace.commit("quiet-morning", a_commit(id="quiet-morning.i1.1"), now=NOW)
    git("update-ref", "-d", "refs/heads/main")
    git("rm", "--quiet", "-r", "--cached", ".")

    await step(workspace, 2)

    assert {found.known.slug for found in await workspace.items()} == {SLUG, "quiet-morning"}
    assert ids(git) == ["C1.1", "C1.2"]


async def test_the_file_that_items_share_comes_back_too(workspace: GitWorkspace, git: Git) -> None:
    """It lies in the folder of none of them."""
    await step(workspace, 1)
    for number, slug in enumerate((SLUG, "quiet-morning"), start=2):
        rows = a_section(f"Rows of {slug}.", heading=f"NFRs of {slug}", path=SHARED)
        commit = a_commit(number, id=f"{slug}.i1.{number}", edits=(rows,))
        await workspace.commit(slug, commit, now=NOW)
    had = git.shown(SHARED)
    git("reset", "--quiet", "--hard", "HEAD~2")

    await step(workspace, 4)

    assert "Rows of quiet-morning." in had
    assert git.shown(SHARED) == had
    assert git.status == []


@pytest.mark.parametrize("change", ["edited", "left"])
async def test_the_shared_file_of_others_stays_theirs(workspace: GitWorkspace, git: Git, change: str) -> None:
    """Who wrote in it after the branch went back has the last word; a branch that lost no row of it keeps it."""
    await step(workspace, 1)
    git.commit(SHARED, "# Ours\n")
    await step(workspace, 2)
    git("reset", "--quiet", "--hard", "HEAD~1")
    if change == "edited":
        git.commit(SHARED, "# Changed\n")

    await step(workspace, 3)

    assert git.shown(SHARED) == ("# Changed\n" if change == "edited" else "# Ours\n")
    assert ids(git) == ["C1.1", "C1.2", "C1.3"]


async def test_a_reader_finds_what_the_branch_lost(workspace: GitWorkspace, git: Git) -> None:
    """Whoever resumes is not asked again what is done."""
    await step(workspace, 1, 2)
    known = (await workspace.commit(SLUG, a_commit(3), now=NOW)).last_line
    git("reset", "--quiet", "--hard", "HEAD~2")

    reading = await workspace.read(SLUG, now=NOW, after=known)

    assert reading.state
    assert reading.state.meta.steps_completed == ("01-01", "01-02", "01-03")
    assert (reading.state.behind, reading.lost) == (False, False)


async def test_what_git_does_not_have_any_more_is_said(tmp_path: Path) -> None:
    """The node is lost, the store is not: the next receipt says so, once."""
    async with GitWorkspace(tmp_path / "one", seal=SEAL) as workspace:
        known = (await workspace.commit(SLUG, a_commit(), now=NOW)).last_line
    async with GitWorkspace(tmp_path / "two", seal=SEAL) as workspace:
        first = await workspace.commit(SLUG, a_commit(2), now=NOW, after=known)
        second = await workspace.commit(SLUG, a_commit(3), now=NOW, after=first.last_line)

    assert (first.state.behind, first.lost) == (True, True)
    assert (second.state.behind, second.lost) == (False, False)


async def test_another_branch_may_be_checked_out(workspace: GitWorkspace, git: Git) -> None:
    """Commits go on to the branch of the start, the checkout is not touched, `check` says so."""
    await step(workspace, 1)
    git("switch", "--quiet", "--create", "topic")
    mine = git.commit("src/app.py", "print()\n")

    await step(workspace, 2)

    assert git("rev-parse", "HEAD").strip() == mine
    assert git.status == []
    assert ids(git, "main") == ["C1.1", "C1.2"]
    assert (
        "topic is checked out, and a bot that runs goes on to commit to main."
        in inspected(git.root, ITEMS).notes
    )
    git("switch", "--quiet", "main")
    await step(workspace, 3)
    assert git.status == []
    assert (git.root / ITEM / "part-3.md").exists()


async def test_a_detached_head_stops_nothing(workspace: GitWorkspace, git: Git) -> None:
    """People look at an old state, and the branch goes on."""
    await step(workspace, 1, 2)
    git("switch", "--quiet", "--detach", "HEAD~1")

    await step(workspace, 3)

    assert git.status == []
    assert not (git.root / ITEM / "part-2.md").exists()
    assert ids(git, "main") == ["C1.1", "C1.2", "C1.3"]
    assert (await workspace.read(SLUG, now=NOW)).state


# --- links and special files ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [SPEC, f"{ITEM}/meta.json", TRANSCRIPT, f"{ITEM}/planning", ITEM, ITEMS, "docs"]
)
async def test_a_link_in_the_tree_is_replaced_and_never_followed(
    workspace: GitWorkspace, git: Git, tmp_path: Path, path: str
) -> None:
    """Ours is a file again in the next commit; nothing is written or read where the link points to."""
    await workspace.commit(SLUG, a_commit(), now=NOW)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "requirements-spec.md").write_text("secret\n")
    git("rm", "--quiet", "-r", "--", path)
    (git.root / path).parent.mkdir(parents=True, exist_ok=True)
    (git.root / path).symlink_to(outside)
    git("add", "--", path)
    git("commit", "--quiet", "-m", "a link")
    assert "secret" not in str(await workspace.files(SLUG, ("requirements-spec.md",)))

    await workspace.commit(SLUG, a_commit(2), now=NOW, after=LastLine(id="C1.1"))

    assert "What we know after step 2." in git.shown(SPEC)
    assert git("ls-tree", "HEAD", path).split()[0] in {"100644", "040000"}
    assert [file.name for file in outside.iterdir()] == ["requirements-spec.md"]
    assert (outside / "requirements-spec.md").read_text() == "secret\n"


@pytest.mark.parametrize("path", [SPEC, f"{ITEM}/planning", ITEM, ITEMS, "docs"])
async def test_a_link_in_the_checkout_alone_is_left(
    workspace: GitWorkspace, git: Git, tmp_path: Path, path: str
) -> None:
    """A person put it there; the commit has what it should."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (git.root / path).parent.mkdir(parents=True, exist_ok=True)
    (git.root / path).symlink_to(outside)

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert "What we know after step 1." in git.shown(SPEC)
    assert (git.root / path).is_symlink()
    assert list(outside.iterdir()) == []


async def test_a_pipe_in_the_checkout_is_left(workspace: GitWorkspace, git: Git) -> None:
    """Reading it would wait until a program writes to it."""
    git.root.joinpath(ITEM).mkdir(parents=True)
    os.mkfifo(git.root / SPEC)

    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert (git.root / SPEC).is_fifo()
    assert "What we know after step 1." in git.shown(SPEC)


async def test_a_submodule_in_the_place_of_an_item_is_left_alone(workspace: GitWorkspace, git: Git) -> None:
    """It belongs to another repository, and a commit would take it away."""
    git.commit("README.md", "ours\n")
    git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},{ITEM}")
    git("commit", "--quiet", "-m", "a submodule")

    with pytest.raises(WorkspaceError, match=f"{ITEM} is a submodule, which belongs to another repository"):
        await workspace.commit(SLUG, a_commit(), now=NOW)

    assert git("ls-tree", "HEAD", ITEM).startswith("160000 commit")


async def test_a_pointer_to_a_large_file_is_kept_and_named(workspace: GitWorkspace, git: Git) -> None:
    """Its content is not here, so an edit cannot be made; the rest is saved."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1234\nsize 5\n"
    git.commit(SPEC, pointer)

    receipt = await workspace.commit(SLUG, a_commit(), now=NOW)

    assert ("ERR-ART-002", {"artifact_name": "requirements-spec.md"}) in [
        (found.code, dict(found.facts)) for found in receipt.troubles
    ]
    assert git.shown(SPEC) == pointer
    assert receipt.state.meta.steps_completed == ("01-01",)


# --- git's own files --------------------------------------------------------------------------------------------------


@contextmanager
def a_git_at_work(git: Git) -> Iterator[None]:
    running = subprocess.Popen(["git", "cat-file", "--batch"], cwd=git.root, stdin=subprocess.PIPE)
    try:
        yield
    finally:
        running.communicate()


async def test_an_index_that_is_held_delays_no_commit(workspace: GitWorkspace, git: Git) -> None:
    """A person's editor is open: the branch moves, and the checkout follows with the next commit."""
    await step(workspace, 1)
    with a_git_at_work(git):
        lock = git.write(".git/index.lock", "")
        await step(workspace, 2)
        assert lock.exists()
        lock.unlink()

    await step(workspace, 3)

    assert ids(git) == ["C1.1", "C1.2", "C1.3"]
    assert git.status == []


async def test_a_missing_index_takes_nothing_away(workspace: GitWorkspace, git: Git) -> None:
    """It is made of what the branch had, so that no file counts as deleted."""
    await step(workspace, 1)
    git.commit("src/app.py", "one\n")
    git.write("src/app.py", "mine\n")
    (git.root / ".git/index").unlink()

    await step(workspace, 2)

    assert git.status == [" M src/app.py"]


async def test_locks_that_a_kill_left_are_removed(git: Git) -> None:
    """Each of them would stop every later git."""
    async with GitWorkspace(git.root, seal=SEAL) as workspace:
        await step(workspace, 1)
    for name in ("refs/heads/main", "packed-refs", "config", "HEAD"):
        os.utime(git.write(f".git/{name}.lock", ""), (LONG_AGO, LONG_AGO))

    async with GitWorkspace(git.root, seal=SEAL) as workspace:
        await step(workspace, 2)

    assert list((git.root / ".git").rglob("*.lock")) == []


async def test_a_branch_that_is_held_is_waited_for_and_then_given_up(
    workspace: GitWorkspace, git: Git
) -> None:
    """The work stays with who asked, and is worth trying again."""
    lock = git.write(".git/refs/heads/main.lock", "")

    with pytest.raises(WorkspaceError, match="does not let go") as refused:
        await workspace.commit(SLUG, a_commit(), now=NOW)
    lock.unlink()
    await workspace.commit(SLUG, a_commit(), now=NOW)

    assert (refused.value.reason, refused.value.again) == ("locked", True)
    assert git.status == []


async def test_what_a_commit_needs_survives_the_tidying_of_git(workspace: GitWorkspace, git: Git) -> None:
    """Our last commit is named by a reference, so what a branch lost is not pruned."""
    await step(workspace, 1, 2)
    git("reset", "--quiet", "--hard", "HEAD~1")
    git("reflog", "expire", "--expire=now", "--all")
    git("gc", "--quiet", "--prune=now")

    await step(workspace, 3)

    assert ids(git) == ["C1.1", "C1.2", "C1.3"]


# --- at the same time -------------------------------------------------------------------------------------------------


async def test_two_processes_share_a_repository(git: Git) -> None:
    """Every commit of both is there, in one line."""
    async with (
        GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as one,
        GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as other,
    ):
        await asyncio.gather(
            *(
                (one, other)[number % 2].commit(f"item-{number}", a_commit(number), now=NOW)
                for number in range(20)
            )
        )

    assert len(git.subjects) == 20
    assert git("log", "--merges", "--format=%H") == ""
    assert git.status == []


async def test_people_and_the_bot_lose_nothing_to_each_other(git: Git) -> None:
    """Both commit as fast as they can, and a person tries again when git refuses."""
    async with GitWorkspace(git.root, lock_seconds=20, seal=SEAL) as workspace:
        await workspace.commit(SLUG, a_commit(), now=NOW)
        person = asyncio.create_task(asyncio.to_thread(commit_by_hand, git, 20))
        number = 1
        while not person.done():
            number += 1
            await workspace.commit(SLUG, a_commit(number), now=NOW)
        await person
        await workspace.commit(SLUG, a_commit(number + 1), now=NOW)

    ours = [a_commit(one).subject for one in range(1, number + 2)]
    assert sorted(git.subjects) == sorted([*ours, *(f"by hand {one}" for one in range(20))])
    assert ids(git) == [f"C1.{one}" for one in range(1, number + 2)]


def commit_by_hand(git: Git, times: int) -> None:
    for number in range(times):
        while True:
            try:
                git("commit", "--quiet", "--allow-empty", "-m", f"by hand {number}")
            except AssertionError:
                continue
            break


# --- what is not pushed -----------------------------------------------------------------------------------------------


def unpushed(git: Git) -> int:
    return len(git("for-each-ref", "--format=%(refname)", "refs/roundtable/unpushed").split())


async def test_what_is_not_pushed_is_kept_as_the_work_it_was(
    replica: Replica, person: Git, remote: Git
) -> None:
    """It is applied again on what a person pushed meanwhile, into the same file; then it need not be kept."""
    await replica.commit()
    await replica.sync.once()
    person("pull", "--quiet")
    person.push(SPEC, (person.root / SPEC).read_text() + "\n## 9. Notes\n\nby hand\n")
    await replica.commit(2, edits=(a_section("users", heading="2. Users"),))
    assert unpushed(replica.git) == 1

    assert await replica.sync.once() == SyncResult.PUSHED

    assert unpushed(replica.git) == 0
    assert all(part in replica.git.shown(SPEC) for part in ("after step 1.", "users", "by hand"))
    assert_at_one(remote, replica.git)


async def test_reviews_of_two_clones_get_numbers_of_their_own(
    replica: Replica, remote: Git, open_replica: Opening
) -> None:
    """Both were the first where they were written."""
    await replica.commit()
    await replica.sync.once()
    async with open_replica("two") as other:
        await other.sync.once()
        for clone, text in ((replica, b"Fine.\n"), (other, b"Not fine.\n")):
            await clone.workspace.keep(SLUG, text, now=NOW)
        for clone in (replica, other, replica):
            await clone.sync.once()

        found = [review.content for review in await replica.workspace.newest(SLUG, 5)]
        assert found == [b"Fine.\n", b"Not fine.\n"]
        assert_at_one(remote, replica.git, other.git)
