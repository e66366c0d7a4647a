"""What stayed a note becomes an entry with one press, in the words of who said it."""

import pytest

from bot.domain.messages.message import Action
from bot.domain.roundtable import cards
from bot.domain.specification.claims import Quote
from bot.errors import NotNow
from tests.domain.books import thinking
from tests.domain.table import Table, played_once, shipped
from tests.domain.test_drafts import quoting

RISK = "The works council may say no"
MESSAGE = f"limit: Android 10\n{RISK}"


def buttons(table: Table) -> dict[str, str]:
    """On the card, by their words."""
    assert table.card.card
    choices = (one for part in table.card.card.parts for one in part.buttons)
    return {one.label: one.value for one in choices if one.action == Action.FILE}


def file(table: Table, label: str, *, who: str = "ada") -> Table:
    return table.press(Action.FILE, value=buttons(table)[label], who=who)


@played_once
def at_risks() -> Table:
    """Where risks and qualities are asked for."""
    return Table().start().through("01-04").press_continue()


def test_the_card_says_how_the_newest_message_was_read() -> None:
    table = at_risks().say(MESSAGE, who="grace")

    assert f"**Grace**: read as 1 constraint. Kept as said: “{RISK}”" in table.card.text
    assert 1 < len(buttons(table)) <= 5
    assert list(buttons(table))[-1] == "Leave it out"


def test_a_press_files_the_words_of_who_said_them() -> None:
    table = file(at_risks().say(MESSAGE, who="grace"), "Risk", who="ada")
    risk = table.rt.specification.entries["RSK-001"]
    claim = risk.claim("text")

    assert risk["text"] == RISK
    assert claim
    assert (claim.owner.name, claim.accepted and claim.accepted.name) == ("Grace", "Ada")
    assert buttons(table) == {}
    assert table.lines[-1].content.startswith("Ada filed NOTE-")


def test_the_name_of_a_kind_files_ones_last_note() -> None:
    """As the press does, also when somebody else has said something since. It is no answer itself."""
    table = at_risks().say(RISK, who="grace").say("Phones are too old", who="ada").say("Risk", who="grace")
    (risk,) = table.rt.specification.active("risk")

    assert risk["text"] == RISK
    assert [one["text"] for one in table.rt.specification.notes_of(["01-05"])] == ["Phones are too old"]
    assert table.lines[-1].content.startswith("Grace filed NOTE-")


def test_the_name_of_a_kind_is_an_answer_where_nothing_is_unsorted() -> None:
    table = at_risks().say("Phones are too old", who="ada").say("Risk", who="grace")

    assert table.rt.specification.active("risk") == ()
    assert [one["text"] for one in table.rt.specification.notes_of(["01-05"])][-1] == "Risk"


def test_a_decision_by_its_name_is_asked_first() -> None:
    table = at_risks().say("We take phones of last year", who="grace").say("decision", who="grace")

    assert not table.rt.specification.active("decision")
    assert [one.quote for one in table.rt.marks] == ["We take phones of last year"]


def test_each_line_is_filed() -> None:
    """Of a list its items; the line above stays a note, and is asked about next."""
    table = at_risks().say("What I fear:\n- The council says no\n- Phones are too old", who="grace")
    table = file(table, "Risk")

    assert [one["text"] for one in table.rt.specification.active("risk")] == [
        "The council says no", "Phones are too old",
    ]  # fmt: skip
    assert "Kept as said: “What I fear:”" in table.card.text


def test_a_question_is_offered_first() -> None:
    table = at_risks().say("Who tells the council?", who="grace")

    assert next(iter(buttons(table))) == "Open question"
    assert (
        file(table, "Open question").rt.specification.active("question")[0]["text"]
        == "Who tells the council?"
    )


def test_what_is_left_out_is_in_the_transcript_only() -> None:
    table = file(at_risks().say(RISK, who="grace"), "Leave it out").press(Action.FINISH_STEP)

    assert all(RISK not in text for text in table.world.files.values())
    assert any(RISK in line.content for line in table.lines)


@played_once
def at_options() -> Table:
    return Table().start().through("02-04").press_continue()


def test_a_decision_is_asked_for() -> None:
    """Nobody decides with the words of somebody else."""
    table = file(at_options().say("We take the outbox", who="grace"), "Decision", who="ada")

    assert table.rt.specification.active("decision") == ()
    assert "Did we agree on this?" in table.card.text
    assert buttons(table) == {}


def test_only_who_said_it_objects_with_it() -> None:
    table = at_options().say("The outbox loses photos", who="grace")

    with pytest.raises(NotNow, match="Only Grace can object in these words"):
        file(table, "Objection", who="ada")
    assert len(file(table, "Objection", who="grace").rt.specification.active("objection")) == 1


def test_what_another_person_has_filed_already_is_answered() -> None:
    """Two press at once: the second is told, and nothing is doubled."""
    table = at_risks().say(RISK, who="grace")
    value = buttons(table)["Risk"]
    table.press(Action.FILE, value=value)

    with pytest.raises(NotNow, match="out of date"):
        table.press(Action.FILE, value=value, who="linus")
    assert len(table.rt.specification.active("risk")) == 1


@played_once
def drafted(*quotes: str) -> Table:
    """Grace has said two sentences on the step of risks, and Maya proposes a risk that quotes these words of them."""
    table = Table(thinking(shipped())).start().through("01-04").press_continue()
    table.stop_paying().say(f"Phones are old. {RISK}.", who="grace").pay_up_to("speak")
    line = table.rt.line_of(table.rt.to_read[0].ts)
    found = quoting("RSK-001", "risk", RISK, *(Quote(line=line, words=one) for one in quotes))
    table.world.more = {"patches": (found,)}
    table.resume_paying()
    table.world.more = {"patches": ()}
    return table


WHOLE = ("Phones are old", RISK)


def unsorted(table: Table) -> list[str]:
    assert table.rt.card
    scene = cards.scene_of(table.rt, table.rt.card, table.playbook)
    assert scene
    return [str(one.note["text"]) for one in scene.unsorted]


@pytest.mark.parametrize("decided", ["", "accept 1"])
def test_what_entries_quote_whole_is_not_asked_about_again(decided: str) -> None:
    """Neither as the newest message, nor in the list; it does not stand on the card twice."""
    table = drafted(*WHOLE)
    table = table.say(decided, who="grace") if decided else table

    assert (unsorted(table), buttons(table)) == ([], {})
    assert "Phones are old" not in table.card.text


def test_what_no_entry_quotes_is_still_to_be_sorted() -> None:
    """A sentence beside those that are quoted, or all of it once the entry is left out: no words are lost."""
    message = f"Phones are old. {RISK}."

    assert unsorted(drafted(RISK)) == [message]
    assert buttons(drafted(RISK))
    left_out = drafted(*WHOLE).say("leave out 1", who="grace")
    assert unsorted(left_out) == [message]
    assert buttons(left_out)
