"""
How long the prompt of a persona is, late in a discussion against early. Goal: ≤ 1.5×, at turn 30 against turn 3.

Characters, of the whole prompt as it leaves us: rules, persona, step, files and what was said. They do not depend on
the machine.
"""

from collections.abc import Iterator

from bench.harness import NO_GOAL, Goal, Row, share
from bot import content, shipped
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.roundtable.state import Roundtable
from bot.domain.values.places import Place
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene

LATE, EARLY = 30, 3
CHARS = (250, 1_000)
"""Of a turn: what a persona is asked for at most, and a person who explains something."""
PEOPLE = {"U1": "Ada", "U2": "Grace"}
FILES = {"requirements-spec.md": "# Offline sync\n\n## 1. Business Context\n\n" + "Edits get lost. " * 60}


def rows() -> Iterator[Row]:
    for chars in CHARS:
        late, early = (_asked(turns, chars) for turns in (LATE, EARLY))
        what, floor = f"prompt of turn {LATE}, {chars} characters a turn", f"that of turn {EARLY}"
        whole, moving = ((_length(late), _length(early)), (len(late.moving), len(early.moving)))
        goal = Goal(at_most=1.5)
        yield share(what, "size", "chars", floor, ours=whole[0], floor=whole[1], goal=goal)
        yield share(what, "of which new", "chars", floor, ours=moving[0], floor=moving[1], goal=NO_GOAL)


def _length(prompt: Prompt) -> int:
    return sum(map(len, (*prompt.stable, prompt.moving)))


def _asked(turns: int, chars: int) -> Prompt:
    """The lead is asked for a word, after so many turns of people and personas."""
    playbook = content.load(shipped.personas_dir(), shipped.steps_dir())
    step = playbook.agenda.steps_of("01-requirements")[0]
    lead = playbook.roster[step.persona]
    rt = Roundtable(
        incarnation="0a1b2c3d",
        slug="offline-sync",
        title="Offline sync",
        place=Place(team="T", channel="C", thread="1"),
        people=PEOPLE,
        phase_key=step.phase_key,
        step_id=step.step_id,
        now="2026-01-01T00:00:00.000Z",
    )
    speakers = [(one.key, one.first_name, False) for one in playbook.roster]
    speakers += [(key, name, True) for key, name in PEOPLE.items()]
    said = (
        (number, *speakers[number % len(speakers)], f"{number}: {'word ' * (chars // 5)}")
        for number in range(turns)
    )
    debate = Elaboration(
        step_id=step.step_id,
        lead=lead.key,
        topic=step.title,
        max_turns=100,
        turns=tuple(
            Turn(id=f"t{number + 1:02}", by=by, name=name, human=human, text=text)
            for number, by, name, human, text in said
        ),
    )
    return tasks.respond(Scene(rt.but(elaboration=debate), playbook, lead, FILES), debate)
