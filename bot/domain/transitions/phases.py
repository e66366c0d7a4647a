"""Opening and closing phases, and the item when there is none left."""

from typing import Any

from bot.domain import wording
from bot.domain.agenda import Phase, Playbook, depth_for
from bot.domain.effects import Draft, Then
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.meta import Change
from bot.domain.outcomes import Committed, Drafted
from bot.domain.persona import Persona
from bot.domain.planning import menus as planning_menus
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.steps import Depth
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import asking, pausing, steps
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import (
    HEAD,
    owe_commit,
    owe_commit_then_offer,
    owe_commit_then_tell,
    saying_what_is_saved,
)

ELABORATIONS_RECALLED = 3


# --- opening ------------------------------------------------------------------------------------------------------


def go_on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The first phase that is not complete, or the end."""
    phase = playbook.agenda.first_open(rt.phases_completed)
    return _open(rt, phase, playbook) if phase else analysed(rt, playbook)


def analysed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    rt = rt.but(stage=Stage.ANALYSED, heading_for=None, step_id="", elaboration=None, answers=(), drafted=())
    return pausing.notes_saved(rt, playbook)


def welcome(rt: Roundtable, playbook: Playbook) -> str:
    """The greeting of a resumed phase: what is done, what was discussed, what comes next."""
    phase = asking.phase_of(rt.phase_key, playbook)
    following = asking.upcoming(rt, playbook)
    held = [record for record in rt.elaborations if record.step_id.startswith(f"{phase.number}-")]
    return wording.welcome_back(
        _titles_done(rt, phase, playbook), following.title if following else "", held[-ELABORATIONS_RECALLED:]
    )


def _open(rt: Roundtable, phase: Phase, playbook: Playbook) -> Roundtable:
    lead, unknown = playbook.roster.lead_of(phase.key)
    depth, why, ignored = depth_for(phase.key, rt.depth_overrides, rt.scan)
    rt = rt.but(phase_key=phase.key, step_id="", depth=depth, passed=(), stage=Stage.DISCUSSING)
    rt = rt.opening_round(Part.CLARIFYING)
    rt = report(rt, [one for one in (unknown, ignored) if one])
    resumed = bool(_titles_done(rt, phase, playbook))
    if not resumed:
        rt = _handed_over(rt, phase, playbook, lead=lead)

    words = welcome(rt, playbook) if resumed else wording.greeting(lead, phase)
    text = "\n\n".join(part for part in (words, _depth_note(depth, why, resumed=resumed)) if part)
    message = Message(text=text, speaker=lead.key)
    rt = rt.telling(message, part=Part.CLARIFYING, actor=lead.actor, depth=depth.value)
    rt = report(rt, playbook.troubles_of(phase.key))
    return asking.next_question(rt, playbook)


def _handed_over(rt: Roundtable, phase: Phase, playbook: Playbook, *, lead: Persona) -> Roundtable:
    """Two messages when the lead changes: who has finished what, and what the next one starts from."""
    before = [one for one in playbook.agenda.phases if one.key < phase.key and one.key in rt.phases_completed]
    if not before:
        return rt
    ended = before[-1]
    outgoing, _ = playbook.roster.lead_of(ended.key)
    if outgoing.key == lead.key:
        return rt
    handoff = wording.handoff(outgoing, lead, ended=ended, begun=phase)
    rt = rt.telling(Message(text=handoff), part=Part.CLARIFYING)
    titles = _titles_done(rt, ended, playbook)
    reviewed = wording.reviewed(outgoing, ended, artifacts=rt.artifacts, titles=titles)
    return rt.telling(Message(text=reviewed, speaker=lead.key), part=Part.CLARIFYING, actor=lead.actor)


def _titles_done(rt: Roundtable, phase: Phase, playbook: Playbook) -> tuple[str, ...]:
    """Titles of the completed steps of *phase*, in the order they were completed."""
    return tuple(
        step.title if (step := playbook.agenda.get(step_id)) else step_id
        for step_id in rt.steps_completed
        if step_id.startswith(f"{phase.number}-")
    )


def _depth_note(depth: Depth, why: str, *, resumed: bool) -> str:
    if why == "override":
        return wording.depth_kept(depth) if resumed else ""
    return wording.DEPTH_ANNOUNCED[depth]


# --- closing ------------------------------------------------------------------------------------------------------


def skip_rest(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The steps that are left are drafted from what was said, and not recorded as done."""
    left = tuple(
        step.step_id
        for step in playbook.agenda.steps_of(rt.phase_key)
        if step.step_id not in rt.steps_completed
    )
    speaker = asking.speaker_of(rt, playbook)
    message = Message(text=wording.skipping(), speaker=speaker.key)
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.AT_BOUNDARY)
    rt = rt.telling(message, part=Part.FORMALIZING, actor=speaker.actor)
    return rt.owing(Draft(steps=left, skipped=True))


def skipped_drafted(rt: Roundtable, happened: Drafted, playbook: Playbook) -> Roundtable:
    """The drafts and the completion of the phase are one commit."""
    phase = asking.phase_of(rt.phase_key, playbook)
    edits = steps.own_edits(happened.edits, playbook.agenda.steps_of(phase.key))
    rt = rt.recording(wording.phase_complete(phase), part=Part.FORMALIZING)
    if happened.dangling:
        rt = rt.telling(Message(text=wording.dangling(happened.dangling)), part=Part.FORMALIZING)
    change = Change(phases=(phase.key,), codebase_hash=HEAD)
    return owe_commit(rt, f"phase {phase.key} {phase.name}", then=Then.PHASE, edits=edits, change=change)


def close(rt: Roundtable, playbook: Playbook, *, heading_for: Stage) -> Roundtable:
    """The phase is complete because a person said so; committed before anything follows."""
    phase = asking.phase_of(rt.phase_key, playbook)
    following = playbook.agenda.first_open((*rt.phases_completed, phase.key))
    rt = _strangers_logged(rt.but(stage=Stage.CLOSING, heading_for=heading_for), playbook)
    if following and phase.key in rt.phases_completed:
        return closed(rt, playbook, None)

    change = Change(phases=(phase.key,), codebase_hash=HEAD)
    subject = f"phase {phase.key} {phase.name}"
    if following:
        rt = rt.recording(wording.phase_complete(phase), part=Part.FORMALIZING)
        return owe_commit(rt, subject, then=Then.PHASE, change=change)
    rt = rt.opening_round(Part.REVIEW_READY)
    finish = Message(text=wording.analysis_complete(rt.slug), note=wording.phase_complete(phase))
    told: dict[str, Any] = {"part": Part.REVIEW_READY, "then": Then.PHASE, "change": change}
    if not len(playbook.workshop):
        return owe_commit_then_tell(rt, subject, finish, **told)
    offer = finish.but(choices=(planning_menus.PLAN,))
    return owe_commit_then_offer(rt, subject, offer, kind=MenuKind.PLAN_OFFER, **told)


def closed(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
    """Where to after the commit: the menu of the phase, a pause, the next phase, or the end."""
    heading_for = rt.heading_for
    rt = rt.but(heading_for=None)
    if heading_for is Stage.AT_BOUNDARY:
        return steps.menu_or_write(rt, playbook, saying_what_is_saved(rt, told))
    if heading_for is Stage.PAUSED:
        return pausing.rest(rt, playbook)
    return go_on(rt, playbook)


def _strangers_logged(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Steps of later phases that are recorded already are harmless, and worth a line in the log."""
    later = {step.step_id for step in playbook.agenda.steps if step.phase_key > rt.phase_key}
    return rt.logging(trouble("ERR-INT-002")) if later & set(rt.steps_completed) else rt
