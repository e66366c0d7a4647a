"""Who speaks, how often, and when it is enough."""

from collections.abc import Mapping

from bot.domain.specification.snapshot import folded
from bot.domain.transcript.lines import Source
from tests.domain.table import Contribution
from tests.meetings.script import (
    ALEX,
    DONE,
    GO_ON,
    JORDAN,
    MAYA,
    PASS,
    Pressed,
    Said,
    Script,
    fair,
    played,
    says,
)

FRAMING, REDIS, FILE = (
    Contribution("Where do edits wait?"),
    says("Redis is fast.", "Redis", "t01"),
    says("A file will do.", "SQLite", "t01"),
)
CIRCLES = "Alex makes the same point on storage again, on the same grounds. What would settle it?"
LIMIT = "We have had a thorough discussion. Let me synthesize the key points from our conversation."


# --- balance ----------------------------------------------------------------------------------------------------------


def test_a_round_in_which_all_speak_is_balanced() -> None:
    """The fewest turns of a persona over the most."""
    card = played(Script({MAYA: [FRAMING], ALEX: [REDIS], JORDAN: [FILE]}, [DONE], [fair("t02")])).card

    assert (card["balance"], card["silent"]) == (1.0, [])
    assert card["speakers"] == {"Maya": 1, "Alex": 1, "Jordan": 1}


def test_a_silent_persona_is_named() -> None:
    """It passed every time; nobody mistakes that for consent."""
    meeting = played(Script({MAYA: [FRAMING], ALEX: [REDIS]}, [DONE], [fair("t02")]))

    assert (meeting.card["balance"], meeting.card["silent"]) == (0.0, ["Jordan"])
    assert "Jordan silent" in meeting.shown.note


def test_a_persona_that_talks_most_of_the_time_is_seen() -> None:
    """Half as balanced as it could be."""
    more = [FRAMING, Contribution("And how long?"), Contribution("And who?")]
    people = [Said("Long."), Said("All."), DONE]
    card = played(Script({MAYA: more, ALEX: [REDIS], JORDAN: [FILE]}, people, [fair("t02")])).card

    assert card["balance"] == 0.33
    assert card["speakers"] == {"Maya": 3, "Alex": 1, "Jordan": 1, "Ada": 2}


def test_a_pass_is_a_line_and_no_post() -> None:
    """It takes no turn, and the record knows who was asked."""
    meeting = played(Script({MAYA: [FRAMING], ALEX: [REDIS]}, [DONE]))
    passed = [line for line in meeting.lines if line.meta.get("pass")]

    assert [line.content for line in passed] == ["Jordan has nothing to add."]
    assert "Jordan has nothing to add." not in meeting.texts
    assert meeting.card["turns"] == 2


# --- circles ----------------------------------------------------------------------------------------------------------


def in_circles(*later: Contribution, people: tuple[Said | Pressed, ...]) -> Script:
    return Script({MAYA: [FRAMING], ALEX: [REDIS, *later], JORDAN: [FILE, FILE]}, people, [fair("t02")])


def test_the_same_point_again_ends_the_round() -> None:
    """On the same grounds, while people only listen: whoever was to speak next does not, and people are asked."""
    meeting = played(in_circles(REDIS, REDIS, people=(GO_ON, DONE)))

    assert CIRCLES in meeting.texts
    assert [line.actor for line in meeting.turns()][3:] == ["SolutionsArchitect"]
    assert meeting.turns()[-1].meta["repeats"] == ["storage"]


def test_that_is_said_once() -> None:
    """Then people know it, and it is theirs to end the talk."""
    meeting = played(in_circles(REDIS, REDIS, people=(GO_ON, GO_ON, GO_ON, DONE)))

    assert sum("the same point on storage again" in text for text in meeting.texts) == 1
    assert sum("repeats" in line.meta for line in meeting.lines) > 1


def test_another_reason_is_another_point() -> None:
    """The same position on other grounds moves the discussion."""
    meeting = played(in_circles(says("And it is here.", "Redis", "t03"), people=(GO_ON, DONE)))

    assert CIRCLES not in meeting.texts
    assert not any("repeats" in line.meta for line in meeting.lines)


def test_who_answers_people_may_stand_where_they_stood() -> None:
    """Twice; the third time, nothing has come of it."""
    asked = Said("Alex, really?")
    once = played(in_circles(REDIS, REDIS, people=(asked, DONE)))
    twice = played(in_circles(REDIS, REDIS, people=(asked, asked, DONE)))

    assert CIRCLES not in once.texts
    assert CIRCLES in twice.texts


def test_who_was_asked_by_people_still_answers() -> None:
    """Only what personas do among themselves is ended."""
    everybody = Said("everyone, really?")
    script = in_circles(REDIS, REDIS, people=(Said("Alex, really?"), everybody, DONE))
    meeting = played(script._replace(personas={**script.personas, MAYA: [FRAMING] * 3}))

    assert CIRCLES in meeting.texts
    assert [line.actor for line in meeting.turns()][-1] == "InterfaceDesigner"


# --- runaway ----------------------------------------------------------------------------------------------------------


def test_personas_who_never_stop_are_stopped() -> None:
    """Nobody speaks beyond the limit, and it is said why it ended."""
    talk = [Contribution(f"Point {number}.") for number in range(50)]
    script = Script({MAYA: talk, ALEX: talk, JORDAN: talk}, [GO_ON] * 3, [fair("t01")], max_turns=8)
    meeting = played(script)

    assert meeting.card["turns"] == 8
    assert any(line.content == LIMIT for line in meeting.lines)
    assert "**Exit**: turn-limit" in meeting.shown.text


def test_a_meeting_that_people_end_is_no_runaway() -> None:
    """The limit is not reached, and nobody claims it."""
    meeting = played(Script({MAYA: [FRAMING], ALEX: [REDIS], JORDAN: [FILE]}, [DONE], [fair("t02")]))

    assert not any(line.content == LIMIT for line in meeting.lines)
    assert "**Exit**: user-initiated" in meeting.shown.text


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_stance_stands_on_its_line() -> None:
    """With the turns it rests on, and no turn that was never taken."""
    claimed = says("Redis is fast.", " Redis\n", "t01", "t07", sure=float("nan"))
    line = played(Script({MAYA: [FRAMING], ALEX: [claimed]}, [DONE])).turns("SolutionsArchitect")[0]

    assert line.source is Source.MODEL
    (patch,) = line.meta["entries"]
    assert (patch["set"]["issue"], patch["set"]["option"], len(patch["sources"])) == ("storage", "Redis", 1)


def test_empty_claims_are_no_stance() -> None:
    """Then the words alone count, and the record says that there is none."""
    meeting = played(Script({MAYA: [FRAMING], ALEX: [says("Hm.", "  ")]}, [DONE]))
    line = meeting.turns("SolutionsArchitect")[0]

    assert "entries" not in line.meta
    assert line.meta["unrecorded"] is True


def test_going_on_lets_nobody_rest_and_nobody_dominate() -> None:
    """Who was silent longest comes next; who passed was asked, and is not asked again before the others."""
    talk = [Contribution(f"Point {number}.") for number in range(9)]
    meeting = played(Script({MAYA: talk, ALEX: talk, JORDAN: [talk[0], PASS]}, [GO_ON, GO_ON, GO_ON]))
    spoke = [
        line.actor[0] if "turn_id" in line.meta else "-" for line in meeting.lines if _is_a_floor(line.meta)
    ]

    assert spoke == ["B", "S", "I", "B", "S", "-", "B", "S", "-"]


def _is_a_floor(meta: Mapping[str, object]) -> bool:
    return not {"turn_id", "pass"}.isdisjoint(meta)


def test_the_button_is_the_only_way_to_decide() -> None:
    """Words in the thread are discussion."""
    people = (Said("We decide for SQLite, storage: SQLite."), DONE)
    meeting = played(Script({MAYA: [FRAMING], ALEX: [REDIS], JORDAN: [FILE]}, people, [fair("t02")]))

    assert folded(meeting.lines).specification.active("decision") == ()
    assert "#### Decisions Made\n- None recorded." in meeting.shown.text
