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
from bot.domain.item.export_places import SLUG
from bot.domain.specification.exported import ExportEdit
from bot.domain.values.text import one_line
from bot.errors import ConfigError
from bot.files import ARTIFACT_BYTES, folder
from bot.integrations.committed_exports import edits_in, in_the_way, is_tasks, known_words, sections_of
from bot.integrations.exported_edits import SECTIONS
from bot.integrations.exports import FORMATS, exported, format_names, format_of
from bot.settings import Settings

commands = typer.Typer()

TEXT_CHARS = 200
PERSON = "person"
COMMITTED = "Commit it, and it is proposed in the thread of the item; or take it out of the file."
ELSEWHERE = "Say it in the thread of the item, and take it out of the file."


class ExportFolder(NamedTuple):
    """
    `files` are texts by their paths in the repository, `place` the folder of all of them, `known` words by ids, and
    `way_back` says what becomes of changes there.
    """

    place: str
    files: Mapping[str, str]
    known: Mapping[str, str]
    way_back: str = COMMITTED
    headings: Mapping[str, str] = SECTIONS


@commands.command()
def export(
    item: Annotated[
        str, typer.Argument(metavar="ITEM | person WHO", help="An item of the workspace, or a person.")
    ],
    who: Annotated[
        str | None, typer.Argument(metavar="", help="With `person`: as for `forget person`.")
    ] = None,
    *,
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help=f"{', '.join(FORMATS)}, or of a plug-in.")
    ] = None,
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
        raise typer.BadParameter(f"give one of {', '.join(format_names())}", param_hint="--to")
    if to not in format_names():
        raise typer.BadParameter(f"{to!r} is not one of {', '.join(format_names())}", param_hint="--to")
    settings = read_settings(os.environ)
    root, made = out or settings.workspace, export_of(settings, item, to)
    made = made._replace(way_back=ELSEWHERE) if out else made
    try:
        told = tuple(differences(root, made) if check else written(root, made))
    except OSError as error:
        what = "read" if check else "written"
        why = f"{error.filename or root}: {error.strerror}"
        raise ConfigError(f"The export cannot be {what}: {why}.") from error
    for row in told:
        typer.echo(row)
    raise typer.Exit(PROBLEM if check and told else 0)


def export_of(settings: Settings, slug: str, target: str) -> ExportFolder:
    """Raises UserError where there is no such item, and WorkspaceError where it cannot be read."""
    item = parts.agreed(settings).item(slug)
    usual = format_of(target).folder
    folder = next((one.folder for one in settings.exports if one.format == target), usual)
    files, headings = exported(item, target, folder), sections_of([target])
    return ExportFolder(folder.replace(SLUG, slug), files, known_words(item), headings=headings)


def written(root: Path, export: ExportFolder) -> Iterator[str]:
    """The paths of the files that were written. Raises ConfigError before anything is, if something would be lost."""
    root.mkdir(parents=True, exist_ok=True)
    there = _there(root, export)
    if first := in_the_way(export.files, there):
        raise ConfigError(f"{first} was not written by Roundtable. Move it away, or choose another --out.")
    for path, edits in edits_in(there, export.known, export.headings):
        if path in export.files:
            raise ConfigError(
                f"{path} was changed by hand, in line {edits[0].line} ({_name_edit(edits[0])}). {export.way_back}"
                " `--check` shows all changes."
            )
    for path, text in _due(export, there):
        *parts, name = PurePosixPath(path).parts
        with folder(root, parts, make=True) as found:
            found.remove(name)
            found.create(name, text.encode())
        yield path


def differences(root: Path, export: ExportFolder) -> Iterator[str]:
    """A unified diff of each file, and then what was changed by hand."""
    there = _there(root, export)
    for path, text in _due(export, there):
        before = there.get(path, "").splitlines()
        yield from difflib.unified_diff(before, text.splitlines(), path, f"{path} (as agreed)", lineterm="")
    for path, edits in edits_in(there, export.known, export.headings):
        yield from (f"{path}:{one.line}: {_name_edit(one)}" for one in edits)


def _due(export: ExportFolder, there: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files that are not as they would be written. The tasks are written once."""
    for path, text in export.files.items():
        if there.get(path) != text and not (path in there and is_tasks(path)):
            yield path, text


def _there(root: Path, export: ExportFolder) -> dict[str, str]:
    """All files of the folder, by their paths in the repository. A file that is not UTF-8 belongs to others."""
    there = dict[str, str]()
    with suppress(FileNotFoundError), folder(root, PurePosixPath(export.place).parts) as top:
        for path in tuple(top.tree()):
            *below, name = PurePosixPath(export.place, path).parts
            with folder(root, below) as found:
                content = found.read(name, ARTIFACT_BYTES) or b""
            there[f"{export.place}/{path}"] = content.decode(errors="replace")
    return there


def _name_edit(one: ExportEdit) -> str:
    what = one.id or f"a new {one.kind}" + (f" of {one.part_of}" if one.part_of else "")
    return f"{what}: {one_line(one.text, TEXT_CHARS)}"
