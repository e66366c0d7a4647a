"""Reads the Markdown files of a folder. An entry that is no readable file raises UnreadableFile."""

import os
from pathlib import Path

from bot.files import CONTENT_BYTES, File, FileRefused, TooLarge, folder


class UnreadableFile(Exception):
    """Not a file, no permission to read it, too large, or not UTF-8."""


class ContentFolder:
    """
    The personas or the steps in *top*. Links are followed there, because Kubernetes makes one for every file of a
    ConfigMap; in the *workspace*, where other people push, they are refused.
    """

    def __init__(self, top: Path, workspace: Path | None) -> None:
        self._top = top
        self._workspace = workspace.absolute() if workspace else None

    def names(self, *below: str) -> tuple[str, ...]:
        """Everything in the folder *below*. Raises OSError where there is no such folder."""
        root, names = self._place(*below)
        with folder(root, names) as found:
            return found.names()

    def has_folder(self, name: str) -> bool:
        try:
            self.names(name)
        except OSError:
            return False
        return True

    def markdown(self, *below: str) -> list[Path]:
        """In the order of their names, without hidden files. Raises OSError where there is no such folder."""
        found = (Path(*below, name) for name in self.names(*below) if not name.startswith("."))
        return [path for path in found if path.suffix.lower() == ".md"]

    def read(self, path: Path) -> str:
        """The text without a byte order mark, its lines ended by newlines only. Raises UnreadableFile."""
        try:
            content = self._file(path).read()
        except TooLarge as error:
            raise UnreadableFile(f"{name_of(path)} {error.reason}") from None
        except FileRefused:
            raise UnreadableFile(f"{name_of(path)} is not a file") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise UnreadableFile(f"{name_of(path)} cannot be read: {why}") from None
        return _text(content, path)

    def _file(self, path: Path) -> File:
        root, names = self._place(*path.parts)
        if not names:
            root, names = root.parent, (root.name,)
        return File(root, "/".join(names), CONTENT_BYTES)

    def _place(self, *below: str) -> tuple[Path, tuple[str, ...]]:
        """A trusted folder, and the names below it, where no link is followed."""
        path = self._top.joinpath(*below).absolute()
        if self._workspace and path.is_relative_to(self._workspace):
            return self._workspace, path.relative_to(self._workspace).parts
        return Path(os.path.realpath(path, strict=True)), ()


def _text(content: bytes, path: Path) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(content[: error.start].splitlines()) or 1
        raise UnreadableFile(
            f"line {line} of {name_of(path)} is not UTF-8: save it in that encoding"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def name_of(path: Path) -> str:
    """The file's name as valid UTF-8, which names on disk need not be."""
    return path.name.encode("utf-8", "replace").decode()
