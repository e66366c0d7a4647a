"""
What a persona says in an elaboration: it reacts to somebody by name, and asks one question.

It repeats people's words and asks; it claims nothing of its own. Whoever asks for a fact is told that it does not know,
and the question goes to the people.
"""

import re
from collections.abc import Sequence

from bot.domain.catalog.personas import AddressKind
from bot.domain.discussion.elaboration import Turn
from bot.domain.values.text import one_line
from bot.voices.offline.asking import asked_in
from bot.voices.offline.disagreeing import LONGEST, both_sides
from bot.voices.offline.phrases import QUOTE_LIMIT, gist, is_quotable, only_asks, quoted
from bot.voices.offline.situation import Situation

PICKING_UP = (
    "{name}, let me stay with what you just said.",
    "Let me pick that up, {name}.",
    "I stay with {name}'s point.",
)
REPEATING = (
    "{name}, you said {said}.",
    "I heard {said}, {name}.",
    "What I take from {name} is {said}.",
)
ADDING = (
    "Let me add one about {aspect} to {name}'s question.",
    "Next to {name}'s question, one about {aspect}.",
    "{name}'s question has a side to it that is about {aspect}.",
)
PASSING_ON = "{name} asks {said} Who here knows, or where could we look?"
WEIGHING = "{name} asks {said} What speaks for it, and what against it?"
FOR_PEOPLE = "{name}, that is for the people here to decide, not for me. This is what I would weigh."
NOT_KNOWN = "{name}, I don't know that, and I won't guess."
WHO_KNOWS = "Who here does, or where could we look it up?"

EVERYBODY = frozenset({"all", "everybody", "everyone", "folks", "team", "you all"})

_CHOICE = re.compile(
    r"\bor\b|\bshould\b|\bshall\b|\bcan['’]?t?\s+we\b|\bwhich\b|\bbetter\b|\bprefer\b|\brecommend\b|\bdecide\b",
    re.IGNORECASE,
)
_OF_SOMEBODY = re.compile(r"(?P<name>.+)'s question \".+\"\.?", re.DOTALL)
_ASPECT_END = re.compile(r",|\band\b")


def respond(here: Situation) -> str:
    if here.persona.key == here.debate.lead and (both := both_sides(here)):
        return both
    heard = next((turn for turn in reversed(here.debate.turns) if _says_something(turn, here)), None)
    if heard is None:
        return _fitted("", here.question(""))
    if not heard.human:
        return _building_on(here, heard)
    if asked := only_asks(heard.text):
        asked = _without_address(asked, here)
        return _answering(here, heard, asked) if _asks_me(here, heard) else _passing_on(heard, asked)
    return _reacting(here, heard)


def _reacting(here: Situation, heard: Turn) -> str:
    said = quoted(heard.text)
    question = here.question(heard.text, said if is_quotable(said) else "")
    ways = PICKING_UP if said in question else REPEATING
    return _fitted(_way(here, ways).format(name=heard.name, said=said), question)


def _answering(here: Situation, heard: Turn, asked: str) -> str:
    if _CHOICE.search(asked):
        return _fitted(FOR_PEOPLE.format(name=heard.name), here.question(heard.text))
    passed_on = any(WHO_KNOWS in turn.text for turn in here.debate.turns)
    return _fitted(NOT_KNOWN.format(name=heard.name), here.question(heard.text) if passed_on else WHO_KNOWS)


def _passing_on(heard: Turn, asked: str) -> str:
    """A question to nobody, or to people: it is theirs to answer."""
    way = WEIGHING if _CHOICE.search(asked) else PASSING_ON
    return one_line(way.format(name=heard.name, said=quoted(asked)), LONGEST)


def _building_on(here: Situation, colleague: Turn) -> str:
    """After a colleague, whose question stands right above: the same matter from this persona's side."""
    people = next((turn for turn in reversed(here.debate.turns) if turn.human and gist(turn.text)), None)
    question = here.question(people.text if people else here.told)
    asked = asked_in(colleague.text)
    aspect = _ASPECT_END.split(here.persona.lens)[0].strip()
    if not asked or not aspect:
        return _fitted(f"Let me add to what {colleague.name} said.", question)
    of = _OF_SOMEBODY.fullmatch(asked)
    return _fitted(
        _way(here, ADDING).format(name=of["name"] if of else colleague.name, aspect=aspect), question
    )


def _says_something(turn: Turn, here: Situation) -> bool:
    return turn.by != here.persona.key and bool(gist(turn.text))


def _asks_me(here: Situation, heard: Turn) -> bool:
    address = here.playbook.roster.addressed(heard.text, lead=here.debate.lead)
    return address.kind is AddressKind.DIRECT and here.persona.key in address.personas


def _without_address(asked: str, here: Situation) -> str:
    """Without the "Alex," or "everyone," in front."""
    name, comma, rest = asked.partition(",")
    called = {*EVERYBODY, *(persona.first_name.casefold() for persona in here.playbook.roster)}
    return rest.strip() if comma and rest.strip() and name.strip().casefold() in called else asked


def _way(here: Situation, ways: Sequence[str]) -> str:
    """Another way of saying it than whoever spoke before, and than the same persona the last time."""
    spoken = [turn.by for turn in here.debate.turns if not turn.human]
    return ways[(len(spoken) + spoken.count(here.persona.key)) % len(ways)]


def _fitted(opening: str, question: str) -> str:
    """The question is what counts: a long opening is cut."""
    room = LONGEST - len(question) - 1
    return (
        f"{one_line(opening, room)} {question}".strip() if room > QUOTE_LIMIT else one_line(question, LONGEST)
    )
