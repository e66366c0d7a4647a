"""Files below a folder that others can change: no link is followed, nothing is waited for, nothing huge is read."""

import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.files import (
    File,
    FileRefused,
    TooLarge,
    folder,
)

MOST = 1024
SECRET = b"a secret of the machine\n"
RACES = 3000


def link(path: Path) -> None:
    secret = path.parent.parent / "secret"
    secret.write_bytes(SECRET)
    path.symlink_to(secret)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1024**3)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.path.relpath(path))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    root.mkdir()
    return root


@pytest.mark.parametrize(
    ("put", "sentence"),
    [
        (link, "notes.md is a symbolic link, which is not followed"),
        (lambda path: path.symlink_to("/dev/zero"), "notes.md is a symbolic link, which is not followed"),
        (lambda path: path.symlink_to(path.name), "notes.md is a symbolic link, which is not followed"),
        (Path.mkdir, "notes.md is a folder, and not a file"),
        (os.mkfifo, "notes.md is not a regular file"),
        (listening, "notes.md is not a regular file"),
        (sparse, "notes.md is larger than 1 KB"),
    ],
)
def test_what_is_no_plain_small_file_is_refused_in_a_sentence(
    root: Path, put: Callable[[Path], object], sentence: str
) -> None:
    """At once: a pipe is not waited for, and nothing of a huge file is read."""
    put(root / "notes.md")

    with pytest.raises(FileRefused) as refused:
        File(root, "notes.md", MOST).read()
    assert refused.value.strerror == sentence


def test_no_folder_on_the_way_may_be_a_link(root: Path) -> None:
    """Wherever on the path it is; the sentence says where."""
    (root / "kept").mkdir()
    (root / "kept/notes.md").write_bytes(b"notes")
    (root / "a").mkdir()
    (root / "a/b").symlink_to(root / "kept")

    with pytest.raises(FileRefused, match="a/b is a symbolic link, which is not followed"):
        File(root, "a/b/notes.md", MOST).read()
    with pytest.raises(FileRefused, match=r"kept/notes\.md is a file, and not a folder"):
        File(root, "kept/notes.md/more.md", MOST).read()


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "a/\0"])
def test_no_path_leads_out(root: Path, path: str) -> None:
    """Not by its names either."""
    (root.parent / "secret").write_bytes(SECRET)
    (root / "a").mkdir()

    with pytest.raises((OSError, ValueError)):
        File(root, path, MOST).read()


def test_the_root_itself_may_be_a_link(root: Path) -> None:
    """It is the operator's."""
    (root / "notes.md").write_bytes(b"notes")
    (root.parent / "link").symlink_to(root)

    assert File(root.parent / "link", "notes.md", MOST).read() == b"notes"


def test_as_much_as_is_allowed_is_read(root: Path) -> None:
    """And not a byte more."""
    (root / "notes.md").write_bytes(bytes(MOST))

    assert File(root, "notes.md", MOST).read() == bytes(MOST)
    with pytest.raises(TooLarge):
        File(root, "notes.md", MOST - 1).read()


@pytest.mark.parametrize("path", ["notes.md", "planning/notes.md"])
def test_a_file_that_is_swapped_for_a_link_is_never_followed(root: Path, path: str) -> None:
    """Nothing is looked at by its name and opened by it afterwards."""
    outside, name = root.parent / "outside", path.rpartition("/")[2]
    outside.mkdir()
    (outside / name).write_bytes(SECRET)
    swapped = root / path.partition("/")[0]
    target = outside / name if swapped.name == name else outside
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            _plain(swapped, name)
            _away(swapped)
            swapped.symlink_to(target)
            swapped.unlink()

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        found = {_read(File(root, path, MOST)) for _ in range(RACES)}
    finally:
        done.set()
        swapping.join()
    assert SECRET not in found


def _plain(path: Path, name: str) -> None:
    if path.name != name:
        path.mkdir()
        path /= name
    path.write_bytes(b"plain")


def _away(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for one in path.iterdir():
            one.unlink()
        path.rmdir()
    else:
        path.unlink()


def _read(file: File) -> bytes | None:
    try:
        return file.read()
    except OSError:
        return None


def test_all_that_is_below_is_named_and_no_link_is_entered(root: Path) -> None:
    """A circle would never end."""
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/deep.md").write_bytes(b"")
    (root / "a/round").symlink_to(root)
    os.mkfifo(root / "pipe.md")

    with folder(root) as found:
        assert sorted(found.tree()) == ["a/b/deep.md", "a/round", "pipe.md"]
