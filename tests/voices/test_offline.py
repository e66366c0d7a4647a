"""The voice without a model: what it says, and what it leaves to people."""

import asyncio
import re

import pytest

from bot.domain.discussion import board, dissent
from bot.domain.discussion.elaboration import Decided, PersonStand
from bot.domain.discussion.synthesis import Decision, Insight, ObjectionOutcome, OpenQuestion
from bot.domain.messages import discussion_wording as wording
from bot.domain.roundtable.state import Answer, Roundtable
from bot.engine.ports import NO_FACTS, Speech, VoiceContext, Voices
from bot.errors import VoiceError
from bot.voices.offline.discussing import NO_ANSWER, NOTHING_PREPARED
from bot.voices.offline.offline import OfflineVoices
from tests.specification.meeting import PLAYBOOK as SHIPPED
from tests.specification.meeting import Meeting as Paper
from tests.voices.people import (
    ADA,
    ALEX,
    BEN,
    CONTEXT,
    JORDAN,
    MAYA,
    PLAYBOOK,
    ROSTER,
    Meeting,
    acknowledge,
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


def asked_about(speech: Speech, persona: str) -> tuple[str, ...]:
    """What the question is prepared for."""
    return next(one.about for one in SHIPPED.roster[persona].questions if one.text == speech.text)


def opened(*said: str, step: str = "01-06") -> Meeting:
    """Framed, and everybody has asked their question."""
    held = meeting(*said, step=step)
    held.frames()
    held.speaks(ALEX)
    held.speaks(JORDAN)
    held.debate = held.debate.round_over()
    return held


# --- the port ---


def test_it_is_a_voice() -> None:
    """The type checker holds it to the port."""
    voices: Voices = OfflineVoices()
    cue = VoiceContext(roundtable(CONTEXT), PLAYBOOK, MAYA)

    assert asyncio.run(voices.propose(cue, {})) == ((), NO_FACTS)


@pytest.mark.parametrize("text", ["Exports lose 3 rows", "Who owns the archive?", "Keine Ahnung", "SQLite."])
def test_answers_are_not_judged(text: str) -> None:
    """A reaction acknowledges them; no line repeats them, and nothing is asked back."""
    said = acknowledge(roundtable(CONTEXT).but(answers=(Answer(person=ADA, text=text, ts="1"),)))

    assert (said.text, said.satisfied) == ("", None)


@pytest.mark.parametrize(
    ("persona", "rt", "reason"),
    [("nobody", None, "unknown_persona"), (MAYA, roundtable(CONTEXT), "no_elaboration")],
)
def test_without_a_persona_or_a_discussion_it_raises(
    persona: str, rt: Roundtable | None, reason: str
) -> None:
    """A persona file may be removed while a roundtable runs."""
    cue = Meeting(roundtable(CONTEXT)).cue(persona)
    with pytest.raises(VoiceError) as refused:
        asyncio.run(OfflineVoices().respond(cue._replace(roundtable=rt) if rt else cue))

    assert refused.value.reason == reason


# --- framing ---


def test_the_lead_frames_with_what_is_on_record_and_missing() -> None:
    """In the seed's form: the step, the entries by id, the gaps, a question that the schema asks, a colleague."""
    said = meeting(
        "Keep edits made offline\nAC: they survive a restart", "requirement: Sync soon", "ok so"
    ).frames()

    assert said.startswith(
        "We just covered Core Feature Definition. On record: FR-001, AC-001-01, FR-002 and 1 note. Missing or open: "
    )
    assert "FR-002 (acceptance criterion)" in said
    assert "FR-002 (vague)" in said
    assert said.endswith(
        " I think we could benefit from all our perspectives on: How would somebody see that FR-002 works? "
        "Alex, what is your take from a feasibility, blast radius and risk perspective?"
    )


def test_the_lead_claims_nothing() -> None:
    """Not that anything was reviewed or discussed, and none of the words that people said."""
    said = meeting("We lose everything in tunnels", "Entscheidung: wir nehmen SQLite", step="01-01").frames()

    assert not CLAIMS.search(said)
    assert "tunnels" not in said
    assert "SQLite" not in said


def test_where_nothing_is_known_the_topic_is_the_question() -> None:
    """A team's own step may have no view, and one persona may be alone."""
    held = Meeting(roundtable(CONTEXT))

    assert held.frames() == (
        "We are at Business Context. Nothing is on record for it yet. I think we could benefit from all our "
        "perspectives on: Business Context. Alex, what is your take from a feasibility and risk perspective?"
    )


# --- prepared questions ---


def test_everybody_else_opens_with_a_question_about_what_is_missing() -> None:
    """From its own file, by its own lens; the questions count as no model's."""
    held = meeting("requirement: Filter the list")
    held.frames()
    alex, jordan = held.speaks(ALEX), held.speaks(JORDAN)

    assert "requirement.criterion" in asked_about(alex, ALEX)
    assert "requirement.criterion" in asked_about(jordan, JORDAN)
    assert alex.text != jordan.text
    assert (alex.by_rule, alex.prepared, alex.facts, alex.stances) == (True, alex.text, {}, ())


@pytest.mark.parametrize(
    ("said", "step", "lack"),
    [
        ("requirement: Filtern\nAC: in 2 s", "01-06", "exclusion"),
        ("risk: zwei ändern eine Zeile", "02-03", "risk.likelihood"),
        ("", "03-01", "option"),
        ("Sync(day) -> Entry", "04-02", "interface.errors"),
        ("limit: kein Netz\nEinwand: das ist zu teuer", "01-04", "objection"),
    ],
)
def test_a_question_is_chosen_by_what_coverage_lacks(said: str, step: str, lack: str) -> None:
    """In any language: only forms and fields are looked at."""
    held = meeting(said, step=step)
    held.frames()

    assert lack in asked_about(held.speaks(ALEX), ALEX)


def test_no_question_is_asked_twice_in_an_item() -> None:
    """Not in another discussion either, and not by another persona."""
    first = opened()
    asked = set(first.rt.questions_asked)
    second = Meeting(first.rt, SHIPPED)
    second.frames()

    assert len(asked) == 2
    assert asked.isdisjoint({second.speaks(ALEX).text, second.speaks(JORDAN).text})


def test_without_a_prepared_question_a_persona_passes_the_opening() -> None:
    """A persona file needs none; placeholders of earlier files are not filled by guessing."""
    roster = (ROSTER[MAYA], ROSTER[ALEX].but(questions=()), ROSTER[JORDAN])
    held = Meeting(roundtable(CONTEXT), PLAYBOOK)
    held.playbook = type(PLAYBOOK)(type(ROSTER)(roster), PLAYBOOK.agenda)
    held.frames()

    assert held.speaks(ALEX).passed
    assert held.speaks(JORDAN).text == "What exactly does the caller receive when this fails?"


# --- listening ---


@pytest.mark.parametrize(
    "text", ["I think we need a queue.", "What breaks?", "Das sehe ich anders.", "everyone?"]
)
def test_after_the_opening_personas_listen(text: str) -> None:
    """Whatever people say to each other, and the lead, too."""
    held = opened()
    held.says(ADA, text)

    assert all(held.speaks(persona).passed for persona in (MAYA, ALEX, JORDAN))


def test_a_persona_answers_when_it_is_addressed_by_name() -> None:
    """With a question that fits, as long as it has one; then it says so."""
    held = opened()
    asked = []
    while (said := held.says(BEN, "Alex, was meinst du?").speaks(ALEX)).prepared:
        asked.append(said.text)

    assert len(asked) == len(set(asked)) >= 3
    assert said.text == NOTHING_PREPARED
    assert not CLAIMS.search(said.text)
    assert held.speaks(ALEX).passed


# --- the synthesis ---


def test_a_synthesis_is_what_people_said() -> None:
    """Their words, with names and turns; what has a mark stands in its own list and nowhere else."""
    held = opened()
    held.says(ADA, "Two editors at once are common in spring. We counted 11 conflicts.")
    held.says(BEN, "Decision: both edits are kept\nbecause nobody may lose work")
    held.says(ADA, "Objection: nobody reads two versions")
    held.says(BEN, "open question: who merges them?\ntodo: ask Graz")
    found = held.ends()

    assert found.insights == (
        Insight(
            text="Two editors at once are common in spring. We counted 11 conflicts.",
            by=("Ada",),
            turns=("t04",),
        ),
        Insight(text="because nobody may lose work", by=("Ben",), turns=("t05",)),
    )
    assert found.decisions == (Decision(text="both edits are kept", by="Ben", turns=("t05",)),)
    assert found.questions == (OpenQuestion(text="who merges them?", why="asked by Ben", turns=("t07",)),)
    assert found.actions == ("ask Graz (Ben)",)
    (objection,) = found.objections
    assert (objection.text, objection.by, objection.outcome) == (
        "nobody reads two versions",
        ("Ada",),
        ObjectionOutcome.OPEN,
    )
    assert found.summary == "1 decision, 1 objection, 1 open question, 1 action and 2 remarks by Ada and Ben"
    assert dissent.missing(found, held.debate) == dissent.half_said(found, held.debate) == ()


def test_where_people_stand_at_the_end_is_a_list_of_its_own() -> None:
    """`for A` alone is no insight, and neither is the name of an option; a reason of a sealed position is told."""
    held = opened()
    held.says(ADA, "option: a bucket in each gateway")
    held.says(BEN, "option: one counter in Redis")
    held.debate = board.with_options(held.debate, ("a bucket in each gateway", "one counter in Redis"))
    held.says(ADA, "for A")
    held.says(BEN, "undecided, I want numbers")
    stand = PersonStand(by="ada", name="Ada", option="B", sure="high", why="it is simple")
    held.debate = held.debate.but(stands=(stand,))
    found = held.ends()

    sides = board.sides(held.debate)
    assert tuple(wording.describe_side(one.option.letter, one.option.text, one.people) for one in sides) == (
        "A: a bucket in each gateway – nobody",
        "B: one counter in Redis – Ada (very sure: it is simple)",
    )
    assert [one.text for one in found.insights] == ["undecided, I want numbers"]


def insights_beside_another(said: str, option: str, condition: str = "") -> list[str]:
    """What is listed of Ada's words, who is for *option* by now."""
    held = opened()
    held.debate = board.with_options(held.debate, ("a bucket in each gateway", "one counter in Redis"))
    held.says(ADA, said)
    held.says(BEN, "Redis was down twice in October")
    stand = PersonStand(by=held.debate.turns[-2].by, name="Ada", option=option, condition=condition)
    held.debate = held.debate.but(stands=(stand,))
    texts = [one.text for one in held.ends().insights]
    assert texts.pop() == "Redis was down twice in October"
    return texts


@pytest.mark.parametrize(
    ("said", "option", "condition"),
    [
        ("B works for me", "B", ""),
        ("ok, B works for me.", "B", ""),
        ("B works for me if it fails open", "B", "if it fails open"),
        ("A for me", "A", ""),
        ("option A sounds good", "A", ""),
        ("I prefer B", "B", ""),
    ],
)
def test_a_position_in_few_words_is_no_insight(said: str, option: str, condition: str) -> None:
    """The list of positions has it, and the condition."""
    assert insights_beside_another(said, option, condition) == []


@pytest.mark.parametrize(
    ("said", "option"),
    [
        ("B works for me. Support asks for one counter", "B"),
        ("A with shadow mode works for me", "A"),
        ("B makes sense because it is simple", "B"),
        ("for A, it survives an outage", "A"),
        ("A sounds good. I prefer B.", "A"),
        ("A works for me. Let's use D.", "A"),
        ("I'm for A. 👎👎", "A"),
        ("B works for me if it fails open", "A"),
        ("A works for me if it fails open", ""),
    ],
)
def test_a_position_that_says_more_is_an_insight(said: str, option: str) -> None:
    """So is one that its person has left, or that nobody took: the options came later."""
    assert insights_beside_another(said, option) == [said]


def test_a_persona_that_is_asked_says_that_it_cannot_answer() -> None:
    """Before its own question, which is asked once and stands alone among the open questions."""
    held = opened()
    held.says(ADA, "Alex, what happens when Redis is down?")
    speech = held.speaks(ALEX)

    assert speech.text == f"{NO_ANSWER} {speech.prepared}"
    texts = [one.text for one in held.ends().questions]
    assert speech.prepared in texts
    assert not any(NO_ANSWER in one for one in texts)


def test_german_marks_are_read_and_german_words_kept() -> None:
    """Labels are data of the schema, and of teams."""
    held = opened()
    held.says(
        ADA, "Entscheidung: beide bleiben\nEinwand: das liest niemand\nOffene Frage: wer führt zusammen?"
    )
    held.says(BEN, "Im Tunnel geht die Hälfte verloren.")
    found = held.ends()

    assert [one.text for one in found.decisions] == ["beide bleiben"]
    assert [one.text for one in found.objections] == ["das liest niemand"]
    assert [one.text for one in found.questions] == ["wer führt zusammen?"]
    assert [one.text for one in found.insights] == ["Im Tunnel geht die Hälfte verloren."]


def test_what_sounds_like_a_decision_is_none() -> None:
    """Only an explicit mark or a button decides."""
    held = opened()
    held.says(ADA, "So we go with the queue then, agreed.")
    held.says(BEN, "I'm against it, that will never work.")
    found = held.ends()

    assert (found.decisions, found.objections, found.questions) == ((), (), ())
    assert [one.by for one in found.insights] == [("Ada",), ("Ben",)]


def test_a_pressed_decision_names_who_pressed() -> None:
    """As the record has it."""
    held = opened()
    held.says(ADA, "Both have their price in this case.")
    held.debate = held.debate.but(
        decided=(Decided(issue="names", position="short", by=BEN, name="Ben", line="C1.9"),)
    )

    assert held.ends().decisions == (Decision(text="names: short", by="Ben"),)


def test_short_remarks_stay_out_where_others_were_made() -> None:
    """Where nothing else was said, they are all there is."""
    held = opened()
    for text in ("lol ok", "brb, standup", "👍", "了解です", "FR-1 too", "5 s"):
        held.says(BEN, text)
    some = held.ends()
    alone = opened().says(BEN, "fine by me").ends()

    assert [one.text for one in some.insights] == ["FR-1 too", "5 s"]
    assert [one.text for one in alone.insights] == ["fine by me"]


def test_code_and_quotes_are_not_what_somebody_said() -> None:
    """A decision in a quotation is somebody else's."""
    held = opened()
    held.says(ADA, "> Decision: drop it\n```\nobjection: x\n```\nThat was the mail of last week.")
    found = held.ends()

    assert (found.decisions, found.objections) == ((), ())
    assert [one.text for one in found.insights] == ["That was the mail of last week."]


def test_a_long_remark_ends_with_a_sentence() -> None:
    """The message itself stands in the transcript, whole."""
    held = opened()
    held.says(ADA, "Rows are lost every night. " * 2_000)
    (insight,) = held.ends().insights

    assert insight.text.endswith("every night.")
    assert len(insight.text) <= 300


def test_questions_that_nobody_replied_to_stay_open() -> None:
    """Whether a later remark answers them is not judged."""
    held = opened()
    found = held.ends()

    assert [one.text for one in found.questions] == list(held.rt.questions_asked)
    assert found.questions[0].why == "asked by Alex, no reply yet"
    assert found.summary == "2 open questions"
    assert held.says(ADA, "The driver of a night shift would notice.").ends().questions == ()
