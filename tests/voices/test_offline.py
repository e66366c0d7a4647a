"""The voice without a model: what it says, and what it leaves to people."""

import re

import pytest

from bot.domain.catalog.agenda import Playbook
from bot.domain.discussion.elaboration import Elaboration, TurnKind
from bot.domain.messages.discussion_wording import NO_MODEL
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Roundtable
from bot.engine.ports import VoiceContext
from bot.errors import VoiceError
from bot.voices.offline import OfflineVoices
from tests.specification.meeting import PLAYBOOK as SHIPPED
from tests.specification.meeting import Meeting as Paper
from tests.voices.minds import cue, debating
from tests.voices.people import ADA, ALEX, BEN, CONTEXT, JORDAN, MAYA, PLAYBOOK, roundtable

CLAIMS = re.compile(
    r"\b(reviewed|analy[sz]ed|discussed|I (?:agree|recommend|suggest|believe))\b", re.IGNORECASE
)


async def turn(
    rt: Roundtable, persona: str, *, kind: TurnKind = TurnKind.ASKED, playbook: Playbook = PLAYBOOK
) -> str:
    asked = Speak(persona=persona, task="turn", turn=kind, personas=(persona,))
    speech = await OfflineVoices().turn(VoiceContext(rt, playbook, persona), asked)
    return " ".join(one.text for one in speech.contributions)


async def opening(*said: str, step_id: str) -> str:
    """Of the lead, in the discussion of a shipped step, of which people said this."""
    paper, step = Paper(), SHIPPED.agenda.step(step_id)
    for text in said:
        paper.say("ada", step_id, text)
    debate = Elaboration(step_id=step_id, lead=MAYA, topic=step.title, max_turns=100)
    rt = roundtable(step).but(specification=paper.specification, elaboration=debate)
    return await turn(rt, MAYA, kind=TurnKind.OPENING, playbook=SHIPPED)


async def test_answers_are_not_judged() -> None:
    """A reaction acknowledges them; no line repeats them, and nothing is asked back."""
    said = await OfflineVoices().draft(cue(roundtable(CONTEXT, (ADA, "Exports lose 3 rows"))))

    assert (said.text, said.questions) == ("", ())


@pytest.mark.parametrize(
    ("rt", "persona", "reason"),
    [(debating(), "nobody", "unknown_persona"), (roundtable(CONTEXT), MAYA, "no_elaboration")],
)
async def test_without_a_persona_or_a_discussion_it_raises(rt: Roundtable, persona: str, reason: str) -> None:
    """A persona file may be removed while a roundtable runs."""
    with pytest.raises(VoiceError) as refused:
        await turn(rt, persona)

    assert refused.value.reason == reason


async def test_the_lead_frames_with_what_is_on_record_and_asks() -> None:
    """The step, the entries by id, a question that the schema asks, and that there is no model."""
    said = ("Keep edits made offline\nAC: they survive a restart", "requirement: Sync soon", "ok so")

    assert await opening(*said, step_id="01-06") == (
        "We just covered Core Feature Definition. On record: FR-001, AC-001-01, FR-002 and 1 note. "
        f"How would somebody see that FR-002 works? {NO_MODEL}"
    )


async def test_the_lead_claims_nothing() -> None:
    """Not that anything was reviewed or discussed, and none of the words that people said."""
    said = await opening("We lose everything in tunnels", "Entscheidung: wir nehmen SQLite", step_id="01-01")

    assert not CLAIMS.search(said)
    assert "tunnels" not in said
    assert "SQLite" not in said


async def test_where_nothing_is_known_it_says_so() -> None:
    """A team's own step may have no view; nothing is asked for its own sake."""
    assert await turn(debating(), MAYA, kind=TurnKind.OPENING) == (
        f"We are at Business Context. Nothing is on record for it yet. {NO_MODEL}"
    )


FRAMED = (MAYA, f"We are at Business Context. {NO_MODEL}")


@pytest.mark.parametrize("text", ["What breaks?", "Das sehe ich anders.", "everyone?"])
async def test_personas_listen(text: str) -> None:
    """Whatever people say to each other, and the lead, too; nobody asks a question of their own."""
    rt = debating(FRAMED, (ADA, text))

    assert [await turn(rt, persona) for persona in (MAYA, ALEX, JORDAN)] == ["", "", ""]


async def test_who_is_addressed_by_name_says_once_that_there_is_no_model() -> None:
    """The lead has said so when it framed the discussion."""
    asked = (BEN, "Alex, was meinst du?")

    assert await turn(debating(FRAMED, asked), ALEX) == NO_MODEL
    assert await turn(debating(FRAMED, asked, (ALEX, NO_MODEL), (BEN, "Alex, und jetzt?")), ALEX) == ""
    assert await turn(debating(FRAMED, (BEN, "Maya, what about you?")), MAYA) == ""
