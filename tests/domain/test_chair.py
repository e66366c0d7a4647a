"""A synthesis is written by a persona that did not lead the discussion."""

from dataclasses import replace

from bot.domain.catalog.policy import Policy
from bot.domain.roundtable.effects import Synthesize
from bot.domain.roundtable.transitions import asking
from tests.domain.books import few_steps
from tests.domain.table import Table

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"


def discussed() -> Table:
    """Maya leads, and everybody has answered."""
    return Table(replace(few_steps(), policy=Policy(thinks=True))).start().elaborate()


def chair(table: Table) -> str:
    return asking.chair_of(table.rt, table.playbook).key


def test_who_leads_does_not_write_the_synthesis() -> None:
    table = discussed()

    assert table.rt.debate.lead == MAYA
    assert chair(table) == ALEX
    assert chair(table.say("Alex, what do you think?")) == JORDAN


def test_whose_model_is_away_does_not_either() -> None:
    """The lead only where no other has a model; without any, the persona of the step."""
    table = discussed()
    table.rt = table.rt.but(unaided_personas=(ALEX,))
    assert chair(table) == JORDAN
    table.rt = table.rt.but(unaided_personas=(ALEX, JORDAN))
    assert chair(table) == MAYA
    table.rt = table.rt.but(unaided=True)
    assert chair(table) == asking.speaker_of(table.rt, table.playbook).key
    assert not asking.thinks(Synthesize(), table.rt, table.playbook)
