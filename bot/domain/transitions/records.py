"""What a contribution puts on record besides its words: where its speaker stands, and whether that is news."""

from collections.abc import Mapping
from typing import Any

from bot.domain import positions
from bot.domain.elaboration import Elaboration
from bot.domain.outcomes import PersonaSpoke
from bot.domain.persona import Persona
from bot.domain.positions import Flip

UNRECORDED = "unrecorded"
NAMES = frozenset({"stances", UNRECORDED, "flips", "repeats", "challenge"})


def spoken(
    debate: Elaboration, text: str, happened: PersonaSpoke, *, by: Persona, unaided: bool
) -> Elaboration:
    stances = positions.sound(happened.stances, debate.turns)
    return debate.spoken(
        by=by.key,
        name=by.first_name,
        text=text,
        stances=stances,
        unrecorded=not stances and bool(happened.facts.get(UNRECORDED) or happened.stances),
        unaided=unaided,
    )


def facts(debate: Elaboration, happened: PersonaSpoke) -> Mapping[str, Any]:
    """Of the newest turn, for its line: of the stances only those that were kept."""
    newest = debate.turns[-1]
    told = {
        **happened.meta,
        "stances": [one.model_dump(mode="json", exclude_defaults=True) for one in newest.stances],
        UNRECORDED: newest.unrecorded,
        "flips": [{"issue": one.issue, "was": one.was, "position": one.position} for one in unbacked(debate)],
        "repeats": list(positions.repeated(debate)),
        "challenge": newest.challenge,
    }
    return {name: fact for name, fact in told.items() if fact or name not in NAMES}


def unbacked(debate: Elaboration) -> tuple[Flip, ...]:
    """Changes of position in the newest turn for which its speaker names nothing new."""
    flips = positions.flips_in(debate, debate.turn_count - 1)
    return tuple(one for one in flips if not one.backed)
