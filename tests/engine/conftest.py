import pytest


@pytest.fixture(autouse=True)
def in_no_hurry(patient: None) -> None:
    """What is told apart here is who saves what, not how soon."""
