"""An elaboration without a model: personas quote people by name, and ask."""

import re

import pytest

from tests.voices.people import ADA, ALEX, BEN, CONTEXT, JORDAN, MAYA, ROSTER, Meeting, roundtable

LOST = "Exports lose the last row on Mondays"
TOLD = roundtable(CONTEXT, (ADA, LOST), (BEN, "1. From 12 errors to 0 a month"))


def questions(text: str) -> list[str]:
    return re.findall(r"[^.?!:]+\?", re.sub(r'"[^"]*"', "", text))


def test_the_lead_recalls_asks_and_gives_the_floor() -> None:
    """The literal shape of the framing: recap, focus question, a colleague and its lens. No fragment is asked about."""
    said = Meeting(TOLD).frames()

    assert said == (
        f'We just covered Business Context. Ada said "{LOST}", and Ben said "From 12 errors to 0 a month". '
        "I think we could benefit from all our perspectives on: "
        "Who notices first when this goes wrong? "
        "Alex, what is your take from a feasibility and risk perspective?"
    )


def test_a_question_that_people_left_open_is_the_focus() -> None:
    """With the name of whoever asked it."""
    said = Meeting(roundtable(CONTEXT, (ADA, LOST), (BEN, "Sure. Who owns the archive?"))).frames()

    assert 'perspectives on: Ben\'s question "Who owns the archive?". Alex, what is' in said


def test_a_step_without_words_is_framed_honestly() -> None:
    """Nothing is made up: the focus is the step's own question."""
    said = Meeting(roundtable(CONTEXT)).frames()

    assert "Nobody has said much about it yet." in said
    assert "perspectives on: Who had this problem last? Alex," in said


def test_the_others_build_on_what_was_asked() -> None:
    """In the first round they name whose question they add to, and ask one from their own side of the matter."""
    meeting = Meeting(TOLD)
    meeting.frames()

    alex, jordan = meeting.speaks(ALEX), meeting.speaks(JORDAN)

    assert alex.startswith("Next to Maya's question, one about feasibility. ")
    assert jordan.startswith("Alex's question has a side to it that is about interfaces. ")
    assert len(questions(alex)) == len(questions(jordan)) == 1


def test_a_person_is_answered_by_name_with_their_words() -> None:
    """Quoted as they said it, from the first sentence that says something; and one question."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "Hm. The job dies when memory runs out, I think. It is a small box.")

    said = meeting.speaks(MAYA)

    assert "Ada" in said
    assert '"The job dies when memory runs out, I think"' in said
    assert len(questions(said)) == 1


def test_what_one_persona_asks_is_chosen_by_what_people_said() -> None:
    """Words in common with a question of the bank bring that question up."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "One failure in the writer takes everything down")

    assert meeting.speaks(ALEX).endswith("How far does a failure spread before something stops it?")


def test_no_question_is_asked_twice_while_others_remain() -> None:
    """Not by the same persona, and not by another."""
    meeting = Meeting(TOLD)
    meeting.frames()
    for _ in range(4):
        meeting.says(ADA, "The failure is in the caller, and users wait for the risk to go away")
        for persona in (MAYA, ALEX, JORDAN):
            meeting.speaks(persona)

    asked = [
        turn.text.rpartition(": ")[2].rpartition(". ")[2] for turn in meeting.debate.turns if not turn.human
    ]
    assert len(set(asked)) == len(asked)


def test_a_persona_asked_directly_says_what_it_does_not_know() -> None:
    """And asks what it would want to know: facts are for people."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(BEN, "Jordan, how long does the export take?")

    said = meeting.speaks(JORDAN)

    assert said.startswith("Ben, I don't know that, and I won't guess.")
    assert len(questions(said)) == 1


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (
            "how often does that really happen?",
            'Ben asks "how often does that really happen?" Who here knows',
        ),
        ("cant we just show a notice??", 'Ben asks "cant we just show a notice??" What speaks for it'),
    ],
)
def test_a_question_to_nobody_is_passed_on(text: str, answer: str) -> None:
    """It is for people to answer, so it is not answered with another question."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(BEN, text)

    assert meeting.speaks(MAYA).startswith(answer)


def test_who_knows_is_asked_once() -> None:
    """After that a persona that does not know asks something of its own."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(BEN, "Jordan, how long does the export take?")
    assert meeting.speaks(JORDAN).endswith("Who here does, or where could we look it up?")

    meeting.says(BEN, "Jordan, what does the caller get then?")
    assert meeting.speaks(JORDAN).endswith("What exactly does the caller receive when this fails?")


def test_a_question_about_a_thing_needs_a_thing_that_people_named() -> None:
    """What stands in backticks or quotes has a name; the title of a step is not a thing to ask about."""
    meeting = Meeting(TOLD)
    meeting.frames()
    for _ in range(12):
        meeting.says(ADA, "The writer drops a row every now and then")
        meeting.speaks(JORDAN)
    assert not any("Business Context" in turn.text for turn in meeting.debate.turns[1:])

    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "That all sits in `RowWriter` today")
    assert meeting.speaks(JORDAN).endswith("What are the fields and limits of RowWriter?")


def test_what_was_noted_in_brief_is_not_built_into_a_question() -> None:
    """A fragment, a question or the beginning of a long sentence is quoted, if at all, by itself."""
    for text in ("Scope: medium", "cache, queue and outbox", "Who, me?", "the writer fails " * 20):
        meeting = Meeting(roundtable(CONTEXT, (ADA, text)))
        assert not re.search(r"[a-z] \"[^\"]*\"[^.\"]*\?", meeting.frames().partition("perspectives on: ")[2])
        meeting.says(ADA, text)
        assert not re.search(r"(behind|if) \"[^\"]*\"[^.\"]*\?$", meeting.speaks(ALEX))


def test_a_decision_is_handed_back_to_the_people() -> None:
    """Asked "which" or "should we", a persona weighs, and does not decide."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(BEN, "Alex, should we use a queue or a lock?")

    assert meeting.speaks(ALEX).startswith("Ben, that is for the people here to decide, not for me.")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        (
            "no, I disagree. we should close the writer because nobody does",
            'Ben favors "we should close the writer" because "nobody does".',
        ),
        ("I'd rather keep the job small", 'Ben favors "keep the job small".'),
        (
            "hm no, dont think so. that ran out of disk in march",
            'Ben favors another way because "that ran out of disk in march".',
        ),
        ("Sorry, I don't agree. Keep it small!", 'Ben favors "Keep it small".'),
    ],
)
def test_the_lead_puts_two_positions_side_by_side(text: str, position: str) -> None:
    """People who plainly disagree are named, quoted and asked to decide, in the literal shape."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "I think the export needs more memory because it dies")
    meeting.says(BEN, text)

    said = meeting.speaks(MAYA)

    assert said.startswith(
        'Ada and Ben see this differently. Ada favors "the export needs more memory" because "it dies".'
    )
    assert position in said
    assert re.search(r'What matters more for your project: "[^"]+" or ("[^"]+"|another way)\?$', said)


@pytest.mark.parametrize("text", ["no problem, memory it is", "No? Why not more memory?", "no"])
def test_not_every_no_is_a_disagreement(text: str) -> None:
    """Courtesies, questions and a bare no take no position."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "The export needs more memory")
    meeting.says(BEN, text)

    assert "differently" not in meeting.speaks(MAYA)


def test_a_disagreement_is_stated_once() -> None:
    """After that the lead goes on like everybody."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "The export needs more memory")
    meeting.says(BEN, "I disagree. Close the writer.")
    meeting.speaks(MAYA)
    meeting.speaks(ALEX)

    assert "differently" not in meeting.speaks(MAYA)


def test_one_person_cannot_disagree_alone() -> None:
    """It takes two people."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "The export needs more memory")
    meeting.says(ADA, "No, rather close the writer")

    assert "differently" not in meeting.speaks(MAYA)


def test_contributions_are_short_and_never_begin_like_somebody_else() -> None:
    """A name and a colon in front would read as another speaker."""
    meeting = Meeting(TOLD)
    meeting.frames()
    meeting.says(ADA, "word " * 500)
    for persona in (ALEX, MAYA, JORDAN, ALEX):
        said = meeting.speaks(persona)
        assert len(said) <= 350
        assert not re.match(r"\w+( \w+)?:", said)


def test_a_persona_without_a_bank_still_has_something_to_ask() -> None:
    """When all its questions are used up, no contribution repeats another."""
    meeting = Meeting(TOLD)
    meeting.frames()
    for _ in range(20):
        meeting.says(ADA, "The writer drops a row")
        meeting.speaks(JORDAN)

    said = [turn.text for turn in meeting.debate.turns if not turn.human]
    assert len(set(said)) == len(said)


def test_the_same_discussion_gets_the_same_words() -> None:
    """Nothing is drawn by chance."""

    def play() -> list[str]:
        meeting = Meeting(TOLD)
        said = [meeting.frames()]
        meeting.says(ADA, "The job dies when memory runs out")
        return [*said, *(meeting.speaks(persona.key) for persona in ROSTER)]

    assert play() == play()
