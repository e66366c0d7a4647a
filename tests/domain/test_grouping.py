"""What a second model groups only unites what the rules do not see opposed; no word of anybody changes."""

import pytest

from bot.domain.discussion import board, grouping, positions
from bot.domain.discussion.elaboration import (
    BoardOption,
    Elaboration,
    HeldPosition,
    PersonStand,
    Stance,
    StanceGroups,
)
from bot.domain.roundtable import quality

QUEUE, STORE, WAIT = "Where edits wait", "Storage of edits", "Waiting place"
ON_DEVICE, LOCAL, PHONE = "In a queue on the device", "the device keeps a queue", "a queue in the phone"


def debate(*said: tuple[str, str, str], first_round: int = 0) -> Elaboration:
    """Who takes which position on which issue, one turn each."""
    found = Elaboration(step_id="00-01", lead="maya", topic="Edits", max_turns=20, first_round=first_round)
    for by, issue, position in said:
        found = found.spoken(
            by=by, name=by.title(), text=position, stances=(Stance(issue=issue, position=position),)
        )
    return found


def group(*held: tuple[str, str]) -> tuple[HeldPosition, ...]:
    return tuple(HeldPosition(issue=issue, position=position) for issue, position in held)


THREE = debate(("maya", QUEUE, ON_DEVICE), ("alex", STORE, LOCAL), ("jordan", WAIT, PHONE))
ALL = StanceGroups(
    issues=((QUEUE, STORE, WAIT),), positions=(group((QUEUE, ON_DEVICE), (STORE, LOCAL), (WAIT, PHONE)),)
)


def grouped(found: Elaboration, given: StanceGroups) -> Elaboration:
    return found.but(groups=grouping.checked(given, found).groups)


def test_one_issue_with_three_names_is_one() -> None:
    together = grouped(THREE, ALL)
    found = grouping.normalized(together)

    assert not positions.is_unanimous(THREE)
    assert positions.is_unanimous(found)
    ((side,),) = positions.sides(found).values()
    assert (side.position, side.holders) == (ON_DEVICE, ("maya", "alex", "jordan"))
    assert together.turns == THREE.turns


def test_an_issue_that_is_one_may_show_that_they_disagree() -> None:
    """By rules alone two agree, and the third speaks of something else."""
    found = debate(("maya", QUEUE, ON_DEVICE), ("alex", QUEUE, ON_DEVICE), ("jordan", WAIT, "the server"))

    assert positions.is_unanimous(found)
    assert not positions.is_unanimous(
        grouping.normalized(grouped(found, StanceGroups(issues=((QUEUE, WAIT),))))
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("keep them 14 days", "keep them 30 days"),
        ("ship on Friday", "do not ship on Friday"),
        ("yes", "No, not before the audit"),
        ("Redis", "Postgres"),
        ("a bucket in Redis", "a bucket in SQLite"),
        ("ship on Friday", "ship on Monday"),
        ("the export is public", "the export is private"),
        ("option A", "option B"),
        ("ship on Friday", "ship on Friday unless legal objects"),
        ("guests may export", "guests may export if they have signed"),
    ],
)
def test_what_rules_see_opposed_is_never_united(one: str, other: str) -> None:
    options = tuple(BoardOption(letter=letter, text=text) for letter, text in (("A", "x1"), ("B", "y1")))
    found = debate(("maya", QUEUE, one), ("alex", QUEUE, other)).but(options=options)
    given = StanceGroups(positions=(group((QUEUE, one), (QUEUE, other)),))
    checked = grouping.checked(given, found)

    assert checked.groups == StanceGroups()
    assert checked.ignored == ({"group": [one, other], "why": grouping.OPPOSED},)
    assert not grouping.is_worth_asking(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ON_DEVICE, LOCAL),
        ("keep them two weeks", "they are kept for 14 days"),
        ("token bucket per gateway", "each gateway has its own token bucket"),
        ("SQLite on the phone", "a database on the phone"),
        ("No server needed", "works without a server"),
        ("one year", "12 months"),
    ],
)
def test_other_words_for_the_same_are_united(one: str, other: str) -> None:
    found = debate(("maya", QUEUE, one), ("alex", QUEUE, other))

    assert grouping.is_worth_asking(found)
    assert positions.is_unanimous(
        grouping.normalized(grouped(found, StanceGroups(positions=(group((QUEUE, one), (QUEUE, other)),))))
    )


def test_options_between_which_people_choose_are_not_one() -> None:
    found = debate(("maya", QUEUE, ON_DEVICE), ("alex", QUEUE, LOCAL))
    found = board.with_persona_options(found)
    found = found.but(
        stands=(
            PersonStand(by="ada", name="Ada", option="A", issue=QUEUE),
            PersonStand(by="grace", name="Grace", option="B", issue=QUEUE),
        )
    )
    given = StanceGroups(positions=(group((QUEUE, ON_DEVICE), (QUEUE, LOCAL)),))

    assert grouping.checked(given, found).groups == StanceGroups()
    shown = {one.held.position: one.by for one in grouping.compared(found)}
    assert shown == {ON_DEVICE: ("Maya", "Ada"), LOCAL: ("Alex", "Grace")}


def test_what_nobody_said_is_in_no_group() -> None:
    given = StanceGroups(
        issues=((QUEUE, "Money"),), positions=(group((QUEUE, ON_DEVICE), (QUEUE, "a file")),)
    )
    checked = grouping.checked(given, THREE)

    assert checked.groups == StanceGroups()
    assert [one["why"] for one in checked.ignored] == [grouping.UNKNOWN] * 2


def test_issues_that_a_persona_tells_apart_stay_apart() -> None:
    found = THREE.spoken(
        by="alex",
        name="Alex",
        text="Two questions.",
        stances=(Stance(issue=QUEUE, position=ON_DEVICE), Stance(issue=WAIT, position="the server")),
    )

    assert grouping.checked(ALL, found).groups.issues == ()


def test_yes_to_another_question_is_no_agreement() -> None:
    found = debate(("maya", "Ship on time?", "yes"), ("alex", "Take longer?", "yes"))
    given = StanceGroups(issues=(("Ship on time?", "Take longer?"),))

    assert grouping.checked(given, found).ignored == (
        {"group": ["Ship on time?", "Take longer?"], "why": grouping.BARE},
    )


@pytest.mark.parametrize(
    "found",
    [
        debate(("maya", QUEUE, ON_DEVICE)),
        debate(("maya", QUEUE, ON_DEVICE), ("alex", QUEUE, ON_DEVICE.upper())),
        debate(("maya", QUEUE, "14 days"), ("alex", QUEUE, "30 days")),
        debate(),
    ],
)
def test_nobody_is_asked_where_rules_know(found: Elaboration) -> None:
    assert not grouping.is_worth_asking(found)


def test_giving_in_under_another_name_is_a_collapse() -> None:
    found = debate(
        ("maya", QUEUE, ON_DEVICE),
        ("alex", STORE, "the server"),
        ("alex", WAIT, PHONE),
        first_round=2,
    )
    given = StanceGroups(
        issues=((QUEUE, STORE, WAIT),), positions=(group((QUEUE, ON_DEVICE), (WAIT, PHONE)),)
    )

    assert list(quality.collapsed(found)) == []
    assert list(quality.collapsed(grouped(found, given))) == [QUEUE]


def test_what_is_in_two_groups_is_in_the_first() -> None:
    twice = StanceGroups(
        issues=((QUEUE, STORE), (STORE, WAIT)),
        positions=(group((QUEUE, ON_DEVICE), (STORE, LOCAL)), group((STORE, LOCAL), (WAIT, PHONE))),
    )
    checked = grouping.checked(twice, THREE).groups

    assert checked.issues == ((QUEUE, STORE),)
    assert checked.positions == (group((QUEUE, ON_DEVICE), (STORE, LOCAL)),)
