"""What a search of the code base finds, and what it leaves alone."""

from pathlib import Path

import pytest

from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.storage.git.workspace import GitWorkspace
from tests.patience import PATIENCE_SECONDS
from tests.sealing import SEAL
from tests.storage.checkout import Git
from tests.storage.samples import NOW, SLUG, a_commit, a_section


async def hits(workspace: GitWorkspace, *keywords: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    found = await workspace.survey(keywords, seconds=PATIENCE_SECONDS)
    assert found.complete
    return {one.keyword: (one.count, one.files) for one in found.hits}


async def test_a_workspace_of_items_alone_holds_no_code(workspace: GitWorkspace, git: Git) -> None:
    """Neither our files nor what every repository begins with are a code base."""
    assert await workspace.survey(("light",), seconds=PATIENCE_SECONDS) == CodeSurvey()

    await workspace.commit(SLUG, a_commit(edits=(a_section("light"),)), now=NOW)
    for name in ("README.md", "LICENSE", ".gitignore", ".github/workflows/ci.yml", "BACKLOG.md"):
        git.commit(name, "light\n")

    assert await workspace.survey(("light",), seconds=PATIENCE_SECONDS) == CodeSurvey()


async def test_hits_are_counted_where_code_is(workspace: GitWorkspace, git: Git) -> None:
    """In any case, the most hits first, and not in the items."""
    git.commit("src/light.py", "Light\nlight = LIGHT\n")
    git.commit("src/app.py", "import light\n")
    await workspace.commit(SLUG, a_commit(edits=(a_section("light"),)), now=NOW)

    found = await workspace.survey(("dark", "light"), seconds=PATIENCE_SECONDS)

    assert (found.tracked_files, found.files_found) == (2, 2)
    assert found.hits == (
        KeywordHits(keyword="light", count=3, files=("src/light.py", "src/app.py"), file_count=2),
        KeywordHits(keyword="dark", count=0),
    )


APP, LIGHT = "src/app.py", {"light": (1, ("src/app.py",))}
FOUND: dict[str, tuple[dict[str, str], dict[str, tuple[int, tuple[str, ...]]]]] = {
    "words, and no patterns, options, or what a shell would understand": (
        {APP: "a.c\n--help\n$(id)\nreview\n"},
        dict.fromkeys(("a.c", "--help", "$(id)", "review"), (1, (APP,)))
        | dict.fromkeys((".*", "-e", "; id", "HEAD"), (0, ())),
    ),
    "names in every script, and not in octal": ({"src/größe.py": "ÜBER\n"}, {"über": (1, ("src/größe.py",))}),
    "names that git reads as patterns": (
        {":!src": "light\n", APP: "light\n"},
        {"light": (2, (":!src", APP))},
    ),
    "a path with a line break in it": ({"src/a\nb.py": "light\n"}, {"light": (1, ("src/a\nb.py",))}),
}


@pytest.mark.parametrize(("files", "found"), FOUND.values(), ids=FOUND.keys())
async def test_words_and_names_are_taken_as_they_are(
    workspace: GitWorkspace, git: Git, files: dict[str, str], found: dict[str, tuple[int, tuple[str, ...]]]
) -> None:
    """A build folder is not the code base; and an index that only git can read hides no code."""
    for path, text in files.items():
        git.commit(path, text)
    git("update-index", "--split-index")
    git.write("build/app.py", "light\n")

    assert await hits(workspace, *found) == found


async def test_words_of_no_sense_are_left_out(workspace: GitWorkspace, git: Git) -> None:
    """Nothing, and what cannot be printed; and a word counts once."""
    git.commit(APP, "light\n")

    assert await hits(workspace, "", " ", "a\0b", "a\nb", "light", "light") == LIGHT


async def test_binary_and_large_files_are_not_searched(workspace: GitWorkspace, git: Git) -> None:
    """They are counted all the same."""
    git.commit("src/app.py", "light\n")
    git.commit("src/logo.bin", "light\0\n")
    git.commit("data/large [1].csv", "light\n" * 200_000)

    found = await workspace.survey(("light",), seconds=PATIENCE_SECONDS)

    assert found.tracked_files == 3
    assert found.hits == (KeywordHits(keyword="light", count=1, files=("src/app.py",), file_count=1),)


async def test_a_search_ends_in_time(workspace: GitWorkspace, git: Git) -> None:
    """With what was found until then, and saying that it is not all."""
    git.commit("src/app.py", "light\n")

    assert not (await workspace.survey(("light",), seconds=0.0001)).complete


async def test_without_git_on_the_machine_nothing_is_found(
    workspace: GitWorkspace, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Commits need no git program, and a search that cannot be made is no error."""
    git.commit("src/app.py", "light\n")
    monkeypatch.setenv("PATH", "")

    assert await workspace.survey(("light",), seconds=PATIENCE_SECONDS) == CodeSurvey(complete=False)


async def test_what_imports_a_file_or_changed_with_it_is_related(workspace: GitWorkspace, git: Git) -> None:
    """Where to look first, and why; our own files are no part of it."""
    git.commit("src/lamp.py", "light = 1\n")
    git.commit("src/room.py", "from src.lamp import x\n")
    git.commit("src/lampshade.py", "import lampshade_of\n")
    for number in range(2):
        git.write("src/lamp.py", f"light = {number}2\n")
        git.write("docs/lamp.md", f"{number}\n")
        git.commit_all("together")

    found = await workspace.survey(("light",), seconds=PATIENCE_SECONDS)

    assert {one.path: one.why for one in found.related} == {
        "src/lamp.py": "has light",
        "src/room.py": "imports src/lamp.py",
        "docs/lamp.md": "changed together with src/lamp.py in 2 commits",
    }


async def test_a_word_that_is_everywhere_relates_nothing(workspace: GitWorkspace, git: Git) -> None:
    """It is a word of the language: its hits are told, and no more."""
    for number in range(10):
        git.commit(f"src/part{number}.py", "the\n")

    found = await workspace.survey(("the",), seconds=PATIENCE_SECONDS)

    assert [one.file_count for one in found.hits] == [10]
    assert found.related == ()


async def test_a_partial_clone_has_the_whole_code_base(git: Git, tmp_path: Path) -> None:
    """It has the names of all files, and git fetches the content that is missing."""
    git.begin()
    git.commit("src/app.py", "light\n")
    git.commit("src/room.py", "from src.app import light\n")
    git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git("clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{git.root}", str(partial))

    async with GitWorkspace(partial, seal=SEAL) as workspace:
        found = await workspace.survey(("light",), seconds=PATIENCE_SECONDS)

    assert found.tracked_files == 2
    assert [(one.keyword, one.count) for one in found.hits] == [("light", 2)]
    assert [one.path for one in found.related] == ["src/app.py", "src/room.py"]
