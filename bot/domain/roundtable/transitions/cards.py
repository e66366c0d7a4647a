"""
What people press on the card of a step. Suggestions are decided, doubtful values confirmed or withdrawn: each a
line with the name of who pressed.
"""

from collections.abc import Iterable
from typing import NoReturn, assert_never

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Step
from bot.domain.messages import card_commands, specification_wording, trouble_wording
from bot.domain.messages.card_commands import TypedAction, TypedActions, TypedKind
from bot.domain.messages.message import Message
from bot.domain.messages.step_scene import StepScene, Suggestion, SuggestionState
from bot.domain.roundtable import permission
from bot.domain.roundtable.cards import scene_of, suggestions
from bot.domain.roundtable.effects import React, Tell
from bot.domain.roundtable.inputs import Press, Say
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import pausing, specifying
from bot.domain.specification import entry_forms
from bot.domain.specification.entries import HOW, Entry, EntryState, How, Patch
from bot.domain.specification.entry_forms import Reading
from bot.domain.transcript.lines import LinePhase
from bot.domain.values.places import Person
from bot.errors import NotNow

WITHOUT_EFFECT = frozenset({TypedKind.REOPEN, TypedKind.NUDGE, TypedKind.UNDO})
"""Messages with these words are content for now."""
ACCEPT, CHANGE, STRIKE = "accept", "change", "strike"
NOTED = "memo"
"""The emoji on a message that was recorded."""


def line_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/WHAT`."""
    number, _, what = event.value.partition("/")
    if not number.isdecimal() or what not in {ACCEPT, STRIKE}:
        _refused()
    return decided(rt, event.person, [int(number)], playbook, accept=what == ACCEPT)


def all_accepted(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value lists the numbers that stood on the card: one that arrived meanwhile is never accepted unseen."""
    numbers = [int(one) for one in event.value.split(",") if one.isdecimal()]
    return decided(rt, event.person, numbers, playbook, accept=True, how=How.EVERYTHING)


def decided(
    rt: Roundtable,
    person: Person,
    numbers: Iterable[int],
    playbook: Playbook,
    *,
    accept: bool,
    how: How = How.PRESS,
) -> Roundtable:
    """Suggestions that are accepted, or left out. Raises NotNow for a number that is not open."""
    chosen = _open(rt, numbers, playbook)
    patches = [_accepting(one) if accept else _leaving_out(rt, one) for one in chosen]
    verb = "accepted" if accept else "left out"
    ids = ", ".join(dict.fromkeys(patch.id for patch in patches))
    return recorded(rt, person, f"{verb} {ids}", patches, playbook, how=how)


def _open(rt: Roundtable, numbers: Iterable[int], playbook: Playbook) -> list[Suggestion]:
    """The suggestions of these *numbers*. Raises NotNow for one that is not open."""
    found = {one.number: one for one in suggestions(rt, _step(rt, playbook), playbook)}
    is_open = [one.number for one in found.values() if one.state is SuggestionState.OPEN]
    for number in numbers:
        if number not in is_open:
            raise NotNow(specification_wording.no_such_line(number, is_open))
    return [found[number] for number in numbers]


def kept(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What has to be confirmed again stays as it is."""
    return recorded(rt, event.person, f"kept {event.value}", [_keeping(_living(rt, event.value))], playbook)


def withdrawn(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    patch = Patch(id=event.value, state=EntryState.WITHDRAWN)
    return recorded(rt, event.person, f"withdrew {event.value}", [patch], playbook)


def amended(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A form opens for it; a press that gets here came from a client that opens none."""
    _refused()


def sorted_in(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def recorded(
    rt: Roundtable,
    person: Person,
    what: str,
    patches: Iterable[Patch],
    playbook: Playbook,
    *,
    how: How = How.PRESS,
) -> Roundtable:
    """A line of what *person* decided about entries."""
    name = rt.name_of(person.id)
    facts = specifying.facts_of(patches)
    facts = facts if how is How.PRESS else {HOW: how.value, **facts}
    rt = rt.recording(f"{name} {what}.", part=rt.part, user_id=person.id, user_name=name, **facts)
    return pausing.notes_saved(rt, playbook)


# --- typed in place of a press ---


def typed(rt: Roundtable, event: Say, playbook: Playbook) -> Roundtable | None:
    """
    `accept 2`, `change 2: …`, `withdraw OBJ-001` and the like; None for a message that is content. Who may not press
    is told so.
    """
    if rt.card is None or rt.card.step_id != rt.step_id or not card_commands.may_be_typed(event.text):
        return None
    scene = scene_of(rt, rt.card, playbook)
    found = card_commands.typed(event.text, scene) if scene else TypedActions()
    if scene is None or not found.actions or any(one.what in WITHOUT_EFFECT for one in found.actions):
        return None
    facts = specifying.said(rt, found.rest, event.person, playbook) if found.rest else {}
    rt = rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.CLARIFYING, **facts)
    if why := permission.refusal(rt, event.person, playbook.policy):
        return rt.queueing(Tell(person=event.person.id, message=Message(text=why)))
    rt = rt.queueing(React(ts=event.ts, emoji=NOTED))
    for one in found.actions:
        try:
            patches = _meant(rt, one, scene, playbook)
        except NotNow as why:
            rt = rt.queueing(Tell(person=event.person.id, message=Message(text=str(why))))
            continue
        ids = ", ".join(dict.fromkeys(patch.id for patch in patches))
        how = How.EVERYTHING if one.is_all else How.PRESS
        rt = recorded(rt, event.person, f"typed a change of {ids}", patches, playbook, how=how)
    return rt


def _meant(rt: Roundtable, typed: TypedAction, scene: StepScene, playbook: Playbook) -> list[Patch]:
    match typed.what:
        case TypedKind.ACCEPT | TypedKind.LEAVE_OUT:
            is_accepted = typed.what is TypedKind.ACCEPT
            return [
                _accepting(one) if is_accepted else _leaving_out(rt, one)
                for one in _open(rt, typed.numbers, playbook)
            ]
        case TypedKind.CHANGE:
            return [_changing(one, typed.words, rt, playbook) for one in _open(rt, typed.numbers, playbook)]
        case TypedKind.SORT:
            return _sorting(rt, typed, scene)
        case TypedKind.KEEP:
            return [_keeping(_living(rt, typed.id))]
        case TypedKind.WITHDRAW:
            return [Patch(id=_living(rt, typed.id).id, state=EntryState.WITHDRAWN)]
        case TypedKind.REOPEN | TypedKind.NUDGE | TypedKind.UNDO:
            raise AssertionError(f"{typed.what} is content")
        case _:
            assert_never(typed.what)


def _living(rt: Roundtable, id: str) -> Entry:
    """Raises NotNow for an entry that does not exist, or not any more."""
    if not rt.specification.lives(id):
        raise NotNow(specification_wording.not_there(id, is_known=id in rt.specification.entries))
    return rt.specification.entries[id]


def _keeping(entry: Entry) -> Patch:
    """What is doubtful, or what stands there in place of an edit; of a proposed entry, all of it."""
    if entry.state is EntryState.PROPOSED:
        return Patch(id=entry.id, accept=True)
    doubtful = tuple(field for field in entry.claims if field in entry.stale or entry.overtaken(field))
    if not doubtful:
        raise NotNow(specification_wording.nothing_to_confirm(entry.id))
    return Patch(id=entry.id, accept=doubtful)


def _changing(one: Suggestion, words: str, rt: Roundtable, playbook: Playbook) -> Patch:
    kind = playbook.schema.kinds[rt.specification.entries[one.id].kind]
    field = one.field or kind.text
    value = kind.fields[field].read(words)
    if value is None:
        raise NotNow(specification_wording.unfit(words, kind.label(field)))
    return Patch(id=one.id, set={field: value}, state=EntryState.ACCEPTED)


def _sorting(rt: Roundtable, typed: TypedAction, scene: StepScene) -> list[Patch]:
    letter = next(one for one in scene.unsorted if one.letter == typed.letter)
    kind, note = scene.schema.kinds[typed.kind], rt.specification.entries[letter.id]
    read = Reading() if kind.part_of else entry_forms.sorted_as(note, kind, rt.specification, scene.schema)
    if not read.patches:
        raise NotNow(specification_wording.unfit(letter.text, kind.name))
    return list(read.patches)


def _accepting(one: Suggestion) -> Patch:
    return Patch(id=one.id, accept=(one.field,) if one.field else True)


def _leaving_out(rt: Roundtable, one: Suggestion) -> Patch:
    """A proposed entry is withdrawn; of a proposed value, the one that counts is confirmed, if there is one."""
    if not one.field:
        return Patch(id=one.id, state=EntryState.WITHDRAWN)
    now = rt.specification.entries[one.id].claim(one.field)
    return Patch(id=one.id, set={one.field: now.value if now and now.accepted else None})


def _step(rt: Roundtable, playbook: Playbook) -> Step:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        _refused()
    return step


def _refused() -> NoReturn:
    raise NotNow(trouble_wording.UNKNOWN_MENU)
