"""
That somebody is thinking: an emoji on the message that is being answered, as long as a voice with a model owes words.

It follows from what is owed and from nothing else, so that it goes with whatever ends the work: words, a failure, a
person who stops here. What a process that died has left, the next one takes away.
"""

from collections.abc import Callable
from functools import wraps

from bot.domain.agenda import Playbook
from bot.domain.effects import Draft, React, Speak, Synthesize, Unreact
from bot.domain.inputs import Input
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage

EMOJI = "hourglass_flowing_sand"
BY_VOICE = (Speak, Draft, Synthesize)

Decide = Callable[[Roundtable, Input, Playbook], Roundtable]


def marked(decide: Decide) -> Decide:
    """*decide*, with the mark that belongs to what comes of it."""

    @wraps(decide)
    def decided(rt: Roundtable, happened: Input, playbook: Playbook) -> Roundtable:
        after = decide(rt, happened, playbook)
        return after if after is rt else _shown(after, playbook)

    return decided


def _shown(rt: Roundtable, playbook: Playbook) -> Roundtable:
    at_work = playbook.house.thinks and not rt.unaided and rt.owes(*BY_VOICE)
    if rt.working_at and not at_work:
        return rt.owing(Unreact(ts=rt.working_at, emoji=EMOJI)).but(working_at="")
    if at_work and not rt.working_at and (ts := _answered(rt)):
        return _beginning(rt.but(working_at=ts), React(ts=ts, emoji=EMOJI))
    return rt


def _answered(rt: Roundtable) -> str:
    """What people said last about it; where they pressed a button, the thread itself is at work."""
    if rt.stage is Stage.DISCUSSING:
        said = rt.answers[-1].ts if rt.answers else ""
    else:
        turns = rt.elaboration.turns if rt.elaboration and rt.stage is Stage.ELABORATING else ()
        said = turns[-1].ts if turns and turns[-1].human else ""
    return said or rt.place.thread


def _beginning(rt: Roundtable, mark: React) -> Roundtable:
    """Before the work, which may take a minute, and behind what is being paid already."""
    place = next(number for number, one in enumerate(rt.outbox) if isinstance(one, BY_VOICE))
    before, work = rt.outbox[:place], rt.outbox[place:]
    rt = rt.but(outbox=before).owing(mark)
    return rt.but(outbox=(*rt.outbox, *work))
