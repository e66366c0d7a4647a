"""The first round is blind: those who do not lead answer the framing without hearing each other."""

from bot.domain.effects import Speak
from bot.domain.message import Action
from bot.domain.roundtable import Roundtable
from bot.domain.stance import Stance
from bot.engine.voice_ports import Cue
from bot.voices.mind import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.blind import heard_by, is_blind
from bot.voices.prompts.scene import Scene
from tests.domain.table import Table, shipped
from tests.voices.minds import ScriptedMind, debating, record, thinking, whole
from tests.voices.people import ADA, ALEX, JORDAN, MAYA
from tests.voices.prompts.kept import scene

FRAMED, ALEXS, JORDANS = (MAYA, "framed"), (ALEX, "alex-first"), (JORDAN, "jordan-first")


async def meeting() -> dict[str, list[Prompt]]:
    """A framing, the first round, and one in which they go on: what each was asked, as the engine asks it."""
    mind = ScriptedMind(script=lambda _: record(f"contribution-{len(mind.asked)}"))
    voices = thinking(mind)
    table = Table(shipped()).start().do_step().stop_paying().press(Action.ELABORATE)
    asked: dict[str, list[Prompt]] = {}
    for _ in range(2):
        while owed := table.rt.next_effect:
            if isinstance(owed, Speak):
                cue = Cue(table.rt, table.playbook, owed.persona)
                speech = await (voices.frame(cue) if owed.task == "frame" else voices.respond(cue))
                asked.setdefault(owed.persona, []).append(mind.asked[-1])
                table.world.speech = lambda *_, text=speech.text: text
            table.pay_one()
        if table.rt.menu and table.rt.debate.turn_count == 3:
            table.press(Action.GO_ON)
    return asked


async def test_nobody_reads_the_other_in_the_first_round() -> None:
    """Byte for byte: what the one said is in no part of what the other was asked, and the framing is."""
    asked = await meeting()
    first = {persona: whole(prompts[0]) for persona, prompts in asked.items()}

    assert "contribution-1" in first[ALEX]
    assert "contribution-1" in first[JORDAN]
    assert "contribution-2" not in first[JORDAN]
    assert "contribution-3" not in first[ALEX]
    assert "without reading each other" in first[JORDAN]


async def test_after_the_first_round_everybody_reads_everybody() -> None:
    """It is a discussion from then on."""
    asked = await meeting()
    later = [whole(prompts[1]) for prompts in asked.values() if len(prompts) > 1]

    assert len(later) == 2
    assert all(f"contribution-{number}" in text for text in later for number in (1, 2, 3))


def test_the_prompt_of_the_second_is_the_same_whatever_the_first_said() -> None:
    """Also the positions that the first took, and how much it said."""
    stance = Stance(issue="queue", position="one for each device")

    def asked(text: str, *stances: Stance) -> str:
        debate = debating(FRAMED, (ALEX, text)).debate
        turns = (debate.turns[0], debate.turns[1].but(stances=stances))
        return whole(tasks.respond(scene(JORDAN), debate.but(turns=turns)))

    assert asked("A queue.", stance) == asked("Something else entirely. " * 50)


def heard(rt: Roundtable, persona: str) -> list[str]:
    return [turn.text for turn in heard_by(rt.debate, persona)]


def test_people_are_always_heard() -> None:
    """Somebody who speaks up in the first round speaks to everybody."""
    rt = debating(FRAMED, ALEXS, (ADA, "ada-spoke"))

    assert heard(rt, JORDAN) == ["framed", "ada-spoke"]


def test_the_lead_hears_everybody() -> None:
    """It has framed the question, and goes on from all answers."""
    assert heard(debating(FRAMED, ALEXS, JORDANS), MAYA) == ["framed", "alex-first", "jordan-first"]


def test_who_was_silent_in_the_first_round_is_not_deaf_in_the_next() -> None:
    """Having passed is having had a turn."""
    assert heard(debating(FRAMED, ALEXS, unheard=(JORDAN,)), JORDAN) == ["framed", "alex-first"]
    assert heard(debating(FRAMED, ALEXS, silent_rounds=1), JORDAN) == ["framed", "alex-first"]


def test_when_the_lead_has_spoken_again_the_first_round_is_over() -> None:
    """Or anybody else has."""
    assert not is_blind(debating(FRAMED, ALEXS, (ADA, "?"), (MAYA, "again")).debate, JORDAN)
    assert not is_blind(debating(FRAMED, ALEXS, (ADA, "?"), (ALEX, "again")).debate, JORDAN)
    assert is_blind(debating(FRAMED, ALEXS).debate, JORDAN)


def test_blindness_is_no_secret_to_the_scene() -> None:
    """The turn it would be is the one it is: ids that were not read do not shift."""
    prompt = tasks.respond(Scene(*scene(JORDAN)), debating(FRAMED, ALEXS).debate)

    assert "Turn 3 of at most" in prompt.moving
    assert "[t01] Maya" in prompt.moving
    assert "[t02]" not in prompt.moving
