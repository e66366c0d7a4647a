"""
Every measure of the quality card tells a good meeting from a bad one, of each kind that there is: hidden facts,
collapse, holdout, flips, a chair who drops an objection, a silent persona, repetition, runaway.
"""

from typing import Any, NamedTuple

import pytest

from bot.domain.discussion.synthesis import Insight, Synthesis
from bot.domain.roundtable.quality import QualityCard
from tests.domain.table import Contribution
from tests.meetings.script import ALEX, DONE, GO_ON, JORDAN, MAYA, PASS, Said, Script, fair, played, says
from tests.meetings.test_agreement import AGAINST, challenged
from tests.meetings.test_held import SCRIPTS
from tests.meetings.test_synthesis import HEARD, HOLDOUT

FACT = Said("Jordan, the devices are offline for hours. What now?")  # t04
TALK = [Contribution(f"Point {number}.") for number in range(50)]
KEPT, LOST = fair("t01", "t02", objections=[HEARD]), fair("t01", objections=[HEARD])


class Pair(NamedTuple):
    """Two meetings that differ in what *measure* says of them."""

    measure: str
    good: Script
    bad: Script
    says: tuple[Any, Any]


def moving(*because: str) -> Script:
    """Jordan held out, and gives in because of these."""
    personas = {**HOLDOUT, JORDAN: [*HOLDOUT[JORDAN], says("Then Redis.", "Redis", *because)]}
    return Script(personas, [FACT, DONE], [fair("t02", "t04")])


def talking(max_turns: int, people: list[Any]) -> Script:
    return Script({MAYA: TALK, ALEX: TALK, JORDAN: TALK}, people, [fair("t01")], max_turns=max_turns)


PAIRS = {
    "hidden facts": Pair(
        "facts_kept", Script(HOLDOUT, [DONE], [KEPT]), Script(HOLDOUT, [DONE], [LOST]), (3, 2)
    ),
    "collapse": Pair("collapsed", challenged(AGAINST), challenged(PASS), ([], ["storage"])),
    "giving in": Pair("collapsed", moving("t04"), moving(), ([], ["storage"])),
    "holdout": Pair("objections", moving("t04"), Script(HOLDOUT, [DONE], [KEPT]), (0, 1)),
    "flip": Pair("unbacked", moving("t04"), moving("t01"), (0, 1)),
    "silence": Pair(
        "silent",
        Script(HOLDOUT, [DONE], [KEPT]),
        Script({MAYA: HOLDOUT[MAYA], ALEX: HOLDOUT[ALEX]}, [DONE], [fair("t02")]),
        ([], ["Jordan"]),
    ),
    "balance": Pair(
        "balance",
        Script(HOLDOUT, [DONE], [KEPT]),
        Script({**HOLDOUT, MAYA: TALK}, [Said("Long."), Said("All."), DONE], [KEPT]),
        (1.0, 0.33),
    ),
    "sources": Pair(
        "sourced",
        Script(HOLDOUT, [DONE], [KEPT]),
        Script(
            HOLDOUT,
            [DONE],
            [Synthesis(insights=(Insight(text="It rains [t02]"),), objections=(HEARD,), summary="x")],
        ),
        (1, 0),
    ),
    "runaway": Pair("turns", talking(20, [GO_ON, DONE]), talking(8, [GO_ON] * 3), (5, 8)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_measure_tells_the_good_from_the_bad(name: str) -> None:
    """In both directions, and each from the record alone."""
    measure, good, bad, expected = PAIRS[name]

    assert (played(good).card[measure], played(bad).card[measure]) == expected


def test_every_measure_is_told_apart_somewhere() -> None:
    """What only counts, so that another measure has something to be held against, needs no good and bad."""
    counts = {"speakers", "insights", "recorded", "facts", "flips"}

    assert {pair.measure for pair in PAIRS.values()} | counts == set(QualityCard.model_fields)


def repeats(script: Script) -> list[str]:
    return [issue for line in played(script).lines for issue in line.meta.get("repeats", ())]


def test_repetition_stands_on_its_line() -> None:
    """The same point on the same grounds is marked; another reason is not."""
    again = {**HOLDOUT, ALEX: HOLDOUT[ALEX] * 2}
    other = {**HOLDOUT, ALEX: [*HOLDOUT[ALEX], says("And it is here.", "Redis", "t03")]}

    assert repeats(Script(again, [GO_ON, DONE], [KEPT])) == ["storage"]
    assert repeats(Script(other, [GO_ON, DONE], [KEPT])) == []


def wordless(script: Script) -> Script:
    """The same meeting, in which nobody says anything that could be compared."""
    personas = {key: [one._replace(text="…") for one in said] for key, said in script.personas.items()}
    syntheses = [
        one.but(
            insights=tuple(insight.but(text="x") for insight in one.insights),
            objections=tuple(objection.but(text="x") for objection in one.objections),
        )
        for one in script.syntheses
    ]
    return script._replace(personas=personas, syntheses=syntheses)


MEETINGS = {
    **SCRIPTS,
    **{f"{name}, good": pair.good for name, pair in PAIRS.items() if name != "sources"},
    **{f"{name}, bad": pair.bad for name, pair in PAIRS.items() if name != "sources"},
}


@pytest.mark.parametrize("name", MEETINGS)
def test_no_measure_depends_on_words(name: str) -> None:
    """Only on stances, and on who spoke in which turn."""
    assert played(wordless(MEETINGS[name])).card == played(MEETINGS[name]).card
