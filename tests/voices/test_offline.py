"""What the port promises, kept without a model."""

import asyncio

import pytest

from bot.engine.ports import VoiceContext, Voices
from bot.errors import VoiceError
from bot.voices.offline.offline import OfflineVoices
from tests.voices.people import (
    ADA,
    ALEX,
    BEN,
    CONTEXT,
    FEATURES,
    JORDAN,
    MAYA,
    PLAYBOOK,
    Meeting,
    roundtable,
    written,
)


def test_it_is_a_voice() -> None:
    """The type checker holds it to the port."""
    voices: Voices = OfflineVoices()

    assert asyncio.run(voices.acknowledge(VoiceContext(roundtable(CONTEXT), PLAYBOOK, MAYA))).text == ""


def test_a_persona_that_is_gone_cannot_speak() -> None:
    """A persona file may be removed while a roundtable runs: that is said with a reason, not guessed around."""
    with pytest.raises(VoiceError) as refused:
        asyncio.run(OfflineVoices().acknowledge(VoiceContext(roundtable(CONTEXT), PLAYBOOK, "nobody")))

    assert refused.value.reason == "unknown_persona"


def test_without_a_discussion_there_is_nothing_to_respond_to() -> None:
    """Nothing is made up for want of it."""
    with pytest.raises(VoiceError) as refused:
        asyncio.run(OfflineVoices().respond(VoiceContext(roundtable(CONTEXT), PLAYBOOK, MAYA)))

    assert refused.value.reason == "no_elaboration"


def test_colleagues_that_said_nothing_to_quote_are_built_on_all_the_same() -> None:
    """A contribution of a model need not hold a question, nor any words."""
    meeting = Meeting(roundtable(CONTEXT, (ADA, "Rows are lost")))
    assert meeting.speaks(ALEX).endswith("?")

    meeting.debate = meeting.debate.spoken(by=MAYA, name="Maya", text="Finance is hurt by this.")
    assert meeting.speaks(JORDAN).startswith("Let me add to what Maya said.")


def test_a_question_framed_for_somebody_keeps_its_author() -> None:
    """The lead passed on Ben's question: whoever builds on it names Ben."""
    meeting = Meeting(roundtable(CONTEXT, (BEN, "Who owns the archive?")))
    meeting.frames()

    assert meeting.speaks(ALEX).startswith("Next to Ben's question, one about feasibility.")


def test_lines_about_requirements_find_their_place_in_any_order() -> None:
    """Code, headers, criteria by number, criteria without a capability, and what is ruled out below a header."""
    page = written(
        roundtable(
            FEATURES,
            (
                ADA,
                "AC: before anything\nCapabilities:\n- Filter\n  - by date\nAC-001-01: it filters\n```filter(day)```",
            ),
            (
                BEN,
                "Out of scope:\n- saved filters\n- Printing\nLater:\n- filter\nEmail is out of scope for now",
            ),
        )
    )["requirements-spec.md"]

    assert "### FR-001: Filter\n\n- AC-001-01: it filters — Ada\n- Note: by date — Ada\n" in page
    assert "- Traces: step 01-06 (Ada, Ben)" in page
    assert "- before anything — Ada" in page
    assert "    filter(day)" in page
    assert page.endswith("- saved filters — Ben\n- Printing — Ben\n- Email is out of scope for now — Ben\n")
