"""What the disk and libgit2 say, translated once: a sentence for people, and whether waiting can help."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pygit2

from bot.errors import WorkspaceError
from bot.files import Refused

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
REFUSED = (errno.EROFS, errno.EACCES, errno.EPERM)


@contextmanager
def explained() -> Iterator[None]:
    try:
        yield
    except (OSError, pygit2.GitError) as error:
        raise _explanation(error) from error


def _explanation(error: Exception) -> WorkspaceError:
    if isinstance(error, Refused):
        return WorkspaceError(f"{error.strerror}.", reason="refused")
    said = str(error)
    if "lock" in said and "No such file" not in said and not _means(error, *FULL, *REFUSED):
        return WorkspaceError("Another program is writing to the workspace.", reason="locked", again=True)
    if _means(error, *FULL):
        return WorkspaceError("The disk of the workspace is full.", reason="disk_full", again=True)
    if _means(error, *REFUSED):
        return WorkspaceError("The workspace cannot be written to.", reason="read_only")
    return WorkspaceError("The workspace could not be read or written.", reason="io", again=True)


def _means(error: Exception, *codes: int) -> bool:
    """Libgit2 gives no number, but the system's words for it."""
    number = error.errno if isinstance(error, OSError) else None
    return number in codes or (number is None and any(os.strerror(code) in str(error) for code in codes))
