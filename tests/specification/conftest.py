"""A meeting in which nobody has said anything yet."""

import pytest

from tests.specification.meeting import Meeting


@pytest.fixture
def meeting() -> Meeting:
    return Meeting()
