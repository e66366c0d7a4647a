"""Stopping: at any moment, with everything said so far saved, and one button that goes on."""

from collections.abc import Callable

import pytest

from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Tell
from bot.domain.roundtable.inputs import ChannelGone
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, searching_steps, step
from tests.domain.table import Table

STOPS: dict[str, Callable[[Table], Table]] = {
    "button": lambda table: table.press(Action.STOP),
    "word": lambda table: table.say("Stop."),
    "command": lambda table: table.stop(),
}
how = pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)


@pytest.mark.parametrize("how", ["word", "command"])
def test_a_person_stops_an_open_step(how: str) -> None:
    """By a word or by the command; the question loses its buttons and says who stopped."""
    table = Table(few_steps()).start().say("For field work.")
    asked = table.menu
    table.say("stop", who="grace") if how == "word" else table.stop(who="grace")

    shown = table.standing(table.ts_of(asked.token))
    assert (shown.choices, shown.note) == ((), "Stopped by Grace")
    assert table.rt.stage is Stage.PAUSED


def test_what_was_said_is_saved_before_people_are_told_so() -> None:
    """The transcript is in git, and then the thread says how to go on."""
    table = Table(few_steps()).start().say("For field work.")
    table.completing.clear()
    table.stop()

    assert table.order("commit", "post") == ["commit", "post"]
    assert "For field work." in [line.content for line in table.world.commits[-1].lines]
    assert table.last.text == (
        "We stop here; everything said so far is kept. Next is Topic 00-01. "
        "Press Resume or say `/roundtable resume` to go on."
    )
    assert table.offered() == [Action.RESUME]


def test_a_stopped_discussion_is_what_comes_next() -> None:
    """Whoever resumes is back in it, and not at the step after."""
    table = Table(few_steps(step("00-01"), step("00-02"))).start().elaborate().say("stop")

    assert "Next is the discussion of Topic 00-01. Press Resume" in table.last.text


@how
def test_a_person_stops_at_the_menu_of_a_step(stop: Callable[[Table], Table]) -> None:
    """The next step is named, not opened."""
    table = stop(Table(few_steps(step("00-01"), step("00-02"))).start().do_step())

    assert table.rt.stage is Stage.PAUSED
    assert "Next is Topic 00-02." in table.last.text
    assert table.meta.phases_completed == ()


@how
def test_stopping_at_the_menu_of_a_phase_completes_the_phase(stop: Callable[[Table], Table]) -> None:
    """The steps are all done; resuming goes on with the next phase."""
    table = stop(Table(few_steps()).start().do_step())

    assert table.meta.phases_completed == ("00-quick-scan",)
    assert table.rt.stage is Stage.PAUSED
    assert table.resume().rt.step_id == "01-01"


def test_stopping_at_the_very_last_menu_completes_nothing() -> None:
    """Completing the analysis is another button; this one only stops."""
    table = Table(few_steps()).start().through("02-01").press(Action.STOP)

    assert table.rt.stage is Stage.PAUSED
    assert "02-impact-analysis" not in table.meta.phases_completed
    assert table.resume().menu.kind is MenuKind.PHASE


def test_what_is_said_while_stopped_is_saved_at_once() -> None:
    """Nothing else may come, so it does not wait for a step to end."""
    table = Table(few_steps()).start().stop().say("By the way: trains.", who="grace")

    assert table.rt.lines == ()
    assert "By the way: trains." in [line.content for line in table.lines]
    assert table.subjects[-1] == "said afterwards"


def test_finish_while_stopped_is_answered() -> None:
    """Only the person who typed it is told; the words stay in the transcript."""
    table = Table(few_steps()).start().say("For field work.").stop()
    table.say("finish", who="grace")

    who, told = table.world.told[-1]
    assert who == "grace"
    assert told.text.startswith("No step is open, because the roundtable is stopped.")
    assert table.rt.stage is Stage.PAUSED


def test_many_words_while_stopped_are_few_commits() -> None:
    """What is said while one commit is on its way goes into the next one together."""
    table = Table(few_steps()).start().stop().stop_paying()
    for text in ("One.", "Two.", "Three."):
        table.say(text)
    table.resume_paying()

    assert table.subjects[-2:] == ["said afterwards", "said afterwards"]
    assert table.subjects.count("said afterwards") == 2
    assert table.rt.lines == ()


def test_what_is_stopped_cannot_be_stopped() -> None:
    """Whoever tries is told."""
    table = Table(few_steps()).start().stop()

    with pytest.raises(NotNow, match="The roundtable is stopped already"):
        table.stop()


def test_stopping_takes_back_a_resume_that_is_on_its_way() -> None:
    """Somebody resumes, somebody else stops: the last word counts."""
    table = Table(few_steps()).start().stop_paying().resume().stop().resume_paying()

    assert table.rt.stage is Stage.PAUSED


def test_a_search_that_comes_back_after_the_stop_asks_nothing() -> None:
    """The question is asked when somebody resumes."""
    table = Table(searching_steps()).start().do_step("Keywords: SyncQueue").stop_paying().press_continue()
    table.pay_up_to("survey")
    table.stop().resume_paying()

    assert table.rt.stage is Stage.PAUSED
    assert table.resume().offered()[0] == Action.FINISH_STEP


def gone(table: Table, *, archived: bool = False) -> Table:
    event = ChannelGone(key=table.key(), at=table.now(), archived=archived)
    table.rt = table.decided(event)
    return table


@pytest.mark.parametrize("archived", [True, False])
def test_a_roundtable_whose_channel_is_gone_pauses(*, archived: bool) -> None:
    """What was said is saved, and the person who started is told why."""
    table = gone(Table(few_steps()).start().say("For field work."), archived=archived)
    told = [one.message.text for one in table.rt.outbox if isinstance(one, Tell)]

    assert table.rt.stage is Stage.PAUSED
    assert ("was archived" if archived else "no longer in the channel") in told[-1]
    assert "For field work." in table.resume_paying().world.meeting.decode()


def test_what_is_being_written_when_the_channel_goes_is_finished_first() -> None:
    table = Table(few_steps()).start().say("For field work.").stop_paying().press(Action.FINISH_STEP)
    gone(table)

    assert table.rt.stage is Stage.WRITING
    table = table.fail("rewrite", "not_in_channel", times=2).resume_paying()
    assert table.rt.stage is Stage.PAUSED
    assert table.meta.steps_completed == ("00-01",)
    assert len(table.world.told) == 1


@pytest.mark.parametrize(
    ("kind", "refusal"), [("post", "not_in_channel"), ("post", "is_archived"), ("rewrite", "is_inactive")]
)
def test_whether_slack_tells_of_it_or_refuses_first_is_the_same(kind: str, refusal: str) -> None:
    """The starter is told once, and what was said is saved."""
    table = Table(few_steps()).start().stop_paying().say("For field work.").fail(kind, refusal)
    gone(table.resume_paying(), archived=refusal != "not_in_channel").resume_paying()

    assert table.rt.stage is Stage.PAUSED
    (told,) = table.world.told
    words = "no longer in the channel" if refusal == "not_in_channel" else "was archived"
    assert words in told[1].text
    assert "For field work." in table.world.meeting.decode()


def test_a_stopped_roundtable_stays_as_it_is_when_its_channel_goes() -> None:
    stopped = Table(few_steps()).start().stop()
    before = stopped.rt.but(now="")

    assert gone(stopped).rt.but(now="", seen=before.seen) == before
