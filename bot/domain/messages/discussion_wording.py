"""Every sentence of an elaboration that is said by rote, by the host or by the lead."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.catalog.agenda import Phase, Step
from bot.domain.catalog.personas import Persona
from bot.domain.discussion.positions import Flip
from bot.domain.messages.step_wording import listed
from bot.domain.roundtable.outcomes import ChangedFile
from bot.domain.values.text import counted


def intro(others: Sequence[Persona], topic: str, *, item: str, max_turns: int) -> str:
    bringing = listed([persona.label for persona in others])
    return (
        "---\nELABORATION MODE\n\n"
        f"Bringing {bringing or 'everybody'} into the discussion.\n\n"
        f"Topic: {topic} for {item}\n\n"
        f'Turn limit: {max_turns} exchanges. Type "done" to end discussion early.\n---'
    )


def nearing_the_end() -> str:
    return "We are nearing the end of our discussion time. Any final points before we synthesize?"


def limit_reached() -> str:
    return "We have had a thorough discussion. Let me synthesize the key points from our conversation."


def wrapping_up() -> str:
    return "Wrapping up the discussion. Let me synthesize our key points."


def anybody_there() -> str:
    return "Any thoughts on this, or should we wrap up?"


def end_or_go_on() -> str:
    return "Did you want to end the discussion, or continue exploring this?"


def your_turn() -> str:
    return "The floor is yours."


def passed(persona: Persona) -> str:
    return f"{persona.first_name} has nothing to add."


def belated(persona: Persona, *, left_out: bool) -> str:
    done = "that is left out" if left_out else "that is written once more"
    return f"People spoke while {persona.first_name} was writing: {done}."


def too_much_at_once() -> str:
    return (
        "A lot is being said at once: what you write now is in the record, but it is not answered one by one. "
        "When a persona has spoken, there is room again."
    )


def still_talking() -> str:
    return "The discussion went on"


def back_to_the_table(topic: str, turns: int, max_turns: int) -> str:
    return f"Welcome back. We were discussing {topic}: {turns} of {max_turns} turns are used, and the floor is yours."


def persona_off_topic(drifter: Persona, other: Step, phase: Phase, *, topic: str) -> str:
    return (
        f"{drifter.first_name} raises an interesting point about {other.title}, but let us stay focused on "
        f"{topic}. We can explore that when we get to {phase.name} (step {other.step_id})."
    )


def person_off_topic(other: Step, phase: Phase, *, topic: str) -> str:
    return (
        f"That is a great question for {phase.name} (step {other.step_id}). For now, let us focus on {topic}."
    )


def ended_early(topic: str) -> str:
    return f"Discussion ended early. The framing identified {topic} as a discussion point."


def insights_added(touched: Sequence[ChangedFile], insights: int) -> str:
    added = f"{counted(insights, 'insight')} from the discussion"
    return "\n".join(f'Updated {one.path}, section "{one.heading}": added {added}.' for one in touched)


# What is said by rote about where people and personas stand. Issues and positions are theirs, and only
# shown.


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
    """The persona that was asked first had nothing to say to it."""
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
