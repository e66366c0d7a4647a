"""The commands. Bad input gets one sentence on stderr and exit code 1, wrong usage 2; never a traceback."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from bot import app, check, listing, log
from bot.domain.json_file import pretty
from bot.errors import BotError, ConfigError
from bot.settings import Settings
from bot.slack.manifest import SHORTCUT, SHORTCUT_NAME, manifest

TRY_PORT = 8765
PROBLEM = 1
PUBLIC = re.compile(r"https://[^\s/]\S*")

commands = typer.Typer(
    help="Roundtable: a Slack bot that hosts roundtable discussions and keeps their record in git.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Json = Annotated[bool, typer.Option("--json", help="For scripts.")]


def main() -> None:
    try:
        commands()
    except BotError as error:
        typer.echo(str(error), err=True)
        sys.exit(PROBLEM)


@commands.command("try")
def try_out(
    port: Annotated[int, typer.Option(help="Of the page.", min=1, max=65535)] = TRY_PORT,
    workspace: Annotated[Path | None, typer.Option(help="Where items are kept.")] = None,
) -> None:
    """The bot in a Slack-compatible sandbox on this machine, with a page to talk in. Needs nothing else."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "REDIS_"))}
    if workspace:
        env["ROUNDTABLE_WORKSPACE"] = str(workspace)
    _settings(env)
    _run(_try(port, env))


@commands.command()
def run() -> None:
    """The bot in Slack: Socket Mode when SLACK_APP_TOKEN is set, otherwise HTTP."""
    _run(_serve(_settings(os.environ)))


@commands.command("check")
def check_everything(*, as_json: Json = False) -> None:
    """Preflight of everything that `run` needs: a table, and exit code 1 if anything would stop it."""
    try:
        found = asyncio.run(check.everything(_settings(os.environ)))
    except ConfigError as error:
        found = (check.unusable("settings", error),)
    typer.echo(_as_json(check.as_rows(found)) if as_json else check.as_text(found))
    raise typer.Exit(PROBLEM if any(one.stops for one in found) else 0)


@commands.command()
def items(*, as_json: Json = False) -> None:
    """What is in the workspace."""
    found = asyncio.run(listing.items(_settings(os.environ)))
    typer.echo(_as_json(found) if as_json else listing.items_as_text(found))


@commands.command()
def show(slug: str, *, as_json: Json = False) -> None:
    """One item's progress."""
    found = asyncio.run(listing.show(_settings(os.environ), slug))
    typer.echo(_as_json(found) if as_json else listing.show_as_text(found))


@commands.command("manifest")
def print_manifest(
    *,
    socket_mode: Annotated[
        bool, typer.Option("--socket-mode/--http", help="How Slack reaches the bot.")
    ] = True,
    url: Annotated[str | None, typer.Option(help="The bot's public address, for --http.")] = None,
) -> None:
    """The Slack app manifest as JSON."""
    if not socket_mode and not url:
        raise typer.BadParameter("--http needs --url, the bot's public address", param_hint="--url")
    if url and not PUBLIC.fullmatch(url):
        raise typer.BadParameter("Slack calls addresses that begin with https:// only", param_hint="--url")
    typer.echo(_as_json(manifest(socket_mode=socket_mode, url=url)))


def _settings(env: Mapping[str, str]) -> Settings:
    settings = Settings.from_env(env)
    log.configure(secrets=settings.secrets())
    return settings


def _run(work: Coroutine[Any, Any, None]) -> None:
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(work)


async def _serve(settings: Settings) -> None:
    _stop_on_signals()
    async with app.bot(settings):
        await _until_stopped()


async def _try(port: int, env: Mapping[str, str]) -> None:
    from bot.sandbox import App, Sandbox  # noqa: PLC0415 -- a bot in Slack does not load the sandbox

    _stop_on_signals()
    try:
        sandbox = Sandbox(port=port, app=App(shortcuts={SHORTCUT: SHORTCUT_NAME}))
        await sandbox.__aenter__()
    except OSError as error:
        raise ConfigError(
            f"Port {port} cannot be used ({error.strerror}). Try --port with another one."
        ) from error
    try:
        settings = Settings.from_env({
            **env,
            "SLACK_API_URL": sandbox.api_url,
            "SLACK_BOT_TOKEN": sandbox.bot_token,
            "SLACK_APP_TOKEN": sandbox.app_token,
        })  # fmt: skip
        async with app.bot(settings, web=False):
            typer.echo(f"Roundtable is at the table: open {sandbox.url}")
            typer.echo("Type `/roundtable start Offline sync` there. Stop with Ctrl-C; everything is kept in")
            typer.echo(f"{settings.workspace.resolve()}")
            await _until_stopped()
    finally:
        await sandbox.__aexit__(None, None, None)


def _stop_on_signals() -> None:
    """The first SIGTERM or Ctrl-C ends a start that waits, or the wait below; the second one ends everything."""
    loop, ours = asyncio.get_running_loop(), asyncio.current_task()
    assert ours

    def stop() -> None:
        if ours.cancelling():
            os._exit(PROBLEM)
        ours.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)


async def _until_stopped() -> None:
    """What comes after is an orderly end, and not a cancelled one."""
    with suppress(asyncio.CancelledError):
        await asyncio.Event().wait()


def _as_json(value: Any) -> str:
    return pretty(value).rstrip("\n")
