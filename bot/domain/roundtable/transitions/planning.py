"""
The planning workshop in a thread: what is due in it becomes posts, questions to voices, and commits.

What may happen in a workshop is decided in `domain/planning`; here it is only told, asked and saved. Presses are in
`planning_presses`.
"""

from typing import Any, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import seat
from bot.domain.messages import planning_card, planning_wording, trouble_wording
from bot.domain.messages.menus import ALLOW_MORE, MenuKind
from bot.domain.messages.message import Message
from bot.domain.planning import workshop
from bot.domain.planning.derived import need_of
from bot.domain.planning.record import free_folder, outputs, put_aside, taken_up
from bot.domain.planning.verdict import seated, silent_in
from bot.domain.planning.workshop import (
    FIRST_READING,
    VERSIONED,
    Ask,
    Decide,
    Explain,
    PutAside,
    RequestPlan,
    RequestVerdict,
    Workshop,
    Write,
)
from bot.domain.roundtable import effects, plan_card, root
from bot.domain.roundtable.budget import gone, total
from bot.domain.roundtable.effects import Then
from bot.domain.roundtable.inputs import Plan
from bot.domain.roundtable.outcomes import Committed, Formalized, Judged, PlanRead, spent
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import pausing
from bot.domain.roundtable.transitions.asking import thinks
from bot.domain.roundtable.transitions.saving import (
    queue_commit,
    queue_commit_then_offer,
    saying_that_it_is_not,
)
from bot.domain.transcript.lines import BY_RULE, LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

# What is due in a planning workshop, on its way into the world: a role is asked, a question put, a menu
# shown, a plan written and saved.


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
    """What is due is asked for, shown or saved, once."""
    ws = held(rt)
    due = ws.due
    if isinstance(due, RequestVerdict | RequestPlan) and _is_out_of_reach(due, rt, playbook):
        return asked_for_more(rt, playbook)
    match due:
        case RequestVerdict():
            return _roles_asked(rt, ws, due)
        case Ask():
            return _asked(rt, due, playbook)
        case Decide():
            message = planning_card.decision_menu(ws, plan_card.headline(ws))
            return plan_card.offering(rt, MenuKind.PLAN_DECISION, message, part=ws.stage)
        case Explain(person=person):
            message = planning_card.decision_menu(ws, planning_wording.explain(rt.name_of(person)))
            return plan_card.offering(rt, MenuKind.PLAN_DECISION, message, part=ws.stage)
        case RequestPlan():
            return _writing_asked(rt, ws)
        case Write():
            return _writing_down(rt, ws, playbook)
        case PutAside():
            return rt if rt.has_pending(effects.ReadPlan) else rt.queueing(effects.ReadPlan(aside=True))
        case None:
            return rt
        case _:
            assert_never(due)


def asked_for_more(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The budget for the roles is used up: what was said is saved, and people are asked, once."""
    budget = playbook.policy.budget
    if budget is None or (rt.menu and rt.menu.kind is MenuKind.PLAN_BUDGET):
        return rt
    text = trouble_wording.no_planning_without(total(budget, rt.purse.allowed))
    message = Message(text=text, choices=(ALLOW_MORE, planning_card.LEAVE))
    rt = queue_commit(rt, "budget used up")
    return rt.offering(MenuKind.PLAN_BUDGET, message, part=held(rt).stage)


def _is_out_of_reach(due: RequestVerdict | RequestPlan, rt: Roundtable, playbook: Playbook) -> bool:
    """Whether it needs a model, and the budget is used up."""
    work = (
        effects.Judge(role=due.role, round=due.round)
        if isinstance(due, RequestVerdict)
        else effects.Formalize()
    )
    return gone(rt.purse, playbook.policy) and thinks(work, rt, playbook)


def held(rt: Roundtable) -> Workshop:
    assert rt.workshop, "there is a workshop while something is due in it"
    return rt.workshop


def _roles_asked(rt: Roundtable, ws: Workshop, due: RequestVerdict) -> Roundtable:
    """All at the same time, since none builds on the verdict of another; a challenge comes after them."""
    if rt.has_pending(effects.Judge):
        return rt
    if due.challenge:
        rt = rt.saying_on_card(planning_wording.challenges(due.role), part=ws.stage)
    elif ws.round != FIRST_READING and not ws.verdicts_of(ws.round):
        rt = rt.saying_on_card(planning_wording.round_begins(ws), part=ws.stage)
    return _queueing(rt, ws, due)


def heard_meanwhile(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """People spoke while roles judge: those who have not answered are asked again, with what was said."""
    ws = held(rt)
    if not isinstance(ws.due, RequestVerdict) or not rt.has_pending(effects.Judge):
        return rt
    return _queueing(rt.dropping(effects.Judge), ws, ws.due)


def _queueing(rt: Roundtable, ws: Workshop, due: RequestVerdict) -> Roundtable:
    roles = (due.role,) if due.challenge else silent_in(ws.verdicts_of(ws.round), ws.roles)
    together = len(roles) > 1
    return rt.queueing(*(effects.Judge(role=one, round=due.round, together=together) for one in roles))


def _asked(rt: Roundtable, due: Ask, playbook: Playbook) -> Roundtable:
    """By the role that wanted to know first."""
    role = due.question.by[0]
    message = planning_card.question_menu(due, speaker_of(role, playbook))
    part = held(rt).stage
    facts = BY_RULE if need_of(playbook.schema, due.question.text) else {}
    return plan_card.offering(rt, MenuKind.PLAN_QUESTION, message, part=part, actor=role, **facts)


def speaker_of(role: str, playbook: Playbook) -> str:
    """The host, for a role that has left its seat since."""
    return next((seat(persona.key) for persona in playbook.workshop if persona.actor == role), "")


def _writing_asked(rt: Roundtable, ws: Workshop) -> Roundtable:
    if rt.has_pending(effects.Formalize):
        return rt
    text = planning_wording.mending(ws.errors) if ws.errors else planning_wording.FORMALIZING
    return rt.saying_on_card(text, part=ws.stage).queueing(effects.Formalize())


def _writing_down(rt: Roundtable, ws: Workshop, playbook: Playbook) -> Roundtable:
    """The message is in the transcript that is committed, and is said when the files are there."""
    if is_saving(rt):
        return rt
    assert ws.plan, "a plan is written when there is one"
    edits = outputs(ws, ws.plan, names=rt.people, now=rt.now)
    text = planning_wording.ready(ws, ws.plan, root.not_ready(rt, playbook))
    message = planning_card.ready_menu(text, analysed=analysed(rt, playbook))
    return queue_commit_then_offer(
        rt,
        f"plan version {ws.version}",
        message,
        kind=MenuKind.PLAN_READY,
        part=LinePhase.REVIEW_READY,
        then=Then.PLAN,
        edits=edits,
    )


def put_files_aside(rt: Roundtable, event: PlanRead) -> Roundtable:
    ws = held(rt)
    if not isinstance(ws.due, PutAside) or is_saving(rt):
        return rt
    folder = free_folder(ws.version, event.files)
    rt = rt.telling(Message(text=planning_wording.begins_again(ws, folder)), part=ws.stage)
    edits = put_aside(ws, event.files, names=rt.people)
    return queue_commit(rt, f"plan version {ws.version} put aside", then=Then.PLAN_ASIDE, edits=edits)


def offered_again(rt: Roundtable, playbook: Playbook) -> Roundtable:
    rt = rested(rt, playbook)
    message = planning_card.ready_menu(
        planning_wording.stands_ready(held(rt)), analysed=analysed(rt, playbook)
    )
    return rt.offering(MenuKind.PLAN_READY, message, part=LinePhase.REVIEW_READY)


def is_saving(rt: Roundtable) -> bool:
    """Whether the files of a plan are on their way into git."""
    pending = (effect for effect in rt.outbox if isinstance(effect, effects.Commit))
    return any(commit.then in {Then.PLAN, Then.PLAN_ASIDE} for commit in pending)


def rested(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """With its plan, an item that is analysed is where it was before."""
    if rt.stage is not Stage.PLANNING or not analysed(rt, playbook):
        return rt
    return rt.but(stage=Stage.ANALYSED, planned_from=None)


def analysed(rt: Roundtable, playbook: Playbook) -> bool:
    return playbook.agenda.first_open(rt.phases_completed) is None


# --- beginning ------------------------------------------------------------------------------------------------------


def plan_asked(rt: Roundtable, event: Plan, playbook: Playbook) -> Roundtable:
    """Not while a discussion is only stopped: in the record its turns stand together, up to the synthesis."""
    if rt.heading_for is Stage.ELABORATING:
        raise NotNow(trouble_wording.DISCUSSING)
    return begin(rt, event.person, playbook)


def plan_again(rt: Roundtable, event: Plan, playbook: Playbook) -> Roundtable:
    """It is being held already: where it stands, and what is open."""
    return back(rt, playbook)


def not_in_a_discussion(rt: Roundtable, event: Plan, playbook: Playbook) -> Roundtable:
    raise NotNow(trouble_wording.DISCUSSING)


def begin(rt: Roundtable, person: Person, playbook: Playbook, *, ts: str = "") -> Roundtable:
    """Where the analysis stands is kept: it is gone back to. The folder says whether there is a plan already."""
    if not len(playbook.workshop):
        raise NotNow(trouble_wording.NO_ROLES)
    name = rt.name_of(person.id)
    origin = rt.heading_for if rt.stage is Stage.PAUSED else rt.stage
    rt = rt.closing_menu(planning_wording.called(name), ts=ts).dropping(*effects.UNDER_WAY)
    rt = rt.but(stage=Stage.PLANNING, planned_from=_origin(origin), heading_for=None)
    rt = rt.opening_round(LinePhase.DRAFT).recording(
        planning_wording.called(name), part=LinePhase.DRAFT, user_id=person.id
    )
    return rt.queueing(effects.ReadPlan())


def goes_on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """As soon as there is a thread and a folder; with nothing to go back to, the analysis stands where it stands."""
    return begin(rt, Person(id=rt.started_by), playbook)


def lost(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The store was lost in the middle of it: it begins again, as a step does that was not finished."""
    if not len(playbook.workshop):
        return rt
    rt = rt.but(heading_for=Stage.PLANNING)
    return rt.telling(Message(text=planning_wording.TAKEN_UP), part=rt.part)


def _origin(stage: Stage | None) -> Stage | None:
    """Where a menu, a question or the end is shown again; anything else is found anew."""
    return stage if stage in {Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.ANALYSED} else None


def plan_read(rt: Roundtable, event: PlanRead, playbook: Playbook) -> Roundtable:
    if event.aside:
        return put_files_aside(rt, event)
    ws = _found(rt, event, playbook).but(has_models=_has_models(rt, playbook))
    rt = rt.but(workshop=ws)
    if ws.stage is LinePhase.REVIEW_READY:
        return offered_again(rt, playbook)
    if ws.stage is not LinePhase.DRAFT:
        return back(rt, playbook)
    opened = planning_wording.opened(ws, introduced=rt.planned_from is None)
    rt = plan_card.opened(rt, opened, part=LinePhase.DRAFT)
    return becomes(rt, workshop.started(ws), playbook)


def _has_models(rt: Roundtable, playbook: Playbook) -> bool:
    roles = (persona.actor for persona in playbook.workshop)
    return any(thinks(effects.Judge(role=role, round=FIRST_READING), rt, playbook) for role in roles)


def _found(rt: Roundtable, event: PlanRead, playbook: Playbook) -> Workshop:
    """What we know of it, if that is still so; else what git and the transcript say."""
    known = rt.workshop
    roles = seated(persona.actor for persona in playbook.workshop)
    fresh = known is None or known.stage is LinePhase.DRAFT
    drafted = Workshop(
        slug=rt.slug,
        title=rt.title,
        brief=(known.brief if known else "") or event.brief or rt.title,
        roles=roles,
        questions=known.questions if known and known.questions else event.answered,
        remarks=known.remarks if known and known.remarks else event.remarks,
        lessons=known.lessons if known else (),
    )
    found = taken_up(drafted, event.files)
    is_gone = (
        known is not None
        and known.stage is LinePhase.REVIEW_READY
        and found.stage is not LinePhase.REVIEW_READY
    )
    return found if known is None or fresh or is_gone else known


def back(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """After a pause, or when a person asks: where it stands, and what is open is shown again."""
    rt = rt.but(stage=Stage.PLANNING, heading_for=None)
    ws = rt.workshop
    if ws is None or ws.stage is LinePhase.DRAFT:
        return rt if rt.has_pending(effects.ReadPlan) else rt.queueing(effects.ReadPlan())
    if ws.stage is LinePhase.REVIEW_READY and ws.due is None:
        return offered_again(rt, playbook)
    if not plan_card.is_posted(rt):
        return on(rt, playbook)
    rt = plan_card.opened(rt, "", part=ws.stage, line=planning_wording.welcome_back(ws))
    return on(rt, playbook)


# --- voices and the disk --------------------------------------------------------------------------------------------


def judged(rt: Roundtable, event: Judged, playbook: Playbook) -> Roundtable:
    """What a role says is a line of its own, with the verdict in it, so that the record can be replayed."""
    ws, verdict = held(rt), event.verdict
    due = ws.due
    if not isinstance(due, RequestVerdict) or (due.role, due.round) != (event.role, event.round):
        return rt
    text = planning_wording.verdict(verdict, first=ws.round == FIRST_READING)
    facts: dict[str, Any] = {**(spent(event.facts) or BY_RULE), "verdict": verdict.model_dump(mode="json")}
    if due.challenge:
        facts["challenge"] = True
    rt = rt.saying_on_card(text, part=ws.stage, actor=event.role, **facts)
    return becomes(rt, workshop.judged(ws, event.role, verdict, line=rt.lines[-1].message_id), playbook)


def role_lost(rt: Roundtable, silent: Judged, playbook: Playbook) -> Roundtable:
    """One voice that fails does not sink the round: it counts as one that cannot say."""
    if rt.stage is not Stage.PLANNING or rt.workshop is None:
        return rt
    return judged(rt, silent, playbook)


def formalized(rt: Roundtable, event: Formalized, playbook: Playbook) -> Roundtable:
    """What a model took for the plan has a line of its own: the next one may be a menu, or not come at all."""
    ws = held(rt)
    if not isinstance(ws.due, RequestPlan):
        return rt
    after = workshop.formalized(ws, event.plan, event.known)
    if event.facts:
        text = planning_wording.formalized(valid=after.plan is not None)
        rt = rt.recording(text, part=ws.stage, **spent(event.facts))
    return on(rt.but(workshop=after), playbook)


def written(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """The plan is shown by the post that follows the commit. What could not be saved is in the store, and counts."""
    ws = workshop.written(held(rt), *VERSIONED)
    rt = rt if told else saying_that_it_is_not(rt)
    return pausing.notes_saved(rested(rt.but(workshop=ws), playbook), playbook)


def set_aside(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    ws = workshop.put_aside(held(rt))
    rt = rt.but(workshop=ws)
    if rt.stage is not Stage.PLANNING or ws.stage is not LinePhase.DRAFT:
        return rt
    opened = planning_wording.opened(ws, introduced=True)
    rt = plan_card.opened(rt.opening_round(LinePhase.DRAFT), opened, part=LinePhase.DRAFT)
    return becomes(rt, workshop.started(ws), playbook)
