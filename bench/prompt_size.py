"""
How long the prompt of a persona is, late in a discussion against early. Goal: ≤ 1.5×, at turn 30 against turn 3.

And how much of a discussion's prompts a provider has read before, at the beginning of an earlier one. Goal: ≥ 0.65.

And what a meeting of 13 steps and two discussions takes with scripted models, looks, tools and forms counted. Goals: at
most 45 calls and 220,000 tokens in (characters / 4); ≥ 0.6 of them as the call before of the same task began; a round
waits for at most two calls.

Characters, of the whole prompt as it leaves us: rules, persona, step, files and what was said. They do not depend on
the machine.
"""

from collections.abc import Iterator
from itertools import takewhile
from operator import eq
from pathlib import Path

from bench.harness import NO_GOAL, Goal, Row, share
from bot import shipped
from bot.content.playbook import load
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.entries import Specification
from bot.domain.specification.fold import Patch
from bot.domain.transcript.lines import ENTRIES as ENTRIES_OF
from bot.domain.transcript.lines import Line, LinePhase, Source
from bot.domain.values.places import Place
from bot.voices.model import Prompt
from bot.voices.prompts import tasks
from bot.voices.prompts.scene import Scene
from tests.meetings.counted import ModelsByRule, counted, in_sequence

LATE, EARLY = 30, 3
MOST_CALLS, MOST_TOKENS, MOST_IN_SEQUENCE = 45, 220_000, 2
CHARS = (250, 1_000)
"""Of a turn: what a persona is asked for at most, and a person who explains something."""
PEOPLE = {"U1": "Ada", "U2": "Grace"}
FILES = {"requirements-spec.md": "# Offline sync\n\n## 1. Business Context\n\n" + "Edits get lost. " * 60}


ENTRIES = 60
"""Of an item in the middle of its analysis."""
CONTEXT_CHARS = 250


def rows() -> Iterator[Row]:
    prefix, all_of_it = cacheable(LATE)
    yield share(
        f"prompts of {LATE} turns",
        "cacheable",
        "chars",
        "all of them",
        ours=prefix,
        floor=all_of_it,
        goal=Goal(at_least=0.65),
    )
    for chars in CHARS:
        late, early = (_asked(turns, chars) for turns in (LATE, EARLY))
        what, floor = f"prompt of turn {LATE}, {chars} characters a turn", f"that of turn {EARLY}"
        whole, moving = ((_length(late), _length(early)), (len(late.moving), len(early.moving)))
        goal = Goal(at_most=1.5)
        yield share(what, "size", "chars", floor, ours=whole[0], floor=whole[1], goal=goal)
        yield share(what, "of which new", "chars", floor, ours=moving[0], floor=moving[1], goal=NO_GOAL)


async def meeting_rows(folder: Path) -> list[Row]:
    """Where values are what people said, and where each draft says it in other words, so that it is reviewed."""
    found: list[Row] = []
    for what, is_reviewed in (("a meeting of 13 steps", False), ("the same, every draft reviewed", True)):
        meeting = await counted(folder / what, ModelsByRule(in_other_words=is_reviewed))
        waits = max(map(in_sequence, meeting.rounds))
        for metric, unit, ours, most in (
            ("calls", "calls", len(meeting.calls), MOST_CALLS),
            ("in", "tokens", meeting.tokens_in, MOST_TOKENS),
            ("a round waits for", "calls", waits, MOST_IN_SEQUENCE),
        ):
            goal = Goal(at_most=1)
            found.append(share(what, metric, unit, "the most", ours=ours, floor=most, goal=goal))
        known, chars = meeting.known_chars, meeting.chars
        found.append(
            share(what, "known", "chars", "all of them", ours=known, floor=chars, goal=Goal(at_least=0.6))
        )
    return found


def _length(prompt: Prompt) -> int:
    return sum(map(len, (*prompt.stable, prompt.moving)))


def cacheable(turns: int) -> tuple[int, int]:
    """Characters at the beginning of a prompt that an earlier one of the discussion began with, and all characters."""
    sent: list[str] = []
    known = 0
    for turn in range(1, turns):
        prompt = _asked(turn, CONTEXT_CHARS, speaker=turn)
        text = "\n\n".join((*prompt.stable, prompt.moving))
        known += max((_shared(text, before) for before in sent), default=0)
        sent.append(text)
    return known, sum(map(len, sent))


def _shared(text: str, before: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(bool, map(eq, text, before)))


def _specification() -> Specification:
    patches = [
        Patch(
            id=f"FR-{number:03}", kind="requirement", new=True, set={"title": "Edits are kept offline. " * 4}
        )
        for number in range(1, ENTRIES + 1)
    ]
    line = Line(
        ts="2026-01-01T00:00:00.000Z",
        round=1,
        actor="User",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=Source.USER,
        content="",
        meta={
            "message_id": "C.1",
            "person": "p-4xk2m7qza3",
            ENTRIES_OF: [patch.as_json() for patch in patches],
        },
    )
    return Specification().folding([line])


def _asked(turns: int, chars: int, *, speaker: int = 0) -> Prompt:
    """A persona is asked for a word, after so many turns of people and personas."""
    playbook = load(shipped.personas_dir(), shipped.steps_dir())
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
        specification=_specification(),
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
    persona = tuple(playbook.roster)[speaker % len(playbook.roster)]
    asked = Speak(persona=persona.key, task="turn", personas=tuple(one.key for one in playbook.roster))
    return tasks.turn(Scene(rt.but(elaboration=debate), playbook, persona, FILES), debate, asked)
