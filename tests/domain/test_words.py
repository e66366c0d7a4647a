"""What people mean when they type: a wish is a short message that asks for one thing; everything else is talk."""

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.messages.message import Action
from bot.domain.roundtable import words
from bot.domain.roundtable.words import EndIntent
from tests.domain.table import shipped

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
    assert words.exit_wish(text) is EndIntent.YES


@pytest.mark.parametrize("text", TALKS)
def test_the_words_of_ending_stand_in_ordinary_sentences_too(text: str) -> None:
    """Those end nothing."""
    assert words.exit_wish(text) is EndIntent.NO


@pytest.mark.parametrize("text", PERHAPS)
def test_some_sentences_could_be_either(text: str) -> None:
    """So we ask."""
    assert words.exit_wish(text) is EndIntent.UNSURE


@pytest.mark.parametrize("text", ["finish", "Finish.", "finish step", "FINISH THE STEP!"])
def test_a_step_is_finished_by_saying_so(text: str) -> None:
    """And nothing else in the message."""
    assert words.finishes(text)


@pytest.mark.parametrize("text", ["finish line", "we finish on Friday", "finished", ""])
def test_talking_about_finishing_is_not_finishing(text: str) -> None:
    """It is an answer."""
    assert not words.finishes(text)


@pytest.mark.parametrize(
    ("text", "stops"),
    [
        ("stop", True),
        ("Stop!", True),
        ("Stop here", True),
        ("pause", True),
        ("stop it", False),
        ("bus stop", False),
        ("pause before the second scan", False),
    ],
)
def test_stopping_is_a_word_or_what_stands_on_the_button(text: str, stops: bool) -> None:  # noqa: FBT001 -- a column of the table
    """Exactly that."""
    assert words.stops(text) is stops


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("E", Action.ELABORATE),
        ("c", Action.CONTINUE),
        (" s\n", Action.SKIP),
        ("x", None),
        ("cc", None),
        ("", None),
    ],
)
def test_a_letter_alone_is_a_choice(text: str, action: Action | None) -> None:
    """Three letters, upper or lower case."""
    assert words.letter(text) is action


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("deep", Depth.DEEP),
        ("let's dig in", Depth.DEEP),
        ("go deeper please", Depth.DEEP),
        ("full analysis", Depth.DEEP),
        ("can we be more thorough?", Depth.DEEP),
        ("Keep it short!", Depth.BRIEF),
        ("just the highlights", Depth.BRIEF),
        ("please summarize", Depth.BRIEF),
        ("skip ahead", Depth.BRIEF),
        ("standard mode", Depth.STANDARD),
    ],
)
@pytest.mark.parametrize("at_menu", [True, False])
def test_depths_are_wished_for_in_words(text: str, depth: Depth, at_menu: bool) -> None:  # noqa: FBT001
    """The words of the seed, alone or among small ones."""
    assert words.depth(text, at_menu=at_menu) is depth


@pytest.mark.parametrize(("text", "at_menu", "depth"), [("fast", True, Depth.BRIEF), ("fast", False, None)])
def test_ordinary_words_are_wishes_only_at_a_menu(
    text: str,
    at_menu: bool,  # noqa: FBT001
    depth: Depth | None,
) -> None:
    """Anywhere else somebody may have asked "How fast?"."""
    assert words.depth(text, at_menu=at_menu) is depth


@pytest.mark.parametrize(
    "text",
    ["the deep end of the pool is closed", "in brief, users lose work", "our standard is ISO", "", "!"],
)
def test_a_sentence_is_no_wish_for_a_depth(text: str) -> None:
    """However deep it goes."""
    assert words.depth(text, at_menu=True) is None


@pytest.mark.parametrize("text", ["c", "E", "finish", "stop"])
def test_some_words_were_meant_for_a_menu(text: str) -> None:
    """Read from a thread later, they are no answers."""
    assert words.is_wish(text)


@pytest.mark.parametrize(
    ("text", "nobody"),
    [
        ("Architect, how?", True),
        ("@BA: why?", True),
        ("Chen, why?", True),
        ("Jordon, how?", True),
        ("Maya, why?", True),
        ("Well, why?", False),
        ("Nothing is called here", False),
    ],
)
def test_some_openings_call_nobody(text: str, nobody: bool) -> None:  # noqa: FBT001
    """It is asked only when nobody was addressed, so a real first name does no harm here."""
    assert words.addresses_no_one(text, shipped().roster) is nobody
