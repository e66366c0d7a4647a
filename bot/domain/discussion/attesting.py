"""
What a synthesis may say, of a model or of rules: decisions only as people pressed or marked them, objections only in
the words of who made them, and no number, name or promise that was not said in the turns that it names.

All that is taken out, changed or marked comes with its reason.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.discussion import dissent, standing
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import Decision, Insight, Objection, OpenQuestion, Synthesis
from bot.domain.specification import entailment
from bot.domain.specification.entailment import MENTIONED, Part, is_left_open, reasons, speaks_of_a_decision
from bot.domain.values.text import counted, one_line

PROPOSED = "Proposed, and not decided: "
NOT_DECIDED = "no person pressed or marked this decision"
NOT_OBJECTED = "no turn that it names has an objection"
NOT_SAID = "proposed: no person said it"
CLAIM_CHARS = 200

_SENTENCES = re.compile(r"(?<=[.!?。！？])\s+|\n")


class Attested(NamedTuple):
    """*notes* say what was dropped or marked and why; *quotes* are people's sentences that a decision was made of."""

    synthesis: Synthesis
    notes: tuple[Mapping[str, str], ...] = ()
    quotes: tuple[Decision, ...] = ()


def attested(synthesis: Synthesis, debate: Elaboration) -> Attested:
    """Without what was not said; the objections of the record are put in by `dissent.restored`."""
    return _Attesting(debate).read(synthesis)


class _Attesting:
    def __init__(self, debate: Elaboration) -> None:
        self._turns = {turn.id: turn for turn in debate.turns}
        pressed = (Decision(text=one.text, by=one.decider) for one in debate.decided)
        self._decided = (*pressed, *dissent.marked_decisions(debate))
        self._stand = {
            *(one.by for one in self._decided),
            *(one.name for one in debate.stands),
            *(turn.name for turn in debate.turns if turn.stances or standing.takes_a_stand(turn.text)),
        }
        """The names of those who said where they stand, in any form."""
        positions = (f"{one.issue}: {one.position}" for turn in debate.turns for one in turn.stances)
        self._topics = (debate.topic, *dict.fromkeys(positions))
        self._notes: list[Mapping[str, str]] = []

    def read(self, given: Synthesis) -> Attested:
        decisions = [(one, self._is_decided(one)) for one in given.decisions]
        invented = [one for one, is_decided in decisions if not is_decided]
        insights = (*given.insights, *map(self._proposed, invented))
        found = given.but(
            insights=tuple(map(self._insight, insights)),
            decisions=tuple(self._decision(one) for one, is_decided in decisions if is_decided),
            questions=tuple(map(self._question, given.questions)),
            actions=tuple(map(self._action, given.actions)),
            objections=tuple(self._objections(given.objections)),
        )
        return Attested(
            found.but(summary=self._summary(found)),
            tuple(self._notes),
            tuple(one for one in invented if self._is_a_sentence(one)),
        )

    # --- decisions ---

    def _is_decided(self, one: Decision) -> bool:
        """In the words that a person pressed or marked, with or without the reason apart, and by that person."""
        said = {dissent.words(one.text), dissent.words(f"{one.text} because {one.rationale}")}
        return any(dissent.words(known.text) in said and known.by == one.by for known in self._decided)

    def _proposed(self, one: Decision) -> Insight:
        self._note(one.text, NOT_DECIDED)
        speakers = tuple(dict.fromkeys(turn.name for turn in self._cited(one.turns)))
        return Insight(text=f"{PROPOSED}{one.text}", by=speakers, turns=one.turns)

    def _decision(self, one: Decision) -> Decision:
        if one.rationale and (why := self._doubts(one.rationale, one.turns)):
            self._note(one.rationale, why)
            return one.but(rationale="")
        return one

    def _is_a_sentence(self, one: Decision) -> bool:
        """A whole sentence of a person, said without a condition: people can confirm it with one press."""
        wanted = dissent.words(one.text)
        return bool(wanted) and any(
            dissent.words(sentence) == wanted
            and not sentence.rstrip().endswith("?")
            and not is_left_open(sentence)
            for turn in self._cited(one.turns)
            if turn.human
            for sentence in _SENTENCES.split(turn.text)
        )

    # --- claims ---

    def _insight(self, one: Insight) -> Insight:
        speakers = [turn.name for turn in self._cited(one.turns)]
        by = tuple(name for name in one.by if name in speakers) if one.turns else one.by
        why = self._doubts(one.text.removeprefix(PROPOSED), one.turns)
        if why:
            self._note(one.text, why)
        return one.but(by=by or tuple(dict.fromkeys(speakers)), unverified=why)

    def _question(self, one: OpenQuestion) -> OpenQuestion:
        """It asserts nothing but what it takes for granted."""
        why = self._doubts(one.text, one.turns) if one.turns else ""
        if why:
            self._note(one.text, why)
        return one.but(unverified=why)

    def _action(self, text: str) -> str:
        """What a person said is to be done, or what is only proposed."""
        why = self._doubts(text, ())
        if why:
            self._note(text, why)
            return f"{text} (unverified: {why})"
        own = re.sub(r"\([^()]*\)\s*+\Z", "", text).rstrip()
        people = (entailment.unquoted(turn.text) for turn in self._turns.values() if turn.human)
        return text if entailment.stands_in(own, people) else f"{text} ({NOT_SAID})"

    def _summary(self, found: Synthesis) -> str:
        """A sentence that no person said is replaced by what was counted, since it goes into the record of the item."""
        why = self._doubts(found.summary, (), only=MENTIONED | {Part.WORDS})
        if not why and not found.decisions and speaks_of_a_decision(found.summary):
            why = NOT_DECIDED
        if not why:
            return found.summary
        self._note(found.summary, why)
        counts = (
            (len(found.decisions), "decision"),
            (len(found.insights), "insight"),
            (len(found.questions), "open question"),
            (len(found.objections), "objection"),
        )
        return ", ".join(counted(number, thing) for number, thing in counts if number)

    # --- objections ---

    def _objections(self, given: Iterable[Objection]) -> Iterator[Objection]:
        """What is said of their fate is a suggestion, and only what was said in the discussion."""
        for one in given:
            if not self._cited(one.turns):
                self._note(one.text, NOT_OBJECTED)
                continue
            said = " ".join(filter(None, (one.because, one.risk, one.reopen_if)))
            why = self._doubts(one.because, ()) if one.because else ""
            if why:
                self._note(said, why)
                one = one.but(because="")  # noqa: PLW2901 -- only its reason is taken out
            yield one

    def _cited(self, turns: Iterable[str]) -> tuple[Turn, ...]:
        return tuple(self._turns[turn] for turn in turns if turn in self._turns)

    def _doubts(self, text: str, turns: Iterable[str], *, only: Collection[Part] = MENTIONED) -> str:
        """Held against the turns that it names, or roughly against all of them and what they were about."""
        cited = self._cited(turns)
        said = (f"{turn.name}: {turn.text}" for turn in cited or self._turns.values())
        sources = said if cited else (*said, *self._topics)
        why = reasons(text, sources, only=frozenset(Part) if cited else only)
        return "; ".join(filter(None, (why, *self._in_their_name(text))))

    def _in_their_name(self, text: str) -> Iterator[str]:
        """A position of a speaker who gave it in no form."""
        for name in dict.fromkeys(turn.name for turn in self._turns.values()):
            stand = standing.stand_of(name, text)
            if stand and name not in self._stand:
                yield f"{name} did not say “{stand}”"

    def _note(self, what: str, why: str) -> None:
        self._notes.append({"what": one_line(what, CLAIM_CHARS), "why": why})
