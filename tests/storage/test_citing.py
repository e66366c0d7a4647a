"""Which code names entries: what git tracks, what commits say, and who wrote a line."""

from pathlib import Path

import pytest

from bot.domain.specification.citations import CitingRow
from bot.errors import WorkspaceError
from bot.storage.git.citing import BranchChanges, CitingCode
from tests.storage.checkout import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    git = Git(tmp_path / "code")
    git.begin()
    return git


@pytest.fixture
def code(git: Git) -> CitingCode:
    return CitingCode(git.root)


async def test_rows_of_tracked_text_are_found_wherever_they_are(git: Git, code: CitingCode) -> None:
    """Also in files with odd names, before they are committed; never in binary files or in what git does not know."""
    git.commit("src/limit.py", "x = 1\n# limits/FR-001 and more\n")
    git.commit("odd\nname.txt", "one\nFR-002\n")
    git.commit("latin.txt", "FR-003")
    (git.root / "latin.txt").write_bytes(b"caf\xe9 FR-003")
    git.commit("specs/001.md", "FR-004\n")
    git.write("unknown.txt", "FR-005\n")
    (git.root / "picture.png").write_bytes(b"\x89PNG\0\0 FR-006")
    git("add", "picture.png")

    assert set(await code.rows(without=("specs",))) == {
        CitingRow("src/limit.py", 2, "# limits/FR-001 and more"),
        CitingRow("odd\nname.txt", 2, "FR-002"),
        CitingRow("latin.txt", 1, "caf\ufffd FR-003"),
    }
    assert await code.rows(within="specs/001.md") == (CitingRow("specs/001.md", 1, "FR-004"),)


async def test_settings_of_a_user_do_not_change_what_is_read(git: Git, code: CitingCode) -> None:
    git.commit("src/limit.py", "# FR-001\n", message="Begin\n\nImplements: FR-001")
    before = await code.rows(), await code.commits(), await code.last_changed(["src/limit.py"])
    for name, value in (
        ("grep.column", "true"), ("grep.patternType", "fixed"), ("color.ui", "always"), ("log.follow", "true"),
        ("log.showSignature", "true"), ("core.quotePath", "true"),
    ):  # fmt: skip
        git("config", name, value)

    after = await code.rows(), await code.commits(), await code.last_changed(["src/limit.py"])
    assert after == before
    assert before[0] == (CitingRow("src/limit.py", 1, "# FR-001"),)


async def test_commits_are_found_by_what_they_cite_and_by_blame(git: Git, code: CitingCode) -> None:
    """A merge counts, too: it often has the text of a pull request."""
    first = git.commit("a.txt", "one\n", message="Begin")
    git("checkout", "-q", "-b", "work")
    second = git.commit("a.txt", "one\ntwo\n", message="Go on\n\nImplements: limits/FR-001")
    git("checkout", "-q", "main")
    git("merge", "-q", "--no-ff", "-m", "Merge\n\nRefs: limits/DEC-001", "work")
    merge = git("rev-parse", "HEAD").strip()

    assert {one.sha: one.message.split()[-1] for one in await code.commits()} == {
        second: "limits/FR-001",
        merge: "limits/DEC-001",
    }
    assert await code.blamed("a.txt", 2) == (second,)
    assert set(await code.blamed("a.txt")) == {first, second}
    assert await code.since(first) == BranchChanges(frozenset({"a.txt"}), frozenset({second, merge}))


async def test_files_have_the_time_of_their_last_commit(git: Git, code: CitingCode) -> None:
    """Names are no patterns, and many of them are asked for in several calls."""
    git.commit("a[1].txt", "one\n")
    git.commit("a1.txt", "two\n")
    git.write("new.txt", "three\n")
    git("add", "new.txt")
    many = [f"src/{number}.py" for number in range(1_200)]

    at = float(git("log", "-1", "--format=%ct", "--", ":(literal)a[1].txt"))
    assert await code.last_changed([*many, "a[1].txt", "new.txt"]) == {"a[1].txt": at}
    assert await code.files() == {"a[1].txt", "a1.txt", "new.txt"}


async def test_a_clone_without_a_commit_cites_nothing(code: CitingCode) -> None:
    assert await code.commits() == ()
    assert await code.rows() == ()
    assert await code.last_changed(["a.txt"]) == {}


@pytest.mark.parametrize("base", ["nothing", "--all", "HEAD:a.txt", ""])
async def test_what_git_refuses_is_one_sentence(git: Git, code: CitingCode, base: str) -> None:
    git.commit("a.txt", "one\n")

    with pytest.raises(WorkspaceError, match=r"^There is no commit .+ in this clone\.$"):
        await code.since(base)
    with pytest.raises(WorkspaceError, match=r"^file a.txt has only 1 line"):
        await code.blamed("a.txt", 9)


async def test_the_top_of_a_clone_is_found_from_below(git: Git, tmp_path: Path) -> None:
    git.commit("src/deep/a.txt", "one\n")
    assert await CitingCode(git.root / "src/deep").top() == git.root.resolve()

    with pytest.raises(WorkspaceError, match=r"^There is no git repository with files at "):
        await CitingCode(tmp_path).top()


async def test_a_shallow_clone_is_known(git: Git, tmp_path: Path) -> None:
    git.commit("a.txt", "one\n")
    git.commit("a.txt", "two\n")
    git("clone", "--quiet", "--depth", "1", f"file://{git.root}", str(tmp_path / "shallow"))

    assert await CitingCode(tmp_path / "shallow").is_shallow()
    assert not await CitingCode(git.root).is_shallow()
