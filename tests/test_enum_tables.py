"""Tables that are looked up by a member of an enumeration have a row for every member."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import chain

import pytest

import bot
import roundtable_eval
import slack_sandbox

PACKAGES = (bot, roundtable_eval, slack_sandbox)
PARTIAL = {
    "bot.domain.roundtable.transitions.asking.LOUD": "read with `get`",
    "bot.domain.roundtable.transitions.agents.NOT_ASKED_AT": "read with `get`",
    "bot.domain.specification.coverage._OF_ROWS": "read with `get`",
    "bot.domain.roundtable.transitions.trouble.AFTER_COMMIT": "read with `get`",
    "bot.domain.roundtable.transitions.silence.SECONDS": "the policy says the others",
    "bot.domain.roundtable.transitions.amending.ENTERED": "read with `get`",
    "bot.domain.transcript.fold._BY_PHASE": "read with `get`",
    "bot.slack.pace.BETWEEN_EDITS": "read with `get`",
    "slack_sandbox.events.EVENTS": "read with `get`",
    "bot.domain.roundtable.transitions.marking.ENTRY_OF": "read with `get`",
    "bot.domain.discussion.board.OUTCOMES": "an open objection has none, and one that was taken back is none",
    "bot.domain.messages.discussion_card.FATES": "iterated",
    "bot.domain.messages.discussion_wording.FATE_SAID": "an objection never becomes open",
    "bot.domain.roundtable.transitions.specifying.OUTCOMES": "read where it has a row",
}
"""Tables that do not have to have every row, and why."""


def tables() -> Iterator[tuple[str, Mapping[Enum, object]]]:
    """Every mapping of a module of ours whose keys are members of one enumeration."""
    ours = (pkgutil.walk_packages(package.__path__, f"{package.__name__}.") for package in PACKAGES)
    for found in chain.from_iterable(ours):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            if isinstance(value, Mapping) and value and len({type(key) for key in value}) == 1:
                (kind,) = {type(key) for key in value}
                if issubclass(kind, Enum):
                    yield f"{found.name}.{name}", value


@pytest.mark.parametrize(("name", "table"), [*tables()])
def test_a_table_has_a_row_for_every_member(name: str, table: Mapping[Enum, object]) -> None:
    """A stage that was added later is no KeyError for the person who asks."""
    if name in PARTIAL:
        return
    assert set(table) == set(type(next(iter(table))))
