"""Every sentence of an elaboration that is said by rote, by the host or by the lead."""

from collections.abc import Sequence

from bot.domain.agenda import Phase, Step
from bot.domain.outcomes import Touched
from bot.domain.persona import Persona
from bot.domain.text import counted
from bot.domain.wording import listed


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


def insights_added(touched: Sequence[Touched], insights: int) -> str:
    added = f"{counted(insights, 'insight')} from the discussion"
    return "\n".join(f'Updated {one.path}, section "{one.heading}": added {added}.' for one in touched)
