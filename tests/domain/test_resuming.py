"""Going on: after a stop, after a restart, after the store was lost. Nothing done is done again."""

from collections.abc import Callable

import pytest

from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages import trouble_wording
from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import AnswerDirectly
from bot.domain.roundtable.outcomes import CommitResult, Committed, ItemState
from bot.domain.roundtable.stage import Stage
from bot.errors import NotNow
from tests.domain.books import few_steps, step
from tests.domain.table import FLOOR, HERE, SORRY, Table

TWO = few_steps(step("00-01", "Scope"), step("00-02", "Words"), step("01-01", "Needs"))
WRITTEN_ANEW = "meta.json could not be read, so I have written it anew from what I know. Nothing is lost."


@pytest.mark.parametrize("is_lost", [True, False])
@pytest.mark.parametrize("channel", ["C1", "C2"])
def test_answers_of_an_open_step_stay_lines_of_the_record(channel: str, *, is_lost: bool) -> None:
    """Wherever it goes on, with the store or without it; also what somebody answered in a direct message."""
    table = Table(TWO).start().say("Edits get lost.", who="grace")
    table.does(AnswerDirectly, who="linus", step_id=table.rt.step_id, text="In tunnels.")
    table.say("And in lifts.", who="ada").stop()
    place = HERE.but(channel=channel)
    if is_lost:
        table.forget(thread_known=False, place=place)
    else:
        table.rt = table.rt.but(place=table.rt.place.but(thread=""), stage=Stage.STALLED)
        table.start_again(place=place)

    assert table.rt.place.channel == channel
    assert [answer.text for answer in table.rt.answers] == ["Edits get lost.", "In tunnels.", "And in lifts."]
    assert len({answer.ts for answer in table.rt.unread}) == len(table.rt.unread)
    assert {table.rt.line_of(answer.ts) for answer in table.rt.answers} <= table.rt.specification.heard.keys()
    table.say("It is slow.", who="grace")
    assert table.rt.line_of(table.rt.answers[-1].ts) in table.rt.specification.heard


# --- after a stop -----------------------------------------------------------------------------------------------------


def test_a_resumed_step_is_asked_again_with_a_greeting() -> None:
    """What is done, and what comes next; the answers so far still count."""
    table = Table(TWO).start().do_step().press_continue().say("A sync queue.").stop().resume()

    assert table.last.text.startswith(
        "Welcome back. Last time we completed Scope. Let's pick up from Words.\n\n"
        "**Maya Chen (Business Analyst) -- Step 00-02: Words**"
    )
    assert [answer.text for answer in table.rt.answers] == ["A sync queue."]


@pytest.mark.parametrize("how", ["button", "command"])
def test_a_resumed_menu_is_the_same_menu(how: str) -> None:
    """With the greeting above it."""
    table = Table(TWO).start().do_step()
    before = table.menu
    table.press(Action.STOP)
    if how == "button":
        table.press(Action.RESUME)
    else:
        table.resume()

    assert table.last.text.startswith(
        "Welcome back. Last time we completed Scope. Let's pick up from Words.\n\nSaved: `quick-scan.md` > 1. Scope\n\n"
    )
    assert (table.menu.kind, table.menu.message.choices) == (before.kind, before.message.choices)


def test_a_resumed_discussion_gives_the_floor_to_people() -> None:
    """With the turns that are left, and the buttons."""
    table = Table(TWO).start().elaborate().say("Alex, what about conflicts?").say("stop").resume()

    assert table.last.text.startswith(
        "Welcome back. We were discussing Scope: 5 of 10 turns are used. Just go on writing.\n"
    )
    assert table.offered() == FLOOR
    assert table.rt.debate.turn_count == 5


def test_a_discussion_that_was_stopped_before_it_began_is_framed_when_resumed() -> None:
    """The lead opens it then."""
    table = Table(TWO).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.stage is Stage.ELABORATING).stop().resume_paying().resume()

    assert [turn.name for turn in table.rt.debate.turns] == ["Maya", "Alex", "Jordan"]


def test_resuming_what_is_running_shows_where_we_are() -> None:
    """The question is asked again, and the old one loses its buttons. Two people who resume are greeted once."""
    table = Table(TWO).start().resume()

    open_menus = [said for said in table.world.thread if said.message.choices]
    assert [said.message.token for said in open_menus] == [table.menu.token]
    assert table.rt.stage is Stage.DISCUSSING

    table = Table(TWO).start().stop().stop_paying().resume(who="ada").resume(who="grace").resume_paying()

    assert len([text for text in table.texts if text.startswith("Welcome back")]) == 1


def test_a_folder_that_cannot_be_read_does_not_keep_a_meeting_from_going_on() -> None:
    """Nor a thread; a look that comes too late does not disturb."""
    table = Table(TWO).start().stop().fail("read_item").resume()

    assert f"I could not look into the item's folder: {SORRY} I go on with what I know." in table.texts
    assert table.rt.stage is Stage.DISCUSSING

    table = Table(TWO).start().say("For field work.").fail("read_thread").forget()

    assert any(
        text.startswith("I could not read what was said in this thread before") for text in table.texts
    )
    assert table.rt.stage is Stage.DISCUSSING

    table = (
        Table(TWO).start().stop_paying().fail("read_item").resume().press(Action.FINISH_STEP).resume_paying()
    )

    assert table.rt.stage is Stage.AT_BOUNDARY
    assert table.meta.steps_completed == ("00-01",)


# --- discussions held before ------------------------------------------------------------------------------------------


def test_the_greeting_recalls_the_discussions_of_this_phase() -> None:
    """The newest three, and none of other phases."""
    table = Table(TWO).start().elaborate().say("Tunnels.").say("done").forget()

    greeting = next(text for text in table.texts if text.startswith("Welcome back"))
    assert (
        "We also had a roundtable discussion on step 00-01 where nothing was decided on Scope. "
        "Let's pick up from Words." in greeting
    )

    table = Table(TWO).start().do_step()
    for number in range(5):
        table.press(Action.ELABORATE).say(f"Point {number}.").say("done")
    table.forget()

    greeting = next(text for text in table.texts if text.startswith("Welcome back"))
    assert greeting.count("We also had a roundtable discussion on step 00-01") == 3

    table = Table(TWO).start().elaborate().say("Tunnels.").say("done").through("01-01").forget()

    assert "roundtable discussion" not in next(
        text for text in table.texts if text.startswith("Welcome back")
    )


# --- after a restart --------------------------------------------------------------------------------------------------


def test_a_restart_is_not_noticed() -> None:
    """What was saved is everything; nobody is greeted, nothing is asked again."""
    table = Table(TWO).start().say("For field work.")
    before = list(table.texts)
    table.restart().say("And trains.")

    assert table.texts[: len(before)] == before
    assert [answer.text for answer in table.rt.answers] == ["For field work.", "And trains."]


def test_a_restart_in_the_middle_of_paying_goes_on_there() -> None:
    """Whatever is owed is performed, in its order, once."""
    undisturbed, table = Table(TWO).start().do_step(), Table(TWO).start()
    table.stop_paying().say("We need it for field work without a network.").press(Action.FINISH_STEP)
    while table.rt.outbox:
        table.restart()
        table.pay_one()

    assert table.subjects == undisturbed.subjects
    assert table.meta.steps_completed == ("00-01",)


# --- after the store was lost -----------------------------------------------------------------------------------------


def test_an_item_is_rebuilt_from_the_workspace_alone() -> None:
    """Steps, phases, depths, discussions: what is in git is known, and the next step is open."""
    table = Table(few_steps()).start().through("01-01").press(Action.ELABORATE).say("Tunnels.").say("done")
    known = table.meta
    table.forget()

    assert table.rt.steps_completed == known.steps_completed
    assert table.rt.phases_completed == known.phases_completed
    assert table.rt.elaborations == known.elaborations
    assert table.rt.step_id == "01-02"
    assert table.rt.stage is Stage.DISCUSSING


def test_rounds_go_on_where_git_left_them() -> None:
    """The transcript has one order, whoever forgot what."""
    table = Table(few_steps()).start().through("01-01")
    before = max(line.round for line in table.lines)
    table.forget().do_step()

    rounds = [line.round for line in table.lines]
    assert rounds == sorted(rounds)
    assert rounds[-1] > before


def test_words_that_git_did_not_have_yet_are_read_from_the_thread() -> None:
    """They are answers to the open step, and people are told how many; what git has is not read again."""
    table = Table(TWO).start().say("For field work.", who="ada").say("On trains.", who="grace").forget()

    assert (
        "I had lost the state of this thread, and read the item from git. I read 2 messages here"
        in "\n".join(table.texts)
    )
    assert [(answer.person, answer.text) for answer in table.rt.answers] == [
        ("ada", "For field work."),
        ("grace", "On trains."),
    ]

    table = Table(TWO).start().do_step("For field work.").forget()

    assert any("Nothing said here is missing." in text for text in table.texts)
    assert [line.content for line in table.lines].count("For field work.") == 1

    table = Table(TWO).start().do_step()
    table.world.complete = False
    table.forget()

    assert trouble_wording.recovered(0, complete=False) in table.texts


MENUS: dict[str, Callable[[Table], Table]] = {
    "on the card": lambda table: table,
    "a post below a discussion": lambda table: table.press(Action.ELABORATE).say("done"),
    "after a resume": lambda table: table.resume(),
}


@pytest.mark.parametrize("menu", MENUS)
def test_feedback_at_a_menu_that_is_lost_is_in_a_file_again(menu: str) -> None:
    """Found from outside: it stood in the transcript alone, and its labels made entries of the step after it."""
    table = MENUS[menu](Table(TWO).start().do_step("For field work."))
    table.say("Photos of the meter count, too.", who="grace").say("risk: the tunnel is long", who="grace")
    assert "Photos" not in "".join(table.world.files.values())
    table.forget()

    assert "Photos of the meter count, too." in "".join(table.world.files.values())
    found = table.rt.specification.entries.values()
    said = {str(one["text"] or one["title"]): (one.step, attributions(one)) for one in found}
    assert said["Photos of the meter count, too."] == ("00-01", "Grace")
    assert {step for step, _ in said.values()} == {"00-01"}
    assert (table.rt.step_id, table.rt.answers) == ("00-02", ())
    assert trouble_wording.recovered(2) in table.texts


def test_words_that_are_lost_in_a_discussion_or_at_a_menu_answer_no_step() -> None:
    """Wishes are no answers."""
    table = Table(TWO).start().elaborate().say("We decided to keep photos out.").forget()

    assert table.rt.step_id == "00-02"
    assert table.rt.answers == ()
    assert "We decided to keep photos out." in [line.content for line in table.lines]
    assert trouble_wording.recovered(1, elsewhere=1) in table.texts

    table = Table(TWO).start().do_step().stop_paying().say("c").resume_paying()
    table.say("finish").say("Words.").forget()

    assert {"c", "finish"}.isdisjoint(answer.text for answer in table.rt.answers)


def test_what_slack_repeats_after_a_loss_is_old_news() -> None:
    """Also before the folder is read, and when it was read from the thread: it would be a second note."""
    table = Table(TWO).start().say("For field work.", ts="1767229200.1").finish().forget()
    before = table.rt
    table.say("For field work.", ts="1767229200.1")

    assert table.rt is before

    table = Table(TWO).start().say("For field work.", ts="1767229200.1").finish().stop_paying().forget()
    table.say("For field work.", ts="1767229200.1").resume_paying()

    assert table.rt.answers == ()
    assert [line.content for line in table.lines].count("For field work.") == 1

    table = Table(TWO).start().say("For field work.", ts="1767229200.1").forget()
    before = table.rt
    table.say("For field work.", ts="1767229200.1")

    assert table.rt is before


def test_what_was_read_from_the_thread_after_a_loss_belongs_to_its_step() -> None:
    """Its note is one of the open step, and is still an answer there after a second loss."""
    table = Table(TWO).start().say("For field work.", who="ada").forget()
    assert [(one.step, one["text"]) for one in table.rt.specification.entries.values()] == [
        ("00-01", "For field work.")
    ]

    table.forget()

    assert [answer.text for answer in table.rt.answers] == ["For field work."]


def test_a_change_of_an_old_message_hides_nothing_that_was_said_after_it() -> None:
    """It has that message's stamp, and says nothing about what git has heard."""
    table = Table(TWO).start().say("One.", ts="1767229200.1").say("Two.", ts="1767229200.2").do_step()
    table.edit("1767229200.1", "One and a half.").press_continue().say("Three.", ts="1767229200.3").forget()

    assert [answer.text for answer in table.rt.answers] == ["Three."]


def test_words_said_before_the_folder_was_read_do_not_hide_those_before_them() -> None:
    """The look fails, somebody speaks, the look is tried again: everything that was said is there, in its order."""
    table = (
        Table(TWO).start().say("For field work.").fail("read_item").forget().say("And trains.").press_retry()
    )

    said = [line.content for line in table.lines if line.source == "user"]
    assert sorted(said) == ["And trains.", "For field work."]


def test_a_lost_item_can_go_on_in_another_thread() -> None:
    """An old button is answered after the store was lost."""
    table = Table(TWO).start().do_step().forget(thread_known=False)

    assert table.rt.step_id == "00-02"
    assert table.subjects[-1] == "held in a new thread"

    table = Table(TWO).start().do_step()
    old = table.menu
    table.forget()

    with pytest.raises(NotNow, match="Use the newest menu"):
        table.press(Action.CONTINUE, menu=old)


# --- when people edit meta.json ---------------------------------------------------------------------------------------


def test_what_people_write_into_meta_json_by_hand_counts_when_it_is_resumed() -> None:
    """Steps and phases, the depth, and the limit of a discussion."""
    table = Table(TWO).start().stop().meta_says(steps_completed=["00-01"]).resume()

    assert table.rt.step_id == "00-02"

    table = Table(TWO).start().through("00-02").press(Action.STOP)
    table.meta_says(steps_completed=["00-02"], phases_completed=[]).resume()

    assert table.rt.step_id == "00-01"

    table = Table(TWO).start().stop().meta_says(phases_completed=["00-quick-scan"]).resume()

    assert table.rt.phase_key == "01-requirements"

    table = Table(TWO).start().stop().meta_says(depth_overrides={"00-quick-scan": "deep"}).resume()

    assert "\n3. When?\n4. Who?\n" in table.last.text

    table = (
        Table(TWO).start().elaborate().say("stop").meta_says(elaboration_config={"max_turns": 30}).resume()
    )

    assert table.rt.debate.max_turns == 30

    table = Table(TWO).start().elaborate().say("Tunnels.").say("stop")
    table.meta_says(elaboration_config={"max_turns": 4}).resume()

    assert "ERR-ELAB-006" in table.codes
    assert table.rt.stage is Stage.AT_BOUNDARY
    assert len(table.meta.elaborations) == 1


def test_what_is_not_saved_yet_is_not_forgotten_by_looking() -> None:
    """The folder does not know it, and we do: it counts, and is saved with the next commit."""
    table = Table(TWO).start().fail("commit").do_step().fail("commit").resume()

    assert table.rt.steps_completed == ("00-01",)
    assert table.offered()[0] == Action.CONTINUE


# --- when meta.json is broken -----------------------------------------------------------------------------------------


def test_a_meta_json_that_somebody_broke_or_removed_is_written_anew() -> None:
    """From what we know: at the next look and by the next commit. It keeps the time of creation."""
    table = Table(TWO).start().do_step().stop()
    table.world.meta = b"{ oops"
    table.resume()

    assert WRITTEN_ANEW in table.texts
    assert table.meta.steps_completed == ("00-01",)
    assert table.meta.slack
    assert "ERR-META-002" in table.codes

    table = Table(TWO).start().do_step().press_continue()
    table.world.meta = b"{ oops"
    table.do_step()

    assert WRITTEN_ANEW in table.texts
    assert table.meta.steps_completed == ("00-01", "00-02")
    assert table.menu.kind is MenuKind.PHASE

    table = Table(TWO).start().do_step().press_continue()
    since = table.meta.created_at
    table.wait(3600).world.meta = None
    table.do_step()

    assert table.meta.steps_completed == ("00-01", "00-02")
    assert "ERR-META-001" in table.codes
    assert table.meta.created_at == since


def test_people_are_told_what_was_deleted_and_restored() -> None:
    """In one sentence; what they did before still counts."""
    table = Table(TWO).start().do_step().press_continue()
    table.stop_paying().say("In tunnels.").finish().pay_up_to("commit")
    commit = table.rt.outbox[0]
    state = ItemState(meta=table.meta.but(steps_completed=("00-01", "00-02")))
    lost = (trouble("ERR-META-001"), trouble("ERR-ART-001"))
    result = CommitResult(sha="1", state=state, restored="folder", troubles=lost)
    told = Committed(key=commit.id, at=table.now(), effect=commit.id, result=result)
    table.rt = table.decided(told)
    table.resume_paying()

    assert table.texts.count("The folder of this item was deleted. I restored it from git.") == 1
    assert "roundtable(offline-sync): meta.json written anew" not in table.subjects
    assert table.rt.steps_completed == ("00-01", "00-02")


# --- going on from a stall --------------------------------------------------------------------------------------------


def test_resuming_what_stalled_is_the_same_as_retrying() -> None:
    """What never had a thread cannot be resumed."""
    table = Table(TWO).start().do_step().fail("speak", times=3).press(Action.ELABORATE).resume()

    assert table.rt.debate.framed
    assert table.rt.stage is Stage.ELABORATING

    table = Table(TWO).fail("open_thread", "not_in_channel").start()

    with pytest.raises(NotNow, match="This roundtable has no thread yet"):
        table.resume()
