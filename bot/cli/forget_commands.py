"""`roundtable forget`: what people type, and what they are asked before anything is taken out."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import app
from bot.cli import forget as forgetting
from bot.cli.environment import read_settings
from bot.domain.messages import forget_wording
from bot.domain.values.json_files import pretty
from bot.errors import ConfigError
from bot.settings import Settings

forgets = typer.Typer(no_args_is_help=True)
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen where, and do nothing.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
History = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write what git filter-repo has to take out of the history."),
]


@forgets.command("person")
def forget_person(
    who: Annotated[str, typer.Argument(metavar="WHO", help="U0123ABCD of Slack, or p-… of people.json.")],
    *,
    words: Annotated[bool, typer.Option("--words", help="Take out what they said, too.")] = False,
    typed: Annotated[bool, typer.Option("--typed", help="Take out the name where others typed it.")] = False,
    slack: Annotated[
        bool, typer.Option("--slack", help="Edit the bot's posts that have these, too.")
    ] = False,
    history: History = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Take a person's name out of everything, and on request their words; the record still verifies."""
    settings, options = read_settings(os.environ), forgetting.PersonOptions(words, typed, slack)

    async def work() -> None:
        if slack:  # before anything is changed
            async with app.own_slack(settings):
                pass
        async with forgetting.opened_store(settings) as store:
            person = forgetting.PersonForgetting(settings, store, options)
            if _may_go_on(await person.plan(who), dry_run=dry_run, yes=yes):
                _print_done(await person.run(who), settings, history)

    asyncio.run(work())


@forgets.command("item")
def forget_item(
    slug: Annotated[str, typer.Argument(metavar="ITEM", help="An item of the workspace.")],
    *,
    slack: Annotated[
        bool, typer.Option("--slack", help="Delete the bot's posts in the thread, too.")
    ] = False,
    live: Annotated[bool, typer.Option("--live", help="Also while it is not finished.")] = False,
    history: History = None,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    """Remove an item: its files, what the bot keeps of it, and on request its posts."""
    settings = read_settings(os.environ)

    async def work() -> None:
        async with forgetting.opened_store(settings) as store:
            plan = await forgetting.plan_item(settings, store, slug, live=live)
            if _may_go_on(plan, dry_run=dry_run, yes=yes):
                done = await forgetting.forget_item(settings, store, slug, live=live, slack=slack)
                _print_done(done, settings, history)

    asyncio.run(work())


@forgets.command("expired")
def forget_expired(*, dry_run: DryRun = False) -> None:
    """Take out what is older than ROUNDTABLE_RETENTION keeps it. A bot that runs does so each night."""
    settings = read_settings(os.environ)

    async def work() -> None:
        async with forgetting.opened_store(settings) as store:
            due = app.expiry(settings, store, app.playbook(settings))
            typer.echo(
                forget_wording.of_expired(
                    *(await due.due() if dry_run else await due.run()), is_done=not dry_run
                )
            )

    asyncio.run(work())


def _may_go_on(plan: forgetting.ForgetPlan, *, dry_run: bool, yes: bool) -> bool:
    typer.echo(forget_wording.as_table(plan.rows))
    if dry_run:
        typer.echo("Nothing was changed.")
        return False
    if not (yes or typer.confirm("Do it?", err=True)):
        typer.echo("Nothing was changed.")
        raise typer.Exit(1)
    return True


def _print_done(done: forgetting.Forgotten, settings: Settings, history: Path | None) -> None:
    typer.echo(done.told)
    if history:
        typer.echo(forgetting.written_history(history, done.earlier, settings))


def export_person(who: str, out: Path | None) -> None:
    """All that is known of a person, to the file *out*; without one, printed."""
    settings = read_settings(os.environ)

    async def known() -> dict[str, Any]:
        async with forgetting.opened_store(settings) as store:
            return await forgetting.known_of(settings, store, who)

    text = pretty(asyncio.run(known())).rstrip("\n")
    if out is None or str(out) == "-":
        typer.echo(text)
        return
    try:
        out.write_text(f"{text}\n")
    except OSError as error:
        raise ConfigError(f"{out} cannot be written: {error.strerror}.") from error
    typer.echo(out)
