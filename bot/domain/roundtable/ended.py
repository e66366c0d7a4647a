"""What was said in a discussion that ended, for as long as no model has read it. Only the newest keeps its turns."""

from collections.abc import Mapping

from bot.domain.discussion.elaboration import EndedDiscussion, Turn
from bot.domain.roundtable.state import Answer, Roundtable


def keep(rt: Roundtable) -> Roundtable:
    """Another discussion of the step starts where this one ended. What people said in it is for a model to read."""
    debate = rt.debate
    ended = EndedDiscussion(options=debate.options, turns=debate.turns)
    rt = without_turns(rt)
    rt = rt.but(ended={**rt.ended, debate.step_id: ended})
    besides = (
        Answer(person=one.by, text=one.text, ts=one.ts, step_id=debate.step_id)
        for one in debate.besides
        if one.text
    )
    return rt.but(unread=(*rt.unread, *said(rt), *besides))


def said(rt: Roundtable) -> tuple[Answer, ...]:
    """By people, to be read."""
    return tuple(
        Answer(person=turn.by, text=turn.text, ts=turn.ts, step_id=step_id)
        for step_id, one in rt.ended.items()
        for turn in one.turns
        if turn.human and turn.ts and turn.text
    )


def turns(rt: Roundtable) -> Mapping[str, Turn]:
    """Those of people by their ts, those of personas by their id."""
    return {turn.ts or turn.id: turn for one in rt.ended.values() for turn in one.turns}


def without_turns(rt: Roundtable) -> Roundtable:
    """A model has read them."""
    return rt.but(ended={step_id: one.but(turns=()) for step_id, one in rt.ended.items()})
