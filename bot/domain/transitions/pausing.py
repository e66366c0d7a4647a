"""Stopping and going on: by a person's wish, after a restart, or when the store had lost the item."""

from bot.domain import menus, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import ReadItem, Speak
from bot.domain.inputs import Committed, ItemRead, Press, Resume, Say, Stop
from bot.domain.message import Action, Message
from bot.domain.meta import Change
from bot.domain.place import Person
from bot.domain.roundtable import MenuKind, Roundtable, Stage
from bot.domain.transcript import Part
from bot.domain.transitions import boundary, elaborations, phases, steps
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import owe_commit, refreshed, saved

# --- stopping -----------------------------------------------------------------------------------------------------


def stop_asked(rt: Roundtable, happened: Stop, playbook: Playbook) -> Roundtable:
    return stop(rt, happened.person, playbook)


def stop(rt: Roundtable, person: Person, playbook: Playbook) -> Roundtable:
    """At the menu of a phase, stopping means that the phase is done; anywhere else, that we go on here later."""
    if rt.menu and rt.menu.kind is MenuKind.PHASE:
        return boundary.choose(rt, Action.STOP, playbook, person=person)
    rt = rt.closing_menu(wording.stopped_here(rt.name_of(person.id)))
    return pause(rt, person, playbook, heading_for=rt.stage)


def pause(rt: Roundtable, person: Person, playbook: Playbook, *, heading_for: Stage) -> Roundtable:
    name = rt.name_of(person.id)
    rt = rt.without_owing(Speak).recording(wording.stopped_here(name), part=rt.part, user_id=person.id)
    return rest(rt.but(heading_for=heading_for), playbook)


def rest(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """What was said so far is saved, then people are told how to go on."""
    step = phases.upcoming(rt.but(stage=rt.heading_for or rt.stage), playbook)
    rt = owe_commit(rt.but(stage=Stage.PAUSED), "paused")
    message = Message(text=wording.paused(step.title if step else ""), choices=(menus.RESUME,))
    return rt.offering(MenuKind.PAUSED, message, part=rt.part)


def noted(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Said after the roundtable stopped: kept, and saved at once, since nothing else may come."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=rt.part)
    return rt if _saving(rt) else owe_commit(rt, "said afterwards")


def note_saved(rt: Roundtable, happened: Committed, playbook: Playbook) -> Roundtable:
    rt = report(saved(rt, happened), happened.troubles)
    spoken = any(line.source == "user" for line in rt.lines)
    return owe_commit(rt, "said afterwards") if spoken and rt.stage in RESTING and not _saving(rt) else rt


# --- going on -----------------------------------------------------------------------------------------------------


def resume(rt: Roundtable, happened: Resume, playbook: Playbook) -> Roundtable:
    return _look_again(rt, happened.person)


def resume_pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    rt = rt.closing_menu(wording.chosen(menus.RESUME.label, rt.name_of(happened.person.id)), ts=happened.ts)
    return _look_again(rt, happened.person)


def looked(rt: Roundtable, happened: ItemRead, playbook: Playbook) -> Roundtable:
    """What stands in the folder now counts; then we are back where we were."""
    rt = report(rt, happened.troubles)
    if happened.state:
        rt = refreshed(rt, happened.state)
    if rt.stage is Stage.ANALYSED:
        return at_the_end(rt, happened.state.commits_behind if happened.state else 0)
    return again(rt, playbook)


def again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The greeting, and whatever was open: the question, the menu, the floor."""
    target = rt.heading_for or rt.stage
    if target is Stage.PAUSED or not rt.phase_key:
        return phases.go_on(rt.but(heading_for=None), playbook)
    rt = rt.closing_menu(wording.superseded()).but(stage=target, heading_for=None)
    if target is Stage.ELABORATING:
        return elaborations.back(rt, playbook)

    next_step = phases.upcoming(rt, playbook)
    lead, _ = playbook.roster.lead_of(rt.phase_key)
    words = phases.welcome(rt, playbook, next_title=next_step.title if next_step else "")
    if target is Stage.DISCUSSING and playbook.agenda.get(rt.step_id):
        return steps.prompted(rt, playbook, words)
    if target is Stage.AT_BOUNDARY and rt.step_id:
        return boundary.present(rt, playbook, words)
    rt = rt.telling(Message(text=words, speaker=lead.key), part=Part.CLARIFYING, actor=lead.actor)
    return steps.open_next(rt, playbook)


# --- an analysed item ---------------------------------------------------------------------------------------------


def at_the_end(rt: Roundtable, commits_behind: int) -> Roundtable:
    if not commits_behind:
        return rt.telling(Message(text=wording.complete_and_current()), part=Part.REVIEW_READY)
    message = Message(text=wording.stale(commits_behind), choices=(menus.REANALYSE, menus.CANCEL))
    return rt.offering(MenuKind.STALE, message, part=Part.REVIEW_READY)


def reanalyse(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """From phase 00; the elaborations, the artifacts and the transcript stay."""
    rt = rt.closing_menu(
        wording.chosen(menus.REANALYSE.label, rt.name_of(happened.person.id)), ts=happened.ts
    )
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING, phase_key="", step_id="")
    return owe_commit(rt, "analysed again from phase 00", change=Change(restart=True))


def cancelled(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    return rt.closing_menu(wording.chosen(menus.CANCEL.label, rt.name_of(happened.person.id)), ts=happened.ts)


def _look_again(rt: Roundtable, person: Person) -> Roundtable:
    name = rt.name_of(person.id)
    rt = rt.recording(wording.resumed(name), part=rt.part, user_id=person.id, user_name=name)
    return rt.without_owing(Speak).owing(ReadItem())


def _saving(rt: Roundtable) -> bool:
    return any(effect.kind == "commit" for effect in rt.outbox)


RESTING = frozenset({Stage.PAUSED, Stage.ANALYSED})
