"""
What waits for one person. Home, the digest, the roll call and the card say it from here, so that they say the same.

Only the running roundtable is asked: what people have not answered, never what a model thinks they should do.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple, assert_never

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.schema import ids_in
from bot.domain.messages import home_page as wording
from bot.domain.messages.attribution_wording import attribution_of
from bot.domain.roundtable import agreeing
from bot.domain.roundtable.marks import MarkKind
from bot.domain.roundtable.stage import RESTING, Stage
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import asking
from bot.domain.specification.claims import Entry
from bot.domain.specification.entries import POSITION, author_to_ask
from bot.domain.specification.not_settled import OPEN
from bot.domain.values.text import listed, one_line

QUESTION_CHARS = 200


class WaitKind(StrEnum):
    STEP = "step"
    """The open step asks everybody, and this person has not answered."""
    QUESTION = "question"
    """A recorded question is theirs to answer."""
    OBJECTION = "objection"
    """Somebody objects to what they decided."""
    OWN_OBJECTION = "own_objection"
    """Nothing has become of their own objection yet."""
    REASON = "reason"
    """They marked a message as what they object to, and have not said why."""
    AGREEMENT = "agreement"
    """Everybody who took a position in the discussion is for the same option."""
    MARKED = "marked"
    """A message is marked as a decision, and no person has said whether all agree."""


BY_NAME = frozenset({WaitKind.QUESTION, WaitKind.OBJECTION})
"""What one person alone can settle."""


class Wait(NamedTuple):
    """
    One thing that waits. *text* is what people or step files say; *by* is who asks, objects or agrees, in words.
    *entry* is the question, or the objection.
    """

    kind: WaitKind
    text: str
    by: str = ""
    entry: str = ""


def waits_for(rt: Roundtable, person: str, playbook: Playbook) -> tuple[Wait, ...]:
    """Nothing waits while the roundtable itself does."""
    if rt.stage in RESTING or rt.stage is Stage.OPENING:
        return ()
    return (
        *_step(rt, person, playbook),
        *_agreements(rt, person),
        *_questions(rt, person, _open_questions(rt)),
        *_objections(rt, person, _open_objections(rt)),
        *_reasons(rt, person),
    )


def named_waits(rt: Roundtable) -> Mapping[str, tuple[Wait, ...]]:
    """Questions that are somebody's to answer, and objections to what they decided, by the id of the person."""
    if rt.stage in RESTING or rt.stage is Stage.OPENING:
        return {}
    questions, objections = _open_questions(rt), _open_objections(rt)
    found = {
        one: (*_questions(rt, one, questions), *_objections(rt, one, objections)) for one in participants(rt)
    }
    named = {one: tuple(wait for wait in waits if wait.kind in BY_NAME) for one, waits in found.items()}
    return {one: waits for one, waits in named.items() if waits}


def entries_waited_for(rt: Roundtable) -> tuple[str, ...]:
    """The questions and objections of `named_waits`, each once."""
    return tuple(dict.fromkeys(one.entry for waits in named_waits(rt).values() for one in waits))


def in_words(wait: Wait) -> str:
    match wait.kind:
        case WaitKind.STEP:
            return wording.asks(wait.by, wait.text)
        case WaitKind.QUESTION:
            return wording.yours_to_answer(wait.text)
        case WaitKind.OBJECTION:
            return wording.objects(wait.by, wait.text)
        case WaitKind.OWN_OBJECTION:
            return wording.still_open(wait.text)
        case WaitKind.REASON:
            return wording.why_object(wait.text)
        case WaitKind.AGREEMENT:
            return wording.did_you_agree(wait.text, f"{wait.by} did.")
        case WaitKind.MARKED:
            return wording.did_you_agree(wait.text, f"Marked by {wait.by}.")
        case _:
            assert_never(wait.kind)


def participants(rt: Roundtable) -> tuple[str, ...]:
    """Earlier versions did not keep them: then everybody who was met."""
    return rt.attendance.participants or tuple(rt.people)


def heard_in_step(rt: Roundtable) -> frozenset[str]:
    """Who said something about the open step, or has nothing to add."""
    said = {answer.person for answer in rt.answers}
    passed = rt.attendance.passed if rt.attendance.step_id == rt.step_id else ()
    return frozenset((*said, *recorded_of(rt, [rt.step_id]), *passed))


def recorded_of(rt: Roundtable, steps: Collection[str]) -> frozenset[str]:
    """Those of whom an entry of *steps* has words."""
    return frozenset(owner.by for step in steps for owner in rt.specification.owners.get(step, ()))


def awaited(rt: Roundtable) -> tuple[str, ...]:
    """Those of whom the open step has nothing yet, and who are waited for."""
    excused = rt.attendance.excused if rt.attendance.step_id == rt.step_id else ()
    left_out = heard_in_step(rt) | set(excused)
    return tuple(one for one in participants(rt) if one not in left_out)


def unheard_in_discussion(rt: Roundtable) -> tuple[str, ...]:
    """Those who take part and have said nothing in the open discussion, and are waited for."""
    debate = rt.debate
    held = rt.discussed
    given = (one.claim(next(iter(one.claims), "")) for one in held.own((*held.decisions, *held.objections)))
    heard = {
        *(turn.by for turn in debate.turns if turn.human),
        *(one.by for one in debate.besides),
        *(claim.owner.by for claim in given if claim),
        *(str(one["person"]) for one in held.own(rt.specification.active(POSITION))),
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


def _agreements(rt: Roundtable, person: str) -> Iterator[Wait]:
    """A press records, of anybody: also of those who are for it, once all are."""
    everybody = set(participants(rt))
    for one in agreeing.agreements(rt):
        text = one_line(one.option.text, QUESTION_CHARS)
        if person not in one.people or everybody <= set(one.people):
            yield Wait(WaitKind.AGREEMENT, text, listed(one.names))
    for mark in agreeing.marked(rt):
        yield Wait(WaitKind.MARKED, one_line(mark.text, QUESTION_CHARS), rt.name_of(mark.by))


def _reasons(rt: Roundtable, person: str) -> Iterator[Wait]:
    for one in rt.marks:
        is_open = one.step_id == rt.step_id and not agreeing.has_reason(rt, one)
        if is_open and one.kind is MarkKind.OBJECTION and one.by == person:
            yield Wait(WaitKind.REASON, one_line(one.quote, QUESTION_CHARS))


def _open_questions(rt: Roundtable) -> tuple[Entry, ...]:
    return tuple(one for one in rt.specification.active("question") if not one["answer"])


def _questions(rt: Roundtable, person: str, entries: Iterable[Entry]) -> Iterator[Wait]:
    for entry in entries:
        if is_named(rt, person, str(entry["owner"] or "")):
            text = one_line(str(entry["text"] or ""), QUESTION_CHARS)
            yield Wait(WaitKind.QUESTION, text, attribution_of(entry, "text"), entry.id)


def _open_objections(rt: Roundtable) -> tuple[Entry, ...]:
    every = rt.specification.active("objection")
    known = (one for one in every if author_to_ask(one) is None)
    return tuple(one for one in known if one["outcome"] in OPEN and not one["outcome_text"])


def _objections(rt: Roundtable, person: str, entries: Iterable[Entry]) -> Iterator[Wait]:
    for entry in entries:
        text, by = one_line(str(entry["text"] or ""), QUESTION_CHARS), _said(entry)
        if by == person:
            yield Wait(WaitKind.OWN_OBJECTION, text)
        elif any(_said(one) == person for one in _decisions_about(rt, entry)):
            yield Wait(WaitKind.OBJECTION, text, attribution_of(entry, "text"), entry.id)


def _decisions_about(rt: Roundtable, objection: Entry) -> Iterator[Entry]:
    """Those that it is recorded to be about, and those that its words name."""
    about = objection["about"] or ()
    named = ids_in(str(objection["text"] or ""))
    for one in dict.fromkeys((*((about,) if isinstance(about, str) else about), *named)):
        entry = rt.specification.entries.get(str(one))
        if entry and entry.kind == "decision":
            yield entry


def _said(entry: Entry) -> str:
    claim = entry.claim("text")
    return claim.owner.by if claim else ""


def is_named(rt: Roundtable, person: str, name: str) -> bool:
    """People name each other as they like: by the id, the name, or the first name."""
    said, known = name.strip().removeprefix("@").casefold(), rt.name_of(person).casefold()
    return bool(said) and said in {person.casefold(), known, known.partition(" ")[0]}
