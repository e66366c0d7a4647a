"""What is said by rote about where people and personas stand. Issues and positions are theirs, and only shown."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.positions import Flip
from bot.domain.text import counted
from bot.domain.wording import listed


class Favored(NamedTuple):
    """A position as it is put to people: who favors it, and on what it rests, in names of turns."""

    position: str
    names: Sequence[str]
    because: Sequence[str]


def moved(flips: Sequence[Flip]) -> str:
    """Small print below a contribution."""
    changes = [f'on {one.issue} from "{one.was}" to "{one.position}"' for one in flips]
    return f"Changed position {listed(changes)}, without naming anything new." if changes else ""


def challenge(name: str, positions: Sequence[str]) -> str:
    return (
        f"We all agree so far, and nobody has looked for what speaks against it. {name}, what is the strongest "
        f"case against {_either(positions)}?"
    )


def challenge_instead(name: str, positions: Sequence[str]) -> str:
    """Whoever was asked first had nothing to say to it."""
    return f"Then {name}: what is the strongest case against {_either(positions)}?"


def circles(name: str, issues: Sequence[str]) -> str:
    return (
        f"{name} makes the same point on {listed(issues)} again, on the same grounds. What would settle it?"
    )


def both_sides(issue: str, sides: Sequence[Favored]) -> str:
    """The trade-off, and people are asked to decide (reference §2.7)."""
    everybody = listed([name for side in sides for name in side.names])
    favored = " ".join(_favors(side) for side in sides)
    options = _either([side.position for side in sides])
    return (
        f"On {issue}, {everybody} see this differently. {favored} "
        f"What matters more for your project: {options}?"
    )


def yours_to_decide() -> str:
    return "A button records what you decide, and who did; or just go on talking."


def decided(name: str, issue: str, position: str) -> str:
    return f"{name} decided on {issue}: {position}"


def noted(name: str, issue: str, position: str) -> str:
    return f"Noted: {decided(name, issue, position)}. The floor is yours."


def asked_again(count: int) -> str:
    return f"The synthesis left out {counted(count, 'objection')}, so it was asked for once more."


def _favors(side: Favored) -> str:
    verb = "favor" if len(side.names) > 1 else "favors"
    why = f"because of {listed(side.because)}" if side.because else "and has named no turn that it rests on"
    return f"{listed(side.names)} {verb} {side.position} {why}."


def _either(options: Sequence[str]) -> str:
    *others, last = options
    return f"{', '.join(others)} or {last}" if others else last
