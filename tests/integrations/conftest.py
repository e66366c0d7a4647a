"""A code base with a record, and the commands in it."""

from functools import partial
from pathlib import Path

import pytest

from tests.command_line import Cli, CommandLine
from tests.integrations.traced import TracedCode


@pytest.fixture
def code(tmp_path: Path) -> TracedCode:
    return TracedCode(tmp_path / "code")


@pytest.fixture
def cli(loaded: CommandLine, code: TracedCode) -> Cli:
    """Commands are run at the top of the clone."""
    return partial(loaded.run, code.git.root, GITHUB_ACTIONS="")
