"""Marks in an open discussion: they stand on its card, and its synthesis has what came of them."""

import pytest

from bot.domain.discussion.board import fate, owner
from bot.domain.discussion.elaboration import Fate
from bot.domain.messages.attribution_wording import attribution, attributions, recorder
from bot.domain.messages.message import Action
from bot.domain.roundtable.digest import Digest, StateChange, digest
from bot.domain.roundtable.inputs import MarkMessage
from bot.domain.roundtable.marks import MarkKind
from bot.domain.specification.snapshot import folded
from bot.domain.transcript.fold import fold
from bot.domain.values.places import Belonging, Person
from tests.domain.books import few_steps
from tests.domain.table import Table

WORDS = "600 requests a minute per key to start with"
GUS = Person(id="gus", name="Gus", belongs=Belonging.GUEST)


@pytest.fixture
def table() -> Table:
    """Without a model; Grace has said something."""
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    return table.press(Action.ELABORATE)


def marked(
    table: Table, kind: MarkKind, *, who: str = "ada", ts: str = "", words: str = "", removed: bool = False
) -> str:
    """A message of Grace; returns its stamp."""
    if not ts:
        ts = table.ts()
        table.say(WORDS, who="grace", ts=ts)
    table.does(MarkMessage, who=who, ts=ts, mark=kind, words=words, removed=removed, is_reaction=not words)  # fmt: skip
    return ts


def test_a_mark_asks_on_the_card_and_a_press_decides(table: Table) -> None:
    """In the words of the message, which the decision rests on."""
    ts = marked(table, MarkKind.DECISION)
    assert "Did we agree on this?" in table.discussion.text
    assert f"“{WORDS}” – Grace" in table.discussion.text
    assert not table.rt.discussed.decisions

    (mark,) = table.rt.marks
    table.press(Action.AGREED, who="linus", value=mark.id)
    (decided,) = table.rt.discussed.decisions
    assert (decided["text"], recorder(decided, "text")) == (WORDS, "Linus")
    assert "Did we agree" not in table.discussion.text
    (entry,) = table.rt.specification.active("decision")
    claim = entry.claim("text")
    assert claim
    assert (claim.value, attribution(claim), claim.sources) == (
        WORDS,
        "Grace, accepted by Linus",
        (f"C1.{ts}",),
    )


def test_a_raised_hand_without_a_reason_is_open_in_the_synthesis(table: Table) -> None:
    """Until its person says why."""
    marked(table, MarkKind.OBJECTION, who="linus")
    table.restart().press(Action.END_ELABORATION)

    assert f"- Why does Linus object to “{WORDS}”?" in table.world.commits[-1].lines[-1].content


def test_a_decision_in_other_words_is_the_markers(table: Table) -> None:
    """On the card, in the entry and in the synthesis; what it is about is quoted as it was said."""
    marked(table, MarkKind.DECISION, words="We drop the limits")
    assert f"“We drop the limits” – Ada, on “{WORDS}” – Grace" in table.discussion.text
    (mark,) = table.rt.marks
    table.press(Action.AGREED, who="ada", value=mark.id)

    (entry,) = table.rt.specification.active("decision")
    assert (entry["text"], attributions(entry)) == ("We drop the limits", "Ada")
    assert entry["context"] == "In the words of Ada, on a message of Grace."
    assert "We drop the limits (Ada" in table.say("done").discussion.text


def test_not_yet_ends_the_question(table: Table) -> None:
    """By a press; nothing is decided."""
    marked(table, MarkKind.DECISION)
    (mark,) = table.rt.marks
    table.press(Action.NOT_AGREED, value=mark.id)

    assert "Did we agree" not in table.discussion.text
    assert not table.rt.discussed.decisions
    assert not table.rt.specification.active("decision")


@pytest.mark.parametrize(("word", "decided"), [("yes 2", [WORDS]), ("yes 1", ["a queue"]), ("not yet 2", [])])
def test_words_say_which_of_two_questions_is_meant(table: Table, word: str, decided: list[str]) -> None:
    """An agreement, and a message that was marked, numbered as on the card."""
    table.say("option: a queue").say("for A").say("for A", who="linus")
    marked(table, MarkKind.DECISION)
    assert "Did we agree on this? (2)" in table.discussion.text

    table.say("yes")
    assert not table.rt.discussed.decisions
    table.say(word)
    assert [one["text"] for one in table.rt.discussed.decisions] == decided


def test_a_guest_answers_nothing_by_word(table: Table) -> None:
    marked(table, MarkKind.DECISION)
    table.say("yes", who=GUS)

    assert not table.rt.discussed.decisions
    assert "Did we agree" in table.discussion.text


def test_an_objection_is_one_of_the_discussion_and_its_owner_takes_it_back(table: Table) -> None:
    """Once there is a reason; before that the card asks for it."""
    ts = marked(table, MarkKind.OBJECTION, who="linus")
    assert "Linus, why?" in table.discussion.text
    assert not table.rt.discussed.objections

    marked(table, MarkKind.OBJECTION, who="linus", ts=ts, words="exports need more")
    (raised,) = table.rt.discussed.objections
    assert (raised["text"], owner(raised), fate(raised)) == ("exports need more", "Linus", Fate.OPEN)
    assert "“exports need more” – Linus" in table.discussion.text
    assert "Linus, why?" not in table.discussion.text

    marked(table, MarkKind.OBJECTION, who="linus", ts=ts, removed=True)
    assert [fate(one) for one in table.rt.discussed.objections] == [Fate.WITHDRAWN]
    assert not table.rt.specification.active("objection")


def test_a_typed_objection_is_the_reason_of_a_mark(table: Table) -> None:
    """It is not asked for any more."""
    marked(table, MarkKind.OBJECTION, who="linus")
    table.say("objection: exports need more", who="linus")

    assert "Linus, why?" not in table.discussion.text


def test_a_question_is_in_the_synthesis(table: Table) -> None:
    """With who marked it, unless the mark was taken back."""
    marked(table, MarkKind.QUESTION)
    gone = marked(table, MarkKind.QUESTION, who="linus")
    marked(table, MarkKind.QUESTION, who="linus", ts=gone, removed=True)
    assert "An open question" in table.discussion.text
    table.say("done")

    (asked,) = table.rt.specification.active("question")
    assert (asked["text"], attributions(asked)) == (WORDS, "Grace, accepted by Ada")
    assert f"{WORDS}: marked by Ada" in table.discussion.text
    assert "marked by Linus" not in table.discussion.text


def told_to(table: Table, who: str) -> Digest:
    state = fold(enumerate(table.lines, start=1))
    last = next((one.last for one in state.people if one.key == who), 0)
    known = folded(table.lines[:last]).specification
    people = {one.key: one.name for one in state.people}
    change = StateChange(people=people, known=known, specification=table.rt.specification)
    return digest(change, table.playbook, who)


def test_who_moved_since_one_last_spoke_is_told(table: Table) -> None:
    """From what to what, and because of whom where they said so; not one's own moves."""
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
