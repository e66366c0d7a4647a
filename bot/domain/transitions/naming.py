"""Names in what a persona or a person says in a discussion: speakers, colleagues, other steps."""

import re

from bot.domain.agenda import Playbook, Step
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable


def own_words(text: str, persona: Persona, playbook: Playbook) -> tuple[str, bool]:
    """*text* without a speaker's name before it, and whether it spoke in somebody else's name."""
    everybody = "|".join(re.escape(name) for one in playbook.roster for name in (one.name, one.first_name))
    prefix = re.match(rf"\s*\**({everybody})\b(?: \([^)\n]*\))?\**:\**\s*", text, re.IGNORECASE)
    if not prefix:
        return text.strip(), False
    own = prefix[1].lower() in {persona.name.lower(), persona.first_name.lower()}
    return text[prefix.end() :].strip(), not own


def other_step(rt: Roundtable, text: str, playbook: Playbook) -> Step | None:
    """The step that *text* names outright, if it is not the one we discuss. Quoting is not naming."""
    said = re.sub(r'"[^"\n]*"', "", text)
    named = (
        step for step in playbook.agenda.steps if _names(said, step) and step.step_id != rt.debate.step_id
    )
    return next(named, None)


def _names(text: str, step: Step) -> bool:
    return bool(re.search(rf"(?<![\d-]){step.step_id}(?![\d-])", text)) or step.title.lower() in text.lower()


def named_first(text: str, others: tuple[Persona, ...]) -> tuple[str, ...]:
    """The others, and before them whoever *text* asks by name."""
    named = [one.key for one in others if re.search(rf"\b{re.escape(one.first_name)}\b", text)]
    return tuple(dict.fromkeys((*named[:1], *(one.key for one in others))))
