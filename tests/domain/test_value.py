"""Values: frozen, and changed only by making another."""

import pytest
from pydantic import ValidationError

from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import Specification
from bot.domain.values.places import Place

PLACE = Place(team="T1", channel="C1", thread="1.1")


def test_a_change_makes_another_value_like_any_other() -> None:
    """Whoever holds the one before sees it as it was. The other is frozen, and written down the same."""
    moved = PLACE.but(channel="C2")

    assert (PLACE.channel, moved.channel) == ("C1", "C2")
    assert moved == Place(team="T1", channel="C2", thread="1.1")

    moved, copied = PLACE.but(channel="C2"), PLACE.model_copy(update={"channel": "C2"})

    assert moved.model_dump_json() == copied.model_dump_json()
    assert moved.model_fields_set == copied.model_fields_set
    assert hash(moved) == hash(copied)
    with pytest.raises(ValidationError, match="frozen"):
        moved.channel = "C3"  # type: ignore[misc]  # that is the point

    place = Place(team="T1", channel="C1")

    assert place.but(channel="C2").model_fields_set == {"team", "channel"}


def test_a_name_that_does_not_exist_is_a_mistake() -> None:
    """It would be lost without a word."""
    with pytest.raises(AssertionError, match="no such fields"):
        PLACE.but(chanel="C2")  # type: ignore[call-arg]  # the type checker says so, too


def test_what_was_found_of_a_value_is_not_taken_for_that_of_the_other() -> None:
    """A cached property is looked at again."""
    entry = Entry(id="RSK-001", kind="risk", step="01-01")
    before = Specification(entries={entry.id: entry})

    assert (before.active("risk"), before.but(entries={}).active("risk")) == ((entry,), ())
