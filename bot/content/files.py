"""Reads the files of a folder, and collects what is wrong with them: some is shown to people, the rest is logged."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from bot.content.frontmatter import BadFrontMatter, parse
from bot.domain.catalog.taxonomy import Trouble, trouble
from bot.files import CONTENT_BYTES, File, FileRefused, TooLarge, folder
from bot.shipped import steps_dir


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


@dataclass
class Findings:
    troubles: list[Trouble] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def trouble(self, code: str, **facts: str) -> None:
        self.troubles.append(trouble(code, **facts))

    def note(self, line: str) -> None:
        self.notes.append(line)


# Sentences about a wrong field of a persona or a step, which tell its author what to write instead.


_FORMS = {
    "step_id": 'two digits, a hyphen and two digits in quotes, such as "01-09"',
    "title": "a text of 1 to 60 characters",
    "depth": "brief, standard or deep",
    "outputs": "a list of file names that is not empty, such as [quick-scan.md]",
    "key": "lower-case words with hyphens between them, such as business-analyst",
    "name": "a text with letters in it, of at most 60 characters",
    "role": "a text of 1 to 60 characters",
    "actor": "one word of at most 64 letters, such as BusinessAnalyst",
    "phases": "a list of folder names of phases, such as [01-requirements]",
}


def problem_sentence(error: ValidationError) -> tuple[str, str, str]:
    """The first wrong field: its name, its value, and what is wrong with it."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    return name, str(first["input"]), _sentence(name, first["type"], first["msg"])


def _sentence(name: str, kind: str, message: str) -> str:
    """Messages of our own validators are used as they are."""
    if kind == "missing":
        return "it is missing"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    return f"it has to be {_FORMS.get(name, 'a text')}"


def shipped_and_own(
    folder: Path, name: str, findings: Findings, workspace: Path | None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """What ships, and what a team's own file of that name says on top of it."""
    shipped = parse(ContentFolder(steps_dir(), None).read(Path(name)))
    is_own = folder.absolute() != steps_dir().absolute()
    return shipped, yaml_file(folder, name, findings, workspace) if is_own else None


def yaml_file(
    folder: Path, name: str, findings: Findings, workspace: Path | None
) -> Mapping[str, Any] | None:
    """None where there is no such file, or one that cannot be read, which is noted."""
    shelf = ContentFolder(folder, workspace)
    try:
        return parse(shelf.read(Path(name))) if name in shelf.names() else None
    except OSError:
        return None
    except (UnreadableFile, BadFrontMatter) as error:
        findings.note(f"{name} is not used: {error}.")
        return None
