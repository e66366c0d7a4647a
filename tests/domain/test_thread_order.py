"""People's words stand in the record in the order of the thread, whatever order Slack delivered them in."""

import random

from bot.domain.messages.message import Action
from bot.domain.transcript import lines as transcript
from bot.domain.transcript.lines import Line, LinePhase, Source
from tests import transcripts
from tests.domain.books import few_steps
from tests.domain.table import MIDNIGHT, Table
from tests.oracle import apart, replayed


def said(table: Table) -> list[str]:
    """What people said, as the file has it."""
    return [line.content for line in transcript.read(table.world.meeting) if line.heard]


def line(name: str, *, ts: str = "", second: int = 0) -> Line:
    source = Source.USER if ts else Source.MODEL
    return Line(
        ts=f"2026-01-01T00:00:{second:02}.000Z",
        round=second + 1,
        actor="User" if ts else "Persona",
        phase=LinePhase.CLARIFYING,
        role="user",
        source=source,
        content=name,
        meta={"message_id": name, **({"message_ts": ts} if ts else {})},
    )


def test_answers_that_were_delivered_in_the_wrong_order_are_committed_in_the_right_one() -> None:
    """Their times and rounds never go back, and each line keeps its id."""
    table = Table(few_steps()).start()
    stamps = [table.ts() for _ in range(6)]
    for place in (3, 0, 5, 1, 4, 2):
        table.say(f"Answer {place}.", ts=stamps[place])
    table.press(Action.FINISH_STEP)

    assert said(table) == [f"Answer {place}." for place in range(6)]
    lines = transcripts.read(table.world.meeting)
    assert lines.flaws == ()
    assert {one.message_id for one in lines.lines if one.heard} == {f"C1.{ts}" for ts in stamps}


def test_what_is_written_down_reads_in_the_order_of_the_thread_too() -> None:
    """The voice is given the answers as people wrote them."""
    table = Table(few_steps()).start()
    first, second = table.ts(), table.ts()
    table.say("And conflicts.", ts=second).say("Edits.", ts=first)

    assert [answer.text for answer in table.rt.answers] == ["Edits.", "And conflicts."]


def test_an_answer_stays_before_what_a_persona_said_to_it() -> None:
    """A late message moves up to the first that was written after it; no other line moves."""
    lines = (
        line("question"),
        line("second", ts=f"{MIDNIGHT}.000200", second=1),
        line("reply", second=2),
        line("first", ts=f"{MIDNIGHT}.000100", second=3),
    )
    ordered = transcript.in_thread_order(lines)

    assert [one.content for one in ordered] == ["question", "first", "second", "reply"]
    assert [one.round for one in ordered] == [1, 2, 2, 3]


def test_lines_stand_in_the_order_of_the_thread() -> None:
    """Equal timestamps are told apart by their ids; lines without a time of Slack stay where they are."""
    equal = (line("b", ts="1.5"), line("a", ts="1.500000"))

    assert [one.content for one in transcript.in_thread_order(equal)] == ["a", "b"]

    odd = line("odd", ts="yesterday")
    lines = (line("b", ts="2.0"), odd, line("a", ts="1.0"))

    assert [one.content for one in transcript.in_thread_order(lines)] == ["a", "b", "odd"]


def test_any_order_of_delivery_gives_one_order_of_lines() -> None:
    """Also between lines of ours, which keep theirs."""
    chance = random.Random(10)
    for _ in range(200):
        ours = [line(f"ours {number}") for number in range(4)]
        people = [line(f"{number}", ts=f"{MIDNIGHT + number}.0") for number in range(6)]
        mixed = [*ours, *people]
        chance.shuffle(mixed)
        mixed = [one.but(ts=f"2026-01-01T00:00:{at:02}.000Z", round=at) for at, one in enumerate(mixed)]
        ordered = transcript.in_thread_order(mixed)

        assert [one.content for one in ordered if one.heard] == [f"{number}" for number in range(6)]
        assert [one for one in ordered if not one.heard] == [one for one in mixed if not one.heard]
        assert [one.ts for one in ordered] == sorted(one.ts for one in ordered)
        assert [one.round for one in ordered] == sorted(one.round for one in ordered)


def test_turns_of_a_discussion_keep_their_ids() -> None:
    """What a synthesis cites as [t03] is still what was said as t03, and the record still counts all turns."""
    table = Table(few_steps()).start().elaborate()
    first, second = table.ts(), table.ts()
    table.say("Alex, and conflicts?", ts=second).say("Alex, why?", who="grace", ts=first)
    turns = {turn.id: turn.text for turn in table.rt.debate.turns}
    table.say("done")
    held = transcript.read(table.world.meeting)

    assert said(table)[-3:-1] == ["Alex, why?", "Alex, and conflicts?"]
    assert {one.meta["turn_id"]: one.content for one in held if "turn_id" in one.meta} == turns
    assert (
        list(apart({"planning/meeting.jsonl": table.world.meeting, "meta.json": table.world.meta or b""}))
        == []
    )


def test_a_second_turn_may_stand_before_the_first() -> None:
    """Two people speak before the framing: the discussion is one, with both of them."""
    table = Table(few_steps()).start().do_step().stop_paying().press(Action.ELABORATE).pay_up_to("speak")
    first, second = table.ts(), table.ts()
    table.say("And conflicts?", ts=second).say("Why?", who="grace", ts=first).resume_paying().say("done")
    state = replayed(table.world.meeting)

    assert [one.record for one in state.concluded] == list(table.meta.elaborations)
    assert state.flaws == ()


def test_an_edit_and_a_deletion_still_find_their_lines() -> None:
    """Wherever those stand by then."""
    table = Table(few_steps()).start()
    first, second, third = table.ts(), table.ts(), table.ts()
    table.say("Three.", ts=third).say("Too.", ts=second).edit(second, "Two.").delete(third).say(
        "One.", ts=first
    )
    table.stop()

    assert said(table) == ["One.", "Too.", "Three."]
