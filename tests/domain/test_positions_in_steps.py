"""Where two options are named in an open step, people say what they are for without a discussion."""

from bot.domain.messages.message import Action, Message
from bot.domain.specification.claims import Entry
from tests.domain.table import Table, played_once

OPTIONS = "option: leaky bucket\noption: token bucket"


@played_once
def table() -> Table:
    return Table().start().say(OPTIONS)


def positions(at: Table) -> list[Entry]:
    return list(at.rt.specification.active("position"))


def facts(at: Table) -> list[tuple[str, str, str, str]]:
    """Who is for what, why, and on which condition."""
    return [
        (str(one["person"]), str(one["option"]), str(one["why"] or ""), str(one["condition"] or ""))
        for one in positions(at)
    ]


def sides(card: Message) -> list[str]:
    """The options of a card, and who is for them."""
    rows = [line.strip(" -") for line in card.text.splitlines()]
    return [row for row in rows if "**A**" in row or "**B**" in row or row.startswith("For it: ")]


def test_who_is_for_an_option_stands_below_it() -> None:
    """With the reason and the condition; the card says what can be typed."""
    at = table().say("for B, it survives an outage", who="grace").say("for A if it is simple")

    assert facts(at) == [
        ("grace", "token bucket", "it survives an outage", ""),
        ("ada", "leaky bucket", "", "if it is simple"),
    ]
    assert sides(at.card) == [
        "OPT-001 **A** Option: leaky bucket",
        "For it: Ada (if it is simple)",
        "OPT-002 **B** Option: token bucket",
        "For it: Grace (“it survives an outage”)",
    ]
    assert "Or type `for A`, `for B if …`, `decision: …`" in at.card.text


def test_it_is_no_note_and_who_moves_has_one_position() -> None:
    at = table().say("for A if it is simple").say("for B")

    assert facts(at) == [("ada", "token bucket", "", "")]
    assert not at.rt.specification.notes_of(["00-01"])


def test_without_a_choice_it_is_a_note() -> None:
    """With one option there is nothing to be for, and with an unknown one the words stay as they are."""
    at = Table().start().say("option: leaky bucket").say("for A")
    assert positions(at) == []
    assert [note["text"] for note in at.rt.specification.notes_of(["00-01"])] == ["for A"]

    at = table().say("for F")
    assert positions(at) == []
    assert [note["text"] for note in at.rt.specification.notes_of(["00-01"])] == ["for F"]


def test_other_words_stay_an_answer() -> None:
    """What is quoted is kept beside the position."""
    at = table().say("> who said that?\nfor B")

    assert facts(at)[0][:2] == ("ada", "token bucket")
    assert len(at.rt.specification.notes_of(["00-01"])) == 1


def test_a_letter_that_is_decided_stands_for_the_words_of_its_option() -> None:
    """Of those who are for it: whoever was not there reads what was decided."""
    at = table().say("for B", who="grace").say("for B", who="linus").say("decision: B; because: it is fast")

    (decision,) = at.rt.specification.active("decision")
    said = [decision[name] for name in ("text", "about", "reason")]
    assert said == ["token bucket", ["OPT-002"], "it is fast"]
    assert decision["deciders"] == ["Grace", "Linus"]


def test_whom_a_decision_names_decided_it() -> None:
    """Not who is for the option."""
    at = table().say("for B", who="linus").say("for A", who="grace").say("decision: B; decided by: Grace")

    (decision,) = at.rt.specification.active("decision")
    assert decision["deciders"] == ["Grace"]


def test_a_decision_that_begins_with_a_letter_says_its_option_in_the_brief() -> None:
    at = table().say("decision: B, it is fast").finish()

    assert "- **DEC-001** B, it is fast. Option: token bucket. Decided by Ada." in at.world.files["brief.md"]


def test_a_discussion_begins_with_where_people_stand() -> None:
    """A position belongs to it once it is taken anew there; the block has all of them, and the notes none."""
    at = table().say("for B, it is fast", who="grace").say("for A").finish().press(Action.ELABORATE)
    assert "Grace" in at.discussion.text.partition("B token bucket")[2]
    at.say("for B", who="ada").say("done")

    assert [(one["person"], one["option"], one["discussion"]) for one in positions(at)] == [
        ("grace", "token bucket", None),
        ("ada", "token bucket", "DIS-001"),
    ]
    text = at.world.files["quick-scan.md"]
    assert "- B: token bucket – Grace (“it is fast”), Ada\n" in text
    assert "- Ada moved from A to B" in text
    assert "notes.md" not in at.world.files


def test_the_block_says_who_is_undecided_now() -> None:
    """Who leaves an option has moved, as who takes another one has."""
    at = table().say("for B", who="grace").say("for A").finish().press(Action.ELABORATE)
    at.say("undecided", who="ada").say("done")
    text = at.world.files["quick-scan.md"]

    assert "- Undecided: Ada\n- Ada moved from A to undecided, and gave no line as a reason\n" in text
    assert "Grace moved" not in text


def test_words_that_are_changed_keep_the_position() -> None:
    """Its option, too, by the letters of the card."""
    at = table().say("for B, it is fast", ts="900.1").edit("900.1", "for A, it is cheap")
    assert facts(at) == [("ada", "leaky bucket", "it is cheap", "")]

    assert "For it: Ada (“it is cheap”)" in sides(at.card)
    assert not any("For it" in row for row in sides(at.delete("900.1").card))
