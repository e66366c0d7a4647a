"""
Words that Slack delivers late, before the question or menu that stands in the thread now, and those that are changed.

A command among them is not obeyed, because its author meant something else by it. Other words belong to the step that
their author had before them. Slack's timestamps decide, and no other clock.
"""

from typing import Any, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.words import is_all_reason
from bot.domain.messages import menus, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Action, Choice
from bot.domain.roundtable import words
from bot.domain.roundtable.effects import Post, React, Rewrite, Speak, Survey
from bot.domain.roundtable.inputs import Amend, Plan, Retract, Say, SetDepth, Stop, Undecided
from bot.domain.roundtable.posts import PostedPrompt
from bot.domain.roundtable.stage import RESTING, Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, EarlyEdit, Roundtable
from bot.domain.roundtable.transitions import pausing, speaking, specifying, standing
from bot.domain.roundtable.transitions.cards import NOTED
from bot.domain.values.text import one_line
from bot.domain.values.timestamps import slack_time, written_at

WORD_CHARS = 40


# --- what its author could see ------------------------------------------------------------------------------------


def is_stale(rt: Roundtable, ts: str) -> bool:
    """Whether the newest question or menu came after the message *ts*. False where that cannot be known."""
    written = slack_time(ts)
    if written is None:
        return False
    if rt.stage is Stage.DISCUSSING and rt.menu is None and rt.has_pending(Survey):
        return True  # the step is open, and its question waits for a search
    if rt.question is None:
        return False
    shown = slack_time(rt.question.ts)
    return written < shown if shown else _is_to_come(rt, rt.question)


def must_wait(rt: Roundtable, event: Undecided, playbook: Playbook) -> bool:
    """
    Whether it depends on a post that Slack may have shown already, and has not answered yet: until then it is not known
    which came first. What becomes of such words meanwhile waits behind them.
    """
    if not is_in_flight(rt):
        return False
    if not isinstance(event, Say):
        return any(one.ts == event.ts for one in rt.undecided)
    opens = bool(rt.asked) and rt.question is not None and rt.asked[-1].post == rt.question.post
    return opens or _is_command(rt, event, playbook)


def is_in_flight(rt: Roundtable) -> bool:
    """Whether the newest question is being posted just now."""
    question = rt.question
    if question is None or question.ts:
        return False
    return any(effect.id == question.post and effect.attempts for effect in rt.outbox)


def opened_before(rt: Roundtable, ts: str) -> PostedPrompt | None:
    """What the message *ts* belongs to, if that is over, or is a step that is being discussed by now."""
    written = slack_time(ts)
    if written is None or not rt.step_id or not rt.asked:
        return None
    newest = rt.asked[-1]
    if not newest.ts and not _is_to_come(rt, newest):
        return None
    shown = [one for one in rt.asked if (time := slack_time(one.ts)) and time < written]
    if not shown:
        return None
    own = shown[-1]
    is_before_the_discussion = rt.stage is Stage.ELABORATING and not own.discussion
    return own if own.step_id != rt.step_id or is_before_the_discussion else None


# --- what becomes of them -----------------------------------------------------------------------------------------


def late_message(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """None for words that came in time."""
    own = opened_before(rt, event.ts)
    if is_stale(rt, event.ts) and (
        words.wish_of(rt, event, playbook) or (own and _is_command(rt, event, playbook))
    ):
        why = _sentence(rt, event.text, _action(rt, event, playbook))
        after = _noted(rt, event).whispering(event.person.id, why)
    elif own:
        after = _kept(rt, event, own, playbook)
    else:
        return None
    return pausing.notes_saved(pausing.tried_again(after) if rt.stage in RESTING else after)


def refusal(rt: Roundtable, event: Stop | SetDepth | Plan) -> str:
    """Why a verb that was typed in the thread is not obeyed; empty when it is."""
    if is_in_flight(rt) or not is_stale(rt, event.ts):
        return ""
    match event:
        case Stop():
            return _sentence(rt, "stop", Action.STOP)
        case SetDepth(depth=depth):
            return _sentence(rt, f"depth {depth}", menus.DEPTHS[depth].action)
        case Plan():
            return _sentence(rt, "plan", Action.PLAN)
        case _:
            assert_never(event)


def _kept(rt: Roundtable, event: Say, own: PostedPrompt, playbook: Playbook) -> Roundtable:
    """Feedback on the step that is being discussed is written down after the discussion; other steps are done."""
    patches = specifying.said(rt, event.text, event.person, playbook, step_id=own.step_id)
    rt = _noted(rt, event, answers_step=own.step_id, entries=patches).queueing(
        React(ts=event.ts, emoji=NOTED)
    )
    if own.step_id == rt.step_id:
        return rt.answering(event, feedback=True)
    return rt.whispering(event.person.id, trouble_wording.belongs_to(own.step_id))


def _noted(rt: Roundtable, event: Say, **facts: Any) -> Roundtable:
    when = written_at(event.ts)
    return rt.hearing(event, part=rt.part, written_at=when, **facts)


# --- words and buttons --------------------------------------------------------------------------------------------


def _is_command(rt: Roundtable, event: Say, playbook: Playbook) -> bool:
    """Here, or where its author was when it was written."""
    elsewhere = bool(event.text.strip()) and not words.answers(event.text)
    return elsewhere or words.wish_of(rt, event, playbook) is not None


def _sentence(rt: Roundtable, said: str, action: str) -> str:
    is_question = rt.stage is Stage.DISCUSSING or (rt.menu is not None and rt.menu.kind is MenuKind.PROMPT)
    button = _button(rt, action)
    return trouble_wording.written_before(
        one_line(said, WORD_CHARS), "question" if is_question else "menu", button.label if button else ""
    )


def _button(rt: Roundtable, action: str) -> Choice | None:
    """Where there is none yet, it is known which one the question will have."""
    if rt.menu is None:
        return menus.FINISH_STEP if rt.stage is Stage.DISCUSSING and action == Action.FINISH_STEP else None
    return next((choice for choice in rt.menu.message.offered if choice.action == action), None)


def _action(rt: Roundtable, event: Say, playbook: Playbook) -> str:
    """Here, or anywhere; empty for words that mean no button."""
    if wish := words.wish_of(rt, event, playbook):
        return wish.press.action
    return next((found.action for found in playbook.actions.read_words(event.text)), "")


def _is_to_come(rt: Roundtable, question: PostedPrompt) -> bool:
    return any(
        isinstance(one, Post | Rewrite) and one.id == question.post for one in (*rt.outbox, *rt.unsent)
    )


# --- what people change afterwards -----------------------------------------------------------------------------------


# The transcript never forgets: an edit is a new line that names the old one, and so is a deletion. The answers and
# turns that are being worked with are the newest ones. A change may be heard of before the message that it changes.

REMEMBERED = 32
"""Changes of messages that have not come yet."""


def amended(rt: Roundtable, event: Amend, playbook: Playbook) -> Roundtable:
    stands = tuple(standing.restated(rt, event, playbook))
    own = opened_before(rt, event.ts)
    is_turn = rt.elaboration is not None and rt.elaboration.has(event.ts)
    notes = not (is_turn or (stands and is_all_reason(event.text)))
    step_id = own.step_id if own else rt.step_id
    facts = specifying.amended(rt, event, playbook, step_id=step_id, notes=notes, stands=stands)
    rt = rt.heard(
        event.person,
        event.text,
        ts=event.ts,
        part=rt.part,
        message_id=event.key,
        amends=rt.line_of(event.ts),
        **facts,
    )
    rt = _overtaking(rt.amending(event.ts, event.text), event.ts, event.text)
    return _answer_is(rt, event.ts, event.text, playbook)


def retracted(rt: Roundtable, event: Retract, playbook: Playbook) -> Roundtable:
    told, line = step_wording.retracted(rt.name_of(event.person.id)), rt.line_of(event.ts)
    rt = rt.recording(told, by=event.person.id, message_id=event.key, retracts=line)
    rt = _overtaking(rt.amending(event.ts, ""), event.ts, None)
    return _answer_is(rt, event.ts, None, playbook)


def overtaken(rt: Roundtable, event: Say) -> EarlyEdit | None:
    """What became of the message *event*, if that was heard of before it."""
    return next((one for one in reversed(rt.overtaken) if one.ts == event.ts), None)


def as_it_reads(rt: Roundtable, event: Say) -> Say:
    """With the words that stand there now, if we heard of those first: they are what is answered."""
    if (change := overtaken(rt, event)) is None:
        return event
    return event.but(text=change.text or "")


def _overtaking(rt: Roundtable, ts: str, text: str | None) -> Roundtable:
    if rt.line_of(ts) in rt.seen:
        return rt
    return rt.but(overtaken=(*rt.overtaken, EarlyEdit(ts=ts, text=text))[-REMEMBERED:])


def _answer_is(rt: Roundtable, ts: str, text: str | None, playbook: Playbook) -> Roundtable:
    """At a menu the step is written already: what changed is committed when people go on, as feedback is."""
    before = next((one for one in (*rt.answers, *rt.unread) if one.ts == ts), None)
    if before and before.text != text:
        rt = rt.without_answer(ts) if text is None else rt.with_answer(before.but(text=text))
        rt = speaking.taking_up(rt.dropping(Speak), playbook) if rt.stage in ABOUT_A_STEP else rt
    if rt.stage is Stage.AT_BOUNDARY:
        return rt.but(filed=rt.answers)
    return pausing.notes_saved(rt)
