"""One line for an answer: the persona's acknowledgement with a brief quote, and at most one question."""

import re

from bot.domain.catalog.agenda import Playbook, depth_of_step
from bot.domain.catalog.personas import Persona
from bot.domain.roundtable.state import Answer, Roundtable
from bot.voices.offline.phrases import gist, is_fragment, only_asks, quoted
from bot.voices.offline.reading import Kind, pieces, rows
from bot.voices.offline.validating import missing

NOTED = "Noted."
NOTED_CODE = "Noted, with the code as you gave it."
UNSURE = "Fair enough, nobody has to know that yet."
REASON = "because whatever depends on it has to be looked at, too."
"""A template that ends in "because..." promises a reason: this one is always true."""

ENDS_CHARS = 50
"""How much is quoted of either end of a list."""

_IS_UNSURE = re.compile(
    r"\W*(?:(?:i|we|honestly|sorry|well|hm+)\W+)*(?:have\s+)?"
    r"(?:no\s+(?:idea|clue)|not\s+sure|(?:do\s+not|don['’]?t)\s+know|dunno|idk|keine\s+ahnung|weiß\s+(?:ich\s+)?nicht)\b",
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
    if question := only_asks(newest.text):
        return f"I'll keep that as an open question: {quoted(question)} Who here can answer it?"
    follow_up = missing(rt, step, persona, depth=depth_of_step(step, rt.depth_overrides, rt.depth))
    return f"{_received(persona, newest)} {follow_up}".strip()


def _received(persona: Persona, answer: Answer) -> str:
    said = quoted(answer.text)
    if not said:
        return NOTED_CODE if "```" in answer.text else NOTED
    if _IS_UNSURE.match(answer.text):
        return UNSURE
    return _noted(answer.text) or _OPEN_END.sub(REASON, persona.acknowledges(said))


def _noted(text: str) -> str:
    """For what is no sentence that could be important: a decision, a task, a list, a note. Empty for others."""
    told = [one for one in pieces(text, by="") if one.kind is not Kind.SMALL_TALK]
    if decided := next((one.text for one in told if one.kind is Kind.DECISION), ""):
        return f"Noted as decided: {quoted(decided)}."
    if told and told[0].kind is Kind.ACTION:
        return f"Noted as a task: {quoted(told[0].text)}."
    points = [row.text for row in rows(text) if row.listed and row.number is None and not row.indented]
    if len(points) > 1:
        first, last = (quoted(point, ENDS_CHARS) for point in (points[0], points[-1]))
        return f"Noted, all {len(points)} points, from {first} to {last}."
    return f"Noted: {quoted(text)}." if is_fragment(gist(text)) else ""
