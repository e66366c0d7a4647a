"""Reads the Markdown files of a folder, and survives whatever lies there instead."""

from pathlib import Path

MAX_BYTES = 64 * 1024


class Unreadable(Exception):
    """Not a file, not ours to read, too large, or not UTF-8."""


def markdown_files(folder: Path) -> list[Path]:
    """By name; hidden files are editors' own. Raises OSError where there is no such folder."""
    found = (
        path for path in folder.iterdir() if path.suffix.lower() == ".md" and not path.name.startswith(".")
    )
    return sorted(found, key=lambda path: path.name)


def read(path: Path) -> str:
    """The text without a byte order mark, its lines ended by newlines only."""
    try:
        if not path.is_file():  # a pipe or a device would never end
            raise Unreadable(f"{name_of(path)} is not a file")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Unreadable(f"{name_of(path)} cannot be read: {why}") from None
    if len(content) > MAX_BYTES:
        raise Unreadable(f"{name_of(path)} is larger than {MAX_BYTES // 1024} KB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = len(content[: error.start].splitlines()) or 1
        raise Unreadable(f"line {line} of {name_of(path)} is not UTF-8: save it in that encoding") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def name_of(path: Path) -> str:
    """The file's name as text that can be written anywhere: names on disk need not be valid UTF-8."""
    return path.name.encode("utf-8", "replace").decode()
