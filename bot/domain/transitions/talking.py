"""Words that are only words: they are kept, and nothing follows from them."""

from bot.domain.effects import Tell
from bot.domain.inputs import Command, Say
from bot.domain.message import Message
from bot.domain.permission import learned
from bot.domain.roundtable import Roundtable


def only(rt: Roundtable, happened: Command, why: str) -> Roundtable:
    """Somebody wished for what is not theirs to wish for: it was said, and they alone are told why nothing happens."""
    assert isinstance(happened, Say), "only words can be only words"
    rt = learned(rt.meeting(happened.person), happened.person)
    rt = rt.heard(happened.person, happened.text, ts=happened.ts, part=rt.part)
    return rt.owing(Tell(person=happened.person.id, message=Message(text=why)))
