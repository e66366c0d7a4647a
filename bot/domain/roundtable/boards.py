"""
The card of a discussion follows from the state, as the card of a step does (`cards.py`): after each input what it
should say is compared with what was sent, and edited.
"""

from collections.abc import Callable
from functools import wraps

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import discussion_card, menus
from bot.domain.messages.discussion_card import DiscussionScene
from bot.domain.messages.message import NO_STEP, Message
from bot.domain.roundtable import agreeing, cards, permalinks
from bot.domain.roundtable.effects import Post, Rewrite, rephrased
from bot.domain.roundtable.inputs import Input, Press
from bot.domain.roundtable.outcomes import Attempted, Done
from bot.domain.roundtable.posts import StepCard
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking, deciding, elaborations, silence

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_board(decide: Decide) -> Decide:
    """*decide*, and the edit of the discussion's card that comes of it."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt or after.board is None:
            return after
        after = deciding.as_recorded(after)
        if isinstance(event, Attempted | Done) and after.board is rt.board and after.menu is rt.menu:
            return after
        after = _moved(_left(after, rt, playbook), event, playbook)
        return _current(after, playbook, pressed=isinstance(event, Press))

    return decided


def _moved(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
    """Below what was said since, as the card of a step moves."""
    card = rt.board
    assert card, "there is a card"
    counted = cards.counted(card, event)
    rt = rt if counted is card else rt.but(board=counted)
    debate = rt.elaboration
    if debate is None or rt.menu is None or rt.menu.token != card.token:
        return rt
    if not card.ts or not cards.is_far(rt, counted):
        return rt
    rt, moved = cards.posted_below(rt, counted, _rendered(rt, debate, card, playbook), about=NO_STEP)
    return rt.but(board=moved)


def _current(rt: Roundtable, playbook: Playbook, *, pressed: bool) -> Roundtable:
    card = rt.board
    assert card, "there is a card"
    debate = rt.elaboration
    if card.ts and card.moved_from:
        scene = scene_of(rt, debate, card, playbook) if debate else None
        pointing = discussion_card.moved_card(scene) if scene else card.shown.spent()
        rt = rt.edited(ts=card.moved_from, message=pointing)
        card = card.but(moved_from="")
        rt = rt.but(board=card)
    if debate is None:  # it says what came of the discussion
        return rt
    message = _rendered(rt, debate, card, playbook)
    if rt.menu and rt.menu.token == card.token:
        rt = rt.but(menu=rt.menu.but(message=message))
    if all(one.id != card.post or one.attempts for one in rt.outbox):
        if not card.ts or message == card.shown:
            return rt
        pressed = pressed or message.choices != card.shown.choices
        if card.closed:
            return reposted(rt, message) if pressed else rt
        rt = rt.edited(ts=card.ts, message=message, pressed=pressed)
        revision = card.revision + 1
        return rt.but(board=card.but(shown=message, revision=revision))
    return rt.but(outbox=rephrased(rt.outbox, card.post, message), board=card.but(shown=message))


def is_gone(rt: Roundtable, edit: Rewrite) -> bool:
    """Whether *edit*, which failed, was of the card of the open discussion."""
    return rt.elaboration is not None and rt.board is not None and edit.ts == rt.board.ts


def reposted(rt: Roundtable, message: Message) -> Roundtable:
    """The card stands in a new message from now on, under the same token: somebody deleted the old one."""
    card = rt.board
    assert card, "there is a card"
    rt = rt.queueing(Post(message=message.but(about=NO_STEP)))
    card = card.but(post=rt.outbox[-1].id, ts="", shown=message, closed=False)
    menu = rt.menu.but(ts="") if rt.menu and rt.menu.token == card.token else rt.menu
    return rt.but(board=card, menu=menu).asking_with(rt.outbox[-1])


def _left(rt: Roundtable, before: Roundtable, playbook: Playbook) -> Roundtable:
    """A card that another one replaced says where to look."""
    old = before.board
    if old is None or rt.board is None or old.token == rt.board.token or old.shown.card is None:
        return rt
    if not rt.elaboration or before.elaboration is None or not old.shown.choices:
        return rt
    return rt.collapsing(old, discussion_card.moved_card(scene_of(rt, rt.elaboration, old, playbook)))


def _rendered(rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook) -> Message:
    scene = scene_of(rt, debate, card, playbook)
    message = discussion_card.open_card(scene)
    menu = rt.menu if rt.menu and rt.menu.token == card.token else None
    rendered = message.card
    assert rendered, "a card was rendered"
    if menu is None:
        return message.spent().but(note=rt.what_became_of(card.token))
    dispute = debate.put[-1] if debate.put and elaborations.is_open(debate, debate.put[-1]) else None
    decide = menus.options(dispute.options) if dispute and not debate.sealed else ()
    extra = tuple(one for one in card.message.choices if one.action in asking.FOR_A_TIME)
    rendered = rendered.but(revision=_revision(debate))
    return message.but(choices=(*decide, *message.choices, *extra), token=card.token, card=rendered)


def _revision(debate: Elaboration) -> int:
    """A select keeps what was chosen in it, until its block has another name."""
    return len(debate.options) + len(debate.stands) + len(debate.decided)


def scene_of(rt: Roundtable, debate: Elaboration, card: StepCard, playbook: Playbook) -> DiscussionScene:
    step = playbook.agenda.get(debate.step_id)
    return DiscussionScene(
        debate=debate,
        step=f"{debate.step_id} {step.title}" if step else debate.step_id,
        opened_by=card.by,
        people=rt.people,
        agreements=agreeing.agreements(rt),
        marks=agreeing.shown_marks(rt, debate.step_id),
        links=_links(rt, debate),
        heading=card.message.text,
        first=card.first,
        goes_on=elaborations.can_go_on(rt, playbook),
        ending=silence.ending(rt, playbook),
    )


def _links(rt: Roundtable, debate: Elaboration) -> dict[str, str]:
    held_in = permalinks.thread(rt.permalink)
    if held_in is None:
        return {}
    stamps = (
        *(one.ts or one.posted for one in debate.turns),
        *(one.ts for one in debate.objections),
    )
    found = {ts: permalinks.of_message(held_in, rt.place.channel, ts) for ts in stamps if ts}
    return {ts: url for ts, url in found.items() if url}
