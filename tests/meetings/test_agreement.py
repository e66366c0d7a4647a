"""Agreement in the first round is the weakest of signs: once, somebody is asked what speaks against it."""

from bot.domain.messages.message import Action
from bot.domain.roundtable.outcomes import PersonaSpoke
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    PASS,
    Played,
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
    "We all agree so far. We have not looked for arguments against it. Alex, what is the strongest case against "
    "Redis?"
)


def challenged(*answers: Contribution) -> Script:
    return Script({**AGREED, ALEX: [*AGREED[ALEX], *answers]}, [DONE], [fair("t02")])


AGAINST = says("In a tunnel there is no server.", REDIS, "t03")
STANDS_STILL = says("It would be wrong in a tunnel; and yet.", REDIS, "t01")
INSTEAD = "Then Jordan: what is the strongest case against Redis?"


def challenges(meeting: Played) -> list[str]:
    """The turns that spoke against what all agreed on, as the record marks them."""
    return [line.meta["turn_id"] for line in meeting.turns() if line.meta.get("challenge")]


def agreeing(*challenge: Contribution) -> Table:
    """All have agreed, Alex is asked for the case against it, and has not answered yet."""
    table = Table(few_steps()).start()
    script = challenged(*challenge)
    table.world.speech = lambda speak, rt: script.contribution(speak.persona, rt)
    table.do_step().stop_paying().press(Action.ELABORATE)
    return table.pay_until(lambda rt: bool(rt.elaboration and rt.debate.challenger)).pay_up_to("speak")


def of_the_table(table: Table) -> Played:
    return Played(tuple(said.message for said in table.world.thread), table.lines)


def test_a_unanimous_first_round_gets_exactly_one_challenge() -> None:
    """One named persona, asked by the lead, once; then the floor is the people's."""
    meeting = played(challenged(AGAINST)._replace(people=[GO_ON, DONE]))

    assert meeting.texts.count(ASKED) == 1
    assert [line.actor for line in meeting.turns()] == [
        "BusinessAnalyst",
        "SolutionsArchitect",
        "InterfaceDesigner",
        "SolutionsArchitect",
    ]
    assert challenges(meeting) == ["t04"]


def test_agreement_that_was_challenged_is_no_collapse() -> None:
    """Somebody looked, and it held."""
    assert played(challenged(AGAINST)).card["collapsed"] == []


def test_agreement_whose_challenger_passes_is_one() -> None:
    """Being asked is not having looked."""
    meeting = played(challenged(PASS))

    assert ASKED in meeting.texts
    assert challenges(meeting) == []
    assert meeting.card["collapsed"] == ["storage"]
    assert "agreed too easily on storage" in meeting.shown.note


def test_where_one_passes_the_other_is_asked() -> None:
    """Each of them once: there is one challenge, if there is anybody who makes it."""
    jordan = [*AGREED[JORDAN], says("And who pays for the server?", REDIS, "t02")]
    meeting = played(challenged(PASS)._replace(personas={**challenged(PASS).personas, JORDAN: jordan}))

    assert [meeting.texts.count(asked) for asked in (ASKED, INSTEAD)] == [1, 1]
    assert challenges(meeting) == ["t04"]
    assert meeting.card["collapsed"] == []


def test_nobody_is_asked_twice() -> None:
    """When all of them pass, the floor is the people's, and the card says what the agreement is worth."""
    meeting = played(challenged(PASS)._replace(people=[GO_ON, DONE]))

    assert [meeting.texts.count(asked) for asked in (ASKED, INSTEAD)] == [1, 1]
    assert meeting.card["collapsed"] == ["storage"]


def test_who_passed_at_another_time_has_challenged_all_the_same() -> None:
    """What counts is what was said when it was asked for."""
    meeting = played(challenged(AGAINST)._replace(people=[GO_ON, GO_ON, DONE]))
    passed = [line.meta["persona"] for line in meeting.lines if line.meta.get("pass")]

    assert ALEX in passed
    assert meeting.card["collapsed"] == []


def test_who_makes_the_case_and_stands_by_it_repeats_nothing() -> None:
    """It was asked to look again; that it stays is worth knowing, and no circle."""
    meeting = played(challenged(STANDS_STILL))

    assert not any("makes the same point" in text for text in meeting.texts)
    assert "repeats" not in meeting.turns()[-1].meta
    assert meeting.card["collapsed"] == []


def test_the_challenge_is_one_whenever_the_bot_dies() -> None:
    """Right after it was asked, and right after it was answered: one question, one turn."""
    table = agreeing(AGAINST)
    for _ in range(2):
        table.restart()
    table.resume_paying().restart().say("done")
    meeting = of_the_table(table)

    assert meeting.texts.count(ASKED) == 1
    assert challenges(meeting) == ["t04"]


def test_a_late_answer_of_the_same_attempt_is_no_second_challenge() -> None:
    """Who died after the model had answered asks again, and the outcome of both is one turn."""
    table = agreeing(AGAINST)
    pending = table.rt.outbox[0]
    table.resume_paying()
    again = table.decided(
        PersonaSpoke(key=pending.id, at=table.now(), effect=pending.id, persona=ALEX, text="In a tunnel …")
    )

    assert again is table.rt
    assert challenges(of_the_table(table)) == ["t04"]


def test_a_challenge_that_people_stopped_comes_when_they_are_back() -> None:
    """Once: it was asked for, and nobody had answered."""
    table = agreeing(AGAINST).stop().resume_paying().resume().say("Maya, where were we?").say("done")
    meeting = of_the_table(table)

    assert len(challenges(meeting)) == 1
    assert meeting.card["collapsed"] == []


def test_a_challenge_that_no_model_makes_is_none() -> None:
    """Whoever speaks without the model asks people; nobody has looked for what speaks against it."""
    table = agreeing().fail("speak", "unavailable", times=2)
    table.world.speech = lambda *_: Contribution("What would be a reason against it?")
    meeting = of_the_table(table.resume_paying().say("done"))

    assert table.rt.unaided
    assert "What would be a reason against it?" in meeting.texts
    assert challenges(meeting) == []
    assert meeting.card["collapsed"] == ["storage"]


def test_a_challenge_that_fails_is_the_next_one_s() -> None:
    """An error is no case against anything."""
    table = agreeing().fail("speak", "empty")
    table.world.speech = lambda *_: says("And who pays for the server?", REDIS, "t02")
    meeting = of_the_table(table.resume_paying().say("done"))

    assert INSTEAD in meeting.texts
    assert [line.actor for line in meeting.turns() if line.meta.get("challenge")] == ["InterfaceDesigner"]


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
    assert challenges(meeting) == ["t04"]


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
