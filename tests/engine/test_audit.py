"""Every command of people has its word in the audit log, or is only words."""

import io
import json
from typing import get_args

import pytest

from bot.domain.actions.table import ACTIONS
from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.item.item import Item
from bot.domain.roundtable.inputs import (
    Amend,
    AnswerDirectly,
    AnswerQuestion,
    Command,
    Press,
    Resume,
    Retract,
    Say,
    Start,
)
from bot.domain.values.places import Person
from bot.engine.audit import audited
from tests.storage.samples import NOW, PLACE, SLUG, a_roundtable

ADA = Person(id="U1", name="Ada")
BEFORE = a_roundtable(step_id="01-01")
AFTER = BEFORE.but(version=2)


@pytest.mark.parametrize("action", list(ACTIONS))
def test_every_button_has_its_word(action: str, lines: io.StringIO) -> None:
    """A line can be filtered by `logger` and `event`, and says who, what and where."""
    press = Press(key="k", at=NOW, person=ADA, action=action, token="t", ts="1.1", value="secret words")
    audited(press, BEFORE, AFTER)

    line = json.loads(lines.getvalue())
    assert line.pop("timestamp")
    assert line == {
        "event": action,
        "logger": "audit",
        "level": "info",
        "team": "T1",
        "person": "U1",
        "item": SLUG,
        "step": "01-01",
    }


@pytest.mark.parametrize(
    "kind",
    [
        one
        for one in get_args(Command)
        if one not in {Press, Say, AnswerDirectly, AnswerQuestion, Amend, Retract}
    ],
)
def test_every_command_has_its_word(kind: type[Command], lines: io.StringIO) -> None:
    """Only words and their corrections have none."""
    fields = {
        "item": Item(slug=SLUG, title="x"),
        "place": PLACE,
        "depth": "deep",
        "muted": True,
        "patches": (),
        "entries": ("WRK-001",),
        "ts": "1.1",
        "mark": "decision",
        "step_id": "01-01",
        "text": "Within a minute",
        "position": SealedPosition(option="A"),
        "words": "It drains the battery",
        "entry": "OBJ-001",
        "fate": "risk",
        "because": "We measure it",
        "due": NOW,
    }
    given = {name: value for name, value in fields.items() if name in kind.model_fields}
    audited(kind(key="k", at=NOW, person=ADA, **given), BEFORE, AFTER)

    assert len(lines.getvalue().splitlines()) == 1


def test_what_changes_nothing_is_not_there(lines: io.StringIO) -> None:
    """Slack repeats; and an item that the store had lost was begun by nobody."""
    resume = Resume(key="k", at=NOW, person=ADA, place=PLACE)
    audited(resume, BEFORE, BEFORE)
    start = Start(key="lost.k", at=NOW, person=ADA, place=PLACE, item=Item(slug=SLUG, title="x"))
    audited(start, None, AFTER)
    audited(Say(key="k", at=NOW, person=ADA, text="Hello", ts="1.1"), BEFORE, AFTER)

    assert not lines.getvalue()
