"""
Scripted agreements and non-agreements (`agreements/*.yaml`): what people say and press, through the domain.

A decision is in the record of every agreement, and in none of the others.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.domain.discussion.elaboration import SealedPosition
from bot.domain.messages.message import Action
from bot.domain.roundtable.inputs import RecordDecision, SealPosition
from bot.domain.transcript.lines import Line
from tests.domain.table import Table, person
from tests.meetings.script import listening

SCRIPTS = sorted((Path(__file__).parent / "agreements").glob("*.yaml"))
AGREED = [one for one in SCRIPTS if one.name.startswith("agreed-")]
NOT_AGREED = [one for one in SCRIPTS if one.name.startswith("not-agreed-")]


def read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def played(script: dict[str, Any]) -> Table:
    table = listening()
    for step in script["steps"]:
        follow(table, step)
    return table.say("done")


def follow(table: Table, step: dict[str, Any]) -> None:
    who = step["who"]
    match step:
        case {"say": text}:
            table.say(text, who=who)
        case {"press": name}:
            offered = next(one for one in table.menu.message.offered if one.action == name)
            table.press(name, who=who, value=offered.value)
        case {"settle": value}:
            table.press(Action.OBJECTION, who=who, value=value)
        case {"record": fields}:
            table.hear(
                RecordDecision(
                    key=table.key(),
                    at=table.now(),
                    person=person(who),
                    option=fields.get("choice", ""),
                    words=fields.get("words", ""),
                    reason=fields.get("why", ""),
                )
            )
        case {"seal": fields}:
            position = SealedPosition(option=fields["position"], sure=fields["sure"])
            table.hear(SealPosition(key=table.key(), at=table.now(), person=person(who), position=position))
        case _:
            raise AssertionError(f"not a step: {step}")


def decisions(table: Table) -> list[str]:
    """Those that count at the end, as the specification has them."""
    return [str(one["text"]) for one in table.rt.specification.active("decision")]


def synthesis(table: Table) -> Line:
    return next(line for line in reversed(table.lines) if "#### Decisions Made" in line.content)


def test_there_are_twelve_of_each() -> None:
    assert (len(AGREED), len(NOT_AGREED)) == (12, 12)


@pytest.mark.parametrize("path", AGREED, ids=lambda path: path.stem)
def test_an_agreement_is_in_the_record(path: Path) -> None:
    """In the specification, in the synthesis, and on the line of the person who said so."""
    script = read(path)
    table = played(script)

    assert decisions(table) == [script["decision"]]
    assert f"- {script['decision']}" in synthesis(table).content.partition("#### Decisions Made")[2]
    entry = table.rt.specification.active("decision")[0]
    line = next(line for line in table.lines if line.message_id == entry.claims["text"][0].line)
    assert line.meta["person"] in {"ada", "grace", "linus"}


@pytest.mark.parametrize("path", NOT_AGREED, ids=lambda path: path.stem)
def test_without_an_agreement_no_decision_is_in_the_record(path: Path) -> None:
    table = played(read(path))

    assert decisions(table) == []
    assert "#### Decisions Made\n- None recorded." in synthesis(table).content
