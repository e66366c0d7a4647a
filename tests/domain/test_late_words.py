"""Slack delivers late, and in any order: words mean what they meant to whoever wrote them."""

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import Plan, SetDepth, Stop
from bot.domain.roundtable.outcomes import Attempted
from bot.domain.roundtable.stage import Stage
from bot.domain.transcript import open_step
from bot.domain.transcript.lines import Line
from bot.errors import NotNow
from tests.domain.books import few_steps, searching_steps, step
from tests.domain.table import HERE, MIDNIGHT, Table, person
from tests.oracle import replayed

TWO = few_steps(step("00-01"), step("00-04"))
LATER = f"{MIDNIGHT + 3_600}.000100"


def line_of(table: Table, text: str) -> Line:
    return next(line for line in table.lines if line.content == text)


def told(table: Table) -> str:
    """What the last of those heard who were told something alone."""
    return table.world.told[-1][1].text


def next_step_asked() -> tuple[Table, str]:
    """The second step is asked; and a moment at which the first one was."""
    table = Table(few_steps()).start()
    earlier = table.ts()
    return table.do_step().press_continue(), earlier


# --- commands -----------------------------------------------------------------------------------------------------


def test_a_finish_that_was_written_before_the_question_does_not_finish_its_step() -> None:
    """Its author alone is told, and which button means this step."""
    table, earlier = next_step_asked()
    table.say("finish", who="grace", ts=earlier)

    assert table.rt.stage is Stage.DISCUSSING
    assert table.meta.steps_completed == ("00-01",)
    sentence = "You wrote *finish* before this question. Press *Finish step* if you meant this one."
    assert [(who, message.text) for who, message in table.world.told] == [("grace", sentence)]
    assert line_of(table, "finish").meta["written_at"].startswith("2026-01-01T")


def test_a_word_that_comes_late_is_obeyed_where_it_was_written_below_the_card() -> None:
    """However late it comes, and whatever was said since: finish, done, and a stop while personas speak."""
    table = Table(few_steps()).start()
    ts = table.ts()
    table.say("For field work.").wait(3_600).say("finish", ts=ts)

    assert table.meta.steps_completed == ("00-01",)

    table = Table(few_steps()).start().elaborate()
    earlier = table.ts()
    table.say("Alex, why?").say("done", who="grace", ts=earlier)

    assert table.rt.stage is Stage.AT_BOUNDARY

    table = Table(few_steps()).start().elaborate().stop_paying().say("everyone, what about conflicts?")
    earlier = table.ts()
    table.pay_until(lambda rt: rt.debate.turns[-1].human is False and not rt.has_pending(Post))
    table.say("stop", ts=earlier).resume_paying()

    assert table.rt.stage is Stage.PAUSED


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("c", "You wrote *c* before this menu. Press *Continue* if you meant this one."),
        ("S", "You wrote *S* before this menu. Press *Skip the rest of this phase* if you meant this one."),
        ("stop", "You wrote *stop* before this menu. Press *Stop here* if you meant this one."),
        ("deep", "You wrote *deep* before this menu. Press *Ask me more (deep)* if you meant this one."),
        ("finish", "You wrote *finish* before this menu. Nothing was changed."),
        ("done", "You wrote *done* before this menu. Nothing was changed."),
    ],
)
def test_words_that_were_written_before_a_menu_choose_nothing_from_it(word: str, sentence: str) -> None:
    """They were meant for the one before."""
    table = Table(few_steps(step("00-01"), step("00-02"), step("00-03"))).start().do_step()
    earlier = table.ts()
    table.press_continue().do_step()
    menu = table.menu
    table.say(word, ts=earlier)

    assert table.rt.menu == menu
    assert told(table).startswith(sentence)


def test_a_menu_letter_that_comes_after_its_menu_is_no_answer_to_the_next_question() -> None:
    """Two people chose: the second word is not written down as what somebody said about the step."""
    table = Table(few_steps()).start().do_step()
    earlier = table.ts()
    table.press_continue().say("c", who="grace", ts=earlier)

    assert table.rt.answers == ()
    assert told(table).startswith("You wrote *c* before this question.")


def test_the_end_of_one_discussion_is_not_the_end_of_the_next() -> None:
    """Its card stands below the word."""
    table = Table(few_steps()).start().elaborate().say("done")
    earlier = table.ts()
    table.press(Action.ELABORATE).say("done", who="grace", ts=earlier)

    assert table.rt.stage is Stage.ELABORATING
    assert told(table) == "You wrote *done* before this menu. Press *End* if you meant this one."


def test_a_command_that_comes_before_the_question_is_posted_was_written_before_it() -> None:
    """Nobody can have seen what is still in the outbox."""
    table = Table(TWO).start().do_step().stop_paying().press_continue()
    table.say("finish").resume_paying()

    assert table.rt.stage is Stage.DISCUSSING
    assert told(table).startswith("You wrote *finish* before this question.")


def test_a_command_that_comes_while_the_code_is_searched_was_written_before_the_question() -> None:
    """The step is open by then, and its question is not."""
    table = Table(searching_steps()).start().do_step("Keywords: SyncQueue").stop_paying().press_continue()
    table.pay_up_to("survey").say("finish").resume_paying()

    assert table.meta.steps_completed == ("00-02",)
    assert told(table).endswith("Press *Finish step* if you meant this one.")


def posting() -> tuple[Table, Post]:
    """Slack is being told the question of the second step, and has not answered yet."""
    table = Table(few_steps()).start().do_step().stop_paying().press_continue()
    table.pay_until(lambda rt: rt.stage is Stage.DISCUSSING)
    table.pay_until(lambda rt: isinstance(rt.outbox[0], Post) and bool(rt.outbox[0].message.token))
    pending = table.rt.outbox[0]
    assert isinstance(pending, Post)
    table.rt = table.decided(Attempted(key=pending.id, at=table.now(), effect=pending.id))
    return table, pending


def test_a_command_below_a_question_whose_post_was_not_answered_yet_is_obeyed() -> None:
    """It waits until Slack says where the question stands, and is held against that."""
    table, _ = posting()
    table.wait(60)
    table.say("finish", ts=LATER)
    assert table.rt.stage is Stage.DISCUSSING

    table.resume_paying()
    assert table.meta.steps_completed == ("00-01", "01-01")


def test_a_command_above_a_question_whose_post_was_not_answered_yet_is_not_obeyed() -> None:
    """The same wait, and the other end."""
    table, _ = posting()
    table.say("finish").wait(60).resume_paying()

    assert table.meta.steps_completed == ("00-01",)
    assert told(table).startswith("You wrote *finish* before this question.")


def test_words_that_wait_survive_the_process_and_can_be_edited() -> None:
    """They are in the store, like everything that was acknowledged."""
    table, _ = posting()
    table.say("For the train.", ts=LATER).edit(LATER, "For the field.")
    second = f"{LATER[:-1]}1"
    table.say("Nothing.", ts=second).edit(second, "Nothing!").delete(second)
    table.restart().resume_paying()

    assert [answer.text for answer in table.rt.answers] == ["For the field."]
    assert [line.content for line in table.lines if line.meta.get("person")][-5:] == [
        "For the train.",
        "For the field.",
        "Nothing.",
        "Nothing!",
        "Ada deleted a message.",
    ]


def test_words_that_wait_for_a_post_that_fails_are_kept() -> None:
    """The roundtable pauses, and nothing that was said is lost."""
    table, _ = posting()
    table.say("For the field.", ts=LATER)
    table.fail("post", "is_archived").resume_paying()

    assert table.rt.stage is Stage.PAUSED
    assert "For the field." in [line.content for line in table.lines]
    assert table.rt.undecided == ()


def test_timestamps_are_compared_as_numbers() -> None:
    """A tenth of a microsecond would be lost in a float, and 9 is less than 10."""
    table, _ = next_step_asked()
    seconds, _, micros = table.menu_at.partition(".")
    table.say("finish", ts=f"{seconds}.{int(micros) - 1:06}")
    assert table.rt.stage is Stage.DISCUSSING
    table.say("finish", ts=f"{seconds}.{int(micros) + 1:06}")
    assert table.meta.steps_completed == ("00-01", "01-01")


def test_verbs_that_are_typed_in_the_thread_are_held_against_it_too() -> None:
    """A slash command has no message, and is of now."""
    table, earlier = next_step_asked()
    typed = {"at": table.now(), "person": person("ada"), "ts": earlier}
    for wish, word in (
        (Stop(key="1", **typed), "stop"),
        (SetDepth(key="2", depth=Depth.DEEP, **typed), "depth deep"),
        (Plan(key="3", place=HERE, **typed), "plan"),
    ):
        with pytest.raises(NotNow, match=rf"You wrote \*{word}\* before this question\."):
            table.decided(wish)

    assert table.stop().rt.stage is Stage.PAUSED


@pytest.mark.parametrize("word", ["finish", "c", "deep"])
def test_a_command_that_comes_while_something_is_saved_is_not_feedback(word: str) -> None:
    """Two people finish a step at the same time: what the second typed is not written into the artifact."""
    table = Table(few_steps()).start().say("For field work.").stop_paying().say("finish")
    table.say(word, who="grace").resume_paying()

    assert table.subjects.count("step 00-01 Topic 00-01") == 1
    assert table.world.told[-1] == ("grace", Message(text="I am saving. Try again in a moment."))


# --- other words --------------------------------------------------------------------------------------------------


def test_an_answer_that_comes_after_the_next_question_belongs_to_its_step() -> None:
    """It is kept with it, in the present round, and never given as an answer to a question that it precedes."""
    table, earlier = next_step_asked()
    table.say("Trains have tunnels.", who="grace", ts=earlier)

    line = line_of(table, "Trains have tunnels.")
    assert (line.round, line.meta["answers_step"]) == (table.rt.round, "00-01")
    assert line.meta["written_at"] < line.ts
    assert table.rt.answers == ()
    assert told(table) == (
        "You wrote this while step 00-01 was open, so I kept it with that step, which is finished. "
        "If it answers the question that is open now, write it again."
    )
    assert table.rt.lines == tuple(sorted(table.rt.lines, key=lambda one: (one.ts, one.round)))


def test_an_answer_from_before_the_same_question_at_another_depth_is_an_answer() -> None:
    """It is the same step that it was written about."""
    table = Table(few_steps()).start()
    earlier = table.ts()
    table.say("deep").say("Trains have tunnels.", ts=earlier)

    assert [answer.text for answer in table.rt.answers] == ["Trains have tunnels."]
    assert "written_at" not in line_of(table, "Trains have tunnels.").meta


def test_an_answer_that_comes_in_the_discussion_is_written_down_after_it() -> None:
    """As feedback on the step, and not as a turn."""
    table = Table(few_steps()).start()
    earlier = table.ts()
    table.do_step().press(Action.ELABORATE)
    turns = table.rt.debate.turn_count
    table.say("Trains have tunnels.", ts=earlier)
    assert table.rt.debate.turn_count == turns

    table.say("done")
    assert table.rt.stage is Stage.AT_BOUNDARY
    assert "Trains have tunnels." in "".join(table.world.files.values())


def test_a_late_answer_answers_nothing_in_the_record_either() -> None:
    """Also when the store is lost in the middle of the step."""
    table, earlier = next_step_asked()
    table.say("Trains have tunnels.", ts=earlier).say("Planes, too.").stop()
    state = replayed(table.world.meeting)
    rows = reversed(table.world.meeting.splitlines())

    assert [heard.text for heard in open_step.answers(rows, done=("00-01",))] == ["Planes, too."]
    assert state.flaws == ()
