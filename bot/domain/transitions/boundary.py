"""The menu after a step and after a phase: the same one until a person chooses."""

from bot.domain import menus, wording, words
from bot.domain.agenda import Playbook
from bot.domain.effects import Draft
from bot.domain.inputs import Committed, Drafted, PersonaSpoke, Press, Say, SetDepth
from bot.domain.message import Action
from bot.domain.meta import Change
from bot.domain.place import Person
from bot.domain.roundtable import MenuKind, Roundtable, Stage
from bot.domain.steps import Depth
from bot.domain.transcript import Part
from bot.domain.transitions import elaborations, pausing, phases, steps
from bot.domain.transitions.reporting import report
from bot.domain.transitions.saving import HEAD, owe_commit, saved


def present(rt: Roundtable, playbook: Playbook, text: str, *, kind: MenuKind | None = None) -> Roundtable:
    """The menu that belongs here, with *text* above it."""
    at_end = steps.pick(rt, playbook).step is None
    kind = kind or (MenuKind.PHASE if at_end else MenuKind.STEP)
    speaker = steps.speaker_of(rt, playbook)
    depth = rt.depth or Depth.STANDARD
    if kind is MenuKind.STEP:
        message = menus.after_step(speaker.key, text, depth)
    else:
        left = [(one.step_id, one.why) for one in rt.passed if one.step_id not in rt.steps_completed]
        above = "\n\n".join(part for part in (text, wording.not_done(left)) if part)
        after = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key))
        message = menus.after_phase(speaker.key, above, after)
    rt = rt.closing_menu(wording.superseded()).but(stage=Stage.AT_BOUNDARY)
    return rt.offering(kind, message, part=Part.CLARIFYING, actor=speaker.actor)


def typed(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Menu letters, then depth words, then feedback (analysis reference §1.10)."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    if (action := words.letter(happened.text)) and rt.menu and rt.menu.offers(action):
        return choose(rt, action, playbook, person=happened.person)
    if words.stops(happened.text):
        return choose(rt, Action.STOP, playbook, person=happened.person)
    if wanted := words.depth(happened.text, at_menu=True):
        return change_depth(rt, wanted, playbook)

    rt = steps.with_answer(rt, happened, feedback=True)
    rt = rt.closing_menu(wording.chosen("Feedback", rt.name_of(happened.person.id)))
    if rt.step_id and playbook.agenda.get(rt.step_id):
        return steps.owe_draft(rt.but(stage=Stage.WRITING))
    return present(owe_commit(rt, "feedback"), playbook, "")


def interjected(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Said while we were writing: kept as feedback on what is being written."""
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=Part.CLARIFYING)
    return steps.with_answer(rt, happened, feedback=True)


def feedback_acknowledged(rt: Roundtable, happened: PersonaSpoke, playbook: Playbook) -> Roundtable:
    return present(rt, playbook, happened.text.strip() or wording.saved(()))


def pressed(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    return choose(rt, happened.action, playbook, person=happened.person, ts=happened.ts)


def choose(rt: Roundtable, action: Action, playbook: Playbook, *, person: Person, ts: str = "") -> Roundtable:
    assert rt.menu, "only an open menu can be chosen from"
    if action in menus.DEPTH_OF:
        return change_depth(rt, menus.DEPTH_OF[action], playbook)

    kind = rt.menu.kind
    label = next(choice.label for choice in rt.menu.message.choices if choice.action is action)
    name = rt.name_of(person.id)
    rt = rt.closing_menu(wording.chosen(label, name), ts=ts)
    rt = rt.recording(f"{name} chose: {label}", part=Part.CLARIFYING, user_id=person.id, user_name=name)
    if action is Action.ELABORATE:
        return elaborations.open_elaboration(rt, playbook, from_phase_menu=kind is MenuKind.PHASE)
    if action is Action.SKIP:
        return _skip(rt, playbook)
    if action is Action.STOP and kind is MenuKind.STEP:
        return pausing.pause(rt, person, playbook, heading_for=Stage.AT_BOUNDARY)

    heading_for = Stage.PAUSED if action is Action.STOP else Stage.DISCUSSING
    if rt.phase_key in rt.phases_completed and kind is MenuKind.PHASE:
        return phase_closed(rt.but(heading_for=heading_for), playbook)
    if kind is MenuKind.PHASE:
        return phases.close(rt, playbook, heading_for=heading_for)
    return steps.open_next(rt, playbook)


def depth_asked(rt: Roundtable, happened: SetDepth, playbook: Playbook) -> Roundtable:
    return change_depth(rt, happened.depth, playbook)


def change_depth(rt: Roundtable, depth: Depth, playbook: Playbook) -> Roundtable:
    """For the rest of this phase, kept on resume: saved first, then the question or the menu again."""
    rt = rt.but(depth=depth, depth_overrides={**rt.depth_overrides, rt.phase_key: depth.value})
    change = Change(depth_overrides={rt.phase_key: depth.value})
    said = wording.depth_switched(depth)
    rt = rt.recording(said, part=Part.CLARIFYING)
    rt = owe_commit(rt, f"depth {depth} for {rt.phase_key}", change=change)
    kind = rt.menu.kind if rt.menu else None
    rt = rt.closing_menu(said)
    if rt.stage is Stage.DISCUSSING:
        return steps.prompted(rt, playbook, said)
    return present(rt, playbook, said, kind=kind)


def drafts_of_skipped(rt: Roundtable, happened: Drafted, playbook: Playbook) -> Roundtable:
    """The phase is over for now: its drafts and its completion are one commit."""
    phase = playbook.agenda.phase(rt.phase_key)
    edits = steps.own_edits(happened.edits, playbook.agenda.steps_of(phase.key))
    rt = rt.recording(wording.phase_complete(phase), part=Part.FORMALIZING)
    change = Change(phases=(phase.key,), codebase_hash=HEAD)
    return owe_commit(rt, f"phase {phase.key} {phase.name}", edits=edits, change=change)


def closing_committed(rt: Roundtable, happened: Committed, playbook: Playbook) -> Roundtable:
    rt = report(saved(rt, happened), happened.troubles, part=Part.FORMALIZING)
    return phase_closed(rt, playbook, text=wording.saved(happened.touched))


def phase_closed(rt: Roundtable, playbook: Playbook, *, text: str = "") -> Roundtable:
    """Where to after the commit: the phase menu, the next phase, a pause, or the end."""
    heading_for = rt.heading_for
    rt = rt.but(phases_completed=tuple(dict.fromkeys((*rt.phases_completed, rt.phase_key))))
    if heading_for is Stage.AT_BOUNDARY:
        return present(rt.but(heading_for=None), playbook, text, kind=MenuKind.PHASE)
    if heading_for is Stage.PAUSED:
        return pausing.rest(rt.but(heading_for=None), playbook)
    return phases.closed(rt, playbook)


def _skip(rt: Roundtable, playbook: Playbook) -> Roundtable:
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.AT_BOUNDARY)
    rt, left = phases.skip_rest(rt, playbook)
    return rt.owing(Draft(steps=left, skipped=True))
