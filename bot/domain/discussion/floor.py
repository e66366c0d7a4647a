"""
Who speaks next, decided by code, in this order: who is addressed, who was asked and has not answered, who was never
heard, who leads, who was silent longest. The same transcript always gives the same speaker; no voice is asked.
"""

from bot.domain.catalog.personas import Address, AddressKind, Roster
from bot.domain.discussion.elaboration import Elaboration


def answering(debate: Elaboration, roster: Roster, address: Address) -> tuple[str, ...]:
    """Who answers a person: those who were addressed, or one other."""
    if address.kind is not AddressKind.DEFAULT or not debate.framed:
        return address.personas
    return (*asked(debate, roster), *unheard(debate, roster), *address.personas)[:1]


def going_on(debate: Elaboration, roster: Roster, count: int) -> tuple[str, ...]:
    """Who speaks when no person waits for an answer: no persona leads then, and all take turns."""
    rotation = sorted((persona.key for persona in roster), key=debate.last_had_floor)
    return tuple(dict.fromkeys((*asked(debate, roster), *unheard(debate, roster), *rotation)))[:count]


def asked(debate: Elaboration, roster: Roster) -> tuple[str, ...]:
    """Those whom others addressed by name since they last had the floor, in the order in which they were addressed."""
    found: dict[str, None] = {}
    answered = max(0, min((debate.last_had_floor(one.key) for one in roster), default=0))
    for number, turn in enumerate(debate.turns[answered:], start=answered + 1):
        address = roster.addressed(turn.text, lead=debate.lead)
        for key in address.personas if address.kind is AddressKind.DIRECT else ():
            if key != turn.by and number > debate.last_had_floor(key):
                found[key] = None
    return tuple(key for key in found if key not in debate.waiting)


def unheard(debate: Elaboration, roster: Roster) -> tuple[str, ...]:
    """Those who never had the floor. Who had it and passed was heard."""
    return tuple(
        one.key for one in roster if debate.last_had_floor(one.key) < 0 and one.key not in debate.waiting
    )
