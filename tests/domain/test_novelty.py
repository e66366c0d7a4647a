"""Personas stop where they say nothing new: the card says why and proposes to end; people are never cut off."""

from bot.domain.discussion import novelty
from bot.domain.discussion.elaboration import Elaboration, Stance, Turn
from bot.domain.discussion.novelty import SpentReason
from bot.domain.messages import discussion_wording as wording
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
ARGUMENT = "A queue on the device keeps every edit in order until the tunnel ends again"
ECHO = "The queue on the device keeps every edit in order until the tunnel ends"
OTHER = "Customs officers seize phones at borders, which loses whatever was stored there"


def debate(*said: tuple[str, str], first_round: int = 3, **more: object) -> Elaboration:
    turns = tuple(
        Turn(id=f"t{number:02}", by=by, name=by, text=text, human=by == "ada")
        for number, (by, text) in enumerate(said, start=1)
    )
    given = {"step_id": "00-01", "lead": MAYA, "topic": "Scope", "max_turns": 20, "first_round": first_round}
    return Elaboration.model_validate({**given, "turns": turns, **more})


ROUND = ((MAYA, ARGUMENT), (ALEX, "Gateways drop what they cannot send"), (JORDAN, "An interface for both"))


def test_two_turns_without_anything_new_are_enough() -> None:
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO), (JORDAN, ECHO))) is SpentReason.NOTHING_NEW
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO))) is None


def test_an_argument_or_a_number_is_new() -> None:
    """Whoever brings it, and in the first turn of a persona whatever it says."""
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO), (JORDAN, OTHER))) is None
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO), (JORDAN, f"{ECHO}, 40 times a day"))) is None
    assert novelty.adds(debate((MAYA, ARGUMENT), (ALEX, ECHO)), 1)


def test_what_people_say_begins_it_anew() -> None:
    echoes = (ALEX, ECHO), (JORDAN, ECHO)

    assert novelty.spent(debate(*ROUND, *echoes, ("ada", ECHO))) is None
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO), ("ada", "And?"), (JORDAN, ECHO))) is None


def test_a_first_round_is_never_cut() -> None:
    assert novelty.spent(debate(*ROUND, (ALEX, ECHO), (JORDAN, ECHO), first_round=0)) is None


def test_a_stance_says_more_than_words() -> None:
    """The same position is nothing new in whatever words; another one is."""
    held = Stance(issue="Where", position="a queue")
    turns = [turn.but(stances=(held,)) for turn in debate(*ROUND, (ALEX, OTHER), (JORDAN, OTHER)).turns]
    same = debate().but(turns=tuple(turns))
    moved = same.but(turns=(*turns[:-1], turns[-1].but(stances=(held.but(position="a file"),))))

    assert novelty.spent(same) is SpentReason.NOTHING_NEW
    assert novelty.spent(moved) is None


def test_the_same_words_again_are_a_repetition_without_a_stance() -> None:
    assert novelty.repeats_itself(debate((MAYA, ARGUMENT), (ALEX, ARGUMENT), (ALEX, ECHO)))
    assert not novelty.repeats_itself(debate((MAYA, ARGUMENT), (ALEX, ECHO)))
    assert not novelty.repeats_itself(debate((ALEX, ARGUMENT), ("ada", "Say it again"), (ALEX, ECHO)))


def going_on() -> Table:
    """The personas were let go on, and say what another one has said."""
    own = {
        MAYA: ARGUMENT,
        ALEX: f"{OTHER} for a month",
        JORDAN: "Nothing else keeps order on trains and ferries",
    }
    others = {MAYA: own[JORDAN], ALEX: own[MAYA], JORDAN: own[ALEX]}

    def speech(speak: Speak, rt: Roundtable) -> str:
        spoke = {turn.by for turn in rt.debate.turns} if rt.elaboration else set()
        return others[speak.persona] if speak.persona in spoke else own[speak.persona]

    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": 20})
    table.world.speech = speech
    return table.elaborate().press(Action.GO_ON)


def test_the_card_says_why_the_personas_stop() -> None:
    """The record, too; the buttons to end, to decide and to go on are there as before."""
    table = going_on()
    sentence = wording.SPENT[SpentReason.NOTHING_NEW]

    assert sentence in table.discussion.text
    assert [line.content for line in table.rt.lines if line.content == sentence] == [sentence]
    assert {Action.END_ELABORATION, Action.GO_ON} <= {one.action for one in table.menu.message.offered}


def test_a_person_who_speaks_is_answered_as_before() -> None:
    table = going_on()
    before = table.rt.debate.turn_count
    table.say("What about ferries without any crew on board?")

    assert wording.SPENT[SpentReason.NOTHING_NEW] not in table.discussion.text
    assert table.rt.debate.turn_count == before + 2


def test_agreement_that_was_challenged_is_said_on_the_card() -> None:
    """Unchallenged it never is: first one of them makes the case against it."""
    table = Table(few_steps()).start()
    held = Stance(issue="Where", position="a queue")
    table.world.speech = lambda speak, rt: Contribution(
        OTHER if rt.elaboration and rt.debate.is_challenging(speak.persona) else f"{speak.persona}: a queue.",
        (held,),
    )
    table.elaborate()

    assert table.rt.debate.challenged
    assert wording.SPENT[SpentReason.AGREED] in table.discussion.text


def test_an_echo_is_no_challenge() -> None:
    """The next persona is asked instead; whom one agrees with is no argument."""
    table = Table(few_steps()).start()
    held = Stance(issue="Where", position="a queue")
    table.world.speech = lambda _speak, _rt: Contribution(ARGUMENT, (held,))
    table.elaborate()

    assert not table.rt.debate.challenged
    assert len(table.rt.debate.challengers) == 2
    assert wording.SPENT[SpentReason.AGREED] not in table.discussion.text
