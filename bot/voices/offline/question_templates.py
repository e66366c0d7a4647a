"""The questions of the offline roles. Each begins in a way of its own, so that its answer is known for what it is."""

import re
from enum import StrEnum

from bot.domain.values.text import one_line
from bot.voices.offline.requirements import mentioned

SHOWN = 80


class Asks(StrEnum):
    """How a question of this kind begins."""

    WHY = "Whose problem does this solve, and how will they notice that it is gone?"
    WHAT = "What must people be able to do afterwards?"
    WHICH_OF_TWO = "Is it in or out:"
    WHERE = "Which files or modules does this change?"
    OPTION = "Which of the options is it, and why?"
    ORDER = "What has to be in place first, and what waits for what?"
    CRITERION = "How would somebody see that this works:"
    MEASURE = "What number stands behind"
    RISKS = "What could go wrong, and what would we do about it?"
    MITIGATION = "What do we do about this risk:"


_QUOTED = re.compile(r'"(?P<text>.*)"', re.DOTALL)


def what() -> str:
    return f"{Asks.WHAT} One line each, please."


def where() -> str:
    return f"{Asks.WHERE} One path or name a line, please."


def risks() -> str:
    return f'{Asks.RISKS} One line each, such as "The import is slow: run it at night".'


def which_of_two(requirement: str, title: str) -> str:
    return f"{Asks.WHICH_OF_TWO} {requirement} ({one_line(title, SHOWN)})?"


def criterion(requirement: str, title: str) -> str:
    return f"{Asks.CRITERION} {requirement} ({one_line(title, SHOWN)})?"


def measure(word: str, requirement: str) -> str:
    return f'{Asks.MEASURE} "{word}" in {requirement}?'


def mitigation(risk: str) -> str:
    return f'{Asks.MITIGATION} "{one_line(risk, SHOWN)}"?'


def kind_of(question: str) -> Asks | None:
    """None for a question that somebody else thought of."""
    return next((kind for kind in Asks if question.startswith(kind)), None)


def about(question: str) -> int | None:
    """The number of the requirement that *question* is about."""
    return next(iter(mentioned(question)), None)


def quoted_in(question: str) -> str:
    found = _QUOTED.search(question)
    return found["text"] if found else ""
