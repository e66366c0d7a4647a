"""
That a voice is at work: words under the thread, or an emoji on the message that is being answered, as long as
words of a voice with a model are pending (ADR 20).

It follows from the outbox alone, so that it goes with what ends the work: words, a failure, a
person who stops here. What a process that died has left, the next one takes away. What Slack would not show here is not
tried here again.
"""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages.step_wording import AT_WORK
from bot.domain.roundtable.effects import ClearWork, React, ShowWork, Speak, Unreact, WorkIndicator
from bot.domain.roundtable.inputs import Input
from bot.domain.roundtable.outcomes import Posted
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions.asking import thinks

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


def refused(rt: Roundtable, sign: WorkIndicator) -> Roundtable:
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
