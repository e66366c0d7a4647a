"""What people said and no entry has: on the card of the step, taken over by a press or a word, and in the record."""

import pytest

from bot.domain.discussion.synthesis import Insight, Synthesis
from bot.domain.messages.attribution_wording import attributions
from bot.domain.messages.message import Action
from bot.domain.roundtable.state import Roundtable
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Table

FACT = "Drivers lose 40 % of their edits in tunnels."
REMARK = "Auditors want every change on paper as well."


def synthesized(*said: str, insight: str = "A queue on the device keeps the edits") -> Table:
    """Grace has *said* this in a discussion of the first step, whose synthesis has one insight."""
    table = Table(few_steps()).start().elaborate()
    for text in said:
        table.say(text, who="grace")
    table.world.synthesis = Synthesis(insights=(Insight(text=insight, by=("Maya",)),), summary="Queue")
    return table.say("done")


def card(table: Table) -> str:
    assert table.rt.card
    return table.rt.card.shown.text


def notes(table: Table) -> list[tuple[str, str]]:
    entries = table.rt.specification.entries.values()
    found = [(attributions(one), str(one["text"])) for one in entries if one.kind == "note" and not one.gone]
    return [one for one in found if "said: “" in one[1]]


def test_the_card_lists_what_the_synthesis_left_out() -> None:
    """With who said it and why it is listed; in the record it stands beside the synthesis."""
    table = synthesized(FACT, REMARK)

    assert "**2 remarks are in no entry**" in card(table)
    assert f"F1 “{FACT}” – Grace (no entry says “40 %”)" in card(table)
    assert f"F2 “{REMARK}” – Grace (no entry rests on it)" in card(table)
    told = [line.meta["not_carried"] for line in table.lines if "not_carried" in line.meta]
    assert [[one["what"] for one in listed] for listed in told] == [[FACT, REMARK]]
    said = next(line for line in table.lines if line.content == FACT)
    assert told[0][0] == {
        "what": FACT,
        "by": "Grace",
        "line": said.message_id,
        "why": "no entry says “40 %”",
    }


def test_nothing_is_listed_that_the_synthesis_has() -> None:
    table = synthesized(FACT, insight="In tunnels drivers lose 40 % of the edits")

    assert "in no entry" not in card(table)
    assert not any("not_carried" in line.meta for line in table.lines)


def test_a_press_makes_a_note_of_it_that_says_whose_words_it_is() -> None:
    """The note rests on the line of the message; the other remark stays on the list."""
    table = synthesized(FACT, REMARK).press(Action.CARRY, value="1/take", who="ada")

    assert notes(table) == [("Ada", f"Grace said: “{FACT}”")]
    said = next(line for line in table.lines if line.content == FACT)
    note = next(one for one in table.rt.specification.entries.values() if "said: “" in str(one["text"]))
    assert note.claims["text"][0].sources == (said.message_id,)
    assert "**1 remark is in no entry**" in card(table)
    assert [line.content for line in table.rt.lines if line.meta.get("user_id") == "ada"][-1] == (
        "Ada took over 1 remark that no entry had."
    )


def test_the_words_do_the_same() -> None:
    """And the file has it once people go on."""
    table = synthesized(FACT, REMARK).say("Take over all.", who="linus").press_continue()

    assert notes(table) == [("Linus", f"Grace said: “{FACT}”"), ("Linus", f"Grace said: “{REMARK}”")]
    assert any(FACT in text for text in table.world.files.values())


def test_what_is_not_needed_goes_with_a_name() -> None:
    table = synthesized(FACT, REMARK).press(Action.CARRY, value="1/leave", who="linus")
    table.say("not needed F2", who="ada")

    assert notes(table) == []
    assert "in no entry" not in card(table)
    told = [line.content for line in table.lines if "is not needed" in line.content]
    told += [line.content for line in table.rt.lines if "is not needed" in line.content]
    assert f"Linus said that this is not needed: “{FACT}”." in told
    assert f"Ada said that this is not needed: “{REMARK}”." in told


def test_an_entry_that_says_it_takes_it_off_the_list() -> None:
    table = synthesized(FACT).say("risk: Drivers lose 40 % of their edits in tunnels", who="linus")

    assert "in no entry" not in card(table)


def test_what_is_not_listed_any_more_is_told() -> None:
    """To who presses; a word that names nothing on the list whispers, and without a list it is content."""
    table = synthesized(FACT)
    menu = table.menu
    table.press(Action.CARRY, value="1/take")

    with pytest.raises(NotNow, match="out of date"):
        table.press(Action.CARRY, value="1/take", menu=menu)
    again = synthesized(FACT).say("take over F7")
    assert again.world.told[-1][1].text == "That remark is not on the list any more."
    assert notes(again) == []


def test_it_survives_a_restart() -> None:
    """Between the list and the press."""
    table = synthesized(FACT)
    stored = table.rt.model_dump(mode="json")
    table.rt = Roundtable.model_validate(stored)
    table.press(Action.CARRY, value="1/take")

    assert notes(table) == [("Ada", f"Grace said: “{FACT}”")]


def test_a_written_step_has_all_that_people_said_as_notes() -> None:
    """There only what a persona cited from the code may be missing."""
    table = Table(few_steps()).start().do_step(FACT, REMARK)

    assert "in no entry" not in card(table)
