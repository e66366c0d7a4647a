"""A code base with a record, and the commands in it."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine, Ran
from tests.integrations.traced import Trace, TracedCode


@pytest.fixture
def code(tmp_path: Path) -> TracedCode:
    return TracedCode(tmp_path / "code")


@pytest.fixture
def cli(loaded: CommandLine, code: TracedCode) -> Trace:
    async def run(*words: str, **env: str) -> Ran:
        return await loaded.run(code.git.root, *words, **{"GITHUB_ACTIONS": "", **env})

    return run
