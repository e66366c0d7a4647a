"""
The voice without a model. It names what is on record, asks what is still open, and says once that there is no model.
It judges nothing and guesses nothing.
"""

from bot.domain.catalog.personas import AddressKind, Persona
from bot.domain.catalog.schema import NOTE
from bot.domain.discussion.elaboration import Contribution, Elaboration, TurnKind
from bot.domain.messages import discussion_wording
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.outcomes import DraftReview
from bot.domain.specification.coverage import of_step
from bot.domain.specification.entries import NOT_LISTED, Specification
from bot.domain.values.text import counted, listed
from bot.engine.ports import NO_FACTS, Facts, Speech, TurnSpeech, VoiceContext
from bot.errors import VoiceError

ENTRIES_NAMED = 12


class OfflineVoices:
    """Needs no network. Raises VoiceError only when there is no such persona, or no discussion."""

    async def draft(self, cue: VoiceContext) -> Speech:  # noqa: ARG002
        """Nothing: what is not said in a form is not guessed, and whether an answer is good is not judged."""
        return Speech("", by_rule=True)

    async def turn(self, cue: VoiceContext, asked: Speak) -> TurnSpeech:
        """The lead opens. Who is asked by name says that there is no model, once."""
        persona, debate, said = persona_of(cue), debate_of(cue), ""
        if asked.turn is TurnKind.OPENING and not debate.framed and cue.persona == debate.lead:
            said = _frame(cue, debate)
        elif asked.turn is TurnKind.ASKED and _is_asked(cue, persona, debate):
            said = discussion_wording.NO_MODEL
        found = Contribution(persona=cue.persona, text=said, by_rule=True)
        return TurnSpeech((found,) if said else (), by_rule=True)

    async def review(self, cue: VoiceContext) -> tuple[DraftReview, Facts]:  # noqa: ARG002
        """Nothing: it confirms nothing, and objects to nothing."""
        return DraftReview(), NO_FACTS


def persona_of(cue: VoiceContext) -> Persona:
    if persona := cue.playbook.roster.get(cue.persona):
        return persona
    raise VoiceError(f"There is no persona {cue.persona!r}.", reason="unknown_persona")


def debate_of(cue: VoiceContext) -> Elaboration:
    if cue.roundtable.elaboration is None:
        raise VoiceError("There is no discussion to speak in.", reason="no_elaboration")
    return cue.roundtable.elaboration


# --- framing ---


def _frame(cue: VoiceContext, debate: Elaboration) -> str:
    """The step, what is on record, the first question that is still open, and that no model is there."""
    known, step = cue.roundtable.specification, cue.playbook.agenda.get(debate.step_id)
    gaps = of_step(cue.playbook.schema, known, debate.step_id)
    parts = (
        _so_far(known, debate.step_id, step.title if step else debate.topic),
        next((gap.ask for gap in gaps if gap.ask), ""),
        discussion_wording.NO_MODEL,
    )
    return " ".join(filter(None, parts))


def _so_far(known: Specification, step_id: str, covered: str) -> str:
    living = [one for one in known.entries.values() if one.step == step_id and known.lives(one.id)]
    notes = sum(one.kind == NOTE for one in living)
    ids = [one.id for one in living if one.kind not in NOT_LISTED]
    more = len(ids) - ENTRIES_NAMED
    found = [
        *ids[:ENTRIES_NAMED],
        *([f"{more} more"] if more > 0 else []),
        *([counted(notes, "note")] if notes else []),
    ]
    if not found:
        return f"We are at {covered}. Nothing is on record for it yet."
    return f"We just covered {covered}. On record: {listed(found)}."


def _is_asked(cue: VoiceContext, persona: Persona, debate: Elaboration) -> bool:
    """Whether a person spoke to the persona by name, which has not said yet that it has no model."""
    if any(turn.by == persona.key and discussion_wording.NO_MODEL in turn.text for turn in debate.turns):
        return False
    words = (turn.text for turn in debate.turns if turn.human)
    addresses = (cue.playbook.roster.addressed(text, lead=debate.lead) for text in words)
    return any(one.kind is AddressKind.DIRECT and persona.key in one.personas for one in addresses)
