"""What people mark messages as: nothing is decided by it, and taking it back undoes it."""

import pytest

from bot.domain.messages.attribution_wording import attribution, attributions, recorder
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Tell
from bot.domain.roundtable.inputs import MarkMessage
from bot.domain.roundtable.marks import MarkKind
from bot.domain.specification.claims import EntryState
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once

WORDS = "600 requests a minute per key to start with"


class Marking:
    """Grace has said something in an open step, or in a discussion without a model."""

    def __init__(self, *, discussed: bool = False) -> None:
        self.table, self.discussed = discussion() if discussed else Table().start(), discussed
        self.say(WORDS)

    def say(self, words: str) -> None:
        """By Grace; what is marked next is this."""
        self.ts = self.table.ts()
        self.table.say(words, who="grace", ts=self.ts)

    def mark(
        self, kind: MarkKind, *, who: str = "ada", words: str = "", removed: bool = False, form: bool = False
    ) -> None:
        self.table.does(
            MarkMessage, who=who, ts=self.ts, mark=kind, words=words, removed=removed, is_reaction=not form
        )

    @property
    def told(self) -> list[str]:
        return [one.message.text for one in self.table.completing if isinstance(one, Tell)]

    @property
    def card(self) -> str:
        return (self.table.discussion if self.discussed else self.table.card).text

    def decisions(self) -> list[object]:
        return [one["text"] for one in self.table.rt.specification.active("decision")]


@pytest.fixture
def marking() -> Marking:
    return Marking()


@pytest.fixture(params=[False, True], ids=["step", "discussion"])
def anywhere(request: pytest.FixtureRequest) -> Marking:
    return Marking(discussed=request.param)


@played_once
def discussion() -> Table:
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    return table.press(Action.ELABORATE)


def test_words_that_are_left_out_stand_in_no_mark_either(marking: Marking) -> None:
    """Found by hand: a question that quoted them stayed on the card and in the record."""
    marking.mark(MarkKind.QUESTION, who="linus")
    marking.mark(MarkKind.DECISION, who="linus")
    marking.mark(MarkKind.OBJECTION, who="ada", words="exports need more", form=True)
    assert WORDS in marking.card
    marking.mark(MarkKind.OUT, who="grace")
    marking.table.restart().do_step("Something else altogether.")

    assert WORDS not in marking.card
    assert WORDS not in marking.table.world.meeting.decode()
    assert not marking.table.rt.specification.active("question")
    (objection,) = marking.table.rt.specification.active("objection")
    assert objection["text"] == "exports need more"


def test_what_was_agreed_on_is_to_be_confirmed_when_its_words_are_left_out(marking: Marking) -> None:
    """It is no longer only the author's."""
    marking.mark(MarkKind.DECISION)
    marking.table.press(Action.AGREED, who="linus", value=marking.table.rt.marks[0].id)
    marking.mark(MarkKind.OUT, who="grace")

    assert marking.decisions() == [WORDS]
    assert "Grace left a message out of the record. 1 entry rests on it: DEC-001." in marking.card


def test_an_objection_has_the_words_of_its_owner(marking: Marking) -> None:
    """Not those of the message that it is against."""
    marking.mark(MarkKind.OBJECTION, who="linus", words="exports need more", form=True)
    assert "Linus objects: “exports need more”\n" in marking.card

    marking.mark(MarkKind.OBJECTION, who="ada")
    marking.table.say("objection: batch jobs break", who="ada")
    assert "objects: “600" not in marking.card
    assert "Ada, why?" not in marking.card
    assert "OBJ-002 Objection: batch jobs break" in marking.card


def test_a_mark_asks_and_a_press_decides(anywhere: Marking) -> None:
    """In the words of the message, which the decision rests on."""
    marking = anywhere
    marking.mark(MarkKind.DECISION)

    assert marking.decisions() == []
    assert "Did we agree on this?" in marking.card
    assert f"“{WORDS}” – Grace" in marking.card
    assert "Marked by Ada." in marking.card
    assert marking.told[-1] == "Marked. Everybody can now say whether you agreed on it."

    (mark,) = marking.table.rt.marks
    marking.table.press(Action.AGREED, who="linus", value=mark.id)
    (entry,) = marking.table.rt.specification.active("decision")
    claim = entry.claim("text")
    assert claim
    assert (claim.value, attribution(claim), claim.sources) == (
        WORDS,
        "Grace, accepted by Linus",
        (f"C1.{marking.ts}",),
    )
    assert (attributions(entry), recorder(entry, "text"), entry["context"]) == (
        "Grace, accepted by Linus; Linus",
        "Linus",
        "In the words of Grace, marked by Ada.",
    )
    assert "Did we agree" not in marking.card


@pytest.mark.parametrize(
    ("word", "decided", "told"),
    [("yes", True, "recorded that you agreed on"), ("Not yet.", False, "said that you have not agreed on")],
)
def test_a_typed_word_does_the_same(marking: Marking, word: str, told: str, *, decided: bool) -> None:
    marking.mark(MarkKind.DECISION)
    marking.table.say(word, who="linus")

    assert bool(marking.decisions()) is decided
    assert f"Linus {told} “{WORDS}”" in marking.table.lines[-1].content
    assert "Did we agree" not in marking.card
    assert word not in [one.text for one in marking.table.rt.answers]


def test_yes_to_nothing_stands_in_the_transcript_only(marking: Marking) -> None:
    marking.table.say("yes", who="linus")

    assert marking.table.rt.lines[-1].content == "yes"
    assert marking.table.rt.answers[-1].text == WORDS


def test_yes_to_two_questions_is_asked_about(marking: Marking) -> None:
    marking.mark(MarkKind.DECISION)
    marking.say("Reset it at midnight")
    marking.mark(MarkKind.DECISION)
    marking.table.say("yes")

    assert marking.decisions() == []
    assert marking.told[-1].startswith("2 things are waiting for a yes.")


def test_the_mark_is_in_the_transcript(marking: Marking) -> None:
    marking.mark(MarkKind.DECISION)
    marking.mark(MarkKind.DECISION, removed=True)
    lines = [line for line in marking.table.lines if "mark" in line.meta]

    assert [line.meta["mark"].get("removed", False) for line in lines] == [False, True]
    assert {line.meta["mark"]["of"] for line in lines} == {f"C1.{marking.ts}"}
    assert lines[0].meta["person"] == "ada"
    assert marking.table.rt.marks == ()
    assert "Did we agree" not in marking.card
    assert marking.told[-1] == "Taken back."


def test_the_same_mark_twice_is_one(marking: Marking) -> None:
    """A reaction, and the form for it."""
    marking.mark(MarkKind.DECISION)
    marking.mark(MarkKind.DECISION, form=True)
    assert len(marking.table.rt.marks) == 1

    marking.mark(MarkKind.DECISION, form=True, words="600 a minute")
    assert [one.words for one in marking.table.rt.marks] == ["600 a minute"]


def test_an_open_question_is_an_entry_of_who_marked_it(marking: Marking) -> None:
    marking.mark(MarkKind.QUESTION, words="Can billing see this?", form=True)
    (entry,) = marking.table.rt.specification.active("question")

    assert (entry["text"], attributions(entry)) == ("Can billing see this?", "Ada")
    marking.mark(MarkKind.QUESTION, removed=True)
    assert marking.table.rt.specification.active("question") == ()


def test_a_raised_hand_is_asked_why(marking: Marking) -> None:
    """Without a reason it is no objection yet; the words under it are another's."""
    marking.mark(MarkKind.OBJECTION, who="linus")

    assert f"Linus objects to “{WORDS}” – Grace. Linus, why?" in marking.card
    assert marking.table.rt.specification.active("objection") == ()
    marking.mark(MarkKind.OBJECTION, who="linus", words="The batch jobs need more.", form=True)
    (entry,) = marking.table.rt.specification.active("objection")
    assert (entry["text"], attributions(entry)) == ("The batch jobs need more.", "Linus")


@pytest.mark.parametrize("who", ["ada", "grace"])
def test_the_author_and_the_starter_may_leave_words_out(marking: Marking, who: str) -> None:
    """Nowhere are the words any more, also not in a note that they gave, and the record replays as it is."""
    marking.mark(MarkKind.OUT, who=who)
    table = marking.table

    assert WORDS not in marking.card
    assert all(WORDS not in line.model_dump_json() for line in table.lines)
    assert WORDS not in table.rt.specification.model_dump_json()
    assert [answer.text for answer in table.rt.answers] == []
    table.say("Limits per key. Scope: small").finish()
    assert all(WORDS not in str(text) for text in table.world.files.values())


def test_what_was_left_out_can_be_put_back(marking: Marking) -> None:
    marking.mark(MarkKind.OUT, who="grace")
    marking.mark(MarkKind.OUT, who="grace", removed=True)
    table = marking.table
    assert texts_by_person(table)["grace"] == {WORDS}

    assert [answer.text for answer in table.rt.answers] == [WORDS]
    living = [one for one in table.rt.specification.active("note") if one["text"] == WORDS]
    assert [attributions(one) for one in living] == ["Grace"]


def test_nobody_else_may_leave_words_out(marking: Marking) -> None:
    sentence = "Only Grace, or Ada who started this, can leave that out."
    marking.mark(MarkKind.OUT, who="linus")
    assert marking.told[-1] == sentence
    with pytest.raises(NotNow, match=sentence):
        marking.mark(MarkKind.OUT, who="linus", form=True)

    assert marking.table.rt.answers[0].text == WORDS


def test_what_was_saved_before_stays_in_history(marking: Marking) -> None:
    """The person is told; nothing rests on it any more."""
    marking.table.stop().resume()
    marking.mark(MarkKind.OUT, who="grace")

    assert "they stay in git's history" in marking.told[-1]
    notes = [one for one in marking.table.rt.specification.entries.values() if one.kind == "note"]
    assert [one.state for one in notes] == [EntryState.WITHDRAWN]


def test_a_mark_on_a_closed_step_means_nothing(marking: Marking) -> None:
    """The form says why."""
    marking.table.finish().press_continue()
    before = marking.table.rt.marks
    marking.mark(MarkKind.DECISION)

    assert marking.table.rt.marks == before
    with pytest.raises(NotNow, match="can't be marked"):
        marking.mark(MarkKind.DECISION, form=True)


def test_an_answer_that_is_marked_answers_the_step_once(marking: Marking) -> None:
    """Also one that was heard as an answer already."""
    marking.mark(MarkKind.ANSWER)
    marking.mark(MarkKind.ANSWER, who="linus", form=True)

    assert [answer.text for answer in marking.table.rt.answers].count(WORDS) == 1


def test_a_mark_that_is_gone_cannot_be_agreed_on(anywhere: Marking) -> None:
    """Not yet ends the question."""
    marking = anywhere
    marking.mark(MarkKind.DECISION)
    (mark,) = marking.table.rt.marks
    marking.table.press(Action.NOT_AGREED, who="linus", value=mark.id)
    assert "Did we agree" not in marking.card

    with pytest.raises(NotNow):
        marking.table.press(Action.AGREED, who="grace", value=mark.id)
    assert marking.decisions() == []


def test_what_a_persona_said_is_no_persons_words() -> None:
    """Nor is a message that nobody knows."""
    table = Table().start().does(MarkMessage, ts="9.9", mark=MarkKind.DECISION, is_reaction=True)

    assert table.rt.marks == ()


def test_words_left_out_of_a_discussion_are_left_out_of_its_turns() -> None:
    """With the entries that they made."""
    marking = Marking(discussed=True)
    marking.say("decision: we sell Grace's desk")
    marking.mark(MarkKind.OUT, form=True)
    table = marking.table

    assert "desk" not in str(table.rt.debate.turns)
    assert "desk" not in str(table.rt.specification)
    assert "desk" not in str([line.content for line in table.rt.unheld])


# --- whose words they are ---


def texts_by_person(table: Table) -> dict[str, set[str]]:
    """What counts in the specification, by who is said to have said it."""
    found: dict[str, set[str]] = {}
    living = (one for one in table.rt.specification.entries.values() if not one.gone)
    for entry in living:
        for _, claim in entry.current():
            found.setdefault(claim.author.by, set()).add(str(claim.value))
    return found


@pytest.mark.parametrize("kind", [MarkKind.OUT, MarkKind.ANSWER])
@pytest.mark.parametrize("form", [True, False])
def test_words_of_ones_own_are_refused_where_they_would_be_the_authors(
    marking: Marking, kind: MarkKind, *, form: bool
) -> None:
    """Found from outside: taking the mark back made the starter's sentence an accepted entry of Grace."""
    before = marking.table.rt
    with pytest.raises(NotNow, match="Leave this empty"):
        marking.mark(kind, words="We drop the limits", form=form)

    assert marking.table.rt == before


def test_a_decision_in_other_words_is_asked_about_as_the_markers(anywhere: Marking) -> None:
    """Found from outside: "We ship on Friday" stood there as Grace's words, who had said "No"."""
    marking = anywhere
    marking.mark(MarkKind.DECISION, words="We ship on Friday", form=True)
    assert f"“We ship on Friday” – Ada, on “{WORDS}” – Grace" in marking.card
    assert "“We ship on Friday” – Grace" not in marking.card
    assert "We ship on Friday" in marking.table.lines[-1].model_dump_json()

    (mark,) = marking.table.rt.marks
    marking.table.press(Action.AGREED, who="ada", value=mark.id)
    (entry,) = marking.table.rt.specification.active("decision")
    assert (entry["text"], attributions(entry)) == ("We ship on Friday", "Ada")
    assert entry["context"] == "In the words of Ada, on a message of Grace."
    assert texts_by_person(marking.table).get("grace", {WORDS}) == {WORDS}


def test_a_question_that_another_person_marked_quotes_its_author(marking: Marking) -> None:
    """Who marks their own message is not quoted."""
    marking.mark(MarkKind.QUESTION, who="ada")
    marking.mark(MarkKind.QUESTION, who="grace")

    first, second = marking.table.rt.specification.active("question")
    assert (first["text"], attributions(first)) == (WORDS, "Grace, accepted by Ada")
    assert (second["text"], attributions(second)) == (WORDS, "Grace")


def test_a_mark_in_other_words_does_not_keep_words_that_were_left_out(marking: Marking) -> None:
    """What its person wrote stays, and what it quoted is gone."""
    marking.mark(MarkKind.DECISION, who="linus", words="We limit each key", form=True)
    marking.mark(MarkKind.OUT, who="grace")

    assert "We limit each key" in marking.card
    assert WORDS not in marking.card
    assert WORDS not in marking.table.rt.model_dump_json(exclude={"marks": {-1}, "outbox": True})
