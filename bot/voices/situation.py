"""Who is about to speak in an elaboration, and after what."""

from typing import NamedTuple

from bot.domain.agenda import Playbook, Step
from bot.domain.elaboration import Elaboration
from bot.domain.persona import Persona
from bot.domain.roundtable import Roundtable
from bot.voices.asking import Ground, next_question


class Situation(NamedTuple):
    rt: Roundtable
    playbook: Playbook
    persona: Persona
    debate: Elaboration

    @property
    def step(self) -> Step | None:
        return self.playbook.agenda.get(self.debate.step_id)

    def question(self, about: str, quote: str = "", *, quoting: bool = False) -> str:
        """What the persona asks next; with *quoting*, preferably a question that has the *quote* in it."""
        ground = Ground(
            place=f"{self.rt.slug}/{self.debate.step_id}",
            about=about,
            quote=quote,
            topic=self.debate.topic,
            asked=tuple(turn.text for turn in self.debate.turns),
        )
        found = next_question(self.persona, self.step, ground, quoting=quoting)
        return found or f"What else matters about {self.debate.topic}, {len(self.debate.turns)} turns in?"
