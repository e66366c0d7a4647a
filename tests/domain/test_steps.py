"""A step: a persona asks, people answer, a person finishes it, and it is in git before anything goes on."""

import pytest

from bot.domain.catalog.steps import StepHeading
from bot.domain.catalog.taxonomy import trouble
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Survey
from bot.domain.roundtable.outcomes import CodeSurvey, KeywordHits
from bot.domain.roundtable.stage import Stage
from tests.domain.books import few_steps, searching_steps, step, thinking
from tests.domain.table import Table, shipped

FOUND = CodeSurvey(
    tracked_files=812, hits=(KeywordHits(keyword="SyncQueue", count=3, files=("sync/queue.py",)),)
)


def at_file_count(survey: CodeSurvey, *, thinks: bool = True) -> Table:
    """The step behind the one that collects keywords."""
    table = Table(searching_steps(thinks=thinks))
    table.world.survey = survey
    return table.start("Replace the SyncQueue").do_step("Keywords: SyncQueue, the").press_continue()


# --- asking -----------------------------------------------------------------------------------------------------------


def test_a_step_opens_with_its_header_its_questions_and_what_can_be_done() -> None:
    """`Name (Role) -- Step id: title`, then how to answer and how deep we are; at another depth, too."""
    table = Table().start()

    assert "\n\n**Maya Chen (Business Analyst) -- Step 00-01: Scope Estimation**\n\n" in table.last.text
    assert table.last.speaker == "business-analyst"

    for action in (Action.FINISH_STEP, Action.DEPTH_BRIEF, Action.DEPTH_DEEP):
        assert table.menu.offers(action)
    assert not table.menu.offers(Action.DEPTH_STANDARD)
    assert "Reply here in your own words, all of you." in table.last.text
    assert "00-01 · Quick Scan, step 1 of 3 · standard" in table.last.text


def test_what_is_known_is_filled_in_and_what_is_not_is_a_blank() -> None:
    """A step file may say {item} or {scope}; a choice of words is named, so that people can choose."""
    asks = {StepHeading.STANDARD: "Is {item} of {scope} size, {small/medium/large}?"}
    table = Table(few_steps(step("00-01", sections=asks))).start("Offline sync")

    assert "\n\nIs Offline sync of ____ size, ____ (small/medium/large)?\n" in table.last.text


def test_a_step_of_another_persona_is_asked_by_that_persona() -> None:
    """For that step only: the lead of the phase is back with the next."""
    table = Table(few_steps(step("00-01", persona="system-designer"), step("00-02"))).start()
    first = table.last

    table.do_step().press_continue()

    assert first.speaker == "system-designer"
    assert "\n\n**Jordan Park (System Designer) -- Step 00-01" in first.text
    assert table.last.speaker == "business-analyst"
    assert "ERR-PERSONA-002" in table.codes


# --- searching the code base ------------------------------------------------------------------------------------------


def test_a_step_that_needs_it_shows_what_the_code_base_says() -> None:
    """Real facts, with their source, above the questions."""
    table = at_file_count(FOUND)

    assert "I searched 812 tracked files:\n- `SyncQueue`: 3 hits in `sync/queue.py`" in table.card.text


def test_only_recorded_keywords_are_searched_for() -> None:
    """As they were said, each once; no word of the title, and none of what people say beside them."""
    table = Table(searching_steps()).start("Offline sync for trains")
    assert searches(table) == []

    table.say("Look for conflict_policy, too.").do_step("Keywords: OutboxWriter, outboxwriter")
    assert searches(table) == [("OutboxWriter",)]


def test_without_a_model_nothing_is_searched() -> None:
    """Nobody would make anything of what is found."""
    table = at_file_count(FOUND, thinks=False)

    assert searches(table) == []
    assert "tracked files" not in "\n".join(table.texts)
    assert "no code base" not in "\n".join(table.texts)


def test_without_a_code_base_the_persona_says_so() -> None:
    """Nobody is told about hits that nobody looked for."""
    table = at_file_count(CodeSurvey())

    assert "There is no code base in my workspace to search, so I rely on what you know." in table.card.text


def test_a_search_that_fails_does_not_hold_up_the_questions() -> None:
    """The step is asked as if there were no code base."""
    table = Table(searching_steps()).start().do_step("Keywords: SyncQueue").fail("survey").press_continue()

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-03")
    assert table.offered()[0] == Action.FINISH_STEP


def test_keywords_are_searched_for_after_the_step_is_saved() -> None:
    """While people read the menu."""
    table = Table(searching_steps()).start().do_step("Keywords: SyncQueue")

    assert table.order("commit", "survey")[-2:] == ["commit", "survey"]


def searches(table: Table) -> list[tuple[str, ...]]:
    return [effect.keywords for effect in table.completing if isinstance(effect, Survey)]


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("It has {scope} scope. What is {item}?", "What is Offline sync?"),
        ("So far: {hits}.\n\n1. In {areas} only. Why?\n2. Which {keywords}?", "\n1. Why?\n2. Which ____?"),
        ("{hits} hits, {files}.", "____ hits, ____."),
        ("What is it? Where is {file}?", "What is it? Where is ____?"),
    ],
)
def test_a_sentence_with_something_unknown_is_left_out(asked: str, shown: str) -> None:
    """Unless it is all that a question, or the text, says. What never can be known is a blank in any case."""
    table = Table(few_steps(step("00-01", sections={StepHeading.STANDARD: asked}))).start("Offline sync")

    assert f"\n\n{shown}\n" in table.last.text


# --- answering --------------------------------------------------------------------------------------------------------


def test_an_answer_gets_a_reaction() -> None:
    """Without a model nothing is said about it."""
    table = Table().start()
    before = len(table.world.thread)
    table.say("For field work.", ts="600.1")

    assert table.world.reactions == [("600.1", "memo")]
    assert len(table.world.thread) == before


def test_a_persona_with_nothing_to_add_says_nothing() -> None:
    """An empty answer is no message."""
    table = Table(thinking(shipped())).start()
    before = len(table.world.thread)
    table.world.speech = lambda _speak, _rt: "  "
    table.say("For field work.")

    assert table.order("speak") == ["speak"]
    assert len(table.world.thread) == before


@pytest.mark.parametrize("letter", ["E", "c", "s"])
def test_menu_letters_are_ordinary_words_while_a_step_is_open(letter: str) -> None:
    """There is no menu to choose from, so they are answers like any other."""
    table = Table().start().say(letter)

    assert table.rt.stage is Stage.DISCUSSING
    assert table.rt.answers[-1].text == letter


# --- finishing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["button", "word"])
def test_a_person_finishes_a_step(how: str) -> None:
    """By the button, or by typing `finish`; never by answering well enough."""
    table = Table().start().say("For field work.", who="grace")
    if how == "button":
        table.press(Action.FINISH_STEP, who="grace")
    else:
        table.say("Finish!", who="grace")

    assert table.meta.steps_completed == ("00-01",)
    assert "\n\nFinished by Grace · `quick-scan.md` · said by Grace\n" in table.last.text


def test_a_step_is_in_git_before_its_menu_is_shown() -> None:
    """Artifacts, meta.json and the transcript are one commit; whoever sees the menu can rely on it."""
    table = Table().start().say("For field work.")
    table.completing.clear()
    table.press(Action.FINISH_STEP)

    assert table.order("commit", "rewrite")[-2:] == ["commit", "rewrite"]
    assert table.order("commit", "post") == ["commit"]
    assert Action.CONTINUE in [choice.action for choice in table.last.choices]
    assert table.offered()[0] == Action.CONTINUE


def test_a_name_that_is_learned_before_the_commit_stands_in_its_files() -> None:
    """Somebody new writes, and another one finishes the step at once."""
    table = Table().start().stop_paying().say("For field work.", who="U0ZOE")
    table.press(Action.FINISH_STEP).resume_paying()

    assert "- Zoe: For field work." in table.world.files["quick-scan.md"]
    assert "U0ZOE" not in table.world.files["quick-scan.md"]


def test_the_commit_of_a_step_holds_all_of_it() -> None:
    """Its section, its id for meta.json and for the trailer, and every line said since the last commit."""
    table = Table().start().say("For field work.").press(Action.FINISH_STEP)

    commit = table.world.commits[-1]
    assert commit.subject == "roundtable(offline-sync): step 00-01 Scope Estimation"
    assert commit.step == "00-01"
    assert commit.change.steps == ("00-01",)
    assert [edit.path for edit in commit.edits] == ["brief.md", "quick-scan.md", "quick-scan.md"]
    assert "For field work." in [line.content for line in commit.lines]
    assert "- Ada: For field work." in table.world.files["quick-scan.md"]


def test_the_menu_says_what_was_saved() -> None:
    """By file and section, so that people can look."""
    table = Table().start().do_step()

    assert table.last.text.startswith("Saved: `quick-scan.md` > 1. Scope\n\n**1. Scope**\n")


def test_a_step_whose_file_is_no_text_is_finished_all_the_same() -> None:
    """What was said there has a page of its own; the transcript and meta.json have the step."""
    table = Table(few_steps(step("00-01", outputs=["openapi.yaml"]))).start()
    table.do_step()

    assert "- Ada: We need it for field work without a network." in table.world.files["notes.md"]
    assert table.meta.steps_completed == ("00-01",)


def test_words_said_while_we_write_are_written_too() -> None:
    """They come after the answers the voice was given, so they are feedback: written before the menu appears."""
    table = Table(few_steps()).start().stop_paying()
    table.press(Action.FINISH_STEP).say("One thing more!", who="grace")
    table.resume_paying()

    assert table.subjects[-2:] == ["step 00-01 Topic 00-01", "feedback 00-01 Topic 00-01"]
    assert "- Grace: One thing more!" in table.world.files["quick-scan.md"]
    assert table.meta.steps_completed == ("00-01",)


def test_words_said_while_feedback_is_saved_are_written_too() -> None:
    """They come between two steps, and none of them is lost."""
    table = Table(few_steps()).start().do_step().say("The first point is photos.").stop_paying()
    table.press_continue().pay_up_to("commit").say("The second point is trains.").resume_paying()

    assert "- Ada: The first point is photos." in table.world.files["quick-scan.md"]
    assert "The second point is trains." in [answer.text for answer in table.rt.answers]


# --- steps that are passed over ---------------------------------------------------------------------------------------


def test_a_step_that_is_passed_over_is_named_at_the_end_of_the_phase() -> None:
    """The list stands above the phase's menu, with the reason."""
    waits = step("00-01", depends_on=["00-09"])
    table = Table(few_steps(waits, step("00-02"))).start().do_step()

    sentence = trouble("ERR-STEP-008", step_id="00-01", dep_id="00-09").sentence
    assert f"Not done in this phase:\n- 00-01 Topic 00-01: {sentence}" in table.last.text
    assert table.meta.steps_completed == ("00-02",)
