"""
Questions that coding agents put to the team, as entries.

The question stays what the agent proposed. Only its `answer` is accepted, and each answer is that of a person.
"""

from collections.abc import Iterator
from enum import StrEnum

from bot.domain.specification.claims import Claim, Entry, PartyKind
from bot.domain.specification.entries import Specification
from bot.domain.values.text import values
from bot.domain.values.value import Value

QUESTION, ANSWER = "question", "answer"
ASKED_FOR, ASKED_AT, OPTIONS = "asked_for", "asked_at", "options"
"""Fields of such an entry alone: for which person, when, and what the agent offers as answers."""
TAKEN_BACK = ".withdrawn"
"""Behind the line of the question: the line by which its agent took it back."""


class QuestionState(StrEnum):
    """What became of a question."""

    OPEN = "open"
    ANSWERED = "answered"
    CONTESTED = "contested"
    """People gave different answers."""
    DECLINED = "declined"
    """A person said that it is not for them."""
    WITHDRAWN = "withdrawn"
    """The agent took it back."""


class PersonAnswer(Value):
    """`by` is the name of who said it, or accepted it. `words` are data."""

    by: str
    words: str


class QuestionStatus(Value):
    """
    `status` is open, answered, contested, declined, withdrawn or `not asked`; for the last, `why` says so, and the same
    call may be made again after *retry_after* seconds, if that is not 0. `link` leads to the message in Slack.
    """

    question: str = ""
    status: str
    answers: tuple[PersonAnswer, ...] = ()
    link: str = ""
    why: str = ""
    retry_after: int = 0


def is_asked_by_agent(entry: Entry) -> bool:
    """Until a person accepts its words: then it is theirs, too."""
    return entry.kind == QUESTION and entry.first is not None and entry.first.proposed.kind is PartyKind.AGENT


def asked_by_agents(specification: Specification) -> Iterator[Entry]:
    """In the order in which they were asked."""
    return filter(is_asked_by_agent, specification.entries.values())


def agent_of(entry: Entry) -> str:
    return entry.first.proposed.by if entry.first else ""


def line_of(entry: Entry) -> str:
    """The line that asked it."""
    return entry.first.line if entry.first else ""


def options_of(entry: Entry) -> tuple[str, ...]:
    return values(entry[OPTIONS])


def question_state(entry: Entry) -> QuestionState:
    if entry.gone:
        is_own = entry.withdrawn == f"{line_of(entry)}{TAKEN_BACK}"
        return QuestionState.WITHDRAWN if is_own else QuestionState.DECLINED
    if entry.contested(ANSWER):
        return QuestionState.CONTESTED
    return QuestionState.ANSWERED if answers_of(entry) else QuestionState.OPEN


def answers_of(entry: Entry) -> tuple[Claim, ...]:
    """Those that count: all sides while people differ, else the newest."""
    given = [one for one in entry.claims.get(ANSWER, ()) if one.accepted and not one.stale]
    return entry.contested(ANSWER) or tuple(given[-1:])
