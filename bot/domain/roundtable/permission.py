"""
Who may press a button, or type a command that does the same. All may talk.

`bot/slack/reception.py` has asked Slack who a person is. Where Slack did not say, they count as a guest.
"""

from collections.abc import Iterable

from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.messages import specification_wording, trouble_wording
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import author_to_ask
from bot.domain.specification.fold import Patch
from bot.domain.values.places import OUTSIDERS, Belonging, Person

NOT_KNOWN = frozenset({Belonging.UNKNOWN, Belonging.UNVERIFIED})


def refusal(rt: Roundtable, person: Person, policy: Policy) -> str:
    """Why *person* may not press here, in a sentence for them; empty when they may."""
    if not policy.guests_press and (why := _outside(belonging(rt, person))):
        return why
    known, starter = {rt.started_by, *rt.people, *rt.attendance.participants}, rt.started_by
    if not starter or person.id == starter or policy.press is PressPolicy.EVERYONE:
        return ""
    if policy.press is PressPolicy.PARTICIPANTS:
        return "" if person.id in known else trouble_wording.PARTICIPANTS_PRESS
    if starter in rt.manners.outsiders and not policy.guests_press:
        return ""  # or there would be no one who may press
    return trouble_wording.starter_presses(rt.name_of(starter))


def author_refusal(rt: Roundtable, person: Person, patches: Iterable[Patch]) -> str:
    """Why *person* may not say whether another decided, or objects, in words that a model quotes; empty if they may."""
    for patch in patches:
        entry = rt.specification.entries.get(patch.id)
        author = author_to_ask(entry) if entry else None
        fields = (*patch.set, *(patch.accept if isinstance(patch.accept, tuple) else ()))
        answers = patch.accept is True or patch.state is not None or "text" in fields
        if author and answers and person.id not in {author.by, rt.started_by}:
            return specification_wording.not_asked(rt.name_of(author.by), rt.name_of(rt.started_by))
    return ""


def start_refusal(person: Person, policy: Policy) -> str:
    return "" if policy.guests_press else _outside(person.belongs)


def _outside(belongs: Belonging) -> str:
    if belongs is Belonging.UNVERIFIED:
        return trouble_wording.UNVERIFIED
    return trouble_wording.GUESTS_TALK if belongs in OUTSIDERS else ""


def belonging(rt: Roundtable, person: Person) -> Belonging:
    """As the click said, or as was found out before."""
    return person.belongs or Belonging(rt.manners.outsiders.get(person.id, ""))


def learned(rt: Roundtable, person: Person) -> Roundtable:
    """What came along about *person* is kept."""
    known = rt.manners.outsiders
    if person.belongs in NOT_KNOWN or known.get(person.id, Belonging.MEMBER) == person.belongs:
        return rt
    others = {one: belongs for one, belongs in known.items() if one != person.id}
    told = {person.id: person.belongs.value} if person.belongs in OUTSIDERS else {}
    return rt.but(manners=rt.manners.but(outsiders={**others, **told}))
