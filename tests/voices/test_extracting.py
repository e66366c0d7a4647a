"""A synthesis without a model: people's sentences, sorted, with their names and turns."""

import pytest

from bot.domain.discussion import dissent
from bot.domain.discussion.synthesis import Insight, ObjectionOutcome, sound
from tests.voices.people import ADA, ALEX, BEN, CONTEXT, MAYA, Meeting, roundtable

TOLD = roundtable(CONTEXT, (ADA, "Exports lose the last row"))


@pytest.fixture
def meeting() -> Meeting:
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.speaks(ALEX)
    return meeting


def test_statements_of_people_are_insights(meeting: Meeting) -> None:
    """By name, with the turn they were said in; greetings, nods and questions are none."""
    meeting.says(ADA, "Hi! The job dies when memory runs out. ok? 👍")
    meeting.says(BEN, "+1")

    assert meeting.ends().insights == (
        Insight(text="The job dies when memory runs out.", by=("Ada",), turns=("t03",)),
    )


def test_what_people_marked_is_kept_as_they_said_it(meeting: Meeting) -> None:
    """Nobody weighs anything here: an objection is open, and a decision stands there once."""
    meeting.says(ADA, "Decision: the queue, because it keeps order.\n- Objection: it is dear")
    meeting.says(BEN, "I object: nobody runs it.")
    synthesis = meeting.ends()

    assert [(one.text, one.by, one.turns, one.outcome) for one in synthesis.objections] == [
        ("it is dear", ("Ada",), ("t03",), ObjectionOutcome.DEFERRED),
        ("nobody runs it.", ("Ben",), ("t04",), ObjectionOutcome.DEFERRED),
    ]
    assert dissent.missing(synthesis, meeting.debate) == ()
    assert dissent.restored(synthesis, meeting.debate) == synthesis


def test_an_objection_is_no_insight_where_there_is_another(meeting: Meeting) -> None:
    """It stands below, with what became of it; where nothing else was said it is what was found."""
    meeting.says(BEN, "Objection: nobody runs it in the night.")
    alone = meeting.ends().insights
    meeting.says(ADA, "The job dies when memory runs out.")

    assert [one.text for one in alone] == ["Nobody runs it in the night."]
    assert [one.by for one in meeting.ends().insights] == [("Ada",)]


def test_the_same_words_are_one_insight(meeting: Meeting) -> None:
    """Of whoever said them first."""
    meeting.says(ADA, "The job runs out of memory")
    meeting.says(BEN, "the job runs out of memory!")

    assert [insight.by for insight in meeting.ends().insights] == [("Ada",)]


def test_of_many_statements_the_most_substantial_are_kept_in_order(meeting: Meeting) -> None:
    """At most eight, in the order of speaking."""
    meeting.says(ADA, "\n".join(f"point {'very ' * 0}{number} is short" for number in range(10)))
    meeting.says(BEN, "The writer never flushes its buffer when the machine shuts down early")

    insights = meeting.ends().insights
    assert len(insights) == 8
    assert insights[-1].by == ("Ben",)


@pytest.mark.parametrize(
    ("text", "decision", "rationale"),
    [
        ("Decision: close the writer, because it is safe", "Close the writer", "it is safe"),
        ("*Agreed:* CSV only", "CSV only", ""),
        ("ok, we decided to drop PDF.", "Drop PDF", ""),
        (
            "We decided: last writer wins, and the loser gets a notice, because 3 a month is nothing",
            "Last writer wins, and the loser gets a notice",
            "3 a month is nothing",
        ),
        ("good point. lets go with iOS first", "iOS first", ""),
        ("For exports we agreed on CSV", "For exports we agreed on CSV", ""),
        (
            "Let's go with a queue because it survives restarts",
            "A queue",
            "it survives restarts",
        ),
        ("Entscheidung: nur CSV, weil Excel es öffnet", "Nur CSV", "Excel es öffnet"),
    ],
)
def test_explicit_decisions_are_kept_as_they_were_made(
    meeting: Meeting, text: str, decision: str, rationale: str
) -> None:
    """In the words of whoever made them, without the "we decided" in front, with the reason after "because"."""
    meeting.says(BEN, text)

    (found,) = meeting.ends().decisions
    assert (found.text, found.rationale, found.by, found.turns) == (decision, rationale, "Ben", ("t03",))


@pytest.mark.parametrize(
    "text",
    ["If we decided to drop PDF, who would cry", "Should we go with CSV?", "We have not decided on PDF"],
)
def test_what_is_not_decided_is_no_decision(meeting: Meeting, text: str) -> None:
    """Conditions, questions and denials sound alike."""
    meeting.says(ADA, text)

    assert meeting.ends().decisions == ()


def test_actions_are_listed_with_their_speaker(meeting: Meeting) -> None:
    """Lines that begin with "action:", "todo:" or an empty box."""
    meeting.says(ADA, "The writer is the culprit here\nTODO: Ben writes a test\n- [ ] ask legal")

    assert meeting.ends().actions == ("Ben writes a test (Ada)", "ask legal (Ada)")


def test_a_question_is_open_until_somebody_else_answers(meeting: Meeting) -> None:
    """Asking back, nodding, or going on oneself is no answer."""
    meeting.says(ADA, "Who owns the archive?")
    meeting.says(ADA, "The archive is old, by the way")
    meeting.says(BEN, "What archive?")

    texts = [question.text for question in meeting.ends().questions]
    assert "Who owns the archive?" in texts

    meeting.says(BEN, "Finance owns the archive")
    assert "Who owns the archive?" not in [question.text for question in meeting.ends().questions]


def test_questions_of_personas_count_until_a_person_speaks(meeting: Meeting) -> None:
    """Then they are taken as answered."""
    asked = [(one.text, one.why) for one in meeting.ends().questions]
    assert len(asked) == 2
    assert asked[0] == (
        "What number will move?",
        "asked by Maya, not answered yet",
    )

    meeting.says(ADA, "Finance, every single Monday")
    assert meeting.ends().questions == ()


def test_what_personas_say_is_never_an_insight_about_the_product(meeting: Meeting) -> None:
    """When no person said anything, all there is to report is what was asked, and it says so."""
    synthesis = meeting.ends()

    assert [insight.text.startswith("Raised: ") for insight in synthesis.insights] == [True, True]
    assert synthesis.summary == "Questions were raised about Business Context, and nobody has answered yet."
    assert sound(synthesis, turns=meeting.debate.turn_count)


def test_what_people_ask_is_worth_more_than_what_personas_ask(meeting: Meeting) -> None:
    """Those questions stand among the open ones in any case, and need not be read twice."""
    meeting.says(ADA, "Should the newest edit win?")

    assert [insight.text for insight in meeting.ends().insights] == ["Raised: Should the newest edit win?"]


def test_a_decision_alone_is_an_insight_as_well(meeting: Meeting) -> None:
    """There is always something to report where a person said something."""
    meeting.says(ADA, "Decision: close the writer")
    synthesis = meeting.ends()

    assert synthesis.insights[0].text == "Close the writer"
    assert synthesis.summary == "Decided: close the writer"


def test_a_decision_beside_other_statements_is_no_insight(meeting: Meeting) -> None:
    """It stands among the decisions, once, even when somebody repeats it."""
    meeting.says(ADA, "Two people never have the same form open")
    meeting.says(BEN, "We decided: last writer wins because it is simple")
    meeting.says(ADA, "yes. last writer wins.")
    meeting.says(BEN, "Decision: the loser gets a notice")
    synthesis = meeting.ends()

    assert [one.text for one in synthesis.insights] == ["Two people never have the same form open"]
    assert [one.text for one in synthesis.decisions] == ["Last writer wins", "The loser gets a notice"]
    assert synthesis.summary == "Decided: last writer wins; the loser gets a notice"


def test_an_insight_is_the_point_and_not_how_people_begin(meeting: Meeting) -> None:
    """The "hm no, I disagree" in front of it said whose side somebody is on, and is no finding."""
    meeting.says(ADA, "ok but those three people need to see it")
    meeting.says(BEN, "hm no, I disagree. silently losing work is the bug we had in march")

    assert [one.text for one in meeting.ends().insights] == [
        "those three people need to see it",
        "silently losing work is the bug we had in march",
    ]


def test_a_dispute_that_nobody_settled_is_the_summary(meeting: Meeting) -> None:
    """The record says who saw it differently, and takes no side."""
    meeting.says(ADA, "The export needs more memory")
    meeting.says(BEN, "I disagree. Close the writer.")
    assert meeting.ends().summary == "Ada and Ben see this differently; nothing is decided yet."

    meeting.says(ADA, "Decision: close the writer")
    assert meeting.ends().summary == "Decided: close the writer"


def test_the_summary_is_one_short_sentence(meeting: Meeting) -> None:
    """At most 100 characters, for the record."""
    meeting.says(ADA, "The job " + "really " * 40 + "dies")

    summary = meeting.ends().summary
    assert summary.startswith("Ada said: The job really")
    assert len(summary) <= 100


def test_a_discussion_that_ended_with_its_framing_says_so() -> None:
    """In the words of the reference."""
    meeting = Meeting(TOLD)
    meeting.frames()

    assert meeting.ends().summary == (
        "Discussion ended early. The framing identified Business Context as a discussion point."
    )


def test_a_model_or_a_person_speaking_before_is_no_matter() -> None:
    """Personas' turns that no offline voice wrote are read as well."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.debate = meeting.debate.spoken(
        by=MAYA, name="Maya", text="I see. So what I'm hearing is loss. Who is hurt most?"
    )

    assert [one.text for one in meeting.ends().questions][-1] == "Who is hurt most?"
