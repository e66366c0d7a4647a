"""Going on: by a person's wish, or after something failed. The item's folder is looked at first."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.meta import Change
from bot.domain.messages import (
    menus,
    step_wording,
    trouble_wording,
)
from bot.domain.messages import (
    trouble_wording as refusals,
)
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import ReadItem, Speak, Then
from bot.domain.roundtable.inputs import Press, Resume
from bot.domain.roundtable.outcomes import ItemRead
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import (
    asking,
    budgeting,
    elaborations,
    phases,
    planning,
    steps,
)
from bot.domain.roundtable.transitions import (
    asking as choosing,
)
from bot.domain.roundtable.transitions.saving import owe_commit, refreshed
from bot.domain.transcript.lines import Part
from bot.domain.values.places import Person
from bot.errors import NotNow

# --- looking ------------------------------------------------------------------------------------------------------


def resume(rt: Roundtable, happened: Resume, playbook: Playbook) -> Roundtable:
    return _look(rt, happened.person)


def resume_pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    rt = rt.closing_menu(
        step_wording.chosen(menus.RESUME.label, rt.name_of(happened.person.id)), ts=happened.ts
    )
    return _look(rt, happened.person)


def looked(rt: Roundtable, happened: ItemRead, playbook: Playbook) -> Roundtable:
    """What stands in the folder now counts; then we are back where we were."""
    rt = refreshed(rt, happened.state, happened.troubles, back=happened.back)
    if rt.stage is Stage.ANALYSED and playbook.agenda.first_open(rt.phases_completed) is None:
        return at_the_end(rt, happened.state.commits_behind if happened.state else 0)
    return again(rt, playbook)


def without_looking(rt: Roundtable, sentence: str, playbook: Playbook) -> Roundtable:
    rt = rt.telling(Message(text=trouble_wording.unread(sentence)), part=rt.part)
    return rt if rt.stage is Stage.ANALYSED else again(rt, playbook)


def _look(rt: Roundtable, person: Person) -> Roundtable:
    """Two people who ask at once are told once."""
    name = rt.name_of(person.id)
    rt = rt.recording(step_wording.resumed(name), part=rt.part, user_id=person.id, user_name=name)
    rt = rt.without_owing(Speak).but(unaided=False)
    return rt if rt.owes(ReadItem) else rt.owing(ReadItem())


def again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The greeting, and whatever was open: the question, the menu, the floor."""
    target = rt.heading_for or rt.stage
    rt = rt.closing_menu(step_wording.superseded()).but(heading_for=None)
    if target is Stage.PLANNING:
        return planning.back(rt, playbook)
    if target is Stage.ELABORATING:
        return elaborations.back(rt, playbook)
    known = any(phase.key == rt.phase_key for phase in playbook.agenda.phases)
    done = rt.phase_key in rt.phases_completed
    if target is Stage.AT_BOUNDARY and known:
        rt = rt.but(stage=target)
        return steps.menu_or_write(rt, playbook, phases.welcome(rt, playbook))
    if target is Stage.DISCUSSING and known and not done:
        rt = rt.but(stage=target)
        return asking.question(rt, playbook, phases.welcome(rt, playbook))
    return phases.go_on(rt, playbook)


# --- trying again -------------------------------------------------------------------------------------------------


def retry_pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    if rt.stalled is None and rt.unaided:
        return budgeting.wanted_back(rt, happened, playbook)
    return _retry(rt, happened.person, ts=happened.ts)


def resume_stalled(rt: Roundtable, happened: Resume, playbook: Playbook) -> Roundtable:
    return _retry(rt, happened.person)


def _retry(rt: Roundtable, person: Person, *, ts: str = "") -> Roundtable:
    if rt.stalled is None:
        raise NotNow(refusals.not_opened())
    effect, stage = rt.stalled.effect, rt.stalled.stage
    rt = rt.closing_menu(step_wording.chosen(menus.RETRY.label, rt.name_of(person.id)), ts=ts)
    return rt.but(stage=stage, stalled=None, unaided=False).owing(effect.but(id="", attempts=0))


# --- an analysed item ---------------------------------------------------------------------------------------------


def at_the_end(rt: Roundtable, commits_behind: int) -> Roundtable:
    if not commits_behind:
        return rt.telling(Message(text=step_wording.complete_and_current()), part=Part.REVIEW_READY)
    message = Message(text=step_wording.stale(commits_behind), choices=(menus.REANALYSE, menus.CANCEL))
    return rt.offering(MenuKind.STALE, message, part=Part.REVIEW_READY)


def reanalyse(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    """From phase 00; the elaborations, the artifacts and the transcript stay."""
    rt = choosing.chosen(rt, menus.REANALYSE.label, happened.person, part=rt.part, ts=happened.ts)
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING, phase_key="", step_id="")
    return owe_commit(rt, "analysed again from phase 00", then=Then.PHASE, change=Change(restart=True))


def cancelled(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    name = rt.name_of(happened.person.id)
    return rt.closing_menu(step_wording.chosen(menus.CANCEL.label, name), ts=happened.ts)
