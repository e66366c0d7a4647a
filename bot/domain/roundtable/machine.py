"""
The only door: `decide(roundtable, input)` gives the next value, or the very same object when the input is old news.

`TRANSITIONS` is the whole behaviour at a glance. What is not in it cannot happen; asking for it raises NotNow.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import (
    agent_wording,
    attendance_wording,
    discussion_wording,
    step_wording,
    trouble_wording,
)
from bot.domain.messages.message import ITEM, Action, Message
from bot.domain.roundtable import permission, plan_card, sessions, timers, words, working
from bot.domain.roundtable.boards import with_board
from bot.domain.roundtable.cards import with_card
from bot.domain.roundtable.casting import with_cast
from bot.domain.roundtable.effects import Attemptable, Commit, Rewrite, Tell
from bot.domain.roundtable.inputs import (
    Amend,
    AnswerDirectly,
    AnswerQuestion,
    ChannelGone,
    ChannelMoved,
    Command,
    Export,
    Finish,
    Input,
    MarkMessage,
    Mute,
    NameOption,
    OfSlack,
    PersonChanged,
    Plan,
    Press,
    RaiseObjection,
    RecordDecision,
    Resume,
    Retract,
    Returned,
    Say,
    SealPosition,
    SetDepth,
    SetDue,
    SettleObjection,
    Specify,
    Start,
    Stop,
    TimeCame,
    TryAgain,
)
from bot.domain.roundtable.outcomes import (
    Attempted,
    Committed,
    Done,
    Drafted,
    Failed,
    Formalized,
    ItemRead,
    Judged,
    Outcome,
    PersonaSpoke,
    PersonMet,
    PlanRead,
    Posted,
    StancesCompared,
    Surveyed,
    Synthesized,
    ThreadOpened,
    ThreadRead,
)
from bot.domain.roundtable.plan_card import with_plan_card
from bot.domain.roundtable.root import with_root
from bot.domain.roundtable.stage import BUSY, Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import (
    absence,
    amending,
    amendments,
    answering,
    asking,
    attending,
    budgeting,
    cards,
    carrying,
    deciding,
    depths,
    elaborations,
    late_words,
    marking,
    opening,
    pausing,
    phases,
    planning,
    planning_presses,
    remarks,
    resuming,
    silence,
    speaking,
    specifying,
    standing,
    steps,
    syntheses,
    talking,
    trouble,
)
from bot.domain.roundtable.transitions.saving import read_after_all, seen_by
from bot.domain.values.timestamps import slack_stamp
from bot.errors import NotNow

Transition = Callable[[Roundtable, Any, Playbook], Roundtable]

TRANSITIONS: Mapping[tuple[Stage, type], Transition] = {
    (Stage.OPENING, ThreadOpened): opening.thread_opened,
    (Stage.OPENING, ThreadRead): opening.thread_read,
    (Stage.OPENING, ItemRead): opening.item_read,
    (Stage.OPENING, Say): steps.interjected,
    (Stage.DISCUSSING, Say): steps.answered,
    (Stage.DISCUSSING, AnswerDirectly): answering.answered,
    (Stage.DISCUSSING, Finish): steps.finish_asked,
    (Stage.DISCUSSING, SetDepth): depths.asked,
    (Stage.DISCUSSING, Stop): pausing.stop_asked,
    (Stage.DISCUSSING, Resume): resuming.resume,
    (Stage.DISCUSSING, Surveyed): asking.surveyed,
    (Stage.DISCUSSING, PersonaSpoke): steps.acknowledged,
    (Stage.DISCUSSING, ItemRead): resuming.looked,
    (Stage.WRITING, Say): steps.interjected,
    **{(stage, Stop): pausing.stop_wanted for stage in BUSY},
    (Stage.WRITING, Surveyed): asking.surveyed,
    (Stage.WRITING, Drafted): steps.drafted,
    (Stage.AT_BOUNDARY, PersonaSpoke): steps.acknowledged,
    (Stage.WRITING, ItemRead): elaborations.limit_read,
    (Stage.AT_BOUNDARY, Say): phases.typed,
    (Stage.AT_BOUNDARY, SetDepth): depths.asked,
    (Stage.AT_BOUNDARY, Stop): phases.stop_asked,
    (Stage.AT_BOUNDARY, Resume): resuming.resume,
    (Stage.AT_BOUNDARY, ItemRead): resuming.looked,
    (Stage.ELABORATING, Say): elaborations.person_spoke,
    (Stage.ELABORATING, Stop): pausing.stop_asked,
    (Stage.ELABORATING, Resume): resuming.resume,
    (Stage.ELABORATING, PersonaSpoke): elaborations.persona_spoke,
    (Stage.ELABORATING, StancesCompared): elaborations.compared,
    (Stage.ELABORATING, ItemRead): resuming.looked,
    (Stage.SYNTHESIZING, Say): syntheses.too_late,
    (Stage.SYNTHESIZING, StancesCompared): syntheses.compared,
    (Stage.SYNTHESIZING, Synthesized): syntheses.synthesized,
    (Stage.CLOSING, Say): steps.interjected,
    (Stage.CLOSING, Drafted): phases.skipped_drafted,
    (Stage.STALLED, Say): pausing.noted,
    (Stage.STALLED, Start): opening.start_again,
    (Stage.STALLED, Resume): resuming.resume_stalled,
    (Stage.PAUSED, Say): pausing.noted,
    (Stage.PAUSED, Resume): resuming.resume,
    (Stage.PAUSED, ItemRead): resuming.looked,
    (Stage.ANALYSED, Say): pausing.noted,
    (Stage.ANALYSED, Resume): resuming.resume,
    (Stage.ANALYSED, ItemRead): resuming.looked,
    (Stage.DISCUSSING, Plan): planning.plan_asked,
    (Stage.AT_BOUNDARY, Plan): planning.plan_asked,
    (Stage.PAUSED, Plan): planning.plan_asked,
    (Stage.ANALYSED, Plan): planning.plan_asked,
    (Stage.ELABORATING, Plan): planning.not_in_a_discussion,
    (Stage.ELABORATING, RecordDecision): deciding.recorded,
    (Stage.ELABORATING, NameOption): standing.option_named,
    (Stage.ELABORATING, RaiseObjection): deciding.objected,
    (Stage.ELABORATING, SettleObjection): deciding.settled,
    (Stage.ELABORATING, SealPosition): standing.sealed,
    **{(stage, SetDue): attending.due_chosen for stage in attending.OPEN},
    (Stage.PLANNING, Plan): planning.plan_again,
    (Stage.PLANNING, Say): planning_presses.said,
    (Stage.PLANNING, Stop): planning_presses.stop_asked,
    (Stage.PLANNING, Resume): resuming.resume,
    (Stage.PLANNING, ItemRead): resuming.looked,
    (Stage.PLANNING, PlanRead): planning.plan_read,
    (Stage.PLANNING, Judged): planning.judged,
    (Stage.PLANNING, Formalized): planning.formalized,
}

PRESSES: Mapping[Action, Transition] = {
    Action.FINISH_STEP: steps.finish_pressed,
    Action.DEPTH_BRIEF: depths.pressed,
    Action.DEPTH_STANDARD: depths.pressed,
    Action.DEPTH_DEEP: depths.pressed,
    Action.CONTINUE: phases.pressed,
    Action.ELABORATE: phases.pressed,
    Action.SKIP: phases.pressed,
    Action.STOP: phases.pressed,
    Action.GO_ON: elaborations.went_on,
    Action.DECIDE: elaborations.decided,
    Action.END_ELABORATION: elaborations.ended,
    Action.RESUME: resuming.resume_pressed,
    Action.RETRY: resuming.retry_pressed,
    Action.RESTORE: opening.restore_pressed,
    Action.START_OVER: opening.start_over_pressed,
    Action.REANALYSE: resuming.reanalyse,
    Action.CANCEL: resuming.cancelled,
    Action.TAKE_OVER: resuming.taken_over,
    Action.REOPEN: phases.reopen_pressed,
    Action.PLAN: planning_presses.began,
    Action.PLAN_LEAVE: planning_presses.left,
    **dict.fromkeys(planning_presses.MOVES, planning_presses.pressed),
    Action.ALLOW_MORE: budgeting.allowed_more,
    Action.LINE: cards.line_pressed,
    Action.ACCEPT_ALL: cards.all_accepted,
    Action.AMEND: cards.amended,
    Action.SORT: cards.sorted_in,
    Action.INCLUDE: remarks.include_pressed,
    Action.CARRY: carrying.pressed,
    Action.KEEP: cards.kept,
    Action.WITHDRAW: cards.withdrawn,
    Action.NUDGE: attending.nudge_pressed,
    Action.NOTHING_TO_ADD: attending.passed,
    Action.LATER: attending.later,
    Action.EXTEND: attending.extended,
    Action.WITHOUT: attending.without,
    Action.NO_LIMIT: attending.unlimited,
    Action.STAND: standing.stood,
    Action.AGREED: deciding.agreed,
    Action.NOT_AGREED: deciding.not_agreed,
    Action.OBJECTION: deciding.fate_pressed,
    Action.ASK_ALL: elaborations.all_asked,
    Action.MORE_TURNS: deciding.more_turns,
    Action.REVEAL: standing.revealed,
    **dict.fromkeys(
        (Action.RECORD, Action.OPTION, Action.OBJECT, Action.SEALED, Action.UNTIL), cards.amended
    ),
}
"""A menu offers only what makes sense where it stands, so that a press means the same wherever it comes from."""

ANYTIME: Mapping[type, Transition] = {
    Amend: amendments.amended,
    Retract: amendments.retracted,
    Export: talking.asked,
    Mute: speaking.mute_asked,
    Specify: amending.specified,
    AnswerQuestion: amending.question_answered,
    MarkMessage: marking.marked,
}

TIMED: Mapping[TimerName, Transition] = {
    TimerName.ROLL_CALL: attending.roll_call_due,
    TimerName.DEADLINE: attending.deadline_due,
    TimerName.QUIET: silence.quiet_due,
    TimerName.FEEDBACK: silence.feedback_due,
}
"""What follows when a timer is due, in every stage."""

PRESSING = (
    Press,
    Finish,
    SetDepth,
    SetDue,
    Stop,
    Mute,
    Resume,
    Plan,
    Export,
    Specify,
    RecordDecision,
    NameOption,
    RaiseObjection,
    SettleObjection,
    SealPosition,
)
"""What a policy may keep from some people."""

NOT_NOW: Mapping[type, str] = {
    Finish: trouble_wording.NOTHING_TO_FINISH,
    SetDepth: trouble_wording.NO_DEPTH_NOW,
    SetDue: attendance_wording.NO_DUE_NOW,
    Stop: trouble_wording.NOTHING_RUNNING,
    Plan: trouble_wording.NO_PLANNING_NOW,
    AnswerDirectly: agent_wording.STEP_IS_OVER,
    **dict.fromkeys(
        (RecordDecision, NameOption, RaiseObjection, SettleObjection, SealPosition),
        discussion_wording.NO_DISCUSSION,
    ),
}


@with_cast
@with_root
@with_card
@with_plan_card
@with_board
@sessions.with_session
@attending.with_attendance
@silence.with_silence
@specifying.with_files
@working.with_work_indicator
@budgeting.bounded
def decide(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """
    What *rt* becomes by *event*.

    Raises NotNow, with a sentence for the person, when that makes no sense at this point; nothing has changed.
    """
    return pausing.stopped_at_last(_with_undecided(_decided(rt, event, playbook), playbook), playbook)


def _decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    if isinstance(event, Outcome):
        return _settled(rt, event, playbook)
    if isinstance(event, TimeCame):
        return _timed(rt, event, playbook) if timers.is_current(rt, event) else rt
    if event.key in rt.seen or _is_in_git(rt, event):
        return rt

    after = _happened(rt.but(now=max(rt.now, event.at)).knowing(event.key), event, playbook)
    return after.attaching(event) if isinstance(event, Say) else after


def _timed(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    name = TimerName(event.name)
    rt = timers.cleared(rt.but(now=max(rt.now, event.at)), name)
    return TIMED[name](rt, event, playbook)


def _with_undecided(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Words that waited for Slack's answer to a post mean something now."""
    while rt.undecided and not late_words.is_in_flight(rt):
        first, *others = rt.undecided
        rt = _happened(rt.but(undecided=tuple(others)), first, playbook)
        rt = rt.attaching(first) if isinstance(first, Say) else rt
    return rt


def _happened(
    rt: Roundtable, event: Command | TryAgain | Returned | OfSlack, playbook: Playbook
) -> Roundtable:
    if isinstance(event, TryAgain):
        return pausing.tried_again(rt)
    if isinstance(event, ChannelGone):
        return pausing.channel_gone(rt, event, playbook)
    if isinstance(event, ChannelMoved):
        return pausing.channel_moved(rt, event)
    if isinstance(event, PersonChanged):
        return opening.person_changed(rt, event)
    if isinstance(event, Returned):
        return absence.returned(rt, since=event.since)
    if why := permission.refusal(rt, event.person, playbook.policy):
        if isinstance(event, PRESSING):
            raise NotNow(why)
        if permission.is_wish(rt, amendments.as_it_reads(rt, event)):
            return talking.only(rt, event, why)
    if isinstance(event, Stop | SetDepth | Plan) and (why := late_words.refusal(rt, event)):
        raise NotNow(why)
    rt = seen_by(permission.learned(rt.meeting(event.person), event.person), event)
    if isinstance(event, Press):
        return _pressed(rt, event, playbook)
    if isinstance(event, Say) and (change := amendments.overtaken(rt, event)):
        if change.text is None:
            return amendments.gone_already(rt, event, playbook)
        event = event.but(text=change.text)
    if isinstance(event, Say) and words.asks_for_help(event.text):
        return talking.helped(rt, event, playbook)
    if isinstance(event, Say | Amend | Retract) and late_words.must_wait(rt, event):
        return rt.but(undecided=(*rt.undecided, event))
    if isinstance(event, Say) and (after := late_words.late_message(rt, event, playbook)) is not None:
        return after
    if isinstance(event, Say) and (after := attending.typed(rt, event, playbook)) is not None:
        return after
    if isinstance(event, Say) and (after := phases.reopen_typed(rt, event, playbook)) is not None:
        return after
    if transition := ANYTIME.get(type(event)) or TRANSITIONS.get((rt.stage, type(event))):
        return specifying.telling_what_is_not_taken(rt, transition(rt, event, playbook), event, playbook)
    raise NotNow(_why_not(rt, event))


def _is_in_git(rt: Roundtable, event: Input) -> bool:
    """Or was read from the thread, when the item was taken up from git: Slack repeats what is older than that."""
    return isinstance(event, Say) and event.ts <= rt.last_heard


def _settled(rt: Roundtable, event: Outcome, playbook: Playbook) -> Roundtable:
    """Completes the effect in the outbox. Outcomes of effects that are no longer in it are ignored."""
    effect = next((one for one in rt.outbox if one.id == event.effect), None)
    if effect is None:
        return rt
    rt = rt.but(now=max(rt.now, event.at))
    if isinstance(event, Attempted):
        return rt.attempting(effect, at=event.at, settled=event.settled == effect.attempts)

    rt = rt.completing(effect.id)
    match event:
        case Failed():
            return trouble.failed(budgeting.charged(rt, event), trouble.FailedEffect(effect, event), playbook)
        case Posted():
            return pausing.in_touch(_posted(rt, event, effect), playbook)
        case PersonMet():
            return opening.met(rt, event)
        case Committed():
            assert isinstance(effect, Commit), "only a commit is committed"
            return trouble.committed(rt, effect, playbook, told=event)
        case Done():
            return rt.shown_at(effect.id, slack_stamp(event.at)) if isinstance(effect, Rewrite) else rt
        case ThreadRead(missed=True):
            return _caught_up(rt, event, playbook)
        case ThreadRead() if event.lost is not None:
            return read_after_all(rt, event, playbook)
        case _:
            rt = budgeting.counted(rt, event)
            transition = TRANSITIONS.get((rt.stage, type(event)))
            rt = transition(rt, event, playbook) if transition else rt
            return budgeting.noticed(rt, playbook)


def _caught_up(rt: Roundtable, event: ThreadRead, playbook: Playbook) -> Roundtable:
    """
    As if each of the messages had come in time: Slack may repeat it yet, and has the same key for it. A thread that
    knows of a later commit than we do says that our own state went back, and perhaps the workspace with it.
    """
    if event.last_line.n > rt.last_line.n:
        rt = rt.but(last_line=event.last_line)
    said = absence.unheard(rt, event)
    rt = absence.told(rt, len(said), complete=event.complete)
    for one in said:
        rt = decide(rt, one, playbook)
    return rt


def _posted(rt: Roundtable, event: Posted, effect: Attemptable) -> Roundtable:
    """Where a menu stands, and where the line can be found in Slack, if it is not in git yet."""
    rt = plan_card.posted(rt.but(resumed_by=""), effect.id, event.ts)
    message = getattr(effect, "message", None)
    # The post of a card loses its token when the card is finished before it is posted.
    cards_posted = (one.token for one in (rt.card, rt.board) if one and one.post == effect.id)
    token = next(cards_posted, message.token if message else "")
    if token:
        rt = rt.standing_at(token, event.ts)
    if rt.elaboration:
        rt = rt.but(elaboration=rt.elaboration.shown(effect.id, event.ts))
    return rt.shown_at(effect.id, event.ts).marking(effect.id, message_ts=event.ts)


def _pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if event.token == ITEM:
        return _pressed_outside_menus(rt, event, playbook)
    if attending.offering(rt, event):
        if event.action in {Action.FINISH_STEP, Action.END_ELABORATION}:
            rt = attending.finished(rt, event.person)
        return PRESSES[event.action](rt, event.but(ts=""), playbook)
    if rt.menu is None or rt.menu.token != event.token:
        became = rt.what_became_of(event.token)
        raise NotNow(trouble_wording.already_decided(became) if became else trouble_wording.UNKNOWN_MENU)
    if not rt.menu.offers(event.action):
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    label = rt.menu.label_of(event.action)
    is_old = bool(
        rt.card and rt.card.token == event.token and rt.card.ts and event.ts not in {"", rt.card.ts}
    )
    after = PRESSES[event.action](rt, event, playbook)
    if not is_old:
        return after
    told = Message(text=step_wording.pressed_where_it_was(label))
    return after.queueing(Tell(person=event.person.id, message=told))


def _pressed_outside_menus(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """On the first message, the brief, or the card of a step that is over: as if it was typed."""
    if event.action in {Action.REOPEN, Action.TAKE_OVER}:
        return PRESSES[event.action](rt, event, playbook)
    asked = {"key": event.key, "at": event.at, "person": event.person}
    match event.action:
        case Action.STOP:
            wish: Stop | Resume | Plan = Stop(**asked)
        case Action.RESUME:
            wish = Resume(**asked, place=rt.place)
        case Action.PLAN:
            wish = Plan(**asked, place=rt.place)
        case _:
            raise NotNow(trouble_wording.UNKNOWN_MENU)
    if transition := TRANSITIONS.get((rt.stage, type(wish))):
        return transition(rt, wish, playbook)
    raise NotNow(_why_not(rt, wish))


def _why_not(rt: Roundtable, wish: Command) -> str:
    if isinstance(wish, Start):
        return trouble_wording.HELD_ALREADY
    if rt.stage in BUSY:
        return trouble_wording.SAVING
    return NOT_NOW[type(wish)]
