"""
The card of a step follows from the state: after each input, what it should say is compared with what was sent,
and edited.

So an edit that was lost by a crash is made by the next input, and however much happens at once, the newest
content is sent once.
"""

from collections.abc import Callable
from functools import wraps

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import Post
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.state import Roundtable, StepCard

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def with_card(decide: Decide) -> Decide:
    """*decide*, and the edit of the card that comes of it."""

    @wraps(decide)
    def decided(rt: Roundtable, event: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, event, playbook)
        if after is rt or after.card is None:
            return after
        return _current(_left(after, rt.card), after.card, playbook)

    return decided


def rendered(rt: Roundtable, card: StepCard, playbook: Playbook) -> Message:
    """What the card says now."""
    del rt, playbook
    return card.message


def _current(rt: Roundtable, card: StepCard, playbook: Playbook) -> Roundtable:
    """Edited, once it is known where it stands."""
    message = rendered(rt, card, playbook)
    if not card.ts or message == card.shown:
        return rt
    offers_more = message.choices != card.shown.choices and bool(message.choices)
    rt = rt.edited(ts=card.ts, message=message)
    rt = rt.but(card=card.but(shown=message, revision=card.revision + 1))
    return rt.asking_with(rt.outbox[-1]) if offers_more else rt


def _left(rt: Roundtable, old: StepCard | None) -> Roundtable:
    """The card that was there before another one stays in the thread, without anything to press."""
    if old is None or rt.card is None or old.token == rt.card.token:
        return rt
    if old.ts:
        return rt.edited(ts=old.ts, message=old.message.spent())
    outbox = tuple(
        one.but(message=one.message.spent()) if isinstance(one, Post) and one.id == old.post else one
        for one in rt.outbox
    )
    return rt.but(outbox=outbox)
