"""Somebody wants the record in their hands. It changes nothing of the meeting, whatever that is doing."""

from bot.domain import export_wording
from bot.domain.agenda import Playbook
from bot.domain.effects import ShareRecord
from bot.domain.inputs import Export
from bot.domain.roundtable import Roundtable
from bot.errors import NotNow


def asked(rt: Roundtable, happened: Export, playbook: Playbook) -> Roundtable:
    """Asked again while it is on its way, it is not made twice."""
    if not rt.place.thread:
        raise NotNow(export_wording.not_open_yet())
    if rt.owes(ShareRecord):
        return rt
    wanted = ShareRecord(person=happened.person.id, asked_at=happened.at, reply_url=happened.reply_url)
    return rt.owing(wanted)
