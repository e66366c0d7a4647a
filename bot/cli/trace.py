"""`roundtable trace` and `why`: of the clone of the code around this folder, with the record in it or beside it."""

import asyncio
import os
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from bot import parts
from bot.cli.environment import read_settings
from bot.cli.options import PROBLEM, USAGE, Json, RecordFolder
from bot.domain.item.export_places import FOLDERS
from bot.domain.item.item_paths import SHARED
from bot.domain.messages import entry_wording
from bot.domain.specification.claims import EntryState
from bot.domain.values.json_files import pretty
from bot.domain.values.text import counted, one_line
from bot.errors import BotError, ConfigError
from bot.files import chosen, folder
from bot.integrations import trace, trace_reports
from bot.integrations.agreed import AgreedItems
from bot.integrations.trace import (
    AgreedFacts,
    BaselineRow,
    CodeFacts,
    CodePlace,
    FindingLevel,
    ShownReason,
    Trace,
    TraceFile,
)
from bot.settings import Settings
from bot.shipped import release
from bot.storage.git.citing import BranchChanges, CitingCode

SHALLOW = "This clone is shallow, so commits cannot be read. In GitHub Actions set fetch-depth: 0 on actions/checkout."
NO_RECORD = "There is no item in the record at {root}. --record says where the workspace of the bot is."
EXPORTED = tuple(folder.partition("/")[0] for folder in FOLDERS.values())
"""Folders with copies of the record for other tools."""
MESSAGE_BYTES = 1024 * 1024
SCISSORS = "------------------------ >8 ------------------------"
"""What stands below it, git takes away."""
PLACE_CHARS = 200


commands = typer.Typer()
traces = typer.Typer()
commands.add_typer(traces, name="trace")


class TraceOptions(NamedTuple):
    record: Path | None = None
    items: str = ""
    base: str = ""
    check: bool = False
    as_json: bool = False
    sarif: Path | None = None
    comment: Path | None = None
    baseline_now: bool = False


class Printed(NamedTuple):
    """What a command prints, with *commands* for GitHub Actions. *failed*: it found what it was asked to look for."""

    out: str
    failed: bool = False
    commands: str = ""


class Clone(NamedTuple):
    """The code, its file, and the items of the record, which is at *record*."""

    code: CitingCode
    file: TraceFile
    items: AgreedItems
    record: Path

    @property
    def is_record(self) -> bool:
        return self.record == self.code.root


@traces.callback(invoke_without_command=True)
def trace_command(
    context: typer.Context,
    *,
    record: RecordFolder = None,
    items: Annotated[str, typer.Option(metavar="A,B", help="These items; else all.")] = "",
    base: Annotated[str, typer.Option(metavar="REV", help="What --comment compares this branch with.")] = "",
    checks: Annotated[
        bool, typer.Option("--check", help="Show what is not in the baseline; exit with 1 for an error.")
    ] = False,
    as_json: Json = False,
    sarif: Annotated[Path | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0.")] = None,
    comment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the comment of a pull request.")
    ] = None,
    message: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Check the message of a commit, and nothing else.")
    ] = None,
    baseline_now: Annotated[
        bool, typer.Option("--baseline-now", help="Let --check pass all that is found now.")
    ] = False,
) -> None:
    if context.invoked_subcommand:
        return
    if message:
        _print_trace(lambda settings: check_message(settings, message, record))
        return
    options = TraceOptions(record, items, base, checks, as_json, sarif, comment, baseline_now)
    _print_trace(lambda settings: trace_code(settings, options))


@traces.command("accept")
def accept_command(
    addresses: Annotated[list[str], typer.Argument(metavar="ITEM/ID...")], *, record: RecordFolder = None
) -> None:
    """The code was read again, and fits what these entries say now."""
    _print_trace(lambda settings: accept(settings, addresses, record))


@commands.command("why")
def why_command(
    place: Annotated[str, typer.Argument(metavar="PATH[:LINE]")],
    *,
    record: RecordFolder = None,
    as_json: Json = False,
) -> None:
    _print_trace(lambda settings: why(settings, place, record, as_json=as_json))


def _print_trace(work: Callable[[Settings], Coroutine[Any, Any, Printed]]) -> None:
    """Exit code 1 is what was found; all that kept it from being looked for is wrong usage."""
    plain = trace_reports.without_commands if _in_actions() else str
    try:
        ran = asyncio.run(work(read_settings(os.environ, level="ERROR")))
    except BotError as error:
        typer.echo(plain(str(error)), err=True)
        raise typer.Exit(USAGE) from error
    if ran.commands:
        typer.echo(ran.commands, err=True)
    if ran.out:
        typer.echo(plain(ran.out))
    raise typer.Exit(PROBLEM if ran.failed else 0)


def _in_actions() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


async def trace_code(settings: Settings, options: TraceOptions) -> Printed:
    """Raises BotError."""
    clone = await opened(settings, options.record)
    agreed, found = await _traced(settings, clone, options)
    file, findings, items = clone.file, found.findings, agreed.items
    since = await clone.code.since(options.base) if options.base else BranchChanges()
    touched = [
        entry
        for entry in found.entries
        if any(one.path in since.paths or one.commit in since.commits for one in entry.evidence)
    ]
    if options.baseline_now:
        file = trace.add_to_baseline(file, findings, items)
        _save(clone.code.root, file)
    known = frozenset(file.baseline)
    new = tuple(one for one in findings if one.known_as not in known)
    if options.sarif:
        record = f"{settings.items_dir}/{{}}/specification.json" if clone.is_record else trace.TRACE_FILE
        _write(options.sarif, pretty(trace_reports.sarif(new, version=release().version, record=record)))
    if options.comment:
        _write(options.comment, trace_reports.comment(touched, new, unsealed_lines=found.unsealed))
    shown = new if options.check else findings
    if options.as_json:
        out = pretty(found.but(findings=shown).model_dump(mode="json")).rstrip("\n")
    else:
        mended = trace.find_mended_rows(file, findings, items)
        rows = trace_reports.as_text(found, shown, old=len(findings) - len(shown))
        out = "\n".join((*rows, *_about_baseline(file, mended, options)))
    return Printed(
        out,
        failed=options.check and any(one.level is FindingLevel.ERROR for one in new),
        commands="\n".join(trace_reports.actions_commands(shown)) if _in_actions() else "",
    )


async def check_message(settings: Settings, file: Path, record: Path | None) -> Printed:
    """The message of a commit that is not made yet. Raises BotError."""
    try:
        message = chosen(file, MESSAGE_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from error
    rows = message.partition(SCISSORS)[0].splitlines()
    kept = "\n".join("" if row.startswith("#") else row for row in rows)
    if not (ids := trace.ids_named(kept)):
        return Printed("")
    clone = await opened(settings, record)
    wanted = trace.items_named(kept, clone.items.slugs, clone.file.items)
    found = trace.message_findings(_agreed(clone, clone.file.items, only=wanted, ids=ids), kept)
    return Printed("\n".join(map(trace_reports.finding_as_text, found)), failed=bool(found))


async def accept(settings: Settings, addresses: Sequence[str], record: Path | None) -> Printed:
    """Somebody read the code again: it fits what the entries say now. Raises BotError."""
    clone = await opened(settings, record)
    agreed = _agreed(clone, ())
    accepted = dict(clone.file.accepted)
    told = []
    for text in addresses:
        address = clone.items.show(text).address
        entry = agreed.entries[address]
        if entry.state is not EntryState.ACCEPTED:
            raise ConfigError(f"{address} is {entry.state.value}: only what is agreed can be accepted.")
        accepted[address] = trace.digest_of(entry)
        told.append(f"{address} is accepted as it is now: {one_line(entry.text)}")
    _save(clone.code.root, clone.file.but(accepted=dict(sorted(accepted.items()))))
    return Printed("\n".join(told))


async def why(settings: Settings, text: str, record: Path | None, *, as_json: bool) -> Printed:
    """Raises BotError."""
    found = await reasons(await opened(settings, record), text)
    if as_json:
        told = pretty([one.model_dump(mode="json") for one in found]).rstrip("\n")
    else:
        told = reasons_as_text(found) or f"Nobody cited an entry for {one_line(text, PLACE_CHARS)}."
    return Printed(told, failed=not found)


def reasons_as_text(found: Iterable[ShownReason]) -> str:
    return "\n\n".join(f"Because {one.how}:\n{entry_wording.as_text(one.entry)}" for one in found)


async def reasons(clone: Clone, text: str) -> Sequence[ShownReason]:
    """Why there is what stands at the place *text* of the code. Raises BotError."""
    if await clone.code.is_shallow():
        raise ConfigError(SHALLOW)
    files = await clone.code.files()
    place = _place(text, clone.code.root, files)
    blamed = await clone.code.blamed(place.path, place.line)
    code = CodeFacts(await clone.code.rows(within=place.path), await clone.code.commits(), files)
    found = trace.why(_agreed(clone, clone.file.items), code, place, blamed=blamed)
    return [ShownReason(how=how, entry=clone.items.show(address)) for address, how in found.items()]


# --- the clone and the record -----------------------------------------------------------------------------------------


async def opened(settings: Settings, record: Path | None) -> Clone:
    """The clone around this folder. Raises BotError."""
    root = await CitingCode(Path.cwd()).top()
    file = _read_file(root)
    place = record_folder(record or root / file.record)
    return Clone(CitingCode(root), file, items_at(settings, place), place)


def record_folder(given: Path) -> Path:
    """Raises ConfigError."""
    place = (Path.cwd() / given).resolve()
    if not place.is_dir():
        raise ConfigError(f"There is no folder {place} with a record.")
    return place


def items_at(settings: Settings, record: Path, revision: str = "") -> AgreedItems:
    """Of the commit *revision*, by default of the one that is checked out. Raises ConfigError."""
    found = parts.agreed(settings.model_copy(update={"workspace": record}), revision)
    if not found.slugs:
        raise ConfigError(NO_RECORD.format(root=record))
    return found


def _agreed(
    clone: Clone,
    items: Sequence[str],
    *,
    private: bool = True,
    only: Collection[str] | None = None,
    ids: frozenset[str] | None = None,
) -> AgreedFacts:
    """Without *private* items there are only those that are named. Of the items *only*, the entries *ids* are read."""
    asked = tuple(clone.items.item(one).slug for one in items)
    slugs = clone.items.slugs
    every = [clone.items.item(slug) for slug in slugs if only is None or slug in only]
    shown = [one for one in every if private or not one.private or one.slug in asked]
    known = tuple(one.slug for one in shown) if only is None else slugs
    return AgreedFacts((one.shown for one in shown), known, asked, private=len(every) - len(shown), only=ids)


async def _traced(settings: Settings, clone: Clone, options: TraceOptions) -> tuple[AgreedFacts, Trace]:
    code, file = clone.code, clone.file
    if await code.is_shallow():
        raise ConfigError(SHALLOW)
    asked = tuple(filter(None, map(str.strip, options.items.split(",")))) or file.items
    without = (*EXPORTED, trace.TRACE_FILE, *((str(settings.items_dir), SHARED) if clone.is_record else ()))
    agreed = _agreed(clone, asked, private=clone.is_record)
    facts = CodeFacts(await code.rows(without=without), await code.commits(), await code.files(), file.tests)
    found = trace.gathered(agreed, facts)
    dates = await code.last_changed(found.undated())
    return agreed, trace.trace(found, dates=dates, read=file.accepted)


def _place(text: str, root: Path, files: frozenset[str]) -> CodePlace:
    """A path as people see it from here, or from the top of the clone; a line behind a colon."""
    path, _, number = text.rpartition(":")
    line = int(number) if path and number.isascii() and number.isdigit() else 0
    for name, at in ((path, line), (text, 0)) if line else ((text, 0),):
        here = os.path.relpath(Path.cwd() / name, root)
        if found := next((one for one in (Path(here).as_posix(), name) if one in files), ""):
            return CodePlace(found, at)
    raise ConfigError(f"Git does not track {one_line(text, PLACE_CHARS)}.")


# --- files ------------------------------------------------------------------------------------------------------------


def _read_file(root: Path) -> TraceFile:
    try:
        with folder(root) as top:
            return trace.read_trace_file(top.read(trace.TRACE_FILE, trace.MOST_TRACE_FILE_BYTES))
    except OSError as error:
        raise ConfigError(f"{trace.TRACE_FILE} cannot be read: {error.strerror}.") from error


def _save(root: Path, file: TraceFile) -> None:
    place = root / trace.TRACE_FILE
    begun = place.with_name(f"{place.name}.new")
    _write(begun, trace.write_trace_file(file))
    begun.replace(place)


def _write(place: Path, text: str) -> None:
    try:
        place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{place} cannot be written: {error.strerror}.") from error


def _about_baseline(file: TraceFile, mended: Sequence[BaselineRow], options: TraceOptions) -> Iterator[str]:
    if options.baseline_now:
        yield f"{trace.TRACE_FILE} has {counted(len(file.baseline), 'finding')} that --check lets pass."
    if mended and options.check:
        rest = "of the baseline was mended" if len(mended) == 1 else "of the baseline were mended"
        yield f"{counted(len(mended), 'finding')} {rest}. roundtable trace --baseline-now drops what is gone."
