"""How deep the questions go: the quick scan proposes, people dispose, and `meta.json` remembers."""

from collections.abc import Callable

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.messages import menus
from bot.domain.messages.message import Action
from bot.errors import NotNow
from tests.domain.books import few_steps, searching_steps, step
from tests.domain.table import Table

SMALL = "**Scope**: small\n**File Count**: 3\n**Complexity**: low\n"
LARGE = "**Scope**: large\n**File Count**: 40\n**Complexity**: high\n"
BRIEF_WORDS = (
    "This looks straightforward. I'll keep the analysis brief -- say 'deep' if you want the full treatment."
)
DEEP_WORDS = (
    "This is a substantial change. I'll do a thorough analysis -- say 'brief' if you want to speed things up."
)
PHASES = [phase.key for phase in few_steps().agenda.phases]
DEEP = ["1. What?", "2. Why?", "3. When?", "4. Who?"]


def questions(text: str) -> list[str]:
    return [line for line in text.splitlines() if line[:1].isdigit() and line.endswith("?")]


def after_scan(found: str) -> Table:
    """The second phase, after a quick scan that came to this."""
    table = Table(few_steps()).start()
    table.world.files["quick-scan.md"] = f"# Scan\n\n## 9. Final Scope\n\n{found}"
    return table.through("00-01").press_continue()


def greeting(table: Table) -> str:
    """What the open card says above its question."""
    assert table.rt.card
    assert table.last.text.startswith(f"{table.rt.card.first}\n\n**Maya Chen")
    return table.rt.card.first


# --- proposed ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "depth", "announced"),
    [(SMALL, Depth.BRIEF, BRIEF_WORDS), (LARGE, Depth.DEEP, DEEP_WORDS)],
)
def test_the_quick_scan_sets_the_depth_and_the_lead_says_so(found: str, depth: Depth, announced: str) -> None:
    """Once a phase, below the greeting, with the word that changes it: on the card, and in the transcript."""
    table = after_scan(found)

    assert table.rt.depth is depth
    assert f"Let's get started.\n\n{announced}\n\n**Maya Chen" in table.last.text
    said = [line for line in table.lines if announced in line.content]
    assert [(line.actor, line.meta["depth"]) for line in said] == [("BusinessAnalyst", depth.value)]
    assert said[0].content == greeting(table)


def test_a_scan_of_medium_scope_or_none_means_standard_and_is_not_announced() -> None:
    """The log knows where it says nothing."""
    table = after_scan("**Scope**: medium\n")

    assert table.rt.depth is Depth.STANDARD
    assert greeting(table).endswith("Let's get started.")
    assert greeting(table) in [line.content for line in table.lines]

    table = after_scan("Nobody knows.")

    assert table.rt.depth is Depth.STANDARD
    assert "ERR-DEPTH-001" in table.codes


# --- chosen -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        lambda table: table.say("let's dig in", who="grace"),
        lambda table: table.press(Action.DEPTH_DEEP, who="grace"),
        lambda table: table.depth(Depth.DEEP, who="grace"),
    ],
    ids=["word", "button", "command"],
)
def test_people_change_the_depth_of_the_open_step(how: Callable[[Table], Table]) -> None:
    """
    The question is asked with the other section, on the same message; the lead says so once above it.

    Who chose is in the transcript.
    """
    table = Table(few_steps()).start()
    asked, posts = table.menu, len(table.world.thread)
    how(table)

    assert greeting(table).endswith("Let's get started.\n\nGot it, switching to deep mode.")
    assert (table.menu_at, len(table.world.thread)) == (table.ts_of(asked.token), posts)
    assert table.world.thread[-1].message.text == table.last.text
    assert questions(table.last.text) == DEEP
    offered = [choice.action for choice in table.menu.message.offered]
    assert offered[0] == Action.FINISH_STEP
    depths = [action for action in offered if action in menus.DEPTH_OF]
    assert depths == [Action.DEPTH_BRIEF, Action.DEPTH_STANDARD]

    chose = [line for line in table.lines if line.content == "Grace chose: Switch to deep"]
    assert [line.meta["person"] for line in chose] == ["grace"]
    said = [line for line in table.lines if "Got it, switching" in line.content]
    assert [(line.actor, line.content) for line in said] == [
        ("BusinessAnalyst", "Got it, switching to deep mode.")
    ]
    assert table.last.text.count("Got it, switching to deep mode.") == 1


def test_only_the_last_change_stands_on_the_card() -> None:
    """The transcript has both."""
    table = Table(few_steps()).start().say("deep").say("brief")

    assert greeting(table).endswith("Let's get started.\n\nGot it, switching to brief mode.")
    assert [line.content for line in table.lines if "Got it" in line.content] == [
        "Got it, switching to deep mode.",
        "Got it, switching to brief mode.",
    ]


def test_a_depth_is_saved_before_it_is_acknowledged() -> None:
    """It is kept in `meta.json` for the phase and all later ones."""
    table = Table(few_steps()).start()
    table.completing.clear()
    table.say("keep it short")

    assert table.order("commit", "post", "rewrite") == ["commit", "rewrite"]
    assert "Got it, switching to brief mode.\n\n" in table.last.text
    assert table.meta.depth_overrides == dict.fromkeys(PHASES, "brief")


@pytest.mark.parametrize(
    "answer",
    [
        "It must be fast.",
        "fast",
        "quick",
        "The deep link has to open the right page",
        "A brief outage is fine as long as nobody loses anything",
    ],
)
def test_an_answer_that_holds_the_word_is_an_answer(answer: str) -> None:
    """Only a short message that asks for nothing else changes the depth of an open step."""
    table = Table(few_steps()).start().say(answer)

    assert table.rt.depth is Depth.STANDARD
    assert table.rt.answers[-1].text == answer


def test_at_a_menu_ordinary_words_are_wishes_too() -> None:
    """There nobody answers a question, so "quick" is about the depth; the same menu returns."""
    table = Table(few_steps(step("00-01"), step("00-02"))).start().do_step()
    table.say("quick please")

    assert table.last.text.startswith("Got it, switching to brief mode.\n\n")
    assert "\n[E] Elaboration Mode" in table.last.text
    offered = [choice.action for choice in table.menu.message.offered]
    depths = [action for action in offered if action in menus.DEPTH_OF]
    assert depths == [Action.DEPTH_STANDARD, Action.DEPTH_DEEP]


def test_the_next_steps_and_phases_keep_the_depth() -> None:
    """Who wishes for it wishes for what comes, and not for what is over."""
    table = Table(few_steps(step("00-01"), step("00-02"))).start().say("deep").do_step().press_continue()

    assert questions(table.last.text) == DEEP

    table = Table(few_steps()).start().do_step().press_continue().say("deep").do_step().press_continue()

    assert table.rt.depth is Depth.DEEP
    assert table.meta.depth_overrides == dict.fromkeys(PHASES[1:], "deep")


def test_a_depth_outlives_the_store_and_one_that_does_not_exist_is_ignored() -> None:
    """The phase is as deep as without it, and the log says so."""
    table = Table(few_steps()).start().through("01-01").press_continue().say("deep").forget()

    assert table.rt.depth is Depth.DEEP
    assert any(
        "(Using thorough analysis mode as you requested last session.)" in text for text in table.texts
    )

    table = Table(few_steps()).start().meta_says(depth_overrides={"00-quick-scan": "abysmal"}).forget()

    assert table.rt.depth is Depth.STANDARD
    assert "ERR-DEPTH-002" in table.codes


def test_a_depth_wished_for_while_another_is_saved_counts_and_finishes_nothing() -> None:
    """The commit of the depth is not the commit of the step: the menu waits for the right one."""
    table = Table(few_steps()).start().stop_paying()
    table.depth(Depth.DEEP).depth(Depth.BRIEF).resume_paying()

    assert table.rt.depth is Depth.BRIEF
    assert table.rt.depth_overrides == table.meta.depth_overrides == dict.fromkeys(PHASES, "brief")

    table = Table(few_steps()).start().stop_paying()
    table.depth(Depth.DEEP).finish().resume_paying()

    assert table.subjects == ["start", "depth deep for 00-quick-scan", "step 00-01 Topic 00-01"]


def test_a_depth_wished_for_during_a_search_waits_for_it() -> None:
    """The questions are asked once, with what was found, at the new depth."""
    table = Table(searching_steps()).start().do_step("Keywords: SyncQueue").stop_paying().press_continue()
    table.pay_up_to("survey")
    table.depth(Depth.DEEP).resume_paying()

    assert [questions(text) for text in table.texts if "-- Step 00-03" in text] == [DEEP]


def test_in_a_discussion_the_depth_cannot_be_changed() -> None:
    """The command is for steps and their menus."""
    table = Table(few_steps()).start().elaborate()

    with pytest.raises(NotNow, match="The depth can be changed while a step or its menu is open"):
        table.depth(Depth.DEEP)
