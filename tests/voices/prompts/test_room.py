"""How long a prompt is: it grows with what is new, within bounds, and never with the whole of what was said."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.discussion.board import DiscussionBoard, Stand
from bot.domain.discussion.elaboration import Elaboration
from bot.domain.roundtable.state import Answer
from bot.voices.model import Prompt
from bot.voices.prompts import digest, tasks
from bot.voices.prompts.scene import FILES_CHARS
from tests.voices.minds import debating, whole
from tests.voices.people import ADA, ALEX, BEN, JORDAN, MAYA
from tests.voices.prompts.kept import FILES, ROUND, ROUNDTABLE, ended, scene
from tests.voices.prompts.large_item import large

SPEAKERS = (MAYA, ALEX, JORDAN, ADA, BEN)
HEADER = 60
"""Characters that a turn takes besides its words: its id, its speaker, marks at each of its lines."""


def talked(turns: int, chars: int) -> Elaboration:
    said = [(SPEAKERS[n % len(SPEAKERS)], f"{n} {'word ' * (chars // 5)}".strip()) for n in range(turns)]
    return debating(*said).debate


def length(prompt: Prompt) -> int:
    return sum(map(len, (*prompt.stable, prompt.moving)))


def at_turn(turn: int, chars: int) -> int:
    """Of the prompt for the turn after so many, for a persona that has spoken, on an item that has a specification."""
    rt = ROUNDTABLE.but(specification=large()[0].specification)
    return length(tasks.turn(scene(MAYA, rt=rt), talked(turn, chars), ROUND))


@pytest.mark.parametrize("chars", [80, 250, 500, 1_000, 4_000])
def test_turn_thirty_costs_little_more_than_turn_three(chars: int) -> None:
    """At most one and a half times, however long people's messages are."""
    assert at_turn(30, chars) <= 1.5 * at_turn(3, chars)


def test_a_turn_makes_the_prompt_longer_by_its_own_words_at_most() -> None:
    """What was said before is never said twice. Turns with the same task are compared, a cycle apart."""
    chars, cycle = 300, len(SPEAKERS)
    lengths = [at_turn(turn, chars) for turn in range(2, 60)]
    grown = [after - before for before, after in zip(lengths, lengths[cycle:], strict=False)]

    assert max(grown) <= cycle * (chars + HEADER)
    assert max(grown[45:]) <= HEADER


@settings(max_examples=40, deadline=None)
@given(said=st.lists(st.text(max_size=3_000), max_size=60))
def test_no_discussion_outgrows_its_room(said: list[str]) -> None:
    """Whatever is said in it."""
    debate = debating(*((SPEAKERS[n % 5], text) for n, text in enumerate(said))).debate
    told = digest.told_in_turns(debate.turns)
    newest = digest.recent(told)
    earlier = digest.digest(told[: len(told) - len(newest)])

    assert sum(len(one.text) for one in newest) <= max(
        digest.TALKING.chars, len(newest[-1].text) if newest else 0
    )
    assert len(earlier) <= digest.DIGEST_CHARS + 200


def test_the_newest_turns_are_there_word_for_word() -> None:
    """Of earlier ones there is a line each, under the id by which they can be referred to."""
    prompt = tasks.turn(scene(MAYA), talked(20, 400), ROUND).moving

    assert all(f"> {number} word word" in prompt for number in range(12, 20))
    assert "> 11 word" not in prompt
    assert "[t12] Alex: 11 word word" in prompt


def test_of_the_oldest_what_people_said_stays_longest() -> None:
    """A persona can say it again; a person who knows something may say it once."""
    said = [(ADA if n % 8 == 3 else ALEX, f"{n} {'word ' * 60}") for n in range(60)]
    earlier = digest.digest(digest.told_in_turns(debating(*said).debate.turns))

    assert earlier.count("Ada, a person") == 8
    assert "[t01] Alex" not in earlier
    assert "more are not shown)" in earlier


def test_where_everybody_stands_is_bounded_and_people_come_first() -> None:
    """Issues of personas of long ago make room for those of today."""
    held = tuple(
        Stand(by, by, "", f"issue {n}", f"position {n} {'x' * 50}", "", is_persona=by == ALEX)
        for n, by in enumerate([ADA, *[ALEX] * 99])
    )
    stands = digest.standing(DiscussionBoard(talked(1, 20), stands=held))

    assert len(stands) <= digest.ISSUES_CHARS + len(held)
    assert stands.startswith("- issue 0: position 0 ")
    assert "position 99 " in stands
    assert "position 49 " not in stands


def test_answers_to_a_step_are_bounded_too() -> None:
    """A team that writes three hundred answers is heard with its newest, and a line for some of the others."""
    answers = tuple(Answer(person="U1", text=f"{n} {'word ' * 100}".strip(), ts=str(n)) for n in range(300))
    many = tasks.draft(scene(rt=ROUNDTABLE.but(answers=answers)))
    few = tasks.draft(scene(rt=ROUNDTABLE.but(answers=answers[-1:])))

    assert length(many) <= length(few) + 1.1 * digest.PEOPLE.chars + digest.DIGEST_CHARS
    assert all(f"> {n} word" in whole(many) for n in range(260, 300))


def test_what_a_person_wrote_is_never_cut() -> None:
    """It is there word for word, or not at all; also the longest message that Slack takes."""
    answers = (Answer(person="U1", text="word " * 7_999 + "end", ts="1"),)
    prompt = whole(tasks.draft(scene(rt=ROUNDTABLE.but(answers=answers))))

    assert f"> {answers[0].text}\n" in prompt


def test_files_are_shown_as_far_as_there_is_room() -> None:
    """The draft and those that the step writes come first, whole lines of them; what was left out is named."""
    files = {f"file-{n}.md": f"{n} " + "word " * 5_000 for n in range(9)} | FILES
    shown = tasks.draft(scene()._replace(files=files)).stable[2]

    assert len(shown) < FILES_CHARS + 1_500
    assert shown.index("file draft.md") < shown.index("left out")
    assert shown.index("file requirements-spec.md") < shown.index("left out")
    assert "file-8.md: 25001 characters" in shown


def test_who_drafts_after_a_discussion_reads_everything_that_people_said() -> None:
    """A long discussion is not drafted from its last turns."""
    read = tasks.draft(scene(rt=ended(talked(40, 600)))).moving

    assert all(f"> {n} word" in read for n in range(40))
