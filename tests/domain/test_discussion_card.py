"""The card of a discussion: who stands where, objections, decisions, and what words count as a position."""

from collections.abc import Callable
from typing import Any

import pytest

from bot.domain.catalog.schema import BUILT_IN_LABELS
from bot.domain.discussion import board, words
from bot.domain.discussion.elaboration import Elaboration, Fate, SealedPosition
from bot.domain.discussion.words import Position
from bot.domain.messages import root_card
from bot.domain.messages.message import Action
from bot.domain.messages.root_card import RootStatus
from bot.domain.roundtable import root
from bot.domain.roundtable.inputs import ChannelGone, RaiseObjection, SealPosition, SettleObjection
from bot.domain.roundtable.stage import Stage
from bot.domain.specification.claims import EntryState
from bot.domain.transcript.lines import read
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table, played_once

SCHEMA = few_steps().schema


@played_once
def discussing() -> Table:
    """Without a model, with two options."""
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    return table.press(Action.ELABORATE).say("option: a queue").say("option: a file")


def debate() -> Elaboration:
    found = Elaboration(step_id="00-01", lead="business-analyst", topic="Edits", max_turns=10)
    return board.with_options(found, ["a queue", "a file"])


# --- words ------------------------------------------------------------------------------------------------------------


def test_an_option_has_the_letter_that_it_is_named_with() -> None:
    """Naming it takes no position; a letter that is taken is told to the person alone."""
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    table.press(Action.ELABORATE).say("Option B: print over the network\nOption A: *fewer* printers")
    table.say("option: buy a second printer").say("Option B: no printer at all")

    options = {one.letter: one.text for one in table.rt.debate.options}
    assert options == {
        "A": "*fewer* printers",
        "B": "print over the network",
        "C": "buy a second printer",
        "D": "no printer at all",
    }
    assert table.rt.discussed.stands == ()
    assert table.world.told[-1][1].text == ("B is another option on the card. no printer at all is D there.")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("for A", Position("A")),
        ("For b.", Position("B")),
        ("I'm for A, because Grace measured it", Position("A", "because Grace measured it")),
        ("ok. for B", Position("B")),
        ("yes, for B!", Position("B")),
        ("ok, A with shadow mode works for me", Position("A", condition="with shadow mode")),
        ("A works for me with shadow mode", Position("A", condition="with shadow mode")),
        ("A, very sure. B hurt us already", Position("A", "B hurt us already", "high")),
        ("I'd go with B but I can live with A if it is measured",
         Position("B", "but I can live with A if it is measured")),
        ("B is how we lost them!! I'm for A", Position("A", "B is how we lost them!!")),
        ("B for me too 👍", Position("B")),
        ("+1 for B", Position("B")),
        ("+1 B", Position("B")),
        ("Ich bin für B, weil es einfach ist", Position("B", "weil es einfach ist")),
        ("Aに賛成", Position("A")),
        ("I prefer option b", Position("B")),
        ("I am with a queue", Position("A")),
        ("B. One partner needs it, and without it they can't start.",
         Position("B", "One partner needs it, and without it they can't start.")),
        ("We talked about it again. ok, option b. It's not slower.",
         Position("B", "We talked about it again. It's not slower.")),
        ("A queue. We don't want two files.", Position("A", "We don't want two files.")),
        ("for B if it fails open", Position("B", condition="if it fails open")),
        ("ok, B works for me if it fails open", Position("B", condition="if it fails open")),
        ("A for me.", Position("A")),
        ("B for me, if it fails open", Position("B", condition="if it fails open")),
        ("A for me if B is dropped. It is 1.5 times as fast",
         Position("A", "It is 1.5 times as fast", condition="if B is dropped")),
        ("undecided", Position("")),
    ],
)  # fmt: skip
def test_words_that_are_a_position(text: str, position: Position) -> None:
    """A condition is kept with it, and the rest of the message is the reason."""
    found = words.position_in(debate().options, text, SCHEMA)

    assert found is not None
    assert found._replace(named="") == position


@pytest.mark.parametrize(
    "text",
    [
        "A sounds good", "A with shadow mode is too slow", "I'm for A or B", "for A, B", "anything but A",
        "no B is needed", "maybe B", "not for A", "Would A work for me if Redis is away?",
        "A. B. Both of them.", "Does A work for you?", "A does not work for me", "A for me is too slow",
        "Is it A for me?", "Grace says A works for her", "A queue works for most teams",
        "for a start we need numbers", "A or B sounds good", "> for A", "A is slow",
    ],
)  # fmt: skip
def test_words_that_are_none(text: str) -> None:
    """A question, a refusal, words of another, two options, a quotation, and all that is no phrase of the content."""
    assert words.position_in(debate().options, text, SCHEMA) is None


def test_an_option_that_is_not_there_is_told() -> None:
    table = discussing().say("for C")

    assert words.position_in(debate().options, "for C", SCHEMA) == Position(None, named="C")
    assert table.world.told[-1][1].text == "There is no option C. Name one: `option: …`"


# --- who stands where -------------------------------------------------------------------------------------------------


def test_the_card_says_who_is_for_what_and_who_moved() -> None:
    """Because of whom, where the person says so."""
    table = discussing().press(Action.STAND, value="B").say("A is fast.", who="grace")
    table.say("for A, because of Grace")

    text = table.discussion.text
    assert "A a queue\n  - Ada" in text
    assert "Ada came over from B because of Grace" in text
    assert "Undecided" in text


def test_a_person_who_agrees_with_a_condition_has_moved_and_the_condition_is_kept() -> None:
    """On the card, in the question whether they agree, and in the record beside the words."""
    table = discussing().say("for A").say("for B", who="grace").restart()
    table.say("ok, B works for me if it fails open")

    text = table.discussion.text
    assert "Ada (if it fails open)" in text
    assert "Everybody who took a position is now for it" in text
    (position,) = (one for one in table.rt.specification.active("position") if one["person"] == "ada")
    assert (position["option"], position["condition"]) == ("a file", "if it fails open")

    table.say("for B")
    assert "fails open" not in table.discussion.text


def test_a_message_that_is_edited_changes_what_it_put_on_the_card() -> None:
    """A position, a decision and an objection stay as long as the message says them, and go with its words."""
    table = discussing()
    first, second = table.ts(), table.ts()
    table.say("for A, because it is simple", ts=first)
    table.say("objection: it is slow\ndecision: keep the last edit", who="grace", ts=second)
    table.edit(first, "for A, because it is simpler")
    table.edit(second, "objection: it is too slow\ndecision: keep each edit", who="grace")

    assert [(one.name, one.letter, one.why) for one in table.rt.discussed.stands] == [
        ("Ada", "A", "because it is simpler")
    ]
    assert "“it is too slow” – Grace" in table.discussion.text
    assert "DEC-001 keep each edit (decided by Grace)" in table.discussion.text
    table.edit(first, "Hm.")
    assert table.rt.discussed.stands == ()


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("Ada", "decided by Ada"),
        ("ada", "decided by Ada"),
        ("Grace", "decided by Grace, recorded by Ada"),
        ("Ada and Grace", "decided by Ada and Grace, recorded by Ada"),
    ],
)
def test_a_decision_names_its_person_once(named: str, told: str) -> None:
    """Who types `decided by` with their own name has decided and recorded it; on the card and in the brief."""
    table = discussing().say(f"decision: a queue; decided by: {named}")

    assert f"DEC-001 a queue ({told})" in table.discussion.text
    brief = root_card.final_brief(root.scene_of(table.rt, table.playbook, status=RootStatus.COMPLETE)).text
    assert f"DEC-001 a queue. D{told[1:]}.\n" in brief


def test_what_people_object_to_by_the_card_is_said_when_a_discussion_ends_with_its_framing() -> None:
    """A form is no turn."""
    table = Table(few_steps()).start().do_step()
    table.world.speech = lambda speak, _: Contribution(
        "Where do edits go?", passed=speak.persona != "business-analyst"
    )
    table.press(Action.ELABORATE)
    words = "Nobody asked the partners"
    table.does(RaiseObjection, who="grace", words=words)
    table.press(Action.END_ELABORATION)

    assert "- [Grace] Nobody asked the partners: open" in table.world.files["quick-scan.md"]


def test_the_card_counts_down_where_personas_have_a_model() -> None:
    table = Table(few_steps()).start().elaborate()
    assert "7 of 10 turns left" in table.discussion.text

    table.say("It has to work offline.").say("In tunnels, too.", who="grace")
    left = 10 - table.rt.debate.turns_used
    assert f"{left} of 10 turns left" in table.discussion.text


def test_without_a_model_nothing_is_at_its_limit() -> None:
    """However much people say, and whichever personas they name: the card has no limit, and no button for more."""
    table = discussing()
    for number in range(30):
        table.say(f"Alex, what about point {number}?", who=("ada", "grace", "linus")[number % 3])

    assert not table.rt.debate.exhausted
    assert table.rt.debate.besides == ()
    assert "turns" not in table.discussion.text
    assert Action.MORE_TURNS not in {one.action for one in table.menu.message.offered}
    assert table.say("done").meta.elaborations[-1].turn_count == 1


def test_the_record_has_positions_of_people() -> None:
    """A yes that comes after positions changed records nothing."""
    table = discussing().press(Action.STAND, value="A", who="grace")
    line = table.lines[-1]

    assert (line.content, line.meta["user_name"]) == ("Grace is for A: a queue", "Grace")
    (position,) = table.rt.specification.active("position")
    assert (position["option"], position.claims["option"][0].line) == ("a queue", line.message_id)

    table = discussing().say("for A").say("for A", who="grace")
    offered = next(one for one in table.menu.message.offered if one.action == Action.AGREED)
    table.say("for A", who="linus")

    with pytest.raises(NotNow, match="positions have changed"):
        table.press(Action.AGREED, value=offered.value)
    assert table.rt.discussed.decisions == ()


# --- objections -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "label", [*BUILT_IN_LABELS["objection"], *BUILT_IN_LABELS["decision"], "Objections", "Decisions"]
)
def test_what_stands_on_the_board_is_an_entry_with_whatever_label_it_was_said(label: str) -> None:
    table = discussing().say(f"{label}: the phone gets lost", who="grace")
    held = table.rt.discussed

    (entry,) = (*held.objections, *held.decisions)
    assert table.rt.specification.lives(entry.id)
    assert entry["text"] == "the phone gets lost"


def test_an_objection_keeps_its_words_and_gets_a_reason() -> None:
    """What would settle it is in its line; only its owner takes it back."""
    table = discussing().does(RaiseObjection, who="grace", words="The phone gets lost")
    settled: dict[str, Any] = {"entry": "OBJ-001", "fate": Fate.REJECTED, "because": "backups"}
    table.does(SettleObjection, **settled)

    entry = table.rt.specification.entries["OBJ-001"]
    assert (entry["text"], entry["outcome"]) == ("The phone gets lost", "rejected")
    with pytest.raises(NotNow, match="has an answer"):
        table.does(SettleObjection, **settled)
    told = table.say("done").discussion.text
    assert "[Grace] The phone gets lost: rejected because Ada: backups" in told

    settle = "A measurement\nof one day"
    table = discussing().does(RaiseObjection, who="grace", words="It is slow", settle=settle)

    assert (
        table.lines[-1].content == "Grace objects: It is slow\nWhat would settle it: A measurement of one day"
    )

    table = discussing().say("objection: the phone gets lost", who="grace")

    with pytest.raises(NotNow, match="Only Grace"):
        table.press(Action.OBJECTION, value="OBJ-001/withdrawn")
    table.press(Action.OBJECTION, value="OBJ-001/withdrawn", who="grace")
    assert "“the phone gets lost” – Grace: taken back" in table.discussion.text
    assert table.rt.specification.entries["OBJ-001"].state is EntryState.WITHDRAWN


# --- decisions --------------------------------------------------------------------------------------------------------


def test_a_decision_that_is_replaced_is_superseded_and_stays() -> None:
    table = discussing().say("decision: A").say("decision: B, Redis was away", who="grace")
    entries = table.rt.specification.entries

    assert entries["DEC-001"].state is EntryState.SUPERSEDED
    assert entries["DEC-001"].replaced_by == ("DEC-002",)
    assert "reversed" in table.discussion.text
    told = table.say("done").discussion.text
    assert "- B, Redis was away (Grace)" in told
    assert "- A (Ada)" not in told


def test_the_second_discussion_starts_where_the_first_ended() -> None:
    """An objection of the first rests on no turn of the second."""
    table = discussing().say("for A").say("objection: the phone gets lost", who="grace")
    table.say("decision: A").say("done").press(Action.ELABORATE)

    text = table.discussion.text
    assert "A a queue\n  - Ada" in text
    assert "“the phone gets lost”" in text
    assert "DEC-001" in text
    assert "None recorded." in table.say("done").discussion.text.partition("#### Decisions Made")[2][:20]

    table = discussing().say("objection: a file is slow", who="grace")
    table.press(Action.END_ELABORATION).press(Action.ELABORATE)

    (objection,) = table.rt.discussed.objections
    assert objection["text"] == "a file is slow"
    assert "- [Grace] a file is slow: open\n" in f"{table.say('Hm.').say('done').discussion.text}\n"


def test_done_just_after_the_end_is_understood() -> None:
    """It answers no step, and the menu stays."""
    table = discussing().say("done")
    answers = table.rt.answers
    table.say("done", who="grace")

    assert table.rt.answers == answers
    assert "The discussion is over." in table.world.told[-1][1].text
    assert table.menu.offers(Action.CONTINUE)


# --- sealed positions -------------------------------------------------------------------------------------------------


def seal(table: Table, who: str, option: str) -> Table:
    position = SealedPosition(option=option, sure="high", why="it is simple")
    return table.does(SealPosition, who=who, position=position)


@pytest.mark.parametrize(
    ("objections", "still"),
    [
        (0, ""),
        (1, "\nAn objection is open. It stays open if you record this now."),
        (2, "\n2 objections are open. They stay open if you record this now."),
    ],
)
def test_whoever_is_asked_whether_all_agree_is_told_how_many_objections_are_open(
    objections: int, still: str
) -> None:
    table = discussing().say("for A").say("for A", who="grace")
    for number in range(objections):
        table.say(f"objection: it is slow in {number + 1} ways")

    text = table.discussion.text
    asked = "Everybody who took a position is now for it: Ada, Grace."
    assert f"{asked}{still}" in text
    assert ("if you record this now" in text) is bool(still)


def test_sealed_positions_are_in_no_line_before_they_are_shown() -> None:
    """Somebody may show them before all are in."""
    table = seal(discussing().say("Hm.", who="grace"), "ada", "B")
    assert not any("simple" in line.content for line in table.lines)
    assert "simple" not in table.discussion.text
    assert "**not yet:** Grace" in table.discussion.text

    table.restart().press(Action.REVEAL, who="grace")
    assert "Ada, very sure: it is simple" in table.discussion.text
    with pytest.raises(NotNow, match="out already"):
        seal(table, "grace", "A")
    assert "Ada came over from B" in table.say("for A").discussion.text


SEALED = ("it is simple", "a failover test")


@played_once
def sealed_by_one() -> Table:
    """Ada has given hers, Grace has not."""
    table = discussing().say("Hm.", who="grace")
    position = SealedPosition(option="B", sure="high", why=SEALED[0], change=SEALED[1])
    return table.does(SealPosition, position=position)


def channel_is_archived(table: Table) -> None:
    gone = ChannelGone(key=table.key(), at=table.now(), archived=True)
    table.rt = table.decided(gone)
    table.resume_paying()


@pytest.mark.parametrize(
    "end",
    [
        lambda table: table.press(Action.END_ELABORATION),
        lambda table: table.say("done"),
        lambda table: table.say("stop"),
        lambda table: table.stop(),
        lambda table: table.press(Action.STOP),
        channel_is_archived,
    ],
)
def test_what_is_still_sealed_at_the_end_is_shown_then(end: Callable[[Table], object]) -> None:
    """Found from outside: 29 of 64 accepted positions were in no line. They are committed, and told in the thread."""
    table = sealed_by_one()
    end(table)

    told_by_ada = [line for line in read(table.world.meeting) if line.meta.get("person") == "ada"]
    (line,) = [line for line in told_by_ada if SEALED[0] in line.content]
    (patch,) = line.meta["entries"]
    assert (line.meta["person"], patch["set"]["sure"], patch["set"]["would_change"]) == (
        "ada",
        "high",
        SEALED[1],
    )
    assert all(words in line.content for words in SEALED)
    if table.rt.stage is not Stage.PAUSED or not table.rt.unsent:
        told = [one for one in table.texts if "1 position was still sealed when the discussion ended" in one]
        assert all(words in told[0] for words in SEALED)


def test_the_synthesis_has_positions_that_were_shown_at_its_end() -> None:
    table = sealed_by_one()
    table.stop_paying().press(Action.END_ELABORATION)

    assert [one.letter for one in table.rt.discussed.stands] == ["B"]
    assert table.rt.debate.sealed is None


def test_a_sealed_position_in_words_is_recorded_in_them() -> None:
    """Also where they name an option that is there, or there is no letter left for one."""
    table = discussing().say("Hm.", who="grace")
    for number in range(23):
        table.say(f"option: way {number}")
    for who, given in (("ada", "A with shadow mode"), ("grace", "Both of them, one after the other")):
        table.does(SealPosition, who=who, position=SealedPosition(words=given))

    said = {line.meta.get("person"): line.content for line in table.lines if "is for" in line.content}
    assert "A with shadow mode" in said["ada"]
    assert "Both of them, one after the other" in said["grace"]


@pytest.mark.parametrize("words", ["long " * 400, "x" * 1_001])
def test_words_that_would_be_cut_are_refused(words: str) -> None:
    with pytest.raises(NotNow, match="at most 1,000 are kept"):
        discussing().does(RaiseObjection, who="grace", words=words)


# --- a card that is gone ----------------------------------------------------------------------------------------------


def cards(table: Table) -> list[str]:
    """The stamps of the messages that show a discussion."""
    found = [one for one in table.world.thread if one.message.card and one.message.choices]
    return [one.ts for one in found if one.message.card and one.message.card.title.startswith("Discussion: ")]


@pytest.mark.parametrize("reason", ["message_not_found", "cant_update_message"])
def test_a_card_that_somebody_deleted_is_posted_anew(reason: str) -> None:
    """It offers what it offered before, and is edited where it stands now."""
    table = discussing()
    [old] = cards(table)
    table.fail("rewrite", reason).say("for A", who="grace")
    _, new = cards(table)
    assert table.menu_at == new
    table.restart().say("for A", who="ada")
    assert len(cards(table)) == 2
    assert "Did we agree" in table.discussion.text
    table.press(Action.AGREED, value=f"A/{table.rt.discussed.moves}")

    assert [one["text"] for one in table.rt.discussed.decisions] == ["a queue"]
    assert old != new


def test_a_card_that_cannot_be_edited_is_posted_anew_only_where_that_is_for_good() -> None:
    """Where editing is switched off, an answer posts no card and a decision one; another failure posts none."""
    table = discussing()
    table.fail("rewrite", "edit_window_closed", times=9).say("The queue costs nothing.", who="grace")
    table.say("Retries are free, too.", who="grace").say("Two of them ran for years.", who="linus")
    assert len(cards(table)) == 1
    table.say("for A", who="grace").say("for A", who="ada")
    assert "Did we agree" in table.discussion.text
    assert len(cards(table)) == 2

    table = discussing().fail("rewrite", "fatal_error").say("for A", who="grace")
    assert len(cards(table)) == 1


def test_the_reason_of_a_decision_is_told_once() -> None:
    """On the card, and in the file that the synthesis is written to."""
    table = Table().start("Rate limiting").do_step("Scope: medium").press(Action.ELABORATE)
    table.say("decision: limit per key; because: offices share an address", who="grace")
    assert table.rt.board
    assert table.said_on(table.rt.board.token).text.count("offices share an address") == 1

    table.say("done")
    written = [row for row in table.world.files["quick-scan.md"].splitlines() if "limit per key" in row]
    assert [row.partition(" [")[0] for row in written] == [
        "- limit per key: offices share an address (Grace)"
    ]
