"""The first round is blind: those who do not lead answer the framing without hearing each other."""

from typing import NamedTuple

import pytest

from bot.domain.discussion import positions
from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.message import Action
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import VoiceContext
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.blind import visible_to
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
        while pending := table.rt.next_effect:
            if isinstance(pending, Speak):
                cue = VoiceContext(table.rt, table.playbook, pending.persona)
                speech = await (voices.frame(cue) if pending.task == "frame" else voices.respond(cue))
                asked.setdefault(pending.persona, []).append(mind.asked[-1])
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
    return [turn.text for turn in visible_to(rt.debate, persona)]


def test_people_are_always_heard() -> None:
    """Somebody who speaks up in the first round speaks to everybody."""
    rt = debating(FRAMED, ALEXS, (ADA, "ada-spoke"))

    assert heard(rt, JORDAN) == ["framed", "ada-spoke"]


def test_the_lead_hears_everybody() -> None:
    """It has framed the question, and goes on from all answers."""
    assert heard(debating(FRAMED, ALEXS, JORDANS), MAYA) == ["framed", "alex-first", "jordan-first"]


def test_who_was_silent_in_the_first_round_is_not_deaf_in_the_next() -> None:
    """Having passed is having had a turn."""
    assert heard(debating(FRAMED, ALEXS, had_floor={JORDAN: 2}), JORDAN) == ["framed", "alex-first"]
    assert heard(debating(FRAMED, ALEXS, first_round=2), JORDAN) == ["framed", "alex-first"]


def test_when_the_lead_has_spoken_again_the_first_round_is_over() -> None:
    """Or anybody else has."""
    assert not debating(FRAMED, ALEXS, (ADA, "?"), (MAYA, "again")).debate.is_blind(JORDAN)
    assert not debating(FRAMED, ALEXS, (ADA, "?"), (ALEX, "again")).debate.is_blind(JORDAN)
    assert debating(FRAMED, ALEXS).debate.is_blind(JORDAN)


def test_whoever_never_had_a_turn_in_it_is_not_deaf_afterwards() -> None:
    """People had the floor since, or stopped and came back: what was said is there for everybody to read."""
    assert heard(debating(FRAMED, ALEXS, (ADA, "And you?"), first_round=2), JORDAN)[1] == "alex-first"
    assert heard(debating(FRAMED, ALEXS, (ADA, "And you?"), resumed=True), JORDAN)[1] == "alex-first"
    assert (
        "alex-first"
        in tasks.respond(
            scene(JORDAN), debating(FRAMED, ALEXS, (ADA, "Jordan, and you?"), first_round=2).debate
        ).moving
    )


def test_a_person_who_speaks_in_the_first_round_is_answered_in_it() -> None:
    """Still blind to the others, and not deaf to people."""
    prompt = tasks.respond(
        scene(JORDAN), debating(FRAMED, ALEXS, (ADA, "Jordan, and offline?")).debate
    ).moving

    assert "This is the first round." in prompt
    assert "Turn t03, by a person, speaks to you by name." in prompt
    assert "alex-first" not in prompt


class Heard(NamedTuple):
    """A meeting in which every contribution has a word of its own, and everybody's prompts are captured."""

    table: Table
    asked: dict[str, list[Prompt]]


def held(*people: str, stop_after: int = 0) -> Heard:
    """The first round, in which people say something after each persona; *stop_after* so many turns, and resume."""
    table = Table(shipped()).start().do_step().stop_paying().press(Action.ELABORATE)
    table.pay_until(lambda rt: rt.elaboration is not None)
    asked: dict[str, list[Prompt]] = {}
    said = iter(people)

    def speech(speak: Speak, rt: Roundtable) -> str:
        make = tasks.frame if speak.task == "frame" else tasks.respond
        owner = Scene(rt, table.playbook, table.playbook.roster[speak.persona], {})
        asked.setdefault(speak.persona, []).append(make(owner, rt.debate))
        return f"contribution-{rt.debate.turn_count + 1}"

    table.world.speech = speech
    while table.rt.next_effect:
        before = table.rt.debate.turn_count
        table.pay_one()
        if table.rt.debate.turn_count == before:
            continue
        if table.rt.debate.turn_count == stop_after:
            table.stop().pay_until(lambda rt: not rt.outbox).resume()
        elif text := next(said, ""):
            table.say(text, who="grace")
    return Heard(table, asked)


@pytest.mark.parametrize("people", [(), ("And the cost?",), ("And the cost?", "Jordan, and errors?")])
def test_what_a_prompt_holds_is_what_the_record_says_was_known(people: tuple[str, ...]) -> None:
    """Byte for byte, whenever people interrupt: a change of position is held against the very same turns."""
    table, asked = held(*people)
    debate = table.rt.debate

    for persona, prompts in asked.items():
        own = [number for number, turn in enumerate(debate.turns) if turn.by == persona]
        for number, prompt in zip(own, prompts, strict=True):
            shown = {turn.id for turn in debate.turns if f"> {turn.text}\n" in f"{prompt.moving}\n"}
            known = positions.heard(debate.turns[:number], debate.lead, blind=debate.turns[number].blind)
            assert shown == {one.id for one in known}
    assert [turn.by for turn in debate.turns if turn.blind] == [ALEX, JORDAN]


def test_a_first_round_that_people_stopped_is_not_blind_any_more() -> None:
    """They have read it, and ask about it."""
    table, asked = held(stop_after=2)
    table.say("Jordan, what do you make of that?").pay_until(lambda rt: not rt.outbox)

    assert "contribution-2" in asked[JORDAN][0].moving
    assert not any(turn.blind for turn in table.rt.debate.turns if turn.by == JORDAN)


def test_blindness_is_no_secret_to_the_scene() -> None:
    """The turn it would be is the one it is: ids that were not read do not shift."""
    prompt = tasks.respond(Scene(*scene(JORDAN)), debating(FRAMED, ALEXS).debate)

    assert "This is turn 3 of at most" in prompt.moving
    assert "[t01] Maya" in prompt.moving
    assert "[t02]" not in prompt.moving
