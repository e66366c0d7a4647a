"""Trees that are changed entry by entry are the trees that git itself would make."""

import subprocess
from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pygit2 import IndexEntry, Oid
from pygit2.enums import FileMode

from bot.storage.git.objects import Entry, Objects, RawTrees, changes

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NAMES = ("a", "a-b", "a.b", "a0", "ab", "B", "z", "ä")
"""A folder is sorted as if its name ended in a slash, which comes after `-` and `.`, and before `0`."""
MODES = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE, FileMode.LINK)
Files = dict[str, tuple[bytes, FileMode]]


@pytest.fixture
def repository(tmp_path: Path) -> pygit2.Repository:
    return pygit2.init_repository(tmp_path)


@pytest.fixture
def trees(repository: pygit2.Repository) -> RawTrees:
    return RawTrees(repository, Objects(Path(repository.path) / "objects"))


def by_git(repository: pygit2.Repository, files: Files) -> Oid:
    """The tree of *files*, as an index writes it."""
    index = pygit2.Index()
    for path, (content, mode) in files.items():
        index.add(IndexEntry(path, repository.create_blob(content), mode))
    return index.write_tree(repository)


def tree_of(repository: pygit2.Repository, made: Oid) -> pygit2.Tree:
    found = repository[made]
    assert isinstance(found, pygit2.Tree)
    return found


def strewn(paths: list[tuple[str, ...]]) -> st.SearchStrategy[Files]:
    """Files at those of *paths* at which nothing else needs a folder."""
    chosen: list[str] = []
    for path in ("/".join(names) for names in paths):
        if not any(one == path or one.startswith(f"{path}/") or path.startswith(f"{one}/") for one in chosen):
            chosen.append(path)
    contents = st.tuples(st.sampled_from([b"1", b"2"]), st.sampled_from(MODES))
    return st.fixed_dictionaries(dict.fromkeys(chosen, contents))


PATHS = st.lists(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(tuple), max_size=8)
FILES = PATHS.flatmap(strewn)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=FILES, after=FILES)
def test_whatever_changes_the_tree_is_the_one_that_git_makes(
    repository: pygit2.Repository, trees: RawTrees, before: Files, after: Files
) -> None:
    """Files that come, go, and become folders and back: in the order of git, and no folder is left empty."""
    old, new = by_git(repository, before), by_git(repository, after)
    changed = changes(tree_of(repository, old), tree_of(repository, new))
    entries = {one.path: one.after for one in changed}

    assert trees.graft(old, entries) == new


@pytest.mark.parametrize("last", ["a", "B/z", "ä/a/b"])
def test_the_entry_of_a_tree_that_is_taken_away_last_leaves_nothing(
    repository: pygit2.Repository, trees: RawTrees, last: str
) -> None:
    """Neither the folders that it was in, nor anything of it in the tree that is made next."""
    one = Entry(repository.create_blob(b"1"), FileMode.BLOB)
    only = trees.graft(None, {last: one})

    assert str(trees.graft(only, {last: None})) == EMPTY_TREE
    assert trees.graft(Oid(hex=EMPTY_TREE), {last: one}) == only


@pytest.mark.parametrize("name", ["a", "m", "z"])
def test_one_of_several_is_taken_away_wherever_it_stands(
    repository: pygit2.Repository, trees: RawTrees, name: str
) -> None:
    """The first, the middle and the last of a folder."""
    files: Files = {f"folder/{one}": (one.encode(), FileMode.BLOB) for one in ("a", "m", "z")}
    made = trees.graft(by_git(repository, files), {f"folder/{name}": None})
    del files[f"folder/{name}"]

    assert made == by_git(repository, files)


def test_what_is_not_there_can_be_taken_away(repository: pygit2.Repository, trees: RawTrees) -> None:
    """Also below what is a file: that stays."""
    tree = by_git(repository, {"a": (b"1", FileMode.BLOB)})

    assert trees.graft(tree, {"b": None, "c/d": None, "a/b": None}) == tree


def test_a_file_in_the_place_of_a_folder_stays_whatever_goes_from_the_folder(
    repository: pygit2.Repository, trees: RawTrees
) -> None:
    """Both are said in one change."""
    before = by_git(repository, {"a/b": (b"1", FileMode.BLOB)})
    after = by_git(repository, {"a": (b"2", FileMode.BLOB)})
    new = Entry(repository.create_blob(b"2"), FileMode.BLOB)

    assert trees.graft(before, {"a": new, "a/b": None}) == after
    assert trees.graft(before, {"a/b": None, "a": new}) == after


def test_git_finds_nothing_wrong_with_what_was_made(
    repository: pygit2.Repository, trees: RawTrees, tmp_path: Path
) -> None:
    """The objects are as git stores them."""
    one = Entry(repository.create_blob(b"1"), FileMode.BLOB)
    made = trees.graft(None, {f"{name}/{name}": one for name in NAMES})
    checked = subprocess.run(
        ["git", "-C", str(tmp_path), "fsck", "--strict", str(made)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stderr
