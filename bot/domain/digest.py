"""
*Catch me up*: what has happened in a record since somebody last said something, told by two states of one fold.

Short on purpose: whoever was away wants to know what was decided, what is open, and whom it waits for. The rest stands
in the thread.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bot.domain.agenda import Playbook
from bot.domain.planning.wording import doing
from bot.domain.progress import Record
from bot.domain.replay_state import Point, State
from bot.domain.roundtable import Roundtable
from bot.domain.stage import Stage
from bot.domain.value import Value


class Since(NamedTuple):
    """The state after the reader's last words (an empty one, if there are none), and the state now."""

    before: State
    now: State


class Digest(Value):
    """`spoke` are the others, whoever spoke first first; `open_before` counts older questions that are still open."""

    away: bool = False
    """Whether the reader had said something before."""
    spoke: Mapping[str, int] = {}
    turns: int = 0
    steps: tuple[str, ...] = ()
    phases: tuple[str, ...] = ()
    discussed: tuple[Record, ...] = ()
    decisions: tuple[Point, ...] = ()
    questions: tuple[Point, ...] = ()
    objections: tuple[Point, ...] = ()
    open_before: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.spoke or self.steps or self.phases or self.discussed)


class Waits(NamedTuple):
    """
    What the meeting waits for: the words of `Stage`, and whose turn it is. `who` are the personas who have the floor or
    asked; nobody there means that people have. `planning` says what a planning workshop is doing.
    """

    stage: Stage
    step: str = ""
    who: tuple[str, ...] = ()
    answers: int = 0
    turn: int = 0
    turns: int = 0
    planning: str = ""


def digest(since: Since, playbook: Playbook) -> Digest:
    before, now = since
    return Digest(
        away=bool(before.lines),
        spoke=_spoke(since, playbook),
        turns=_turns(since),
        steps=tuple(
            _titled(step, playbook)
            for step in _new(before.progress.steps_completed, now.progress.steps_completed)
        ),
        phases=_new(before.progress.phases_completed, now.progress.phases_completed),
        discussed=now.progress.elaborations[len(before.progress.elaborations) :],
        decisions=_points(now.decisions, before.line, playbook),
        questions=_points(now.questions, before.line, playbook),
        objections=_points(now.objections, before.line, playbook),
        open_before=sum(one.line <= before.line for one in now.questions),
    )


def waits(rt: Roundtable, playbook: Playbook) -> Waits:
    step = playbook.agenda.get(rt.step_id)
    about = _titled(rt.step_id, playbook)
    if rt.stage is Stage.PLANNING:
        return Waits(rt.stage, planning=doing(rt.workshop) if rt.workshop else "")
    if debate := rt.elaboration:
        floor = tuple(_called(key, playbook) for key in debate.waiting)
        return Waits(rt.stage, about, floor, turn=debate.turn_count, turns=debate.max_turns)
    asks = (_called(step.persona, playbook),) if step else ()
    return Waits(rt.stage, about, asks, answers=len(rt.answers))


def _spoke(since: Since, playbook: Playbook) -> Mapping[str, int]:
    """The host's own lines are no news."""
    earlier = {(one.kind, one.key): one.lines for one in since.before.speakers}
    names = _names(playbook)
    return {
        names.get(one.name, one.name) if one.kind == "persona" else one.name: more
        for one in since.now.speakers
        if one.kind != "host" and (more := one.lines - earlier.get((one.kind, one.key), 0)) > 0
    }


def _turns(since: Since) -> int:
    """Of discussions that are over, and of the open one; without those that the reader was there for."""
    before, now = since
    over = [one.turns for one in now.concluded if one.line > before.line]
    running = now.discussion
    begun = before.discussion
    goes_on = begun and (over or (running and running.line == begun.line))
    heard = begun.count if begun and goes_on else 0
    return max(sum(over) + (running.count if running else 0) - heard, 0)


def _new(before: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in now if one not in before)


def _points(points: Sequence[Point], line: int, playbook: Playbook) -> tuple[Point, ...]:
    names = _names(playbook)
    return tuple(one.but(by=names.get(one.by, one.by)) for one in points if one.line > line)


def _names(playbook: Playbook) -> Mapping[str, str]:
    """What people call those whose lines have their actor."""
    return {persona.actor: persona.name for persona in (*playbook.roster, *playbook.workshop)}


def _titled(step_id: str, playbook: Playbook) -> str:
    step = playbook.agenda.get(step_id)
    return f"{step_id} {step.title}" if step else step_id


def _called(key: str, playbook: Playbook) -> str:
    persona = playbook.roster.get(key)
    return persona.name if persona else key
