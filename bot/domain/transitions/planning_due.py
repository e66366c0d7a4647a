"""
What is due in a planning workshop, on its way into the world: a role is asked, a question put, a menu shown, a plan
written and saved.
"""

from typing import assert_never

from bot.domain import effects, safety_wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Then
from bot.domain.menu import MenuKind
from bot.domain.menus import ALLOW_MORE
from bot.domain.message import Message
from bot.domain.minds import thinks
from bot.domain.persona import seat
from bot.domain.planning import menus, wording
from bot.domain.planning.outcomes import PlanRead
from bot.domain.planning.outputs import free_folder, outputs, put_aside
from bot.domain.planning.workshop import (
    FIRST_READING,
    Ask,
    Decide,
    Explain,
    Formalize,
    Judge,
    PutAside,
    Workshop,
    Write,
)
from bot.domain.purse import gone, total
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.transcript import Part
from bot.domain.transitions.saving import owe_commit, owe_commit_then_offer


def becomes(rt: Roundtable, ws: Workshop, playbook: Playbook) -> Roundtable:
    """The workshop is *ws* now; what is newly due is brought on its way."""
    before = rt.workshop
    rt = rt.but(workshop=ws)
    if before and ws.due == before.due and ws.stage is before.stage:
        return rt
    if ws.round != (before.round if before else FIRST_READING):
        rt = rt.opening_round(ws.stage)
    return on(rt, playbook)


def on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Whatever is due is asked for, shown or saved, once."""
    ws = held(rt)
    due = ws.due
    if isinstance(due, Judge | Formalize) and _is_out_of_reach(due, rt, playbook):
        return asked_for_more(rt, playbook)
    match due:
        case Judge():
            return _role_asked(rt, ws, due)
        case Ask():
            return _asked(rt, due, playbook)
        case Decide():
            return rt.offering(MenuKind.PLAN_DECISION, menus.decision(ws, _headline(ws)), part=ws.stage)
        case Explain(person=person):
            text = wording.explain(rt.name_of(person))
            return rt.offering(MenuKind.PLAN_DECISION, menus.decision(ws, text), part=ws.stage)
        case Formalize():
            return _writing_asked(rt, ws)
        case Write():
            return _writing_down(rt, ws, playbook)
        case PutAside():
            return rt if rt.owes(effects.ReadPlan) else rt.owing(effects.ReadPlan(aside=True))
        case None:
            return rt
        case _:
            assert_never(due)


def asked_for_more(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """There is nothing left to pay the roles with: what was said is saved, and people are asked, once."""
    budget = playbook.house.budget
    if budget is None or (rt.menu and rt.menu.kind is MenuKind.PLAN_BUDGET):
        return rt
    text = safety_wording.no_planning_without(total(budget, rt.purse.allowed))
    message = Message(text=text, choices=(ALLOW_MORE, menus.LEAVE))
    rt = owe_commit(rt, "budget used up")
    return rt.offering(MenuKind.PLAN_BUDGET, message, part=held(rt).stage)


def _is_out_of_reach(due: Judge | Formalize, rt: Roundtable, playbook: Playbook) -> bool:
    """What is owed for it would be asked of a model, and nothing is left to pay one with."""
    work = effects.Judge(role=due.role, round=due.round) if isinstance(due, Judge) else effects.Formalize()
    return gone(rt.purse, playbook.house) and thinks(work, rt, playbook)


def held(rt: Roundtable) -> Workshop:
    assert rt.workshop, "there is a workshop while something is due in it"
    return rt.workshop


def _role_asked(rt: Roundtable, ws: Workshop, due: Judge) -> Roundtable:
    if rt.owes(effects.Judge):
        return rt
    if ws.round != FIRST_READING and not ws.verdicts_of(ws.round):
        rt = rt.telling(Message(text=wording.round_begins(ws)), part=ws.stage)
    return rt.owing(effects.Judge(role=due.role, round=due.round))


def _asked(rt: Roundtable, due: Ask, playbook: Playbook) -> Roundtable:
    """By whoever wanted to know first."""
    role = due.question.by[0]
    message = menus.question(due, speaker_of(role, playbook))
    part = held(rt).stage
    return rt.offering(MenuKind.PLAN_QUESTION, message, part=part, actor=role)


def speaker_of(role: str, playbook: Playbook) -> str:
    """The host, for a role that has left its seat since."""
    return next((seat(persona.key) for persona in playbook.workshop if persona.actor == role), "")


def _headline(ws: Workshop) -> str:
    assert ws.proposal, "there is a proposal where people are asked to decide"
    if ws.held:
        return wording.held()
    above = f"{wording.not_mended(ws.errors)}\n\n" if ws.errors else ""
    return f"{above}{wording.proposed(ws.proposal)}"


def _writing_asked(rt: Roundtable, ws: Workshop) -> Roundtable:
    if rt.owes(effects.Formalize):
        return rt
    text = wording.mending(ws.errors) if ws.errors else wording.formalizing()
    return rt.telling(Message(text=text), part=ws.stage).owing(effects.Formalize())


def _writing_down(rt: Roundtable, ws: Workshop, playbook: Playbook) -> Roundtable:
    """The message is in the transcript that is committed, and is said when the files are there."""
    if is_saving(rt):
        return rt
    assert ws.plan, "a plan is written when there is one"
    edits = outputs(ws, ws.plan, names=rt.people, now=rt.now)
    message = menus.ready(wording.ready(ws, ws.plan), analysed=analysed(rt, playbook))
    return owe_commit_then_offer(
        rt,
        f"plan version {ws.version}",
        message,
        kind=MenuKind.PLAN_READY,
        part=Part.REVIEW_READY,
        then=Then.PLAN,
        edits=edits,
    )


def put_files_aside(rt: Roundtable, happened: PlanRead) -> Roundtable:
    ws = held(rt)
    if not isinstance(ws.due, PutAside) or is_saving(rt):
        return rt
    folder = free_folder(ws.version, happened.files)
    rt = rt.telling(Message(text=wording.begins_again(ws, folder)), part=ws.stage)
    edits = put_aside(ws, happened.files, names=rt.people)
    return owe_commit(rt, f"plan version {ws.version} put aside", then=Then.PLAN_ASIDE, edits=edits)


def offered_again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    rt = rested(rt, playbook)
    message = menus.ready(wording.stands_ready(held(rt)), analysed=analysed(rt, playbook))
    return rt.offering(MenuKind.PLAN_READY, message, part=Part.REVIEW_READY)


def is_saving(rt: Roundtable) -> bool:
    """Whether the files of a plan are on their way into git."""
    owed = (effect for effect in rt.outbox if isinstance(effect, effects.Commit))
    return any(commit.then in {Then.PLAN, Then.PLAN_ASIDE} for commit in owed)


def rested(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """With its plan, an item that is analysed is where it was before."""
    if rt.stage is not Stage.PLANNING or not analysed(rt, playbook):
        return rt
    return rt.but(stage=Stage.ANALYSED, planned_from=None)


def analysed(rt: Roundtable, playbook: Playbook) -> bool:
    return playbook.agenda.first_open(rt.phases_completed) is None
