"""Marks in an open discussion: they stand on its card, and its synthesis has what came of them."""

import pytest

from bot.domain.discussion.board import fate, owner
from bot.domain.discussion.elaboration import Fate
from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.message import Action
from bot.domain.roundtable.digest import Digest, StateChange, digest
from bot.domain.roundtable.marks import MarkKind
from bot.domain.specification.snapshot import folded
from bot.domain.transcript.fold import fold
from bot.domain.values.places import Belonging, Person
from tests.domain.table import Table
from tests.domain.test_marking import WORDS, Marking, discussion

GUS = Person(id="gus", name="Gus", belongs=Belonging.GUEST)


@pytest.fixture
def marking() -> Marking:
    return Marking(discussed=True)


def test_a_raised_hand_without_a_reason_is_open_in_the_synthesis(marking: Marking) -> None:
    """Until its person says why."""
    marking.mark(MarkKind.OBJECTION, who="linus")
    table = marking.table.restart().press(Action.END_ELABORATION)

    assert f"- Why does Linus object to “{WORDS}”?" in table.world.commits[-1].lines[-1].content


def test_a_decision_in_other_words_is_the_markers_in_the_synthesis(marking: Marking) -> None:
    marking.mark(MarkKind.DECISION, words="We drop the limits", form=True)
    (mark,) = marking.table.rt.marks
    marking.table.press(Action.AGREED, who="ada", value=mark.id).say("done")

    assert "We drop the limits (Ada" in marking.card


@pytest.mark.parametrize(("word", "decided"), [("yes 2", [WORDS]), ("yes 1", ["a queue"]), ("not yet 2", [])])
def test_words_say_which_of_two_questions_is_meant(marking: Marking, word: str, decided: list[str]) -> None:
    """An agreement, and a message that was marked, numbered as on the card."""
    table = marking.table.say("option: a queue").say("for A").say("for A", who="linus")
    marking.mark(MarkKind.DECISION)
    assert "Did we agree on this? (2)" in table.discussion.text

    table.say("yes")
    assert not table.rt.discussed.decisions
    table.say(word)
    assert [one["text"] for one in table.rt.discussed.decisions] == decided


def test_a_guest_answers_nothing_by_word(marking: Marking) -> None:
    marking.mark(MarkKind.DECISION)
    marking.table.say("yes", who=GUS)

    assert not marking.table.rt.discussed.decisions
    assert "Did we agree" in marking.card


def test_an_objection_is_one_of_the_discussion_and_its_owner_takes_it_back(marking: Marking) -> None:
    """Once there is a reason; before that the card asks for it."""
    table = marking.table
    marking.mark(MarkKind.OBJECTION, who="linus")
    assert "Linus, why?" in marking.card
    assert not table.rt.discussed.objections

    marking.mark(MarkKind.OBJECTION, who="linus", words="exports need more", form=True)
    (raised,) = table.rt.discussed.objections
    assert (raised["text"], owner(raised), fate(raised)) == ("exports need more", "Linus", Fate.OPEN)
    assert "“exports need more” – Linus" in marking.card
    assert "Linus, why?" not in marking.card

    marking.mark(MarkKind.OBJECTION, who="linus", removed=True)
    assert [fate(one) for one in table.rt.discussed.objections] == [Fate.WITHDRAWN]
    assert not table.rt.specification.active("objection")

    marking.mark(MarkKind.OBJECTION, who="ada")
    assert "Ada, why?" in marking.card
    table.say("objection: it is slow", who="ada")
    assert "Ada, why?" not in marking.card


def test_a_question_is_in_the_synthesis(marking: Marking) -> None:
    """With who marked it, unless the mark was taken back."""
    marking.mark(MarkKind.QUESTION)
    marking.say(WORDS)
    marking.mark(MarkKind.QUESTION, who="linus")
    marking.mark(MarkKind.QUESTION, who="linus", removed=True)
    assert "An open question" in marking.card
    marking.table.say("done")

    (asked,) = marking.table.rt.specification.active("question")
    assert (asked["text"], attributions(asked)) == (WORDS, "Grace, accepted by Ada")
    assert f"{WORDS}: marked by Ada" in marking.card
    assert "marked by Linus" not in marking.card


def told_to(table: Table, who: str) -> Digest:
    state = fold(enumerate(table.lines, start=1))
    last = next((one.last for one in state.people if one.key == who), 0)
    known = folded(table.lines[:last]).specification
    people = {one.key: one.name for one in state.people}
    change = StateChange(people=people, known=known, specification=table.rt.specification)
    return digest(change, table.playbook, who)


def test_who_moved_since_one_last_spoke_is_told() -> None:
    """From what to what, and because of whom where they said so; not one's own moves."""
    table = discussion()
    table.say("option: a queue").say("option: a file").say("for B", who="linus")
    table.say("A is faster.", who="grace").say("for A, because of Grace", who="linus").say("for B").say(
        "for A"
    )
    moved = "Linus came over from “a file” to “a queue” because of Grace."

    told = told_to(table, "grace")
    assert told.moved == (moved, "Ada came over from “a file” to “a queue”.")
    assert {"Linus moved", "Ada moved"} <= set(told.sources)
    assert told_to(table, "zoe").moved == told.moved
    assert told_to(table, "ada").moved == ()
