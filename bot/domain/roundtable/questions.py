"""What drafts and reviews ask people: on the card of the open step, and on the card of the next one when that opens."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import Persona
from bot.domain.roundtable import waiting
from bot.domain.roundtable.outcomes import DraftQuestion, PersonaSpoke
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification.coverage import of_step

MOST_QUESTIONS = 3


def take_questions(rt: Roundtable, persona: Persona, event: PersonaSpoke, playbook: Playbook) -> Roundtable:
    """
    Those of the newest draft, in place of the ones before; that of a review stays. A step that is finished asks nothing
    more.
    """
    known = {one.text for one in rt.questions}
    following = asking.following_step(rt, playbook)
    given = {rt.step_id: event.questions if rt.stage is Stage.DISCUSSING else ()}
    given |= {following.step_id: event.next_questions} if following else {}
    silent = silent_in_phase(rt, playbook)
    made = [one for one in rt.questions if not one.by and following and one.step_id == following.step_id]
    made += [
        one.but(to=_participant(rt, one.to), by=persona.key, step_id=step_id)
        for step_id, found in given.items()
        for one in found[:MOST_QUESTIONS]
    ]
    rt = rt.but(questions=tuple(sorted(made, key=lambda one: one.to not in silent)))
    for one in asked_on(rt, rt.step_id, playbook):
        rt = rt if one.text in known else asking.note_question(rt, one, playbook)
    return rt


def ask_on_next_card(rt: Roundtable, question: DraftQuestion, playbook: Playbook) -> Roundtable:
    """The question of a review. After the last step, it stands on the open card."""
    following = asking.following_step(rt, playbook)
    step_id = following.step_id if following else rt.step_id
    made = question.but(to=_participant(rt, question.to), step_id=step_id)
    return rt.but(questions=(*(one for one in rt.questions if one.by or one.step_id != step_id), made))


def asked_on(rt: Roundtable, step_id: str, playbook: Playbook) -> tuple[DraftQuestion, ...]:
    """Without what entries answer by now."""
    asked = [one for one in rt.questions if one.step_id == step_id]
    if not any(one.gap for one in asked):
        return tuple(asked)
    open_gaps = {one.key for one in of_step(playbook.schema, rt.specification, step_id)}
    return tuple(one for one in asked if not one.gap or one.gap in open_gaps)


def silent_in_phase(rt: Roundtable, playbook: Playbook) -> frozenset[str]:
    """The participants of whom no step of the phase has anything."""
    heard = waiting.recorded_of(rt, playbook.agenda.ids_of(rt.phase_key))
    return frozenset(waiting.participants(rt)) - heard - {answer.person for answer in rt.answers}


def _participant(rt: Roundtable, name: str) -> str:
    """The one participant with that name, or first name; empty for nobody and for several."""
    found = [one for one in waiting.participants(rt) if waiting.is_named(rt, one, name)]
    return found[0] if len(found) == 1 else ""
