"""
Messages of ours that follow the state: the cards of steps and discussions, menus, the first message and the brief.

After each input, what each of them should say is compared with what was sent. So an edit that was lost by a crash is
made by the next input, and however much happens at once, the newest content is sent once.
"""

from collections.abc import Iterator

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion import words
from bot.domain.discussion.board import DiscussionBoard, board_of
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import agent_wording, discussion_card, menus, root_card
from bot.domain.messages.discussion_card import DiscussionScene
from bot.domain.messages.message import NO_STEP, Action, Message
from bot.domain.messages.step_wording import AT_WORK
from bot.domain.roundtable import agreeing, cards, prompts, root
from bot.domain.roundtable.budget import used_up
from bot.domain.roundtable.casting import playbook_for
from bot.domain.roundtable.effects import (
    ClearWork,
    NameSession,
    Post,
    React,
    Rewrite,
    ShowWork,
    Speak,
    Unreact,
    WorkIndicator,
    rephrased,
)
from bot.domain.roundtable.inputs import Input, Press
from bot.domain.roundtable.outcomes import Attempted, Done, Posted, ThreadOpened
from bot.domain.roundtable.posts import LiveMessage, ShownSession, StepCard
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import BRIEF, PROMPT, ROOT, Roundtable
from bot.domain.roundtable.transitions import agents, attending, drafts, silence, speaking
from bot.domain.roundtable.transitions.asking import thinks
from bot.domain.roundtable.waiting import unheard_in_discussion

ASKING = frozenset({Action.FINISH_STEP, Action.CONTINUE})


def show_messages(rt: Roundtable, before: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """Queues the posts and edits by which the thread comes to show *rt*."""
    rt = attending.end_reminders(show_work(rt, event, playbook))
    rt = name_session(rt, playbook)
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
        yield rt.board.token, render_board(rt, rt.elaboration, rt.board, playbook)
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
        rt = rt.ending(old.token, discussion_card.moved_card(scene_of_board(rt, debate, old, playbook)))
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


# --- the session ----------------------------------------------------------------------------------------------------
#
# An app that is declared an agent has one in its thread: the title says the item and the step, and it is closed when
# the analysis is done.

NOT_YET = frozenset({Stage.OPENING, Stage.STALLED})


def name_session(rt: Roundtable, playbook: Playbook) -> Roundtable:
    is_shown = playbook.policy.agent and rt.place.thread
    if not is_shown or rt.stage in NOT_YET or WorkIndicator.SESSION in rt.signs_refused:
        return rt
    closed = rt.stage is Stage.ANALYSED and not rt.working_at
    wanted = ShownSession(thread=rt.place.thread, title=_title(rt, playbook), closed=closed)
    if wanted == rt.session:
        return rt
    named = NameSession(title=wanted.title, closed=closed)
    return rt.dropping(NameSession).queueing(named).but(session=wanted)


def _title(rt: Roundtable, playbook: Playbook) -> str:
    if rt.stage is Stage.ANALYSED:
        return agent_wording.session(rt.title)
    step = playbook.agenda.get(rt.step_id)
    return agent_wording.session(rt.title, step.title if step else "")


# --- that a voice is at work ----------------------------------------------------------------------------------------
#
# Words under the thread, or an emoji on the message that is being answered, as long as words of a voice with a model
# are pending (ADR 20).
#
# It follows from the outbox alone, so that it goes with what ends the work: words, a failure, a person who stops
# here. What a process that died has left, the next one takes away. What Slack would not show here is not tried here
# again.

EMOJI = "hourglass_flowing_sand"


def show_work(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    if isinstance(event, Posted) and rt.working_by is WorkIndicator.STATUS and not rt.has_pending(ShowWork):
        rt = rt.but(working_at="")  # it went with the post
    work = next((effect for effect in rt.outbox if isinstance(effect, Speak)), None)
    at_work = work is not None and thinks(work.persona, playbook)
    if rt.working_at and not at_work:
        return rt.queueing(_clearing(rt)).but(working_at="")
    if work and at_work and not rt.working_at and (ts := _answered(rt)):
        sign = _sign(rt, playbook)
        is_reaction = sign is WorkIndicator.REACTION
        shown = React(ts=ts, emoji=EMOJI) if is_reaction else ShowWork(sign=sign, words=AT_WORK[work.kind])
        return _beginning(rt.but(working_at=ts, working_by=sign), shown)
    return rt


def sign_refused(rt: Roundtable, sign: WorkIndicator) -> Roundtable:
    """Slack would not show it: the next one is tried, if there is still anything to wait for."""
    rt = rt.but(signs_refused=tuple(dict.fromkeys((*rt.signs_refused, sign))))
    return rt.but(working_at="") if rt.working_by is sign else rt


def _sign(rt: Roundtable, playbook: Playbook) -> WorkIndicator:
    usable = (
        (WorkIndicator.SESSION, WorkIndicator.STATUS) if playbook.policy.agent else (WorkIndicator.STATUS,)
    )
    return next((sign for sign in usable if sign not in rt.signs_refused), WorkIndicator.REACTION)


def _clearing(rt: Roundtable) -> Unreact | ClearWork:
    if rt.working_by is WorkIndicator.REACTION:
        return Unreact(ts=rt.working_at, emoji=EMOJI)
    return ClearWork(sign=rt.working_by)


def _answered(rt: Roundtable) -> str:
    """What people said last about it; where they pressed a button, the thread itself is at work."""
    if rt.stage is Stage.DISCUSSING:
        said = rt.answers[-1].ts if rt.answers else ""
    else:
        turns = rt.elaboration.turns if rt.elaboration and rt.stage is Stage.ELABORATING else ()
        said = turns[-1].ts if turns and turns[-1].human else ""
    return said or rt.place.thread


def _beginning(rt: Roundtable, sign: React | ShowWork) -> Roundtable:
    """Before the work, which may take a minute, and behind the effects that come first."""
    place = next(number for number, one in enumerate(rt.outbox) if isinstance(one, Speak))
    before, work = rt.outbox[:place], rt.outbox[place:]
    rt = rt.but(outbox=before).queueing(sign)
    return rt.but(outbox=(*rt.outbox, *work))


# --- the card of a discussion ---------------------------------------------------------------------------------------


def render_board(rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook) -> Message:
    scene = scene_of_board(rt, debate, card, playbook)
    message = discussion_card.open_card(scene)
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    card_of_it = message.card
    assert card_of_it, "a card was rendered"
    if menu is None:
        return message.spent().but(note=rt.what_became_of(card.token))
    settled = scene.board.settled
    dispute = debate.put[-1] if debate.put and words.name(debate.put[-1].issue) not in settled else None
    decide = menus.options(dispute.options) if dispute and not debate.sealed else ()
    more = (menus.ALLOW_MORE,) if used_up(rt.purse, playbook.policy) else ()
    # A select keeps what was chosen in it, until its block has another name.
    board = scene.board
    revision = len(board.options) + board.moves + len(board.own(board.decisions))
    card_of_it = card_of_it.but(revision=revision)
    return message.but(choices=(*decide, *message.choices, *more), token=card.token, card=card_of_it)


def scene_of_board(
    rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook
) -> DiscussionScene:
    step, board = playbook.agenda.get(debate.step_id), board_of(debate, rt.specification)
    return DiscussionScene(
        board=board,
        step=f"{debate.step_id} {step.title}" if step else debate.step_id,
        people=rt.people,
        agreements=agreeing.agreements(rt),
        marks=agreeing.shown_marks(rt, debate.step_id),
        links=_links(rt, board),
        heading=card.message.text,
        first=card.first,
        goes_on=bool(speaking.able(rt, playbook)),
        ending=silence.ending(rt, playbook),
        unheard=_unheard(rt),
        notes=tuple(drafts.notes(rt, playbook)),
    )


def _unheard(rt: Roundtable) -> dict[str, str]:
    """Who has said nothing in the discussion, by the newest answer to the step: the oldest first."""
    answered = {one.person: one.ts for one in rt.answers}
    missing = sorted(unheard_in_discussion(rt), key=lambda person: answered.get(person, ""))
    return {person: rt.name_of(person) for person in missing}


def _links(rt: Roundtable, board: DiscussionBoard) -> dict[str, str]:
    """To messages, by their lines."""
    posted = {turn.line: turn.ts or turn.posted for turn in board.debate.turns if turn.line}
    claims = (one.claim("text") for one in board.objections)
    named = {line: "" for claim in claims if claim for line in (claim.line, *claim.sources)}
    named |= {line: "" for one in board.stands for line in (one.because, one.heard)} | posted
    found = {line: root.link_to(rt, ts) if ts else root.link_to_line(rt, line) for line, ts in named.items()}
    return {line: url for line, url in found.items() if url}
