"""Words that only are kept: nothing follows from them but an answer that their author alone sees."""

from bot.domain.actions.action import plain
from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import record_wording, step_wording, verb_wording
from bot.domain.roundtable.effects import ShareRecord
from bot.domain.roundtable.inputs import Command, Export, Say
from bot.domain.roundtable.permission import learned
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import pausing
from bot.domain.transcript.lines import BOT, TO
from bot.errors import NotNow


def only(rt: Roundtable, event: Command, why: str) -> Roundtable:
    """A command that this person may not give: it is recorded, and they alone are told why nothing happens."""
    assert isinstance(event, Say), "only words can be only words"
    return _answered(learned(rt.meeting(event.person), event.person), event, why)


def helped(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """Who says "help" has answered no question, and is told what would."""
    return pausing.notes_saved(_answered(rt, event, step_wording.HOW_IT_GOES))


def question_answered(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """By topic, to who asks alone. It answers nothing, and is in no file."""
    answer = verb_wording.ANSWERS.get(playbook.schema.topic_of(plain(event.text)), verb_wording.NO_ANSWER)
    return pausing.notes_saved(_answered(rt, event, answer, **{TO: BOT}))


def _answered(rt: Roundtable, said: Say, answer: str, **facts: str) -> Roundtable:
    rt = rt.hearing(said, part=rt.part, **facts)
    return rt.whispering(said.person.id, answer)


# A person wants the record as files. It changes nothing of the meeting, in any stage.


def asked(rt: Roundtable, event: Export, playbook: Playbook) -> Roundtable:
    """Asked again while it is on its way, it is not made twice."""
    if not rt.place.thread:
        raise NotNow(record_wording.NOT_OPEN_YET)
    if rt.has_pending(ShareRecord):
        return rt
    wanted = ShareRecord(person=event.person.id, asked_at=event.at, reply_url=event.reply_url)
    return rt.queueing(wanted)
