import io
import logging
from collections.abc import Iterator

import pytest

from bot import log


@pytest.fixture(autouse=True)
def in_no_hurry(patient: None) -> None:
    """What is told apart here is who saves what, not how soon."""


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
