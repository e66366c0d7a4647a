"""`roundtable key`: the keys of coding agents, in the file of ROUNDTABLE_AGENT_KEYS."""

import hmac
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from bot.cli.environment import read_settings
from bot.cli.options import Json
from bot.content.agent_keys import MOST_KEYS, SETTING, read_keys, write_keys
from bot.domain.catalog.policy import EVERY_PUBLIC_ITEM, AgentKey, digest_of
from bot.domain.values.json_files import pretty
from bot.errors import ConfigError
from bot.settings import Settings

commands = typer.Typer()
key_commands = typer.Typer(no_args_is_help=True)
commands.add_typer(key_commands, name="key")

KEY_SIGN = "rtk_"
NOT_SET = f"{SETTING} is not set. It is the path of the file with the keys, which this command writes."
SHOWN_ONCE = "It is shown this once, and kept nowhere. The agent sends it as `Authorization: Bearer …`."
SANDBOX_KEY, SANDBOX_LABEL = "coding-agent", b"roundtable try agent key 1"
FORMS = {
    "name": "the name of a key has at most 40 small letters, digits, `.`, `_` and `-`, such as claude-code-ada",
    "owner": "--owner is the id of a member of your workspace, such as U012ABCDEF",
    "items": "--items has names of items, or * for all in public channels, with commas",
}


@key_commands.command("create")
def create_command(
    name: Annotated[str, typer.Argument(help="What people read, for example claude-code-ada.")],
    *,
    owner: Annotated[str, typer.Option(metavar="U…", help="For whom the agent works: their id in Slack.")],
    items: Annotated[
        str, typer.Option(help="Items it may read, with commas; * are all in public channels.")
    ] = "*",
    may_ask: Annotated[bool, typer.Option("--may-ask", help="It may ask people in threads.")] = False,
) -> None:
    """A key for a coding agent. Its secret is printed once."""
    path = _path()
    keys = read_keys(path)
    if any(one.name == name for one in keys):
        raise ConfigError(f"There is a key {name} already. Withdraw it first: roundtable key withdraw {name}")
    if len(keys) >= MOST_KEYS:
        raise ConfigError(f"There are {MOST_KEYS} keys. Withdraw one first.")
    secret = f"{KEY_SIGN}{secrets.token_urlsafe(32)}"
    named = dict.fromkeys(filter(None, (one.strip() for one in items.split(","))))
    write_keys(path, (*keys, key_of(secret, name, owner=owner, items=tuple(named), may_ask=may_ask)))
    typer.echo(f"{secret}\n{SHOWN_ONCE}")


@key_commands.command("list")
def list_command(*, as_json: Json = False) -> None:
    """The keys, without what is secret."""
    keys = read_keys(_path())
    if as_json:
        typer.echo(pretty([one.model_dump(mode="json", exclude={"sha256"}) for one in keys]).rstrip("\n"))
        return
    rows = (f"{one.name}  {one.owner}  {_may(one)}" for one in keys)
    typer.echo("\n".join(rows) or "There are no keys.")


@key_commands.command("withdraw")
def withdraw_command(name: Annotated[str, typer.Argument(help="Its name.")]) -> None:
    """From now on the key opens nothing."""
    path = _path()
    keys = read_keys(path)
    left = [one for one in keys if one.name != name]
    if len(left) == len(keys):
        raise ConfigError(f"There is no key {name!r}.")
    write_keys(path, left)
    typer.echo(f"The key {name} opens nothing any more.")


def key_of(
    secret: str, name: str, *, owner: str, items: Sequence[str] = (EVERY_PUBLIC_ITEM,), may_ask: bool = False
) -> AgentKey:
    """Raises ConfigError."""
    try:
        return AgentKey(name=name, owner=owner, sha256=digest_of(secret), items=tuple(items), may_ask=may_ask)
    except ValidationError as error:
        field = str(error.errors(include_input=False)[0]["loc"][0])
        sentence = FORMS[field]
        raise ConfigError(f"{sentence[:1].upper()}{sentence[1:]}.") from None


def sandbox_key(settings: Settings, file: Path, owner: str, *, port: int) -> str:
    """
    The command that connects an agent to the bot of the sandbox at *port*, whose *file* has its key from now on. The
    secret follows from the key that the sandbox seals with, so that a restart does not change it.
    """
    sealing = settings.seal_key[-1].get_secret_value()
    secret = f"{KEY_SIGN}{hmac.digest(sealing.encode(), SANDBOX_LABEL, 'sha256').hex()}"
    write_keys(file, [key_of(secret, SANDBOX_KEY, owner=owner, may_ask=True)])
    header = f'--header "Authorization: Bearer {secret}"'
    return f"claude mcp add --transport http roundtable http://127.0.0.1:{port}/mcp {header}"


def _path() -> Path:
    settings = read_settings(os.environ, level="ERROR")
    if settings.agent_keys is None:
        raise ConfigError(NOT_SET)
    return settings.agent_keys


def _may(key: AgentKey) -> str:
    named = [one for one in key.items if one != EVERY_PUBLIC_ITEM]
    seen = ", ".join([*(["items of public channels"] if key.is_for_all else []), *named]) or "no items"
    return f"{'reads and asks' if key.may_ask else 'reads'}: {seen}"
