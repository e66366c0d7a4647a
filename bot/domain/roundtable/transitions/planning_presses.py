"""What people say and press in the planning workshop, and how they leave it and come back."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import planning_wording, trouble_wording
from bot.domain.messages.message import Action, Message
from bot.domain.planning import derived, record, workshop
from bot.domain.planning.numbered import without_number
from bot.domain.planning.proposal import ProposedMove
from bot.domain.planning.workshop import Ask, DecidedBy, Workshop, WorkshopQuestion
from bot.domain.roundtable import effects, words
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.inputs import Amend, Press, Say, Stop
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import (
    late_words,
    pausing,
    planning,
    resuming,
    specifying,
)
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.saving import queue_commit
from bot.domain.specification import forms
from bot.domain.specification.entries import Patch
from bot.domain.transcript.lines import LinePhase
from bot.errors import NotNow

# --- saying ---------------------------------------------------------------------------------------------------------


def said(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """
    The answer to the open question, the reason for going against a proposal, or a remark.

    Words that were written before the open question stood in the thread answer none: they belong to what came before.
    """
    ws = rt.workshop
    part = ws.stage if ws else rt.part
    if words.stops(event.text) and not planning.is_saving(rt):
        rt = rt.heard(event.person, event.text, ts=event.ts, part=part)
        return pausing.pause(rt, event.person, playbook)
    numbered = workshop.named(ws, event.text) if ws else None
    number = numbered.number if numbered else 0
    answering = _answering(rt, event, numbered)
    answers = answering is not None
    said = event.but(text=without_number(event.text, number))
    facts = {
        **record.answers(answering, number=number),
        **_entries(rt, said if answers else event, answering, playbook),
    }
    if ws is None:
        rt = rt.heard(event.person, event.text, ts=event.ts, part=part, **facts)
        return pausing.notes_saved(rt, playbook)
    by = DecidedBy(person=event.person.id, line=rt.line_of(event.ts))
    after = _told(answering or ws, said if answers else event, by, answers=answers)
    rt = rt.heard(event.person, event.text, ts=event.ts, part=part, **facts)
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    if after.due == ws.due:
        return pausing.notes_saved(planning.heard_meanwhile(rt.but(workshop=after), playbook), playbook)
    rt = rt.closing_menu(
        planning_wording.answered(passed=not workshop.answer_in(said.text))
        if answers
        else planning_wording.explained(rt.name_of(event.person.id))
    )
    return pausing.notes_saved(planning.becomes(rt, after, playbook), playbook)


def _answering(rt: Roundtable, event: Say, numbered: WorkshopQuestion | None) -> Workshop | None:
    """The workshop with the question first that *event* answers; None where it answers none."""
    ws = rt.workshop
    if ws is None:
        return None
    if numbered:
        return workshop.aimed(ws, numbered, event.person.id)
    return ws if isinstance(ws.due, Ask) and _has_seen(rt, event) else None


def _entries(rt: Roundtable, event: Say, ws: Workshop | None, playbook: Playbook) -> dict[str, Any]:
    """What the words are in the specification: an answer as its question asks for it, anything else by forms."""
    question = next((one.text for one in ws.questions if one.id in ws.asking[:1]), "") if ws else ""
    return specifying.facts_of(_read(rt, event, question, playbook))


def changed_entries(rt: Roundtable, event: Amend, playbook: Playbook) -> dict[str, Any] | None:
    """The entries of a changed message of the workshop: it keeps the ids that it gave. None for other messages."""
    ws, line = rt.workshop, rt.line_of(event.ts)
    answered = next((one for one in ws.questions if one.line == line), None) if ws else None
    if ws is None or not (answered or any(one.line == line for one in ws.remarks)):
        return None
    if answered:
        event = event.but(text=without_number(event.text, answered.number))
    now = _read(rt, event, answered.text if answered else "", playbook)
    return specifying.facts_of(forms.reread(rt.specification.made_by(line), now))


def _read(rt: Roundtable, event: Say | Amend, question: str, playbook: Playbook) -> tuple[Patch, ...]:
    """Nothing of words that pass a question."""
    if not workshop.answer_in(event.text):
        return ()
    read = partial(derived.answered, question=question) if question else derived.remarked
    return read(event.text, schema=playbook.schema, specification=rt.specification, person=event.person.id)


def _told(ws: Workshop, event: Say, by: DecidedBy, *, answers: bool) -> Workshop:
    """All words are kept; those that mean nothing here are only kept."""
    if isinstance(ws.due, Ask) and not answers:
        return workshop.remarked(ws, event.text, by)
    try:
        return workshop.said(ws, event.text, by)
    except NotNow:
        return ws


def _has_seen(rt: Roundtable, event: Say) -> bool:
    return not late_words.is_stale(rt, event.ts)


# --- pressing -------------------------------------------------------------------------------------------------------

Move = Callable[[Workshop, DecidedBy], Workshop]

MOVES: Mapping[Action, Move] = {
    Action.PLAN_GO: lambda ws, by: workshop.chosen(ws, ProposedMove.GO, by),
    Action.PLAN_CLARIFY: lambda ws, by: workshop.chosen(ws, ProposedMove.CLARIFY, by),
    Action.PLAN_HOLD: lambda ws, by: workshop.chosen(ws, ProposedMove.HOLD, by),
    Action.PLAN_REDO: lambda ws, by: workshop.chosen(ws, ProposedMove.REDO, by),
    Action.PLAN_ROUND: lambda ws, _: workshop.another_round(ws),
    Action.PLAN_SKIP: lambda ws, by: workshop.said(ws, "skip", by),
    Action.PLAN_SKIP_REST: workshop.passed_all,
    Action.PLAN_STRAIGHT: workshop.went_straight,
}


def pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A person moves the workshop on; what makes no sense just now is refused with a sentence."""
    assert rt.menu, "a button of it was pressed"
    ws = planning.held(rt)
    label, name = rt.menu.label_of(event.action), rt.name_of(event.person.id)
    by = DecidedBy(person=event.person.id, line=event.key)
    after = MOVES[event.action](ws, by)

    decided = after.chosen if after.chosen is not ws.chosen else None
    sentence = planning_wording.decided(decided, name) if decided else planning_wording.pressed(label, name)
    rt = rt.closing_menu(sentence, ts=event.ts).but(stage=Stage.PLANNING)
    rt = rt.recording(sentence, part=ws.stage, user_id=event.person.id, user_name=name)
    after = workshop.recorded(after, event.key, rt.lines[-1].message_id)
    if after.held:
        return pausing.notes_saved(planning.on(rt.but(workshop=after), playbook), playbook)
    return pausing.notes_saved(planning.becomes(rt, after, playbook), playbook)


# --- leaving and coming back ----------------------------------------------------------------------------------------


def began(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """By the button under an analysis that is complete."""
    return planning.begin(rt, event.person, playbook, ts=event.ts)


def stop_asked(rt: Roundtable, event: Stop, playbook: Playbook) -> Roundtable:
    if planning.is_saving(rt):
        raise NotNow(trouble_wording.SAVING)
    return pausing.pause(rt, event.person, playbook)


def left(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Back to where the analysis stands; the workshop is kept as it is, and `plan` goes on with it."""
    assert rt.menu, "a button of it was pressed"
    label, name = rt.menu.label_of(event.action), rt.name_of(event.person.id)
    rt = rt.closing_menu(planning_wording.pressed(label, name), ts=event.ts)
    rt = rt.dropping(*effects.UNDER_WAY).but(stage=Stage.PAUSED, heading_for=None)
    rt = rt.recording(planning_wording.left(name), part=rt.part, user_id=event.person.id, user_name=name)
    target = rt.planned_from
    rt = queue_commit(rt, "planning left for now")
    if planning.held(rt).stage is not LinePhase.REVIEW_READY:
        rt = rt.telling(Message(text=planning_wording.GOES_ON_LATER), part=rt.part)
    return resuming.again(rt.but(heading_for=target, planned_from=None), playbook)
