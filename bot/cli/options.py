"""What several commands have in common."""

from contextvars import ContextVar
from pathlib import Path
from typing import Annotated

import typer

PROBLEM, USAGE = 1, 2
"""Exit codes."""
TEAM: ContextVar[str] = ContextVar("team", default="")
"""What `--team` says."""
Json = Annotated[bool, typer.Option("--json", help="For scripts.")]
RecordFolder = Annotated[
    Path | None, typer.Option("--record", metavar="DIR", help="The bot's workspace; else this repository.")
]
