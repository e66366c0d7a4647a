"""Who is about to speak in an elaboration, and after what."""

from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook, Step
from bot.domain.catalog.personas import Persona
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.roundtable.state import Roundtable
from bot.voices.offline.asking import Ground, next_question
from bot.voices.offline.reading import Kind, said_in
from bot.voices.offline.searching import named_in


class Situation(NamedTuple):
    rt: Roundtable
    playbook: Playbook
    persona: Persona
    debate: Elaboration

    @property
    def step(self) -> Step | None:
        return self.playbook.agenda.get(self.debate.step_id)

    @property
    def told(self) -> str:
        """What people stated on the step before it was discussed."""
        return " ".join(one.text for one in said_in(self.rt, self.rt.answers) if one.kind is Kind.STATEMENT)

    def question(self, about: str, quote: str = "") -> str:
        """What the persona asks next about those words; it may hold the *quote*."""
        ground = Ground(
            place=f"{self.rt.slug}/{self.debate.step_id}",
            about=about,
            quote=quote,
            topic=next(iter(named_in(about)), ""),
            asked=tuple(turn.text for turn in self.debate.turns),
        )
        found = next_question(self.persona, self.step, ground)
        return found or f"What else should we hear, after {len(self.debate.turns)} turns, before we end this?"
