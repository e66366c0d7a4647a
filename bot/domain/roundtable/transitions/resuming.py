"""Going on: by a person's wish, or after something failed. The item's folder is looked at first."""

from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.meta import MetaChange
from bot.domain.messages import (
    menus,
    step_wording,
    trouble_wording,
)
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import covering, root
from bot.domain.roundtable.effects import ReadItem, Speak, Then
from bot.domain.roundtable.inputs import Press, Resume
from bot.domain.roundtable.outcomes import ItemRead
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import BRIEF, Roundtable
from bot.domain.roundtable.transitions import (
    asking,
    elaborations,
    exporting,
    phases,
    steps,
)
from bot.domain.roundtable.transitions.saving import offer_take_over, queue_commit, refreshed
from bot.domain.transcript.lines import LinePhase
from bot.domain.transcript.seal import TAKES_OVER, OldLines
from bot.domain.values.places import Person
from bot.domain.values.text import paragraphs
from bot.errors import NotNow

# --- looking ------------------------------------------------------------------------------------------------------


def resume(rt: Roundtable, event: Resume, playbook: Playbook) -> Roundtable:
    return _look(rt, event.person)


def resume_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    rt = rt.closing_menu(step_wording.chosen(menus.RESUME.label, rt.name_of(event.person.id)))
    return _look(rt, event.person)


def looked(rt: Roundtable, event: ItemRead, playbook: Playbook) -> Roundtable:
    """What stands in the folder now counts; then we are back where we were."""
    rt = refreshed(rt, event.state, event.troubles, lost=event.lost)
    rt = offer_take_over(rt, event.state)
    rt = exporting.read_edits(rt, event.state.exported if event.state else (), playbook)
    if rt.stage is Stage.ANALYSED and playbook.agenda.first_open(rt.phases_completed) is None:
        return at_the_end(rt, event.state.commits_behind if event.state else 0, playbook)
    return again(rt, playbook)


def taken_over(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The line gets the digests when it is written."""
    if not rt.old_lines.lines:
        raise NotNow(trouble_wording.NOTHING_TO_TAKE_OVER)
    text = trouble_wording.taken_over(rt.name_of(event.person.id), rt.old_lines.lines)
    facts: dict[str, Any] = {TAKES_OVER: rt.old_lines.model_dump()}
    rt = rt.but(old_lines=OldLines()).recording(text, by=event.person.id, **facts)
    return queue_commit(rt.telling(Message(text=text), part=rt.part), "record taken over")


def without_looking(rt: Roundtable, sentence: str, playbook: Playbook) -> Roundtable:
    rt = rt.telling(Message(text=trouble_wording.unread(sentence)), part=rt.part)
    return rt if rt.stage is Stage.ANALYSED else again(rt, playbook)


def _look(rt: Roundtable, person: Person) -> Roundtable:
    """Two people who ask at once are told once."""
    rt = rt.recording(step_wording.resumed(rt.name_of(person.id)), by=person.id)
    rt = rt.dropping(Speak).but(resumed_by=person.id)
    return rt if rt.has_pending(ReadItem) else rt.queueing(ReadItem())


def again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The greeting, and what was open: the question, the menu, the floor."""
    target = rt.heading_for or rt.stage
    rt = rt.closing_menu(step_wording.SUPERSEDED).but(heading_for=None)
    if target is Stage.ELABORATING:
        return elaborations.back(rt, playbook)
    known = playbook.agenda.has_phase(rt.phase_key)
    done = rt.phase_key in rt.phases_completed and rt.step_id != rt.reopened
    if target is Stage.AT_BOUNDARY and known:
        rt = rt.but(stage=target)
        return steps.menu(rt, playbook, phases.welcome(rt, playbook), anew=True)
    at_step = rt.but(stage=target)
    if target is Stage.DISCUSSING and not done and (known or asking.lacks_step(at_step, playbook)):
        rt = at_step
        greeting = phases.welcome(rt, playbook)
        rt = asking.saying_first(rt, playbook, greeting)
        return asking.question(rt, playbook, greeting)
    return phases.go_on(rt, playbook)


# --- trying again -------------------------------------------------------------------------------------------------


def retry(rt: Roundtable, event: Press | Resume, playbook: Playbook) -> Roundtable:
    if rt.stalled is None:
        raise NotNow(trouble_wording.NOT_OPENED)
    effect, stage = rt.stalled.effect, rt.stalled.stage
    rt = asking.chosen(rt, menus.RETRY.label, event.person, part=rt.part)
    return rt.but(stage=stage, stalled=None).queueing(effect.but(id="", attempts=0))


# --- an analysed item ---------------------------------------------------------------------------------------------


def at_the_end(rt: Roundtable, commits_behind: int, playbook: Playbook) -> Roundtable:
    if not commits_behind:
        return _current(rt, playbook)
    message = Message(text=step_wording.stale(commits_behind), choices=(menus.REANALYSE, menus.CANCEL))
    return rt.offering(MenuKind.STALE, message, part=LinePhase.REVIEW_READY)


def _current(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Steps that were left out can still be opened, such as one whose file was mended since."""
    text = step_wording.COMPLETE_AND_CURRENT
    left = asking.left_out(rt, playbook)
    can_open = asking.openable(left)
    asked = covering.steps_to_deepen(rt, playbook)
    deeper = (menus.go_deeper(asked),) if asked else ()
    if not can_open and not deeper:
        return rt.telling(Message(text=text), part=LinePhase.REVIEW_READY)
    above = paragraphs(text, asking.not_done(rt, left) if left else root.done(rt, playbook))
    message = Message(text=above, choices=(*deeper, *menus.reopening(can_open)))
    return rt.offering(MenuKind.LEFT_OUT, message, part=LinePhase.REVIEW_READY)


def reanalyse(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """From phase 00; the elaborations, the artifacts and the transcript stay."""
    rt = asking.chosen(rt, menus.REANALYSE.label, event.person, part=rt.part)
    live = {key: one for key, one in rt.live.items() if key != BRIEF}
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING, phase_key="", step_id="", live=live)
    return queue_commit(rt, "analysed again from phase 00", then=Then.PHASE, change=MetaChange(restart=True))


def cancelled(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    return asking.chosen(rt, menus.CANCEL.label, event.person, part=rt.part)
