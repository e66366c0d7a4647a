"""
What a persona wrote while people went on speaking: it answers a discussion, or an answer, that is another by now.

It is asked for once more, with all that was said. When people go on even then, it is left out, and the floor is theirs:
the record says so, and what it took is in the record, too.
"""

from bot.domain import elaboration_wording
from bot.domain.effects import Speak
from bot.domain.elaboration import Elaboration
from bot.domain.outcomes import PersonaSpoke
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable
from bot.domain.transcript import Part


def is_belated(debate: Elaboration, happened: PersonaSpoke) -> bool:
    """Only people can have spoken meanwhile: of the personas, one is asked at a time."""
    return happened.turns is not None and debate.turn_count > happened.turns


def answers_on(rt: Roundtable, happened: PersonaSpoke) -> bool:
    """Whether people have said more to the open step, or taken something back, since its persona began to answer."""
    return happened.answers is not None and len(rt.answers) != happened.answers


def again(rt: Roundtable, persona: str) -> Speak:
    return Speak(persona=persona, task="respond" if rt.debate.framed else "frame", redone=True)


def noted(
    rt: Roundtable, persona: Persona, happened: PersonaSpoke, *, part: Part = Part.WORKSHOP
) -> Roundtable:
    """Its stances are not on record: they are of words that nobody read."""
    sentence = elaboration_wording.belated(persona, left_out=happened.redone)
    meta = happened.but(stances=(), satisfied=None, passed=False).meta
    return rt.recording(sentence, part=part, persona=persona.key, **meta)
