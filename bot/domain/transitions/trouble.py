"""
When an effect cannot be paid: what it means for the meeting, and what people are told.

A failure is an outcome like any other. The table says for each kind of effect what follows; none of it ends the
roundtable for good.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from bot.domain import menus, wording
from bot.domain.agenda import Playbook
from bot.domain.effects import (
    Attemptable,
    Commit,
    Draft,
    Effect,
    OpenThread,
    Post,
    React,
    ReadItem,
    ReadThread,
    Restore,
    Rewrite,
    Speak,
    Survey,
    Synthesize,
    Tell,
)
from bot.domain.inputs import CodeSurvey, Failed, Surveyed
from bot.domain.menu import MenuKind
from bot.domain.message import Message
from bot.domain.roundtable import Roundtable, Stalled
from bot.domain.stage import BUSY, RESTING, Stage
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import asking, commits, elaborations, opening, resuming, steps, syntheses
from bot.domain.transitions.reporting import report

CONTEXT_FULL = "context"
UNSTRUCTURED = "unstructured"

THREAD_GONE = "thread_not_found"
"""Somebody deleted it: the roundtable can be started again in a new one."""

NOBODY_HOME = frozenset(
    {
        "account_inactive",
        "channel_not_found",
        "ekm_access_denied",
        "invalid_auth",
        "is_archived",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "not_in_channel",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_locked",
        "restricted_action_thread_only_channel",
        "team_access_not_granted",
        "thread_not_found",
        "token_expired",
        "token_revoked",
    }
)
"""Refusals that meet every post in this thread, not just the one: the roundtable pauses."""


class Unpaid(NamedTuple):
    """A debt that cannot be paid, and what the world said."""

    effect: Effect
    said: Failed


Follows = Callable[[Roundtable, Unpaid, Playbook], Roundtable]


def failed(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    return FOLLOWS.get(type(unpaid.effect), _shrugged)(rt, unpaid, playbook)


def _shrugged(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """A courtesy that failed; the engine has logged it."""
    return rt


def _thread_not_opened(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """Nothing is in Slack: only the person who asked is told, and may start again. What is to be saved still is."""
    assert isinstance(unpaid.effect, OpenThread)
    message = Message(text=unpaid.said.sentence)
    told = Tell(person=rt.started_by, message=message, reply_url=unpaid.effect.reply_url)
    commits = tuple(effect for effect in rt.outbox if isinstance(effect, Commit))
    return rt.but(stage=Stage.STALLED, outbox=commits, place=rt.place.but(thread="")).owing(told)


def _thread_not_read(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    assert isinstance(unpaid.effect, ReadThread)
    rt = rt.telling(Message(text=wording.could_not_read()), part=Part.DRAFT)
    return opening.taken_up(rt, "taken up from git") if unpaid.effect.recovering else rt


def _item_not_read(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """Nothing can begin without; what has begun goes on with what we know."""
    if rt.stage is Stage.OPENING:
        return _stalled(rt, unpaid.effect, wording.cannot_go_on(unpaid.said.sentence))
    if rt.stage in BUSY or rt.stage is Stage.STALLED:
        return rt
    return resuming.without_looking(rt, unpaid.said.sentence, playbook)


def _not_posted(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """
    One message that Slack will not have is left out, but not its buttons. A thread that takes no messages at all
    pauses the roundtable; what is being written down just now is finished first, and nothing that was said is left out.
    """
    assert isinstance(unpaid.effect, Post)
    if unpaid.said.reason not in NOBODY_HOME:
        return _buttons_saved(rt, unpaid.effect.message)
    if rt.stage in BUSY:
        return rt.holding_back(unpaid.effect)
    silent = rt.without_owing(React, Speak, Survey, ReadItem).closing_menu(wording.superseded())
    message = Message(text=wording.cannot_go_on(unpaid.said.sentence))
    told = silent.holding_back(unpaid.effect).owing(Tell(person=rt.started_by, message=message))
    if unpaid.said.reason == THREAD_GONE:
        return told.but(stage=Stage.STALLED, stalled=None, place=rt.place.but(thread=""))
    return told if rt.stage in RESTING else told.but(stage=Stage.PAUSED, heading_for=rt.stage)


def _not_rewritten(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """A menu that is over must not keep its buttons, also if it takes a while."""
    if unpaid.said.reason not in NOBODY_HOME or not isinstance(unpaid.effect, Rewrite):
        return rt
    return rt.but(unsent=(*rt.unsent, unpaid.effect))


def _buttons_saved(rt: Roundtable, message: Message) -> Roundtable:
    if not message.token or message.text == wording.not_shown():
        return rt
    again = message.but(text=wording.not_shown())
    return rt.owing(Post(message=again))


def _nothing_said(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """One persona's failure does not sink the round, and is never posted as its opinion."""
    effect = unpaid.effect
    assert isinstance(effect, Speak)
    if rt.stage is Stage.WRITING:
        return steps.menu_or_write(rt, playbook, wording.saved(()))
    if rt.stage is not Stage.ELABORATING:
        return rt
    if unpaid.said.reason == CONTEXT_FULL:
        return elaborations.too_much_to_hold(rt, playbook)
    if effect.task == "frame":
        return _voice_lost(rt, unpaid, playbook)
    return elaborations.said_nothing(rt, effect.persona, playbook)


def _voice_lost(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """The one fatal trouble: nothing goes on until a person presses Retry, and nothing counts as complete."""
    return _stalled(report(rt, [trouble("ERR-INT-001")]), unpaid.effect, wording.press_retry())


def _no_synthesis(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    if unpaid.said.reason == UNSTRUCTURED:
        return syntheses.unstructured(rt, "", playbook)
    return _voice_lost(rt, unpaid, playbook)


def _not_searched(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    said = unpaid.said
    nothing = Surveyed(key=said.key, at=said.at, effect=said.effect, survey=CodeSurvey(complete=False))
    return asking.surveyed(rt, nothing, playbook)


def _not_saved(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    assert isinstance(unpaid.effect, Commit)
    return commits.failed(rt, unpaid.effect, playbook)


def _stalled(rt: Roundtable, effect: Effect, text: str) -> Roundtable:
    rt = rt.but(stage=Stage.STALLED, stalled=Stalled(effect=effect, stage=rt.stage))
    message = Message(text=text, choices=(menus.RETRY,))
    return rt.offering(MenuKind.RETRY, message, part=rt.part)


FOLLOWS: Mapping[type[Attemptable], Follows] = {
    OpenThread: _thread_not_opened,
    ReadThread: _thread_not_read,
    ReadItem: _item_not_read,
    Restore: _item_not_read,
    Post: _not_posted,
    Rewrite: _not_rewritten,
    Speak: _nothing_said,
    Draft: _voice_lost,
    Synthesize: _no_synthesis,
    Survey: _not_searched,
    Commit: _not_saved,
}
