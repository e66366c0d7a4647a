"""
What a voice may add to what a discussion came to: a decision or an objection is only proposed, in the words of who said
it, and no number, name or promise may be in it that was not said in the turns that it names.

All that is taken out, changed or marked comes with its reason.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from bot.domain.discussion.board import DiscussionBoard
from bot.domain.discussion.elaboration import Turn
from bot.domain.discussion.synthesis import (
    NOTHING_RECORDED,
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
)
from bot.domain.specification.claim_check import NOT_CONFIRMED, ClaimCheck, Root, stands_in
from bot.domain.specification.fold import letters_of
from bot.domain.values.text import content_words, counted, one_line, sentences_in

PROPOSED = "Proposed, and not decided: "
NOT_DECIDED = "no person pressed or marked this decision"
NOT_OBJECTED = "no turn that it names has an objection"
NOT_SAID = "proposed: no person said it"
CLAIM_CHARS = 200
QUOTE_CHARS = 300

_STANDS = (
    r"wants?|wanted|prefers?|preferred|favou?rs?|favou?red|supports?|supported|opposes?|opposed|likes?|liked|insists?|insisted"
    r"|accepts?|accepted|agrees?|agreed|approves?|approved|concedes?|conceded|withdraws?|withdrew|rejects?|rejected"
    r"|demands?|demanded|hopes?|hoped|promises?|promised|believes?|believed|is\s+(?:for|against|convinced|happy|fine)"
    r"|möchte|lehnt|unterstützt|akzeptiert"
)
"""Words of agreement, refusal and intention: they claim a position of a speaker."""
_TAKES_A_STAND = re.compile(
    rf"(?<!\w)(?:{_STANDS}|need\w*|should|must|would|let'?s|please|yes|no|ok|okay|fine|sure|right|decisions?|decided?"
    r"|objections?|object|against|for it|convinced|i'm|i am|i think|i'd|we'll|i'll|wish\w*|rather|better"
    r"|ja|nein|bitte|gut|soll\w*)(?!\w)",
    re.IGNORECASE,
)

_QUOTED = re.compile(r"“[^”“]+”|„[^“”„]+[“”]|«[^«»]+»|「[^「」]+」|(?<!\w)\"[^\"\n]+\"(?!\w)")
"""Words in quotation marks are not the speaker's own."""
_PARTS = re.compile(r"[.;:,](?=\s|\Z)|\s(?:and|but|und|aber|et|mais)\s", re.IGNORECASE)


class Attested(NamedTuple):
    """*notes* say what was dropped or marked and why."""

    synthesis: Synthesis
    notes: tuple[Mapping[str, str], ...] = ()


def attested(synthesis: Synthesis, board: DiscussionBoard, check: ClaimCheck) -> Attested:
    """Without what was not said, and what is in the record already."""
    return _Attesting(board, check).read(synthesis)


def stand_of(name: str, claim: str) -> str:
    """What *claim* says of where *name* stands ("wants", "accepts"); empty when it says nothing of the kind."""
    said = re.search(
        rf"(?<!\w){re.escape(name)}\s+(?:\w+\s+){{0,2}}?(?P<stand>{_STANDS})(?!\w)",
        claim.replace("’", "'"),
        re.IGNORECASE,
    )
    return said["stand"] if said else ""


def takes_a_stand(text: str) -> bool:
    """Whether *text* has a word of agreement, refusal or intention."""
    return _TAKES_A_STAND.search(text.replace("’", "'")) is not None


class _Attesting:
    def __init__(self, board: DiscussionBoard, check: ClaimCheck) -> None:
        debate = board.debate
        self._check = check
        self._turns = {turn.id: turn for turn in debate.turns}
        self._decided = {
            letters_of(f"{one['text']} {reason}")
            for one in board.current_decisions
            for reason in ("", one["reason"] or "", f"because {one['reason'] or ''}")
        }
        claims = [claim for one in (*board.decisions, *board.objections) if (claim := one.claim("text"))]
        self._objected = {one.line for one in claims}
        self._stand = {
            *(one.owner.name for one in claims),
            *(one.name for one in board.stands),
            *(turn.name for turn in debate.turns if turn.stances or takes_a_stand(turn.text)),
        }
        """The names of those who said where they stand, in any form."""
        positions = (f"{one.issue}: {one.position}" for turn in debate.turns for one in turn.stances)
        self._topics = (debate.topic, *dict.fromkeys(positions))
        self._decisions = len(board.own(board.current_decisions))
        self._notes: list[Mapping[str, str]] = []

    def read(self, given: Synthesis) -> Attested:
        invented = [one for one in given.decisions if not self._is_decided(one)]
        insights = (*given.insights, *map(self._proposed, invented))
        found = given.but(
            insights=tuple(self._insight(one, is_read=given.by_rule) for one in insights),
            decisions=tuple(one for one in invented if self._is_a_sentence(one)),
            questions=tuple(map(self._question, given.questions)),
            actions=tuple(map(self._action, given.actions)),
            objections=tuple(self._objections(given.objections)),
        )
        return Attested(
            found.but(summary=self._summary(found)),
            tuple(self._notes),
        )

    # --- decisions ---

    def _is_decided(self, one: Decision) -> bool:
        """In the words of the record, with or without the reason apart."""
        said = {letters_of(one.text), letters_of(f"{one.text} because {one.rationale}")}
        return not said.isdisjoint(self._decided)

    def _proposed(self, one: Decision) -> Insight:
        self._note(one.text, NOT_DECIDED)
        speakers = tuple(dict.fromkeys(turn.name for turn in self._cited(one.turns)))
        return Insight(text=f"{PROPOSED}{one.text}", by=speakers, turns=one.turns)

    def _is_a_sentence(self, one: Decision) -> bool:
        """A whole sentence of a person, said without a condition: people can confirm it with one press."""
        wanted = letters_of(one.text)
        return bool(wanted) and any(
            letters_of(sentence) == wanted and not self._check.leaves_open(sentence)
            for turn in self._cited(one.turns)
            if turn.human
            for sentence in sentences_in(turn.text)
        )

    # --- claims ---

    def _insight(self, one: Insight, *, is_read: bool) -> Insight:
        """*is_read*: a rule copied it from a line. Another wording than that of its turns takes a second model."""
        speakers = [turn.name for turn in self._cited(one.turns)]
        by = tuple(name for name in one.by if name in speakers) if one.turns else one.by
        text = one.text.removeprefix(PROPOSED)
        why = one.unverified or self._doubts(text, one.turns)
        is_known = (
            is_read
            or one.agreed
            or text != one.text
            or any(stands_in(text, turn.text) for turn in self._cited(one.turns))
        )
        if not why and speakers and not is_known:
            why = NOT_CONFIRMED
        if why:
            self._note(one.text, why)
        return one.but(by=by or tuple(dict.fromkeys(speakers)), unverified=why)

    def _question(self, one: OpenQuestion) -> OpenQuestion:
        """It asserts nothing but what it takes for granted."""
        said = [f"{turn.name}: {turn.text}" for turn in self._cited(one.turns)]
        why = "; ".join(self._check.unsaid(one.text, said)) if said else ""
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
        people = (_QUOTED.sub(" ", turn.text) for turn in self._turns.values() if turn.human)
        return text if any(stands_in(own, said) for said in people) else f"{text} ({NOT_SAID})"

    def _summary(self, found: Synthesis) -> str:
        """
        A sentence that no person said is replaced by what was counted, since it goes into the record of the item. One
        that a rule counted stays.
        """
        if found.by_rule:
            return found.summary
        why = self._doubts(found.summary, ()) or self._unheard(found.summary)
        if not why and not self._decided and self._check.says_decided(found.summary):
            why = NOT_DECIDED
        if not why:
            return found.summary
        self._note(found.summary, why)
        counts = (
            (self._decisions, "decision"),
            (len(found.insights), "insight"),
            (len(found.questions), "open question"),
            (len(found.objections), "objection"),
        )
        return ", ".join(counted(number, thing) for number, thing in counts if number) or NOTHING_RECORDED

    def _unheard(self, summary: str) -> str:
        """Why it is not kept, where nobody used any word of one of its parts."""
        said = (*(turn.text for turn in self._turns.values()), *self._topics)
        heard = frozenset().union(*(content_words(_QUOTED.sub(" ", one)) for one in said))
        parts = map(content_words, _PARTS.split(summary))
        return NOT_SAID if any(len(part) > 1 and part.isdisjoint(heard) for part in parts) else ""

    # --- objections ---

    def _objections(self, given: Iterable[Objection]) -> Iterator[Objection]:
        """In place of its words, those of the turns that it names, where the record has no objection from there."""
        quoted: dict[str, Objection] = {}
        for one in given:
            cited = self._cited(one.turns)
            if not cited:
                self._note(one.text, NOT_OBJECTED)
            for turn in cited:
                if turn.line not in self._objected and not turn.stances:
                    words = one_line(turn.text, QUOTE_CHARS)
                    quoted[turn.id] = Objection(text=words, by=(turn.name,), turns=(turn.id,))
        yield from quoted.values()

    def _cited(self, turns: Iterable[str]) -> tuple[Turn, ...]:
        return tuple(self._turns[turn] for turn in turns if turn in self._turns)

    def _doubts(self, text: str, turns: Iterable[str]) -> str:
        """Held against the sentences about it in the turns that it names, or roughly against all that was said."""
        cited = self._cited(turns)
        if cited:
            about = content_words(text)
            quotes = [
                (Root(turn.name, turn.text), sentence)
                for turn in cited
                for sentence in sentences_in(turn.text)
                if not about.isdisjoint(content_words(sentence))
            ]
            why = self._check.flaws(text, quotes)
        else:
            said = (f"{turn.name}: {turn.text}" for turn in self._turns.values())
            why = self._check.unsaid(text, (*said, *self._topics))
        return "; ".join((*why, *self._in_their_name(text)))

    def _in_their_name(self, text: str) -> Iterator[str]:
        """A position of a speaker who gave it in no form."""
        for name in dict.fromkeys(turn.name for turn in self._turns.values()):
            stand = stand_of(name, text)
            if stand and name not in self._stand:
                yield f"{name} did not say “{stand}”"

    def _note(self, what: str, why: str) -> None:
        self._notes.append({"what": one_line(what, CLAIM_CHARS), "why": why})
