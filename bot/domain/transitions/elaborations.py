"""
The discussion of a finished step: framed by the lead, bounded in turns, ended by people or by the limit.

Nothing in here moves the step: whatever happens, the same menu follows.
"""

import re

from bot.domain import menus, wording, words
from bot.domain.agenda import Playbook, Step
from bot.domain.effects import React, Speak, Synthesize
from bot.domain.elaboration import Elaboration, Ending
from bot.domain.inputs import PersonaSpoke, Press, Say
from bot.domain.message import Message
from bot.domain.persona import Persona
from bot.domain.roundtable import MenuKind, Roundtable, Stage
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import boundary, pausing, syntheses
from bot.domain.transitions.reporting import report

PERSONAS_GOING_ON = 2
HEARD = "speech_balloon"


# --- opening ------------------------------------------------------------------------------------------------------


def open_elaboration(rt: Roundtable, playbook: Playbook, *, from_phase_menu: bool) -> Roundtable:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        kind = MenuKind.PHASE if from_phase_menu else MenuKind.STEP
        return boundary.present(report(rt, [trouble("ERR-ELAB-001")]), playbook, "", kind=kind)

    lead, unknown = playbook.roster.lead_of(rt.phase_key)
    topic = topic_of(step, playbook, whole_phase=from_phase_menu)
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
    others = playbook.roster.others(lead.key)
    intro = Message(text=wording.elaboration_intro(others, topic, item=rt.title, max_turns=debate.max_turns))
    return rt.telling(intro, part=Part.WORKSHOP).owing(Speak(persona=lead.key, task="frame"))


def topic_of(step: Step, playbook: Playbook, *, whole_phase: bool) -> str:
    """At a phase's menu the discussion is about the phase; the record still names its last step."""
    return f"{playbook.agenda.phase(step.phase_key).name}: {step.title}" if whole_phase else step.title


# --- talking ------------------------------------------------------------------------------------------------------


def persona_spoke(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """One turn. The framing gives the floor to the others, the colleague it named first."""
    debate, persona = _debate(rt), playbook.roster[happened.persona]
    text, forged = own_words(happened.text, persona, playbook)
    if forged:
        rt = rt.logging(trouble("ERR-ELAB-004"))
    if not text:
        return go_round(
            rt.but(elaboration=debate.but(waiting=_without(debate.waiting, persona.key))), playbook
        )

    framing = not debate.turns
    debate = debate.heard(by=persona.key, name=persona.first_name, text=text, human=False)
    if framing:
        debate = debate.asked(*_named_first(text, playbook.roster.others(persona.key)))
    rt = rt.but(elaboration=debate)
    return go_round(rt, playbook, Message(text=text, speaker=persona.key), facts=dict(happened.facts))


def person_spoke(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """A turn like any other, whoever is speaking just now; and the way out."""
    debate = _debate(rt)
    wish = words.exit_wish(happened.text)
    if words.stops(happened.text):
        rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP)
        return pausing.stop(rt, happened.person, playbook)
    if wish is words.Exit.YES:
        rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP)
        return conclude(rt, Ending.BY_PEOPLE, playbook)

    if debate.turns and not debate.turns[-1].human:
        rt = rt.opening_round(Part.WORKSHOP)
    name = rt.name_of(happened.person.id)
    debate = debate.heard(by=happened.person.id, name=name, text=happened.text, human=True)
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.WORKSHOP, **_turn(debate))
    rt = rt.closing_menu("").but(elaboration=debate)
    if debate.exhausted:
        return conclude(rt, Ending.TURN_LIMIT, playbook)
    if wish is words.Exit.UNSURE:
        return _ask_whether_to_end(_warned(rt, playbook))

    rt = _redirected(_warned(rt, playbook), happened.text, playbook)
    address = playbook.roster.addressed(happened.text, lead=debate.lead)
    rt = rt.but(elaboration=_debate(rt).asked(*address.personas)).owing(React(ts=happened.ts, emoji=HEARD))
    return rt if rt.owes(Speak) else _next_speaks(rt)


def went_on(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """Nobody has anything to add: those personas who were silent longest go on."""
    name = rt.name_of(happened.person.id)
    label = menus.GO_ON.label
    rt = rt.closing_menu(wording.chosen(label, name), ts=happened.ts).opening_round(Part.WORKSHOP)
    rt = rt.recording(
        f"{name} chose: {label}", part=Part.WORKSHOP, user_id=happened.person.id, user_name=name
    )
    everybody = tuple(persona.key for persona in playbook.roster)
    debate = _debate(rt)
    return _next_speaks(
        rt.but(elaboration=debate.asked(*debate.longest_silent(everybody, PERSONAS_GOING_ON)))
    )


def ended(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    name = rt.name_of(happened.person.id)
    rt = rt.closing_menu(wording.chosen(menus.END_ELABORATION.label, name), ts=happened.ts)
    return conclude(rt, Ending.BY_PEOPLE, playbook)


def conclude(rt: Roundtable, ending: Ending, playbook: Playbook) -> Roundtable:
    """No more turns; whoever still waited for the floor does not get it."""
    debate = _debate(rt).but(waiting=(), ending=ending)
    lead = playbook.roster[debate.lead]
    rt = rt.closing_menu("").without_owing(Speak).but(elaboration=debate, stage=Stage.SYNTHESIZING)
    words_of_lead = wording.limit_reached() if ending is Ending.TURN_LIMIT else wording.wrapping_up()
    rt = rt.telling(Message(text=words_of_lead, speaker=lead.key), part=Part.FORMALIZING, actor=lead.actor)
    return rt.owing(Synthesize()) if debate.turn_count > 1 else syntheses.cut_short(rt, playbook)


def too_much_to_hold(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The voices cannot take in any more of the discussion: what there is is put together now."""
    return conclude(report(rt, [trouble("ERR-ELAB-014")]), Ending.TURN_LIMIT, playbook)


def go_round(
    rt: Roundtable, playbook: Playbook, said: Message | None = None, *, facts: dict[str, object] | None = None
) -> Roundtable:
    """After a persona's turn: the next one who waits, the end, or the people's floor under the last message."""
    debate = _debate(rt)
    goes_on = bool(debate.waiting)
    if not goes_on and not debate.exhausted:
        debate = debate.but(silent_rounds=debate.silent_rounds + 1)
        rt = rt.but(elaboration=debate)

    lead = playbook.roster[debate.lead]
    sayings = [(said, {**_turn(debate), **(facts or {})})] if said else []
    if debate.nearly_over and said:
        sayings.append((Message(text=wording.nearing_the_end(), speaker=lead.key), {}))
    if not goes_on and not debate.exhausted and debate.asks_for_people:
        sayings.append((Message(text=wording.anybody_there(), speaker=lead.key), {}))

    for message, meta in sayings[:-1]:
        rt = rt.telling(message, part=Part.WORKSHOP, actor=_actor(message, playbook), **meta)
    for message, meta in sayings[-1:]:
        actor = _actor(message, playbook)
        if goes_on or debate.exhausted:
            rt = rt.telling(message, part=Part.WORKSHOP, actor=actor, **meta)
        else:
            rt = rt.offering(
                MenuKind.FLOOR, message.but(choices=menus.FLOOR), part=Part.WORKSHOP, actor=actor, **meta
            )
    if debate.exhausted:
        return conclude(rt, Ending.TURN_LIMIT, playbook)
    return _next_speaks(rt) if goes_on else rt


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Resumed in the middle of a discussion: the floor is the people's."""
    debate = _debate(rt)
    if debate.turn_count >= rt.max_turns:
        return conclude(rt.logging(trouble("ERR-ELAB-006")), Ending.TURN_LIMIT, playbook)
    debate = debate.but(max_turns=rt.max_turns, waiting=())
    rt = rt.but(stage=Stage.ELABORATING, elaboration=debate)
    if not debate.turns:
        return rt.owing(Speak(persona=debate.lead, task="frame"))
    lead = playbook.roster[debate.lead]
    text = wording.back_to_the_table(debate.topic, debate.turn_count, debate.max_turns)
    message = Message(text=text, speaker=lead.key, choices=menus.FLOOR)
    return rt.offering(MenuKind.FLOOR, message, part=Part.WORKSHOP, actor=lead.actor)


def own_words(text: str, persona: Persona, playbook: Playbook) -> tuple[str, bool]:
    """*text* without a speaker's name before it, and whether it spoke in somebody else's name."""
    everybody = "|".join(re.escape(name) for one in playbook.roster for name in (one.name, one.first_name))
    prefix = re.match(rf"\s*\**({everybody})\b(?: \([^)\n]*\))?\**:\**\s*", text, re.IGNORECASE)
    if not prefix:
        return text.strip(), False
    own = prefix[1].lower() in {persona.name.lower(), persona.first_name.lower()}
    return text[prefix.end() :].strip(), not own


def _next_speaks(rt: Roundtable) -> Roundtable:
    debate = _debate(rt)
    return rt.owing(Speak(persona=debate.waiting[0], task="respond")) if debate.waiting else rt


def _warned(rt: Roundtable, playbook: Playbook) -> Roundtable:
    if not _debate(rt).nearly_over:
        return rt
    lead = playbook.roster[_debate(rt).lead]
    warning = Message(text=wording.nearing_the_end(), speaker=lead.key)
    return rt.telling(warning, part=Part.WORKSHOP, actor=lead.actor)


def _ask_whether_to_end(rt: Roundtable) -> Roundtable:
    question = Message(text=wording.end_or_go_on(), choices=menus.FLOOR)
    return rt.offering(MenuKind.FLOOR, question, part=Part.WORKSHOP)


def _redirected(rt: Roundtable, text: str, playbook: Playbook) -> Roundtable:
    """Another step named outright has its own time; said by the lead, and not a turn."""
    debate = _debate(rt)
    other = next(
        (step for step in playbook.agenda.steps if _names(text, step) and step.step_id != debate.step_id),
        None,
    )
    if other is None:
        return rt
    lead = playbook.roster[debate.lead]
    sentence = wording.off_topic(other, playbook.agenda.phase(other.phase_key), debate.topic)
    return rt.telling(Message(text=sentence, speaker=lead.key), part=Part.WORKSHOP, actor=lead.actor)


def _names(text: str, step: Step) -> bool:
    return bool(re.search(rf"(?<![\d-]){step.step_id}(?![\d-])", text)) or step.title.lower() in text.lower()


def _named_first(text: str, others: tuple[Persona, ...]) -> tuple[str, ...]:
    """The others, and before them whoever *text* asks by name."""
    named = [one.key for one in others if re.search(rf"\b{re.escape(one.first_name)}\b", text)]
    return tuple(dict.fromkeys((*named[:1], *(one.key for one in others))))


def _turn(debate: Elaboration) -> dict[str, object]:
    return {"turn": debate.turn_count, "turn_id": debate.turns[-1].id} if debate.turns else {}


def _actor(message: Message, playbook: Playbook) -> str:
    return playbook.roster[message.speaker].actor


def _without(waiting: tuple[str, ...], key: str) -> tuple[str, ...]:
    return tuple(one for one in waiting if one != key)


def _debate(rt: Roundtable) -> Elaboration:
    assert rt.elaboration, "there is an elaboration in these stages"
    return rt.elaboration
