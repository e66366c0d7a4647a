"""
What waits for one person. Home, the digest, the roll call and the card say it from here, so that they say the same.

Only the running roundtable is asked: what people have not answered, never what a model thinks they should do.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.discussion.elaboration import EndedDiscussion
from bot.domain.roundtable.stage import RESTING, Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification.entries import Entry
from bot.domain.values.text import one_line

QUESTION_CHARS = 200
OPEN = frozenset({None, "", "open"})
"""The outcome of an objection that nothing has become of."""


class WaitKind(StrEnum):
    STEP = "step"
    """The open step asks everybody, and this person has not answered."""
    QUESTION = "question"
    """A recorded question is theirs to answer."""
    OBJECTION = "objection"
    """Somebody objects to what they decided."""
    OWN_OBJECTION = "own_objection"
    """Nothing has become of their own objection yet."""


class Wait(NamedTuple):
    """One thing that waits. *text* is what people or step files say; *by* is who asks or objects, in words."""

    kind: WaitKind
    text: str
    by: str = ""


def waits_for(rt: Roundtable, person: str, playbook: Playbook) -> tuple[Wait, ...]:
    """Nothing waits while the roundtable itself does."""
    if rt.stage in RESTING or rt.stage is Stage.OPENING:
        return ()
    return (*_step(rt, person, playbook), *_questions(rt, person), *_objections(rt, person))


def participants(rt: Roundtable) -> tuple[str, ...]:
    """Earlier versions did not keep them: then everybody who was met."""
    return rt.attendance.participants or tuple(rt.people)


def heard_in_step(rt: Roundtable) -> frozenset[str]:
    """Who said something about the open step, or has nothing to add."""
    said = {answer.person for answer in rt.answers}
    recorded = {
        claim.by
        for entry in rt.specification.entries.values()
        if entry.step == rt.step_id
        for _, claim in entry.current()
    }
    passed = rt.attendance.passed if rt.attendance.step_id == rt.step_id else ()
    return frozenset((*said, *recorded, *passed))


def awaited(rt: Roundtable) -> tuple[str, ...]:
    """Those of whom the open step has nothing yet, and who are waited for."""
    excused = rt.attendance.excused if rt.attendance.step_id == rt.step_id else ()
    left_out = heard_in_step(rt) | set(excused)
    return tuple(one for one in participants(rt) if one not in left_out)


def unheard_in_discussion(rt: Roundtable) -> tuple[str, ...]:
    """Those who take part and have said nothing in the open discussion, and are waited for."""
    debate = rt.debate
    before = rt.ended.get(debate.step_id, EndedDiscussion())
    heard = {
        *(turn.by for turn in debate.turns if turn.human),
        *(one.by for one in debate.besides),
        *(one.by for one in debate.decided),
        *(one.by for one in debate.stands[len(before.stands) :]),
        *(one.by for one in debate.objections if one.number > len(before.objections)),
    }
    excused = rt.attendance.excused if rt.attendance.step_id == debate.step_id else ()
    return tuple(one for one in participants(rt) if one not in heard and one not in excused)


def question(rt: Roundtable, playbook: Playbook) -> str:
    """What the open step asks, on one line."""
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        return ""
    text, _ = step.text_at(depth_of_step(step, rt.depth_overrides, rt.depth))
    return one_line(asking.filled(rt, step, text), QUESTION_CHARS) or step.title


def _step(rt: Roundtable, person: str, playbook: Playbook) -> Iterator[Wait]:
    if rt.stage is Stage.DISCUSSING and person in awaited(rt):
        yield Wait(WaitKind.STEP, question(rt, playbook), asking.speaker_of(rt, playbook).first_name)


def _questions(rt: Roundtable, person: str) -> Iterator[Wait]:
    for entry in rt.specification.active("question"):
        if not entry["answer"] and _owns(rt, entry, person):
            yield Wait(WaitKind.QUESTION, one_line(str(entry["text"] or ""), QUESTION_CHARS), entry.said_by)


def _objections(rt: Roundtable, person: str) -> Iterator[Wait]:
    for entry in rt.specification.active("objection"):
        if entry["outcome"] not in OPEN or entry["outcome_text"]:
            continue
        text, by = one_line(str(entry["text"] or ""), QUESTION_CHARS), _said(entry)
        if by == person:
            yield Wait(WaitKind.OWN_OBJECTION, text)
        elif any(_said(one) == person for one in _decisions_about(rt, entry)):
            yield Wait(WaitKind.OBJECTION, text, entry.said_by)


def _decisions_about(rt: Roundtable, objection: Entry) -> Iterator[Entry]:
    about = objection["about"] or ()
    for one in (about,) if isinstance(about, str) else about:
        entry = rt.specification.entries.get(str(one))
        if entry and entry.kind == "decision":
            yield entry


def _said(entry: Entry) -> str:
    claim = entry.claim("text")
    return claim.by if claim else ""


def _owns(rt: Roundtable, entry: Entry, person: str) -> bool:
    """People name an owner as they like: by the id, the name, or the first name."""
    owner = str(entry["owner"] or "").strip().removeprefix("@").casefold()
    name = rt.name_of(person).casefold()
    return bool(owner) and owner in {person.casefold(), name, name.split(" ", maxsplit=1)[0]}
