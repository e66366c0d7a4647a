"""
Writes docs/cli.md: every command of `roundtable`, with its arguments and options, as `roundtable COMMAND -h` has them.
The page is made from the parsers; `scripts/commands` writes it, and a test compares it.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer
from typer.core import TyperGroup

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bot.cli.main import COMMANDS, commands, load_command  # noqa: E402

PAGE = ROOT / "docs" / "cli.md"
KINDS: Mapping[Any, str] = {int: "NUMBER", float: "NUMBER", Path: "PATH"}
OR = "/"
HEAD = """# Commands

Every command of `roundtable`, with its arguments and options. It is made from the parsers: do not edit it, run
`scripts/commands`; a test compares it with the code.

Bad input gets one sentence on stderr and exit code 1, wrong usage 2. `-h` or `--help` after a command says the same as
this page, and `roundtable --install-completion` lets a shell complete all of it. [Settings](settings.md) come from the
environment.
"""


def page() -> str:
    root = typer.main.get_command(commands)
    parts = [HEAD, _described("roundtable", root)]
    for name in COMMANDS:
        parts += _pages(f"roundtable {name}", load_command(name))
    return "\n".join(parts)


def _pages(name: str, command: Any) -> Iterator[str]:
    yield _described(name, command)
    if isinstance(command, TyperGroup):
        for below, one in command.commands.items():
            yield from _pages(f"{name} {below}", one)


def _described(name: str, command: Any) -> str:
    words = [one for param in command.params if (one := _usage(param))]
    below = ["COMMAND …"] if isinstance(command, TyperGroup) else []
    usage = " ".join([name, *words, *below])
    rows = [_row(param) for param in command.params if param.name != "help"]
    table = ["| argument, option | |", "|---|---|", *rows, ""] if rows else []
    about = " ".join(str(command.help or "").split())
    return "\n".join([f"## {name}", "", about, "", f"    {usage}", "", *table])


def _usage(param: Any) -> str:
    """Arguments stand in the line of use, options in the table alone."""
    if param.param_type_name != "argument":
        return ""
    word = _word(param)
    return word if param.required else f"[{word}]"


def _row(param: Any) -> str:
    about = " ".join(str(getattr(param, "help", None) or "").split())
    if getattr(param, "required", False) and param.param_type_name != "argument":
        about = f"{about} Required.".strip()
    default = param.default
    if isinstance(default, int | str) and not isinstance(default, bool) and default != "":
        about = f"{about} By default `{getattr(default, 'value', default)}`.".strip()
    return f"| {_names(param)} | {about} |".replace("\n", " ")


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{_word(param)}`"
    value = "" if getattr(param, "is_flag", False) else f" {_word(param)}"
    return ", ".join(f"`{one}{value}`" for one in (*param.opts, *param.secondary_opts))


def _word(param: Any) -> str:
    """What stands for the value; choices are named."""
    kind = param.type_descriptor.annotation
    if param.metavar:
        return str(param.metavar)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return OR.join(str(one.value) for one in kind)
    if get_origin(kind) is Literal:
        return OR.join(map(str, get_args(kind)))
    if param.param_type_name == "argument":
        return str(param.name).upper()
    return KINDS.get(kind, "TEXT")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="scripts/commands", description=__doc__).parse_args()
    PAGE.write_text(page(), encoding="utf-8")
