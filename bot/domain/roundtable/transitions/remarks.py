"""
Short remarks that people make at a menu ("brb, standup"): they stay in the transcript and out of the files. The card
says how many there are, and a person can include them as notes of those who made them.
"""

from bot.domain.catalog.agenda import Playbook
from bot.domain.messages import step_wording
from bot.domain.roundtable.effects import React
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.posts import ShortRemark
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import pausing, specifying
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

INCLUDE = "include"
NOTED = "memo"


def left_out(rt: Roundtable, event: Say) -> Roundtable:
    """On the card of the step that is finished."""
    if rt.card is None or not event.text.strip():
        return rt
    remark = ShortRemark(ts=event.ts, person=event.person.id, text=event.text)
    return rt.but(card=rt.card.but(remarks=(*rt.card.remarks, remark)))


def changed(rt: Roundtable, ts: str, text: str) -> Roundtable:
    """The message was edited; without *text* it is gone."""
    if rt.card is None or all(one.ts != ts for one in rt.card.remarks):
        return rt
    kept = (one.but(text=text) if one.ts == ts else one for one in rt.card.remarks)
    return rt.but(card=rt.card.but(remarks=tuple(one for one in kept if one.text.strip())))


def typed(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """`include`, alone, while a remark is left out; None for a message that is content."""
    if not (rt.card and rt.card.remarks) or event.text.strip().rstrip(".").casefold() != INCLUDE:
        return None
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.CLARIFYING)
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    return _included(rt, event.person, event.key, playbook)


def include_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    return _included(rt, event.person, event.key, playbook)


def _included(rt: Roundtable, person: Person, key: str, playbook: Playbook) -> Roundtable:
    """Each is a note of the person who made the remark, under the line of the message: it changes with it."""
    card = rt.card
    if card is None or not card.remarks:
        raise NotNow(step_wording.NOTHING_LEFT_OUT)
    rt = rt.but(card=card.but(remarks=()))
    rt = rt.recording(
        step_wording.included(rt.name_of(person.id), len(card.remarks)),
        part=rt.part,
        user_id=person.id,
        user_name=rt.name_of(person.id),
    )
    for number, one in enumerate(card.remarks, start=1):
        author = Person(id=one.person)
        facts = specifying.said(rt, one.text, author, playbook, step_id=card.step_id)
        rt = rt.heard(
            author,
            one.text,
            ts=one.ts,
            part=rt.part,
            message_id=f"{key}.include.{number}",
            amends=rt.line_of(one.ts),
            **({"step_id": card.step_id} if card.step_id else {}),
            **facts,
        )
    return pausing.notes_saved(rt, playbook)
