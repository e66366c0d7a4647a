"""What personas say in a discussion without a model: what is on record, what is missing, and that there is none."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.domain.catalog.agenda import Playbook
from bot.domain.catalog.personas import AddressKind, Persona
from bot.domain.catalog.schema import NOTE, Kind, Schema
from bot.domain.catalog.steps import Step
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.messages import discussion_wording
from bot.domain.roundtable.state import Roundtable
from bot.domain.specification.coverage import CoverageGap, GapKind, of_step
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.values.text import counted, listed

ENTRIES_NAMED = 12
GAPS_NAMED = 5


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
    """The step, what is on record and what is missing, the question that the step asks first, and that no model is."""
    covered = here.step.title if here.step else here.debate.topic
    gaps = of_step(here.playbook.schema, here.specification, here.debate.step_id)
    parts = (
        _so_far(here, covered),
        _missing(here, gaps),
        next((gap.ask for gap in gaps if gap.ask), ""),
        discussion_wording.NO_MODEL,
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
    """`risk`, `FR-002 (acceptance criterion)`, `FR-003 (contested)`."""
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


def _shortened(names: list[str], most: int) -> list[str]:
    more = len(names) - most
    return [*names[:most], f"{more} more"] if more > 0 else names


# --- who speaks ---


def is_asked(here: Situation) -> bool:
    """Whether a person spoke to the persona by name, which has not said yet that it has no model."""
    debate, key = here.debate, here.persona.key
    if any(turn.by == key and discussion_wording.NO_MODEL in turn.text for turn in debate.turns):
        return False
    words = (turn.text for turn in debate.turns if turn.human)
    addresses = (here.playbook.roster.addressed(text, lead=debate.lead) for text in words)
    return any(one.kind is AddressKind.DIRECT and key in one.personas for one in addresses)
