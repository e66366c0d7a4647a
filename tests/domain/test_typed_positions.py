"""A position behind its label, in words: what was chosen, how sure, and why."""

import pytest

from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.discussion.words import labelled_position, typed_position
from bot.domain.messages.message import Action
from tests.domain.table import Table
from tests.domain.test_discussion_card import discussing, seal


@pytest.mark.parametrize(
    ("words", "position"),
    [
        ("A", SealedPosition(option="A")),
        ("a, very sure", SealedPosition(option="A", sure="high")),
        ("option b. I'm fairly sure", SealedPosition(option="B", sure="mid")),
        ("A very sure", SealedPosition(option="A", sure="high")),
        ("A, not sure, because it is simple", SealedPosition(option="A", sure="low", why="it is simple")),
        ("A: it is simple", SealedPosition(option="A", why="it is simple")),
        ("a file, not sure", SealedPosition(words="a file", sure="low")),
        ("a file because it is simple", SealedPosition(words="a file", why="it is simple")),
        ("I'm not sure about Redis", SealedPosition(words="I'm not sure about Redis")),
        ("A works unless Redis is away", SealedPosition(words="A works unless Redis is away")),
        (" , ", SealedPosition()),
    ],
)
def test_the_words_say_option_certainty_and_reason(words: str, position: SealedPosition) -> None:
    assert typed_position(words) == position


@pytest.mark.parametrize("text", ["for A", "My position: A", "> position: A", "position A", "position:"])
def test_other_words_have_no_label(text: str) -> None:
    assert labelled_position(text) == ""


def told(table: Table) -> list[str]:
    return [message.text for _, message in table.world.told]


def test_said_in_the_thread_it_is_an_open_position() -> None:
    """With how sure its person is; where nobody gives any privately, there is nothing to say about it."""
    table = discussing().say("position: A, very sure, because it is simple", who="grace")

    [stand] = table.rt.discussed.stands
    assert (stand.by, stand.letter, stand.sure, stand.why) == ("grace", "A", "high", "it is simple")
    assert told(table) == []


def test_while_positions_are_sealed_its_person_hears_that_everybody_has_seen_it() -> None:
    """One sentence, and only for a message that was meant to be private."""
    table = seal(discussing().say("Hm.", who="grace"), "ada", "B")
    known = len(told(table))
    table.say("position: A", who="grace")
    assert [stand.letter for stand in table.rt.discussed.stands] == ["A"]
    [sentence] = told(table)[known:]
    assert "Everybody here has seen that" in sentence
    assert "/roundtable position A" in sentence
    table.say("for B", who="grace")
    assert len(told(table)) == known + 1

    table.restart().press(Action.REVEAL, who="grace")
    table.say("position: B", who="grace")
    assert len(told(table)) == known + 1


def test_words_of_ones_own_are_an_option_and_an_unknown_letter_is_told() -> None:
    table = discussing().say("position: a bucket in each gateway", who="grace")
    assert [one.text for one in table.rt.debate.options] == ["a queue", "a file", "a bucket in each gateway"]
    assert [one.letter for one in table.rt.discussed.stands] == ["C"]

    table.say("position:Z", who="ada")
    assert told(table)[-1].startswith("There is no option Z.")
    assert len(table.rt.discussed.stands) == 1
