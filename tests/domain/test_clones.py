"""What an item's folder says counts, unless it is a clone's that has not heard yet of what another one committed."""

from bot.domain.message import Action
from bot.domain.meta import Meta
from bot.domain.outcomes import ItemState
from bot.domain.roundtable import Roundtable
from bot.domain.transitions.saving import refreshed
from tests.domain.table import Table

STEP = "00-01"


def after_a_step() -> Roundtable:
    return Table().start().do_step().press(Action.CONTINUE).rt


def folder(*steps: str, behind: bool) -> ItemState:
    return ItemState(meta=Meta(steps_completed=steps), behind=behind)


def test_a_step_that_somebody_took_away_is_gone() -> None:
    """People may edit meta.json by hand."""
    rt = refreshed(after_a_step(), folder(behind=False), ())

    assert rt.steps_completed == ()


def test_a_clone_that_is_behind_takes_nothing_away() -> None:
    """The step is done; and what that clone knows besides is not lost either."""
    rt = refreshed(after_a_step(), folder("00-02", behind=True), ())

    assert sorted(rt.steps_completed) == [STEP, "00-02"]


def test_what_was_committed_last_is_remembered() -> None:
    """By its last line: whoever has that is not behind."""
    table = Table().start().do_step()

    assert table.rt.held
    assert table.rt.held in table.world.meeting.decode()
    assert table.rt.held not in [line.message_id for line in table.rt.lines]
