"""
The planning workshop in a thread: what is due in it becomes posts, questions to voices, and commits.

What may happen in a workshop is decided in `domain/planning`; here it is only told, asked and saved. Presses are in
`planning_presses`.
"""

from typing import Any

from bot.domain import effects, refusals
from bot.domain.agenda import Playbook
from bot.domain.inputs import Plan
from bot.domain.message import Message
from bot.domain.outcomes import Committed, spent
from bot.domain.place import Person
from bot.domain.planning import moves, wording
from bot.domain.planning.outcomes import Formalized, Judged, PlanRead
from bot.domain.planning.outputs import taken_up
from bot.domain.planning.paths import VERSIONED
from bot.domain.planning.roles import seated
from bot.domain.planning.workshop import (
    FIRST_READING,
    Formalize,
    Judge,
    Workshop,
)
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.transcript import Part
from bot.domain.transitions import pausing
from bot.domain.transitions import planning_due as due
from bot.domain.transitions.saving import saying_that_it_is_not
from bot.errors import NotNow

# --- beginning ------------------------------------------------------------------------------------------------------


def plan_asked(rt: Roundtable, happened: Plan, playbook: Playbook) -> Roundtable:
    """Not while a discussion is only stopped: in the record its turns stand together, up to the synthesis."""
    if rt.heading_for is Stage.ELABORATING:
        raise NotNow(refusals.discussing())
    return begin(rt, happened.person, playbook)


def plan_again(rt: Roundtable, happened: Plan, playbook: Playbook) -> Roundtable:
    """It is being held already: where it stands, and what is open."""
    return back(rt, playbook)


def not_in_a_discussion(rt: Roundtable, happened: Plan, playbook: Playbook) -> Roundtable:
    raise NotNow(refusals.discussing())


def begin(rt: Roundtable, person: Person, playbook: Playbook, *, ts: str = "") -> Roundtable:
    """Where the analysis stands is kept: it is gone back to. The folder says whether there is a plan already."""
    if not len(playbook.workshop):
        raise NotNow(refusals.no_roles())
    name = rt.name_of(person.id)
    origin = rt.heading_for if rt.stage is Stage.PAUSED else rt.stage
    rt = rt.closing_menu(wording.called(name), ts=ts).without_owing(*effects.UNDER_WAY)
    rt = rt.but(stage=Stage.PLANNING, planned_from=_origin(origin), heading_for=None)
    rt = rt.opening_round(Part.DRAFT).recording(wording.called(name), part=Part.DRAFT, user_id=person.id)
    return rt.owing(effects.ReadPlan())


def goes_on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """As soon as there is a thread and a folder; with nothing to go back to, the analysis stands where it stands."""
    return begin(rt, Person(id=rt.started_by), playbook)


def lost(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The store was lost in the middle of it: it begins again, as a step does that was not finished."""
    if not len(playbook.workshop):
        return rt
    rt = rt.but(heading_for=Stage.PLANNING)
    return rt.telling(Message(text=wording.taken_up()), part=rt.part)


def _origin(stage: Stage | None) -> Stage | None:
    """Where a menu, a question or the end is shown again; anything else is found anew."""
    return stage if stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.ANALYSED} else None


def plan_read(rt: Roundtable, happened: PlanRead, playbook: Playbook) -> Roundtable:
    if happened.aside:
        return due.put_files_aside(rt, happened)
    ws = _found(rt, happened, playbook)
    rt = rt.but(workshop=ws)
    if ws.stage is Part.REVIEW_READY:
        return due.offered_again(rt, playbook)
    if ws.stage is not Part.DRAFT:
        return back(rt, playbook)
    opened = wording.opened(ws, introduced=rt.planned_from is None)
    rt = rt.telling(Message(text=opened), part=Part.DRAFT)
    return due.becomes(rt, moves.started(ws), playbook)


def _found(rt: Roundtable, happened: PlanRead, playbook: Playbook) -> Workshop:
    """What we know of it, if that is still so; else what git and the transcript say."""
    known = rt.workshop
    roles = seated(persona.actor for persona in playbook.workshop)
    fresh = known is None or known.stage is Part.DRAFT
    drafted = Workshop(
        slug=rt.slug,
        title=rt.title,
        brief=(known.brief if known else "") or happened.brief or rt.title,
        roles=roles,
        questions=known.questions if known and known.questions else happened.answered,
        remarks=known.remarks if known and known.remarks else happened.remarks,
        lessons=known.lessons if known else (),
    )
    found = taken_up(drafted, happened.files)
    is_gone = known is not None and known.stage is Part.REVIEW_READY and found.stage is not Part.REVIEW_READY
    return found if known is None or fresh or is_gone else known


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After a pause, or when somebody asks: where it stands, and what is open is shown again."""
    rt = rt.but(stage=Stage.PLANNING, heading_for=None)
    ws = rt.workshop
    if ws is None or ws.stage is Part.DRAFT:
        return rt if rt.owes(effects.ReadPlan) else rt.owing(effects.ReadPlan())
    if ws.stage is Part.REVIEW_READY and ws.due is None:
        return due.offered_again(rt, playbook)
    rt = rt.telling(Message(text=wording.welcome_back(ws)), part=ws.stage)
    return due.on(rt, playbook)


# --- voices and the disk --------------------------------------------------------------------------------------------


def judged(rt: Roundtable, happened: Judged, playbook: Playbook) -> Roundtable:
    """What a role says is a line of its own, with the verdict in it, so that the record can be replayed."""
    ws, verdict = due.held(rt), happened.verdict
    if ws.due != Judge(role=happened.role, round=happened.round):
        return rt
    text = wording.verdict(verdict, first=ws.round == FIRST_READING)
    message = Message(text=text, speaker=due.speaker_of(happened.role, playbook))
    facts: dict[str, Any] = {**spent(happened.facts), "verdict": verdict.model_dump(mode="json")}
    rt = rt.telling(message, part=ws.stage, actor=happened.role, **facts)
    return due.becomes(rt, moves.judged(ws, happened.role, verdict, line=rt.lines[-1].message_id), playbook)


def role_lost(rt: Roundtable, silent: Judged, playbook: Playbook) -> Roundtable:
    """One voice that fails does not sink the round: it counts as one that cannot say."""
    if rt.stage is not Stage.PLANNING or rt.workshop is None:
        return rt
    return judged(rt, silent, playbook)


def formalized(rt: Roundtable, happened: Formalized, playbook: Playbook) -> Roundtable:
    """What a model took for the plan has a line of its own: the next one may be a menu, or not come at all."""
    ws = due.held(rt)
    if not isinstance(ws.due, Formalize):
        return rt
    after = moves.formalized(ws, happened.plan, happened.known)
    if happened.facts:
        text = wording.formalized(valid=after.plan is not None)
        rt = rt.recording(text, part=ws.stage, **spent(happened.facts))
    return due.on(rt.but(workshop=after), playbook)


def written(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """The plan is shown by the post that follows the commit. What could not be saved is in the store, and counts."""
    ws = moves.written(due.held(rt), *VERSIONED)
    rt = rt if told else saying_that_it_is_not(rt)
    return pausing.notes_saved(due.rested(rt.but(workshop=ws), playbook), playbook)


def set_aside(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    ws = moves.put_aside(due.held(rt))
    rt = rt.but(workshop=ws)
    if rt.stage is not Stage.PLANNING or ws.stage is not Part.DRAFT:
        return rt
    return due.becomes(rt.opening_round(Part.DRAFT), moves.started(ws), playbook)
