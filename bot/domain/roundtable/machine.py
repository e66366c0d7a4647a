"""
The only door: `decide(roundtable, input)` gives the next value, or the very same object when the input is old news.

`TRANSITIONS` is the whole behaviour at a glance. What is not in it cannot happen; asking for it raises NotNow.
"""

from collections.abc import Callable, Mapping
from typing import Any

from bot.domain.actions.action import Who, bound
from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import trouble_wording
from bot.domain.messages.message import ITEM, Action
from bot.domain.roundtable import live, permission, timers, words
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import Attemptable, Commit, React, Rewrite
from bot.domain.roundtable.inputs import (
    AgentAsked,
    AgentWithdrew,
    Amend,
    AnswerDirectly,
    AnswerQuestion,
    ChannelGone,
    ChannelMoved,
    Command,
    CreateIssues,
    Export,
    Input,
    IssueChanged,
    MarkMessage,
    Mute,
    NameOption,
    PersonChanged,
    Plan,
    Press,
    RaiseObjection,
    RecordDecision,
    Request,
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
    Failed,
    IssuePushed,
    IssueReadAgain,
    IssuesRead,
    ItemRead,
    Outcome,
    PersonaSpoke,
    PersonMet,
    Posted,
    Reviewed,
    Surveyed,
    ThreadOpened,
    ThreadRead,
    TurnTaken,
)
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.roundtable.transitions import (
    absence,
    agents,
    amending,
    answering,
    asking,
    attending,
    budgeting,
    deciding,
    drafts,
    elaborations,
    issues,
    late_words,
    marking,
    opening,
    pausing,
    phases,
    silence,
    speaking,
    specifying,
    standing,
    steps,
    talking,
    trouble,
)
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.roundtable.transitions.saving import read_after_all, seen_by
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.timestamps import slack_stamp
from bot.errors import NotNow

Transition = Callable[[Roundtable, Any, Playbook], Roundtable]

GOING_ON = (Stage.DISCUSSING, Stage.AT_BOUNDARY, Stage.ELABORATING, Stage.PAUSED, Stage.ANALYSED)
"""Where people can take it up again, or come to the plan."""

TRANSITIONS: Mapping[tuple[Stage, type], Transition] = {
    (Stage.OPENING, ThreadOpened): opening.thread_opened,
    (Stage.OPENING, ThreadRead): opening.thread_read,
    (Stage.OPENING, ItemRead): opening.item_read,
    **{(stage, Say): steps.interjected for stage in BUSY},
    **{(stage, Say): pausing.noted for stage in RESTING},
    **{(stage, Stop): phases.stopped for stage in {*BUSY, *attending.OPEN, Stage.AT_BOUNDARY}},
    **{(stage, Resume): opening.resume for stage in GOING_ON},
    **{(stage, ItemRead): opening.looked for stage in GOING_ON},
    **{(stage, Plan): phases.plan_asked for stage in GOING_ON},
    **{(stage, SetDepth): phases.change_depth for stage in ABOUT_A_STEP},
    **{(stage, Surveyed): asking.surveyed for stage in ABOUT_A_STEP},
    **{(stage, PersonaSpoke): steps.drafted for stage in ABOUT_A_STEP},
    **{(stage, SetDue): attending.due_chosen for stage in attending.OPEN},
    (Stage.DISCUSSING, Say): steps.answered,
    (Stage.DISCUSSING, AnswerDirectly): answering.answered,
    (Stage.WRITING, ItemRead): elaborations.limit_read,
    (Stage.AT_BOUNDARY, Say): phases.typed,
    (Stage.ELABORATING, Say): elaborations.person_spoke,
    (Stage.ELABORATING, TurnTaken): elaborations.turn_taken,
    (Stage.ELABORATING, RecordDecision): deciding.recorded,
    (Stage.ELABORATING, NameOption): standing.option_named,
    (Stage.ELABORATING, RaiseObjection): deciding.objected,
    (Stage.ELABORATING, SettleObjection): deciding.settled,
    (Stage.ELABORATING, SealPosition): standing.sealed,
    (Stage.STALLED, Start): opening.start_again,
    (Stage.STALLED, Resume): opening.retry,
}

ANYTIME: Mapping[type, Transition] = {
    Amend: late_words.amended,
    Retract: late_words.retracted,
    Export: talking.asked,
    Mute: speaking.mute_asked,
    Specify: amending.specified,
    AnswerQuestion: amending.question_answered,
    MarkMessage: marking.marked,
    Reviewed: drafts.reviewed,
    AgentAsked: agents.asked,
    AgentWithdrew: agents.withdrew,
    CreateIssues: issues.asked,
    IssuePushed: issues.pushed,
    IssueReadAgain: issues.read_again,
    IssuesRead: issues.note_states,
    IssueChanged: issues.changed,
    TryAgain: pausing.try_again,
    ChannelGone: pausing.channel_gone,
    ChannelMoved: pausing.channel_moved,
    PersonChanged: opening.person_changed,
    Returned: absence.returned,
}

TIMED: Mapping[TimerName, Transition] = {
    TimerName.ROLL_CALL: attending.roll_call_due,
    TimerName.DEADLINE: attending.deadline_due,
    TimerName.QUIET: silence.quiet_due,
    TimerName.FEEDBACK: silence.feedback_due,
    TimerName.ROUND: elaborations.round_due,
    TimerName.UNANSWERED: silence.unanswered_due,
    TimerName.SLOW: drafts.slow_due,
    TimerName.DRAFT: speaking.draft_due,
    TimerName.DRAFT_LATEST: speaking.draft_due,
    TimerName.ISSUES: issues.read_due,
}
"""What follows when a timer is due, in every stage."""


def decide(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """
    What *rt* becomes by *event*: a transition, and four things that follow from its result.

    Raises NotNow, with a sentence for the person, when that makes no sense at this point; nothing has changed.
    """
    playbook = playbook_for(rt, playbook)
    made_with = (playbook.whole or playbook).schema.fingerprint
    known = rt if rt.made_with == made_with else rt.but(made_with=made_with)
    after = pausing.stopped_at_last(_with_undecided(_decided(known, event, playbook), playbook), playbook)
    if after is known:
        return rt
    after = attending.note_attendance(after, event, playbook)
    playbook = playbook_for(after, playbook)
    after = drafts.ask_for_review(after, rt, playbook)
    after = silence.set_timers(after, rt, event, playbook)
    after = specifying.write_due_files(after, rt, playbook)
    return live.show_messages(after, rt, event, playbook)


def _decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    if isinstance(event, Outcome):
        return _settled(rt, event, playbook)
    if isinstance(event, TimeCame):
        return _timed(rt, event, playbook) if timers.is_current(rt, event) else rt
    if event.key in rt.seen or _is_in_git(rt, event):
        return rt

    return _happened(rt.but(now=max(rt.now, event.at)).knowing(event.key), event, playbook)


def _timed(rt: Roundtable, event: TimeCame, playbook: Playbook) -> Roundtable:
    name = TimerName(event.name)
    rt = timers.cleared(rt.but(now=max(rt.now, event.at)), name)
    return TIMED[name](rt, event, playbook)


def _with_undecided(rt: Roundtable, playbook: Playbook) -> Roundtable:
    """Words that waited for Slack's answer to a post mean something now."""
    while rt.undecided and not late_words.is_in_flight(rt):
        first, *others = rt.undecided
        rt = _happened(rt.but(undecided=tuple(others)), first, playbook)
    return rt


def _happened(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    if not isinstance(event, Command):
        return ANYTIME[type(event)](rt, event, playbook)
    if why := permission.refusal(rt, event.person, playbook.policy):
        if isinstance(event, Request):
            raise NotNow(why)
        if isinstance(event, Say) and _is_refused(rt, late_words.as_it_reads(rt, event), playbook):
            return talking.only(rt, event, why)
    if isinstance(event, Stop | SetDepth | Plan) and (why := late_words.refusal(rt, event)):
        raise NotNow(why)
    rt = seen_by(permission.learned(rt.meeting(event.person), event.person), event)
    if isinstance(event, Press):
        return _pressed(rt, event, playbook)
    if isinstance(event, Say) and (change := late_words.overtaken(rt, event)):
        if change.text is None:
            # It was deleted before it came: kept in the transcript, and it means nothing any more.
            return pausing.notes_saved(rt.hearing(event, part=rt.part))
        event = event.but(text=change.text)
    if isinstance(event, Say) and words.asks_for_help(event.text):
        return talking.helped(rt, event, playbook)
    if isinstance(event, Say) and words.asks_us(event, playbook):
        return talking.question_answered(rt, event, playbook)
    if isinstance(event, Say | Amend | Retract) and late_words.must_wait(rt, event, playbook):
        return rt.but(undecided=(*rt.undecided, event))
    if isinstance(event, Say) and (after := late_words.late_message(rt, event, playbook)) is not None:
        return after
    if isinstance(event, Say) and (after := _typed(rt, event, playbook)) is not None:
        return after
    if transition := ANYTIME.get(type(event)) or TRANSITIONS.get((rt.stage, type(event))):
        return specifying.telling_what_is_not_taken(rt, transition(rt, event, playbook), event, playbook)
    raise NotNow(_why_not(rt, event))


def _is_in_git(rt: Roundtable, event: Input) -> bool:
    """Or was read from the thread, when the item was taken up from git: Slack repeats what is older than that."""
    return isinstance(event, Say) and event.ts <= rt.last_heard


def _settled(rt: Roundtable, event: Outcome, playbook: Playbook) -> Roundtable:
    """
    Completes the effect in the outbox. Outcomes of effects that are no longer in it are ignored, but for what they
    took.
    """
    effect = next((one for one in rt.outbox if one.id == event.effect), None)
    if effect is None:
        return budgeting.charged(rt, event, late=True)
    rt = rt.but(now=max(rt.now, event.at))
    if isinstance(event, Attempted):
        return rt.attempting(effect, at=event.at, settled=event.settled == effect.attempts)

    rt = rt.completing(effect.id)
    match event:
        case Failed():
            return trouble.failed(budgeting.charged(rt, event), effect, event, playbook)
        case Posted():
            return pausing.in_touch(_posted(rt, event, effect), playbook)
        case PersonMet():
            return opening.met(rt, event, playbook)
        case Committed(result=result):
            assert isinstance(effect, Commit), "only a commit is committed"
            return trouble.committed(rt, effect, playbook, told=result)
        case Done():
            return rt.shown_at(effect.id, slack_stamp(event.at)) if isinstance(effect, Rewrite) else rt
        case ThreadRead(missed=True):
            return _caught_up(rt, event, playbook)
        case ThreadRead() if event.lost is not None:
            return read_after_all(rt, event, playbook)
        case _:
            transition = ANYTIME.get(type(event)) or TRANSITIONS.get((rt.stage, type(event)))
            if transition is None:
                return budgeting.charged(rt, event, late=True)
            rt = transition(budgeting.counted(rt, event), event, playbook)
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
    rt = rt.but(resumed_by="")
    if rt.elaboration:
        rt = rt.but(elaboration=rt.elaboration.shown(effect.id, event.ts))
    return rt.shown_at(effect.id, event.ts).marking(effect.id, message_ts=event.ts)


def _is_refused(rt: Roundtable, said: Say, playbook: Playbook) -> bool:
    wish = words.wish_of(rt, said, playbook)
    return wish is not None and playbook.actions[wish.press.action].who is Who.MAY_PRESS


def _typed(rt: Roundtable, said: Say, playbook: Playbook) -> Roundtable | None:
    """None for words that the transition of what is said carries out, or that are only words."""
    wish = words.wish_of(rt, said, playbook)
    if wish is None or wish.typed.is_said:
        return None
    part = LinePhase.WORKSHOP if rt.stage is Stage.ELABORATING else LinePhase.CLARIFYING
    rt = rt.hearing(said, part=part)
    noted = rt.queueing(React(ts=said.ts, emoji=NOTED)) if wish.typed.noted else rt
    try:
        after = _done(noted, wish.press, playbook)
    except NotNow as why:
        return rt.whispering(said.person.id, str(why))
    return specifying.telling_what_is_not_taken(rt, after, said, playbook)


def _done(rt: Roundtable, press: Press, playbook: Playbook) -> Roundtable:
    """A press of what opens a form came from a client that opens none."""
    action = playbook.actions[press.action]
    if not action.do:
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    after: Roundtable = bound(action.do)(rt, press, playbook)
    return after


def _pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    if event.token == ITEM:
        return _pressed_outside_menus(rt, event, playbook)
    if attending.offering(rt, event):
        if event.action in {Action.FINISH_STEP, Action.END_ELABORATION}:
            rt = attending.finished(rt, event.person)
        return _done(rt, event.but(ts=""), playbook)
    if rt.menu is None or rt.menu.token != event.token:
        became = rt.what_became_of(event.token)
        raise NotNow(trouble_wording.already_decided(became) if became else trouble_wording.UNKNOWN_MENU)
    if not rt.menu.offers(event.action):
        raise NotNow(trouble_wording.UNKNOWN_MENU)
    return _done(live.stand_at(rt, event.token, event.ts), event, playbook)


def _pressed_outside_menus(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """On the first message, the brief, or the card of a step that is over: as if it was typed."""
    if playbook.actions[event.action].outside:
        return _done(rt, event, playbook)
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
    return wish.not_now
