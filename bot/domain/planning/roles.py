"""The seats of the workshop, in the order of speaking. Names are `actor`s of the transcript."""

import re
from collections.abc import Iterable

PRODUCT = "ProductPlanner"
SYSTEM = "SystemDesigner"
DEVELOPER = "SeniorDeveloper"
TESTS = "TestPlanner"
RISKS = "RiskPlanner"

_INSIDE = re.compile(r"(?<=[a-z])(?=[A-Z])")

ORDER = (PRODUCT, SYSTEM, DEVELOPER, TESTS, RISKS)


def seated(actors: Iterable[str]) -> tuple[str, ...]:
    """*actors* in the order of speaking; whoever has no seat of old comes after those who have."""
    present = tuple(dict.fromkeys(actors))
    return (*(role for role in ORDER if role in present), *(role for role in present if role not in ORDER))


def title(role: str) -> str:
    """As people say it: Test Planner."""
    return _INSIDE.sub(" ", role)


def titles(roles: Iterable[str]) -> str:
    """One, or some of them, in a sentence."""
    *others, last = map(title, roles)
    return f"{', '.join(others)} and {last}" if others else last
