"""Nobody heard Slack for a while, and Slack has given up: what people said meanwhile is read, and counts."""

import pytest

from bot.domain.roundtable import state
from bot.domain.roundtable.effects import ReadThread
from bot.domain.roundtable.inputs import Amend, Returned
from bot.domain.roundtable.machine import decide
from bot.domain.roundtable.stage import Stage
from bot.domain.roundtable.transitions import absence
from tests.domain.books import few_steps, step
from tests.domain.table import Table, person

TWO = few_steps(step("00-01", "Scope"), step("00-02", "Words"))
AWAY = "I was away for a while"


def test_what_was_missed_answers_the_open_step() -> None:
    """As if it had come in time, and people are told in one line."""
    table = Table(TWO).start().missed("Edits get lost in tunnels.", "Every week.").return_()

    assert f"{AWAY}, and have now read your 2 messages from that time." in table.texts
    assert [answer.text for answer in table.rt.answers] == ["Edits get lost in tunnels.", "Every week."]
    assert (
        table.texts.index(f"{AWAY}, and have now read your 2 messages from that time.") < len(table.texts) - 1
    )


def test_one_message_is_one_and_its_repetition_is_old_news() -> None:
    """Also when Slack repeats it after all."""
    table = Table(TWO).start().missed("Edits get lost.").return_()

    assert f"{AWAY}, and have now read your message from that time." in table.texts

    heard = table.world.heard[-1]
    table.say(heard.text, who="grace", ts=heard.ts)

    assert [answer.text for answer in table.rt.answers] == ["Edits get lost."]


def test_what_was_missed_in_a_discussion_is_a_turn() -> None:
    """And whoever is asked in it answers."""
    table = Table(TWO).start().elaborate()
    turns = table.rt.debate.turn_count
    table.missed("Alex, what does that cost?").return_()

    assert [turn.text for turn in table.rt.debate.turns if turn.human] == ["Alex, what does that cost?"]
    assert table.rt.debate.turn_count > turns + 1


def test_a_choice_typed_meanwhile_is_a_choice() -> None:
    """The menu was open all the time."""
    table = Table(TWO).start().do_step().missed("C").return_()

    assert (table.rt.stage, table.rt.step_id) == (Stage.DISCUSSING, "00-02")


def test_nobody_is_disturbed_when_nothing_was_missed() -> None:
    """Somebody else heard it, or Slack repeated it after all."""
    table = Table(TWO).start().say("Edits get lost.")
    before = table.texts
    table.return_()

    assert table.texts == before
    assert [answer.text for answer in table.rt.answers] == ["Edits get lost."]


def test_an_edit_that_came_first_counts() -> None:
    """Of a message that was missed, its change may be heard: the words are those it has now."""
    table = Table(TWO).start().missed("Edits get lots.")
    heard = table.world.heard[-1]
    table.hear(
        Amend(key="edit", at=table.now(), person=person("grace"), text="Edits get lost.", ts=heard.ts)
    ).return_()

    assert [answer.text for answer in table.rt.answers] == ["Edits get lost."]


def test_what_is_older_than_what_we_remember_is_not_heard_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy thread forgets the keys of old messages; git has those."""
    for module in (state, absence):
        monkeypatch.setattr(module, "KEYS_REMEMBERED", 3)
    table = Table(TWO).start().say("Edits get lost.")
    for number in range(5):
        table.say(f"And more, {number}.")
    table.return_(since="2026-01-01T00:00:00.000Z")

    assert len(table.rt.answers) == 6


def test_a_thread_that_cannot_be_read_is_said() -> None:
    """Or of which there is more than could be read. Where nothing goes on nobody is told."""
    table = Table(TWO).start().fail("read_thread", "missing_scope").return_()

    assert table.last.text.startswith(f"{AWAY}, and cannot read what was said meanwhile.")
    assert table.rt.stage is Stage.DISCUSSING

    table = Table(TWO).start()
    table.world.complete = False
    table.missed("Edits get lost.").return_()

    assert any("There are more that I could not read" in text for text in table.texts)

    table = Table(TWO).start().stop()
    before = table.texts
    table.fail("read_thread", "missing_scope").return_()

    assert table.texts == before


def test_two_who_return_at_once_read_once() -> None:
    """Both know since when nobody listened, and that is the key."""
    table = Table(TWO, paying=True).start()
    table.paying = False
    returned = Returned(key="away.then", at=table.now(), since=table.now())
    table.rt = decide(table.rt, returned, table.playbook)
    again = decide(table.rt, returned.but(at=table.now()), table.playbook)

    assert again is table.rt
    assert sum(isinstance(pending, ReadThread) for pending in table.rt.outbox) == 1


def test_a_thread_that_is_not_open_yet_is_read_anyway() -> None:
    """It is on its way: what is said in it before we know it is looked for then."""
    table = Table(TWO, paying=False).start()
    before = table.rt.outbox
    table.rt = decide(table.rt, Returned(key="r", at=table.now(), since=table.now()), TWO)

    assert table.rt.outbox == before
