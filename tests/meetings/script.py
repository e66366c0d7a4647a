"""
Meetings that are played from a script: what personas say and put on record, and what people do.

The same script goes through the pure engine (`played`), and through the real one, on a disk and in git (`held`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.domain.discussion.elaboration import Stance
from bot.domain.messages.message import Action, Message
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.timers import TimerName
from bot.domain.transcript.lines import Line
from tests.domain.books import few_steps
from tests.domain.table import Contribution, Table, played_once

MAYA, ALEX, JORDAN = "business-analyst", "solutions-architect", "system-designer"
STORAGE = "storage"


class Said(NamedTuple):
    text: str
    who: str = "ada"


class Pressed(NamedTuple):
    action: str
    value: str = ""
    who: str = "ada"


Deed = Said | Pressed

GO_ON = Pressed(Action.GO_ON)
DONE = Said("done")
PASS = Contribution("", passed=True)


class Script(NamedTuple):
    """*personas* are their contributions in order; who has no more of them passes."""

    personas: Mapping[str, Sequence[Contribution]]
    people: Sequence[Deed] = ()
    max_turns: int = 10

    def contribution(self, persona: str, rt: Roundtable) -> Contribution:
        """The next one: as many as *persona* has made are over, and so are those with which it passed."""
        if rt.elaboration is None:
            return Contribution("Noted.")
        debate = rt.elaboration
        given = sum(turn.by == persona for turn in debate.turns)
        own = self.personas.get(persona, ())
        return own[given] if given < len(own) else PASS


class Played(NamedTuple):
    """What is left of a meeting: the thread, and the lines."""

    thread: tuple[Message, ...]
    lines: tuple[Line, ...]

    @property
    def block(self) -> Line:
        return next(line for line in reversed(self.lines) if "### Elaboration Insights" in line.content)

    @property
    def shown(self) -> Message:
        """The block as people see it."""
        shown = next(one for one in reversed(self.thread) if "### Elaboration Insights" in one.text)
        return shown.but(text=shown.text[shown.text.index("### Elaboration Insights") :])

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.thread]

    def turns(self, actor: str = "") -> list[Line]:
        return [line for line in self.lines if "turn_id" in line.meta and actor in {"", line.actor}]


@played_once
def listening() -> Table:
    """A discussion without a model: the personas open it, and then listen."""
    table = Table(few_steps()).start().do_step()
    table.world.more = {"by_rule": True}
    return table.press(Action.ELABORATE)


def discussing(personas: Mapping[str, Sequence[Contribution]], *, max_turns: int = 10) -> Table:
    """A step is done, and its discussion is open, in which the personas say this."""
    script = Script(personas, max_turns=max_turns)
    table = Table(few_steps()).start().meta_says(elaboration_config={"max_turns": max_turns})

    def speech(speak: Speak, rt: Roundtable) -> Contribution:
        return script.contribution(speak.persona, rt)

    table.world.speech = speech
    return table.elaborate()


def played(script: Script) -> Played:
    """A step is done, and discussed as the script has it."""
    table = discussing(script.personas, max_turns=script.max_turns)
    for deed in script.people:
        follow(table, deed)
    if table.rt.elaboration and table.rt.elaboration.exhausted:
        table.press(Action.END_ELABORATION)
    return Played(tuple(said.message for said in table.world.thread), table.lines)


def follow(table: Table, deed: Deed) -> Table:
    if isinstance(deed, Said):
        table.say(deed.text, who=deed.who)
        return table.take_round() if TimerName.ROUND in table.rt.timers else table
    return table.press(deed.action, who=deed.who, value=deed.value)


def says(text: str, position: str, *because: str, issue: str = STORAGE) -> Contribution:
    """A contribution with one stance on record."""
    return Contribution(text, (Stance(issue=issue, position=position, because=because),))
