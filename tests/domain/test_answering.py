"""Answers that people give in a direct message: to the open step, and to recorded questions that are theirs."""

import pytest

from bot.domain.messages.attribution_wording import attribution
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import AnswerQuestion
from bot.domain.roundtable.transitions import answering
from bot.domain.roundtable.waiting import WaitKind, waits_for
from bot.errors import NotNow
from tests.domain.books import few_steps
from tests.domain.table import Table, played_once


@played_once
def asked() -> Table:
    """Linus has to answer who pays."""
    table = Table(few_steps()).start().say("I am here.", who="linus")
    return table.say("Open question: Who pays? -> Linus", who="grace")


def answer(table: Table, text: str = "The customer pays.") -> Table:
    return table.does(AnswerQuestion, who="linus", entry="Q-001", text=text)


def questions(table: Table, who: str = "linus") -> list[str]:
    found = waits_for(table.rt, who, table.playbook)
    return [one.entry for one in found if one.kind is WaitKind.QUESTION]


@pytest.mark.parametrize("where", ["step", "menu", "discussion"])
def test_a_question_is_answered_at_any_time(where: str) -> None:
    """The entry has the answer as the person's, the thread reads it, and nothing waits any more."""
    table = asked()
    if where != "step":
        table.do_step()
    if where == "discussion":
        table.press(Action.ELABORATE)
    assert questions(table) == ["Q-001"]
    assert "Grace asks: Who pays?" in str(answering.form(table.rt, "Q-001", table.playbook))
    answer(table)

    claim = table.rt.specification.entries["Q-001"].claim("answer")
    assert claim
    assert (claim.value, attribution(claim)) == ("The customer pays.", "Linus")
    assert questions(table) == []
    shown = [one.message.text for one in table.world.thread]
    assert any("Linus answered in a form:\n**Who pays?**\n> The customer pays." in one for one in shown)
    [line] = [one for one in table.lines if one.content == "Linus answered Q-001: The customer pays."]
    assert line.meta["person"] == "linus"


def test_a_question_that_is_over_is_not_answered_again() -> None:
    """Somebody was quicker, or withdrew it; a restart in between."""
    table = answer(asked()).restart()
    with pytest.raises(NotNow, match="Q-001 is answered, or does not count any more"):
        answer(table, "Nobody.")
    for id in ("Q-001", "Q-404"):
        with pytest.raises(NotNow, match="is answered, or does not count"):
            answering.form(table.rt, id, table.playbook)
