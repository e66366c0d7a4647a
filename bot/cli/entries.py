"""`roundtable show` and `decisions`: entries, with who said what, from git alone."""

import asyncio
import logging
import os
from typing import Annotated

import typer

from bot import parts
from bot.cli.environment import read_settings
from bot.cli.options import Json
from bot.domain.messages import entry_wording
from bot.domain.specification import address
from bot.domain.specification.entries import DECISION
from bot.domain.specification.shown import ShownEntry
from bot.domain.values.json_files import pretty
from bot.errors import WorkspaceError
from bot.settings import Settings

log = logging.getLogger(__name__)
commands = typer.Typer()


@commands.command()
def show(
    text: Annotated[str, typer.Argument(metavar="ITEM[/ID]", help="An item, or an entry of it.")],
    *,
    at: Annotated[str, typer.Option(metavar="REV", help="An entry as of this commit.")] = "",
    as_json: Json = False,
) -> None:
    settings = read_settings(os.environ)
    if found := entry_at(settings, text, at):
        entry, unsealed = found
        typer.echo(
            pretty(entry.model_dump(mode="json")).rstrip("\n") if as_json else entry_wording.as_text(entry)
        )
        if unsealed:
            typer.echo(entry_wording.unsealed(unsealed), err=True)
        return
    if at:
        raise typer.BadParameter("--at goes with ITEM/ID", param_hint="--at")
    from bot.cli import items  # noqa: PLC0415 -- progress takes all that reads an item, and an entry does not

    progress = asyncio.run(items.show(settings, text))
    typer.echo(pretty(progress).rstrip("\n") if as_json else items.show_as_text(progress))


@commands.command()
def decisions(
    words: Annotated[list[str] | None, typer.Argument(help="All of them have to occur.")] = None,
    *,
    as_json: Json = False,
) -> None:
    found = matching_decisions(read_settings(os.environ), " ".join(words or ()))
    rows = [{**one.model_dump(mode="json"), "link": one.link} for one in found] if as_json else []
    typer.echo(pretty(rows).rstrip("\n") if as_json else entry_wording.decisions_as_text(found))


def entry_at(settings: Settings, text: str, revision: str) -> tuple[ShownEntry, int] | None:
    """
    At the address *text*, with the lines of its item that have no seal; None where that names an item. Raises UserError
    and WorkspaceError.
    """
    if not address.names_entry(text):
        return None
    known = parts.agreed(settings, revision)
    if not address.read_address(text, known.slugs).id:
        return None
    entry = known.show(text)
    return entry, known.item(entry.item).shown.unsealed


def matching_decisions(settings: Settings, words: str) -> tuple[ShownEntry, ...]:
    """Of every item, with all of *words*. An item whose record cannot be read has none, and the log says so."""
    known, found, titles = parts.agreed(settings), list[ShownEntry](), dict[str, str]()
    for slug in known.slugs:
        try:
            item = known.item(slug)
        except WorkspaceError as error:
            log.warning("%s", error)
            continue
        titles[slug] = item.title
        found += item.shown.entries(DECISION)
    return entry_wording.matching(found, words, titles)
