"""Who speaks, how often, and when it is enough."""

from bot.domain.messages import discussion_wording as wording
from bot.domain.messages.message import Action
from bot.domain.specification.claims import Quote
from bot.domain.transcript.lines import Source
from tests.domain.table import Contribution
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    Played,
    Pressed,
    Said,
    Script,
    played,
    says,
)

FRAMING, REDIS, FILE = (
    Contribution("Where do edits wait?"),
    says("Redis is fast.", "Redis", "t01"),
    says("A file will do.", "SQLite", "t01"),
)
LIMIT = "We have had a thorough discussion. Let me synthesize the key points from our conversation."


# --- nothing new ------------------------------------------------------------------------------------------------------


CODE = Quote(line="src/sync.py:5-8@1a2b3c4", words="retries without a key")
ECHO = REDIS._replace(quotes=())


def going_on(*later: Contribution, people: tuple[Said | Pressed, ...] = (GO_ON, DONE)) -> Script:
    """Alex, who was silent longest, says more when people have nothing to add."""
    return Script({MAYA: [FRAMING], ALEX: [REDIS, *later], JORDAN: [FILE]}, people)


def actors(meeting: Played) -> list[str]:
    return [line.actor for line in meeting.turns()]


def test_a_quote_is_new_once() -> None:
    """Whoever quotes what nobody has quoted yet is heard; with the same line again nobody is, in whatever words."""
    again = CODE.but(words="retries without a key, twice")
    fresh, stale = (Contribution("Look at the retry.", quotes=(one,)) for one in (CODE, again))
    heard, left_out = played(going_on(fresh)), played(going_on(fresh, stale, people=(GO_ON, GO_ON, DONE)))

    assert actors(heard)[3:] == actors(left_out)[3:] == ["SolutionsArchitect"]
    assert heard.turns()[-1].meta["quotes"] == [{"line": CODE.line, "words": CODE.words}]


def test_that_nobody_has_anything_new_stands_on_the_card() -> None:
    """After two of them, until somebody says something."""
    assert any(line.content == wording.NOTHING_NEW for line in played(going_on(ECHO)).lines)
    assert not any(line.content == wording.NOTHING_NEW for line in played(going_on(REDIS)).lines)


def test_who_answers_people_needs_no_quote() -> None:
    """Asked by name, or with all."""
    once = played(going_on(ECHO, people=(Said("Alex, really?"), DONE)))
    everybody = played(going_on(ECHO, people=(Said("everyone, really?"), DONE)))
    pressed = played(going_on(ECHO, people=(Pressed(Action.ASK_ALL), DONE)))

    assert actors(once)[-1] == actors(everybody)[-1] == actors(pressed)[-1] == "SolutionsArchitect"


def test_a_first_round_needs_none() -> None:
    """Each gives a view of its own."""
    first = {MAYA: [FRAMING._replace(quotes=())], ALEX: [ECHO], JORDAN: [FILE._replace(quotes=())]}

    assert len(played(Script(first, [DONE])).turns()) == 3


# --- runaway ----------------------------------------------------------------------------------------------------------


def test_personas_who_never_stop_are_stopped() -> None:
    """Nobody speaks beyond the limit, and it is said why it ended."""
    talk = [Contribution(f"Point {number}.") for number in range(50)]
    script = Script({MAYA: talk, ALEX: talk, JORDAN: talk}, [GO_ON] * 3, max_turns=8)
    meeting = played(script)

    assert len(meeting.turns()) == 8
    assert any(line.content == LIMIT for line in meeting.lines)
    assert "**Exit**: turn-limit" in meeting.shown.text


def test_a_meeting_that_people_end_is_no_runaway() -> None:
    """The limit is not reached, and nobody claims it."""
    meeting = played(Script({MAYA: [FRAMING], ALEX: [REDIS], JORDAN: [FILE]}, [DONE]))

    assert not any(line.content == LIMIT for line in meeting.lines)
    assert "**Exit**: user-initiated" in meeting.shown.text


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_stance_stands_on_its_line() -> None:
    """With the turns it rests on, and no turn that was never taken."""
    claimed = says("Redis is fast.", " Redis\n", "t01", "t07")
    line = played(Script({MAYA: [FRAMING], ALEX: [claimed]}, [DONE])).turns("SolutionsArchitect")[0]

    assert line.source is Source.MODEL
    (patch,) = line.meta["entries"]
    assert (patch["set"]["issue"], patch["set"]["option"], len(patch["sources"])) == ("storage", "Redis", 1)
