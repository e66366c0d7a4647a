"""The voice without a model: what it says, and what it leaves to people."""

import asyncio
import re

import pytest

from bot.domain.messages.discussion_wording import NO_MODEL
from bot.domain.roundtable.effects import Speak
from bot.domain.roundtable.state import Answer, Roundtable
from bot.errors import VoiceError
from bot.voices.offline import OfflineVoices
from tests.specification.meeting import PLAYBOOK as SHIPPED
from tests.specification.meeting import Meeting as Paper
from tests.voices.people import (
    ADA,
    ALEX,
    BEN,
    CONTEXT,
    JORDAN,
    MAYA,
    Meeting,
    draft,
    roundtable,
)

CLAIMS = re.compile(
    r"\b(reviewed|analy[sz]ed|discussed|I (?:agree|recommend|suggest|believe))\b", re.IGNORECASE
)


def meeting(*said: str, step: str = "01-06") -> Meeting:
    """The discussion of a shipped step, of which people said this."""
    paper = Paper()
    for text in said:
        paper.say("ada", step, text)
    rt = roundtable(SHIPPED.agenda.step(step)).but(specification=paper.specification)
    return Meeting(rt, SHIPPED)


def opened(*said: str, step: str = "01-06") -> Meeting:
    """Framed, and the others had the floor."""
    held = meeting(*said, step=step)
    held.opens()
    held.speaks(ALEX)
    held.speaks(JORDAN)
    return held


# --- a step ---


@pytest.mark.parametrize("text", ["Exports lose 3 rows", "Who owns the archive?", "Keine Ahnung", "SQLite."])
def test_answers_are_not_judged(text: str) -> None:
    """A reaction acknowledges them; no line repeats them, and nothing is asked back."""
    said = draft(roundtable(CONTEXT).but(answers=(Answer(person=ADA, text=text, ts="1"),)))

    assert (said.text, said.questions) == ("", ())


@pytest.mark.parametrize(
    ("persona", "rt", "reason"),
    [("nobody", None, "unknown_persona"), (MAYA, roundtable(CONTEXT), "no_elaboration")],
)
def test_without_a_persona_or_a_discussion_it_raises(
    persona: str, rt: Roundtable | None, reason: str
) -> None:
    """A persona file may be removed while a roundtable runs."""
    cue = Meeting(roundtable(CONTEXT)).cue(persona)
    asked = Speak(persona=persona, task="turn", personas=(persona,))
    with pytest.raises(VoiceError) as refused:
        asyncio.run(OfflineVoices().turn(cue._replace(roundtable=rt) if rt else cue, asked))

    assert refused.value.reason == reason


# --- framing ---


def test_the_lead_frames_with_what_is_on_record_and_asks() -> None:
    """The step, the entries by id, a question that the schema asks, and that there is no model."""
    said = meeting(
        "Keep edits made offline\nAC: they survive a restart", "requirement: Sync soon", "ok so"
    ).opens()

    assert said == (
        "We just covered Core Feature Definition. On record: FR-001, AC-001-01, FR-002 and 1 note. "
        f"How would somebody see that FR-002 works? {NO_MODEL}"
    )


def test_the_lead_claims_nothing() -> None:
    """Not that anything was reviewed or discussed, and none of the words that people said."""
    said = meeting("We lose everything in tunnels", "Entscheidung: wir nehmen SQLite", step="01-01").opens()

    assert not CLAIMS.search(said)
    assert "tunnels" not in said
    assert "SQLite" not in said


def test_where_nothing_is_known_it_says_so() -> None:
    """A team's own step may have no view; nothing is asked for its own sake."""
    held = Meeting(roundtable(CONTEXT))

    assert held.opens() == f"We are at Business Context. Nothing is on record for it yet. {NO_MODEL}"


# --- listening ---


@pytest.mark.parametrize(
    "text", ["I think we need a queue.", "What breaks?", "Das sehe ich anders.", "everyone?"]
)
def test_personas_listen(text: str) -> None:
    """Whatever people say to each other, and the lead, too; nobody asks a question of their own."""
    held = opened()
    held.says(ADA, text)

    assert [held.speaks(persona) for persona in (MAYA, ALEX, JORDAN)] == ["", "", ""]


def test_who_is_addressed_by_name_says_once_that_there_is_no_model() -> None:
    """The lead has said so when it framed the discussion."""
    held = opened()

    said = held.says(BEN, "Alex, was meinst du?").speaks(ALEX)
    assert said == NO_MODEL
    assert held.says(BEN, "Alex, und jetzt?").speaks(ALEX) == ""
    assert held.says(BEN, "Maya, what about you?").speaks(MAYA) == ""


# --- what people say ---


def recorded(held: Meeting) -> list[tuple[str, str]]:
    found = held.rt.specification.entries.values()
    return [
        (one.kind, str(one["text"])) for one in found if one.kind not in {"discussion", "position", "option"}
    ]


def test_only_what_has_a_label_becomes_an_entry() -> None:
    """A label makes an entry of their words; all else is a note, which they may sort."""
    held = opened()
    held.says(ADA, "Two editors at once are common in spring. We counted 11 conflicts.")
    held.says(BEN, "Decision: both edits are kept\nSo nobody loses work.")
    held.says(ADA, "Objection: nobody reads two versions")
    held.says(BEN, "open question: who merges them?\ntodo: ask Graz\ninsight: it is worse in tunnels")
    held.says(ADA, "lol ok")

    assert recorded(held) == [
        ("note", "Two editors at once are common in spring. We counted 11 conflicts."),
        ("decision", "both edits are kept"),
        ("note", "So nobody loses work."),
        ("objection", "nobody reads two versions"),
        ("question", "who merges them?"),
        ("action", "ask Graz"),
        ("insight", "it is worse in tunnels"),
    ]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("for A", ""),
        ("for A, because it needs no server", "because it needs no server"),
        ("ok. for B", ""),
        ("B works for me. Support asks for one counter", "Support asks for one counter"),
        ("A, very sure. Redis was down twice in October", "Redis was down twice in October"),
        ("position: A, very sure, because it is simple", "it is simple"),
    ],
)
def test_the_rest_of_a_position_is_its_reason_and_no_note(said: str, why: str) -> None:
    held = opened()
    held.says(BEN, "Option A: a bucket in each gateway Option B: one counter in Redis").says(ADA, said)

    (position,) = held.rt.specification.active("position")
    assert (position["why"] or "") == why
    assert recorded(held) == []


def test_words_that_were_no_position_yet_are_a_note() -> None:
    """The options came later."""
    held = opened()
    held.says(ADA, "A works for me if it fails open").says(BEN, "option: a bucket in each gateway")

    assert recorded(held) == [("note", "A works for me if it fails open")]


def test_what_sounds_like_a_decision_is_none() -> None:
    """Only an explicit mark or a button decides."""
    held = opened()
    held.says(ADA, "So we go with the queue then, agreed.")
    held.says(BEN, "I'm against it, that will never work. Who merges them?")

    assert {kind for kind, _ in recorded(held)} == {"note"}
