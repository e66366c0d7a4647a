"""
The one way to files of the workspace: below a folder that is held open, never through a symbolic link, and no more of
a file than its kind may have. What is written is replaced whole, and on the disk when a call returns.

A path is walked one name at a time below an open directory, and a file is checked after it was opened: nothing can be
swapped for a link in between. Others push to the workspace, so any name in it can be a link, a pipe or a huge file.
"""

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import BinaryIO, NamedTuple, Protocol

STALE_SECONDS = 3600
"""So old is only what was left behind by a kill."""
BLOCK_BYTES = 65536
PROBE_BYTES = 4096
FREE_BYTES = 64 * 1024 * 1024
"""With less there may be room for the probe, and none for a commit."""
DEEPEST = 32
"""Folders below each other that are looked into."""

# The most that a file of each kind may have. A larger one is refused before any of it is read.
META_BYTES = 8 * 1024 * 1024
BACKLOG_BYTES = 1024 * 1024
CONTENT_BYTES = 64 * 1024
"""A persona or a step."""
ARTIFACT_BYTES = 8 * 1024 * 1024
REVIEW_BYTES = 128 * 1024 * 1024
"""Twice what `roundtable review` takes: redacting may make a text longer."""
TRANSCRIPT_BYTES = 256 * 1024 * 1024
CHOSEN_RECORD_BYTES = 4 * 1024 * 1024 * 1024
"""Of a record that somebody named on the command line."""
LONGEST_ROW_BYTES = 16 * 1024 * 1024
"""Of a transcript: what is longer was not said by anybody."""


_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_UNFINISHED = re.compile(r"\.roundtable-[0-9a-f]{16}\.tmp")
_NO_WAITING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_PLAIN = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.ENXIO, errno.ENODEV)
"""What systems say of a link, a file in the place of a folder, or a socket."""


class CommittedFiles(Protocol):
    """The files of one commit. Reading raises OSError for what is too large."""

    def folders(self, path: str) -> Iterator[tuple[str, object]]: ...

    def read(self, path: str, most: int) -> bytes | None: ...


class FileRefused(OSError):
    """A link, a pipe, a folder or a file that is too large; `strerror` is a sentence without its full stop."""

    def __init__(self, path: str, reason: str) -> None:
        shown = path.encode("utf-8", "replace").decode()
        super().__init__(errno.EINVAL, f"{shown} {reason}")
        self.reason = reason


class TooLarge(FileRefused):
    def __init__(self, path: str, most: int) -> None:
        size = f"{most // 1024**2} MiB" if most >= 1024**2 else f"{most // 1024} KB"
        super().__init__(path, f"is larger than {size}")


class Folder:
    """Every method raises OSError; what is no plain file is Refused. *path* is what it is called in sentences."""

    def __init__(self, descriptor: int, path: str = "") -> None:
        self._descriptor = descriptor
        self._path = path

    def files(self) -> tuple[str, ...]:
        return self._named(lambda entry: entry.is_file(follow_symlinks=False))

    def folders(self) -> tuple[str, ...]:
        return self._named(lambda entry: entry.is_dir(follow_symlinks=False))

    def names(self) -> tuple[str, ...]:
        """Of all that is there, links too."""
        with os.scandir(self._descriptor) as entries:
            return tuple(sorted(entry.name for entry in entries))

    def tree(self, *, depth: int = DEEPEST) -> Iterator[str]:
        """The paths of all that is below and is no folder, links too."""
        below = self.folders()
        yield from (name for name in self.names() if name not in below and _is_text(name))
        for name in below if depth else ():
            with suppress(FileNotFoundError), self.below(name) as found:
                yield from (f"{name}/{path}" for path in found.tree(depth=depth - 1))

    @contextmanager
    def below(self, name: str, *, make: bool = False) -> Iterator["Folder"]:
        descriptor = self._enter(name, make=make)
        try:
            yield Folder(descriptor, self._called(name))
        finally:
            os.close(descriptor)

    def read(self, name: str, most: int) -> bytes | None:
        """The content of a file of at most so many bytes; None when there is none."""
        try:
            with self.opened(name, most) as file:
                return self._content(file, name, most)
        except FileNotFoundError:
            return None

    @contextmanager
    def opened(self, name: str, most: int) -> Iterator[BinaryIO]:
        """To read from. What happens to its name afterwards changes nothing."""
        _must_be_a_name(name)
        try:
            opened = os.open(name, os.O_RDONLY | _NO_WAITING, dir_fd=self._descriptor)
        except OSError as error:
            raise self._explained(error, name) from None
        try:
            status = os.fstat(opened)
            self._must_be_plain(name, status)
            if status.st_size > most:
                raise TooLarge(self._called(name), most)
        except OSError:
            os.close(opened)
            raise
        with os.fdopen(opened, "rb") as file:
            yield file

    def probe(self) -> None:
        """Writes some bytes and reads them: only that shows whether the disk takes any. It must have room for more."""
        space = os.fstatvfs(self._descriptor)
        if space.f_bavail * space.f_frsize < FREE_BYTES:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        content = os.urandom(PROBE_BYTES)
        with self._written(content, 0o600) as (opened, _):
            if os.pread(opened, PROBE_BYTES, 0) != content:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

    def create(self, name: str, content: bytes) -> bool:
        """
        All of *content* is under a *name* that was free, or False and nothing is changed: also where several write at
        the same time, and whenever the machine stops.
        """
        _must_be_a_name(name)
        here = self._descriptor
        with suppress(FileExistsError), self._written(content, 0o666) as (_, temporary):
            os.link(temporary, name, src_dir_fd=here, dst_dir_fd=here, follow_symlinks=False)
            os.fsync(here)
            return True
        return False

    def replace(self, name: str, content: bytes) -> None:
        """All of *content* is there, for its owner alone, or what was there before."""
        _must_be_a_name(name)
        with self._written(content, 0o600) as (_, temporary):
            os.rename(temporary, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
            os.fsync(self._descriptor)

    @contextmanager
    def _written(self, content: bytes, mode: int) -> Iterator[tuple[int, str]]:
        """A file with *content* and a name of its own, which is gone afterwards."""
        self._tidy()
        name = f".roundtable-{token_hex(8)}.tmp"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_WAITING
        opened = os.open(name, flags, mode, dir_fd=self._descriptor)
        try:
            _write(opened, content)
            os.fsync(opened)
            yield opened, name
        finally:
            os.close(opened)
            self.remove(name)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._descriptor)

    def _named(self, wanted: Callable[["os.DirEntry[str]"], bool]) -> tuple[str, ...]:
        """A name that is not UTF-8 is left out: it can be in no message, no log and no file of ours."""
        with os.scandir(self._descriptor) as entries:
            return tuple(sorted(one.name for one in entries if _is_text(one.name) and wanted(one)))

    def _tidy(self) -> None:
        """What somebody was killed over while they created something."""
        for name in filter(_UNFINISHED.fullmatch, self.files()):
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
                if status.st_mtime < time.time() - STALE_SECONDS:
                    self.remove(name)

    def _content(self, file: BinaryIO, name: str, most: int) -> bytes:
        """Of a file that may grow meanwhile."""
        content = file.read(os.fstat(file.fileno()).st_size + 1)
        while more := file.read(BLOCK_BYTES):
            content += more
            if len(content) > most:
                raise TooLarge(self._called(name), most)
        return content

    def _enter(self, name: str, *, make: bool) -> int:
        _must_be_a_name(name)
        if make:
            with suppress(FileExistsError):
                os.mkdir(name, dir_fd=self._descriptor)
                os.fsync(self._descriptor)
        try:
            return os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=self._descriptor)
        except OSError as error:
            raise self._explained(error, name) from None

    def _explained(self, error: OSError, name: str) -> OSError:
        """Why *name* cannot be opened, where the system's own words would only confuse."""
        if error.errno not in _NOT_PLAIN:
            return error
        status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        return FileRefused(self._called(name), _kind(status))

    def _must_be_plain(self, name: str, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise FileRefused(self._called(name), _kind(status))

    def _called(self, name: str) -> str:
        return f"{self._path}/{name}" if self._path else name


class File(NamedTuple):
    """A file of at most *most* bytes whose *path* is below *root*, which is trusted. Every use opens it once."""

    root: Path
    path: str
    most: int

    def read(self) -> bytes:
        """Raises OSError."""
        *folders, name = PurePosixPath(self.path).parts
        with folder(self.root, folders) as found:
            content = found.read(name, self.most)
        if content is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
        return content


@contextmanager
def folder(root: Path, names: Iterable[str] = (), *, make: bool = False) -> Iterator[Folder]:
    """The folder *names* below *root*, which is trusted; with *make*, it is there afterwards."""
    with ExitStack() as opened:
        descriptor = os.open(root, _DIRECTORY)
        opened.callback(os.close, descriptor)
        found = Folder(descriptor)
        for name in names:
            found = opened.enter_context(found.below(name, make=make))
        yield found


def chosen(path: Path, most: int) -> bytes:
    """
    The content of a file that somebody named on the command line: it may be a link, or a pipe. Raises OSError, TooLarge
    among them.
    """
    with path.open("rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise TooLarge(str(path), most)
    return content


def _is_text(name: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in name)


def _must_be_a_name(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise OSError(errno.EINVAL, "is no file name", name)


def _kind(status: os.stat_result) -> str:
    if stat.S_ISLNK(status.st_mode):
        return "is a symbolic link, which is not followed"
    if stat.S_ISDIR(status.st_mode):
        return "is a folder, and not a file"
    if stat.S_ISREG(status.st_mode):
        return "is a file, and not a folder"
    return "is not a regular file"


def _write(descriptor: int, content: bytes) -> None:
    """A full disk may take a part and say nothing: the next write says it."""
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
