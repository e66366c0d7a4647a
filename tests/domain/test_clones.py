"""What an item's folder says counts, unless it is a clone's that has not heard yet of what another one committed."""

from functools import cache

import pytest

from bot.domain.item.meta import Meta
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Commit, Post, ReadThread
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.outcomes import Failed, ItemState, ThreadMessage, ThreadRead
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.saving import refreshed
from bot.domain.values.places import Person
from tests.domain.table import Table, shipped

STEP = "00-01"


@cache
def after_a_step() -> Roundtable:
    return Table().start().do_step().press(Action.CONTINUE).rt


def folder(*steps: str, behind: bool) -> ItemState:
    return ItemState(meta=Meta(steps_completed=steps), behind=behind)


def test_a_step_that_somebody_took_away_is_gone_unless_the_clone_is_behind() -> None:
    """People may edit meta.json by hand."""
    rt = refreshed(after_a_step(), folder(behind=False), ())

    assert rt.steps_completed == ()

    rt = refreshed(after_a_step(), folder("00-02", behind=True), ())

    assert sorted(rt.steps_completed) == [STEP, "00-02"]


def test_what_was_committed_last_is_remembered() -> None:
    """By its last line: whoever has that is not behind."""
    table = Table().start().do_step()

    assert table.rt.last_line
    assert table.rt.last_line.is_in(table.world.meeting)
    assert table.rt.last_line.id not in [line.message_id for line in table.rt.lines]


# --- a workspace that went back -----------------------------------------------------------------------------------


def told(rt: Roundtable) -> list[str]:
    return [effect.message.text for effect in rt.outbox if isinstance(effect, Post)]


def lost(state: ItemState | None) -> Roundtable:
    rt = after_a_step()
    rt = rt.but(outbox=(), place=rt.place.but(thread="1.1"))
    return refreshed(rt, state, (), lost=True)


@pytest.mark.parametrize(("state", "after"), [(folder(behind=True).but(heard=("1.5",)), "1.5"), (None, "")])
def test_what_git_does_not_have_is_read_in_the_thread(state: ItemState | None, after: str) -> None:
    """From the last message on that is left; nothing that is done is asked again."""
    rt = lost(state)

    (reading,) = rt.outbox
    assert isinstance(reading, ReadThread)
    assert reading.after == after
    assert reading.lost == (STEP,)
    assert rt.steps_completed == (STEP,)


def test_its_words_are_written_again_and_ask_for_nothing() -> None:
    """With the progress that the store knows of."""
    rt = lost(None)
    reading = rt.outbox[0]
    assert isinstance(reading, ReadThread)
    said = ThreadMessage(person=Person(id="U1", name="Ada"), text="It is too bright.", ts="1.7", about=STEP)
    found = ThreadRead(key=reading.id, effect=reading.id, at=rt.now, heard=(said,), lost=reading.lost)
    rt = decide(rt, found, shipped())

    (sentence,) = told(rt)
    assert "the progress and 1 message of this thread" in sentence
    (commit,) = [effect for effect in rt.outbox if isinstance(effect, Commit)]
    assert commit.change.steps == (STEP,)
    assert "It is too bright." in [line.content for line in commit.lines]
    assert rt.answers == after_a_step().answers


def test_a_thread_that_cannot_be_read_is_no_reason_to_say_nothing() -> None:
    """The progress is written all the same."""
    rt = lost(None)
    reading = rt.outbox[0]
    refused = Failed(key=reading.id, effect=reading.id, at=rt.now, reason="missing_scope", sentence="No.")
    rt = decide(rt, refused, shipped())

    assert "I could not read all of the thread" in told(rt)[0]
    assert [effect.change.steps for effect in rt.outbox if isinstance(effect, Commit)] == [(STEP,)]
