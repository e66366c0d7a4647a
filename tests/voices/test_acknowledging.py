"""What a persona answers to an answer: its own line, people's own words, at most one question."""

import pytest

from bot.domain.catalog.agenda import Agenda, Playbook
from bot.domain.catalog.steps import Depth
from bot.voices.offline.acknowledging import REASON
from tests.voices.people import (
    ADA,
    ALEX,
    BEN,
    CONTEXT,
    FEATURES,
    JORDAN,
    MAYA,
    ROSTER,
    SCOPE,
    acknowledge,
    having_asked,
    make_step,
    roundtable,
)

LOST = "Hi all! Exports lose 3 rows every Monday. Nobody in finance notices :cry:"
QUOTED = '"Exports lose 3 rows every Monday"'


@pytest.mark.parametrize(
    ("persona", "line"),
    [
        (MAYA, f"That's important -- so {QUOTED}. Let me update the requirements."),
        (
            ALEX,
            f"Good point about {QUOTED}. That affects the blast radius {REASON}",
        ),
        (JORDAN, f"Noted. I'll revise the interface to account for {QUOTED}."),
    ],
)
def test_an_answer_is_acknowledged_in_the_personas_manner(persona: str, line: str) -> None:
    """The template of the persona, with the first sentence that says something, quoted."""
    assert acknowledge(roundtable(CONTEXT, (ADA, LOST)), persona) == line


def test_long_words_are_quoted_briefly() -> None:
    """A quote has at most 80 characters, and ends in an ellipsis where it was cut."""
    said = acknowledge(roundtable(CONTEXT, (ADA, "the export job " * 20 + "loses 3 rows")))
    quote = said.split('"')[1]

    assert len(quote) <= 80
    assert quote.endswith("…")


def test_quotes_inside_a_quote_are_single() -> None:
    """As in print: the quote stays one quote."""
    assert "\"the 'total' row is lost 3 times\"" in acknowledge(
        roundtable(CONTEXT, (ADA, 'the "total" row is lost 3 times'))
    )


@pytest.mark.parametrize("text", ["ok", "👍", ":+1: thanks!", "はい"])
def test_what_says_nothing_is_not_quoted(text: str) -> None:
    """A nod is noted, and not made into an important point."""
    assert acknowledge(roundtable(CONTEXT, (ADA, "Ada from finance lost 3 rows"), (BEN, text))) == "Noted."


def test_without_an_answer_there_is_nothing_to_say() -> None:
    """An empty line is not posted."""
    assert acknowledge(roundtable(CONTEXT)) == ""


def test_a_question_is_not_an_answer() -> None:
    """A person who asks back gets no praise for an answer: the question is kept, and passed on to the people."""
    said = acknowledge(roundtable(CONTEXT, (ADA, "What do you mean by 'wrong'?")))

    assert (
        said == "I'll keep that as an open question: \"What do you mean by 'wrong'?\" Who here can answer it?"
    )


def test_a_missing_number_is_asked_for() -> None:
    """A bullet that wants something measurable is plainly unmet when no answer holds a number."""
    said = acknowledge(roundtable(CONTEXT, (ADA, "The exports are wrong far too often")))

    assert said.endswith("What number will move?")


@pytest.mark.parametrize(
    "text", ["from 12 to 0 a month", "twice a day becomes never, two errors", "週に三回", "٣ errors"]
)
def test_a_number_in_any_script_or_word_will_do(text: str) -> None:
    """Whoever gave a number is not asked for one."""
    assert "What number" not in acknowledge(roundtable(CONTEXT, (ADA, f"exports fail, {text}")))


def test_the_phrase_of_an_edge_case_is_asked_about() -> None:
    """Before anything else that is missing: somebody just said it."""
    said = acknowledge(
        roundtable(
            CONTEXT, (ADA, "Isn't it obvious that the exports are wrong?"), (BEN, "Well, it's OBVIOUS.")
        )
    )

    assert said.endswith("What would you tell a newcomer?")


def test_an_edge_case_is_a_phrase_of_whole_words() -> None:
    """Letters inside another word are not that phrase."""
    assert "newcomer" not in acknowledge(
        roundtable(CONTEXT, (ADA, "unobviousness is at 3 percent of all cases"))
    )


def test_a_terse_answer_is_asked_about_at_standard_depth_only() -> None:
    """Brief means brief."""
    terse = roundtable(CONTEXT, (ADA, "exports"))

    assert acknowledge(terse).endswith("Who had this problem last?")
    assert not acknowledge(terse.but(depth=Depth.BRIEF)).endswith("Who had this problem last?")


def test_a_short_form_is_not_terse() -> None:
    """The words "Scope: medium" are an answer; what else is plainly missing is asked for."""
    assert acknowledge(roundtable(SCOPE, (ADA, "Scope: medium"))).endswith("How tricky does it feel?")


def test_a_sentence_in_a_script_without_spaces_is_not_terse() -> None:
    """Words are not counted by spaces alone."""
    assert "?" not in acknowledge(roundtable(CONTEXT, (ADA, "エクスポートで3行が失われます。")))


def test_choices_that_nobody_made_are_offered() -> None:
    """A bullet that names its choices is unmet until one of them is said."""
    assert acknowledge(roundtable(SCOPE, (ADA, "The export will have every row"))).endswith(
        "small, medium or large?"
    )


def test_a_capability_without_a_criterion_is_asked_about() -> None:
    """Lines that begin with `AC:` and `Out of scope:` are looked for where the bullets ask for them."""
    said = roundtable(FEATURES, (ADA, "- Filter the list by date\nOut of scope: saved filters"))

    assert acknowledge(said).endswith("What would you show somebody?")
    assert "?" not in acknowledge(
        roundtable(FEATURES, (ADA, "Filter by date\nAC: May shows May\nOut of scope: rest"))
    )


def test_no_follow_up_is_asked_twice_for_a_step() -> None:
    """What the persona asked stands in the transcript; when nothing else is missing, it only acknowledges."""
    rt = roundtable(CONTEXT, (ADA, "The exports are wrong far too often"))
    rt = having_asked(rt, "Noted. What number will move?", actor=ROSTER[MAYA].actor)

    assert "?" not in acknowledge(rt)


def test_feedback_is_acknowledged_and_not_questioned() -> None:
    """At a menu the step is finished: a question on top of the menu would ask for two things."""
    assert acknowledge(roundtable(CONTEXT, after=((BEN, "Please mention finance, too"),))) == (
        'That\'s important -- so "Please mention finance, too". Let me update the requirements.'
    )


@pytest.mark.parametrize(
    ("bullet", "answer", "follow_up"),
    [
        (
            'Edge case: If user says "everyone", probe for the primary group',
            "everyone needs it 3 times a day",
            'What is behind "everyone", in your own words?',
        ),
        (
            "At least one measurable metric.",
            "the exports should be better",
            'One thing I am still listening for is "At least one measurable metric". What can you tell me about that?',
        ),
    ],
)
def test_bullets_of_the_original_format_make_a_kind_question(
    bullet: str, answer: str, follow_up: str
) -> None:
    """Without a follow-up of its own, a bullet is asked about in its own words."""
    step = make_step("09-01", "Foreign", "foreign.md", validation=f"- {bullet}")

    said = acknowledge(roundtable(step, (ADA, answer)), playbook=Playbook(ROSTER, Agenda(steps=(step,))))

    assert said.endswith(follow_up)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Scope: medium", 'Noted: "Scope: medium".'),
        ("About 12 files: 4 new, 6 changed, 2 tests", 'Noted: "About 12 files: 4 new, 6 changed, 2 tests".'),
        (
            "sync queue, conflict resolver, draft forms",
            'Noted: "sync queue, conflict resolver, draft forms".',
        ),
        (
            "opens a form -> types 3 rows -> green tick",
            'Noted: "opens a form -> types 3 rows -> green tick".',
        ),
        (
            "- keep 3 edits\n- send them\n  - at once",
            'Noted, all 2 points, from "keep 3 edits" to "send them".',
        ),
        ("We decided: last writer wins, 3 conflicts are nothing", 'Noted as decided: "last writer wins, 3 '),
        ("TODO: ask the 2 dispatchers", 'Noted as a task: "ask the 2 dispatchers".'),
    ],
)
def test_a_note_is_noted(text: str, line: str) -> None:
    """Only a sentence is said to be important; short forms, lists, decisions and tasks are called what they are."""
    assert acknowledge(roundtable(CONTEXT, (BEN, "from 12 to 0 errors"), (ADA, text))).startswith(line)


def test_how_people_begin_is_not_quoted() -> None:
    """Where more is said than that."""
    said = acknowledge(roundtable(CONTEXT, (ADA, "ok, so basically every export loses 3 rows")))

    assert said.startswith('That\'s important -- so "every export loses 3 rows". ')


def test_code_is_acknowledged_as_code() -> None:
    """There is no sentence in it to quote."""
    assert acknowledge(roundtable(SCOPE, (ADA, "```\nx = 1\n```"))).startswith(
        "Noted, with the code as you gave it."
    )


@pytest.mark.parametrize("text", ["no idea", "Hm, I don't know 3 of them yet", "Keine Ahnung."])
def test_not_knowing_is_fine(text: str) -> None:
    """It is not made into an important point."""
    said = acknowledge(roundtable(CONTEXT, (BEN, "from 12 to 0 errors"), (ADA, text)))

    assert said.startswith("Fair enough, nobody has to know that yet.")
