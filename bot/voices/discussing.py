"""
What a persona says in an elaboration: it reacts to somebody by name, and asks one question.

It repeats people's words and asks; it claims nothing of its own. Whoever asks it for a fact is told what it would
want to know.
"""

import re
from collections.abc import Sequence

from bot.domain.elaboration import Turn
from bot.domain.persona import AddressKind
from bot.domain.text import one_line
from bot.voices.asking import asked_in
from bot.voices.disagreeing import LONGEST, both_sides
from bot.voices.phrases import QUOTE_LIMIT, gist, is_question, quoted, sentences
from bot.voices.situation import Situation

PICKING_UP = (
    "{name}, let me stay with what you just said.",
    "Let me pick that up, {name}.",
    "I stay with {name}'s point.",
)
REPEATING = (
    "{name}, you said {said}.",
    "I keep {name}'s {said} in mind.",
    "{name} put it like this: {said}.",
)
ADDING = (
    "Building on {name}'s question {asked}:",
    "To add to {name}'s question {asked}:",
    "Next to {name}'s question {asked}:",
)
FOR_PEOPLE = "{name}, that is for the people here to decide, not for me. This is what I would weigh."
NOT_KNOWN = "{name}, I don't know that, and I won't guess. But I know what I would ask first."

_CHOICE = re.compile(
    r"\bor\b|\bshould\b|\bwhich\b|\bbetter\b|\bprefer\b|\brecommend\b|\bdecide\b", re.IGNORECASE
)
_OF_SOMEBODY = re.compile(r"(?P<name>.+)'s question (?P<asked>\".+\")\.?", re.DOTALL)


def respond(here: Situation) -> str:
    if here.persona.key == here.debate.lead and (both := both_sides(here)):
        return both
    heard = next((turn for turn in reversed(here.debate.turns) if _says_something(turn, here)), None)
    if heard is None:
        return _fitted("", here.question(""))
    if not heard.human:
        return _building_on(here, heard)
    return _answering(here, heard) if _asks_me(here, heard) else _reacting(here, heard)


def _reacting(here: Situation, heard: Turn) -> str:
    said = quoted(heard.text)
    question = here.question(heard.text, said)
    ways = PICKING_UP if said in question else REPEATING
    return _fitted(_way(here, ways).format(name=heard.name, said=said), question)


def _answering(here: Situation, heard: Turn) -> str:
    honest = FOR_PEOPLE if _CHOICE.search(heard.text) else NOT_KNOWN
    return _fitted(honest.format(name=heard.name), here.question(heard.text))


def _building_on(here: Situation, colleague: Turn) -> str:
    """After a colleague: what it asked is named, so that the next question adds to it."""
    people = next((turn for turn in reversed(here.debate.turns) if turn.human and gist(turn.text)), None)
    question = here.question(people.text if people else colleague.text)
    name, theirs = colleague.name, asked_in(colleague.text)
    if of := _OF_SOMEBODY.fullmatch(theirs):
        name, theirs = of["name"], of["asked"].strip('"')
    asked = quoted(theirs).strip('"').rstrip("?")
    if not asked:
        return _fitted(f"Let me add to what {colleague.name} said.", question)
    return _fitted(_way(here, ADDING).format(name=name, asked=f'"{asked}"'), question)


def _says_something(turn: Turn, here: Situation) -> bool:
    return turn.by != here.persona.key and bool(gist(turn.text))


def _asks_me(here: Situation, heard: Turn) -> bool:
    address = here.playbook.roster.addressed(heard.text, lead=here.debate.lead)
    directly = address.kind is AddressKind.DIRECT and here.persona.key in address.personas
    return directly and any(is_question(one) for one in sentences(heard.text))


def _way(here: Situation, ways: Sequence[str]) -> str:
    """Another way of saying it every time this persona speaks."""
    spoken = sum(turn.by == here.persona.key for turn in here.debate.turns)
    return ways[spoken % len(ways)]


def _fitted(opening: str, question: str) -> str:
    """The question is what counts: a long opening is cut."""
    room = LONGEST - len(question) - 1
    return (
        f"{one_line(opening, room)} {question}".strip() if room > QUOTE_LIMIT else one_line(question, LONGEST)
    )
