"""
What people change afterwards. The transcript never forgets: an edit is a new line that names the old one, and so is a
deletion. The answers and turns that are being worked with are the newest ones.

Slack keeps no order: a change may be heard of before the message that it changes.
"""

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.words import is_all_reason
from bot.domain.messages import step_wording
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.inputs import Amend, Retract, Say
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import ABOUT_A_STEP, EarlyEdit, Roundtable
from bot.domain.roundtable.transitions import late_words, pausing, speaking, specifying, standing

REMEMBERED = 32
"""Changes of messages that have not come yet."""


def amended(rt: Roundtable, event: Amend, playbook: Playbook) -> Roundtable:
    stands = specifying.facts_of(standing.restated(rt, event, playbook))
    own = late_words.opened_before(rt, event.ts)
    is_turn = rt.elaboration is not None and rt.elaboration.has(event.ts)
    notes = not (is_turn or (stands and is_all_reason(event.text)))
    facts = specifying.amended(rt, event, playbook, step_id=own.step_id if own else rt.step_id, notes=notes)
    facts = specifying.merged(facts, stands)
    rt = rt.heard(
        event.person,
        event.text,
        ts=event.ts,
        part=rt.part,
        message_id=event.key,
        amends=rt.line_of(event.ts),
        **facts,
    )
    rt = _overtaking(_words_are(rt, event.ts, event.text), event.ts, event.text)
    return _answer_is(rt, event.ts, event.text, playbook)


def retracted(rt: Roundtable, event: Retract, playbook: Playbook) -> Roundtable:
    told, line = step_wording.retracted(rt.name_of(event.person.id)), rt.line_of(event.ts)
    rt = rt.recording(told, by=event.person.id, message_id=event.key, retracts=line)
    rt = _overtaking(_words_are(rt, event.ts, ""), event.ts, None)
    return _answer_is(rt, event.ts, None, playbook)


def overtaken(rt: Roundtable, event: Say) -> EarlyEdit | None:
    """What became of the message *event*, if that was heard of before it."""
    return next((one for one in reversed(rt.overtaken) if one.ts == event.ts), None)


def as_it_reads(rt: Roundtable, event: Say) -> Say:
    """With the words that stand there now, if we heard of those first: they are what is answered."""
    if (change := overtaken(rt, event)) is None:
        return event
    return event.but(text=change.text or "")


def gone_already(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable:
    """It was deleted before it came: kept in the transcript, and it means nothing any more."""
    rt = rt.heard(event.person, event.text, ts=event.ts, part=rt.part)
    return pausing.notes_saved(rt)


def _overtaking(rt: Roundtable, ts: str, text: str | None) -> Roundtable:
    if rt.line_of(ts) in rt.seen:
        return rt
    return rt.but(overtaken=(*rt.overtaken, EarlyEdit(ts=ts, text=text))[-REMEMBERED:])


def _words_are(rt: Roundtable, ts: str, text: str) -> Roundtable:
    """In the discussion: what is read from now on follows."""
    if rt.elaboration:
        rt = rt.but(elaboration=rt.elaboration.amended(ts, text))
    return rt


def _answer_is(rt: Roundtable, ts: str, text: str | None, playbook: Playbook) -> Roundtable:
    """At a menu the step is written already: what changed is committed when people go on, as feedback is."""
    before = next((one for one in (*rt.answers, *rt.unread) if one.ts == ts), None)
    if before and before.text != text:
        rt = rt.without_answer(ts) if text is None else rt.with_answer(before.but(text=text))
        rt = speaking.taking_up(rt.dropping(Speak), playbook) if rt.stage in ABOUT_A_STEP else rt
    if rt.stage is Stage.AT_BOUNDARY:
        return rt.but(filed=rt.answers)
    return pausing.notes_saved(rt)
