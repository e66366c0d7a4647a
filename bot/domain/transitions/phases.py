"""Opening and closing phases, and the item when there is none left."""

from bot.domain import wording
from bot.domain.agenda import Phase, Playbook, Step, depth_for
from bot.domain.message import Message
from bot.domain.meta import Change
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable, Stage
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import steps
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import HEAD, owe_commit, owe_commit_then_tell

ELABORATIONS_RECALLED = 3


def go_on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The first phase that is not complete, or the end."""
    phase = playbook.agenda.first_open(rt.phases_completed)
    return open_phase(rt, phase, playbook) if phase else analysed(rt, playbook)


def open_phase(rt: Roundtable, phase: Phase, playbook: Playbook) -> Roundtable:
    lead, unknown = playbook.roster.lead_of(phase.key)
    depth, why, ignored = depth_for(phase.key, rt.depth_overrides, rt.scan)
    done = titles_done(rt, phase, playbook)
    rt = rt.but(phase_key=phase.key, step_id="", depth=depth, passed=(), stage=Stage.DISCUSSING, answers=())
    rt = rt.opening_round(Part.CLARIFYING)

    rt = report(rt, [one for one in (unknown, ignored) if one], part=Part.CLARIFYING)
    if not done:
        rt = _handed_over(rt, phase, playbook, lead=lead)
    rt = _greeted(rt, phase, playbook, lead=lead, depth_note=_depth_note(rt, why, resumed=bool(done)))
    rt = report(rt, playbook.troubles_of(phase.key), part=Part.CLARIFYING)
    return steps.open_next(rt, playbook)


def close(rt: Roundtable, playbook: Playbook, *, heading_for: Stage) -> Roundtable:
    """The phase is complete because a person said so; committed before anything follows."""
    phase = playbook.agenda.phase(rt.phase_key)
    rt = rt.but(stage=Stage.CLOSING, heading_for=heading_for)
    rt = _strangers_logged(rt, playbook)
    change = Change(phases=(phase.key,), codebase_hash=HEAD)
    if playbook.agenda.first_open((*rt.phases_completed, phase.key)):
        rt = rt.recording(wording.phase_complete(phase), part=Part.FORMALIZING)
        return owe_commit(rt, f"phase {phase.key} {phase.name}", change=change)

    rt = rt.but(heading_for=Stage.ANALYSED).opening_round(Part.REVIEW_READY)
    finish = Message(text=wording.analysis_complete(rt.slug), note=wording.phase_complete(phase))
    return owe_commit_then_tell(
        rt, f"phase {phase.key} {phase.name}", finish, part=Part.REVIEW_READY, change=change
    )


def closed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The commit that closed the phase is done."""
    rt = rt.but(
        phases_completed=tuple(dict.fromkeys((*rt.phases_completed, rt.phase_key))),
        heading_for=None,
        answers=(),
    )
    return go_on(rt, playbook)


def analysed(rt: Roundtable, playbook: Playbook) -> Roundtable:
    return rt.but(stage=Stage.ANALYSED, heading_for=None, step_id="", menu=None, elaboration=None, answers=())


def skip_rest(rt: Roundtable, playbook: Playbook) -> tuple[Roundtable, tuple[str, ...]]:
    """The steps of the phase that are left, and that we say so."""
    left = tuple(
        step.step_id
        for step in playbook.agenda.steps_of(rt.phase_key)
        if step.step_id not in rt.steps_completed
    )
    speaker = steps.speaker_of(rt, playbook)
    message = Message(text=wording.skipping(), speaker=speaker.key)
    return rt.telling(message, part=Part.FORMALIZING, actor=speaker.actor), left


def titles_done(rt: Roundtable, phase: Phase, playbook: Playbook) -> tuple[str, ...]:
    """Titles of the completed steps of *phase*, in the order they were completed."""
    prefix = f"{phase.number}-"
    return tuple(
        step.title if (step := playbook.agenda.get(step_id)) else step_id
        for step_id in rt.steps_completed
        if step_id.startswith(prefix)
    )


def upcoming(rt: Roundtable, playbook: Playbook) -> Step | None:
    """The step that is open, or the next one of the current phase."""
    if rt.stage is Stage.DISCUSSING and rt.step_id:
        return playbook.agenda.get(rt.step_id)
    return steps.pick(rt, playbook).step


def welcome(rt: Roundtable, playbook: Playbook, *, next_title: str) -> str:
    """The greeting of a resumed phase, with the newest elaborations of it."""
    phase = playbook.agenda.phase(rt.phase_key)
    prefix = f"{phase.number}-"
    held = [record for record in rt.elaborations if record.step_id.startswith(prefix)]
    return wording.welcome_back(titles_done(rt, phase, playbook), next_title, held[-ELABORATIONS_RECALLED:])


def _handed_over(rt: Roundtable, phase: Phase, playbook: Playbook, *, lead: Persona) -> Roundtable:
    """Two messages when the lead changes: who has finished what, and what the next one starts from."""
    before = [one for one in playbook.agenda.phases if one.key < phase.key and one.key in rt.phases_completed]
    if not before:
        return rt
    ended = before[-1]
    outgoing, _ = playbook.roster.lead_of(ended.key)
    if outgoing.key == lead.key:
        return rt
    rt = rt.telling(
        Message(text=wording.handoff(outgoing, lead, ended=ended, begun=phase)), part=Part.CLARIFYING
    )
    reviewed = wording.reviewed(
        outgoing, ended, artifacts=rt.artifacts, titles=titles_done(rt, ended, playbook)
    )
    return rt.telling(Message(text=reviewed, speaker=lead.key), part=Part.CLARIFYING, actor=lead.actor)


def _greeted(
    rt: Roundtable, phase: Phase, playbook: Playbook, *, lead: Persona, depth_note: str
) -> Roundtable:
    following = steps.pick(rt, playbook).step
    resumed = bool(titles_done(rt, phase, playbook))
    next_title = following.title if following else ""
    words = welcome(rt, playbook, next_title=next_title) if resumed else wording.greeting(lead, phase)
    text = "\n\n".join(part for part in (words, depth_note) if part)
    return rt.telling(Message(text=text, speaker=lead.key), part=Part.CLARIFYING, actor=lead.actor)


def _depth_note(rt: Roundtable, why: str, *, resumed: bool) -> str:
    assert rt.depth, "opening a phase sets its depth"
    if why == "override":
        return wording.depth_kept(rt.depth) if resumed else ""
    return wording.DEPTH_ANNOUNCED[rt.depth]


def _strangers_logged(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Steps of later phases that are recorded already are harmless, and worth a line in the log."""
    later = {step.step_id for step in playbook.agenda.steps if step.phase_key > rt.phase_key}
    return rt.logging(trouble("ERR-INT-002")) if later & set(rt.steps_completed) else rt
