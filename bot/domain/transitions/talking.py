"""Words that are only words: they are kept, and nothing follows from them but an answer for whoever said them."""

from bot.domain import wording
from bot.domain.agenda import Playbook
from bot.domain.effects import Tell
from bot.domain.inputs import Command, Say
from bot.domain.message import Message
from bot.domain.permission import learned
from bot.domain.roundtable import Roundtable
from bot.domain.transitions import pausing


def only(rt: Roundtable, happened: Command, why: str) -> Roundtable:
    """Somebody wished for what is not theirs to wish for: it was said, and they alone are told why nothing happens."""
    assert isinstance(happened, Say), "only words can be only words"
    return _answered(learned(rt.meeting(happened.person), happened.person), happened, why)


def helped(rt: Roundtable, happened: Say, playbook: Playbook) -> Roundtable:
    """Who says "help" has answered no question, and is told what would."""
    return pausing.notes_saved(_answered(rt, happened, wording.how_it_goes()), playbook)


def _answered(rt: Roundtable, said: Say, answer: str) -> Roundtable:
    rt = rt.heard(said.person, said.text, ts=said.ts, part=rt.part)
    return rt.owing(Tell(person=said.person.id, message=Message(text=answer)))
