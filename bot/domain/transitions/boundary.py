"""The menu after a step and after a phase: the same one until a person chooses."""

from bot.domain import wording, words
from bot.domain.agenda import Playbook
from bot.domain.inputs import Press, Say, Stop
from bot.domain.menu import MenuKind
from bot.domain.message import Action
from bot.domain.place import Person
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.transcript import Part
from bot.domain.transitions import asking, choosing, depths, elaborations, pausing, phases, steps
from bot.domain.transitions.saving import owe_commit


def typed(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Menu letters, then depth words, then feedback (analysis reference §1.10)."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    if (action := words.letter(happened.text)) and rt.menu and rt.menu.offers(action):
        return choose(rt, action, playbook, person=happened.person)
    if words.stops(happened.text):
        return choose(rt, Action.STOP, playbook, person=happened.person)
    if wanted := words.depth(happened.text, at_menu=True):
        return depths.change(rt, wanted, playbook, person=happened.person)

    rt = rt.answering(happened, feedback=True)
    kind = rt.menu.kind if rt.menu else None
    rt = rt.closing_menu(wording.feedback_from(rt.name_of(happened.person.id)))
    if playbook.agenda.get(rt.step_id):
        return steps.write(rt)
    return asking.menu(owe_commit(rt, "feedback"), playbook, "", kind=kind)


def pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    return choose(rt, happened.action, playbook, person=happened.person, ts=happened.ts)


def stop_asked(rt: Roundtable, happened: Stop, playbook: Playbook) -> Roundtable:
    return choose(rt, Action.STOP, playbook, person=happened.person)


def choose(rt: Roundtable, action: Action, playbook: Playbook, *, person: Person, ts: str = "") -> Roundtable:
    assert rt.menu, "there is a menu at a boundary"
    at_phase_end = rt.menu.kind is MenuKind.PHASE
    label = rt.menu.label_of(action)
    last = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key)) is None
    if action is Action.STOP and (last or not at_phase_end):
        return pausing.pause(rt, person, playbook, ts=ts)

    rt = choosing.chosen(rt, label, person, part=Part.CLARIFYING, ts=ts)
    if action is Action.ELABORATE:
        return elaborations.begin(rt, playbook, from_phase_menu=at_phase_end)
    if action is Action.SKIP:
        return phases.skip_rest(rt, playbook)
    if at_phase_end:
        heading_for = Stage.PAUSED if action is Action.STOP else Stage.DISCUSSING
        return phases.close(rt, playbook, heading_for=heading_for)
    return asking.next_question(rt, playbook)
