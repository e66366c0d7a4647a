"""`roundtable export`: the files of an export in a repository. What others wrote or changed there is never lost."""

import difflib
import os
from collections.abc import Callable, Iterator, Mapping
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
from bot.errors import ConfigError, UserError, WorkspaceError
from bot.files import ARTIFACT_BYTES, folder
from bot.integrations.committed_exports import edits_in, in_the_way, is_tasks, known_words, sections_of
from bot.integrations.exported_edits import other_rows, rows_of
from bot.integrations.exports import FORMATS, exported, format_names, format_of
from bot.settings import Settings
from bot.storage.git.tree import files_at_tip

commands = typer.Typer()

TEXT_CHARS = 200
PERSON = "person"
COMMITTED = "Commit it, and it is proposed in the thread of the item; or take it out of the file."
ELSEWHERE = "Say it in the thread of the item, and take it out of the file."
ALL_CHANGES = "`--check` shows all changes."


class ExportFolder(NamedTuple):
    """
    `files` are texts by their paths in the repository, `place` the folder of all of them, `known` words by ids, and
    `way_back` says what becomes of changes there. `earlier` gives the files as they were for each commit of the item.
    """

    place: str
    files: Mapping[str, str]
    known: Mapping[str, str]
    headings: Mapping[str, str]
    earlier: Callable[[], Iterator[Mapping[str, str]]]
    way_back: str = COMMITTED


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
    read = parts.agreed_reader(settings, parts.read_kinds(settings))
    now = files_at_tip(settings.workspace)
    item = read(now).item(slug)
    usual = format_of(target).folder
    folder = next((one.folder for one in settings.exports if one.format == target), usual)

    def earlier() -> Iterator[Mapping[str, str]]:
        for version in now.versions(f"{settings.items_dir}/{slug}"):
            with suppress(UserError, WorkspaceError):
                yield exported(read(version).item(slug), target, folder)

    return ExportFolder(
        folder.replace(SLUG, slug),
        exported(item, target, folder),
        known_words(item),
        sections_of([target]),
        earlier,
    )


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
                f" {ALL_CHANGES}"
            )
    for path, row in _others(export, there).items():
        raise ConfigError(
            f"{path} was changed by hand, and would lose {one_line(row, TEXT_CHARS)!r}, which is no entry."
            f" Say it in the thread of the item, or move it to a file of its own. {ALL_CHANGES}"
        )
    for path, text in _due(export, there):
        *parts, name = PurePosixPath(path).parts
        with folder(root, parts, make=True) as found:
            found.remove(name)
            found.create(name, text.encode())
        yield path


def _others(export: ExportFolder, there: Mapping[str, str]) -> Mapping[str, str]:
    """By the paths of the files that are due: a row that is in no entry, and in no export of the item so far."""
    due = {
        path: other_rows(there[path], export.headings, text)
        for path, text in _due(export, there)
        if path in there
    }
    for files in export.earlier() if any(due.values()) else ():
        due = {path: rows - rows_of(files.get(path, "")) for path, rows in due.items()}
        if not any(due.values()):
            break
    return {path: min(rows) for path, rows in due.items() if rows}


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
