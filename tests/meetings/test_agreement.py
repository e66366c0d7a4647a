"""Agreement in the first round is the weakest of signs: once, somebody is asked what speaks against it."""

from tests.domain.table import Contribution
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    PASS,
    Said,
    Script,
    fair,
    played,
    says,
)

REDIS, SQLITE = "Redis", "SQLite"
AGREED = {
    MAYA: [says("Where do edits wait?", REDIS)],
    ALEX: [says("Redis is fast.", REDIS, "t01")],
    JORDAN: [says("Redis has an interface.", REDIS, "t01")],
}
ASKED = (
    "We all agree so far, and nobody has looked for what speaks against it. Alex, what is the strongest case against "
    "Redis?"
)


def challenged(*answers: Contribution) -> Script:
    return Script({**AGREED, ALEX: [*AGREED[ALEX], *answers]}, [DONE], [fair("t02")])


AGAINST = says("In a tunnel there is no server.", REDIS, "t03")


def test_a_unanimous_first_round_gets_exactly_one_challenge() -> None:
    """One named persona, asked by the lead, once; then the floor is the people's."""
    meeting = played(challenged(AGAINST)._replace(people=[GO_ON, DONE]))

    assert meeting.texts.count(ASKED) == 1
    assert [line.actor for line in meeting.turns()] == [
        "BusinessAnalyst",
        "SolutionsArchitect",
        "SystemDesigner"
        if "SystemDesigner" in {line.actor for line in meeting.turns()}
        else "InterfaceDesigner",
        "SolutionsArchitect",
    ]


def test_agreement_that_was_challenged_is_no_collapse() -> None:
    """Somebody looked, and it held."""
    assert played(challenged(AGAINST)).card["collapsed"] == []


def test_agreement_whose_challenger_passes_is_one() -> None:
    """Being asked is not having looked."""
    meeting = played(challenged(PASS))

    assert ASKED in meeting.texts
    assert meeting.card["collapsed"] == ["storage"]
    assert "agreed too easily on storage" in meeting.shown.note


def test_a_challenge_never_goes_beyond_the_limit() -> None:
    """Where the first round is all there is, nobody is asked, and the card says what that is worth."""
    meeting = played(challenged(AGAINST)._replace(people=[], max_turns=3))

    assert ASKED not in meeting.texts
    assert meeting.card["turns"] == 3
    assert meeting.card["collapsed"] == ["storage"]


def test_the_challenge_can_be_the_last_turn() -> None:
    """It counts like any other."""
    meeting = played(challenged(AGAINST)._replace(people=[], max_turns=4))

    assert (meeting.card["turns"], meeting.card["collapsed"]) == (4, [])


def test_who_disagrees_already_needs_no_challenge() -> None:
    """One other position is enough."""
    meeting = played(Script({**AGREED, JORDAN: [says("A file will do.", SQLITE)]}, [DONE]))

    assert not any("strongest case against" in text for text in meeting.texts)
    assert meeting.card["collapsed"] == []


def test_agreement_is_by_name_and_not_by_sound() -> None:
    """The same words in other letters are the same; words that only resemble them are another position."""
    same = {**AGREED, JORDAN: [says("Yes.", "  redis ")]}
    other = {**AGREED, JORDAN: [says("Yes.", "Redis, sort of")]}

    assert ASKED in played(Script(same)).texts
    assert ASKED not in played(Script(other)).texts


def test_personas_on_different_matters_agree_on_nothing() -> None:
    """Two on one issue, at least."""
    apart = {
        MAYA: [says("Why?", "yes", issue="a")],
        ALEX: [says("How?", "yes", issue="b")],
        JORDAN: [says("What?", "yes", issue="c")],
    }

    assert not any("strongest case" in text for text in played(Script(apart, [DONE])).texts)


def test_without_records_nobody_is_challenged() -> None:
    """A text alone is no position."""
    silent = {key: [one._replace(stances=()) for one in said] for key, said in AGREED.items()}
    meeting = played(Script(silent, [Said("Fine."), DONE]))

    assert ASKED not in meeting.texts
    assert "collapsed" not in meeting.card
