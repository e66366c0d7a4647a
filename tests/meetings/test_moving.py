"""Changing one's mind is welcome, and everybody can see because of what; without anything new it is marked."""

import pytest

from bot.domain.messages.message import Action
from tests.domain.table import Contribution
from tests.meetings.script import (
    ALEX,
    DONE,
    JORDAN,
    MAYA,
    Played,
    Pressed,
    Said,
    Script,
    fair,
    played,
    says,
)

FACT = Said("Jordan, the devices are offline for hours. What now?")  # t04
NOTE = 'Changed position on storage from "SQLite" to "Redis", without naming anything new.'


def meeting(*later: Contribution, people: tuple[Said | Pressed, ...] = (FACT, DONE)) -> Played:
    """Jordan holds out for SQLite, and then says something else."""
    personas = {
        MAYA: [says("Where do edits wait?", "Redis")],
        ALEX: [says("Redis is fast.", "Redis", "t01", new=True)],
        JORDAN: [says("A file will do.", "SQLite", "t01"), *later],
    }
    return played(Script(personas, people, [fair("t02", "t04")]))


def test_a_change_because_of_something_new_is_welcome() -> None:
    """A turn that the persona had not heard when it stood elsewhere."""
    found = meeting(says("Then Redis.", "Redis", "t04"))

    assert "flips" not in found.turns()[-1].meta
    assert (found.card["flips"], found.card["unbacked"], found.card["collapsed"]) == (1, 0, [])
    assert NOTE not in [message.note for message in found.thread]


@pytest.mark.parametrize("because", [(), ("t01",), ("t03",), ("t05",), ("t99",)])
def test_a_change_without_anything_new_is_flagged_on_its_line(because: tuple[str, ...]) -> None:
    """Nothing named, something known before, its own words, or a turn that nobody took."""
    found = meeting(says("Then Redis.", "Redis", *because, new=True))
    flagged = found.turns()[-1]

    assert flagged.meta["flips"] == [{"issue": "storage", "was": "SQLite", "position": "Redis"}]
    assert next(message for message in found.thread if message.text == "Then Redis.").note == NOTE
    assert (found.card["flips"], found.card["unbacked"]) == (1, 1)


def test_giving_in_without_anything_new_is_a_collapse() -> None:
    """All agree then, and nobody knows why."""
    found = meeting(says("Then Redis.", "Redis"))

    assert found.card["collapsed"] == ["storage"]
    assert "1 change of position, 1 without anything new" in found.shown.note


def test_what_was_not_heard_in_the_first_round_is_new_in_the_second() -> None:
    """Those who do not lead answer the framing without each other."""
    assert meeting(says("Alex is right.", "Redis", "t02")).card["unbacked"] == 0


def test_what_the_lead_said_in_the_first_round_was_heard() -> None:
    """Everybody answers the framing."""
    assert meeting(says("Maya is right.", "Redis", "t01")).card["unbacked"] == 1


def test_doing_as_people_decided_needs_no_other_reason() -> None:
    """They are the ones who decide."""
    people = (Pressed(Action.DECIDE, "0", "grace"), FACT, DONE)
    found = meeting(says("As Grace says.", "Redis"), people=people)

    assert (found.card["flips"], found.card["unbacked"], found.card["collapsed"]) == (1, 0, [])


def test_staying_is_no_change() -> None:
    """However often it is said."""
    assert meeting(says("Still a file.", "sqlite", "t04")).card["flips"] == 0
