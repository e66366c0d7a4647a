"""
What people press on the card of a step. Suggestions are decided, doubtful values confirmed or withdrawn: each a
line with the name of who pressed.
"""

from collections.abc import Iterable
from typing import Any, NoReturn

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.steps import Step
from bot.domain.messages import specification_wording, trouble_wording
from bot.domain.messages.step_scene import Suggestion, SuggestionState
from bot.domain.roundtable.cards import suggestions
from bot.domain.roundtable.inputs import Press
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import pausing
from bot.domain.specification.entries import ENTRIES, EntryState, Patch
from bot.domain.values.places import Person
from bot.errors import NotNow

ACCEPT, CHANGE, STRIKE = "accept", "change", "strike"


def line_pressed(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value is `NUMBER/WHAT`."""
    number, _, what = event.value.partition("/")
    if not number.isdecimal() or what not in {ACCEPT, STRIKE}:
        _refused()
    return decided(rt, event.person, [int(number)], playbook, accept=what == ACCEPT)


def all_accepted(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """The value lists the numbers that stood on the card: one that arrived meanwhile is never accepted unseen."""
    numbers = [int(one) for one in event.value.split(",") if one.isdecimal()]
    return decided(rt, event.person, numbers, playbook, accept=True)


def decided(
    rt: Roundtable, person: Person, numbers: Iterable[int], playbook: Playbook, *, accept: bool
) -> Roundtable:
    """Suggestions that are accepted, or left out. Raises NotNow for a number that is not open."""
    found = {one.number: one for one in suggestions(rt, _step(rt, playbook), playbook)}
    patches = []
    for number in numbers:
        one = found.get(number)
        if one is None or one.state is not SuggestionState.OPEN:
            is_open = [one.number for one in found.values() if one.state is SuggestionState.OPEN]
            raise NotNow(specification_wording.no_such_line(number, is_open))
        patches.append(_accepting(one) if accept else _leaving_out(rt, one))
    verb = "accepted" if accept else "left out"
    ids = ", ".join(dict.fromkeys(patch.id for patch in patches))
    return recorded(rt, person, f"{verb} {ids}", patches, playbook)


def kept(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """What has to be confirmed again stays as it is."""
    return recorded(rt, event.person, f"kept {event.value}", [Patch(id=event.value, accept=True)], playbook)


def withdrawn(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    patch = Patch(id=event.value, state=EntryState.WITHDRAWN)
    return recorded(rt, event.person, f"withdrew {event.value}", [patch], playbook)


def amended(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    """A form opens for it; a press that gets here came from a client that opens none."""
    _refused()


def sorted_in(rt: Roundtable, event: Press, playbook: Playbook) -> Roundtable:
    _refused()


def recorded(
    rt: Roundtable, person: Person, what: str, patches: Iterable[Patch], playbook: Playbook
) -> Roundtable:
    """A line of what *person* decided about entries."""
    name = rt.name_of(person.id)
    facts: dict[str, Any] = {ENTRIES: [patch.as_json() for patch in patches]}
    rt = rt.recording(f"{name} {what}.", part=rt.part, user_id=person.id, user_name=name, **facts)
    return pausing.notes_saved(rt, playbook)


def _accepting(one: Suggestion) -> Patch:
    return Patch(id=one.id, accept=True)


def _leaving_out(rt: Roundtable, one: Suggestion) -> Patch:
    """A proposed entry is withdrawn; of a proposed value, the one that counts is confirmed."""
    if not one.field:
        return Patch(id=one.id, state=EntryState.WITHDRAWN)
    return Patch(id=one.id, set={one.field: rt.specification.entries[one.id][one.field]})


def _step(rt: Roundtable, playbook: Playbook) -> Step:
    step = playbook.agenda.get(rt.step_id)
    if step is None:
        _refused()
    return step


def _refused() -> NoReturn:
    raise NotNow(trouble_wording.unknown_menu())
