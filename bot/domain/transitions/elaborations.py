"""
The discussion of a finished step: framed by the lead, bounded in turns, ended by people or by the limit.

Nothing in here moves the step: whatever happens, the same menu follows.
"""

from typing import Any

from bot.domain import elaboration_wording, floor, menus, safety_wording, stance_wording, wording, words
from bot.domain.agenda import Playbook, Step
from bot.domain.effects import React, Speak, Synthesize
from bot.domain.elaboration import Elaboration, Ending
from bot.domain.inputs import Press, Say
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.outcomes import PersonaSpoke
from bot.domain.persona import AddressKind
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import (
    asking,
    belated,
    disagreements,
    hush,
    passing,
    pausing,
    queueing,
    records,
    syntheses,
)
from bot.domain.transitions.naming import named_first, other_step, own_words
from bot.domain.transitions.reporting import report
from bot.domain.transitions.sayings import Saying, going_on, lead_of, told

PERSONAS_GOING_ON = 2
HEARD = "speech_balloon"
LAST_WORDS = {
    Ending.TURN_LIMIT: elaboration_wording.limit_reached,
    Ending.BY_PEOPLE: elaboration_wording.wrapping_up,
    Ending.BUDGET: safety_wording.used_up_in_a_discussion,
}


# --- opening ------------------------------------------------------------------------------------------------------


def begin(rt: Roundtable, playbook: Playbook, *, from_phase_menu: bool) -> Roundtable:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        kind = MenuKind.PHASE if from_phase_menu else MenuKind.STEP
        return asking.menu(report(rt, [trouble("ERR-ELAB-001")]), playbook, "", kind=kind)

    lead, unknown = playbook.roster.lead_of(rt.phase_key)
    topic = _topic(step, playbook, whole_phase=from_phase_menu)
    debate = Elaboration(
        step_id=step.step_id,
        lead=lead.key,
        topic=topic,
        max_turns=rt.max_turns,
        from_phase_menu=from_phase_menu,
    )
    rt = rt.but(stage=Stage.ELABORATING, elaboration=debate).opening_round(Part.WORKSHOP)
    if unknown:
        rt = rt.logging(trouble("ERR-ELAB-002", phase_key=rt.phase_key))
    intro = elaboration_wording.intro(
        playbook.roster.others(lead.key), topic, item=rt.title, max_turns=debate.max_turns
    )
    rt = hush.opening(rt, intro, playbook, speak=Speak(persona=lead.key, task="frame"))
    return rt.opening(step.step_id, discussion=True)


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    Resumed in the middle of a discussion: the floor is the people's.

    The limit may have been lowered in meta.json; then it is reached now (ERR-ELAB-006).
    """
    debate = rt.debate.back(rt.max_turns)
    rt = rt.but(stage=Stage.ELABORATING, elaboration=debate)
    if debate.exhausted:
        return conclude(rt.logging(trouble("ERR-ELAB-006")), Ending.TURN_LIMIT, playbook)
    if not debate.framed and not hush.hushed(rt, playbook):
        return rt.owing(Speak(persona=lead_of(rt, playbook).key, task="frame"))
    text = elaboration_wording.back_to_the_table(debate.topic, debate.turn_count, debate.max_turns)
    return disagreements.floor_given(rt, [Saying(lead_of(rt, playbook), text)], playbook)


def _topic(step: Step, playbook: Playbook, *, whole_phase: bool) -> str:
    """At a phase's menu the discussion is about the phase; the record still names its last step."""
    return f"{asking.phase_of(step.phase_key, playbook).name}: {step.title}" if whole_phase else step.title


# --- personas -----------------------------------------------------------------------------------------------------


def persona_spoke(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """One turn. The framing gives the floor to the others, the colleague it named first."""
    persona = playbook.roster.get(happened.persona)
    if persona is None:
        return said_nothing(rt, happened.persona, playbook)
    if belated.is_belated(rt.debate, happened):
        return _written_belatedly(belated.noted(rt, persona, happened), happened, playbook)
    if happened.passed:
        return said_nothing(passing.noted(rt, persona, happened), persona.key, playbook)
    text, forged = own_words(happened.text, persona, playbook)
    if forged:
        rt = rt.logging(trouble("ERR-ELAB-004"))
    if not text:
        return said_nothing(rt, persona.key, playbook)

    framing = not rt.debate.framed
    debate = records.spoken(rt.debate, text, happened, by=persona, unaided=rt.unaided)
    if framing:
        debate = debate.asked(*named_first(text, playbook.roster.others(persona.key)))
    rt = rt.but(elaboration=debate)
    facts = {**records.facts(debate, happened), **_turn(debate)}
    sayings = [Saying(persona, text, facts, stance_wording.moved(records.unbacked(debate)))]
    if other := other_step(rt, text, playbook):
        rt, sayings = _drifted(rt, sayings, playbook, other=other)
    if debate.nearly_over:
        sayings.append(Saying(lead_of(rt, playbook), elaboration_wording.nearing_the_end()))
    rt, sayings = disagreements.circles_ended(rt, sayings, playbook)
    return _after_turn(rt, playbook, sayings)


def _written_belatedly(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """A framing is never left out: without it there is no discussion."""
    if happened.redone and rt.debate.framed:
        rt = rt.but(elaboration=rt.debate.passed_over(happened.persona))
        rt = rt.but(elaboration=rt.debate.asked(*queueing.still_asked(rt, playbook)))
        return _after_turn(rt, playbook, [])
    return hush.asking_to_speak(rt, belated.again(rt, happened.persona), playbook)


def said_nothing(rt: Roundtable, persona: str, playbook: Playbook) -> Roundtable:
    """Somebody who has nothing to say, or could not, is passed over: the round goes on."""
    return _after_turn(rt.but(elaboration=rt.debate.passed_over(persona)), playbook, [])


def _after_turn(rt: Roundtable, playbook: Playbook, sayings: list[Saying]) -> Roundtable:
    """The next one who waits, the end, or the people's floor under the last message."""
    if rt.debate.exhausted:
        return conclude(told(rt, sayings), Ending.TURN_LIMIT, playbook)
    if rt.debate.waiting:
        return _next_speaks(going_on(rt, sayings), playbook)

    if disagreements.challenge_due(rt, playbook):
        return _next_speaks(disagreements.challenged(told(rt, sayings), playbook), playbook)
    rt = rt.but(elaboration=rt.debate.round_over())
    if rt.debate.asks_for_people:
        sayings.append(Saying(lead_of(rt, playbook), elaboration_wording.anybody_there()))
    return disagreements.floor_given(rt, sayings, playbook)


def _drifted(
    rt: Roundtable, sayings: list[Saying], playbook: Playbook, *, other: Step
) -> tuple[Roundtable, list[Saying]]:
    """Only the lead brings people back; nobody does it for the lead (ERR-ELAB-005)."""
    lead, drifter = lead_of(rt, playbook), sayings[0].persona
    if lead == drifter:
        return rt.logging(trouble("ERR-ELAB-005")), sayings
    phase = asking.phase_of(other.phase_key, playbook)
    sentence = elaboration_wording.persona_off_topic(drifter, other, phase, topic=rt.debate.topic)
    return rt, [*sayings, Saying(lead, sentence)]


# --- people -------------------------------------------------------------------------------------------------------


def person_spoke(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """A turn like any other, whoever is speaking just now; and the way out."""
    wish = words.exit_wish(happened.text)
    leaves = wish is words.Exit.YES or words.stops(happened.text)
    if leaves or not happened.text.strip():
        rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP)
        if words.stops(happened.text):
            return pausing.pause(rt, happened.person, playbook)
        return conclude(rt, Ending.BY_PEOPLE, playbook) if leaves else rt
    if queueing.is_full(rt):
        return queueing.only_kept(rt, happened)

    rt = _heard(rt, happened, playbook)
    if rt.debate.exhausted:
        return conclude(rt, Ending.TURN_LIMIT, playbook)
    lead = lead_of(rt, playbook)
    if rt.debate.nearly_over:
        rt = told(rt, [Saying(lead, elaboration_wording.nearing_the_end())])
    if wish is words.Exit.UNSURE:
        question = Message(text=elaboration_wording.end_or_go_on(), choices=menus.FLOOR)
        return rt.offering(MenuKind.FLOOR, question, part=Part.WORKSHOP)

    if other := other_step(rt, happened.text, playbook):
        phase = asking.phase_of(other.phase_key, playbook)
        sentence = elaboration_wording.person_off_topic(other, phase, topic=rt.debate.topic)
        rt = told(rt, [Saying(lead, sentence)])
    return _asked(rt, happened, playbook)


def went_on(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """Nobody has anything to add: the personas go on by themselves."""
    rt, name = hush.let_speak(rt, playbook), rt.name_of(happened.person.id)
    label = menus.GO_ON.label
    rt = rt.closing_menu(wording.chosen(label, name), ts=happened.ts).opening_round(Part.WORKSHOP)
    rt = rt.recording(
        f"{name} chose: {label}", part=Part.WORKSHOP, user_id=happened.person.id, user_name=name
    )
    speakers = floor.going_on(rt.debate, playbook.roster, PERSONAS_GOING_ON)
    return _next_speaks(rt.but(elaboration=rt.debate.asked(*speakers)), playbook)


def ended(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    name = rt.name_of(happened.person.id)
    rt = rt.closing_menu(wording.chosen(menus.END_ELABORATION.label, name), ts=happened.ts)
    return conclude(rt, Ending.BY_PEOPLE, playbook)


def _heard(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    if rt.debate.framed and not rt.debate.turns[-1].human:
        rt = rt.opening_round(Part.WORKSHOP)
    name = rt.name_of(happened.person.id)
    line = rt.line_of(happened.ts)
    debate = rt.debate.heard(by=happened.person.id, name=name, text=happened.text, ts=happened.ts, line=line)
    in_a_round = rt.menu is not None and rt.menu.kind is MenuKind.ROUND
    if not in_a_round and not hush.hushed(rt, playbook):
        rt = rt.closing_menu(elaboration_wording.still_talking(), quietly=True)
    rt = rt.but(elaboration=debate)
    return rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP, **_turn(debate))


def _asked(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Whoever is spoken to gets the floor, after those who have it already."""
    address = playbook.roster.addressed(happened.text, lead=lead_of(rt, playbook).key)
    if address.kind is AddressKind.DEFAULT and words.calls_nobody(happened.text, playbook.roster):
        rt = rt.logging(trouble("ERR-ELAB-012"))
    answering = queueing.who_answers(rt, address, playbook)
    rt = rt.but(elaboration=rt.debate.asked(*answering)).owing(React(ts=happened.ts, emoji=HEARD))
    return _next_speaks(rt, playbook)


# --- ending -------------------------------------------------------------------------------------------------------


def conclude(rt: Roundtable, ending: Ending, playbook: Playbook) -> Roundtable:
    """No more turns; whoever still waited for the floor does not get it."""
    debate = rt.debate.but(waiting=(), ending=ending)
    rt = rt.closing_menu(elaboration_wording.still_talking(), quietly=True).without_owing(Speak)
    rt = rt.but(elaboration=debate, stage=Stage.SYNTHESIZING)
    text = LAST_WORDS[ending]()
    lead = lead_of(rt, playbook)
    rt = rt.telling(Message(text=text, speaker=lead.key), part=Part.FORMALIZING, actor=lead.actor)
    return syntheses.cut_short(rt, playbook) if debate.only_framed else rt.owing(Synthesize())


def too_much_to_hold(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The voices cannot take in any more of the discussion: what there is is put together now."""
    return conclude(report(rt, [trouble("ERR-ELAB-014")]), Ending.TURN_LIMIT, playbook)


# --- small things -------------------------------------------------------------------------------------------------


def _next_speaks(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """One at a time: who speaks after that is decided when that has been said."""
    if not rt.debate.waiting or rt.owes(Speak):
        return rt
    return hush.asking_to_speak(rt, Speak(persona=rt.debate.waiting[0], task="respond"), playbook)


def _turn(debate: Elaboration) -> dict[str, Any]:
    return {"turn": debate.turn_count, "turn_id": debate.turns[-1].id}
