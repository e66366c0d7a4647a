"""
What personas say in a discussion without a model: the lead's framing, and prepared questions.

A prepared question is chosen by what coverage finds missing, and is asked once in an item, by any persona.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import AddressKind, Persona, PreparedQuestion
from bot.domain.catalog.schema import NOTE, Kind, Schema
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages.step_wording import listed
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.coverage import CoverageGap, GapKind, coverage, of_step
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.values.text import counted

ENTRIES_NAMED = 12
GAPS_NAMED = 5
NO_ANSWER = "Without a model I cannot answer that, but I have a question of my own:"
NOTHING_PREPARED = "I have no further question prepared. Without a model I cannot judge this."


class Situation(NamedTuple):
    """Who is about to speak in which discussion."""

    rt: Roundtable
    playbook: Playbook
    persona: Persona
    debate: Elaboration

    @property
    def step(self) -> Step | None:
        return self.playbook.agenda.get(self.debate.step_id)

    @property
    def specification(self) -> Specification:
        return self.rt.specification


# --- framing ---


def frame(here: Situation) -> str:
    """In the seed's form: the step, what is on record and what is missing, a question, and a colleague by name."""
    covered = here.step.title if here.step else here.debate.topic
    gaps = _gaps_of_step(here)
    parts = (
        _so_far(here, covered),
        _missing(here, gaps),
        "I think we could benefit from all our perspectives on:",
        next((gap.ask for gap in gaps if gap.ask), f"{here.debate.topic}."),
        _asking_colleague(here),
    )
    return " ".join(filter(None, parts))


def _so_far(here: Situation, covered: str) -> str:
    known = here.specification
    living = [
        one for one in known.entries.values() if one.step == here.debate.step_id and known.lives(one.id)
    ]
    notes = sum(one.kind == NOTE for one in living)
    named = _shortened([one.id for one in living if one.kind not in NOT_LISTED], ENTRIES_NAMED)
    found = [*named, *([counted(notes, "note")] if notes else [])]
    if not found:
        return f"We are at {covered}. Nothing is on record for it yet."
    return f"We just covered {covered}. On record: {listed(found)}."


def _missing(here: Situation, gaps: Sequence[CoverageGap]) -> str:
    named = (_described(gap, here.playbook.schema, here.specification) for gap in gaps)
    found = _shortened(list(dict.fromkeys(named)), GAPS_NAMED)
    return f"Missing or open: {listed(found)}." if found else ""


def _described(gap: CoverageGap, schema: Schema, specification: Specification) -> str:
    """`risk`, `FR-002 (acceptance criterion)`, `FR-003 (vague)`."""
    if gap.id in specification.entries:
        kind = schema.kinds.get(specification.entries[gap.id].kind)
        what = _field_name(gap.field, kind, schema) if gap.kind is GapKind.MISSING else _doubt(gap)
        return f"{gap.id} ({what})"
    name = gap.facts[0] if gap.facts else gap.kind.value
    shown = schema.kinds[name].name.lower() if name in schema.kinds else name
    return shown if gap.kind is GapKind.MISSING else f"{shown} ({_doubt(gap)})"


def _doubt(gap: CoverageGap) -> str:
    return "to be confirmed again" if gap.kind is GapKind.STALE else gap.kind.value


def _field_name(field: str, kind: Kind | None, schema: Schema) -> str:
    """Of a field, of the kind of a part, or of the kind that should name the entry."""
    other, _, _ = field.partition(".")
    if kind and field in kind.fields:
        return (kind.fields[field].label or field).lower()
    return schema.kinds[other].name.lower() if other in schema.kinds else field


def _asking_colleague(here: Situation) -> str:
    others = here.playbook.roster.others(here.persona.key)
    if not others:
        return "What do you all think?"
    lens = others[0].lens
    article = "an" if lens[:1].lower() in {*"aeiou"} else "a"
    return f"{others[0].first_name}, what is your take from {article} {lens} perspective?"


def _shortened(names: list[str], most: int) -> list[str]:
    more = len(names) - most
    return [*names[:most], f"{more} more"] if more > 0 else names


# --- who speaks ---


def has_floor(here: Situation) -> bool:
    """In the opening each persona but the lead, once; afterwards only a persona that is addressed by name."""
    return _opens(here) or is_addressed(here)


def is_addressed(here: Situation) -> bool:
    """Whether a person spoke to the persona by name since it last had the floor."""
    since = max(0, here.debate.last_had_floor(here.persona.key))
    addresses = (
        here.playbook.roster.addressed(turn.text, lead=here.debate.lead)
        for turn in here.debate.turns[since:]
        if turn.human
    )
    return any(one.kind is AddressKind.DIRECT and here.persona.key in one.personas for one in addresses)


def _opens(here: Situation) -> bool:
    debate, key = here.debate, here.persona.key
    is_first = debate.last_had_floor(key) < 0 and not debate.first_round and not debate.resumed
    return is_first and key != debate.lead


def is_asked(here: Situation) -> bool:
    """Whether the newest words of a person are a question to the persona by name, which it cannot answer."""
    newest = next((turn.text for turn in reversed(here.debate.turns) if turn.human), "")
    return newest.rstrip().endswith(("?", "？")) and is_addressed(here)


def own_question(text: str) -> str:
    return text.removeprefix(NO_ANSWER).lstrip()


# --- prepared questions ---


def next_question(here: Situation) -> str:
    """About what the step lacks, else what the item lacks so far, else one that always fits. Empty if none is left."""
    asked = {*here.rt.questions_asked, *(own_question(turn.text) for turn in here.debate.turns)}
    left = [
        one
        for one in here.persona.questions
        if one.text not in asked and "{" not in one.text  # a placeholder of earlier persona files
    ]
    for lack in chain(_lacks(_gaps_of_step(here), here), _lacks(_gaps_so_far(here), here)):
        if found := next((one.text for one in left if _is_about(one, lack)), ""):
            return found
    return next((one.text for one in left if not one.about), "")


def _lacks(gaps: Sequence[CoverageGap], here: Situation) -> Iterator[str]:
    """What the gaps are, in the words of persona files: `risk`, `requirement.criterion`, `contested`."""
    for gap in gaps:
        entry = here.specification.entries.get(gap.id)
        if gap.kind is not GapKind.MISSING:
            yield gap.kind.name.lower()
        elif entry:
            yield f"{entry.kind}.{gap.field}"
        elif gap.facts:
            yield gap.facts[0]


def _is_about(question: PreparedQuestion, lack: str) -> bool:
    """`risk` is about a missing risk only; `requirement.story` about `requirement.story.traces`, too."""
    return any(one == lack or ("." in one and lack.startswith(f"{one}.")) for one in question.about)


def _gaps_of_step(here: Situation) -> tuple[CoverageGap, ...]:
    return of_step(here.playbook.schema, here.specification, here.debate.step_id)


def _gaps_so_far(here: Situation) -> tuple[CoverageGap, ...]:
    steps = {*here.rt.steps_completed, here.debate.step_id}
    return coverage(here.playbook.schema, here.specification, steps, proposed=False)
