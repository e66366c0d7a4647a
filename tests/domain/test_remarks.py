"""Short remarks at a menu: out of the files, counted on the card, and included when a person says so."""

import pytest

from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.message import Action
from bot.domain.specification.entries import ENTRIES
from bot.errors import NotNow
from tests.domain.table import Table


def at_menu() -> Table:
    return Table().start("Rate limiting").do_step("problem: Batch jobs starve everybody else.")


def left_out() -> Table:
    return at_menu().say("brb, standup", who="grace").say("lol ok", who="linus")


def notes(table: Table) -> list[tuple[str, str]]:
    entries = table.rt.specification.entries.values()
    found = [(attributions(one), str(one["text"])) for one in entries if one.kind == "note" and not one.gone]
    return [one for one in found if "Batch jobs" not in one[1]]


def card(table: Table) -> str:
    assert table.rt.card
    return table.rt.card.shown.text


def test_the_card_says_how_many_are_left_out() -> None:
    """People see the rule, and what it left out."""
    table = left_out()

    assert "**2 short remarks left out**\n- “brb, standup” – Grace\n- “lol ok” – Linus" in card(table)
    assert "Or type `C`, `E`, `S` or `include`." in card(table)
    assert notes(table) == []


def test_a_card_without_remarks_offers_nothing() -> None:
    """Words with content are notes at once, and a command is no remark."""
    table = at_menu().say("We also need a limit for each customer of the shop.").say("deep")

    assert "left out" not in card(table)
    assert Action.INCLUDE not in [one.action for one in table.menu.message.offered]


def test_a_press_includes_them_for_who_said_them() -> None:
    table = left_out().press(Action.INCLUDE, who="ada")

    assert notes(table) == [("Grace", "brb, standup"), ("Linus", "lol ok")]
    assert "left out" not in card(table)
    assert "brb, standup" in card(table)
    told = [line for line in table.rt.lines if line.content == "Ada included 2 short remarks."]
    assert [line.meta["user_id"] for line in told] == ["ada"]


def test_the_word_does_the_same() -> None:
    """It is not a remark itself."""
    table = left_out().say("Include.", who="ada")

    assert notes(table) == [("Grace", "brb, standup"), ("Linus", "lol ok")]
    assert "left out" not in card(table)


def test_without_a_remark_the_word_is_one() -> None:
    table = at_menu().say("include")

    assert "1 short remark left out" in card(table)


def test_what_was_included_is_committed_when_people_go_on() -> None:
    table = left_out().press(Action.INCLUDE).press_continue()

    assert any("feedback 00-01" in subject for subject in table.subjects)
    assert [
        line.content
        for line in table.lines
        if ENTRIES in line.meta and line.content in {"brb, standup", "lol ok"}
    ] == ["brb, standup", "lol ok"]


def test_a_second_press_is_told_that_nothing_is_left() -> None:
    table = left_out()
    menu = table.menu
    table.press(Action.INCLUDE, who="ada")

    with pytest.raises(NotNow):
        table.press(Action.INCLUDE, who="grace", menu=menu)
    assert len(notes(table)) == 2


def test_an_edited_remark_is_included_as_it_reads() -> None:
    """A deleted one is gone from the card; an included one follows its message."""
    table = at_menu().say("brb", ts="1790000000.000100", who="grace").say("ok", ts="1790000000.000200")
    table.edit("1790000000.000100", "brb at noon", who="grace").delete("1790000000.000200")
    assert "1 short remark left out" in card(table)

    table.press(Action.INCLUDE)
    assert notes(table) == [("Grace", "brb at noon")]
    table.edit("1790000000.000100", "back at one", who="grace")
    assert notes(table) == [("Grace", "back at one")]


def test_words_at_a_menu_answer_no_question() -> None:
    """Also where one question of the step was left: nothing is asked at a menu. A number still says which is meant."""
    table = Table().start("Rate limiting").do_step("1. Partners get a 429.\n2. Two areas.")
    table.say("We also promised a status page.", who="grace").say("3. The gateway is new.", who="linus")

    entries = table.rt.specification.entries.values()
    answered = {str(one["text"]): one["question"] for one in entries if one.kind == "note"}
    assert answered["We also promised a status page."] is None
    assert answered["The gateway is new."] == 3


def test_a_card_whose_menu_was_used_does_not_say_what_to_type() -> None:
    table = at_menu()
    assert "Or type `C`" in card(table)
    table.press(Action.ELABORATE)

    assert "Or type `" not in card(table)
    assert "Anything else you write is added here" not in card(table)
