"""A person chose from a menu: it says so from then on, and so does the record."""

from bot.domain import wording
from bot.domain.place import Person
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part


def chosen(rt: Roundtable, label: str, person: Person, *, part: Part, ts: str = "") -> Roundtable:
    """*ts* is where the menu stands, if a press told us before the post's own outcome did."""
    name = rt.name_of(person.id)
    rt = rt.closing_menu(wording.chosen(label, name), ts=ts)
    return rt.recording(f"{name} chose: {label}", part=part, user_id=person.id, user_name=name)
