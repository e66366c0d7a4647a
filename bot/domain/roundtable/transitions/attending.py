"""
Roll call and deadline of an open step: asked once, answered by people, and in short when they are over.

Who takes part, and what a reminder still says, follow from the state after each input; so a lost edit is made by the
next one. A deadline only proposes: a person presses, or nothing changes.
"""

from collections.abc import Iterator, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.item.meta import MetaChange
from bot.domain.messages import attendance_wording as wording
from bot.domain.messages import trouble_wording
from bot.domain.messages.form import InputForm, Submission
from bot.domain.messages.menus import Used
from bot.domain.messages.message import Message
from bot.domain.roundtable import cards
from bot.domain.roundtable.attendance import Reminder, ReminderKind
from bot.domain.roundtable.inputs import AnswerDirectly, Input, Press, Say, SetDue, Start, TimeCame
from bot.domain.roundtable.outcomes import PersonMet
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import MENUS_REMEMBERED, Roundtable
from bot.domain.roundtable.timers import TimerName, cleared, set_timer
from bot.domain.roundtable.transitions import silence
from bot.domain.roundtable.transitions.saving import queue_commit, seats_of
from bot.domain.roundtable.waiting import (
    awaited,
    entries_waited_for,
    heard_in_step,
    is_named,
    question,
    unheard_in_discussion,
)
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.domain.values.timestamps import date_in, in_words
from bot.errors import NotNow

OPEN = frozenset({Stage.DISCUSSING, Stage.ELABORATING})
"""When a time can be set, and is kept: for a step, or for its discussion."""
ROLL_CALL_HOURS = 4
"""Working hours before answers are due."""


def starting(rt: Roundtable, event: Start, playbook: Playbook) -> Roundtable:
    """The starter, and whom they named."""
    for person in event.participants:
        rt = rt.meeting(Person(id=person))
    rt = rt.but(attendance=rt.attendance.joining(event.person.id, *event.participants))
    return due_from_start(rt, event.due or "", 0, playbook)


def due_from_start(rt: Roundtable, due: str, offset: int, playbook: Playbook) -> Roundtable:
    """
    As the starter chose, or as meta.json says; without an *offset* by the clock of the starter, as far as it is known.
    A time that has passed is no deadline.
    """
    if due <= rt.now:
        return rt
    return due_at(rt, due, offset or rt.attendance.offsets.get(rt.started_by, 0), playbook)


def note_attendance(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    attendance = rt.attendance
    match event:
        case Say(person=person) | AnswerDirectly(person=person):
            attendance = attendance.joining(person.id)
        case PersonMet(person=known, offset=int(offset)):
            attendance = attendance.but(offsets={**attendance.offsets, known: offset})
            if known == rt.started_by and attendance.due and not attendance.due_offset:
                return due_at(rt.but(attendance=attendance), attendance.due, offset, playbook)
        case _:
            pass
    return rt if attendance is rt.attendance else rt.but(attendance=attendance)


# --- what the reminders say ---------------------------------------------------------------------------------------


def end_reminders(rt: Roundtable) -> Roundtable:
    """Those that people cannot answer any more."""
    for reminder in rt.attendance.reminders:
        if became := _has_become(rt, reminder):
            rt = _ended(rt, reminder, became)
    return rt


def render_reminder(rt: Roundtable, reminder: Reminder) -> Message:
    note = " · ".join(_facts(rt, reminder)) if reminder.kind is ReminderKind.ROLL_CALL else ""
    return reminder.message.but(note=note) if note else reminder.message


def _ended(rt: Roundtable, reminder: Reminder, became: str) -> Roundtable:
    """It has nothing to press any more, and says what became of it."""
    others = tuple(one for one in rt.attendance.reminders if one.token != reminder.token)
    used = (*rt.used, Used(token=reminder.token, sentence=became))[-MENUS_REMEMBERED:]
    rt = rt.but(attendance=rt.attendance.but(reminders=others), used=used)
    return rt.ending(reminder.token, Message(text=became))


def _has_become(rt: Roundtable, reminder: Reminder) -> str:
    """Empty while people can still answer it."""
    stage = Stage.ELABORATING if reminder.discussion else Stage.DISCUSSING
    is_open = rt.stage is stage and rt.step_id == reminder.step_id
    if reminder.kind is ReminderKind.DEADLINE:
        return "" if is_open else wording.over(_due(rt), discussion=reminder.discussion)
    waiting = set(awaited(rt)) - set(reminder.later)
    if is_open and waiting.intersection(reminder.asked):
        return ""
    return wording.roll_called(map(rt.name_of, reminder.asked), _facts(rt, reminder))


def _facts(rt: Roundtable, reminder: Reminder) -> Iterator[str]:
    """What became of those who were asked. Of another step than the open one nothing is known any more."""
    if rt.step_id != reminder.step_id:
        return
    heard, attendance = heard_in_step(rt), rt.attendance
    for person in reminder.asked:
        name = rt.name_of(person)
        if person in attendance.passed:
            yield wording.passed(name)
        elif person in heard:
            yield wording.answered(name)
        elif person in reminder.later:
            yield wording.later(name)
        elif person in attendance.excused:
            yield wording.not_waited_for(name)


# --- when their time has come -------------------------------------------------------------------------------------


def roll_call_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    attendance = rt.attendance.at_step(rt.step_id)
    if rt.stage is not Stage.DISCUSSING or attendance.called or not awaited(rt):
        return rt
    opening = playbook.policy.working.opening(rt.now, offset=rt.attendance.due_offset)
    if opening > rt.now:
        # Out of hours, because the time was set late, or nothing ran. At the due time itself the deadline asks.
        return set_timer(rt, TimerName.ROLL_CALL, opening) if opening < rt.attendance.due else rt
    return _called(rt, playbook)


def deadline_due(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    if silence.only_people_go_on(rt):
        return silence.ended_by_due_time(rt, playbook)
    if rt.stage not in OPEN:
        return rt
    discussion = rt.stage is Stage.ELABORATING
    missing = [(one, rt.name_of(one)) for one in _missing(rt)]
    gaps = 0 if discussion else cards.open_points(rt, playbook)
    message = wording.deadline(_due(rt), missing, gaps, discussion=discussion)
    return _posted(rt, ReminderKind.DEADLINE, message)


def _missing(rt: Roundtable) -> tuple[str, ...]:
    """Of whom the open step, or the open discussion, has nothing yet."""
    return unheard_in_discussion(rt) if rt.stage is Stage.ELABORATING else awaited(rt)


def _part(rt: Roundtable) -> LinePhase:
    return LinePhase.WORKSHOP if rt.stage is Stage.ELABORATING else LinePhase.CLARIFYING


def due_at(rt: Roundtable, due: str, offset: int, playbook: Playbook) -> Roundtable:
    """Answers are due then; the roll call comes some working hours before, which the channel's policy may say."""
    rt = rt.but(attendance=rt.attendance.but(due=due, due_offset=offset))
    rt = set_timer(rt, TimerName.DEADLINE, due)
    called = rt.attendance.at_step(rt.step_id).called
    if called:
        return cleared(rt, TimerName.ROLL_CALL)
    called_at = playbook.policy.working.before(due, ROLL_CALL_HOURS, offset=offset)
    return set_timer(rt, TimerName.ROLL_CALL, called_at)


def _called(rt: Roundtable, playbook: Playbook) -> Roundtable:
    people = awaited(rt)
    due = _due(rt) if rt.attendance.due > rt.now else ""
    names = [rt.name_of(one) for one in people]
    rt = rt.but(attendance=rt.attendance.at_step(rt.step_id).but(called=True))
    rt = cleared(rt, TimerName.ROLL_CALL)
    return _posted(rt, ReminderKind.ROLL_CALL, wording.roll_call(names, people, question(rt, playbook), due))


def _posted(rt: Roundtable, kind: ReminderKind, message: Message) -> Roundtable:
    message = message.but(token=rt.token())
    rt = rt.telling(message, part=_part(rt))
    rt = rt.following(message.token, rt.outbox[-1], message)
    reminder = Reminder(
        kind=kind,
        step_id=rt.step_id,
        token=message.token,
        message=message,
        asked=message.pings,
        discussion=rt.stage is Stage.ELABORATING,
    )
    attendance = rt.attendance.at_step(rt.step_id)
    return rt.but(attendance=attendance.but(reminders=(*attendance.reminders, reminder)))


def _due(rt: Roundtable) -> str:
    return in_words(rt.attendance.due, offset=rt.attendance.due_offset) if rt.attendance.due else ""


# --- what people press --------------------------------------------------------------------------------------------


def offering(rt: Roundtable, press: Press) -> Reminder | None:
    """The reminder that was pressed, if its button still counts."""
    found = (one for one in rt.attendance.reminders if one.token == press.token)
    return next((one for one in found if one.offers(press.action)), None)


def nudge_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """About the open step, once; then about what waits for people by name."""
    is_open = rt.stage is Stage.DISCUSSING
    unheard = is_open and bool(set(awaited(rt)) - {event.person.id})
    if unheard and not rt.attendance.at_step(rt.step_id).called:
        return _called(rt, playbook)
    entries = entries_waited_for(rt)
    if not entries:
        raise NotNow(wording.ASKED_ALREADY if unheard else wording.NOBODY_TO_ASK)
    return rt.but(attendance=rt.attendance.but(nudged=entries))


def is_called(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    """`tomorrow` is an answer, unless the thread has just asked for one."""
    roll_call = rt.attendance.open_one(ReminderKind.ROLL_CALL)
    return roll_call is not None and event.person.id in roll_call.asked


def passed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if not is_called(rt, event, playbook):
        raise NotNow(wording.NOT_ASKED)
    attendance = rt.attendance.at_step(rt.step_id)
    passing = tuple(dict.fromkeys((*attendance.passed, event.person.id)))
    rt = rt.but(attendance=attendance.but(passed=passing))
    return _recorded(rt, event.person, f"{wording.passed(rt.name_of(event.person.id))}.")


def later(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    roll_call, person = rt.attendance.open_one(ReminderKind.ROLL_CALL), event.person
    if roll_call is None or person.id not in roll_call.asked:
        raise NotNow(wording.NOT_ASKED)
    asked = roll_call.but(later=tuple(dict.fromkeys((*roll_call.later, person.id))))
    reminders = tuple(asked if one is roll_call else one for one in rt.attendance.reminders)
    rt = rt.but(attendance=rt.attendance.but(reminders=reminders))
    return _recorded(rt, person, f"{wording.later(rt.name_of(person.id))}.")


def is_overdue(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return rt.attendance.open_one(ReminderKind.DEADLINE) is not None


def extended(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    before, offset = _due(rt), rt.attendance.due_offset
    due = playbook.policy.working.a_day_after(rt.attendance.due, now=rt.now, offset=offset)
    rt = due_at(rt, due, offset, playbook)
    sentence = wording.extended(before, rt.name_of(event.person.id), _due(rt))
    return _kept(_settled(rt, event.person, sentence))


def without(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    missing, name = _called_by(rt, event.value), rt.name_of(event.person.id)
    if missing not in _missing(rt):
        raise NotNow(wording.nobody_of_that_name(rt.name_of(missing)))
    attendance = rt.attendance.at_step(rt.step_id)
    rt = rt.but(attendance=attendance.but(excused=(*attendance.excused, missing)))
    return _settled(rt, event.person, wording.going_on_without(_due(rt), name, rt.name_of(missing)))


def finished(rt: Roundtable, person: Person) -> Roundtable:
    """The deadline's own button: it says who pressed it, when the step or its discussion is over."""
    discussion = rt.stage is Stage.ELABORATING
    return _settled(rt, person, wording.finished(_due(rt), rt.name_of(person.id), discussion=discussion))


def has_limit(rt: Roundtable, event: Press, playbook: Playbook) -> bool:
    return bool(rt.attendance.due)


def unlimited(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if not rt.attendance.due:
        raise NotNow(wording.NO_DUE)
    person = event.person
    sentence = wording.no_limit(_due(rt), rt.name_of(person.id))
    if is_overdue(rt, event, playbook):
        rt = _settled(rt, person, sentence)
    else:
        rt = rt.telling(Message(text=f"{sentence}."), part=_part(rt), person=person.id)
    rt = cleared(rt, TimerName.ROLL_CALL, TimerName.DEADLINE)
    return _kept(rt.but(attendance=rt.attendance.but(due="", due_offset=0)))


def due_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """Typed, by the person's clock; a press without a time came from a client that opens no form."""
    if not event.value:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    due = date_in(event.value, now=rt.now, offset=_offset(rt, event.person))
    if due <= rt.now:
        raise NotNow(wording.NO_SUCH_TIME)
    return _due_set(rt, event.person, due, playbook)


# --- the form -----------------------------------------------------------------------------------------------------


def form(rt: Roundtable) -> InputForm:
    if rt.stage not in OPEN:
        raise NotNow(wording.NO_DUE_NOW)
    return wording.until_form(rt.slug)


def flaws(submission: Submission) -> Mapping[str, str]:
    is_future = submission.text(wording.DUE) > submission.at
    return {} if is_future else {wording.DUE: wording.NO_SUCH_MOMENT}


def entered(submission: Submission) -> SetDue:
    return SetDue(**submission.sent, due=submission.text(wording.DUE))


def due_chosen(rt: Roundtable, event: SetDue, playbook: Playbook) -> Roundtable:
    if event.due <= rt.now:
        raise NotNow(wording.NO_SUCH_MOMENT)
    return _due_set(rt, event.person, event.due, playbook)


# --- small things -------------------------------------------------------------------------------------------------


def _due_set(rt: Roundtable, person: Person, due: str, playbook: Playbook) -> Roundtable:
    """By the person's clock. Where the thread was just asked, its answer says so."""
    before, offset = _due(rt), _offset(rt, person)
    rt = due_at(rt, due, offset, playbook)
    name = rt.name_of(person.id)
    if rt.attendance.open_one(ReminderKind.DEADLINE):
        rt = _settled(rt, person, wording.moved(before, name, _due(rt)))
    else:
        said = wording.due_set(name, _due(rt))
        rt = rt.telling(Message(text=said), part=_part(rt), person=person.id)
    return _kept(rt)


def _offset(rt: Roundtable, person: Person) -> int:
    return rt.attendance.offsets.get(person.id, 0)


def _kept(rt: Roundtable) -> Roundtable:
    """meta.json says when answers are due, so that who takes the item up from there knows."""
    due = rt.attendance.due
    change = MetaChange(seats=seats_of(rt), no_due=not due)
    return queue_commit(rt, f"answers are due {due}" if due else "no time limit", change=change)


def _settled(rt: Roundtable, person: Person, sentence: str) -> Roundtable:
    reminder = rt.attendance.open_one(ReminderKind.DEADLINE)
    rt = _ended(rt, reminder, sentence) if reminder else rt
    return _recorded(rt, person, f"{sentence}.")


def _recorded(rt: Roundtable, person: Person, sentence: str) -> Roundtable:
    return rt.recording(sentence, part=_part(rt), by=person.id)


def _called_by(rt: Roundtable, name: str) -> str:
    """The id of the person who is waited for and called *name*; the name itself when there is none."""
    return next((one for one in _missing(rt) if is_named(rt, one, name)), name)
