"""`roundtable key`: what people type."""

import os
from typing import Annotated

import typer

from bot.cli.environment import read_settings

keys = typer.Typer(no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="One JSON document, for scripts.")]


@keys.command("create")
def create_agent_key(
    name: Annotated[str, typer.Argument(help="What people read, for example claude-code-ada.")],
    *,
    owner: Annotated[str, typer.Option(metavar="U…", help="For whom the agent works: their id in Slack.")],
    items: Annotated[
        str, typer.Option(help="Items it may read, with commas; * are all in public channels.")
    ] = "*",
    may_ask: Annotated[bool, typer.Option("--may-ask", help="It may ask people in threads.")] = False,
) -> None:
    """A key for a coding agent. Its secret is printed once."""
    from bot.cli import keys as agent_keys  # noqa: PLC0415 -- a bot in Slack does not load it

    settings = read_settings(os.environ, level="ERROR")
    typer.echo(agent_keys.create_key(settings, name, owner=owner, items=items, may_ask=may_ask))


@keys.command("list")
def list_agent_keys(*, as_json: Json = False) -> None:
    """The keys, without what is secret."""
    from bot.cli import keys as agent_keys  # noqa: PLC0415 -- a bot in Slack does not load it

    typer.echo(agent_keys.list_keys(read_settings(os.environ, level="ERROR"), as_json=as_json))


@keys.command("withdraw")
def withdraw_agent_key(name: Annotated[str, typer.Argument(help="Its name.")]) -> None:
    """From now on the key opens nothing."""
    from bot.cli import keys as agent_keys  # noqa: PLC0415 -- a bot in Slack does not load it

    typer.echo(agent_keys.withdraw_key(read_settings(os.environ, level="ERROR"), name))
