"""What people mean when they type: a wish is a short message that asks for one thing; everything else is talk."""

import pytest

from bot.domain.actions.action import EndIntent, exit_wish
from bot.domain.actions.table import ACTIONS
from bot.domain.messages.message import Action
from bot.domain.roundtable import words
from bot.domain.roundtable.stage import Stage

ENDS = [
    "done", "Done!", "DONE.", "exit", "back", "wrap up", "wrap it up", "ok, done", "we're done", "we are done here",
    "I think we're done", "let's wrap up", "Let’s wrap this up", "all done, thanks", "great, let's wrap up now",
    "Let's wrap up our discussion of error handling", "let's wrap up this conversation, everyone", "go back please",
    "shall we wrap up", "time to wrap up", "yes, done", "wrapping up",
]  # fmt: skip
TALKS = [
    "I'm not done yet", "When the task is done, what happens?", "Let's go back to discussing the API",
    "back to the queue", "the job is done by a worker", "exit codes matter", "We don't want to wrap up",
    "if it is done twice, it breaks", "the user wraps up the parcel and sends it off to somebody else",
    "Nothing.", "", "It has been done before in the other project and it went quite well for everybody",
]  # fmt: skip
PERHAPS = ["are we done?", "done?", "so that's done", "exit?", "should we wrap this up?"]


@pytest.mark.parametrize("text", ENDS)
def test_ending_is_said_in_many_ways(text: str) -> None:
    """As long as it is what the message is about."""
    assert exit_wish(text) is EndIntent.YES


@pytest.mark.parametrize("text", TALKS)
def test_the_words_of_ending_stand_in_ordinary_sentences_too(text: str) -> None:
    """Those end nothing."""
    assert exit_wish(text) is EndIntent.NO


@pytest.mark.parametrize("text", PERHAPS)
def test_some_sentences_could_be_either(text: str) -> None:
    """So we ask."""
    assert exit_wish(text) is EndIntent.UNSURE


STEP, MENU = Stage.DISCUSSING, Stage.AT_BOUNDARY
ASKED = [
    *((text, STEP, Action.FINISH_STEP) for text in ("finish", "Finish.", "finish step", "FINISH THE STEP!")),
    *((text, STEP, None) for text in ("finish line", "we finish on Friday", "finished", "")),
    *((text, STEP, Action.STOP) for text in ("stop", "Stop!", "Stop here", "pause")),
    *((text, STEP, None) for text in ("stop it", "bus stop", "pause before the second scan")),
    ("E", MENU, Action.ELABORATE), ("c", MENU, Action.CONTINUE), (" s\n", MENU, Action.SKIP),
    ("Continue.", MENU, Action.CONTINUE),
    *((text, MENU, None) for text in ("x", "cc", "", "c.", "continue?")),
    *(
        (text, stage, action)
        for stage in (STEP, MENU)
        for text, action in (
            ("deep", Action.DEPTH_DEEP), ("let's dig in", Action.DEPTH_DEEP),
            ("go deeper please", Action.DEPTH_DEEP), ("full analysis", Action.DEPTH_DEEP),
            ("go deeper", Action.GO_DEEPER),
            ("can we be more thorough?", Action.DEPTH_DEEP), ("Keep it short!", Action.DEPTH_BRIEF),
            ("just the highlights", Action.DEPTH_BRIEF), ("please summarize", Action.DEPTH_BRIEF),
            ("skip ahead", Action.DEPTH_BRIEF), ("standard mode", Action.DEPTH_STANDARD),
            ("the deep end of the pool is closed", None), ("in brief, users lose work", None),
            ("our standard is ISO", None), ("!", None),
        )
    ),
    # Anywhere else somebody may have asked "How fast?".
    ("fast", MENU, Action.DEPTH_BRIEF), ("fast", STEP, None),
    ("Reopen step 01\u201303", MENU, Action.REOPEN), ("reopen the case", MENU, None),
    ("due 2026-11-30 17:00", STEP, Action.UNTIL), ("due by Friday", STEP, Action.UNTIL), ("due process", STEP, None),
    ("without @Grace.", STEP, Action.WITHOUT),
]  # fmt: skip


@pytest.mark.parametrize(("text", "stage", "action"), ASKED)
def test_what_does_a_buttons_work_is_a_short_message(text: str, stage: Stage, action: str | None) -> None:
    """The words of the seed, alone or among small ones; whatever is longer is talk."""
    assert next((found.action for found in ACTIONS.read_words(text, stage)), None) == action


@pytest.mark.parametrize("text", ["c", "E", "finish", "stop"])
def test_some_words_were_meant_for_a_menu(text: str) -> None:
    """Read from a thread later, they are no answers."""
    assert words.is_wish(text)
