"""When the world says no: what it means for the meeting, for every kind of effect. None of it ends the roundtable."""

from collections.abc import Callable

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages import trouble_wording
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.outcomes import Posted
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, step, thinking
from tests.domain.table import SORRY, Table, played_once

TWO = few_steps(step("00-01"), step("00-02"), step("01-01"))
NOT_SAVED = f"⚠ {trouble('ERR-META-003', unsaved=SORRY).sentence}"
VOICE_LOST = f"⚠ {trouble('ERR-INT-001').sentence}"


# --- commits ----------------------------------------------------------------------------------------------------------


def test_a_step_that_cannot_be_saved_is_saved_before_the_next_commit() -> None:
    """As the commit it was meant to be."""
    table = Table(TWO).start().fail("commit").do_step().press_continue().do_step()

    assert table.subjects == ["start", "step 00-01 Topic 00-01", "step 00-02 Topic 00-02"]
    assert table.meta.steps_completed == ("00-01", "00-02")
    assert table.rt.unsaved == ()


def test_people_are_told_once_and_not_at_every_attempt() -> None:
    """A disk that is full again is told again: it was fine in between."""
    table = Table(TWO).start().fail("commit", times=20).do_step().press_continue().do_step().say("Feedback.")

    assert table.texts.count(NOT_SAVED) == 1
    assert table.world.commits[1:] == []

    table = Table(few_steps()).start().fail("commit").do_step().press_continue().fail("commit").do_step()

    assert table.texts.count(NOT_SAVED) == 2


def test_what_fails_together_is_saved_in_the_order_in_which_it_was_decided() -> None:
    """A find of the any-meeting test: the end of a phase was saved before its step."""
    table = Table(few_steps()).start().stop_paying().press(Action.FINISH_STEP).pay_up_to("commit")
    table.fail("commit", times=2)
    table.pay_one()
    table.pay_until(lambda rt: rt.stage is Stage.AT_BOUNDARY)
    table.depth(Depth.BRIEF).stop().resume_paying().try_again()

    assert table.subjects == [
        "start",
        "step 00-01 Topic 00-01",
        "depth brief for 00-quick-scan",
        "phase 00-quick-scan Quick Scan",
        "paused",
    ]


def test_nothing_is_saved_past_what_could_not_be_saved() -> None:
    """An older text must never overwrite a newer one: what comes after waits, too."""
    table = Table(TWO).start().fail("commit").do_step("First version.")
    table.say("This is the second version.").fail("commit").press_continue()

    assert table.subjects == ["start"]
    assert [commit.subject.partition(": ")[2] for commit in table.rt.unsaved] == [
        "step 00-01 Topic 00-01",
        "feedback 00-01 Topic 00-01",
    ]

    table.stop()
    assert table.subjects[1:] == ["step 00-01 Topic 00-01", "feedback 00-01 Topic 00-01", "paused"]
    assert "- Ada: This is the second version." in table.world.files["quick-scan.md"]


def test_a_late_commit_does_not_stand_in_for_the_one_people_wait_for() -> None:
    """The menu of the second step comes after its commit, and after the word that the first one is saved now."""
    table = Table(TWO).start().fail("commit").do_step().press_continue()
    table.completing.clear()
    table.do_step()

    assert table.order("commit", "post")[-3:] == ["commit", "commit", "post"]
    assert table.world.thread[-1].message.text == trouble_wording.SAVED_AT_LAST
    assert table.order("commit", "rewrite")[-1] == "rewrite"


def test_the_transcript_loses_nothing_while_the_disk_is_full() -> None:
    """Everything said is in the lines that are kept, and then in git."""
    table = Table(TWO).start().fail("commit", times=20).do_step("One.").press_continue().do_step("Two.")
    table.world.failing.clear()
    table.say("Three.").press(Action.STOP)

    committed = [line.content for work in table.world.commits for line in work.lines]
    assert [text for text in committed if text in {"One.", "Two.", "Three."}] == ["One.", "Two.", "Three."]


@pytest.mark.parametrize(
    "wish",
    [
        lambda table: table.do_step().say("Feedback."),
        lambda table: table.say("deep"),
        lambda table: table.stop(),
        lambda table: table.do_step().press(Action.SKIP),
        lambda table: table.do_step().press(Action.ELABORATE).say("done"),
    ],
    ids=["feedback", "depth", "stop", "skip", "elaboration"],
)
def test_no_commit_is_one_that_the_meeting_depends_on(wish: Callable[[Table], Table]) -> None:
    """Whatever could not be saved, people have something to press."""
    table = Table(TWO).start().fail("commit", times=5)
    wish(table)

    assert table.rt.outbox == ()
    assert table.menu_at


# --- voices -----------------------------------------------------------------------------------------------------------


@played_once
def stalled(reason: str = "fatal", *, times: int = 3) -> Table:
    """None of three could open the discussion."""
    return Table(TWO).start().do_step().fail("speak", reason, times=times).press(Action.ELABORATE)


@pytest.mark.parametrize("reason", ["fatal", "unexpected"])
def test_a_discussion_that_no_voice_can_open_waits_for_a_person(reason: str) -> None:
    """The one fatal trouble: nothing counts as done, and the button tries again."""
    table = stalled(reason)

    assert VOICE_LOST in table.texts
    assert table.rt.stage is Stage.STALLED
    assert table.offered() == [Action.RETRY]
    assert table.meta.elaborations == ()


def test_retrying_does_what_could_not_be_done() -> None:
    """Once, whoever presses, and however often the voice has failed."""
    table = stalled(times=5).press_retry()
    menu = table.menu
    table.press_retry().press_retry()
    assert table.rt.stage is Stage.ELABORATING
    assert table.rt.debate.framed

    with pytest.raises(NotNow, match="Retry -- chosen by Ada"):
        table.press(Action.RETRY, menu=menu, who="grace")


def test_words_said_while_we_wait_for_a_retry_are_saved_and_written() -> None:
    table = stalled().say("And trains.", who="grace")
    saved = "And trains." in [line.content for line in table.world.commits[-1].lines]
    table.press_retry().say("done")

    assert saved
    assert "- Grace: And trains." in table.world.files["quick-scan.md"]


# --- posts ------------------------------------------------------------------------------------------------------------


def test_a_thread_that_takes_no_messages_pauses_the_roundtable() -> None:
    """
    We were removed from the channel: whoever started it is told, and nothing is posted any more. Invited again, the
    roundtable goes on where it was.
    """
    table = Table(TWO).start().do_step().fail("post", "not_in_channel").press_continue()

    assert table.rt.stage is Stage.PAUSED
    assert table.world.told[-1][0] == "ada"
    gone = trouble_wording.channel_gone(table.rt.title, archived=False)
    assert table.world.told[-1][1].text == gone
    assert table.rt.menu is None

    table.resume()
    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-02")
    assert table.offered()[0] == Action.FINISH_STEP


def test_what_is_being_written_is_written_before_we_pause() -> None:
    """A refusal in the middle of a step must not lose the step."""
    table = Table(TWO).start().say("For field work.").stop_paying()
    table.fail("rewrite", "is_archived", times=2).depth(Depth.DEEP).finish().resume_paying()

    assert table.meta.steps_completed == ("00-01",)
    assert table.rt.stage is Stage.PAUSED
    table.resume()
    assert table.offered()[0] == Action.CONTINUE


def test_what_could_not_be_said_is_said_first_when_we_are_back() -> None:
    """A persona's post is never left out, and never out of order; its buttons belong to a menu that is over."""
    table = Table(TWO).start().say("For field work.").stop_paying()
    table.fail("rewrite", "is_archived", times=2).depth(Depth.DEEP).finish().resume_paying()
    refused = [one.message for one in table.rt.unsent if one.kind == "post"]
    before = len(table.texts)
    table.fail("post", "is_archived", times=1).resume()
    waiting = [one.message for one in table.rt.unsent if one.kind == "post"]
    table.resume()

    assert (len(refused), waiting[:1]) == (1, refused)
    assert table.rt.unsent == ()
    assert table.world.shown[before : before + len(waiting)] == waiting
    assert all(message.choices == () for message in waiting)
    paid = zip(table.completing, table.told, strict=True)
    posted = [effect.id for effect, told in paid if effect.kind == "post" and isinstance(told, Posted)]
    said = [line.message_id for line in table.lines if line.message_id in posted]
    assert {effect.id for effect in table.completing if effect.kind == "post"} == set(posted)
    assert [id for id in posted if id in said] == said


def test_the_menu_before_has_no_buttons_when_we_are_back() -> None:
    """Where its edit was refused, it loses them with the next words."""
    table = Table(TWO).start().do_step()
    menu = table.menu
    table.fail("post", "not_in_channel").say("c")
    assert table.rt.stage is Stage.PAUSED
    shut_out = table.standing(table.ts_of(menu.token))
    table.resume()

    stands = table.standing(table.ts_of(menu.token))
    assert shut_out.choices
    assert stands.choices == ()

    table = Table(thinking(TWO)).start().do_step()
    menu = table.menu
    table.fail("rewrite", "not_in_channel").say("c")
    refused = table.standing(table.ts_of(menu.token))
    assert (refused.choices, table.rt.stage) == (menu.message.choices, Stage.DISCUSSING)
    table.say("For field work.")

    stands = table.standing(table.ts_of(menu.token))
    assert stands.choices == ()


def test_a_refusal_that_nobody_has_heard_of_loses_nothing() -> None:
    """Slack has more reasons than we know: whatever is not about the one message pauses, and comes later."""
    table = Table(thinking(TWO)).start().fail("post", "some_new_policy").say("For field work.")

    assert table.rt.stage is Stage.PAUSED
    assert [one.message.text for one in table.rt.unsent if one.kind == "post"] == [
        "business-analyst on draft"
    ]
    table.try_again()
    assert "business-analyst on draft" in table.texts


def test_when_slack_takes_posts_again_there_is_a_way_on() -> None:
    """By itself, or when somebody speaks."""
    table = Table(TWO).start().do_step().fail("post", "token_revoked", times=3).press_continue()
    table.try_again().try_again()
    told = len(table.world.told)
    table.try_again()

    assert table.offered() == [Action.RESUME]
    assert (told, len(table.world.told)) == (1, 1)
    assert table.press(Action.RESUME).rt.step_id == "00-02"

    table = Table(TWO).start().do_step().fail("post", "not_in_channel").press_continue().say("Hello?")

    assert table.offered() == [Action.RESUME]


def test_the_end_stays_the_end_when_nobody_can_be_told() -> None:
    """The finishing words are in git; there is nothing to pause."""
    table = Table(few_steps()).start().through("02-01").fail("post", "channel_not_found").press_continue()

    assert table.rt.stage is Stage.ANALYSED
    assert table.world.told[-1][1].text == trouble_wording.cannot_go_on(SORRY)


def test_one_message_that_slack_will_not_have_is_left_out() -> None:
    """The transcript has it, and says that nobody could be shown it."""
    table = Table(thinking(TWO)).start().fail("post", "msg_too_long").say("For field work.")

    assert table.rt.stage is Stage.DISCUSSING
    assert "business-analyst on draft" not in table.texts
    assert "business-analyst on draft" in [line.content for line in table.lines]

    [line] = [line for line in table.lines if line.content == "business-analyst on draft"]
    assert line.meta["not_shown"] == "msg_too_long"


def test_a_menu_that_slack_will_not_have_keeps_its_buttons() -> None:
    """Refused twice it is given up, and can still be typed."""
    table = Table(TWO).start().do_step().fail("post", "invalid_blocks").resume()

    assert table.last.text == trouble_wording.NOT_SHOWN
    assert table.menu_at == table.world.thread[-1].ts
    assert table.press_continue().rt.step_id == "00-02"

    table = Table(TWO).start().do_step().fail("post", "invalid_blocks", times=2).resume()

    assert table.order("post")[-2:] == ["post", "post"]
    assert table.say("c").rt.step_id == "00-02"


def test_a_thread_that_was_deleted_is_opened_again_by_starting_again() -> None:
    """Nothing done is asked again. Only who asks for it gets a new one, also after a resume."""
    table = Table(TWO).start().do_step().fail("post", "thread_not_found").press_continue()
    gone = (table.rt.stage, table.rt.place.thread)
    table.start_again()

    assert gone == (Stage.STALLED, "")
    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-02")
    assert table.meta.slack
    assert table.meta.slack.thread_ts == table.rt.place.thread

    table = Table(TWO).start().do_step().press(Action.STOP).resume()
    table.fail("post", "thread_not_found").press_continue()

    assert (table.rt.stage, table.rt.place.thread) == (Stage.STALLED, "")


def test_a_discussion_goes_on_in_a_new_thread() -> None:
    """Whoever started is told how, and no turn is lost."""
    table = Table().start().elaborate().say("Jordan, what about conflicts?")
    turns = table.rt.debate.turns
    table.fail("post", "thread_not_found").say("Alex, who pays?")
    told = table.world.told[-1][1].text
    table.start_again()

    assert "`/roundtable resume`. It then goes on in a new thread" in told
    assert (table.rt.stage, table.rt.debate.turns[: len(turns)]) == (Stage.ELABORATING, turns)
    assert sum("We were discussing" in text for text in table.texts) == 1
    assert table.press(Action.END_ELABORATION).rt.stage is Stage.AT_BOUNDARY


def test_who_was_stopped_is_back_where_they_stopped_in_a_new_thread() -> None:
    """As in the old one: at the menu, not at the next step. The first resume is enough, and who resumed is told."""
    table = Table(TWO).start().do_step().press(Action.STOP)
    gone = table.rt.place.thread
    table.fail("post", "thread_not_found").resume(who="grace")

    assert (table.rt.stage, table.rt.step_id) == (Stage.AT_BOUNDARY, "00-01")
    assert table.rt.place.thread not in {"", gone}
    assert table.world.told[-1] == (
        "grace",
        Message(text=trouble_wording.thread_gone("Offline sync", goes_on=True)),
    )


@pytest.mark.parametrize("planning", [True, False])
def test_a_plan_goes_on_in_a_new_thread(*, planning: bool) -> None:
    """Also where somebody calls for it once more; what was said about it is kept."""
    table = Table().start().plan().say("Test Planner: go")
    table.fail("post", "thread_not_found").stop()
    assert not table.rt.place.thread
    table.start_again(planning=planning)

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "05-01")
    assert [one["verdict"] for one in table.rt.specification.active("approval")] == ["go"]


def test_what_was_not_saved_survives_a_deleted_thread() -> None:
    """However often a new one cannot be opened: a finished step is a finished step."""
    table = Table(TWO).start().fail("commit").do_step().fail("post", "thread_not_found").press_continue()
    table.fail("open_thread", "not_in_channel").start_again()
    table.start_again().do_step()

    assert table.meta.steps_completed == ("00-01", "00-02")
    assert table.subjects.count("step 00-01 Topic 00-01") == 1


# --- courtesies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["react", "tell", "meet_person", "log"])
def test_a_courtesy_that_fails_is_not_missed(kind: str) -> None:
    """Reactions, whispers, names: nothing depends on them."""
    table = Table(TWO).start(who="stranger").fail(kind, times=9).do_step().press_continue().do_step()

    assert table.meta.steps_completed == ("00-01", "00-02")
