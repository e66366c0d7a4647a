"""
Files of a folder that is held open: never through a symbolic link, always replaced whole, and on the disk when a
call returns.

A path is walked one name at a time below an open directory, so that nobody can swap a folder for a link in between.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

TEMPORARY = ".roundtable-new.tmp"
"""
One name is enough to replace: a folder has one writer at a time. What a kill leaves behind, the next write replaces.
"""
STALE_SECONDS = 3600
"""So old is only what was left behind by a kill."""
BLOCK_BYTES = 65536
Stamp = tuple[int, ...]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_UNFINISHED = re.compile(r"\.roundtable-[0-9a-f]{16}\.tmp")
_NO_WAITING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Folder:
    """Every method raises OSError; what is no plain file counts as one that cannot be used."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def files(self) -> tuple[str, ...]:
        with os.scandir(self._descriptor) as entries:
            return tuple(sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False)))

    def folders(self) -> tuple[str, ...]:
        with os.scandir(self._descriptor) as entries:
            return tuple(sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False)))

    def stamp(self, path: str) -> Stamp | None:
        """Something that changes whenever the file *path* does; None when there is none."""
        try:
            status = os.stat(path, dir_fd=self._descriptor, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

    @contextmanager
    def below(self, name: str) -> Iterator["Folder"]:
        descriptor = _enter(self._descriptor, name, make=False)
        try:
            yield Folder(descriptor)
        finally:
            os.close(descriptor)

    def read(self, name: str) -> bytes | None:
        """The content of a file; None when there is none."""
        try:
            with self._opened(name) as file:
                return file.read()
        except FileNotFoundError:
            return None

    def rows(self, name: str) -> Iterator[bytes]:
        """The rows of a file, last first; no more of it is read than is asked for."""
        with self._opened(name) as file:
            rest, left = b"", file.seek(0, os.SEEK_END)
            while left:
                size = min(left, BLOCK_BYTES)
                left -= size
                file.seek(left)
                rest, *rows = (file.read(size) + rest).split(b"\n")
                yield from reversed(rows)
            yield rest

    def replace(self, name: str, content: bytes) -> None:
        """*name* holds either what it held before or all of *content*, whenever the machine stops."""
        mode = self._mode(name)
        opened = os.open(
            TEMPORARY,
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_WAITING,
            0o666,
            dir_fd=self._descriptor,
        )
        try:
            if mode is not None:
                os.fchmod(opened, mode)
            _write(opened, content)
            os.fsync(opened)
        except OSError:
            self.remove(TEMPORARY)
            raise
        finally:
            os.close(opened)
        os.replace(TEMPORARY, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        os.fsync(self._descriptor)

    def create(self, name: str, content: bytes) -> bool:
        """
        All of *content* is under a *name* that was free, or False and nothing is changed: also where several write at
        the same time, and whenever the machine stops.
        """
        _must_be_a_name(name)
        self._tidy()
        temporary = f".roundtable-{token_hex(8)}.tmp"
        opened = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_WAITING, 0o666, dir_fd=self._descriptor
        )
        try:
            with os.fdopen(opened, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(opened)
            here = self._descriptor
            os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
        except FileExistsError:
            return False
        finally:
            self.remove(temporary)
        os.fsync(self._descriptor)
        return True

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def copy_aside(self, name: str, content: bytes, *, why: str) -> str:
        """Keep *content* as `name.why-N`, once, and say under which name."""
        for number in count(1):
            aside = f"{name}.{why}-{number}"
            present = self.read(aside)
            if present is None:
                self.replace(aside, content)
            if present in (None, content):
                return aside
        raise AssertionError("there is always a number more")

    def _tidy(self) -> None:
        """What somebody was killed over while they created something."""
        for name in filter(_UNFINISHED.fullmatch, self.files()):
            if (stamp := self.stamp(name)) and stamp[0] < (time.time() - STALE_SECONDS) * 1e9:
                self.remove(name)

    def _opened(self, name: str) -> BinaryIO:
        _must_be_a_name(name)
        opened = os.open(name, os.O_RDONLY | _NO_WAITING, dir_fd=self._descriptor)
        file = os.fdopen(opened, "rb")
        try:
            _must_be_plain(name, os.fstat(opened))
        except OSError:
            file.close()
            raise
        return file

    def _mode(self, name: str) -> int | None:
        _must_be_a_name(name)
        try:
            status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _must_be_plain(name, status)
        return stat.S_IMODE(status.st_mode)


@contextmanager
def folder(root: Path, names: Iterable[str] = (), *, make: bool = False) -> Iterator[Folder]:
    """The folder *names* below *root*, which is trusted; with *make*, it is there afterwards."""
    descriptor = os.open(root, _DIRECTORY)
    try:
        for name in names:
            below = _enter(descriptor, name, make=make)
            os.close(descriptor)
            descriptor = below
        yield Folder(descriptor)
    finally:
        os.close(descriptor)


def _enter(descriptor: int, name: str, *, make: bool) -> int:
    _must_be_a_name(name)
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=descriptor)
            os.fsync(descriptor)
    return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)


def _must_be_a_name(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "is no file name", name)


def _must_be_plain(name: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is no plain file", name)


def _write(descriptor: int, content: bytes) -> None:
    """A full disk may take a part and say nothing: the next write says it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
