"""
What the first message of the thread says, and the final brief, which is posted when the analysis is complete for the
first time, and after people went deeper. Both follow from the state (see `live`).
"""

from collections.abc import Mapping

from bot.domain.catalog.agenda import Playbook, depth_for
from bot.domain.catalog.personas import Chain, Persona
from bot.domain.catalog.steps import Depth, Step
from bot.domain.item.item import repository_of
from bot.domain.messages import root_card, specification_wording, step_wording
from bot.domain.messages.message import Message
from bot.domain.messages.root_card import RootActivity, RootScene, RootStatus
from bot.domain.roundtable import covering, waiting
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification.brief import PAGE, Brief, BriefRows, brief, in_order, issue_of
from bot.domain.specification.claims import Entry
from bot.domain.specification.not_settled import WORK, lacking
from bot.domain.values import places
from bot.domain.values.timestamps import in_words

STOPPED = frozenset({Stage.PAUSED, Stage.STALLED})


def without_stop(rt: Roundtable) -> Roundtable:
    """Who stopped is told until it goes on."""
    return rt.but(paused_by="") if rt.paused_by and rt.stage not in {*STOPPED, Stage.CLOSING} else rt


def is_shown(rt: Roundtable) -> bool:
    return bool(rt.place.thread and rt.phase_key) and rt.stage is not Stage.OPENING


def final_brief(rt: Roundtable, playbook: Playbook) -> Message:
    message = root_card.final_brief(scene_of(rt, playbook, status=RootStatus.COMPLETE))
    return message.but(note=step_wording.phase_complete(playbook.agenda.phases[-1]))


# --- what they say --------------------------------------------------------------------------------------------------


def scene_of(rt: Roundtable, playbook: Playbook, *, status: RootStatus | None = None) -> RootScene:
    status = status or _status(rt, playbook)
    complete = status is RootStatus.COMPLETE
    at = rt.but(stage=rt.heading_for or rt.stage) if rt.stage in STOPPED else rt
    activity = _activity(at)
    following = None if complete else asking.upcoming(at, playbook)
    here = following if activity is RootActivity.OPEN else playbook.agenda.get(rt.step_id)
    found, leads = brief(playbook.schema, rt.specification), leads_of(playbook)
    return RootScene(
        title=rt.title,
        item=rt.slug,
        status=status,
        brief=found,
        current=here.title if here else "",
        following=following.title if following else _next_phase(rt, playbook),
        place=_place(here, playbook) if here else "",
        activity=activity,
        current_permalink=_card_link(rt, here) if here else "",
        waiting=tuple(map(rt.name_of, waiting.awaited(rt))) if rt.stage is Stage.DISCUSSING else (),
        due=in_words(rt.attendance.due, offset=rt.attendance.due_offset) if rt.attendance.due else "",
        saved=step_wording.saved_in(PAGE, rt.saved_at) if rt.saved_at and rt.written.get(PAGE) else "",
        paused_by=rt.name_of(rt.paused_by) if rt.paused_by else "",
        people=tuple(dict.fromkeys(rt.people.values())),
        depth=_depth(rt, playbook),
        ending=_ending(rt, playbook, found) if complete else "",
        done=done(rt, playbook) if complete else "",
        deeper=covering.steps_to_deepen(rt, playbook) if complete else 0,
        models={one.first_name: _model(one, playbook) for one in leads},
        why=_why(rt) if complete else {},
        issues=_issues(rt) if complete else {},
        can_create=complete and can_create_issues(rt, playbook),
        has_issue=bool(began_with(rt)),
    )


def ending(rt: Roundtable, playbook: Playbook) -> str:
    return _ending(rt, playbook, brief(playbook.schema, rt.specification))


def _ending(rt: Roundtable, playbook: Playbook, found: Brief) -> str:
    lacks = lacking(playbook.schema, rt.specification)
    return step_wording.analysis_complete(rt.slug, len(found.not_settled), lacks)


def done(rt: Roundtable, playbook: Playbook) -> str:
    """Nothing where nothing was left out but what is not needed."""
    steps = playbook.all_steps
    left = [step for step in steps if step.step_id not in rt.steps_completed]
    if all(_is_left_out(rt, step) for step in left):
        return ""
    return step_wording.go_deeper(len(steps) - len(left), len(steps))


def _place(step: Step, playbook: Playbook) -> str:
    """The plan is none of the steps of the analysis, and a card none of many."""
    ids = [one.step_id for one in playbook.agenda.steps]
    if step.step_id not in ids:
        return ""
    place_of = step_wording.card_of if step.is_card else step_wording.step_of
    return place_of(ids.index(step.step_id) + 1, len(ids))


def not_ready(rt: Roundtable, playbook: Playbook) -> str:
    """Empty when the item is ready to build."""
    lacks = lacking(playbook.schema, rt.specification)
    return specification_wording.not_ready(lacks) if lacks else ""


def _is_left_out(rt: Roundtable, step: Step) -> bool:
    scan = asking.scan_of(rt)
    return step.is_excused(scan.facts(depth_for(step.phase_key, rt.depth_overrides, scan)[0]))


def _activity(rt: Roundtable) -> RootActivity:
    """A finished step stays the one at which we are, until people go on."""
    if rt.elaboration and rt.stage in {Stage.ELABORATING, Stage.WRITING}:
        return RootActivity.DISCUSSED
    is_left = rt.stage in {Stage.DISCUSSING, Stage.CLOSING, Stage.ANALYSED}
    is_finished = rt.has_finished(rt.step_id) and not is_left
    return RootActivity.FINISHED if is_finished else RootActivity.OPEN


def _next_phase(rt: Roundtable, playbook: Playbook) -> str:
    phase = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key))
    return phase.name if phase else ""


def _depth(rt: Roundtable, playbook: Playbook) -> Depth:
    """The plan has none of its own: while it is open, that of the phase with which the analysis goes on."""
    if rt.step_id != playbook.agenda.plan.step_id:
        return rt.depth or Depth.STANDARD
    phase = playbook.agenda.first_open(rt.phases_completed)
    return depth_for(phase.key, rt.depth_overrides, asking.scan_of(rt))[0] if phase else Depth.STANDARD


def _status(rt: Roundtable, playbook: Playbook) -> RootStatus:
    if rt.stage in STOPPED:
        return RootStatus.PAUSED
    is_over = rt.stage is Stage.ANALYSED or rt.phase_key == playbook.agenda.plan.phase_key
    if is_over and playbook.agenda.first_open(rt.phases_completed) is None:
        return RootStatus.COMPLETE
    return RootStatus.RUNNING


def leads_of(playbook: Playbook) -> tuple[Persona, ...]:
    leads = (playbook.roster.lead_of(phase.key)[0] for phase in playbook.agenda.phases)
    return tuple({lead.key: lead for lead in leads}.values())


def _model(persona: Persona, playbook: Playbook) -> str:
    chain = Chain.read(persona.model or playbook.policy.model)
    return ", then ".join(map(str, chain.names))


def _card_link(rt: Roundtable, step: Step) -> str:
    card = rt.card
    return link_to(rt, rt.stands_at(card.token)) if card and card.step_id == step.step_id else ""


def can_create_issues(rt: Roundtable, playbook: Playbook) -> bool:
    return bool(playbook.repositories) and not rt.hidden and bool(accepted_work(rt, playbook))


def began_with(rt: Roundtable) -> str:
    """The issue that the item began with, with its repository; empty for none."""
    named = (rt.reference, rt.source_id or "")
    return next((one for one in named if repository_of(one)[1]), "")


def accepted_work(rt: Roundtable, playbook: Playbook) -> list[Entry]:
    return in_order(BriefRows(playbook.schema, rt.specification).accepted(WORK))


def _issues(rt: Roundtable) -> Mapping[str, tuple[str, str]]:
    found = {one.id: issue_of(one) for one in rt.specification.active(WORK)}
    return {id: (issue, rt.issues.states.get(issue, "")) for id, issue in found.items() if issue}


def _why(rt: Roundtable) -> Mapping[str, str]:
    """Where a decision was said."""
    links = ((one.id, said_at(rt, one)) for one in rt.specification.active("decision"))
    return {id: link for id, link in links if link}


def said_at(rt: Roundtable, entry: Entry, field: str = "text") -> str:
    claim = entry.claim(field)
    return link_to_line(rt, claim.line) if claim else ""


def link_to_line(rt: Roundtable, line: str) -> str:
    """The address of what a person wrote, by its line."""
    return places.link_of_line(places.read_permalink(rt.permalink), line)


def link_to(rt: Roundtable, ts: str) -> str:
    """The address of a message in the thread; empty where that is not known."""
    return places.link_of_message(places.read_permalink(rt.permalink), rt.place.channel, ts)
