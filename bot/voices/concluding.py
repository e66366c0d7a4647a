"""
Reads a model's synthesis and checks it: names must be those of speakers, turns must exist, and decisions must be of
people. A decision that only personas favour becomes an insight.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.discussion.attesting import PROPOSED
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import (
    SUMMARY_CHARS,
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
)
from bot.domain.values.json_files import objects_in
from bot.domain.values.text import one_line
from bot.errors import VoiceError
from bot.voices.prompts.seen import sanitized, text_row

MOST = 12
LONGEST = 500
ACTION_CHARS = 300

FIELDS = frozenset({"insights", "decisions", "questions", "actions", "objections", "summary"})

Told = Mapping[str, Any]


def concluded(text: str, debate: Elaboration) -> Synthesis:
    """Raises VoiceError, "unstructured", when there is no JSON object of the form, or no insight in it."""
    found = next((one for one in objects_in(sanitized(text)) if not FIELDS.isdisjoint(one)), None)
    if found is None:
        raise VoiceError("The synthesis was not in the form that was asked for.", reason="unstructured")
    reading = _Reading(debate)
    proposed, decisions = reading.decisions(found)
    insights = (*reading.insights(found), *proposed)[:MOST]
    if not insights:
        raise VoiceError("The synthesis had no insight in it.", reason="unstructured")
    return Synthesis(
        insights=insights,
        decisions=decisions,
        questions=tuple(reading.questions(found)),
        actions=tuple(_texts(found.get("actions"), ACTION_CHARS)),
        objections=tuple(reading.objections(found)),
        summary=text_row(found.get("summary"), SUMMARY_CHARS) or one_line(insights[0].text, SUMMARY_CHARS),
    )


class _Reading:
    def __init__(self, debate: Elaboration) -> None:
        self._turns = {turn.id: turn for turn in debate.turns}
        self._names = {turn.name.casefold(): turn.name for turn in debate.turns}
        self._people = {turn.name for turn in debate.turns if turn.human}

    def insights(self, found: Told) -> Iterator[Insight]:
        for one, text in _entries(found.get("insights")):
            turns = self._turns_of(one)
            yield Insight(text=text, by=self._names_of(one, turns), turns=_ids(turns))

    def decisions(self, found: Told) -> tuple[tuple[Insight, ...], tuple[Decision, ...]]:
        """The decisions that no person made, as insights; then those that a person made in a turn."""
        proposed: list[Insight] = []
        made: list[Decision] = []
        for one, text in _entries(found.get("decisions")):
            turns = self._turns_of(one)
            by = next((turn.name for turn in turns if turn.human), "")
            named = self._name(text_row(one.get("by"), LONGEST))
            if by:
                by = named if named in self._people else by
                rationale = text_row(one.get("rationale"), LONGEST)
                made.append(Decision(text=text, rationale=rationale, by=by, turns=_ids(turns)))
            else:
                proposed.append(
                    Insight(text=f"{PROPOSED}{text}", by=(named,) if named else (), turns=_ids(turns))
                )
        return tuple(proposed), tuple(made)

    def questions(self, found: Told) -> Iterator[OpenQuestion]:
        for one, text in _entries(found.get("questions")):
            yield OpenQuestion(
                text=text, why=text_row(one.get("why"), LONGEST), turns=_ids(self._turns_of(one))
            )

    def objections(self, found: Told) -> Iterator[Objection]:
        for one, text in _entries(found.get("objections")):
            turns = self._turns_of(one)
            yield Objection(text=text, by=self._names_of(one, turns), turns=_ids(turns))

    def _names_of(self, one: Told, turns: tuple[Turn, ...]) -> tuple[str, ...]:
        """The named speakers; without any, the speakers of the turns."""
        named = dict.fromkeys(name for name in map(self._name, _texts(one.get("by"), LONGEST)) if name)
        return tuple(named) or tuple(dict.fromkeys(turn.name for turn in turns))

    def _turns_of(self, one: Told) -> tuple[Turn, ...]:
        ids = dict.fromkeys(_texts(one.get("turns"), LONGEST))
        return tuple(self._turns[turn] for turn in ids if turn in self._turns)

    def _name(self, said: str) -> str:
        """The name as the speaker writes it; empty for a name that did not speak."""
        return self._names.get(said.casefold(), "")


def _entries(given: Any) -> Iterator[tuple[Told, str]]:
    """Entries with their text. A plain text counts as an object with only that text."""
    for one in (given if isinstance(given, list) else [])[:MOST]:
        told = one if isinstance(one, Mapping) else {"text": one}
        if text := text_row(told.get("text"), LONGEST):
            yield told, text


def _ids(turns: tuple[Turn, ...]) -> tuple[str, ...]:
    return tuple(turn.id for turn in turns)


def _texts(given: Any, limit: int) -> Iterator[str]:
    found = given if isinstance(given, list) else [given]
    return (line for one in found[:MOST] if (line := text_row(one, limit)))
