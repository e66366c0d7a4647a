"""The evaluation tells contenders apart whose quality is planted, by what they ask and record."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from roundtable_eval.evaluation import Contender, Evaluation, Rules, UnequalEvidence, evaluated
from roundtable_eval.people import Room, ScriptedPeople
from roundtable_eval.planted import (
    PANELS,
    RIVALS,
    PlantedContender,
    PlantedPanel,
    PlantedQuality,
    planted_contenders,
)
from roundtable_eval.scoring import Play, PlayCost, Score
from roundtable_eval.verdict import (
    Comparison,
    ComparisonOutcome,
    Interval,
    VerdictCode,
    compared,
    interval,
    verdict,
)
from tests.evaluation.meetings import SHIPPED, meeting_of

BETTER, SAME, WORSE = PlantedPanel
DRAWS = 2_000


def play(contenders: Sequence[Contender], seed: int = 7, **rules: object) -> Evaluation:
    rules = {"seed": seed, "draws": DRAWS, **rules}
    return asyncio.run(evaluated(SHIPPED, contenders, ScriptedPeople(), Rules(**rules)))  # type: ignore[arg-type]


def beside(panel: PlantedQuality, rivals: Mapping[str, PlantedQuality] = RIVALS) -> list[PlantedContender]:
    known = {one.key: one for one in SHIPPED}
    return [PlantedContender(name, one, known) for name, one in {"panel": panel, **rivals}.items()]


@pytest.mark.parametrize(
    ("panel", "code", "sentence"),
    [
        (BETTER, 0, "The panel is better than every rival."),
        (SAME, 3, "Not decided: no difference seen to "),
        (WORSE, 1, "One model is better: alone, alone+checks, alone x3 + critic."),
    ],
)
def test_a_planted_panel_gets_the_verdict_that_it_deserves(
    panel: PlantedPanel, code: int, sentence: str
) -> None:
    found = play(planted_contenders(panel, SHIPPED)).verdict

    assert found.code == code
    assert found.sentence.startswith(sentence)


def test_who_invents_a_decision_in_every_meeting_is_worse() -> None:
    """Though it is as good as a rival in everything else."""
    assert play(beside(PANELS[SAME]._replace(invents=1.0))).verdict.code is VerdictCode.ONE_MODEL_BETTER


def test_who_never_asks_is_worse_though_it_records_all_that_it_hears() -> None:
    silent = PlantedQuality(0.0, records=1.0, wrong=0.0, loses_dissent=0.0, tokens=9_000, asks=False)
    found = play(beside(silent))

    assert found.verdict.code is VerdictCode.ONE_MODEL_BETTER
    assert {one.surfaced for row in found.scores["panel"] for one in row} == {0}


def test_swapping_the_names_of_panel_and_rival_swaps_the_verdict() -> None:
    """Nothing but what a contender does counts."""
    strong, weak = PANELS[BETTER], RIVALS["alone x3 + critic"]

    assert play(beside(strong, {"rival": weak})).verdict.code is VerdictCode.PANEL_BETTER
    assert play(beside(weak, {"rival": strong})).verdict.code is VerdictCode.ONE_MODEL_BETTER


class Favoured(PlantedContender):
    async def play(self, room: Room, seed: str) -> Play:
        played = await super().play(room, seed)
        return played._replace(evidence={**played.evidence, "docs/notes.md": "Grace knows more."})


def test_a_contender_that_gets_one_more_file_fails_the_run() -> None:
    """That all see the same is checked by what their tools could show."""
    panel, *rivals = beside(PANELS[SAME])
    favoured = Favoured("alone+checks", PANELS[SAME], {one.key: one for one in SHIPPED})

    with pytest.raises(UnequalEvidence, match=r"alone\+checks and panel saw .* \(docs/notes.md\)"):
        play([panel, favoured, *rivals])


@pytest.mark.thorough
@pytest.mark.parametrize(("panel", "code", "right"), [(BETTER, 0, 35), (SAME, 3, 35), (WORSE, 1, 38)])
def test_of_forty_runs_nearly_all_are_right(panel: PlantedPanel, code: int, right: int) -> None:
    codes = [play(planted_contenders(panel, SHIPPED), seed).verdict.code for seed in range(40)]

    assert codes.count(VerdictCode(code)) >= right


def test_the_same_seed_draws_the_same() -> None:
    first, again = (play(planted_contenders(SAME, SHIPPED)) for _ in range(2))

    assert first.comparisons == again.comparisons


@pytest.mark.parametrize(
    ("difference", "times", "outcome"),
    [
        (Interval(0.2, 0.01, 0.4), 9.0, ComparisonOutcome.BETTER),
        (Interval(-0.2, -0.4, -0.01), 0.1, ComparisonOutcome.WORSE),
        (Interval(0.0, -0.1, 0.1), 9.0, ComparisonOutcome.OPEN),
        (Interval(0.0, -0.1, 0.04), 1.5, ComparisonOutcome.OPEN),
        (Interval(0.0, -0.1, 0.04), 1.6, ComparisonOutcome.DEARER),
        (Interval(0.0, -0.1, 0.05), 1.6, ComparisonOutcome.OPEN),
    ],
)
def test_who_is_hardly_better_and_much_dearer_is_worse(
    difference: Interval, times: float, outcome: ComparisonOutcome
) -> None:
    assert Comparison("alone", difference, times).outcome is outcome


def test_one_rival_that_is_better_decides() -> None:
    """More plays would tell only where nobody is better than the panel."""
    better, worse, open_ = (
        Comparison(name, Interval(mean, mean - 0.1, mean + 0.1), 1.0)
        for name, mean in (("a", 0.3), ("b", -0.3), ("c", 0.0))
    )

    assert verdict([better, worse, open_], repeats=5) == ("One model is better: b.", 1)
    assert verdict([better, open_], repeats=5) == (
        "Not decided: no difference seen to c. More meetings or repeats would tell.",
        3,
    )
    assert verdict([better], repeats=3) == ("The panel is better than every rival.", 0)
    assert verdict([better], repeats=2).code is VerdictCode.NOT_DECIDED


def test_meetings_are_what_is_drawn() -> None:
    """Repeats of one meeting say little about others, so many of them narrow the interval little."""
    few = [[0.0], [1.0], [0.0], [1.0]]
    many = [row * 50 for row in few]
    narrow, wide = (interval(rows, random.Random(1), DRAWS) for rows in (many, few))

    assert narrow == wide == (0.5, 0.0, 1.0)


def test_pairs_are_of_the_same_meeting() -> None:
    """What makes a meeting hard for all contenders is no difference between them."""

    def scored(*recorded: int) -> list[list[Score]]:
        return [[Score(10, 0, one, 0, 0, 0, 0, PlayCost(tokens_in=5))] * 3 for one in recorded]

    (found,) = compared(scored(2, 6, 10), {"alone": scored(1, 5, 9)}, seed=1, draws=DRAWS)

    assert (round(found.difference.low, 6), round(found.difference.high, 6), found.times) == (0.1, 0.1, 1.0)


class Dear(PlantedContender):
    async def play(self, room: Room, seed: str) -> Play:
        played = await super().play(room, seed)
        return played._replace(spent=played.spent._replace(dollars=Decimal("0.10")))


def test_a_limit_of_dollars_stops_between_meetings() -> None:
    """What was played is reported, and decides nothing. Simulated people and the judge cost, too."""
    known = {one.key: one for one in SHIPPED}
    contenders = [Dear(name, PANELS[BETTER], known) for name in ("panel", "alone")]
    found = play(contenders, most_dollars=Decimal("2.50"), spent_beside=lambda: Decimal("0.60"))

    assert [one.key for one in found.meetings] == [one.key for one in SHIPPED[:2]]
    assert found.verdict == ("Not decided: stopped at 2.60 $ after 2 of 12 meetings (--most-dollars).", 3)
    assert len(found.comparisons) == 1


class Dumb(PlantedContender):
    async def play(self, room: Room, seed: str) -> Play:  # noqa: ARG002
        return Play((), room.files, failed="The model does not answer.")


def test_without_any_record_the_run_stops_after_one_meeting() -> None:
    """A key that is not accepted is not tried 240 times."""
    found = play([Dumb(name, PANELS[SAME], {}) for name in ("panel", "alone")])

    assert found.verdict.code is VerdictCode.NOT_DECIDED
    assert "1 of 12 meetings, because no contender left a record" in found.verdict.sentence


@pytest.mark.parametrize(
    ("prefers", "counts"),
    [("mine", (15, 0, 0)), ("theirs", (0, 0, 15)), ("first", (0, 15, 0)), ("nothing of it", (0, 15, 0))],
)
def test_a_judge_that_prefers_by_the_order_sees_ties(
    prefers: str, counts: tuple[int, int, int], tmp_path: Path
) -> None:
    """It is shown both orders of two records without names, and never decides."""
    meeting = meeting_of(tmp_path)

    async def judge(task: str, material: Mapping[str, str]) -> Mapping[str, str]:
        assert not any(name in f"{task} {material}" for name in ("panel", "alone"))
        is_ours = {place: "value" in text for place, text in material.items()}
        chosen = {"mine": True, "theirs": False}.get(prefers)
        return {"better": next((place for place, ours in is_ours.items() if ours is chosen), prefers)}

    known = {meeting.key: meeting}
    thorough = PlantedQuality(1.0, records=1.0, wrong=0.0, loses_dissent=0.0, tokens=1)
    silent = PlantedQuality(1.0, records=0.0, wrong=0.0, loses_dissent=1.0, tokens=1)
    contenders = [PlantedContender("panel", thorough, known), PlantedContender("alone", silent, known)]
    rules = Rules(repeats=15, draws=100, judge=judge)
    found = asyncio.run(evaluated([meeting], contenders, ScriptedPeople(), rules))

    assert [(one.wins, one.ties, one.losses) for one in found.judgements] == [counts]
    without = asyncio.run(evaluated([meeting], contenders, ScriptedPeople(), rules._replace(judge=None)))
    assert (found.verdict, found.comparisons) == (without.verdict, without.comparisons)
