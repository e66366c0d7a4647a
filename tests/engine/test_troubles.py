"""How a trouble is logged."""

import logging

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.engine.performers import log_trouble


@pytest.mark.parametrize(
    ("code", "level"),
    [
        ("ERR-META-001", logging.INFO),
        ("ERR-ART-001", logging.WARNING),
        ("ERR-META-003", logging.ERROR),
        ("ERR-INT-001", logging.CRITICAL),
    ],
)
def test_a_trouble_is_one_line_with_its_code_once(
    code: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """At the level that its severity asks for, silent ones included."""
    one = trouble(code)

    with caplog.at_level(logging.INFO):
        log_trouble(one)

    [line] = caplog.records
    assert line.levelno == level
    assert line.getMessage() == one.log
    assert line.getMessage().count(code) == 1
