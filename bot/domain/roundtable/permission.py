"""
Who may press a button, or type a command that does the same. All may talk.

`bot/slack/reception.py` has asked Slack who a person is. Where Slack did not say, they count as a guest.
"""

from bot.domain.catalog.policy import Policy, PressPolicy
from bot.domain.messages import trouble_wording
from bot.domain.planning import workshop
from bot.domain.roundtable import agreeing, words
from bot.domain.roundtable.inputs import Command, Say
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.state import Roundtable
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


def start_refusal(person: Person, policy: Policy) -> str:
    return "" if policy.guests_press else _outside(person.belongs)


def _outside(belongs: Belonging) -> str:
    if belongs is Belonging.UNVERIFIED:
        return trouble_wording.UNVERIFIED
    return trouble_wording.GUESTS_TALK if belongs in OUTSIDERS else ""


def belonging(rt: Roundtable, person: Person) -> Belonging:
    """As the click said, or as was found out before."""
    return person.belongs or Belonging(rt.manners.outsiders.get(person.id, ""))


def is_wish(rt: Roundtable, event: Command) -> bool:
    """Whether words would do here what a button does."""
    if not isinstance(event, Say):
        return False
    text = event.text
    if words.reopened(text) is not None:
        return True
    match rt.stage:
        case Stage.DISCUSSING:
            wishes = words.finishes(text) or words.stops(text) or agreeing.is_answer(rt, text)
            return wishes or words.depth(text, at_menu=False) is not None
        case Stage.AT_BOUNDARY:
            letter = words.letter(text)
            offered = letter is not None and rt.menu is not None and rt.menu.offers(letter)
            return offered or words.stops(text) or words.depth(text, at_menu=True) is not None
        case Stage.ELABORATING:
            ends = words.stops(text) or words.exit_wish(text) is words.EndIntent.YES
            return ends or agreeing.is_wish(rt, text)
        case Stage.OPENING | Stage.WRITING | Stage.SYNTHESIZING | Stage.CLOSING:
            return words.stops(text)
        case Stage.PLANNING:
            return words.stops(text) or workshop.passes(rt.workshop, text)
        case _:
            return False


def may_be_wish(text: str) -> bool:
    """Whether `is_wish` may be true of *text* in any stage."""
    return (
        words.is_wish(text)
        or words.depth(text, at_menu=True) is not None
        or words.attends(text) is not None
        or words.exit_wish(text) is words.EndIntent.YES
        or words.reopened(text) is not None
        or not workshop.answer_in(text)
        or agreeing.may_be_wish(text)
    )


def learned(rt: Roundtable, person: Person) -> Roundtable:
    """What came along about *person* is kept."""
    known = rt.manners.outsiders
    if person.belongs in NOT_KNOWN or known.get(person.id, Belonging.MEMBER) == person.belongs:
        return rt
    others = {one: belongs for one, belongs in known.items() if one != person.id}
    told = {person.id: person.belongs.value} if person.belongs in OUTSIDERS else {}
    return rt.but(manners=rt.manners.but(outsiders={**others, **told}))
