"""Commands that take more than git: they load the bot."""

import asyncio
import gc
import math
import os
import re
import signal
import socket
import sys
from collections.abc import Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from bot import app, parts
from bot.cli import check, forget_commands, replay, review
from bot.cli import items as listing
from bot.cli import scrub as scrubbing
from bot.cli.environment import read_settings
from bot.cli.options import PROBLEM, USAGE, Json
from bot.cli.replay import Form
from bot.content import mcp
from bot.domain.values.json_files import pretty
from bot.domain.values.text import counted
from bot.errors import BotError, ConfigError, ContentError
from bot.record.verify import RecordedItem
from bot.settings import Settings
from bot.slack.manifest import (
    BOT_EVENTS,
    MARK_SHORTCUT,
    MARK_SHORTCUT_NAME,
    SCOPES,
    SHORTCUT,
    SHORTCUT_NAME,
    manifest,
)
from bot.storage.git.tree import STATE

if TYPE_CHECKING:
    from roundtable_eval.demo_script import DemoScript

TRY_PORT = 8765
PUBLIC = re.compile(r"https://[^\s/]\S*")

commands = typer.Typer()


@commands.command("try")
def try_out(
    port: Annotated[int, typer.Option(help="Of the page.", min=1, max=65535)] = TRY_PORT,
    workspace: Annotated[Path | None, typer.Option(help="Where items are kept.")] = None,
    meeting: Annotated[Path | None, typer.Option(help="The file that --demo plays.")] = None,
    *,
    plays: Annotated[
        bool, typer.Option("--demo", help="Play a recorded meeting when the page is opened.")
    ] = False,
    with_log: Annotated[bool, typer.Option("--log", help="Show the bot's log, too.")] = False,
) -> None:
    if meeting and not plays:
        raise typer.BadParameter("--meeting says what --demo plays", param_hint="--meeting")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SLACK_", "REDIS_"))}
    if workspace:
        env["ROUNDTABLE_WORKSPACE"] = str(workspace)
    settings = read_settings(env, level="INFO" if with_log else "CRITICAL")
    own_key = app.sandbox_key(settings.workspace)
    if not settings.seal_key:
        env["ROUNDTABLE_SEAL_KEY"] = own_key
    _run(_try(port, env, _recorded(settings, meeting, plays=plays), at_once=plays))


@commands.command()
def run() -> None:
    _run(_serve(read_settings(os.environ, of_all=True)))


@commands.command("check")
def check_everything(*, as_json: Json = False) -> None:
    try:
        found = asyncio.run(check.everything(read_settings(os.environ, of_all=True)))
    except ConfigError as error:
        found = (check.failed_check("settings", error), *_token_key())
    found = (check.check_version(), *found)
    typer.echo(_as_json(check.as_rows(found)) if as_json else check.as_text(found))
    raise typer.Exit(PROBLEM if any(one.stops for one in found) else 0)


def _token_key() -> tuple[check.CheckResult, ...]:
    """One to copy, where that is what is missing."""
    if (
        not os.environ.get("SLACK_CLIENT_ID", "").strip()
        or os.environ.get("ROUNDTABLE_TOKEN_KEY", "").strip()
    ):
        return ()
    from bot.cli import check_teams  # noqa: PLC0415 -- of one workspace, nothing of this is loaded

    return (check_teams.fresh_key(),)


@commands.command("eval")
def evaluate(
    meetings: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders; else those that ship.")
    ] = None,
    *,
    scripted: Annotated[
        Literal["better", "same", "worse"] | None,
        typer.Option(help="Play contenders of planted quality: a test of the evaluation, without a model."),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Plays of each meeting by each contender.")] = 5,
    seed: Annotated[int, typer.Option(help="Of all that is drawn by chance.")] = 7,
    people: Annotated[
        str, typer.Option(metavar="MODEL", help="Chooses what the simulated people answer.")
    ] = "",
    judge: Annotated[
        str, typer.Option(metavar="MODEL", help="Compares records, too. It decides nothing.")
    ] = "",
    most_dollars: Annotated[
        float | None, typer.Option(min=0, help="Stop between meetings when so much is spent.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start without asking.")] = False,
    as_json: Json = False,
) -> None:
    from roundtable_eval import command, report  # noqa: PLC0415 -- a bot in Slack does not load it

    if scripted and (people or judge or most_dollars is not None):
        raise typer.BadParameter("--scripted calls no model", param_hint="--people, --judge, --most-dollars")
    if most_dollars is not None and not math.isfinite(most_dollars):
        raise typer.BadParameter("it has to be an amount", param_hint="--most-dollars")
    wanted = command.Wanted(meetings or (), scripted or "", repeats, seed, people, judge, most_dollars)

    def may_start(cost: str) -> bool:
        typer.echo(cost, err=True)
        return yes or typer.confirm("Start?", err=True)

    try:
        settings = read_settings(os.environ)
        hide = parts.redactor(settings)
        found = asyncio.run(command.evaluate(wanted, settings, lambda text: hide(text).text, may_start))
    except (BotError, typer.Abort, KeyboardInterrupt) as error:
        typer.echo(str(error) or "Not played.", err=True)
        raise typer.Exit(USAGE) from None
    if found is None:
        raise typer.Exit(USAGE)
    typer.echo(_as_json(report.as_json(found)) if as_json else report.as_text(found))
    raise typer.Exit(found.verdict.code)


@commands.command()
def items(*, as_json: Json = False) -> None:
    found = asyncio.run(listing.items(read_settings(os.environ)))
    typer.echo(_as_json(found) if as_json else listing.items_as_text(found))


@commands.command("review")
def show_review(
    file: Annotated[Path, typer.Argument(help="A review.", readable=False)],
    *,
    slug: Annotated[
        str | None, typer.Option("--item", metavar="SLUG", help="Keep it as the item's next review, too.")
    ] = None,
    channel: Annotated[
        str | None, typer.Option(metavar="C", help="Where to post it, if not to the triage channel.")
    ] = None,
    post: Annotated[
        bool, typer.Option("--post", help="Post the line to Slack: into the item's one message with --item.")
    ] = False,
) -> None:
    if channel and not post:
        raise typer.BadParameter("--channel says where to --post", param_hint="--channel")
    content = review.content_of(file)
    line = review.line_of(content)
    typer.echo(line)
    if slug is not None:
        kept = asyncio.run(review.keep(read_settings(os.environ), slug, content))
        typer.echo(f"Kept as {kept.path}")
        if post:
            shown = asyncio.run(review.show(read_settings(os.environ), slug, kept, channel=channel or ""))
            typer.echo("Posted" if shown else "Slack does not take it now; the bot posts it later")
    elif post:
        where = asyncio.run(review.post(read_settings(os.environ), line, content, channel=channel or ""))
        typer.echo(f"Posted to {where}")


@commands.command("replay")
def replay_record(
    slug: Annotated[
        str, typer.Argument(help="An item of the workspace, or any file of its format (.jsonl).")
    ],
    *,
    at: Annotated[int | None, typer.Option(help="The state after this line.", min=1)] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare it with all that is kept.")] = False,
    against_slack: Annotated[
        bool, typer.Option("--against-slack", help="With --verify: compare it with the thread in Slack, too.")
    ] = False,
    key: Annotated[
        str, typer.Option(help="With --verify: the id of the key whose seals count, and no other.")
    ] = "",
    as_json: Json = False,
    html: Annotated[Path | None, typer.Option(help="Write one page that needs nothing else.")] = None,
) -> None:
    if sum((verify, as_json, html is not None)) > 1:
        raise typer.BadParameter("one of --verify, --json and --html at a time")
    if key and not verify:
        raise typer.BadParameter("--key goes with --verify", param_hint="--key")
    if against_slack and not verify:
        raise typer.BadParameter("--against-slack goes with --verify", param_hint="--against-slack")
    settings = read_settings(os.environ)
    item = replay.item(settings, slug)
    try:
        if verify:
            _verify(item, settings, key=key, against_slack=against_slack)
        elif html:
            replay.written(item, html, until=at, labels=replay.labels(settings))
        else:
            for piece in replay.shown(item, Form.JSON if as_json else Form.MARKDOWN, until=at):
                typer.echo(piece, nl=False)
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise ConfigError(
            f"The record of {slug} cannot be read or written: {error.strerror}{where}."
        ) from error


commands.add_typer(forget_commands.forgets, name="forget")


@forget_commands.forgets.command("secrets")
@commands.command()
def scrub(
    slug: Annotated[str | None, typer.Argument(help="An item of the workspace.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Every item.")] = False,
) -> None:
    """Take secrets out of an item's files, in a commit of its own, and say where git still has them."""
    if (slug is None) is not everything:
        raise typer.BadParameter("one item, or --all", param_hint="SLUG")
    settings = read_settings(os.environ)
    slugs = scrubbing.items(settings, slug)
    state = asyncio.run(scrubbing.states(settings, slugs))
    holding = False
    for one in scrubbing.scrubbed(settings, slugs, state):
        typer.echo(scrubbing.as_text(one))
        holding = holding or one.is_in_history
    if holding:
        typer.echo(scrubbing.WHAT_TO_DO)
    if state.problem:
        typer.echo(scrubbing.not_in_the_state(state.problem))
    if holding or state.problem:
        raise typer.Exit(PROBLEM)


@commands.command("manifest")
def print_manifest(
    *,
    socket_mode: Annotated[
        bool, typer.Option("--socket-mode/--http", help="How Slack reaches the bot.")
    ] = True,
    url: Annotated[str | None, typer.Option(help="The bot's public address, for --http and --teams.")] = None,
    agent: Annotated[
        bool,
        typer.Option(
            "--agent", help="Declare the app an agent: people can write to it directly, and stop it."
        ),
    ] = False,
    teams: Annotated[
        bool, typer.Option("--teams", help="Several workspaces, or an organization, install the app.")
    ] = False,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="With --teams: tokens live for 12 hours. Slack cannot undo it.")
    ] = False,
) -> None:
    if rotate and not teams:
        raise typer.BadParameter("--rotate goes with --teams", param_hint="--rotate")
    if teams and not url:
        raise typer.BadParameter("--teams needs --url, the bot's public address", param_hint="--url")
    if not socket_mode and not url:
        raise typer.BadParameter("--http needs --url, the bot's public address", param_hint="--url")
    if url and not PUBLIC.fullmatch(url):
        raise typer.BadParameter("Slack calls addresses that begin with https:// only", param_hint="--url")
    typer.echo(_as_json(manifest(socket_mode=socket_mode, url=url, agent=agent, teams=teams, rotate=rotate)))


def _verify(item: RecordedItem, settings: Settings, *, key: str, against_slack: bool) -> None:
    """The first difference is the one to look at; it may be why there are others. It may quote what was scrubbed."""
    redact = parts.redactor(settings)
    keys = replay.keys_for(item, settings, key)
    found = replay.verified(item, keys, replay.playbook(settings))
    waiting = 0
    if against_slack:
        thread, waiting = asyncio.run(replay.against_thread(settings, item))
        found += thread
    for one in found:
        typer.echo(redact(str(one)).text)
    if found:
        raise typer.Exit(PROBLEM)
    typer.echo("The record holds: every seal holds, and every file is what its lines say.")
    for sentence in (*replay.made_with(item, replay.playbook(settings)), *replay.sealed_by(item, keys)):
        typer.echo(sentence)
    if against_slack:
        rest = f"; {counted(waiting, 'message')} in it will go into the next commit" if waiting else ""
        typer.echo(f"The thread in Slack has what the record has{rest}.")


def _run(work: Coroutine[Any, Any, None]) -> None:
    with suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(work)


async def _serve(settings: Settings) -> None:
    _stop_on_signals()
    async with _bot(settings):
        gc.freeze()  # what was loaded at the start stays
        await _until_stopped()


def _bot(settings: Settings) -> AbstractAsyncContextManager[object]:
    if not settings.several:
        return app.bot(settings)
    from bot import tenants  # noqa: PLC0415 -- a bot of one workspace does not load it

    return tenants.bot(settings)


SHORTCUTS = {SHORTCUT: SHORTCUT_NAME, MARK_SHORTCUT: MARK_SHORTCUT_NAME}
AGENT_KEYS = "agent-keys.json"
CONNECT_NEEDS = "# Run this in the clone of Roundtable, and start it again.\npip install '.[mcp]'"
EXAMPLE = "/roundtable start Rate limiting of the public API"
"""On the first screen of the sandbox's page."""


def _recorded(settings: Settings, file: Path | None, *, plays: bool) -> "DemoScript | None":
    """What the page offers; nothing where it does not fit own personas, and nothing else was asked for."""
    from roundtable_eval import demo  # noqa: PLC0415 -- a bot in Slack does not load it

    try:
        return demo.script_of(file, app.playbook(settings))
    except ContentError:
        if plays:
            raise
        return None


async def _try(port: int, env: Mapping[str, str], script: "DemoScript | None", *, at_once: bool) -> None:
    from roundtable_eval.demo import Demo  # noqa: PLC0415 -- a bot in Slack does not load the sandbox
    from slack_sandbox import App, Sandbox  # noqa: PLC0415 -- as above
    from slack_sandbox.recording import Recording  # noqa: PLC0415 -- as above

    _stop_on_signals()
    agents = _agents_of_sandbox(Settings.from_env(env), port)
    try:
        installed = App(
            shortcuts=SHORTCUTS, events=frozenset(BOT_EVENTS), example=EXAMPLE, connect=agents.connect
        )
        sandbox = Sandbox(port=port, app=installed)
        sandbox.scopes.intersection_update(SCOPES)  # no more than what the manifest asks for
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
            **agents.env,
        })  # fmt: skip
        demo = Demo(sandbox, script, playbook=app.playbook(settings), settings=settings) if script else None
        how = app.Variations(over=demo.over, policies=demo.policies) if demo else app.AS_SET
        async with app.bot(settings, web=False, how=how):
            if script and demo:
                sandbox.offer(Recording(script.title, demo.play, at_once=at_once))
            typer.echo(f"Roundtable is running. Open {sandbox.url} in your browser; Ctrl-C stops it.")
            await _until_stopped()
    finally:
        await sandbox.__aexit__(None, None, None)


class SandboxAgents(NamedTuple):
    """How coding agents come to the bot of the sandbox: its settings, and the command that connects one."""

    env: Mapping[str, str] = MappingProxyType({})
    connect: str = ""


def _agents_of_sandbox(settings: Settings, page_port: int) -> SandboxAgents:
    """None where no port is free near that of the page."""
    from bot.cli import keys as agents  # noqa: PLC0415 -- a bot in Slack does not load it
    from slack_sandbox.server import PEOPLE  # noqa: PLC0415 -- as above

    port = next((one for one in range(page_port + 1, min(page_port + 21, 65_536)) if _is_free(one)), 0)
    if not mcp.is_installed():
        return SandboxAgents(connect=CONNECT_NEEDS)
    if not port:
        return SandboxAgents()
    file = settings.workspace / STATE / AGENT_KEYS
    connect = agents.sandbox_key(settings, file, PEOPLE[0].id, port=port)
    return SandboxAgents({"ROUNDTABLE_AGENT_KEYS": str(file), "ROUNDTABLE_PORT": str(port)}, connect)


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


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
