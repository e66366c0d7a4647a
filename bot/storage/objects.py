"""
Git's objects: written one file each, as git writes them, and read.

Libgit2 keeps the interpreter's lock while it packs and flushes, so that for the folder of many items, or for a long
transcript, everybody would wait. Here the long parts are done by calls that let go of it.
"""

import os
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path

from pygit2 import Oid

FAST = 1
"""How hard is packed; `git gc` does it better, later."""
PART_BYTES = 1024 * 1024
"""What is larger is packed in such parts: a long transcript is most of what a commit has to do."""
READ_ONLY = 0o444

_HEADER = b"\x78\x01"
_END = b"\x03\x00"
"""Of zlib's format: what it begins with, packed fast, and an empty last block."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class Objects:
    """*folder* is the one that git calls `objects`. Raises OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._unflushed: set[str] = set()

    def flush(self) -> None:
        """What was written is found on the disk afterwards. The folders come last: one takes the others along."""
        for folder in tuple(self._unflushed):
            with self._opened(folder) as opened:
                os.fsync(opened)
            self._unflushed.remove(folder)

    def write(self, kind: str, content: bytes) -> Oid:
        """Counts as new for whoever clears away what nobody needs, even if it was there."""
        framed = b"%b %d\0%b" % (kind.encode(), len(content), content)
        digest = sha1(framed, usedforsecurity=False)
        name = digest.hexdigest()
        folder = f"{self._folder}/{name[:2]}"
        try:
            os.utime(f"{folder}/{name[2:]}")
        except FileNotFoundError:
            try:
                self._add(folder, name[2:], framed)
            except FileNotFoundError:  # a `git gc` cleared the empty folder away just then
                self._add(folder, name[2:], framed)
        self._unflushed.add(folder)
        return Oid(raw=digest.digest())

    def _add(self, folder: str, name: str, content: bytes) -> None:
        packed = _packed(content)
        with self._opened(folder) as within:
            temporary = f"tmp_obj_{os.urandom(8).hex()}"  # git clears away what is called so
            opened = os.open(temporary, _NEW, READ_ONLY, dir_fd=within)
            try:
                with os.fdopen(opened, "wb") as file:
                    file.write(packed)
                    file.flush()
                    os.fsync(opened)
                os.replace(temporary, name, src_dir_fd=within, dst_dir_fd=within)
            except OSError:
                os.unlink(temporary, dir_fd=within)
                raise

    @contextmanager
    def _opened(self, folder: str) -> Iterator[int]:
        if not os.access(folder, os.F_OK):
            Path(folder).mkdir(exist_ok=True)
            self._unflushed.add(self._folder)
        opened = os.open(folder, _DIRECTORY)
        try:
            yield opened
        finally:
            os.close(opened)


def _packed(content: bytes) -> bytes:
    """In the format of `zlib.compress`; the parts of something large side by side, on as many cores as there are."""
    if len(content) <= PART_BYTES:
        return zlib.compress(content, FAST)
    whole = memoryview(content)
    parts = (whole[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES))
    with ThreadPoolExecutor(os.cpu_count()) as packing:
        packed = packing.map(_packed_part, parts)
        return b"".join((_HEADER, *packed, _END, zlib.adler32(content).to_bytes(4, "big")))


def _packed_part(part: memoryview) -> bytes:
    """It refers to nothing before it, and ends where a byte does."""
    packing = zlib.compressobj(FAST, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packing.compress(part) + packing.flush(zlib.Z_FULL_FLUSH)
