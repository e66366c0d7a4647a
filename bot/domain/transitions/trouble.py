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
    Rewrite,
    Speak,
    Survey,
    Synthesize,
    Tell,
)
from bot.domain.inputs import CodeSurvey, Failed, Press, Surveyed
from bot.domain.message import Message
from bot.domain.roundtable import MenuKind, Roundtable, Stage
from bot.domain.taxonomy import trouble
from bot.domain.transcript import Part
from bot.domain.transitions import boundary, elaborations, phases, steps, syntheses
from bot.domain.transitions.reporting import report

CONTEXT_FULL = "context"
UNSTRUCTURED = "unstructured"

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


def retry(rt: Roundtable, happened: Press, playbook: Playbook) -> Roundtable:
    stage, effect = rt.heading_for or Stage.DISCUSSING, rt.stalled
    assert effect, "there is a Retry button only when something stalled"
    rt = rt.closing_menu(wording.chosen(menus.RETRY.label, rt.name_of(happened.person.id)), ts=happened.ts)
    return rt.but(stage=stage, heading_for=None, stalled=None).owing(effect.but(id="", attempts=0))


def _shrugged(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """A courtesy that failed; the engine has logged it."""
    return rt


def _thread_not_opened(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """Nothing is in Slack yet: only the person who asked is told, and may start again."""
    assert isinstance(unpaid.effect, OpenThread)
    message = Message(text=unpaid.said.sentence)
    told = Tell(person=rt.started_by, message=message, reply_url=unpaid.effect.reply_url)
    return rt.but(stage=Stage.STALLED, outbox=()).owing(told)


def _thread_not_read(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    return rt.telling(Message(text=wording.could_not_read()), part=Part.DRAFT)


def _item_not_read(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    return _stalled(rt, unpaid.effect, wording.cannot_go_on(unpaid.said.sentence))


def _not_posted(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """One message that Slack will not have is left out; a thread that takes no messages pauses the roundtable."""
    if unpaid.said.reason not in NOBODY_HOME:
        return rt
    heading_for = rt.heading_for if rt.stage is Stage.PAUSED else rt.stage
    silent = rt.without_owing(Post, Rewrite, React, Speak)
    told = Tell(person=rt.started_by, message=Message(text=wording.cannot_go_on(unpaid.said.sentence)))
    return silent.but(stage=Stage.PAUSED, heading_for=heading_for, menu=None).owing(told)


def _nothing_said(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """One persona's failure does not sink the round, and is never posted as its opinion."""
    effect = unpaid.effect
    assert isinstance(effect, Speak)
    if rt.stage is Stage.ELABORATING and rt.elaboration:
        if unpaid.said.reason == CONTEXT_FULL:
            return elaborations.too_much_to_hold(rt, playbook)
        if effect.task == "frame":
            return _voice_lost(rt, unpaid, playbook)
        waiting = tuple(key for key in rt.elaboration.waiting if key != effect.persona)
        return elaborations.go_round(rt.but(elaboration=rt.elaboration.but(waiting=waiting)), playbook)
    if rt.stage is Stage.WRITING:
        return boundary.present(rt, playbook, wording.saved(()))
    return rt


def _voice_lost(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """The one fatal trouble: nothing goes on until a person presses Retry, and nothing counts as complete."""
    return _stalled(report(rt, [trouble("ERR-INT-001")]), unpaid.effect, "")


def _no_synthesis(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    if unpaid.said.reason == UNSTRUCTURED:
        return syntheses.unstructured(rt, "", playbook)
    return _voice_lost(rt, unpaid, playbook)


def _not_searched(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    said = unpaid.said
    nothing = Surveyed(key=said.key, at=said.at, effect=said.effect, survey=CodeSurvey(complete=False))
    return steps.surveyed(rt, nothing, playbook)


def _not_saved(rt: Roundtable, unpaid: Unpaid, playbook: Playbook) -> Roundtable:
    """
    Kept in the store and tried again before the next commit; the meeting goes on (ERR-META-003).

    People are told once, not at every attempt.
    """
    assert isinstance(unpaid.effect, Commit)
    known = bool(rt.unsaved)
    rt = rt.but(unsaved=(*rt.unsaved, unpaid.effect))
    if rt.stage is Stage.SYNTHESIZING:
        return syntheses.not_recorded(rt, playbook)
    rt = rt if known else report(rt, [trouble("ERR-META-003")], part=Part.FORMALIZING)
    goes_on = UNSAVED_GOES_ON.get(rt.stage)
    return goes_on(rt, playbook) if goes_on else rt


def _step_unsaved(rt: Roundtable, playbook: Playbook) -> Roundtable:
    rt = rt.but(steps_completed=tuple(dict.fromkeys((*rt.steps_completed, rt.step_id))))
    return boundary.present(rt, playbook, "")


def _phase_unsaved(rt: Roundtable, playbook: Playbook) -> Roundtable:
    return boundary.phase_closed(rt, playbook)


def _opening_unsaved(rt: Roundtable, playbook: Playbook) -> Roundtable:
    return phases.go_on(rt, playbook)


def _stalled(rt: Roundtable, effect: Effect, text: str) -> Roundtable:
    heading_for = rt.heading_for or rt.stage
    rt = rt.but(stage=Stage.STALLED, heading_for=heading_for, stalled=effect)
    message = Message(text=text or wording.press_retry(), choices=(menus.RETRY,))
    return rt.offering(MenuKind.RETRY, message, part=rt.part)


UNSAVED_GOES_ON: Mapping[Stage, Callable[[Roundtable, Playbook], Roundtable]] = {
    Stage.WRITING: _step_unsaved,
    Stage.CLOSING: _phase_unsaved,
    Stage.OPENING: _opening_unsaved,
}

FOLLOWS: Mapping[type[Attemptable], Follows] = {
    OpenThread: _thread_not_opened,
    ReadThread: _thread_not_read,
    ReadItem: _item_not_read,
    Post: _not_posted,
    Speak: _nothing_said,
    Draft: _voice_lost,
    Synthesize: _no_synthesis,
    Survey: _not_searched,
    Commit: _not_saved,
}
