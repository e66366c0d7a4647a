"""Slack could not reach the bot for a while, and has given up repeating: what was said meanwhile is read."""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import trouble_wording
from bot.domain.messages.message import Message
from bot.domain.roundtable.effects import ReadThread
from bot.domain.roundtable.inputs import Returned, Say
from bot.domain.roundtable.outcomes import ThreadRead
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import KEYS_REMEMBERED, Roundtable
from bot.domain.values.timestamps import seconds

MARGIN_SECONDS = 60
"""We may have been gone for that long before we were last seen, and our clock is not Slack's."""


def returned(rt: Roundtable, event: Returned, playbook: Playbook) -> Roundtable:
    """Where the thread is not known yet, or is about to be read anyway, there is nothing to do."""
    if not rt.place.thread or rt.stage is Stage.OPENING or rt.has_pending(ReadThread):
        return rt
    left = seconds(event.since) - MARGIN_SECONDS
    return rt.queueing(ReadThread(missed=True, after=f"{left:.6f}"))


def unheard(rt: Roundtable, event: ThreadRead) -> tuple[Say, ...]:
    """Without what another process has heard, or Slack has repeated after all."""
    known = {*rt.seen, *(line.message_id for line in rt.lines)}
    oldest = _remembered_since(rt)
    return tuple(
        Say(
            key=rt.line_of(one.ts),
            at=event.at,
            person=one.person,
            text=one.text,
            ts=one.ts,
            to_us=one.to_us,
            files=one.files,
        )
        for one in event.heard
        if one.ts > oldest and rt.line_of(one.ts) not in known
    )


def told(rt: Roundtable, count: int, *, complete: bool) -> Roundtable:
    """Nothing is posted when nothing was missed."""
    if not count and complete:
        return rt
    return rt.telling(Message(text=trouble_wording.was_away(count, complete=complete)), part=rt.part)


def _remembered_since(rt: Roundtable) -> str:
    """Of what is older we do not know any more whether we heard it; we were not away then."""
    if len(rt.seen) < KEYS_REMEMBERED:
        return ""
    here = rt.line_of("")
    return min((key.removeprefix(here) for key in rt.seen if key.startswith(here)), default="")
