"""The short path: one card for each phase, and what is recorded as done."""

import pytest

from bot.domain.catalog.steps import Depth
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action
from bot.domain.messages.start_form import start_form
from bot.domain.roundtable.stage import Stage
from tests.domain.table import Table, played_once
from tests.specification.meeting import PLAYBOOK

WHY = (
    "1. Drivers lose edits in tunnels. 2. Lost edits a week: from 40 to 0. 3. The winter season, 1 December."
)
WHAT = "2. Edits are kept on the device\nAC: 500 of 500 rows are there\nShow how many rows were sent\n4. PDF"


@played_once
def short(title: str = "Offline sync") -> Table:
    return Table(PLAYBOOK).start(title, depth=None)


def done(table: Table) -> tuple[str, ...]:
    return table.rt.steps_completed


def entries(table: Table, kind: str) -> list[str]:
    text = PLAYBOOK.schema.kinds[kind].text
    return [str(one[text]) for one in table.rt.specification.active(kind)]


# --- which path -------------------------------------------------------------------------------------------------------


def test_without_a_model_it_is_the_usual_path() -> None:
    table = short()

    assert table.meta.depth_overrides == {phase.key: "brief" for phase in PLAYBOOK.agenda.phases}
    assert "**Maya Chen (Business Analyst) -- Step 00-01: What and why**" in table.last.text
    assert "5 cards" in table.texts[0]
    (depth,) = (one for one in start_form(PLAYBOOK, channel="C1").fields if one.name == "depth")
    assert depth.initial == "brief"


@pytest.mark.parametrize("depth", [Depth.STANDARD, Depth.DEEP])
def test_who_wants_all_steps_gets_them(depth: Depth) -> None:
    table = Table(PLAYBOOK).start(depth=depth)

    assert "Step 00-01: Scope Estimation" in table.last.text
    assert ("00-quick-scan" in table.meta.depth_overrides) == (depth is Depth.DEEP)


# --- card by card -----------------------------------------------------------------------------------------------------


def test_five_presses_go_through_all_of_it() -> None:
    """Each saves the card, closes its phase, and opens the next; the record says who chose that."""
    table = short()
    for phase in PLAYBOOK.agenda.phases:
        assert table.rt.phase_key == phase.key
        table.press(Action.NEXT)

    assert table.rt.stage is Stage.ANALYSED
    assert table.meta.phases_completed == tuple(phase.key for phase in PLAYBOOK.agenda.phases)
    assert [line.content for line in table.lines].count("Ada chose: Continue to Phase 01 (Requirements)") == 1


def test_the_first_requirement_comes_on_the_second_card() -> None:
    """With its criterion; the list goes on below that."""
    table = short().say(WHY).press(Action.NEXT).say(WHAT)

    assert entries(table, "requirement") == ["Edits are kept on the device", "Show how many rows were sent"]
    assert entries(table, "criterion") == ["500 of 500 rows are there"]
    assert entries(table, "exclusion") == ["PDF"]


def test_only_what_has_an_entry_is_done() -> None:
    """Steps without one are in no list; a later card may still cover them."""
    table = short().say(WHY).press(Action.NEXT)
    assert done(table) == table.meta.steps_completed == ("00-01",)

    table.say(WHAT).say("File count: 4").press(Action.NEXT)
    assert done(table) == ("00-01", "00-03", "01-01", "01-06")


def test_a_card_without_an_answer_writes_no_section() -> None:
    """It is no step that was skipped, and is saved without an entry of its first step."""
    table = short().press(Action.NEXT)

    assert done(table) == ()
    assert table.rt.phase_key == "01-requirements"
    assert "quick-scan.md" not in table.world.files

    table = (
        short().press(Action.NEXT).press(Action.NEXT).say("2. Orders get lost -> a link").press(Action.NEXT)
    )
    cards = [one.message.card for one in table.world.thread if one.message.card and one.message.speaker]

    assert [card.title for card in cards] == [
        "– What and why",
        "– Who, and what it must do",
        "✓ What it touches, and what can go wrong",
        "Options and decisions",
    ]
    assert done(table) == ("01-05", "02-03")


def test_the_menu_is_there_for_who_wants_it() -> None:
    """Saved, and nothing more; what is said then is added to the card."""
    table = short().say(WHY).press(Action.FINISH_STEP)

    assert table.menu.kind is MenuKind.PHASE
    assert Action.CONTINUE in table.offered()
    table.say("keyword: outbox").press_continue()
    assert table.rt.phase_key == "01-requirements"
    assert done(table.press(Action.NEXT))[:2] == ("00-01", "00-02")


def test_a_card_asks_its_own_questions_and_no_more() -> None:
    table = short().say("Drivers lose edits in tunnels.").say("Scope: small")
    asked = table.menu.message.text.partition("**Still missing**")[2]

    assert "How will you notice that it got better?" in asked
    assert "How tricky does it feel" not in asked


def test_somebody_speaks_while_it_is_saved() -> None:
    """It is saved, too, before the next card."""
    table = short().say(WHY).stop_paying().press(Action.NEXT)
    table.say("keyword: outbox", who="grace").resume_paying()

    assert table.rt.phase_key == "01-requirements"
    assert "outbox" in table.world.files["quick-scan.md"]


def test_next_is_typed_on_a_card_and_an_answer_on_a_step() -> None:
    """Where other steps of the phase are to come, nobody leaves it by a word."""
    assert short().say(WHY).say("next").rt.phase_key == "01-requirements"

    table = Table(PLAYBOOK).start().say("next")
    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-01")


# --- another depth ----------------------------------------------------------------------------------------------------


def test_going_deeper_asks_the_steps_that_are_missing() -> None:
    """Of the phase that is open; what was said stands on them."""
    table = short().say(WHY).press(Action.NEXT).say(WHAT).press(Action.FINISH_STEP).say("standard")

    assert table.menu.kind is MenuKind.STEP
    assert "Step 01-02" in table.press_continue().last.text
    table.do_step().press_continue().do_step()
    assert done(table)[-2:] == ("01-02", "01-03")


def test_going_deeper_on_an_open_card_asks_its_first_step() -> None:
    table = short().say("deep")

    assert "Step 00-01: Scope Estimation" in table.last.text
    assert table.offered()[0] == Action.FINISH_STEP


def test_brief_in_the_middle_of_a_phase_opens_its_card() -> None:
    """With all that is recorded."""
    table = Table(PLAYBOOK).start().through("01-01").press_continue().say("brief")

    assert "Step 01-01: Who, and what it must do" in table.last.text
    table.say(WHAT).press(Action.NEXT)
    assert table.rt.phase_key == "02-impact-analysis"
    assert "01-06" in done(table)


def test_what_a_card_stood_for_is_known_and_can_be_opened() -> None:
    """Also after the store is lost."""
    table = short().say(WHY).press(Action.NEXT).say("reopen 00-02")

    assert "Step 00-02: Keyword" in table.last.text

    table = short().say(WHY).press(Action.NEXT).forget()

    assert "Step 01-01: Who, and what it must do" in table.last.text
    assert done(table) == ("00-01",)


def test_the_fields_of_an_answer_are_those_of_its_kind() -> None:
    """As the question shows them: `what -> who; by: when`."""
    table = short()
    for _ in range(4):
        table.press(Action.NEXT)
    table.say("2. The form -> Grace; by: 1 December")
    files = table.press(Action.NEXT).world.files

    (work,) = table.rt.specification.active("work")
    assert (work[PLAYBOOK.schema.kinds["work"].text], work["owner"]) == ("The form", "Grace")
    assert table.rt.specification.active("connection") == ()
    assert "notes.md" not in files
    assert "By when: 1 December" in files["impact-analysis.md"]
