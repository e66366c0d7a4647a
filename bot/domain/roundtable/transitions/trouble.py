"""
When an effect fails: what it means for the meeting, and what people are told.

A failure is an outcome like any other. `failed` says for each kind of effect what follows; none of it ends the
roundtable for good.
"""

from collections.abc import Callable, Mapping

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.taxonomy import trouble
from bot.domain.discussion.elaboration import EndReason, TurnKind
from bot.domain.messages import menus, record_wording, step_wording, trouble_wording
from bot.domain.messages.menus import MenuKind
from bot.domain.messages.message import Message
from bot.domain.roundtable import live
from bot.domain.roundtable.effects import (
    UNDER_WAY,
    Commit,
    Effect,
    NameSession,
    OpenThread,
    Post,
    PushIssue,
    React,
    ReadIssue,
    ReadItem,
    ReadThread,
    Restore,
    Rewrite,
    ShareRecord,
    ShowWork,
    Speak,
    Survey,
    Tell,
    Then,
    WorkIndicator,
)
from bot.domain.roundtable.inputs import ChannelGone
from bot.domain.roundtable.outcomes import (
    CHANNEL_ARCHIVED,
    REMOVED,
    CodeSurvey,
    CommitResult,
    Failed,
    Surveyed,
)
from bot.domain.roundtable.stage import BUSY, RESTING, Stage
from bot.domain.roundtable.state import Roundtable, Stalled
from bot.domain.roundtable.transitions import (
    asking,
    drafts,
    elaborations,
    exporting,
    issues,
    opening,
    pausing,
    phases,
    speaking,
    specifying,
)
from bot.domain.roundtable.transitions.asking import report
from bot.domain.roundtable.transitions.saving import (
    is_behind,
    not_saved,
    queue_commit,
    saved,
    written_again,
)
from bot.domain.transcript.lines import RAW, LinePhase
from bot.domain.values.places import Person

# What comes after a commit. The meeting goes on whether it could be made or not: what is not in git yet is
# in the store, and is tried again before the next commit.


FollowsCommit = Callable[[Roundtable, Playbook, CommitResult | None], Roundtable]
"""None when it could not be made."""

AFTER_COMMIT: Mapping[Then, FollowsCommit] = {
    Then.OPENING: opening.opened,
    Then.STEP: phases.step_written,
    Then.SYNTHESIS: elaborations.saved,
    Then.PHASE: phases.closed,
}


def committed(rt: Roundtable, commit: Commit, playbook: Playbook, *, told: CommitResult) -> Roundtable:
    rt = saved(rt, commit, told)
    lines = rt.lines
    rt = specifying.read_back(rt, told.hand_edits, playbook, before=told.before)
    is_read, before = rt.lines != lines, rt.specification.count
    rt = exporting.read_edits(exporting.told_once(rt, told.exports), told.state.exported, playbook)
    is_more = is_read or rt.specification.count > before
    rt = _goes_on(rt, commit, playbook, told=told)
    if is_more and not rt.has_pending(Commit):
        rt = queue_commit(rt, "changes by hand read back")
    return rt


def commit_failed(rt: Roundtable, commit: Commit, playbook: Playbook, *, why: str) -> Roundtable:
    """
    People are told *why* once, not at every attempt (ERR-META-003).

    What was to be committed after it fails with it: git must not get ahead of what it has missed.
    """
    told = is_behind(rt) or commit.late
    rt = not_saved(rt, commit)
    found = trouble("ERR-ELAB-009" if commit.then is Then.SYNTHESIS else "ERR-META-003", unsaved=why)
    rt = rt.logging(found) if told else report(rt, [found], part=LinePhase.FORMALIZING)

    behind = [effect for effect in rt.outbox if isinstance(effect, Commit)]
    for other in behind:
        rt = not_saved(rt.completing(other.id), other)
    for one in (commit, *behind):
        rt = _goes_on(rt, one, playbook)
    return rt


def _goes_on(
    rt: Roundtable, commit: Commit, playbook: Playbook, *, told: CommitResult | None = None
) -> Roundtable:
    follows = AFTER_COMMIT.get(commit.then)
    return follows(rt, playbook, told) if follows else pausing.notes_saved(rt)


CONTEXT_FULL = "context"
"""The voices cannot take in any more of the discussion."""
THREAD_GONE = "thread_not_found"
"""It was deleted: the roundtable can be started again in a new one."""
NO_SESSIONS = frozenset({"feature_disabled", "missing_scope", "not_agent_app"})
"""Slack has no sessions of agents for this app."""

EDITING_CLOSED = "edit_window_closed"
"""The workspace allows no edits of messages, or only for a limited time."""
NOT_EDITABLE = frozenset({"message_not_found", "cant_update_message", EDITING_CLOSED})
"""The message is gone, or Slack does not let us edit it."""
ABOUT_THE_MESSAGE = frozenset(
    {
        "invalid_arguments",
        "invalid_blocks",
        "invalid_blocks_format",
        "invalid_metadata_format",
        "invalid_metadata_schema",
        "metadata_must_be_sent_from_app",
        "metadata_too_large",
        "msg_blocks_too_long",
        "msg_too_long",
        "no_text",
        "too_many_attachments",
        "unexpected",
    }
)
"""Refusals of what a message says, or a mistake of ours in showing it: it would be refused every time."""


def failed(rt: Roundtable, effect: Effect, said: Failed, playbook: Playbook) -> Roundtable:
    """A courtesy that failed changes nothing; the engine has logged it."""
    match effect:
        case OpenThread():
            return _thread_not_opened(rt, effect, said)
        case ReadThread():
            return _thread_not_read(rt, effect)
        case ReadItem() | Restore():
            return _item_not_read(rt, effect, said, playbook)
        case Post():
            return _not_posted(rt, effect, said, playbook)
        case Rewrite():
            return _not_rewritten(rt, effect, said, playbook)
        case Speak():
            return _nothing_said(rt, effect, said, playbook)
        case Survey():
            nothing = Surveyed(
                key=said.key, at=said.at, effect=said.effect, survey=CodeSurvey(complete=False)
            )
            return asking.surveyed(rt, nothing, playbook)
        case Commit():
            return commit_failed(rt, effect, playbook, why=said.sentence)
        case ShareRecord():
            return _not_shared(rt, effect, said)
        case PushIssue():
            return issues.not_pushed(rt, effect, said.sentence)
        case ReadIssue():
            return rt.whispering(effect.person, said.sentence)
        case ShowWork(sign=sign):
            return live.sign_refused(rt, sign)
        case NameSession() if said.reason in NO_SESSIONS:
            return live.sign_refused(rt, WorkIndicator.SESSION)
        case _:
            return rt


def _thread_not_opened(rt: Roundtable, effect: OpenThread, said: Failed) -> Roundtable:
    """Nothing is in Slack: only the person who asked is told, and may start again. What is to be saved still is."""
    told = Tell(person=rt.started_by, message=Message(text=said.sentence), reply_url=effect.reply_url)
    commits = tuple(effect for effect in rt.outbox if isinstance(effect, Commit))
    return rt.but(stage=Stage.STALLED, outbox=commits, place=rt.place.but(thread="")).queueing(told)


def _thread_not_read(rt: Roundtable, effect: ReadThread) -> Roundtable:
    if effect.quiet:
        return rt
    if effect.missed:
        told = Message(text=trouble_wording.WAS_AWAY_AND_CANNOT_READ)
        return rt if rt.stage in RESTING else rt.telling(told, part=rt.part)
    if effect.lost is not None:
        return written_again(rt, effect.lost, complete=False)
    rt = rt.telling(Message(text=trouble_wording.COULD_NOT_READ), part=LinePhase.DRAFT)
    return opening.taken_up(rt, "taken up from git") if effect.recovering else rt


def _item_not_read(
    rt: Roundtable, effect: ReadItem | Restore, said: Failed, playbook: Playbook
) -> Roundtable:
    """Nothing can begin without; what has begun goes on with what we know."""
    if isinstance(effect, ReadItem) and effect.discussing:
        return elaborations.begin(rt, playbook, from_phase_menu=effect.discussing == "phase")
    if rt.stage is Stage.OPENING:
        return _stalled(rt, effect, trouble_wording.cannot_go_on(said.sentence))
    if rt.stage in BUSY or rt.stage is Stage.STALLED:
        return rt
    return opening.without_looking(rt, said.sentence, playbook)


def _not_posted(rt: Roundtable, effect: Post, said: Failed, playbook: Playbook) -> Roundtable:
    """
    A message that Slack refuses for what it says is left out, but not its buttons. Any other refusal is about all
    posts: the roundtable pauses, and nothing that was said is left out. What is being written down just now
    is finished first.
    """
    if said.reason in ABOUT_THE_MESSAGE:
        return _left_out(rt, effect, said.reason)
    gone = said.reason == THREAD_GONE
    is_known = effect.late and rt.stage in RESTING and not gone
    if rt.stage in BUSY or is_known:
        return rt.holding_back(effect)
    if said.reason in {*CHANNEL_ARCHIVED, REMOVED} and rt.stage not in RESTING:
        return _channel_gone(rt.holding_back(effect), said, playbook)
    return _unheard(rt, said, playbook, effect)


def _channel_gone(rt: Roundtable, said: Failed, playbook: Playbook) -> Roundtable:
    """The refusal may come before Slack's event, which then changes nothing."""
    key, archived = f"removed.{said.effect}", said.reason in CHANNEL_ARCHIVED
    return pausing.channel_gone(rt, ChannelGone(key=key, at=said.at, archived=archived), playbook)


def _unheard(rt: Roundtable, said: Failed, playbook: Playbook, post: Post) -> Roundtable:
    """
    Slack takes no post of ours in this thread: the roundtable pauses, and the person who started it is told. Where the
    thread is gone, who resumed it goes on in a new one.
    """
    gone = said.reason == THREAD_GONE
    resumed_by = rt.resumed_by if gone else ""
    words = trouble_wording.thread_gone(rt.title, goes_on=bool(resumed_by))
    words = words if gone else trouble_wording.cannot_go_on(said.sentence)
    told = (
        rt.dropping(React, *UNDER_WAY)
        .closing_menu(step_wording.SUPERSEDED)
        .holding_back(post)
        .whispering(resumed_by or rt.started_by, words)
    )
    if rt.stage not in RESTING:
        told = told.but(stage=Stage.PAUSED, heading_for=rt.stage)
    if not gone:
        return told
    told = told.but(
        stage=Stage.STALLED,
        stalled=None,
        resumed_by="",
        place=rt.place.but(thread=""),
        permalink="",
        card=None,
        board=None,
        live={},
        unsent=tuple(one for one in told.unsent if _is_for_any_thread(one)),
    )
    return opening.open_anew(told, Person(id=resumed_by), playbook) if resumed_by else told


def _is_for_any_thread(effect: Post | Rewrite) -> bool:
    """Words, and the brief. A card is made anew in the new thread, and nothing in the old one can be edited."""
    return isinstance(effect, Post) and (effect.broadcast or effect.message.card is None)


def _not_rewritten(rt: Roundtable, effect: Rewrite, said: Failed, playbook: Playbook) -> Roundtable:
    """A menu that is over must not keep its buttons: once more with what is said next, or as long as nothing can be."""
    key, reason = _card_at(rt, effect.ts), said.reason
    if key and reason == EDITING_CLOSED and not effect.pressed:
        # A reaction says "heard" until the card offers something else: no new card for each answer.
        return rt.but(live={**rt.live, key: rt.live[key].but(closed=True)})
    of_a_step = rt.card and key == rt.card.token
    if effect.message.choices and (of_a_step or (key and reason in NOT_EDITABLE)):
        return _card_not_edited(rt, key, effect, said, playbook)
    if effect.late and not rt.unsent:
        return rt
    return rt.but(unsent=(*rt.unsent, effect.but(late=True)))


def _card_at(rt: Roundtable, ts: str) -> str:
    """The key of the card of the step, or of the open discussion, that stands at *ts*."""
    in_use = [one.token for one in (rt.card, rt.board if rt.elaboration else None) if one]
    return next((key for key in in_use if rt.stands_at(key) == ts), "")


def _card_not_edited(
    rt: Roundtable, key: str, effect: Rewrite, said: Failed, playbook: Playbook
) -> Roundtable:
    """What cannot be edited is posted; where nothing can be posted either, it is as for any post."""
    message = effect.message
    if said.reason in NOT_EDITABLE:
        return live.posted_anew(rt, key, message)
    if said.reason in ABOUT_THE_MESSAGE:
        return live.posted_anew(rt, key, message.but(text=trouble_wording.NOT_SHOWN, card=None))
    return _not_posted(rt, Post(id=effect.id, message=message), said, playbook)


def _left_out(rt: Roundtable, effect: Post, reason: str) -> Roundtable:
    """The transcript says that it was not shown; its buttons come with other words."""
    rt, message = rt.marking(effect.id, not_shown=reason), effect.message
    if not message.token or message.text == trouble_wording.NOT_SHOWN:
        return rt
    again = message.but(text=trouble_wording.NOT_SHOWN)
    rt = rt.queueing(Post(message=again))
    return rt.posting_instead(effect.id, rt.outbox[-1])


def _nothing_said(rt: Roundtable, effect: Speak, said: Failed, playbook: Playbook) -> Roundtable:
    """One persona's failure does not sink the round, and is never posted as its opinion."""
    reason, raw = said.reason, str(said.facts.get(RAW) or "")
    if rt.stage is not Stage.ELABORATING:
        return drafts.note_failure(rt, effect, reason, raw)
    if reason == CONTEXT_FULL:
        return elaborations.conclude(report(rt, [trouble("ERR-ELAB-014")]), EndReason.TURN_LIMIT, playbook)
    if not (rt.debate.framed or rt.has_pending(Speak) or asking.thinks(effect.persona, playbook)):
        lead = speaking.lead_of(rt, playbook).key  # it opens without a model, and that failed
        again = effect.but(persona=lead, turn=TurnKind.OPENING, personas=(lead,))
        return _stalled(report(rt, [trouble("ERR-INT-001")]), again, trouble_wording.PRESS_RETRY)
    return elaborations.not_answered(rt, effect, reason, raw, playbook)


def _not_shared(rt: Roundtable, effect: ShareRecord, said: Failed) -> Roundtable:
    """Nothing of the meeting depends on it: who asked is told where the record is kept."""
    message = Message(text=record_wording.kept(rt.title, rt.slug, why=said.sentence))
    return rt.queueing(Tell(person=effect.person, message=message, reply_url=effect.reply_url))


def _stalled(rt: Roundtable, effect: Effect, text: str) -> Roundtable:
    rt = rt.but(stage=Stage.STALLED, stalled=Stalled(effect=effect, stage=rt.stage))
    message = Message(text=text, choices=(menus.RETRY,))
    return rt.offering(MenuKind.RETRY, message, part=rt.part)
