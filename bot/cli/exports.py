"""`roundtable export`: the files of an export in a repository. What others wrote or changed there is never lost."""

import difflib
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

import typer

from bot import parts
from bot.cli import forget_commands
from bot.cli.environment import read_settings
from bot.cli.options import PROBLEM
from bot.domain.item.export_places import FOLDERS, SLUG
from bot.domain.values.text import one_line
from bot.errors import ConfigError
from bot.files import ARTIFACT_BYTES, folder
from bot.integrations.committed_exports import in_the_way, known_words
from bot.integrations.exported_edits import ExportProposal, is_ours, read_back
from bot.integrations.exports import FORMATS, TASKS, exported
from bot.settings import Settings

commands = typer.Typer()

TEXT_CHARS = 200
PERSON = "person"


class ExportFolder(NamedTuple):
    """`files` are texts by their paths in the repository, `place` the folder of all of them, `known` words by ids."""

    place: str
    files: Mapping[str, str]
    known: Mapping[str, str]


@commands.command()
def export(
    item: Annotated[
        str, typer.Argument(metavar="ITEM | person WHO", help="An item of the workspace, or a person.")
    ],
    who: Annotated[
        str | None, typer.Argument(metavar="", help="With `person`: as for `forget person`.")
    ] = None,
    *,
    to: Annotated[str | None, typer.Option(metavar="FORMAT", help=f"{', '.join(FORMATS)}.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Of a repository; else the workspace. Of a person: a file; else printed."
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit code 1 if a file is not as it would be written."),
    ] = False,
) -> None:
    if who is not None:
        if item != PERSON or to or check:
            raise typer.BadParameter("only `export person WHO` takes two words, and no --to or --check")
        forget_commands.export_person(who, out)
        return
    if to is None:
        raise typer.BadParameter(f"give one of {', '.join(FORMATS)}", param_hint="--to")
    if to not in FORMATS:
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(FORMATS)}", param_hint="--to")
    settings = read_settings(os.environ)
    root, files = out or settings.workspace, made(settings, item, to)
    if not check:
        for path in written(root, files):
            typer.echo(path)
        return
    found = tuple(differences(root, files))
    for row in found:
        typer.echo(row)
    raise typer.Exit(PROBLEM if found else 0)


def made(settings: Settings, slug: str, target: str) -> ExportFolder:
    """Raises UserError where there is no such item, and WorkspaceError where it cannot be read."""
    item = parts.agreed(settings).item(slug)
    folder = next((one.folder for one in settings.exports if one.format == target), FOLDERS[target])
    return ExportFolder(folder.replace(SLUG, slug), exported(item, target, folder), known_words(item))


def written(root: Path, export: ExportFolder) -> Iterator[str]:
    """The paths of the files that were written. Raises ConfigError before anything is, if something would be lost."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        there = _there(root, export)
        _refuse_others(export, there)
        _refuse_changed(export, there)
        for path, text in _due(export, there):
            _write(root, path, text)
            yield path
    except OSError as error:
        raise ConfigError(
            f"The export cannot be written: {error.filename or root}: {error.strerror}."
        ) from error


def differences(root: Path, export: ExportFolder) -> Iterator[str]:
    """A unified diff of each file, and then what was changed by hand."""
    try:
        there = _there(root, export)
    except OSError as error:
        raise ConfigError(
            f"The export cannot be read: {error.filename or root}: {error.strerror}."
        ) from error
    for path, text in _due(export, there):
        before = there.get(path, "").splitlines()
        yield from difflib.unified_diff(before, text.splitlines(), path, f"{path} (as agreed)", lineterm="")
    for path, edits in _edits(export, there):
        yield from (f"{path}:{one.line}: {_told(one)}" for one in edits)


def _due(export: ExportFolder, there: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files that are not as they would be written. The tasks are written once."""
    for path, text in export.files.items():
        is_kept = path in there and PurePosixPath(path).name == TASKS
        if not is_kept and there.get(path) != text:
            yield path, text


def _there(root: Path, export: ExportFolder) -> dict[str, str]:
    """All files of the folder, by their paths in the repository. A file that is not UTF-8 belongs to others."""
    with suppress(FileNotFoundError), folder(root, PurePosixPath(export.place).parts) as found:
        paths = tuple(found.tree())
        return {f"{export.place}/{path}": _read(root, f"{export.place}/{path}") for path in paths}
    return {}


def _read(root: Path, path: str) -> str:
    *parts, name = PurePosixPath(path).parts
    with folder(root, parts) as found:
        return (found.read(name, ARTIFACT_BYTES) or b"").decode(errors="replace")


def _write(root: Path, path: str, text: str) -> None:
    *parts, name = PurePosixPath(path).parts
    with folder(root, parts, make=True) as found:
        found.remove(name)
        found.create(name, text.encode())


def _refuse_others(export: ExportFolder, there: Mapping[str, str]) -> None:
    if first := in_the_way(export.files, there):
        raise ConfigError(f"{first} was not written by Roundtable. Move it away, or choose another --out.")


def _refuse_changed(export: ExportFolder, there: Mapping[str, str]) -> None:
    for path, edits in _edits(export, there):
        if path in export.files:
            raise ConfigError(
                f"{path} was changed by hand, in line {edits[0].line} ({_told(edits[0])}). Say it in the thread of the"
                " item and take it out of the file; `--check` shows all changes."
            )


def _edits(
    export: ExportFolder, there: Mapping[str, str]
) -> Iterator[tuple[str, tuple[ExportProposal, ...]]]:
    for path, text in there.items():
        if PurePosixPath(path).name != TASKS and is_ours(text) and (found := read_back(text, export.known)):
            yield path, found


def _told(one: ExportProposal) -> str:
    what = one.id or f"a new {one.kind}" + (f" of {one.part_of}" if one.part_of else "")
    return f"{what}: {one_line(one.text, TEXT_CHARS)}"
