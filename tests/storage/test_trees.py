"""Trees compared and changed path by path are the trees that git itself would make."""

from pathlib import Path

import pygit2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pygit2 import IndexEntry, Tree
from pygit2.enums import FileMode

from bot.storage.git.trees import TreeEntry, changes, graft

NAMES = ("a", "a-b", "a.b", "a0", "ab", "B", "z", "ä")
"""A folder is sorted as if its name ended in a slash, which comes after `-` and `.`, and before `0`."""
MODES = (FileMode.BLOB, FileMode.BLOB_EXECUTABLE, FileMode.LINK)
Files = dict[str, tuple[bytes, FileMode]]


@pytest.fixture
def repository(tmp_path: Path) -> pygit2.Repository:
    return pygit2.init_repository(tmp_path)


def by_git(repository: pygit2.Repository, files: Files) -> Tree:
    """The tree of *files*, as an index writes it."""
    index = pygit2.Index()
    for path, (content, mode) in files.items():
        index.add(IndexEntry(path, repository.create_blob(content), mode))
    return repository[index.write_tree(repository)].peel(Tree)


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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=FILES, after=FILES)
def test_the_changed_tree_is_the_one_that_git_makes(
    repository: pygit2.Repository, before: Files, after: Files
) -> None:
    """Files that come, go, and become folders and back; no folder is left empty."""
    old, new = by_git(repository, before), by_git(repository, after)
    entries = {one.path: one.after for one in changes(old, new)}

    assert graft(repository, old, entries) == new.id


def test_a_path_that_is_not_there_can_be_removed(repository: pygit2.Repository) -> None:
    """Also below a file: the file stays."""
    tree = by_git(repository, {"a": (b"1", FileMode.BLOB)})

    assert graft(repository, tree, {"b": None, "c/d": None, "a/b": None}) == tree.id


def test_a_file_replaces_a_folder_in_either_order(repository: pygit2.Repository) -> None:
    """One change adds the file and removes what was in the folder."""
    before = by_git(repository, {"a/b": (b"1", FileMode.BLOB)})
    after = by_git(repository, {"a": (b"2", FileMode.BLOB)})
    new = TreeEntry(repository.create_blob(b"2"), FileMode.BLOB)

    assert graft(repository, before, {"a": new, "a/b": None}) == after.id
    assert graft(repository, before, {"a/b": None, "a": new}) == after.id
