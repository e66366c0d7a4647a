"""The planning workshop in a thread: who may call it, what is asked and shown, and what a person's word does."""

import json
from collections.abc import Callable

import pytest

from bot.domain.catalog.budget import accounts
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, CardPart, Emphasis, Message
from bot.domain.planning.verdict import ORDER, PRODUCT, RISKS, TESTS, RoleVerdict, title
from bot.domain.planning.workshop import PLAN, PLAN_FILES, PLAN_PAGE, REQUIRED, REVIEW
from bot.domain.roundtable.effects import Judge
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.outcomes import Formalized, Judged
from bot.domain.roundtable.stage import Stage
from bot.domain.transcript.lines import LinePhase, Source
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import PLAN as SHORT_PLAN
from tests.domain.table import YES, Table, person

NO = RoleVerdict(ok=False, confidence=0.9, reasons=("It is too big.",))
ASKS = {PRODUCT: ("Who is it for?", "Since when?"), RISKS: ("What can go wrong?",)}


def table(**verdicts: RoleVerdict) -> Table:
    """A step is open; in the workshop everybody says yes, except who is named."""
    started = Table(few_steps()).start()
    started.world.verdicts = lambda judge, _: verdicts.get(judge.role, YES)
    return started


def curious(*, also_later: bool = False) -> Table:
    """The roles have questions in the first reading, and none once they are answered."""
    started = Table(few_steps()).start()

    def verdict(judge: Judge) -> RoleVerdict:
        asked = ASKS.get(judge.role, ()) if judge.round == 0 or also_later else ()
        return YES.but(blocking_questions=asked)

    started.world.verdicts = lambda judge, _: verdict(judge)
    return started


def ready(before: Table | None = None) -> Table:
    return (before or table()).plan().press(Action.PLAN_GO)


def analysed() -> Table:
    return Table(few_steps()).start().through("02-01").press_continue()


def card(at: Table) -> Message:
    """What stands in the thread as the card of the workshop."""
    shown = at.rt.plan_card
    assert shown, "there is a card"
    return next(said.message for said in at.world.thread if said.ts == shown.ts)


def part(at: Table, name: str) -> CardPart:
    found = card(at).card
    assert found, "it has blocks"
    return next(one for one in found.parts if one.title == name)


def questions(at: Table) -> list[str]:
    """As the roles put them, in the order of the thread."""
    told = [line for line in at.lines if line.actor in ORDER and "verdict" not in line.meta]
    return [line.content for line in told]


# --- calling it -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", [Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.PAUSED])
def test_it_can_be_called_wherever_people_have_the_floor(stage: Stage) -> None:
    """At a question, at a menu, and after a pause; what was open is closed, and says who called."""
    scenes: dict[Stage, Callable[[], Table]] = {
        Stage.DISCUSSING: table,
        Stage.AT_BOUNDARY: lambda: table().do_step(),
        Stage.PAUSED: lambda: table().stop(),
    }
    at = scenes[stage]()
    before = at.menu
    at.plan(who="grace")

    assert at.rt.stage is Stage.PLANNING
    shown = next(
        said.message for said in at.world.thread if said.message.note == "Grace called the planning workshop."
    )
    said = [row for row in before.message.text.splitlines() if not row.startswith("Or type `")]
    assert shown.text.splitlines() == said
    assert at.menu.kind is MenuKind.PLAN_DECISION


def test_an_analysis_that_is_complete_offers_it() -> None:
    """With a button below the final brief, and below the first message; the other one shows what there is."""
    at = analysed()

    assert "Analysis ended. Not ready: no requirement, no work with an owner." in at.last.text
    for message in (at.last, at.world.root_edits[-1].message):
        assert [one.action for one in message.choices] == [Action.PLAN, Action.READ]
    assert at.press_outside(Action.PLAN).rt.stage is Stage.PLANNING


def test_not_in_the_middle_of_a_discussion() -> None:
    """It is ended first; nothing changes."""
    at = table().elaborate()
    before = at.rt

    with pytest.raises(NotNow, match="A discussion is going on"):
        at.plan()
    assert at.rt is before


def test_not_while_a_discussion_is_only_stopped() -> None:
    """It is resumed and ended first: in the record its turns stand together."""
    at = table().elaborate().say("Jordan, why?").stop()

    with pytest.raises(NotNow, match="stopped in the middle"):
        at.plan()
    assert at.resume().say("done").plan().rt.stage is Stage.PLANNING


def test_not_while_something_is_saved() -> None:
    """Whoever asks is told to try again in a moment."""
    at = table().stop_paying().press(Action.FINISH_STEP)

    with pytest.raises(NotNow, match="I am saving"):
        at.plan()


def test_not_while_something_waits_for_a_retry() -> None:
    """With a sentence that says what to do first."""
    at = table().fail("draft").do_step()

    with pytest.raises(NotNow, match="Press Retry"):
        at.plan()


def test_not_without_roles() -> None:
    """Somebody's own personas may have none; then nothing is offered either."""
    book = few_steps()
    bare = Table(type(book)(roster=book.roster, agenda=book.agenda)).start()

    with pytest.raises(NotNow, match="no roles to plan with"):
        bare.plan()
    assert bare.through("02-01").press_continue().rt.menu is None


# --- reading and asking ---------------------------------------------------------------------------------------------


def test_every_role_speaks_in_its_own_name() -> None:
    """On the card by the name of the role; the record has the role as actor, and that no model was asked."""
    at = table().plan()

    found = [row.id for row in part(at, "What the roles found").rows if not row.level]
    assert found == [f"{title(role)}:" for role in ORDER]
    told = [line for line in at.lines if "verdict" in line.meta]
    assert [line.actor for line in told] == [*ORDER, *ORDER]
    assert {(line.source, line.meta["voice"]) for line in told} == {(Source.SYSTEM, "rule")}


def test_questions_are_put_one_at_a_time() -> None:
    """The next thing somebody says is the answer; then comes the next question, and after the last one the round."""
    at = curious().plan()
    assert len(questions(at)) == 1

    at.say("The drivers.", who="grace")
    assert len(questions(at)) == 2
    at.say("Since March.").say("Nothing.", who="linus")

    assert len(questions(at)) == 3
    assert at.menu.kind is MenuKind.PLAN_DECISION
    answers = [line for line in at.lines if "answers" in line.meta]
    assert [(line.content, line.meta["answers"]["question"]) for line in answers] == [
        ("The drivers.", "Who is it for?"),
        ("Since March.", "Since when?"),
        ("Nothing.", "What can go wrong?"),
    ]


def test_answers_are_given_to_every_role() -> None:
    """Before anybody judges."""
    at = curious().plan().say("The drivers.").press(Action.PLAN_SKIP_REST)

    assert at.rt.workshop
    assert [one.answer for one in at.rt.workshop.answered] == ["The drivers."]


def test_what_was_written_before_a_question_stood_there_does_not_answer_it() -> None:
    """Two people write at once: the second had not seen the next question. The words are kept as a remark."""
    at = curious().plan()
    early = at.ts()
    at.say("The drivers.")
    at.hear(Say(key=f"C1.{early}", at=at.now(), person=person("linus"), text="And the office.", ts=early))

    assert at.rt.workshop
    assert len(questions(at)) == 2
    assert [one.text for one in at.rt.workshop.remarks] == ["And the office."]


# --- on one card ----------------------------------------------------------------------------------------------------


def test_everything_is_asked_and_found_on_one_card() -> None:
    """From the first question to the decision one post; the plan that is ready is the second."""
    at = curious()
    before = len(at.world.thread)
    at.plan()
    assert [row.id for row in part(at, "Still missing").rows] == ["1.", "2.", "3."]

    at.say("The drivers.", who="grace").press(Action.PLAN_SKIP).say("Nothing.", who="linus")
    assert [row.text for row in part(at, "Answered").rows] == [
        "Who is it for?",
        "Grace: The drivers.",
        "What can go wrong?",
        "Linus: Nothing.",
    ]
    assert [(row.id, row.aside) for row in part(at, "Still missing").rows] == [("2.", "passed")]
    assert [choice.action for choice in card(at).choices] == at.offered()
    assert len([one for one in at.world.thread[before:] if one.message.card]) == 1

    posts = len(at.world.thread)
    at.press(Action.PLAN_GO)
    assert len(at.world.thread) == posts + 1


def test_a_number_says_which_question_is_answered() -> None:
    """In any order, also words that were written before the newest question stood there; the number is no answer."""
    at = curious().plan()
    early = at.ts()
    at.say("3. Nothing.", who="linus")
    at.hear(Say(key=f"C1.{early}", at=at.now(), person=person("grace"), text="2) In March.", ts=early))
    at.say("The drivers.")

    assert at.rt.workshop
    assert [one.answer for one in at.rt.workshop.questions] == ["The drivers.", "In March.", "Nothing."]
    said = [line for line in at.lines if "answers" in line.meta]
    assert [(line.content, line.meta["answers"]["question"]) for line in said] == [
        ("3. Nothing.", "What can go wrong?"),
        ("2) In March.", "Since when?"),
        ("The drivers.", "Who is it for?"),
    ]


def test_numbers_hold_when_an_answer_is_edited_and_after_a_loss() -> None:
    """The number is never part of what was answered."""
    at = curious(also_later=True).plan()
    ts = at.ts()
    at.say("2. In March.", ts=ts).edit(ts, "2. In April.")
    assert at.rt.workshop
    assert at.rt.workshop.questions[1].answer == "In April."

    at.forget()
    assert [one.answer for one in at.rt.workshop.answered] == ["In April."]


def test_who_answered_may_answer_again_and_others_remark() -> None:
    """By the number, while questions are open."""
    at = curious().plan().say("1. The drivers.", who="grace")
    at.say("1. The clerks.", who="grace").say("1. Rather the office.", who="linus")

    assert at.rt.workshop
    assert at.rt.workshop.questions[0].answer == "The clerks."
    assert [one.text for one in at.rt.workshop.remarks] == ["1. Rather the office."]


def test_a_list_is_one_answer() -> None:
    """Several numbers in one message are the points of an answer."""
    at = curious().plan().say("1. The drivers.\n2. The clerks.")

    assert at.rt.workshop
    assert at.rt.workshop.questions[0].answer == "1. The drivers.\n2. The clerks."


def test_a_press_on_the_card_counts_for_the_question_that_it_showed() -> None:
    """Two people pass the same question: the next one stays open, and the second person is told."""
    at = curious().plan()
    shown = at.menu
    at.press(Action.PLAN_SKIP)

    with pytest.raises(NotNow, match="Skip question 1 -- chosen by Ada"):
        at.press(Action.PLAN_SKIP, menu=shown, who="grace")
    assert at.menu.message.choices[0].label == "Skip question 2"


def test_asking_for_it_again_moves_the_card_down() -> None:
    """The old one says so, and has no buttons; answers go on below the new one."""
    at = curious().plan()
    old = at.rt.plan_card
    assert old
    at.say("The drivers.").plan(who="linus")

    left = next(said.message for said in at.world.thread if said.ts == old.ts)
    assert (left.text, left.offered) == ("The planning goes on further down.", ())
    assert card(at).token == at.menu.token
    assert len(part(at, "Answered").rows) == 2
    at.say("In March.")
    assert len(part(at, "Answered").rows) == 4


def test_a_card_that_cannot_be_edited_is_posted_again() -> None:
    """Somebody deleted it: the open question stands in a new message, and its buttons count."""
    at = curious().plan().fail("rewrite", "message_not_found").say("The drivers.")

    assert [row.id for row in part(at, "Still missing").rows] == ["2.", "3."]
    at.press(Action.PLAN_SKIP)
    assert at.menu.message.choices[0].label == "Skip question 3"


def test_people_who_stop_or_leave_find_a_card_without_buttons() -> None:
    """What became of it stands below."""
    at = curious().plan().stop()
    assert card(at).offered == ()

    at.resume()
    assert [choice.action for choice in card(at).choices] == at.offered()


def test_a_question_may_be_passed_in_words_and_by_a_button() -> None:
    """It stays open in the plan, and is not asked again."""
    at = curious().plan().say("skip").press(Action.PLAN_SKIP)

    assert at.rt.workshop
    assert [one.passed for one in at.rt.workshop.questions] == [True, True, False]
    assert len(questions(at)) == 3


def test_straight_to_the_plan() -> None:
    """Without a round: what is still open is open in the plan."""
    at = curious().plan().press(Action.PLAN_STRAIGHT)

    assert at.world.files.keys() >= REQUIRED
    assert at.rt.workshop
    assert at.rt.workshop.round == 0


def test_not_straight_to_the_plan_with_a_brief_that_is_unsure_itself() -> None:
    """A guard of the schema; the person is told, and the question stays open."""
    at = Table(few_steps()).start("It is unclear why exports fail")
    at.world.verdicts = curious().world.verdicts
    at.plan()
    before = at.rt

    with pytest.raises(NotNow, match="unclear"):
        at.press(Action.PLAN_STRAIGHT)
    assert at.rt is before


# --- deciding -------------------------------------------------------------------------------------------------------


def test_the_proposal_comes_first_and_people_decide() -> None:
    """No verdict moves it on by itself."""
    at = table().plan()

    first, *_ = at.menu.message.choices
    assert (first.action, first.emphasis) == (Action.PLAN_GO, Emphasis.PRIMARY)
    assert at.last.text.startswith("**I'd write the plan now.** You decide.")
    assert Action.PLAN_CLARIFY not in at.offered()
    assert at.rt.workshop
    assert at.rt.workshop.chosen is None


def test_a_plan_is_one_commit_with_all_its_files() -> None:
    """And then the thread says so; its line is in the same commit."""
    at = ready()

    assert at.subjects[-1] == "plan version 1"
    assert at.world.files.keys() >= {*REQUIRED, REVIEW}
    assert json.loads(at.world.files[PLAN])["title"] == SHORT_PLAN["title"]
    assert "is written, version 1" in at.last.text
    assert card(at).text.startswith("The plan is written. You find it further down.")
    assert at.last.text in [line.content for line in at.world.commits[-1].lines]
    assert at.lines[-1].phase is LinePhase.REVIEW_READY


def test_going_on_against_the_proposal_takes_a_reason() -> None:
    """Of the person who pressed; what others say meanwhile is a remark. The reason is kept in the review."""
    at = table(**{TESTS: NO}).plan().press(Action.PLAN_GO, who="ada")
    assert at.last.text.startswith("That is not what I proposed. Ada, say why in one sentence")
    at.say("I'd wait.", who="grace")
    assert PLAN not in at.world.files

    at.say("The fair is on Friday.", who="ada")
    assert "The fair is on Friday." in at.world.files[REVIEW]
    assert "Ada said why" in card(at).note
    assert json.loads(at.world.files[REVIEW])["aggregate"]["ok"] is False


def test_whoever_was_to_explain_may_choose_something_else() -> None:
    """The menu is still there, below the question for the reason."""
    at = table(**{TESTS: NO}).plan().press(Action.PLAN_GO).press(Action.PLAN_HOLD)

    assert at.last.text.startswith("Nothing was changed. Press any button to go on.")
    assert at.say("Good.").rt.stage is Stage.PLANNING


def test_another_round_is_granted_to_whoever_asks() -> None:
    """Also beyond the two that code would hold; each begins a round of the transcript."""
    at = table().plan().press(Action.PLAN_ROUND).press(Action.PLAN_ROUND)

    assert at.rt.workshop
    assert (at.rt.workshop.round, at.rt.workshop.more_rounds) == (3, 1)
    begun = [line.round for line in at.lines if line.content.startswith("Round ")]
    assert begun == sorted(set(begun))


def test_clarify_puts_a_question_that_came_up_in_a_round() -> None:
    """It is answered, and the next round hears it."""
    at = Table(few_steps()).start()
    at.world.verdicts = lambda judge, _: YES.but(
        blocking_questions=("Who pays?",) if judge.round == 1 else ()
    )
    at.plan()
    assert at.offered()[0] is Action.PLAN_CLARIFY

    at.press(Action.PLAN_CLARIFY).say("The office.")
    assert at.rt.workshop
    assert (at.rt.workshop.round, at.rt.workshop.sessions) == (2, 1)
    assert at.offered()[0] is Action.PLAN_GO


def test_a_redo_puts_the_version_aside_and_begins_the_next() -> None:
    """Files move, the transcript goes on, answers are kept."""
    at = curious()
    at.plan().say("The drivers.").press(Action.PLAN_SKIP_REST).press(Action.PLAN_GO)
    lines = len(at.lines)
    page = at.world.files[PLAN_PAGE]
    at.press(Action.PLAN_REDO)

    assert at.world.files["planning/versions/v1/plan.md"] == page
    assert not REQUIRED & at.world.files.keys()
    assert at.subjects[-1] == "plan version 1 put aside"
    assert len(at.lines) > lines
    assert at.rt.workshop
    assert at.rt.workshop.version == 2
    assert [one.answer for one in at.rt.workshop.answered] == ["The drivers."]
    assert "Who is it for?" not in at.menu.message.text


def test_a_plan_with_errors_goes_back_once_and_then_to_the_people() -> None:
    """Nothing is written meanwhile; the errors are shown both times."""
    at = table()
    at.world.plans = [{"id": "x"}, {"id": "x"}]
    at.plan().press(Action.PLAN_GO)

    assert any("I ask once for a corrected plan" in line.content for line in at.lines)
    assert at.last.text.startswith("The plan still has errors, so nothing was written.")
    assert at.offered()[0] is Action.PLAN_REDO
    assert PLAN not in at.world.files


def test_what_makes_no_sense_just_now_is_refused_with_a_sentence() -> None:
    """The first of two who press decides; the second is told what became of the menu."""
    at = table().plan()
    menu = at.menu
    at.press(Action.PLAN_GO)

    with pytest.raises(NotNow, match="menu is over"):
        at.press(Action.PLAN_HOLD, menu=menu, who="grace")


# --- changing one's mind --------------------------------------------------------------------------------------------


def test_an_answer_that_is_edited_is_read_as_it_is_now() -> None:
    """By every role from then on."""
    at = curious().plan()
    ts = at.ts()
    at.say("The drivers.", ts=ts).edit(ts, "The clerks.")

    assert at.rt.workshop
    assert at.rt.workshop.questions[0].answer == "The clerks."


def test_an_answer_that_is_deleted_leaves_the_question_open() -> None:
    """In the plan; it is not asked again."""
    at = curious().plan()
    ts = at.ts()
    at.say("The drivers.", ts=ts).delete(ts)

    assert at.rt.workshop
    assert at.rt.workshop.questions[0].passed


# --- stopping, leaving, coming back -----------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["word", "command"])
def test_a_workshop_is_stopped_and_resumed_where_it_was(how: str) -> None:
    """The open question is put again, and no role is asked twice."""
    at = curious().plan()
    at.say("stop") if how == "word" else at.stop()
    assert at.offered() == [Action.RESUME]
    verdicts = sum("verdict" in line.meta for line in at.lines)

    at.press(Action.RESUME)
    assert at.rt.stage is Stage.PLANNING
    assert "Who is it for?" in at.menu.message.text
    assert sum("verdict" in line.meta for line in at.lines) == verdicts


def test_stopped_in_the_middle_of_a_reading_it_goes_on_with_the_next_role() -> None:
    """Whoever was about to speak is asked again."""
    at = table().stop_paying().plan()
    at.pay_up_to("judge").pay_one()
    at.resume_paying().stop()
    at.resume()

    told = [line.actor for line in at.lines if "verdict" in line.meta and line.meta["plan_round"] == 0]
    assert told == list(ORDER)


def test_no_stop_while_the_plan_is_being_saved() -> None:
    """It takes a moment."""
    at = table().plan().stop_paying().press(Action.PLAN_GO)
    at.pay_until(lambda rt: bool(rt.outbox) and rt.outbox[0].kind == "commit" and bool(rt.outbox[0].then))

    with pytest.raises(NotNow, match="I am saving"):
        at.stop()
    assert "stop" in [line.content for line in at.say("stop").lines]


def test_leaving_it_goes_back_to_the_open_step() -> None:
    """Its answers are still there, and `plan` goes on where the workshop was left."""
    at = table().say("For field work.").plan().press(Action.PLAN_HOLD).press(Action.PLAN_LEAVE)
    assert at.rt.stage is Stage.DISCUSSING
    assert "For field work." in [answer.text for answer in at.rt.answers]

    at.plan()
    assert at.rt.workshop
    assert at.rt.workshop.round == 1
    assert at.menu.kind is MenuKind.PLAN_DECISION


def test_what_is_said_in_a_workshop_answers_no_step() -> None:
    """Neither for us nor for whoever replays the record."""
    at = curious().plan().say("The drivers.")

    assert at.rt.answers == ()
    assert all("step_id" not in line.meta for line in at.lines if "plan_round" in line.meta)


def test_an_item_that_is_analysed_is_at_rest_again_with_its_plan() -> None:
    """Its plan can still be begun again; otherwise there is nothing to do."""
    at = ready(analysed())

    assert at.rt.stage is Stage.ANALYSED
    assert at.offered() == [Action.PLAN_REDO]
    assert at.press(Action.PLAN_REDO).rt.stage is Stage.PLANNING


def test_with_a_plan_the_analysis_can_go_on() -> None:
    """Where it stood."""
    at = ready(table().do_step())
    assert at.offered() == [Action.PLAN_LEAVE, Action.PLAN_REDO]

    used = at.menu
    assert at.press(Action.PLAN_LEAVE).rt.stage is Stage.AT_BOUNDARY
    shown = next(said.message for said in at.world.thread if said.ts == used.ts)
    assert shown.note == "Go on with the analysis -- chosen by Ada"


def test_calling_it_again_shows_what_is_open() -> None:
    """Nothing is begun twice."""
    at = curious().plan()
    before = at.rt.workshop
    at.plan(who="linus")

    assert at.rt.workshop == before
    assert "Who is it for?" in at.menu.message.text


# --- failures -------------------------------------------------------------------------------------------------------


def test_a_role_that_cannot_be_heard_does_not_sink_the_round() -> None:
    """It counts as one that cannot say; the others are heard."""
    at = table().fail("judge").plan()

    assert at.menu.kind is MenuKind.PLAN_DECISION
    told = [line.content for line in at.lines if "verdict" in line.meta]
    assert "I could not answer in this round: The disk is full." in told
    assert told.count("I've read it, and have no question.") == len(ORDER) - 1


def test_a_plan_that_cannot_be_written_waits_for_a_retry() -> None:
    """Nothing goes on until a person presses, and nothing is ready."""
    at = table().plan().fail("formalize").press(Action.PLAN_GO)
    assert at.rt.stage is Stage.STALLED

    at.press_retry()
    assert at.world.files.keys() >= REQUIRED


def test_a_folder_that_cannot_be_read_waits_for_a_retry() -> None:
    """Without it nobody knows whether there is a plan already."""
    at = table().fail("read_plan").plan()
    assert at.offered() == [Action.RETRY]

    at.press_retry()
    assert at.rt.stage is Stage.PLANNING


def test_a_plan_that_cannot_be_saved_counts_and_is_saved_later() -> None:
    """As with a step: people are told once, and see the page."""
    at = table().plan().fail("commit").press(Action.PLAN_GO)
    assert PLAN not in at.world.files
    assert any("# Plan: Offline sync" in text for text in at.texts)

    at.try_again()
    assert at.world.files.keys() >= {*REQUIRED, PLAN_FILES}


@pytest.mark.parametrize("number", range(1, 60, 4))
def test_a_process_may_die_anywhere(number: int) -> None:
    """Whoever comes next pays the rest; the same is said, once."""
    undisturbed = curious().plan().say("The drivers.").press(Action.PLAN_SKIP_REST).press(Action.PLAN_GO)
    at = curious().stop_paying().plan()
    completing = 0
    acts: list[Callable[[], Table]] = [
        lambda: at.say("The drivers."),
        lambda: at.press(Action.PLAN_SKIP_REST),
        lambda: at.press(Action.PLAN_GO),
        lambda: at,
    ]
    for act in acts:
        while at.pay_one():
            completing += 1
            if completing == number:
                at.restart()
        act()

    assert at.texts == undisturbed.texts
    assert at.subjects == undisturbed.subjects


# --- the store is lost ----------------------------------------------------------------------------------------------


def test_after_a_loss_the_workshop_begins_again_and_nobody_is_asked_twice() -> None:
    """What was answered is in the transcript; verdicts are given anew."""
    at = curious(also_later=True).plan().say("The drivers.", who="grace").say("It should be small.")
    at.forget()

    assert at.rt.stage is Stage.PLANNING
    assert at.rt.workshop
    assert [one.answer for one in at.rt.workshop.answered] == ["The drivers.", "It should be small."]
    assert "What can go wrong?" in at.menu.message.text


def test_after_a_loss_a_plan_is_still_a_plan() -> None:
    """Calling the workshop finds it written, and offers to begin again."""
    at = ready(analysed())
    at.forget()
    assert at.rt.stage is Stage.ANALYSED

    at.plan()
    assert at.offered() == [Action.PLAN_REDO]
    assert "is written" in at.last.text
    at.press(Action.PLAN_REDO)
    assert "planning/versions/v1/plan.md" in at.world.files


def test_after_a_loss_of_a_stopped_workshop_it_goes_on_as_a_workshop() -> None:
    """Also when something was said since."""
    at = curious().plan().stop().say("I'm back on Monday.", who="linus")
    at.forget()

    assert at.rt.stage is Stage.PLANNING


def test_what_the_workshop_took_is_counted_and_stands_in_the_record() -> None:
    """Every role that spoke and every plan that was written, once; a plan with errors cost as much."""
    at = table()
    at.world.facts = {"provider": "p", "model": "m", "tokens_in": 80, "tokens_out": 20, "cost": "0.10"}
    at.world.plans = [{"id": "x"}, SHORT_PLAN]
    at = ready(at)
    heard = [one for one in at.told if isinstance(one, Judged | Formalized)]
    plans = [one.content for one in at.lines if one.content.startswith("A plan came back")]

    assert at.rt.purse.spent.calls == len(heard)
    assert accounts(one.meta for one in at.lines).item == at.rt.purse.spent
    assert plans == ["A plan came back that is not valid.", "A plan came back."]
