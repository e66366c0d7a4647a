"""
Messages of ours that follow the state: the cards of steps and discussions, menus, the first message and the brief.

After each input, what each of them should say is compared with what was sent. So an edit that was lost by a crash is
made by the next input, and however much happens at once, the newest content is sent once.
"""

from collections.abc import Iterator

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import discussion_card, root_card
from bot.domain.messages.message import NO_STEP, Action, Message
from bot.domain.roundtable import boards, cards, prompts, root, sessions, working
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import Post, Rewrite, rephrased
from bot.domain.roundtable.inputs import Input, Press
from bot.domain.roundtable.outcomes import Attempted, Done, ThreadOpened
from bot.domain.roundtable.posts import LiveMessage
from bot.domain.roundtable.state import BRIEF, PROMPT, ROOT, Roundtable
from bot.domain.roundtable.transitions import agents, attending

ASKING = frozenset({Action.FINISH_STEP, Action.CONTINUE})


def show_messages(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """Queues the posts and edits by which the thread comes to show *rt*."""
    rt = attending.end_reminders(working.show_work(rt, event, playbook))
    rt = sessions.name_session(rt, playbook)
    if isinstance(event, ThreadOpened):
        return _keep(rt, ROOT, LiveMessage(ts=event.thread.posted or event.thread.ts))
    rt = _end_replaced(root.without_stop(rt), before, playbook)
    # Most inputs are these two, and rendering a card with many entries takes 20 ms.
    now, then = ((at.card, at.board, at.menu, at.live) for at in (rt, before))
    if isinstance(event, Attempted | Done) and now == then:
        return rt
    rt = prompts.with_prompt(rt, before, event, playbook)
    for key, message in _views(rt, playbook):
        rt = _show(rt, key, message, pressed=isinstance(event, Press))
    for key in rt.live:
        rt = rt.showing_ending(key)
    return rt


# --- what stands --------------------------------------------------------------------------------------------------


def _views(rt: Roundtable, playbook: Playbook) -> Iterator[tuple[str, Message]]:
    """What each message should say now, by its key."""
    if rt.board and rt.elaboration:
        yield rt.board.token, boards.rendered(rt, rt.elaboration, rt.board, playbook)
    card = cards.rendered(rt, rt.card, playbook) if rt.card else None
    if rt.card and card:
        yield rt.card.token, card
    if rt.prompt and (asked := prompts.render_prompt(rt, rt.prompt, playbook, card)):
        yield PROMPT, asked
    if root.is_shown(rt):
        yield ROOT, root_card.root(root.scene_of(rt, playbook))
    if BRIEF in rt.live and rt.place.thread:
        yield BRIEF, root.final_brief(rt, playbook)
    for reminder in rt.attendance.reminders:
        yield reminder.token, attending.render_reminder(rt, reminder)
    for id in rt.live:
        if id in rt.specification.entries:
            yield id, agents.question_message(rt, id)


def _end_replaced(rt: Roundtable, before: Roundtable, playbook: Playbook) -> Roundtable:
    """A card that another one replaced stays in the thread, in short: as it was asked, with the depth of that time."""
    old = before.card
    if old and rt.card and old.token != rt.card.token:
        rt = rt.ending(old.token, cards.collapsed(rt, old, playbook_for(before, playbook)))
    old, debate = before.board, rt.elaboration
    if old and rt.board and old.token != rt.board.token and debate and before.elaboration:
        rt = rt.ending(old.token, discussion_card.moved_card(boards.scene_of(rt, debate, old, playbook)))
    return rt


# --- one message --------------------------------------------------------------------------------------------------


def _show(rt: Roundtable, key: str, message: Message, *, pressed: bool) -> Roundtable:
    """The menu offers what its message shows. A message is edited once it is known where it stands."""
    if rt.menu and rt.menu.token == key:
        rt = rt.but(menu=rt.menu.but(message=message))
    live = rt.live.get(key) or (LiveMessage(ts=rt.place.thread) if key == ROOT else None)
    if live is None or live.ending or message == live.shown:
        return rt
    if any(one.id == live.post and not one.attempts for one in rt.outbox):
        rt = rt.but(outbox=rephrased(rt.outbox, live.post, message))
        return _keep(rt, key, live.but(shown=message))
    if not live.ts:
        return rt
    offers_anew = live.shown is not None and _offers(message) != _offers(live.shown)
    is_card = rt.card is not None and rt.card.token == key
    asks_anew = is_card and bool(message.choices) and _asks(message) != _asks(live.shown)
    if live.closed:
        return posted_anew(rt, key, message) if pressed or (offers_anew and message.choices) else rt
    live = live.but(shown=message, revision=live.revision + 1)
    is_about_all = key in {ROOT, BRIEF}
    if is_about_all and message.card:  # new ids of blocks with every edit
        message = message.but(card=message.card.but(revision=live.revision))
    is_waited_for = (pressed and not is_about_all) or (asks_anew if is_card else offers_anew)
    rt = _keep(rt.queueing(Rewrite(ts=live.ts, message=message, pressed=is_waited_for)), key, live)
    return rt.asking_with(rt.outbox[-1]) if asks_anew else rt


def stand_at(rt: Roundtable, key: str, ts: str) -> Roundtable:
    """A press tells where its message stands, if it comes before Slack's answer to the post."""
    live = rt.live.get(key)
    return _keep(rt, key, live.but(ts=ts)) if live and not live.ts else rt


def posted_anew(rt: Roundtable, key: str, message: Message) -> Roundtable:
    """The message stands in a new post from now on, under the same token: Slack does not let us edit the old one."""
    about = rt.card.step_id if rt.card and rt.card.token == key else NO_STEP
    rt = rt.queueing(Post(message=message.but(about=about, recorded=False)))
    return rt.following(key, rt.outbox[-1], message).asking_with(rt.outbox[-1])


def _keep(rt: Roundtable, key: str, live: LiveMessage) -> Roundtable:
    return rt.but(live={**rt.live, key: live})


def _offers(message: Message) -> set[tuple[str, str]]:
    return {(choice.action, choice.value) for choice in message.offered}


def _asks(message: Message | None) -> set[str]:
    """Another button below the same question does not make what was written before it late."""
    return {choice.action for choice in message.choices} & ASKING if message else set()
