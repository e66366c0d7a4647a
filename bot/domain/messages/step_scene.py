"""What the card of a step shows, and which of the step's questions are answered."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from bot.domain.catalog.personas import Persona
from bot.domain.catalog.schema import PLAN_PAGE, Schema
from bot.domain.catalog.steps import Ask, Depth, Step
from bot.domain.discussion.board import BoardSide
from bot.domain.messages.message import CardPart, Link
from bot.domain.roundtable.marks import MessageMark
from bot.domain.roundtable.outcomes import DraftQuestion
from bot.domain.specification.claims import Entry, EntryState, StaleCause
from bot.domain.specification.coverage import CoverageGap, GapKind
from bot.domain.specification.entries import Specification
from bot.domain.values.value import Value

SUGGESTIONS_SHOWN = 8


class AskedQuestion(Value):
    """A question of the step, numbered from 1. `gaps` are what coverage misses of its answer."""

    number: int
    text: str
    is_answered: bool = False
    gaps: tuple[CoverageGap, ...] = ()

    @property
    def about(self) -> tuple[str, ...]:
        return tuple(gap.id for gap in self.gaps if gap.id)


class UnsortedNote(NamedTuple):
    """What a person said without a form. A letter is used once."""

    letter: str
    note: Entry

    @property
    def id(self) -> str:
        return self.note.id

    @property
    def person(self) -> str:
        claim = self.note.claim("text")
        return claim.owner.by if claim else ""


class NewestNote(Value):
    """
    The newest message of the step that is not sorted: the note, what else it was read as, and what a press may make of
    it, by the value of the button.
    """

    id: str
    text: str
    by: str
    read_as: tuple[str, ...] = ()
    offered: Mapping[str, str] = {}


class SuggestionState(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    LEFT_OUT = "left out"


class Suggestion(Value):
    """
    An entry that is proposed, or a proposed value of its *field*. `by` is who suggests, `sources` are links to
    what it rests on, labelled such as "what Ada said"; without an address, only the label is shown. A number is
    used once in a step. `asks` is the name of the author of a quoted decision or objection, who has to confirm it.
    """

    number: int
    id: str
    field: str = ""
    by: str
    sources: tuple[Link, ...] = ()
    state: SuggestionState = SuggestionState.OPEN
    decided_by: str = ""
    is_unchecked: bool = False
    """Nothing of it is checked: *Accept all* leaves it."""
    asks: str = ""

    @property
    def is_taken_alone(self) -> bool:
        return self.is_unchecked or bool(self.asks)


class StaleEntry(Value):
    """An entry that rests on a change, made `by` a person; `source` is the decision, or the place in git."""

    id: str
    cause: StaleCause
    by: str = ""
    source: str = ""


class SavedSection(Value):
    """A section that was committed, or a whole JSON or CSV file."""

    path: str
    heading: str = ""


@dataclass(frozen=True, kw_only=True)  # no slots, for the cached properties
class StepScene:
    """
    What a card shows. `first` stands before everything else: the hand-over, a greeting, welcome back. `prompt` is the
    step's own text with its placeholders filled. `drafted` are questions of a draft, with names in place of ids and
    keys. `heard` and `waiting` are names. `gaps` are those of `coverage.of_step`. `lines` are further sentences for the
    foot. `not_saved` says what is in no commit yet. `is_whole`: no list is cut, for a person who wants to read all of
    it. `thinks`: the persona has a model. `deeper`: how many steps *Go deeper* asks, on the card of a phase; 0 without
    it. `sides` says who is for each option of the step, by the id of its entry, where there is a choice. `left` is what
    a model drafted of the last step after that was finished; it has no numbers.
    """

    step: Step
    persona: Persona
    phase: str
    position: int
    steps_in_phase: int
    depth: Depth
    schema: Schema
    specification: Specification
    prompt: str = ""
    first: str = ""
    questions: tuple[AskedQuestion, ...] = ()
    drafted: tuple[DraftQuestion, ...] = ()
    heard: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    gaps: tuple[CoverageGap, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    left: tuple[Suggestion, ...] = ()
    stale: tuple[StaleEntry, ...] = ()
    unsorted: tuple[UnsortedNote, ...] = ()
    newest: NewestNote | None = None
    saved: tuple[SavedSection, ...] = ()
    not_saved: str = ""
    marks: tuple[MessageMark, ...] = ()
    lines: tuple[str, ...] = ()
    notes: tuple[CardPart, ...] = ()
    is_whole: bool = False
    thinks: bool = False
    deeper: int = 0
    sides: Mapping[str, BoardSide] = field(default_factory=dict)

    @property
    def step_id(self) -> str:
        return self.step.step_id

    @property
    def is_plan(self) -> bool:
        """It belongs to no phase, and asks the same at every depth."""
        return any(view.file == PLAN_PAGE for view in self.schema.of_step(self.step_id))

    @property
    def is_draft(self) -> bool:
        """In brief mode the suggestions are the card: a draft that is gone through line by line."""
        return self.depth is Depth.BRIEF and bool(self.suggestions)

    @property
    def is_untouched(self) -> bool:
        return not (self.heard or self.suggestions or self.unsorted)

    @cached_property
    def is_covered(self) -> bool:
        """
        Whether coverage knows what is missing: the sections have needs, and there are entries to look at. The card of
        a phase asks its own questions and no more.
        """
        if self.step.is_card:
            return False
        needs = any(view.needs for view in self.schema.of_step(self.step_id))
        entries = (
            one for kind in self.schema.shown_in(self.step_id) for one in self.specification.active(kind.key)
        )
        return needs and any(one.state is EntryState.ACCEPTED for one in entries)

    @cached_property
    def unanswered(self) -> tuple[AskedQuestion, ...]:
        """Where coverage knows what is missing, only the questions about that."""
        is_covered = self.is_covered
        return tuple(one for one in self.questions if not one.is_answered and (one.gaps or not is_covered))

    @cached_property
    def also_asked(self) -> tuple[AskedQuestion, ...]:
        """Without an answer under their number; the entries may be one."""
        unanswered = self.unanswered
        return tuple(one for one in self.questions if not one.is_answered and one not in unanswered)

    @property
    def open_points(self) -> int:
        """What the card asks: questions without an answer, what coverage misses beyond them, and what is doubtful."""
        asked = self.asked_gaps
        missing = self.missing if self.is_covered or not self.unanswered else ()
        doubtful = sum(gap.kind is not GapKind.MISSING for gap in self.gaps)
        return len(self.unanswered) + sum(gap not in asked for gap in missing) + doubtful + len(self.drafted)

    @cached_property
    def asked_gaps(self) -> frozenset[CoverageGap]:
        """What questions on the card are about."""
        drafted = {one.gap for one in self.drafted}
        asked = (gap for one in self.unanswered for gap in one.gaps)
        return frozenset((*asked, *(gap for gap in self.gaps if gap.key in drafted)))

    @property
    def open_suggestions(self) -> tuple[Suggestion, ...]:
        return tuple(one for one in self.suggestions if one.state is SuggestionState.OPEN)

    @cached_property
    def listed_suggestions(self) -> tuple[Suggestion, ...]:
        """A draft shows what became of each line; else what was accepted stands among the entries."""
        kept = {SuggestionState.OPEN, SuggestionState.LEFT_OUT}
        return tuple(one for one in self.suggestions if self.is_draft or one.state in kept)

    @property
    def shown_suggestions(self) -> tuple[Suggestion, ...]:
        """Where there is no room for all, those that are open come first, and the newest of the others."""
        every = self.listed_suggestions
        if self.is_whole or len(every) <= SUGGESTIONS_SHOWN:
            return every
        settled = [one for one in every if one.state is not SuggestionState.OPEN]
        kept = [*self.open_suggestions, *reversed(settled)][:SUGGESTIONS_SHOWN]
        return tuple(one for one in every if one in kept)

    @property
    def shown_open(self) -> tuple[int, ...]:
        """The numbers of the suggestions on the card that can be accepted."""
        return tuple(one.number for one in self.shown_suggestions if one.state is SuggestionState.OPEN)

    @property
    def shown_checked(self) -> tuple[int, ...]:
        """Those that *Accept all* takes."""
        alone = {one.number for one in self.shown_suggestions if one.is_taken_alone}
        return tuple(number for number in self.shown_open if number not in alone)

    @cached_property
    def missing(self) -> tuple[CoverageGap, ...]:
        """Without what a question asks that people answered under its number, in words that became no entry."""
        answered = {gap for one in self.questions if one.is_answered for gap in one.gaps if not gap.id}
        found = () if self.step.is_card else _missing(self.gaps, self.specification)
        return tuple(gap for gap in found if gap not in answered)


def asked(
    questions: Sequence[str],
    asks: Mapping[int, Ask],
    schema: Schema,
    specification: Specification,
    step_id: str,
    *,
    gaps: Iterable[CoverageGap] = (),
    answered: Collection[int] = (),
) -> tuple[AskedQuestion, ...]:
    """
    Which of the *questions* of a step (their placeholders filled) are answered: by a note under their number, by words
    with it that became something else (*answered*), or by entries of what it *asks*, where coverage misses none.
    """
    noted = {*answered, *specification.noted.get(step_id, ())}
    missing = _missing(gaps, specification)
    found = []
    for number, text in enumerate(questions, start=1):
        ask = asks.get(number)
        lacking = [gap for gap in missing if ask and _is_about(gap, ask, schema)]
        is_answered = number in noted or (ask is not None and not lacking and is_given(ask, specification))
        found.append(AskedQuestion(number=number, text=text, is_answered=is_answered, gaps=tuple(lacking)))
    return tuple(found)


def _missing(gaps: Iterable[CoverageGap], specification: Specification) -> tuple[CoverageGap, ...]:
    """Without what a suggestion lacks: it has to be accepted first."""
    proposed = {one.id for one in specification.besides_notes if one.state is EntryState.PROPOSED}
    return tuple(gap for gap in gaps if gap.kind is GapKind.MISSING and gap.id not in proposed)


def is_given(ask: Ask, specification: Specification) -> bool:
    accepted = specification.accepted(ask.kind)
    return any(not ask.field or one[ask.field] not in (None, "", ()) for one in accepted)


def _is_about(gap: CoverageGap, ask: Ask, schema: Schema) -> bool:
    """A missing part is about the part, not about what it belongs to."""
    if ask.field and gap.field not in {"", ask.field}:
        return False
    head = gap.field.partition(".")[0]
    kind = schema.of_id(gap.id) if gap.id else None
    key = head if head in schema.kinds else kind.key if kind else gap.facts[0] if gap.facts else ""
    return key == ask.kind
