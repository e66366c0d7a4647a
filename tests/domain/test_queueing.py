"""What people say while a persona is at work waits for it, and is answered next: each person once, and not for ever."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak, Tell
from bot.domain.roundtable.transitions.elaborations import LONGEST
from tests.domain.table import Table

LONG = 60
"""Turns that a discussion may have, so that it does not end before too much is waiting."""


def talking(max_turns: int = LONG) -> Table:
    """A discussion that was framed, and in which everybody had the floor; a persona is about to answer Ada."""
    table = Table().start().do_step()
    table.meta_says(elaboration_config={"max_turns": max_turns}).resume().press(Action.ELABORATE)
    table.stop_paying().say("What about conflicts?")
    return table.pay_up_to("speak")


def written(table: Table, text: str, *, having_read: int) -> Table:
    """The persona has written *text* by now, knowing so many turns."""
    return table.spoke(table.speaking, text, turns=having_read)


def answers(table: Table) -> int:
    """How many personas speak from here on, when everything is paid."""
    before = table.order("speak")
    table.resume_paying()
    return len(table.order("speak")) - len(before)


def told(table: Table) -> list[str]:
    """Who was told that not everything is answered."""
    return [person for person, message in table.world.told if "do not answer each message" in message.text]


def test_several_messages_of_one_person_are_one_thing_to_answer() -> None:
    """However many it took to say it; each of them is a turn and a line of its own."""
    table = talking().say("I mean edits,").say("of the same field.")

    assert answers(table) == 1
    texts = ["What about conflicts?", "I mean edits,", "of the same field."]
    assert [turn.text for turn in table.rt.debate.turns if turn.human][-3:] == texts
    said = [line for line in table.lines if line.content in texts]
    assert len({line.meta["turn_id"] for line in said}) == len(texts)


def test_a_second_person_is_another_thing_to_answer() -> None:
    """By somebody who was not heard yet, if there is anybody; while nobody speaks twice to the first."""
    table = Table().start().do_step().press(Action.ELABORATE, key="once")
    table.rt = table.rt.but(elaboration=table.rt.debate.but(turns=table.rt.debate.turns[:1], had_floor={}))
    table.stop_paying().say("What about conflicts?").say("Of edits, I mean.")
    assert len(table.rt.debate.waiting) == 1

    table.say("And who pays?", who="grace")
    assert len(table.rt.debate.waiting) == 2


def test_whoever_is_called_by_name_answers_as_well() -> None:
    """That is another thing to answer, also from somebody who is being answered."""
    table = talking()
    table.say("Alex, and you?").say("Jordan, and you?")

    assert {"solutions-architect", "system-designer"} <= {*table.rt.debate.waiting}


def test_after_an_answer_the_same_person_can_ask_again() -> None:
    """Answered is answered: what comes then is new."""
    table = talking()
    written(table, "We merge.", having_read=table.rt.debate.turn_count).resume_paying()
    table.stop_paying().say("And then?")

    assert table.rt.has_pending(Speak)


def test_somebody_else_takes_over_when_an_answer_comes_too_late_twice() -> None:
    """What was said to nobody in particular does not stay without an answer because its author went on."""
    table = talking()
    first = table.speaking.persona
    for words in ("I mean edits,", "of the same field."):
        count = table.rt.debate.turn_count
        table.say(words)
        written(table, "Too late.", having_read=count)
        table.pay_up_to("speak")

    assert table.speaking.persona != first
    assert not table.speaking.redone
    table.resume_paying()
    assert "Too late." not in table.texts
    assert not table.rt.debate.turns[-1].human


def test_so_many_wait_and_no_more() -> None:
    """The rest is on record, line by line, and is no turn."""
    table = talking()
    for number in range(LONGEST + 5):
        table.say(f"Point {number}.", who="grace")

    assert len(table.rt.debate.unanswered) == LONGEST
    assert [one.text for one in table.rt.debate.besides][-1] == f"Point {LONGEST + 4}."
    table.resume_paying()
    assert {f"Point {number}." for number in range(LONGEST + 5)} <= {line.content for line in table.lines}


def test_who_goes_beyond_is_told_once() -> None:
    """In a sentence that only they see; not with every message."""
    table = talking()
    for number in range(LONGEST + 3):
        table.say(f"Point {number}.", who="grace")
    table.say("And I?", who="linus").resume_paying()

    assert told(table) == ["grace", "linus"]


def test_nobody_is_told_who_is_answered() -> None:
    """A lively discussion is no reason to be warned."""
    table = talking()
    for number in range(LONGEST - 1):
        table.say(f"Point {number}.", who="grace")

    assert not table.rt.has_pending(Tell)


def test_when_somebody_has_answered_there_is_room_again() -> None:
    """The next message is a turn as before."""
    table = talking()
    for number in range(LONGEST + 1):
        table.say(f"Point {number}.", who="grace")
    written(table, "One after the other.", having_read=table.rt.debate.turn_count).resume_paying()
    turns = table.rt.debate.turn_count
    table.stop_paying().say("Well, then.", who="grace")

    assert table.rt.debate.turn_count == turns + 1


def test_on_their_own_floor_people_talk_as_long_as_they_like() -> None:
    """Where nobody is about to answer, nothing waits for an answer."""
    table = talking().resume_paying()
    table.world.speech = lambda *_: ""
    for number in range(LONGEST + 2):
        table.say(f"Point {number}.", who="grace")

    assert not table.rt.debate.besides
    assert told(table) == []


def test_what_is_said_beyond_can_still_be_changed() -> None:
    """An edit reaches it, and a way out is one wherever it is said."""
    table = talking()
    for number in range(LONGEST):
        table.say(f"Point {number}.", who="grace")
    table.say("Beyond.", who="grace", ts="1767300000.000100")
    table.edit("1767300000.000100", "Beyond that.", who="grace")
    assert table.rt.debate.besides[-1].text == "Beyond that."

    table.say("done", who="grace").resume_paying()
    assert table.rt.elaboration is None


@pytest.mark.parametrize("limit", [5, 10, 30])
def test_however_fast_people_are_the_limit_holds(limit: int) -> None:
    """The discussion ends at its limit, and what was said after it is in the record."""
    table = talking(limit)
    for number in range(2 * LONGEST):
        table.say(f"Point {number}.", who="grace")
        assert table.rt.elaboration is None or table.rt.debate.turns_used <= limit
    table.resume_paying()

    assert all(one.turn_count <= limit for one in table.meta.elaborations)
    assert {f"Point {number}." for number in range(2 * LONGEST)} <= {line.content for line in table.lines}
