"""Opening and closing phases, how deep they ask, the step of the plan, and the item when no phase is left."""

from bot.domain.catalog.agenda import Playbook, SkippedStep, depth_for
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import Depth
from bot.domain.catalog.taxonomy import trouble
from bot.domain.item.meta import MetaChange, add_progress
from bot.domain.messages import discussion_wording, menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Card, Message
from bot.domain.roundtable import covering, root, words
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import Post, ReadItem, Speak, Survey, Then
from bot.domain.roundtable.inputs import Plan, Press, Say, SetDepth, Stop
from bot.domain.roundtable.outcomes import CommitResult
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.roundtable.state import BRIEF, Roundtable
from bot.domain.roundtable.transitions import (
    asking,
    cards,
    pausing,
    specifying,
    steps,
)
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.transitions.saving import (
    HEAD,
    queue_commit,
    saying_what_is_saved,
)
from bot.domain.transcript.lines import BY_RULE, HOST, LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import counted, paragraphs
from bot.errors import NotNow

ELABORATIONS_RECALLED = 3


# --- opening ------------------------------------------------------------------------------------------------------


def go_on(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """The first phase that is not complete, or the end."""
    phase = playbook.agenda.first_open(rt.phases_completed)
    return _open(rt, phase, playbook) if phase else analysed(rt)


def analysed(rt: Roundtable) -> Roundtable:
    if rt.unread:
        rt = rt.recording(step_wording.never_read(len(rt.unread)))
    rt = rt.but(stage=Stage.ANALYSED, heading_for=None, step_id="", elaboration=None)
    rt = rt.dropping(Speak).but(answers=(), filed=(), unread=())
    return pausing.notes_saved(rt)


def welcome(rt: Roundtable, playbook: Playbook) -> str:
    """The greeting of a resumed phase: what is done, what was discussed, what comes next."""
    phase = asking.phase_of(rt.phase_key, playbook)
    following = asking.upcoming(rt, playbook)
    held = [record for record in rt.elaborations if record.step_id.startswith(f"{phase.number}-")]
    return step_wording.welcome_back(
        _titles_done(rt, phase, playbook), following.title if following else "", held[-ELABORATIONS_RECALLED:]
    )


def _open(rt: Roundtable, phase: Phase, playbook: Playbook) -> Roundtable:
    lead, unknown = playbook.roster.lead_of(phase.key)
    of_phase = playbook.agenda.ids_of(phase.key)
    depth, why, ignored = depth_for(phase.key, rt.depth_overrides, asking.scan_of(rt))
    passed = tuple(one for one in rt.passed if one.step_id not in of_phase)
    saved_cards = tuple(one for one in rt.saved_cards if one not in of_phase)
    rt = rt.but(passed=passed, saved_cards=saved_cards)
    rt = rt.but(phase_key=phase.key, step_id="", depth=depth, stage=Stage.DISCUSSING)
    playbook = playbook_for(rt, playbook)
    rt = rt.opening_round(LinePhase.CLARIFYING)
    rt = report(rt, [one for one in (unknown, ignored) if one])
    resumed = bool(_titles_done(rt, phase, playbook))
    before = () if resumed else _handed_over(rt, phase, playbook, lead=lead)
    for text, actor in before:
        rt = rt.saying_on_card(text, part=LinePhase.CLARIFYING, actor=actor, **BY_RULE)
    words = welcome(rt, playbook) if resumed else step_wording.greeting(lead, phase)
    text = paragraphs(words, _depth_note(depth, why, resumed=resumed))
    rt = rt.saying_on_card(text, part=LinePhase.CLARIFYING, actor=lead.actor, depth=depth.value, **BY_RULE)
    rt = report(rt, playbook.troubles_of(phase.key))
    return asking.next_question(rt, playbook, "\n\n".join([*(said for said, _ in before), text]))


def _handed_over(
    rt: Roundtable, phase: Phase, playbook: Playbook, *, lead: Persona
) -> tuple[tuple[str, str], ...]:
    """Two texts with their actors when the lead changes: who has finished what, and what the next one starts from."""
    before = [one for one in playbook.agenda.phases if one.key < phase.key and one.key in rt.phases_completed]
    if not before:
        return ()
    ended = before[-1]
    outgoing, _ = playbook.roster.lead_of(ended.key)
    if outgoing.key == lead.key:
        return ()
    handoff = step_wording.handoff(outgoing, lead, ended=ended, begun=phase)
    titles = _titles_done(rt, ended, playbook)
    thinks = asking.thinks(lead.key, playbook)
    reviewed = step_wording.reviewed(outgoing, ended, artifacts=rt.artifacts, titles=titles, thinks=thinks)
    return (handoff, HOST), (reviewed, lead.actor)


def _titles_done(rt: Roundtable, phase: Phase, playbook: Playbook) -> tuple[str, ...]:
    """Titles of the completed steps of *phase*, in the order they were completed; that of its card for all of them."""
    done = [
        one for one in rt.steps_completed if one.startswith(f"{phase.number}-") and asking.is_done(rt, one)
    ]
    if done and (card := next((one for one in playbook.agenda.steps_of(phase.key) if one.is_card), None)):
        return (card.title,)
    return tuple(step.title if (step := playbook.agenda.get(one)) else one for one in done)


def _depth_note(depth: Depth, why: str, *, resumed: bool) -> str:
    if why == "override":
        return step_wording.depth_kept(depth) if resumed else ""
    return step_wording.DEPTH_ANNOUNCED[depth]


# --- closing ------------------------------------------------------------------------------------------------------


def skip_rest(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """
    The steps that are left are written from what was said, and not recorded as done. The files and the completion of
    the phase are one commit.
    """
    phase = asking.phase_of(rt.phase_key, playbook)
    of_phase = [step.step_id for step in playbook.agenda.steps_of(phase.key)]
    left = [one for one in of_phase if one not in rt.steps_completed]
    speaker = asking.speaker_of(rt, playbook)
    titles = [step.title for step_id in left if (step := playbook.agenda.get(step_id))]
    title, subtitle = step_wording.left_out_of_phase(titles)
    card = Card(title=title, subtitle=subtitle) if titles else None
    message = Message(text=step_wording.SKIPPING, speaker=speaker.key, card=card)
    known, why = {one.step_id for one in rt.passed}, step_wording.SKIPPED_WITH_PHASE
    skipped = (SkippedStep(step_id=step_id, why=why) for step_id in left if step_id not in known)
    step_id = rt.step_id if rt.step_id in rt.steps_completed else ""
    passed = (*rt.passed, *skipped)
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.AT_BOUNDARY, passed=passed, step_id=step_id)
    rt = rt.telling(message, part=LinePhase.FORMALIZING, actor=speaker.actor, **BY_RULE)
    rt, edits = specifying.written(rt, playbook, of_phase)
    rt = rt.recording(step_wording.phase_complete(phase), part=LinePhase.FORMALIZING)
    change = MetaChange(phases=(phase.key,), codebase_hash=HEAD)
    return queue_commit(rt, f"phase {phase.key} {phase.name}", then=Then.PHASE, edits=edits, change=change)


def step_written(rt: Roundtable, playbook: Playbook, told: CommitResult | None) -> Roundtable:
    """In git; who skips the rest of the phase, or goes on from its card, has what was said saved first."""
    if rt.heading_for is Stage.CLOSING and rt.answers == rt.filed:
        return skip_rest(rt.but(heading_for=None), playbook)
    if rt.heading_for is Stage.DISCUSSING and rt.answers == rt.filed:
        return close(rt, playbook, heading_for=Stage.DISCUSSING)
    return steps.step_written(rt, playbook, told)


def close(rt: Roundtable, playbook: Playbook, *, heading_for: Stage) -> Roundtable:
    """The phase is complete because a person said so; committed before anything follows."""
    phase = asking.phase_of(rt.phase_key, playbook)
    following = playbook.agenda.first_open((*rt.phases_completed, phase.key))
    rt = _later_steps_logged(rt.but(stage=Stage.CLOSING, heading_for=heading_for), playbook)
    if following and phase.key in rt.phases_completed:
        return closed(rt, playbook, None)

    rt = asking.passing(rt, asking.pick(rt, playbook))
    change = MetaChange(phases=(phase.key,), codebase_hash=HEAD)
    subject = f"phase {phase.key} {phase.name}"
    if following:
        rt = rt.recording(step_wording.phase_complete(phase), part=LinePhase.FORMALIZING)
        return queue_commit(rt, subject, then=Then.PHASE, change=change)
    rt = rt.opening_round(LinePhase.REVIEW_READY)
    if BRIEF in rt.live:
        # A step was opened again: the brief stands in the thread, and is edited.
        rt = rt.recording(root.ending(rt, playbook), part=LinePhase.REVIEW_READY)
        return queue_commit(rt, subject, then=Then.PHASE, change=change)
    brief = root.final_brief(rt, playbook)
    rt = rt.telling(brief, part=LinePhase.REVIEW_READY, line=root.ending(rt, playbook))
    post = rt.outbox[-1]
    assert isinstance(post, Post), "telling ends with queueing a post"
    # It is in the transcript that is committed, and is said only when the commit is done.
    rt = queue_commit(rt.completing(post.id), subject, then=Then.PHASE, change=change)
    return rt.queueing(post.but(broadcast=True)).following(BRIEF, post, brief)


def closed(rt: Roundtable, playbook: Playbook, told: CommitResult | None) -> Roundtable:
    """Where to after the commit: the menu of the phase, a pause, the next phase, or the end."""
    heading_for = rt.heading_for
    rt = rt.but(heading_for=None)
    if heading_for is Stage.AT_BOUNDARY:
        return steps.menu(rt, playbook, saying_what_is_saved(rt, told))
    if heading_for is Stage.PAUSED:
        return pausing.rest(rt, playbook)
    return go_on(rt, playbook)


def _later_steps_logged(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Steps of later phases that are recorded already are harmless, and worth a line in the log."""
    later = {step.step_id for step in playbook.agenda.steps if step.phase_key > rt.phase_key}
    return rt.logging(trouble("ERR-INT-002")) if later & set(rt.steps_completed) else rt


# --- opening a step again -----------------------------------------------------------------------------------------


OPENABLE = frozenset({Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.ANALYSED})


def reopen_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    # A button that belongs to no menu does not say where the open menu stands.
    return reopen(rt, _named(rt, event), event.person, playbook)


def can_be_named(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return playbook.agenda.get(_named(rt, event)) is not None


def _named(rt: Roundtable, event: Press) -> str:
    """`reopen 01-03`, or `reopen` alone at a menu."""
    at_menu = rt.step_id if rt.stage is Stage.AT_BOUNDARY and not event.token else ""
    return event.value.replace("\u2013", "-") or at_menu


def reopen(rt: Roundtable, step_id: str, person: Person, playbook: Playbook) -> Roundtable:
    """
    A step is led next, whichever phase it is of: one that was left out, one whose file was mended since, or one that is
    finished, with everything that is recorded for it.
    """
    step = playbook.agenda.get(step_id)
    if step is None:
        raise NotNow(step_wording.NO_SUCH_STEP)
    if rt.stage not in OPENABLE:
        raise NotNow(step_wording.OPENED_LATER)
    if rt.stage is Stage.DISCUSSING and rt.step_id == step_id:
        raise NotNow(step_wording.OPEN_ALREADY)
    label = menus.open_step(step_id, step.title).label
    rt = asking.chosen(rt, label, person, part=LinePhase.CLARIFYING)
    rt = steps.feedback_saved(rt, playbook)
    if rt.stage is Stage.DISCUSSING:
        # What was said about the step that is left open is in the specification, and stands on its card later.
        rt = rt.but(answers=(), filed=()).dropping(Speak, Survey)
    if step.phase_key != rt.phase_key:
        depth, _, _ = depth_for(step.phase_key, rt.depth_overrides, asking.scan_of(rt))
        rt = rt.but(phase_key=step.phase_key, depth=depth)
    passed = tuple(one for one in rt.passed if one.step_id != step_id)
    return asking.open_step(rt.but(passed=passed, reopened=step_id), step, playbook)


# The menu after a step and after a phase: the same one until a person chooses.


def typed(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Feedback, but for what is typed in place of a button of the card. `finish` is never feedback."""
    if (after := cards.typed(rt, event, playbook)) is not None:
        return after
    if rt.board and Action.END_ELABORATION.read_words(event.text) is not None:
        rt = rt.hearing(event, part=LinePhase.CLARIFYING)
        return rt.whispering(event.person.id, discussion_wording.OVER_ALREADY)
    is_feedback = not words.is_wish(event.text)
    patches = specifying.said(rt, event.text, event.person, playbook, is_asked=False) if is_feedback else ()
    rt = rt.hearing(event, part=LinePhase.CLARIFYING, entries=patches)
    if Action.FINISH_STEP.read_words(event.text) is not None:
        return rt.whispering(event.person.id, trouble_wording.NOTHING_TO_FINISH)
    return steps.fed_back(rt, event, playbook)


def is_offered(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return rt.menu is not None and rt.menu.offers(event.action)


def pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if event.action == Action.ELABORATE and rt.stage is Stage.DISCUSSING:
        return steps.finish_first(rt, event, playbook, heading_for=Stage.ELABORATING)
    is_plan = rt.step_id == playbook.agenda.plan.step_id
    if event.action == Action.SKIP and rt.stage is Stage.DISCUSSING and rt.answers and not is_plan:
        return steps.finish_first(rt, event, playbook, heading_for=Stage.CLOSING)
    return choose(rt, event.action, playbook, person=event.person)


def skip_missing(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What people said to the step stays under its id. Where its file is back, it is asked instead."""
    if not asking.lacks_step(rt, playbook):
        return asking.question(rt, playbook)
    rt = asking.chosen(rt, menus.SKIP_STEP.label, event.person, part=LinePhase.CLARIFYING)
    rt = steps.feedback_saved(rt, playbook).but(answers=(), filed=()).dropping(Speak, Survey)
    skipped = SkippedStep(step_id=rt.step_id, why=step_wording.SKIPPED_WITHOUT_FILE)
    rt = rt.but(passed=(*rt.passed, skipped))
    known = playbook.agenda.has_phase(rt.phase_key)
    return asking.next_question(rt, playbook) if known else go_on(rt, playbook)


def stopped(rt: Roundtable, event: Press | Stop, playbook: Playbook) -> Roundtable:
    if rt.stage in BUSY:
        # what is being saved is finished first
        return rt.but(stop_asked_by=event.person.id).whispering(event.person.id, step_wording.STOPS_SOON)
    if rt.stage is Stage.AT_BOUNDARY:
        return choose(rt, Action.STOP, playbook, person=event.person)
    return pausing.pause(rt, event.person, playbook)


def choose(rt: Roundtable, action: str, playbook: Playbook, *, person: Person) -> Roundtable:
    assert rt.menu, "there is a menu at a boundary"
    at_phase_end = rt.menu.kind is MenuKind.PHASE
    label = rt.menu.label_of(action)
    if action == Action.SKIP and rt.card and rt.stage is Stage.DISCUSSING:
        rt = rt.but(card=rt.card.but(by=rt.name_of(person.id)))
    last = playbook.agenda.first_open((*rt.phases_completed, rt.phase_key)) is None
    is_plan = rt.step_id == playbook.agenda.plan.step_id
    if action == Action.STOP and (last or is_plan or not at_phase_end):
        return pausing.pause(rt, person, playbook)

    rt = asking.chosen(rt, label, person, part=LinePhase.CLARIFYING).but(board=None)
    rt = steps.feedback_saved(rt, playbook)
    if action == Action.ELABORATE:
        return rt.but(stage=Stage.WRITING).queueing(ReadItem(discussing="phase" if at_phase_end else "step"))
    if rt.step_id == playbook.agenda.plan.step_id:
        rt = rt.but(answers=(), filed=()).dropping(Speak, Survey)
        return go_on(rt, playbook)
    if action == Action.SKIP:
        return skip_rest(rt, playbook)
    if at_phase_end:
        if action == Action.STOP:
            return close(rt.but(paused_by=person.id), playbook, heading_for=Stage.PAUSED)
        return close(rt, playbook, heading_for=Stage.DISCUSSING)
    return asking.next_question(rt, playbook)


# --- how deep the questions go ---------------------------------------------------------------------------------------


def change_depth(rt: Roundtable, event: Press | SetDepth, playbook: Playbook) -> Roundtable:
    """
    For this phase and all later ones, also after a pause: saved first, then the question or the menu again. The record
    has who wished for it.
    """
    depth = event.depth if isinstance(event, SetDepth) else menus.DEPTH_OF[event.action]
    if rt.step_id == playbook.agenda.plan.step_id:
        return rt.whispering(event.person.id, step_wording.PLAN_HAS_NO_DEPTH)
    kind = rt.menu.kind if rt.menu else None
    said = step_wording.depth_switched(depth)
    phases = [one.key for one in playbook.agenda.phases if one.key >= rt.phase_key]
    wished = dict.fromkeys(phases, depth.value)
    rt = rt.but(depth=depth, depth_overrides={**rt.depth_overrides, **wished})
    before, playbook = playbook, playbook_for(rt, playbook)
    is_asked_otherwise = playbook.agenda.steps_of(rt.phase_key) != before.agenda.steps_of(rt.phase_key)
    if is_asked_otherwise and not asking.lacks_step(rt, playbook):
        rt, kind = _asked_otherwise(rt, playbook), None
    rt = asking.chosen(rt, menus.DEPTHS[depth].label, event.person, part=LinePhase.CLARIFYING)
    rt = queue_commit(
        rt,
        f"depth {depth} for {rt.phase_key}",
        change=MetaChange(depth_overrides=wished),
    )
    if rt.stage is not Stage.DISCUSSING:
        rt = asking.menu(rt, playbook, said, kind=kind)
        return rt.but(card=rt.card.but(first=_with(rt.card.first, said))) if rt.card else rt
    if rt.has_pending(Survey):
        return rt.telling(Message(text=said), part=LinePhase.CLARIFYING)
    rt = asking.saying_first(rt, playbook, said)
    first = _with(rt.card.first, said) if rt.card and rt.card.step_id == rt.step_id else said
    return asking.question(rt, playbook, first, anew=False)


def _asked_otherwise(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """With the card of the phase, or step by step: what its card passed over is asked."""
    of_phase = playbook.agenda.ids_of(rt.phase_key)
    rt = rt.but(
        passed=tuple(one for one in rt.passed if one.step_id not in of_phase),
        saved_cards=tuple(one for one in rt.saved_cards if one not in of_phase),
    )
    card = next((step for step in playbook.agenda.steps_of(rt.phase_key) if step.is_card), None)
    if card is None or rt.stage is not Stage.DISCUSSING:
        return rt
    return rt.but(step_id=card.step_id, reopened=card.step_id)


def _with(first: str, said: str) -> str:
    """What the card says first, with *said* in place of an earlier change."""
    earlier = {step_wording.depth_switched(one) for one in Depth}
    return "\n\n".join([*(one for one in first.split("\n\n") if one and one not in earlier), said])


# --- phases that were closed --------------------------------------------------------------------------------------


def means_all_steps(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    """Whether `go deeper` is about all steps: on a card, and where no step of a phase is open."""
    is_card = any(step.is_card for step in playbook.agenda.steps_of(rt.phase_key))
    return is_card or rt.stage in RESTING or rt.step_id == playbook.agenda.plan.step_id


def go_deeper(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """
    The phases that were closed with steps missing are open again, and exactly the missing steps are asked. That is
    saved before the first of them is asked, so that it is not lost.
    """
    if rt.stage in BUSY:
        raise NotNow(trouble_wording.SAVING)
    if rt.stage is Stage.ELABORATING:
        raise NotNow(step_wording.DEEPER_AFTER_DISCUSSION)
    if rt.stage in {Stage.PAUSED, Stage.STALLED}:
        raise NotNow(step_wording.DEEPER_AFTER_RESUME)
    missing, asked = covering.missing_steps(rt, playbook), covering.steps_to_deepen(rt, playbook)
    if not asked:
        raise NotNow(step_wording.ASKED_ALREADY if missing else step_wording.EVERY_STEP_IS_DONE)
    in_phases = [step.phase_key for step in missing]
    ended = rt.phase_key if rt.menu and rt.menu.kind is MenuKind.PHASE else ""
    closed = [one for one in playbook.agenda.phases if one.key == ended and ended not in in_phases]
    reopened = tuple(dict.fromkeys(key for key in in_phases if key in rt.phases_completed))
    later = (one.key for one in playbook.agenda.phases if one.key >= in_phases[0])
    change = MetaChange(
        phases=tuple(phase.key for phase in closed),
        reopened=reopened,
        depth_overrides={key: covering.depth_by_steps(rt, key).value for key in later},
        codebase_hash=HEAD if closed else "",
    )
    label = menus.go_deeper(asked).label
    rt = asking.chosen(rt, label, event.person, part=LinePhase.CLARIFYING)
    for phase in closed:
        rt = rt.recording(step_wording.phase_complete(phase), part=LinePhase.FORMALIZING)
    chosen = step_wording.chosen(label, rt.name_of(event.person.id))
    rt = _without_button(rt, change, chosen, playbook)
    # What was said about the step that is left is in the specification, and stands on its card later.
    rt = rt.but(answers=(), filed=(), reopened="", board=None).dropping(Speak, Survey)
    rt = rt.but(stage=Stage.CLOSING, heading_for=Stage.DISCUSSING)
    return queue_commit(rt, f"deeper: {counted(asked, 'step')}", then=Then.PHASE, change=change)


def _without_button(rt: Roundtable, change: MetaChange, chosen: str, playbook: Playbook) -> Roundtable:
    """The brief stays in the thread, with what was *chosen*; there is a new one when the analysis is complete again."""
    after = add_progress(rt, change)
    brief = root.final_brief(after, playbook_for(after, playbook))
    rt = rt.ending(BRIEF, brief.but(note=chosen))
    return rt.showing_ending(BRIEF, pressed=True) if BRIEF in rt.live else rt


# --- the step of the plan --------------------------------------------------------------------------------------------


def plan_asked(rt: Roundtable, event: Plan | Press, playbook: Playbook) -> Roundtable:
    """Asked for once more, it is asked again, with what was said since."""
    step_id = playbook.agenda.plan.step_id
    if Stage.ELABORATING in {rt.stage, rt.heading_for}:
        # Also while it is only stopped: in the record its turns stand together, up to the synthesis.
        raise NotNow(trouble_wording.DISCUSSING)
    if rt.stage is Stage.PAUSED:
        rt = rt.but(stage=rt.heading_for or Stage.AT_BOUNDARY, heading_for=None)
    if rt.stage is Stage.DISCUSSING and rt.step_id == step_id:
        return asking.question(rt, playbook)
    return reopen(rt, step_id, event.person, playbook)


def begin_plan(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """A thread that was opened for it."""
    step = playbook.agenda.plan
    rt = rt.but(phase_key=step.phase_key, reopened=step.step_id, heading_for=None, depth=step.depth)
    return asking.open_step(rt, step, playbook)
