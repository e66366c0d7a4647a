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
from itertools import count
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import BinaryIO, NamedTuple

TEMPORARY = ".roundtable-new.tmp"
"""
One name is enough to replace: a folder has one writer at a time. What a kill leaves behind, the next write replaces.
"""
STALE_SECONDS = 3600
"""So old is only what was left behind by a kill."""
BLOCK_BYTES = 65536
PROBE_BYTES = 4096
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
"""Of a record that somebody named on the command line: replaying reads it in pieces."""
STATE_BYTES = 256 * 1024 * 1024
"""Our own files in `.roundtable/`."""
LONGEST_ROW_BYTES = 16 * 1024 * 1024
"""Of a transcript: what is longer was not said by anybody."""

Stamp = tuple[int, ...]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_UNFINISHED = re.compile(r"\.roundtable-[0-9a-f]{16}\.tmp")
_NO_WAITING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_PLAIN = (errno.ELOOP, errno.ENOTDIR, errno.EMLINK, errno.ENXIO, errno.ENODEV)
"""What systems say of a link, a file in the place of a folder, or a socket."""


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

    def stamp(self, path: str) -> Stamp | None:
        """Something that changes whenever the file *path* does; None when there is none."""
        try:
            status = os.stat(path, dir_fd=self._descriptor, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino

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

    def rows(self, name: str, most: int) -> Iterator[bytes]:
        """
        The rows of a file, last first; no more of it is read than is asked for. One that is too long to be a line is
        empty.
        """
        with self.opened(name, most) as file:
            left, row = file.seek(0, os.SEEK_END), _Row()
            while left:
                size = min(left, BLOCK_BYTES)
                left -= size
                file.seek(left)
                first, *others = file.read(size).split(b"\n")
                if others:
                    row.begin_with(others.pop())
                    yield row.content()
                    yield from reversed(others)
                    row = _Row()
                row.begin_with(first)
            yield row.content()

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

    def replace(self, name: str, content: bytes) -> None:
        """*name* holds either what it held before or all of *content*, whenever the machine stops."""
        mode = self._mode(name)
        opened = self._temporary()
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

    def probe(self) -> None:
        """Writes some bytes and reads them: only that shows whether the disk takes any."""
        self._tidy()
        name, content = f".roundtable-{token_hex(8)}.tmp", os.urandom(PROBE_BYTES)
        opened = os.open(
            name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _NO_WAITING, 0o600, dir_fd=self._descriptor
        )
        try:
            _write(opened, content)
            os.fsync(opened)
            if os.pread(opened, PROBE_BYTES, 0) != content:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
        finally:
            os.close(opened)
            self.remove(name)

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
            try:
                present = self.read(aside, len(content))
            except FileRefused:
                continue
            if present is None:
                self.replace(aside, content)
            if present in (None, content):
                return aside
        raise AssertionError("there is always a number more")

    def _named(self, wanted: Callable[["os.DirEntry[str]"], bool]) -> tuple[str, ...]:
        """A name that is not UTF-8 is left out: it can be in no message, no log and no file of ours."""
        with os.scandir(self._descriptor) as entries:
            return tuple(sorted(one.name for one in entries if _is_text(one.name) and wanted(one)))

    def _tidy(self) -> None:
        """What somebody was killed over while they created something."""
        for name in filter(_UNFINISHED.fullmatch, self.files()):
            if (stamp := self.stamp(name)) and stamp[0] < (time.time() - STALE_SECONDS) * 1e9:
                self.remove(name)

    def _temporary(self) -> int:
        """What is in the way was left by a kill, or pushed by somebody: it may be a link."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_WAITING
        with suppress(FileExistsError):
            return os.open(TEMPORARY, flags, 0o666, dir_fd=self._descriptor)
        self.remove(TEMPORARY)
        return os.open(TEMPORARY, flags, 0o666, dir_fd=self._descriptor)

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

    def _mode(self, name: str) -> int | None:
        _must_be_a_name(name)
        try:
            status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        self._must_be_plain(name, status)
        return stat.S_IMODE(status.st_mode)

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

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Raises OSError."""
        *folders, name = PurePosixPath(self.path).parts
        with folder(self.root, folders) as found, found.opened(name, self.most) as file:
            yield file

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


class _Row:
    """A row of a file that is read backwards, in pieces; nothing is kept of one that is too long."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._bytes = 0

    def begin_with(self, piece: bytes) -> None:
        self._bytes += len(piece)
        self._pieces.append(piece)
        if self._bytes > LONGEST_ROW_BYTES:
            self._pieces.clear()

    def content(self) -> bytes:
        return b"" if self._bytes > LONGEST_ROW_BYTES else b"".join(reversed(self._pieces))


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
