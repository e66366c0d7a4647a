import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot import log
from slack_sandbox.residents import User
from slack_sandbox.server import PEOPLE
from tests.all_steps import all_steps
from tests.e2e.meeting import LogLines, Meeting, sandbox
from tests.oracle import unlike
from tests.other.published import unlike_published


@pytest.fixture(autouse=True)
def every_record_holds(tmp_path: Path, steps: str) -> Iterator[None]:
    """Of every item that a test leaves behind, whatever it was about."""
    yield
    assert unlike(tmp_path, steps) == []


@pytest.fixture
def steps() -> str:
    """The folder of steps that the bot of a test has."""
    return all_steps()


@pytest.fixture
def log_lines() -> Iterator[LogLines]:
    """What machines read, one JSON object a line."""
    root, stream = logging.getLogger(), io.StringIO()
    before, level = root.handlers[:], root.level
    log.configure(stream=stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = before
    root.setLevel(level)


@pytest.fixture(params=["embedded", "redis"])
def where(request: pytest.FixtureRequest) -> dict[str, str]:
    """The setting for each kind of store, which is waited for as long as it takes."""
    request.getfixturevalue("patient")
    return {"REDIS_URL": request.getfixturevalue("redis_url")} if request.param == "redis" else {}


@pytest.fixture
def people() -> tuple[User, ...]:
    """All who are in the channel of a test's meeting."""
    return PEOPLE


@pytest.fixture
async def meeting(tmp_path: Path, people: tuple[User, ...]) -> AsyncIterator[Meeting]:
    """An empty workspace and a Slack to talk in, which is asked only what it documents; the bot is not running yet."""
    async with sandbox(people) as slack:
        yield Meeting(slack, tmp_path / "workspace")
        assert unlike_published(slack.calls) == []
