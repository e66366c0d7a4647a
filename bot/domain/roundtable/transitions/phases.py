"""Opening and closing phases, and the item when there is none left."""

from bot.domain.catalog.agenda import Playbook, SkippedStep, depth_for
from bot.domain.catalog.personas import Persona
from bot.domain.catalog.phases import Phase
from bot.domain.catalog.steps import Depth
from bot.domain.catalog.taxonomy import trouble
from bot.domain.item.meta import MetaChange
from bot.domain.messages import discussion_wording, menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Card, Message
from bot.domain.roundtable import root, words
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import ReadItem, Speak, Survey, Then
from bot.domain.roundtable.inputs import Press, Say, Stop
from bot.domain.roundtable.outcomes import Committed
from bot.domain.roundtable.stage import BUSY, Stage
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
    queue_commit_then_tell,
    saying_what_is_saved,
)
from bot.domain.transcript.lines import BY_RULE, HOST, LinePhase
from bot.domain.values.places import Person
from bot.domain.values.text import paragraphs
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


def step_written(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
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
    rt = queue_commit_then_tell(
        rt,
        subject,
        brief,
        part=LinePhase.REVIEW_READY,
        then=Then.PHASE,
        change=change,
        facts={"line": root.ending(rt, playbook)},
    )
    return root.with_brief(rt, brief)


def closed(rt: Roundtable, playbook: Playbook, told: Committed | None) -> Roundtable:
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
        rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.CLARIFYING)
        return rt.whispering(event.person.id, discussion_wording.OVER_ALREADY)
    is_feedback = not words.is_wish(event.text)
    facts = specifying.said_afterwards(rt, event.text, event.person, playbook) if is_feedback else {}
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.CLARIFYING, **facts)
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
        return pausing.stop_when_busy(rt, event.person)
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
