"""Who speaks next is decided by code: addressed, asked, unheard, the lead, then whoever was silent longest."""

from bot.domain.catalog.personas import Roster
from bot.domain.discussion import floor
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from tests.domain.books import few_steps
from tests.domain.table import Table, shipped

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
NAMES = {MAYA: "Maya", ALEX: "Alex", JORDAN: "Jordan"}
ROSTER: Roster = shipped().roster


def debate(*said: tuple[str, str], **more: object) -> Elaboration:
    """Who said what, in order; whoever is no persona is a person."""
    turns = tuple(
        Turn(id=f"t{number:02}", by=by, name=NAMES.get(by, by), text=text, human=by not in NAMES)
        for number, (by, text) in enumerate(said, start=1)
    )
    given: dict[str, object] = {"step_id": "00-01", "lead": MAYA, "topic": "Scope", "max_turns": 10}
    return Elaboration.model_validate({**given, "turns": turns, **more})


def answers(held: Elaboration, text: str) -> tuple[str, ...]:
    return floor.answering(held, ROSTER, ROSTER.addressed(text, lead=MAYA))


ROUND = ((MAYA, "What is it?"), (ALEX, "A queue."), (JORDAN, "An interface."))


def test_who_is_addressed_comes_before_everybody() -> None:
    """Also before somebody who was asked and has not answered."""
    held = debate(*ROUND, (MAYA, "Jordan, which one?"))

    assert answers(held, "Alex, what about it?") == (ALEX,)
    assert answers(held, "everyone, thoughts?") == (MAYA, ALEX, JORDAN)


def test_who_was_asked_comes_before_the_lead() -> None:
    """A colleague's question is answered before the talk goes elsewhere; who was asked first comes first."""
    held = debate(*ROUND, (MAYA, "Jordan, which one?"), (ALEX, "Maya, for whom?"))

    assert answers(held, "Good question.") == (JORDAN,)
    assert floor.going_on(held, ROSTER, 2) == (JORDAN, MAYA)


def test_who_has_answered_is_not_asked_any_more() -> None:
    """Nor is who had the floor for it and passed."""
    answered = debate(*ROUND, (MAYA, "Jordan, which one?"), (JORDAN, "This one."))
    passed = debate(*ROUND, (MAYA, "Jordan, which one?"), had_floor={JORDAN: 4})

    assert answers(answered, "I see.") == answers(passed, "I see.") == (MAYA,)


def test_whoever_was_never_heard_comes_before_the_lead() -> None:
    """Somebody who joined later, or whose turn got lost with a pause."""
    held = debate(*ROUND[:2])

    assert answers(held, "I see.") == (JORDAN,)
    assert floor.going_on(held, ROSTER, 2) == (JORDAN, MAYA)


def test_who_passed_was_heard() -> None:
    """Otherwise a silent persona would stand between people and everybody else."""
    assert answers(debate(*ROUND[:2], had_floor={JORDAN: 2}), "I see.") == (MAYA,)


def test_speaking_about_somebody_asks_nobody() -> None:
    """Only an address is a question to somebody."""
    assert answers(debate(*ROUND, (ALEX, "Jordan's point is good.")), "I see.") == (MAYA,)


def test_who_was_silent_longest_goes_on() -> None:
    """When nobody has to be answered, nobody leads."""
    assert floor.going_on(debate(*ROUND), ROSTER, 2) == (MAYA, ALEX)
    assert floor.going_on(debate(*ROUND, (MAYA, "Hm."), (ALEX, "Hm.")), ROSTER, 2) == (JORDAN, MAYA)


def test_nobody_is_asked_who_waits_already() -> None:
    """They have the floor anyway."""
    held = debate(*ROUND, (MAYA, "Jordan, which one?"), waiting=(JORDAN,))

    assert answers(held, "I see.") == (MAYA,)


def test_the_same_transcript_gives_the_same_speakers() -> None:
    """Also in another process."""

    def speech(speak: Speak, rt: Roundtable) -> str:
        return f"{len(rt.lines)}: {NAMES[speak.persona]} here. Jordan, what do you think?"

    def speakers(*, restarted: bool) -> list[str]:
        table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 20})
        table.world.speech = speech
        table.elaborate()
        for text in ("I see.", "Why?", "Alex, how?"):
            table = table.restart() if restarted else table
            table.say(text)
        return [turn.by for turn in table.press(Action.GO_ON).rt.debate.turns]

    assert speakers(restarted=True) == speakers(restarted=False)
    assert len(speakers(restarted=True)) > len(ROUND)
