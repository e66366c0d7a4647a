"""One line for an answer: the persona's acknowledgement with a brief quote, and at most one question."""

import re

from bot.domain.agenda import Playbook, depth_of_step
from bot.domain.persona import Persona
from bot.domain.roundtable import Answer, Roundtable
from bot.voices.phrases import is_question, quoted, sentences, without_code, words
from bot.voices.validating import missing

NOTED = "Noted."
NOTED_CODE = "Noted, with the code as you gave it."
UNSURE = "Fair enough, nobody has to know that yet."
REASON = "because whatever depends on it has to be looked at, too."
"""A template that ends in "because..." promises a reason: this one is always true."""

_IS_UNSURE = re.compile(
    r"\W*(?:(?:i|we|honestly|sorry|well|hm+)\W+)*(?:have\s+)?"
    r"(?:no\s+(?:idea|clue)|not\s+sure|(?:do\s+not|don['’]t)\s+know|dunno|idk|keine\s+ahnung|weiß\s+(?:ich\s+)?nicht)\b",
    re.IGNORECASE,
)
_OPEN_END = re.compile(r"because\s*(?:\.\.\.|…)\s*$")


def acknowledge(rt: Roundtable, playbook: Playbook, persona: Persona) -> str:
    """
    Empty when nothing was said to the open step.

    Feedback is not questioned: it is given at a menu, and a question above the menu would ask for two things.
    """
    if not rt.answers:
        return ""
    newest = rt.answers[-1]
    step = playbook.agenda.get(rt.step_id)
    if newest.feedback or step is None:
        return _received(persona, newest)
    if question := _asked_back(newest.text):
        return f"I'll keep that as an open question: {question} Who here can answer it?"
    follow_up = missing(rt, step, persona, depth=depth_of_step(step, rt.depth_overrides, rt.depth))
    return f"{_received(persona, newest)} {follow_up}".strip()


def _received(persona: Persona, answer: Answer) -> str:
    said = quoted(answer.text)
    if not said:
        return NOTED_CODE if "```" in answer.text else NOTED
    if _IS_UNSURE.match(answer.text):
        return UNSURE
    return _OPEN_END.sub(REASON, persona.acknowledges(said))


def _asked_back(text: str) -> str:
    """The question, quoted, if *text* is nothing but one."""
    meant = [one for one in sentences(without_code(text)) if words(one)]
    return quoted(text) if len(meant) == 1 and is_question(meant[0]) else ""
