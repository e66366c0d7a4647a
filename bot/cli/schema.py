"""`roundtable schema`."""

from typing import Annotated

import typer

from bot.shipped import schema_text

commands = typer.Typer()


@commands.command()
def schema(name: Annotated[str, typer.Argument(help="For example entry, specification or persona.")]) -> None:
    typer.echo(schema_text(name), nl=False)
