"""A synthesis says nothing that was not said: not in a person's name, not about an objection, not with a source."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.discussion.attesting import NOT_DECIDED, NOT_OBJECTED, attested
from bot.domain.discussion.elaboration import Elaboration, Turn
from bot.domain.discussion.synthesis import (
    Decision,
    Insight,
    Objection,
    OpenQuestion,
    Synthesis,
)
from bot.domain.roundtable.inputs import Say
from bot.domain.roundtable.state import Roundtable
from bot.domain.roundtable.transitions import deciding, syntheses
from bot.domain.specification.checks import check_for
from bot.domain.transcript.lines import LinePhase
from tests.domain.blocks import PLAYBOOK, roundtable
from tests.domain.table import person
from tests.meetings.script import DONE, Played, Said, Script, played
from tests.meetings.test_synthesis import HEARD, HOLDOUT

DOUBT = Said("I am not convinced yet.")
"""Turn t04, of Ada."""


def held(synthesis: Synthesis, *people: Said) -> Played:
    return played(Script(HOLDOUT, [*people, DONE], [synthesis]))


def saying(*insights: Insight, **more: Any) -> Synthesis:
    return Synthesis(
        insights=insights, **{"objections": (HEARD,), "summary": "Storage was discussed", **more}
    )


def test_a_decision_that_nobody_made_is_in_nobodys_name() -> None:
    """Ada was not convinced; the model has her ship on Friday."""
    invented = Decision(text="Ship on Friday", by="Ada", turns=("t04",))
    meeting = held(saying(decisions=(invented,)), DOUBT)

    assert "#### Decisions Made\n- None recorded." in meeting.shown.text
    assert "Proposed, and not decided: Ship on Friday [t04]" in meeting.shown.text
    assert {"what": "Ship on Friday", "why": NOT_DECIDED} in meeting.synthesis.meta["unverified"]


def test_a_sentence_of_a_person_can_be_confirmed_as_a_decision() -> None:
    """Proposed with its source, and no more than that until somebody presses."""
    quoted = Decision(text="We ship on Friday", by="Ada", turns=("t04",))
    meeting = held(saying(decisions=(quoted,)), Said("Fine. We ship on Friday."))
    (patch,) = (one for one in meeting.synthesis.meta["entries"] if one.get("kind") == "decision")

    assert patch["set"]["text"] == "We ship on Friday"
    assert len(patch["sources"]) == 1
    assert "#### Decisions Made\n- None recorded." in meeting.shown.text


def test_a_question_is_no_sentence_to_confirm() -> None:
    """Ada asked; she did not say so."""
    asked = Decision(text="We ship on Friday", by="Ada", turns=("t04",))
    meeting = held(saying(decisions=(asked,)), Said("We ship on Friday?"))

    assert not [one for one in meeting.synthesis.meta["entries"] if one.get("kind") == "decision"]


def test_an_objection_cannot_be_made_small_or_withdrawn() -> None:
    """It stays in Jordan's words and open."""
    small = HEARD.but(text="A small question about wording")
    meeting = held(saying(objections=(small,)))

    assert "- [Jordan] storage: SQLite (“In a tunnel there is no server.”): open" in meeting.shown.text
    assert "small question" not in meeting.shown.text


def test_an_objection_that_nobody_made_is_left_out() -> None:
    """It names no turn; the record says that it was there."""
    made_up = Objection(text="Legal objects", by=("Maya",))
    meeting = held(saying(objections=(HEARD, made_up)))

    assert "Legal objects" not in meeting.shown.text
    assert {"what": "Legal objects", "why": NOT_OBJECTED} in meeting.synthesis.meta["unverified"]


def test_a_number_that_the_turn_does_not_say_is_marked() -> None:
    """In the thread, in the file, and on the proposed entry; what is said stands as it is."""
    false = Insight(text="40% of the edits drop", by=("Alex",), turns=("t02",))
    true = Insight(text="Redis takes 2 ms", by=("Alex",), turns=("t02",), agreed=True)
    meeting = held(saying(false, true))
    marked = {one["set"]["text"]: one.get("unverified") for one in meeting.synthesis.meta["entries"][:2]}

    assert "- [Alex] *unverified* (no line says this): 40% of the edits drop [t02]" in meeting.shown.text
    assert "- [Alex] Redis takes 2 ms [t02]" in meeting.shown.text
    assert marked == {
        "40% of the edits drop": {"text": "no line says this"},
        "Redis takes 2 ms": None,
    }


def test_an_insight_is_of_those_who_spoke_in_its_turns() -> None:
    """A model cannot give somebody's words to others."""
    borrowed = Insight(text="Redis takes 2 ms", by=("Jordan", "Ada"), turns=("t02",), agreed=True)

    assert "- [Alex] Redis takes 2 ms [t02]" in held(saying(borrowed), DOUBT).shown.text


def test_a_question_and_an_action_take_nothing_false_for_granted() -> None:
    """What they mention has to have been said."""
    meeting = held(
        saying(
            questions=(OpenQuestion(text="Who pays the 900 €?", turns=("t03",)),),
            actions=("Tell Zoe that it ships on Friday",),
        )
    )

    assert "- *unverified* (the line does not say “900 €”): Who pays the 900 €? [t03]" in meeting.shown.text
    assert "(unverified: the line does not say “Friday”)" in meeting.shown.text


def test_nobody_is_said_to_stand_where_they_did_not_say_it() -> None:
    """Ada gave a fact, and never said what she wants; Grace did, and Jordan has a position on record."""
    meeting = held(
        saying(
            Insight(text="Ada wants SQLite", by=("Ada",), turns=("t04",)),
            Insight(text="Grace wants a test", by=("Grace",), turns=("t05",), agreed=True),
            Insight(text="Jordan prefers SQLite", by=("Jordan",), turns=("t03",)),
        ),
        Said("Devices have 500 MB."),
        Said("We should test it first.", who="grace"),
    )
    notes = {one["what"]: one["why"] for one in meeting.synthesis.meta.get("unverified", ())}

    assert "Ada did not say “wants”" in notes["Ada wants SQLite"]
    assert "Grace wants a test" not in notes
    assert "prefers" not in notes["Jordan prefers SQLite"]
    assert "Storage was discussed" not in notes


def test_an_action_is_of_people_or_only_proposed() -> None:
    """Words in quotation marks are somebody else's."""
    meeting = held(
        saying(actions=("Measure the queue", "Delete the archive", "Buy a rack (Ada)")),
        Said('Measure the queue. The old page says: "Delete the archive"'),
    )

    assert "- Measure the queue\n" in meeting.shown.text
    assert "- Delete the archive (proposed: no person said it)\n" in meeting.shown.text
    assert "- Buy a rack (Ada) (proposed: no person said it)\n" in meeting.shown.text


def test_the_summary_in_the_record_is_counted_when_nobody_said_it() -> None:
    """Nobody agreed to anything."""
    meeting = held(
        saying(Insight(text="Redis takes 2 ms", turns=("t02",)), summary="All agreed to ship on Friday")
    )
    (note,) = (one for one in meeting.synthesis.meta["unverified"] if one["what"].startswith("All agreed"))

    assert "“agreed”" in note["why"]


@pytest.mark.parametrize("summary", ["14 notes", "1 open question", "2 decisions"])
def test_what_a_rule_counted_stays_in_the_record(summary: str) -> None:
    """Its numbers are of entries: nobody has to have said them."""
    meeting = held(saying(objections=(), summary=summary, by_rule=True))

    assert meeting.synthesis.meta["change"]["elaborations"][0]["synthesis_summary"] == summary
    assert "unverified" not in meeting.synthesis.meta


def test_the_record_has_a_summary_where_there_is_nothing_to_count() -> None:
    meeting = held(saying(objections=(), actions=("Measure it",), summary="All agreed to ship on Friday"))

    assert meeting.synthesis.meta["change"]["elaborations"][0]["synthesis_summary"]


def discussed() -> Roundtable:
    """Ada decides and objects in one message, between two turns of personas."""
    turns = (
        Turn(id="t01", by="maya", name="Maya", text="Where do edits wait?", line="maya.1"),
        Turn(id="t02", by="alex", name="Alex", text="Redis takes 2 ms.", line="alex.1"),
    )
    debate = Elaboration(
        step_id="00-01", entry="DIS-001", lead="maya", topic="edits", max_turns=9, turns=turns
    )
    rt = roundtable(debate).but(people={"ada": "Ada"})
    event = Say(
        key="C1.9", at="2026-01-01T00:00:00.000Z", person=person("ada"), ts="9",
        text="Decision: keep a queue\nI object: it costs 40 €.",
    )  # fmt: skip
    line = rt.line_of(event.ts)
    rt = rt.but(elaboration=debate.heard(by="ada", name="Ada", text=event.text, ts=event.ts, line=line))
    rt, facts = deciding.said(rt, event, PLAYBOOK)
    return rt.heard(event.person, event.text, ts=event.ts, part=LinePhase.WORKSHOP, **facts)


DISCUSSED = discussed()
TEXTS = st.sampled_from(
    ["keep a queue", "it costs 40 €.", "ship on Friday", "never mind", "Redis takes 2 ms", "—"]
)
CITED = st.lists(st.sampled_from(["t01", "t02", "t03", "t99"]), max_size=2).map(tuple)
NAMES = st.sampled_from(["Ada", "Maya", "Alex", ""])
SYNTHESES = st.builds(
    Synthesis,
    insights=st.lists(st.builds(Insight, text=TEXTS, turns=CITED), max_size=3).map(tuple),
    decisions=st.lists(st.builds(Decision, text=TEXTS, by=NAMES, turns=CITED), max_size=3).map(tuple),
    objections=st.lists(st.builds(Objection, text=TEXTS, turns=CITED), max_size=3).map(tuple),
    summary=TEXTS,
)


@given(SYNTHESES)
def test_whatever_it_says_the_record_says_who_decided_and_who_objects(synthesis: Synthesis) -> None:
    """Ada's decision and her objection, word by word; nothing else is decided, and nothing is settled."""
    check = check_for(PLAYBOOK, DISCUSSED.people.values())
    added = attested(synthesis, DISCUSSED.discussed, check).synthesis
    block = syntheses.concluded_block(DISCUSSED, added, PLAYBOOK).block
    rows = [row.partition(" [t")[0] for row in block.objections]

    assert [row.partition(" [")[0] for row in block.decisions] == ["keep a queue (Ada)"]
    assert rows[0] == "[Ada] it costs 40 €: open"
    assert set(rows[1:]) <= {"[Maya] Where do edits wait?: open", "[Alex] Redis takes 2 ms: open"}
