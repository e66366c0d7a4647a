"""The commands. Bad input gets one sentence on stderr and exit code 1, wrong usage 2; never a traceback."""

import gc
import sys
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from bot.cli.options import PROBLEM, TEAM
from bot.errors import BotError
from bot.shipped import release

GARBAGE = (10_000, 20, 50)
"""
For `gc.set_threshold`; the usual is (700, 10, 10). Frozen values have no cycles: by default Python would look through a
thousand roundtables every few seconds, which delays answers by a tenth of a second, and twice as long for entries.
"""


Loaded = TyperCommand | TyperGroup


class CommandRow(NamedTuple):
    """`module` of `bot.cli` has the command; it is loaded when the command runs."""

    module: str
    help: str


_TABLE = {
    "try": ("commands",
        "The bot in a Slack-compatible sandbox on this machine, with a page to talk in. Needs nothing else."),
    "run": ("commands", "The bot in Slack: Socket Mode when SLACK_APP_TOKEN is set, otherwise HTTP."),
    "check": ("commands",
        "Preflight of everything that `run` needs: a table, and exit code 1 if anything would stop it."),
    "eval": ("commands",
        ("Plays meetings with the configured models: the panel beside one model alone. Exits with 0 when the "
        "panel is better than every rival, 1 when one model is better, 3 when that is not decided, and 2 "
        "when it could not be played.")),
    "items": ("commands", "What is in the workspace."),
    "show": ("entries", "One item's progress; or an entry, with who said it, in which words, and where."),
    "decisions": ("entries", "What was decided, in all items: who, when, why, and what it replaced."),
    "review": ("commands",
        "The triage line of a review. It is shown and nothing else: no verdict is an error."),
    "replay": ("commands",
        ("What was said about an item and what it has come to, from its transcript alone; or whether that "
        "still holds.")),
    "forget": ("commands", "Forget a person, an item, or secrets."),
    "scrub": ("commands",
        "Take secrets out of an item's files, in a commit of its own, and say where git still has them."),
    "trace": ("trace",
        ("What the code shows of what was agreed: no test, an entry that changed since, an id that does not "
        "exist.")),
    "why": ("trace", "From code back to the entries that it is about, and to who said them."),
    "mcp": ("agents",
        ("What was agreed, for coding agents: a server of the Model Context Protocol on standard input and "
        "output.")),
    "key": ("keys", "Keys of coding agents, which may read and ask over HTTP."),
    "manifest": ("commands", "The Slack app manifest as JSON."),
    "export": ("exports",
        ("Write what is agreed as files for spec-kit, OpenSpec or Kiro. Files that were changed by hand are "
        "left alone. With `person WHO`: all that is known of a person, as JSON.")),
    "schema": ("schema", "The JSON Schema of a file, or of what a command prints with --json."),
}  # fmt: skip
COMMANDS = {name: CommandRow(*row) for name, row in _TABLE.items()}


class _Commands(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 -- as click has it
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:  # noqa: ARG002 -- as above
        """As it stands in a list."""
        row = COMMANDS.get(cmd_name)
        return TyperCommand(cmd_name, help=row.help) if row else None

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Loaded | None, list[str]]:
        name, found, rest = super().resolve_command(ctx, args)
        return name, load_command(name) if name and found else None, rest


def load_command(name: str) -> Loaded:
    row = COMMANDS[name]
    found = typer.main.get_group(import_module(f"bot.cli.{row.module}").commands).commands[name]
    assert isinstance(found, Loaded)
    found.help = row.help
    return found


commands = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)


def main() -> None:
    gc.set_threshold(*GARBAGE)
    try:
        commands()
    except BotError as error:
        typer.echo(str(error), err=True)
        sys.exit(PROBLEM)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"roundtable {release()}")
        raise typer.Exit


@commands.callback()
def roundtable(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda wanted: _print_version(wanted=wanted),
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
    team: Annotated[
        str,
        typer.Option(
            "--team", metavar="T012", help="Of several, the Slack workspace that a command is about."
        ),
    ] = "",
) -> None:
    """Roundtable: a Slack bot that hosts roundtable discussions and keeps their record in git."""
    TEAM.set(team)
