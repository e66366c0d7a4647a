import io
import logging
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from bot import log
from bot.domain.roundtable.state import Roundtable
from slack_sandbox import Sandbox
from tests.engine.replica import Replica, discussing, holding, replica
from tests.engine.review_room import Opening, room


@pytest.fixture(autouse=True)
def in_no_hurry(patient: None) -> None:
    """What is told apart here is who saves what, not how soon."""


@pytest.fixture
def rt() -> Roundtable:
    """A step is open; nothing is owed."""
    return discussing().rt.but(version=1)


@pytest.fixture
async def one(redis_url: str, rt: Roundtable) -> AsyncIterator[Replica]:
    """It has saved *rt*."""
    async with holding(redis_url, rt) as one:
        yield one


@pytest.fixture
async def other(redis_url: str) -> AsyncIterator[Replica]:
    """With the same Redis as `one`."""
    async with replica(redis_url) as other:
        yield other


@pytest.fixture
def open_room(slack: Sandbox, thread: str, tmp_path: Path) -> Opening:
    """Another process each time, that reviews the item of the thread."""
    return partial(room, slack, tmp_path, thread=thread)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The log as a machine reads it, and nothing else."""
    root, stream = logging.getLogger(), io.StringIO()
    handlers, level = root.handlers[:], root.level
    log.configure(stream=stream)
    yield stream
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(capture=False)
    for name in log.TALKATIVE:
        logging.getLogger(name).setLevel(logging.NOTSET)
